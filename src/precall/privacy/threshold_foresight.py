"""What a private threshold will be worth, from public facts: nothing here looks at any row."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .._notebook import Rich
from .._validation import as_count, as_fraction, as_generator
from ._ledger import as_epsilon
from .foresight import guessed_rows
from .mechanisms import SeededNoise
from .private_threshold import PrecisionTest, counts_above, threshold_edges


@dataclass(frozen=True, kw_only=True, repr=False)
class ExpectedOperatingPoint(Rich):
    """How likely a private threshold is found, for a guess of what the rows are like.

    Attributes
    ----------
    found : float
        Share of the simulated releases in which a threshold was found.
    recall : float
        Mean recall there, 0 where none was found.
    min_precision, confidence_level : float
        What would be promised.
    n_rows : int
        Public number of rows.
    epsilon : float
        What it would cost.
    prevalence : float
        Guess of the share of positives.
    n_simulations : int
        Simulated releases.
    """

    found: float
    recall: float
    min_precision: float
    confidence_level: float
    n_rows: int
    epsilon: float
    prevalence: float
    n_simulations: int

    def __repr__(self) -> str:
        """Return one line."""
        return (
            f"ExpectedOperatingPoint(precision >= {self.min_precision:g}: found in "
            f"{100 * self.found:.3g} %, recall={self.recall:.2g}, {self.n_rows} rows, "
            f"prevalence={self.prevalence:g}, epsilon={self.epsilon:g})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary."""
        return asdict(self)


def expected_operating_point(
    *,
    n_rows: int,
    min_precision: float,
    epsilon: float,
    prevalence: float,
    confidence_level: float = 0.95,
    n_simulations: int = 200,
    rng: object = 0,
) -> ExpectedOperatingPoint:
    """Simulate :func:`operating_point` before anything is spent.

    The guess is that of :func:`expected_error`: beta-distributed scores of middling quality.

    Parameters
    ----------
    n_rows : int
        Public number of rows.
    min_precision, confidence_level : float
        What would be promised.
    epsilon : float
        What the release would cost.
    prevalence : float
        A guess of the share of positives, which was not read off the private rows.
    n_simulations : int, default 200
        Simulated releases.
    rng : optional, default 0
        Seed or generator of the simulation. No private row is involved.

    Returns
    -------
    ExpectedOperatingPoint

    Examples
    --------
    >>> from precall import privacy
    >>> options = {"n_rows": 20_000, "min_precision": 0.8, "prevalence": 0.1}
    >>> privacy.expected_operating_point(**options, epsilon=1.0).recall > 0.4
    True
    >>> privacy.expected_operating_point(**options, epsilon=0.01).found < 0.1
    True
    """
    n_rows = as_count(n_rows, "n_rows", minimum=2)
    promise = as_fraction(min_precision, "min_precision")
    level = as_fraction(confidence_level, "confidence_level")
    epsilon = as_epsilon(epsilon)
    prevalence = as_fraction(prevalence, "prevalence")
    n_simulations = as_count(n_simulations, "n_simulations", minimum=2)
    noise = SeededNoise(as_generator(rng))
    edges = threshold_edges(None)
    test = PrecisionTest.of(promise, 1.0 - level, epsilon, edges.size - 2)
    positive, scores = guessed_rows(n_rows, prevalence)
    # Rows of the guess may stand for several each, where there are many.
    times = n_rows / scores.size
    tp, selected = (
        np.floor(times * counts).astype(np.int64)
        for counts in counts_above(positive, scores, edges)
    )
    found = [test.first(tp, selected, n_rows, noise) for _ in range(n_simulations)]
    recalls = [0.0 if place is None else tp[::-1][place] for place in found]
    return ExpectedOperatingPoint(
        found=sum(place is not None for place in found) / n_simulations,
        recall=float(np.mean(recalls) / (times * np.count_nonzero(positive))),
        min_precision=promise,
        confidence_level=level,
        n_rows=n_rows,
        epsilon=epsilon,
        prevalence=prevalence,
        n_simulations=n_simulations,
    )

"""A black-box check of a claimed epsilon.

Run a mechanism many times on two neighbouring data sets. If some event is so much more frequent
on one than on the other that no (epsilon, delta)-private mechanism could explain it, the claim is
wrong. A measurement can prove a claim false; it cannot prove it true. ``PROOFS.md`` is for that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .._notebook import Rich
from .._validation import as_count, as_fraction
from ..exceptions import InputError
from ._ledger import as_delta, as_epsilon

FloatArray = npt.NDArray[np.float64]
Data = TypeVar("Data")

# Quantiles of the outputs at which events begin and end.
_CUTS = 200


@dataclass(frozen=True, kw_only=True, repr=False)
class MeasuredEpsilon(Rich):
    """A lower bound on what a mechanism spends, from its outputs.

    Attributes
    ----------
    epsilon : float
        Lower bound on the mechanism's true epsilon, at the claimed delta: 0 if nothing was found.
    claimed_epsilon, delta : float
        The claim.
    confidence_level : float
        Probability, at least, with which the bound is below the true epsilon.
    n_samples : int
        Runs on each data set.
    event : str
        The event that separated the data sets best.
    """

    epsilon: float
    claimed_epsilon: float
    delta: float
    confidence_level: float
    n_samples: int
    event: str

    @property
    def passed(self) -> bool:
        """Whether the claim survived."""
        return self.epsilon <= self.claimed_epsilon

    def __repr__(self) -> str:
        """Return one line."""
        verdict = "passed" if self.passed else "FAILED"
        return (
            f"MeasuredEpsilon({verdict}: epsilon >= {self.epsilon:.3g} by {self.event}, claimed "
            f"{self.claimed_epsilon:.6g}, {100 * self.confidence_level:.6g} %)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary."""
        return asdict(self) | {"passed": self.passed}


def measure_epsilon(
    mechanism: Callable[[Data], float],
    data: Data,
    neighbour: Data,
    *,
    epsilon: float,
    delta: float = 0.0,
    n_samples: int = 10_000,
    confidence_level: float = 0.99,
) -> MeasuredEpsilon:
    """Bound epsilon from below, from outputs on two neighbours.

    An event is a half-line or a bin of the outputs. Exact (Clopper-Pearson) bounds of its two
    probabilities give ``log((p_low - delta) / q_high)``. The first half of the runs chooses the
    event whose bound is largest there; the second half gives the bound that is returned.

    Parameters
    ----------
    mechanism : callable
        Takes a data set and returns a number: a release, or a function of one.
    data, neighbour : any
        Two data sets of the mechanism that differ in one row. Choose them to be as bad as possible:
        an easy pair shows nothing.
    epsilon, delta : float
        What the mechanism claims.
    n_samples : int, default 10_000
        Runs on each data set. A mechanism with plain Laplace noise that spends `epsilon` is found
        to spend more than about ``epsilon - 5 exp(epsilon / 2) / sqrt(n_samples / 2)``.
    confidence_level : float, default 0.99
        Of the bound: a mechanism that keeps its claim passes with at least this probability.

    Returns
    -------
    MeasuredEpsilon

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> honest = measure_epsilon(lambda x: x + rng.laplace(scale=1.0), 0.0, 1.0, epsilon=1.0)
    >>> honest.passed, honest.epsilon > 0.85
    (True, True)
    >>> broken = measure_epsilon(lambda x: x + rng.laplace(scale=0.5), 0.0, 1.0, epsilon=1.0)
    >>> broken.passed, broken.epsilon > 1.7
    (False, True)
    """
    epsilon, delta = as_epsilon(epsilon), as_delta(delta)
    level = as_fraction(confidence_level, "confidence_level")
    n_samples = as_count(n_samples, "n_samples", minimum=100)
    outputs = np.array(
        [[float(mechanism(case)) for case in (data, neighbour)] for _ in range(n_samples)]
    ).T
    if np.isnan(outputs).any():
        raise InputError("mechanism must return numbers that are not NaN.")
    half = n_samples // 2
    error = (1.0 - level) / 2.0
    low, high, first = _choose(outputs[:, :half], delta, error)
    likely, unlikely = (_count(outputs[i, half:], low, high) for i in (first, 1 - first))
    bound = float(_bound(likely, unlikely, n_samples - half, delta, error))
    return MeasuredEpsilon(
        epsilon=max(bound, 0.0),
        claimed_epsilon=epsilon,
        delta=delta,
        confidence_level=level,
        n_samples=n_samples,
        event=f"{low:.4g} <= output < {high:.4g}",
    )


def _choose(outputs: FloatArray, delta: float, error: float) -> tuple[float, float, int]:
    """Event with the largest lower bound, and the data set on which it is the more likely."""
    cuts = np.unique(np.quantile(outputs, np.linspace(0.0, 1.0, _CUTS + 1)))
    # Single values matter too: outputs cut off at 0 and 1 pile up there.
    cuts = np.unique(np.concatenate([cuts, np.nextafter(cuts, np.inf)]))
    lows = np.concatenate([np.full(cuts.size, -np.inf), cuts, cuts[:-1]])
    highs = np.concatenate([cuts, np.full(cuts.size, np.inf), cuts[1:]])
    counts = np.array([_count(row, lows, highs) for row in outputs])
    # Bounds that hold for all events at once: otherwise, of many rare events, a lucky one wins.
    error /= 2 * lows.size
    bounds = np.array(
        [
            _bound(counts[first], counts[1 - first], outputs.shape[1], delta, error)
            for first in (0, 1)
        ]
    )
    first, index = np.unravel_index(np.argmax(bounds), bounds.shape)
    return float(lows[index]), float(highs[index]), int(first)


def _count(outputs: FloatArray, lows: Any, highs: Any) -> Any:
    """Outputs in ``low <= output < high``."""
    ordered = np.sort(outputs)
    return np.searchsorted(ordered, highs) - np.searchsorted(ordered, lows)


def _bound(likely: Any, unlikely: Any, runs: int, delta: float, error: float) -> Any:
    """Lower bound on epsilon from counts of an event, wrong with probability ``2 error`` at most.

    Clopper and Pearson (1934): quantiles of beta distributions.
    """
    from scipy.special import betaincinv

    p_low = np.where(likely > 0, betaincinv(np.maximum(likely, 1), runs - likely + 1, error), 0.0)
    q_high = betaincinv(unlikely + 1, np.maximum(runs - unlikely, 1), 1.0 - error)
    q_high = np.where(unlikely < runs, q_high, 1.0)
    return np.log(np.maximum(p_low - delta, np.finfo(float).tiny) / q_high)

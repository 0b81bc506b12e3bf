"""A black-box check of a claimed epsilon.

Run a mechanism many times on two neighbouring data sets. If some event is so much more frequent
on one than on the other that no (epsilon, delta)-private mechanism could explain it, the claim is
wrong. An audit can prove a claim false; it cannot prove it true. ``PROOFS.md`` is for that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .._validation import as_count, as_fraction
from ..exceptions import InputError
from ._ledger import as_delta, as_epsilon

FloatArray = npt.NDArray[np.float64]
Data = TypeVar("Data")

# Half-lines and cells of the outputs that are tried as events.
_CUTS = 40


@dataclass(frozen=True, kw_only=True, repr=False)
class Audit:
    """What an audit found.

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
        The event that told the data sets apart best.
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
            f"Audit({verdict}: epsilon >= {self.epsilon:.3g} by {self.event}, claimed "
            f"{self.claimed_epsilon:.6g}, {100 * self.confidence_level:.6g} %)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary."""
        return asdict(self) | {"passed": self.passed}


def audit(
    mechanism: Callable[[Data], float],
    data: Data,
    neighbour: Data,
    *,
    epsilon: float,
    delta: float = 0.0,
    n_samples: int = 10_000,
    confidence_level: float = 0.99,
) -> Audit:
    """Estimate a lower bound on epsilon from outputs on two neighbours.

    The first half of the runs chooses an event, a half-line or a cell of the outputs, in the
    direction that favours it most; the second half counts it, and exact (Clopper-Pearson) bounds
    of its two probabilities give ``log((p_low - delta) / q_high)``.

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
        Runs on each data set. About ``30 exp(epsilon)`` at least.
    confidence_level : float, default 0.99
        Of the bound: a mechanism that keeps its claim passes with at least this probability.

    Returns
    -------
    Audit

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> honest = audit(lambda x: x + rng.laplace(scale=1.0), 0.0, 1.0, epsilon=1.0, n_samples=4000)
    >>> honest.passed
    True
    >>> broken = audit(lambda x: x + rng.laplace(scale=0.3), 0.0, 1.0, epsilon=1.0, n_samples=4000)
    >>> broken.passed
    False
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
    low, high, first = _choose(outputs[:, :half], delta)
    likely, unlikely = outputs[first, half:], outputs[1 - first, half:]
    runs = n_samples - half
    p_low = _lower(np.count_nonzero((low <= likely) & (likely < high)), runs, (1.0 - level) / 2.0)
    q_high = _upper(
        np.count_nonzero((low <= unlikely) & (unlikely < high)), runs, (1.0 - level) / 2.0
    )
    bound = math.log((p_low - delta) / q_high) if p_low > delta else 0.0
    return Audit(
        epsilon=max(bound, 0.0),
        claimed_epsilon=epsilon,
        delta=delta,
        confidence_level=level,
        n_samples=n_samples,
        event=f"{low:.4g} <= output < {high:.4g}",
    )


def _choose(outputs: FloatArray, delta: float) -> tuple[float, float, int]:
    """Event with the largest lower confidence bound for epsilon on the first half of the runs."""
    runs = outputs.shape[1]
    cuts = np.unique(np.quantile(outputs, np.linspace(0.0, 1.0, _CUTS + 1)))
    # Single values matter too: outputs cut off at 0 and 1 pile up there.
    cuts = np.unique(np.concatenate([cuts, np.nextafter(cuts, np.inf)]))
    lows = np.concatenate([np.full(cuts.size, -np.inf), cuts, cuts[:-1]])
    highs = np.concatenate([cuts, np.full(cuts.size, np.inf), cuts[1:]])
    ordered = np.sort(outputs, axis=1)
    counts = np.array(
        [np.searchsorted(row, highs) - np.searchsorted(row, lows) for row in ordered]
    ).astype(np.float64)
    best = (-math.inf, 0, 0)
    for first in (0, 1):
        p, q = counts[first] / runs, counts[1 - first] / runs
        # Two standard errors taken off, with half a count so that nothing is exactly 0.
        safe = p - 2.0 * np.sqrt(p * (1 - p) / runs) - delta
        odds = np.maximum(safe, 1e-12) / (q + 2.0 * np.sqrt((q + 0.5 / runs) / runs))
        index = int(np.argmax(odds))
        best = max(best, (float(odds[index]), index, first))
    _, index, first = best
    return float(lows[index]), float(highs[index]), first


def _lower(count: Any, runs: int, error: float) -> float:
    from scipy.special import betaincinv

    return float(betaincinv(count, runs - count + 1, error)) if count else 0.0


def _upper(count: Any, runs: int, error: float) -> float:
    from scipy.special import betaincinv

    return float(betaincinv(count + 1, runs - count, 1.0 - error)) if count < runs else 1.0

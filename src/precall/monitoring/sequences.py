"""Confidence sequences: limits of a share that hold at all times at once.

After ``t`` trials with ``S`` successes, against every share ``p``, the beta-binomial mixture ::

    M_t(p) = B(a + S, b + t - S) / (B(a, b) p**S (1 - p)**(t - S))

is a martingale under ``p`` that starts at 1, so it ever reaches ``1 / alpha`` with probability at
most ``alpha`` (Ville). The shares with ``M_t(p) < 1 / alpha`` therefore cover the true one at every
time, however often somebody looks. ``log M_t`` is convex in ``p`` and lowest at ``S / t``: the set
is an interval.

**The prior** is worth ten trials at the share that is watched: it is fixed before any data, and an
interval around that share is where narrow limits are needed.

**An alarm** needs the *upper* limit under the target. It is the less likely the more successes
there are, so a share that varies in time and never falls under the target raises it no more often
than the target itself would.

**Parts** (shards) whose trials are in no common order are not added up: somebody who sees all
labels could choose a good length for each. ``1 / sup_t M_t`` is a p-value for every part, and
independent parts are combined by Fisher's method: the sum of ``log M`` over ``k`` parts, each on
its own side of its share and not under 0, exceeds ``x`` with probability at most that of a Gamma(k)
variable. With one part that is ``log(1 / alpha)`` again.

References
----------
Robbins, *Annals of Mathematical Statistics* 41, 1970, pages 1397 to 1409; Howard, Ramdas, McAuliffe
& Sekhon, *Time-uniform, nonparametric, nonasymptotic confidence sequences*, 2021.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._rounding import at_least

FloatArray = npt.NDArray[np.float64]

#: Trials that the prior is worth.
PRIOR_TRIALS = 10.0
# Halvings of an interval of length 1 after which its middle is exact.
_HALVINGS = 60


def log_mixture(share: Any, successes: Any, trials: Any, centre: float) -> FloatArray:
    """Return ``log M_t(share)`` with the prior around `centre`."""
    from scipy.special import betaln, xlog1py, xlogy

    a, b = PRIOR_TRIALS * centre, PRIOR_TRIALS * (1.0 - centre)
    failures = np.asarray(trials) - successes
    likelihood = xlogy(successes, share) + xlog1py(failures, -np.asarray(share))
    return np.asarray(betaln(a + successes, b + failures) - betaln(a, b) - likelihood)


def needed(alpha: Any, parts: int = 1) -> Any:
    """Return what the sum of ``log M`` over the parts has to reach."""
    from scipy.special import gammainccinv

    return gammainccinv(parts, alpha)


def too_few(
    share: Any, successes: Any, trials: Any, centre: float, alpha: Any
) -> npt.NDArray[np.bool_]:
    """Return whether the upper limit is under `share`, for each pair of counts by itself."""
    fewer = np.asarray(successes) < share * np.asarray(trials)
    reached = at_least(log_mixture(share, successes, trials, centre), needed(alpha))
    return np.asarray(fewer & reached)


def evidence_against(
    share: float, successes: FloatArray, trials: FloatArray, centre: float, *, above: bool
) -> float:
    """Sum ``log M(share)`` over parts; `above`: evidence that the truth is under `share`."""
    off = share * trials - successes
    side = off > 0.0 if above else off < 0.0
    values = log_mixture(share, successes, trials, centre)
    return float(np.sum(np.where(side, np.maximum(values, 0.0), 0.0)))


def limits(
    successes: FloatArray, trials: FloatArray, centre: float, alpha: float
) -> tuple[float, float]:
    """Return the lower and the upper limit of the share that all parts have in common.

    Parts that contradict each other may have no share in common: the lower limit is then the
    higher one.
    """
    wanted = float(needed(alpha, successes.size))

    def edge(above: bool) -> float:
        inside, outside = (0.0, 1.0) if above else (1.0, 0.0)
        for _ in range(_HALVINGS):
            middle = 0.5 * (inside + outside)
            found = evidence_against(middle, successes, trials, centre, above=above)
            inside, outside = (inside, middle) if found >= wanted else (middle, outside)
        return outside

    # Both ends are rounded outwards: they lie where the evidence is reached.
    low, high = edge(above=False), edge(above=True)
    return (0.0 if low < 1e-15 else low), (1.0 if high > 1.0 - 1e-15 else high)

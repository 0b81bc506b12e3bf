"""How far apart limits must be to hold for many estimates at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .limits import normal_quantile

FloatArray = npt.NDArray[np.float64]

# Draws, a fixed set, so that equal data give equal answers: so many that the level is right to a
# quarter of a percent (measured: .0003 to .0012 of error for correlations of 0 to .9).
_NUMBERS = 400_000
_MOST_DRAWS = 8_000
_FEWEST_PER_ESTIMATE = 2
# The value is approached from above, and has always settled before this.
_STEPS = 20
#: With more estimates than this the bound for independent ones is used.
MOST_DRAWN = 1_000
# Keeps the matrix of estimates that are the same positive definite.
_RIDGE = 1e-9
# The highest level whose quantile is finite.
_HIGHEST = 1.0 - 2.0**-52


def independent_critical_value(count: int, level: float) -> float:
    """Return c with ``P(max |Z_k| <= c) = level`` for independent normal Z.

    For dependent ones the probability is at least `level`, whatever the correlations (Sidak 1967).

    Examples
    --------
    >>> [round(independent_critical_value(count, 0.95), 3) for count in (1, 20)]
    [1.96, 3.016]
    """
    return normal_quantile(min(level ** (1.0 / count), _HIGHEST))


def critical_value(covariance: FloatArray, level: float) -> float:
    """Return c with ``P(max |Z_k| <= c) = level`` for Z of this covariance, each scaled to 1.

    Parameters
    ----------
    covariance : array
        Positive semi-definite. An estimate without variance counts as independent of the others.
    level : float

    Notes
    -----
    Where the correlations are not all 0, by Monte Carlo with importance sampling: the probability
    that some ``|Z_k| > c`` is the sum of all ``P(|Z_k| > c)`` times the mean of ``1 / N``, where N
    is how many are beyond c if one of them, chosen by lot, is (Naiman and Priebe 2001). So every
    draw is one beyond the limit, and a few thousand say more than a hundred times as many would
    that mostly are not. Never above the value for independent estimates; with more than 1,000
    estimates it is that value.

    Examples
    --------
    >>> round(critical_value(np.eye(2), 0.95), 3), round(critical_value(np.ones((2, 2)), 0.95), 1)
    (2.236, 2.0)
    """
    count = len(covariance)
    most = independent_critical_value(count, level)
    scale = np.sqrt(np.diag(covariance))
    known = scale > 0
    scale = np.where(known, scale, 1.0)
    correlation = covariance / scale[:, np.newaxis] / scale
    correlation[~known] = correlation[:, ~known] = 0.0
    np.fill_diagonal(correlation, 1.0)
    if count > MOST_DRAWN or not np.any(np.triu(correlation, 1)):
        return most
    found, overlap = most, _Overlap(correlation)
    for _ in range(_STEPS):
        before, found = found, overlap.critical(found, level)
        if found == before:
            break
    return min(max(found, normal_quantile(level)), most)


class _Overlap:
    """Normal numbers of which one, each in turn, is set beyond a limit."""

    def __init__(self, correlation: FloatArray) -> None:
        count = len(correlation)
        factor = np.linalg.cholesky(correlation + _RIDGE * np.eye(count))
        rounds = max(min(_NUMBERS // count, _MOST_DRAWS) // count, _FEWEST_PER_ESTIMATE)
        rng = np.random.default_rng(0)
        drawn = rng.standard_normal((rounds, count, count)) @ factor.T
        # What is left of each when the one that is set, k of draw [:, k], is taken out.
        own = np.diagonal(drawn, axis1=1, axis2=2)[:, :, np.newaxis]
        self.left = drawn - correlation * own
        self.correlation = correlation
        # Stratified, above 0 and at most 1: which quantile of the tail the one is set to.
        place = np.arange(1, rounds + 1)[:, np.newaxis] - rng.random((rounds, count))
        self.tail = place / rounds

    def critical(self, c: float, level: float) -> float:
        """Return the value that would be right if as many were beyond it at once as beyond `c`."""
        from scipy.special import ndtr, ndtri

        placed = -ndtri(self.tail * ndtr(-c))[:, :, np.newaxis]
        beyond = np.abs(self.left + self.correlation * placed) >= c
        # The one that was set is beyond, whatever rounding says.
        at_once = np.maximum(np.count_nonzero(beyond, axis=2), 1)
        error = (1.0 - level) / (len(self.correlation) * float(np.mean(1.0 / at_once)))
        return float(-ndtri(error / 2.0))


def level_of(critical: float) -> float:
    """Return the level of a single interval with this critical value, ``1 - 2 Phi(-c)``.

    Examples
    --------
    >>> round(level_of(1.959964), 6)
    0.95
    """
    from scipy.special import erf

    return min(float(erf(critical / np.sqrt(2.0))), _HIGHEST)

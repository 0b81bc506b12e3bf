"""How far apart limits must be to hold for many estimates at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .limits import normal_quantile

FloatArray = npt.NDArray[np.float64]

# Draws, a fixed set, so that equal data give equal answers: a million numbers or more, and at
# least so many that the level is right to a quarter of a percent.
_NUMBERS = 4_000_000
_FEWEST_DRAWS, _MOST_DRAWS = 8_000, 40_000
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
    By Monte Carlo, where the correlations are not all 0; never above the value for independent
    estimates. With more than 1,000 estimates it is that value.

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
    factor = np.linalg.cholesky(correlation + _RIDGE * np.eye(count))
    draws = int(np.clip(_NUMBERS // count, _FEWEST_DRAWS, _MOST_DRAWS))
    normal = np.random.default_rng(0).standard_normal((draws, count))
    largest = np.abs(normal @ factor.T).max(axis=1)
    found = float(np.quantile(largest, level, method="higher"))
    return min(max(found, normal_quantile(level)), most)


def level_of(critical: float) -> float:
    """Return the level of a single interval with this critical value, ``1 - 2 Phi(-c)``.

    Examples
    --------
    >>> round(level_of(1.959964), 6)
    0.95
    """
    from scipy.special import erf

    return min(float(erf(critical / np.sqrt(2.0))), _HIGHEST)

"""Intervals, p-values and the probability of being best, from jointly normal estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .._rounding import TOLERANCE, at_least

FloatArray = npt.NDArray[np.float64]

# Draws for the probability of being best; a fixed set, so that equal data give equal answers.
_NORMAL_DRAWS = 20_000


def student_test(
    difference: float,
    variance: float,
    scale: float,
    level: float,
    degrees: float | None,
    stretch: Sequence[float] = (1.0, 1.0),
) -> tuple[float, float, float]:
    """Interval and two-sided p-value of a difference: t with those degrees of freedom, or normal.

    `degrees` is None for the normal distribution, which takes the variance as known. `scale` is the
    sum of the variances of the two estimates: beside it, the variance of the difference may be
    nothing but rounding. `stretch` has factors of the distances to the lower and the upper limit.
    """
    from scipy.special import ndtr, ndtri, stdtr, stdtrit

    if is_rounding(variance, scale):
        if difference == 0.0:
            return 0.0, 0.0, 1.0
        return -1.0, 1.0, 1.0  # a difference, and nothing to say how sure it is
    error = math.sqrt(variance)
    down, up = (error * factor for factor in stretch)
    upper, statistic = 0.5 + 0.5 * level, -abs(difference) / (down if difference > 0.0 else up)
    if degrees is None:
        reach, p_value = float(ndtri(upper)), 2.0 * float(ndtr(statistic))
    else:
        reach = float(stdtrit(degrees, upper))
        p_value = 2.0 * float(stdtr(degrees, statistic))
    return max(difference - reach * down, -1.0), min(difference + reach * up, 1.0), p_value


def is_rounding(variance: float, scale: float) -> bool:
    """Return whether a standard error is rounding beside others, whose squares sum to `scale`."""
    return variance <= TOLERANCE**2 * scale


def bootstrap_test(differences: FloatArray, level: float) -> tuple[float, float, float]:
    """Quantiles of the replicates, and twice the share of them on the smaller side of 0."""
    tail = 0.5 * (1.0 - level)
    low, high = np.quantile(differences, [tail, 1.0 - tail])
    smaller = min(np.count_nonzero(differences <= 0), np.count_nonzero(differences >= 0))
    return float(low), float(high), min(1.0, 2.0 * (1 + smaller) / (differences.size + 1))


def holm(p_values: list[float]) -> list[float]:
    """Adjust p-values for their number (Holm 1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    factors = len(p_values) - np.arange(len(p_values))
    adjusted = np.minimum(np.maximum.accumulate(factors * np.asarray(p_values)[order]), 1.0)
    result = np.empty(len(p_values))
    result[order] = adjusted
    return result.tolist()


def largest_deviation(
    variances: FloatArray, scales: FloatArray, degrees: float | None, level: float
) -> float:
    """How many standard errors the largest deviation of all differences stays under.

    The quantile of ``max |T|`` over all pairs, T jointly t with those degrees of freedom, or
    normal. With one difference it is the plain quantile. Parameters as in `probability_best`.
    """
    from scipy.special import ndtri, stdtrit

    kept = np.flatnonzero(~np.any(np.tril(variances <= TOLERANCE**2 * scales, -1), axis=1))
    pairs = kept.size * (kept.size - 1) // 2
    upper = 0.5 + 0.5 * level
    if pairs <= 1:
        return float(ndtri(upper) if degrees is None else stdtrit(degrees, upper))
    generator = np.random.default_rng(0)
    drawn = _normal_differences(variances[np.ix_(kept, kept)], generator)
    if degrees is not None:
        drawn /= np.sqrt(generator.chisquare(degrees, _NORMAL_DRAWS) / degrees)
    first, second = np.triu_indices(kept.size, 1)
    errors = np.sqrt(variances[kept[first], kept[second]])
    largest = np.max(np.abs(drawn[first] - drawn[second]) / errors[:, np.newaxis], axis=0)
    return float(np.quantile(largest, level))


def share_best(values: FloatArray) -> FloatArray:
    """Share of the columns in which each row is the largest, ties shared."""
    best = at_least(values, values.max(axis=0))
    return np.asarray((best / best.sum(axis=0)).mean(axis=1))


def probability_best(
    differences: FloatArray, variances: FloatArray, scales: FloatArray
) -> FloatArray:
    """Probability that each is the largest, were the truth normal about the estimates.

    Parameters
    ----------
    differences, variances : array
        Of every pair: first minus second, and its variance.
    scales : array
        Sums of the variances of the two estimates of every pair.

    Notes
    -----
    Estimates that are the same but for rounding are one estimate, and share its probability. Only
    differences are drawn, with ``Cov(d_i, d_j) = (V_0i + V_0j - V_ij) / 2``: what all estimates
    have in common would drown them.
    """
    same = (variances <= TOLERANCE**2 * scales) & (differences == 0.0)
    first = np.argmax(same, axis=1)  # the first estimate that each one is the same as
    kept = np.flatnonzero(first == np.arange(first.size))
    shares = _shares_of_different(differences[np.ix_(kept, kept)], variances[np.ix_(kept, kept)])
    return np.asarray((shares / np.bincount(first)[kept])[np.searchsorted(kept, first)])


def _shares_of_different(differences: FloatArray, variances: FloatArray) -> FloatArray:
    if len(differences) == 1:
        return np.ones(1)
    if len(differences) == 2:
        from scipy.special import ndtr

        z = differences[0, 1] / math.sqrt(max(variances[0, 1], 1e-300))
        return np.array([ndtr(z), ndtr(-z)])
    drawn = _normal_differences(variances, np.random.default_rng(0))
    return share_best(differences[:, :1] + drawn)


def _normal_differences(variances: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw differences from the first estimate, (estimates, draws), of mean 0."""
    covariance = 0.5 * (variances[:1].T + variances[:1] - variances)
    spread, axes = np.linalg.eigh(covariance)
    # The symmetric root: it does not depend on the signs of the axes, which are anybody's choice.
    factor = (axes * np.sqrt(np.maximum(spread, 0.0))) @ axes.T
    return np.asarray(factor @ rng.standard_normal((len(variances), _NORMAL_DRAWS)))

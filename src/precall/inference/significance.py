"""From estimates with their joint law to intervals, p-values and the probability of being best."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

# Draws for the probability of being best; a fixed set, so that equal data give equal answers.
_NORMAL_DRAWS = 20_000


def student_test(
    estimates: FloatArray, covariance: FloatArray, i: int, j: int, level: float, n_positives: float
) -> tuple[float, float, float]:
    """Interval and two-sided p-value of a difference, its variance estimated on n positives."""
    from scipy.special import stdtr, stdtrit

    difference = float(estimates[i] - estimates[j])
    variance = float(covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j])
    # Equal rankings cancel but for rounding.
    if variance <= 1e-14 * float(covariance[i, i] + covariance[j, j]) or variance == 0.0:
        if abs(difference) <= 1e-12:
            return difference, difference, 1.0
        return -1.0, 1.0, 1.0  # a difference, and nothing to say how sure it is
    error = math.sqrt(variance)
    degrees = max(n_positives - 1.0, 1.0)
    half = float(stdtrit(degrees, 0.5 + 0.5 * level)) * error
    p_value = 2.0 * float(stdtr(degrees, -abs(difference) / error))
    return max(difference - half, -1.0), min(difference + half, 1.0), p_value


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


def share_best(values: FloatArray) -> FloatArray:
    """Share of the columns in which each row is the largest, ties shared."""
    best = values >= values.max(axis=0) - 1e-12
    return np.asarray((best / best.sum(axis=0)).mean(axis=1))


def probability_best(estimates: FloatArray, covariance: FloatArray) -> FloatArray:
    """Probability that each is the largest, were the truth normal about the estimates."""
    if estimates.size == 2:
        from scipy.special import ndtr

        variance = float(covariance[0, 0] + covariance[1, 1] - 2.0 * covariance[0, 1])
        difference = float(estimates[0] - estimates[1])
        z = 0.0 if difference == 0.0 else difference / math.sqrt(max(variance, 1e-300))
        return np.array([ndtr(z), ndtr(-z)])
    draws = np.random.default_rng(0).standard_normal((estimates.size, _NORMAL_DRAWS))
    spread, axes = np.linalg.eigh(covariance)
    factor = axes * np.sqrt(np.maximum(spread, 0.0))
    return share_best(estimates[:, np.newaxis] + factor @ draws)

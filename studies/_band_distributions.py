"""Distributions of the empirical precision, of its bootstrap, and how far they are from each other.

At one recall, with the numbers of positives and negatives fixed, a distribution can be computed
instead of drawn: the threshold is an order statistic of the positives, so its tail probability is a
beta variable, and given it the negatives above are binomial. That holds for samples from the true
distributions of the scores, from smoothed ones and, with the threshold on one of the rows, from the
rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from precall.inference.bands.paths import snap
from precall.inference.bands.request import precision
from precall.inference.bands.smoothed import smoothed_rates

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
#: A distribution function made of steps: places, ascending, and its heights there.
Steps = tuple[FloatArray, FloatArray]

# Distributions are cut at so many standard deviations: 1e-11 of a normal distribution lies beyond.
_REACH = 6.8
# The integrand is a normal curve times a smooth step, so Gauss-Legendre is exact to 1e-8 here.
_NODES = 80
# A wide count distribution is computed at so many counts per standard deviation, with a cubic
# spline between them: its error is under 1e-5.
_KNOTS_PER_DEVIATION = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class RowDistribution:
    """The distributions of both classes that have their mass on the rows of a data set.

    The score of a threshold is the number of the positive it is at, counted from the top, with a
    minus sign: a curve depends on ranks only.
    """

    above: IntArray
    n_neg: int

    def upper_quantile(self, probability: Any) -> FloatArray:
        """Positive at which this share of the positives is reached."""
        row = np.ceil(snap(np.asarray(probability) * self.above.size))
        return np.asarray(-np.clip(row, 1.0, self.above.size))

    def survival(self, score: Any) -> FloatArray:
        """Share of the negatives above a positive."""
        row = (-np.asarray(score)).astype(np.int64) - 1
        return np.asarray(self.above[row] / self.n_neg)


def row_at(recall: float, n_pos: int) -> float:
    """Positive, counted from the top, whose score is the empirical threshold at a recall."""
    return max(float(np.ceil(snap(np.array(n_pos * recall)))), 1.0)


def threshold_rates(
    rate: Callable[[FloatArray], FloatArray], recall: float, n_pos: int
) -> tuple[FloatArray, FloatArray]:
    """False-positive rates at the threshold of a sample, and the probability of each.

    `rate` is the ROC curve of what is sampled: the false-positive rate over recall.
    """
    from scipy import special

    row = row_at(recall, n_pos)
    below = n_pos - row
    mean = row / (n_pos + 1.0)
    deviation = np.sqrt(mean * (1.0 - mean) / (n_pos + 2.0))
    low, high = max(mean - _REACH * deviation, 0.0), min(mean + _REACH * deviation, 1.0)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    tail = low + 0.5 * (high - low) * (nodes + 1.0)
    density = special.xlogy(row - 1.0, tail) + special.xlog1py(below, -tail)
    weights = weights * np.exp(density - density.max())
    return rate(tail), weights / weights.sum()


def row_rates(rows: RowDistribution, recall: float) -> tuple[FloatArray, FloatArray]:
    """Do the same for samples of the rows: the threshold is at one of them."""
    from scipy import special

    n_pos = rows.above.size
    row = row_at(recall, n_pos)
    reach = int(_REACH * np.sqrt(row * (n_pos - row) / n_pos + 1.0)) + 1
    first, last = max(int(row) - reach, 0), min(int(row) + reach, n_pos)
    reached = special.betainc(row, n_pos + 1.0 - row, np.arange(first, last + 1) / n_pos)
    counts, which = np.unique(rows.above[first:last], return_inverse=True)
    weights = np.bincount(which, weights=np.diff(reached))
    return counts / rows.n_neg, weights / weights.sum()


def precision_distribution(
    rates: tuple[FloatArray, FloatArray], recall: float, n_pos: int, n_neg: int
) -> Steps:
    """Distribution of the empirical precision, given that of the rate at the threshold."""
    counts, cdf = _count_distribution(*rates, n_neg)
    values = precision(recall, counts / n_neg, n_pos / (n_pos + n_neg))
    # The more negatives the less precision: P(precision <= value of k) = P(count >= k).
    return values[::-1], 1.0 - np.concatenate([[0.0], cdf[:-1]])[::-1]


def _count_distribution(
    rates: FloatArray, weights: FloatArray, n_neg: int
) -> tuple[IntArray, FloatArray]:
    """Numbers of negatives above the threshold, and their distribution function."""
    from scipy import interpolate, special

    mean = float(weights @ rates)
    inner = float(weights @ (rates * (1.0 - rates)))
    outer = float(weights @ (rates - mean) ** 2)
    deviation = np.sqrt(n_neg * inner + n_neg**2 * outer) + 1.0
    low = max(int(n_neg * mean - _REACH * deviation), 0)
    high = min(int(n_neg * mean + _REACH * deviation) + 1, n_neg)
    counts = np.arange(low, high + 1)
    step = max(1, int(deviation / _KNOTS_PER_DEVIATION))
    knots = np.unique(np.append(counts[::step], high))
    cdf = special.bdtr(knots[:, np.newaxis].astype(np.float64), n_neg, rates) @ weights
    if step > 1:
        cdf = interpolate.CubicSpline(knots, cdf)(counts)
    return counts, np.asarray(cdf)


def distance(first: Steps, second: Steps) -> float:
    """Largest difference of two distribution functions made of steps."""
    places = np.concatenate([first[0], second[0]])
    return float(np.max(np.abs(_height(first, places) - _height(second, places))))


def _height(steps: Steps, places: FloatArray) -> FloatArray:
    heights = np.concatenate([[0.0], steps[1]])
    return np.asarray(heights[np.searchsorted(steps[0], places, side="right")])


def sample_steps(draws: FloatArray) -> Steps:
    """Empirical distribution function of draws."""
    return np.sort(draws), np.arange(1, draws.size + 1) / draws.size


def distance_bounds(truth: Steps, draws: FloatArray) -> tuple[float, float]:
    """Two estimates of the distance between the distribution of draws and a true one: low, high.

    The largest difference from the draws' own distribution function is too high on average, by the
    noise it picks (Jensen). Where the first half of the draws finds the largest difference, that
    of the second half has no such bias and its mean is at most the distance; and the other way
    round.
    """
    low = []
    halves = draws[: draws.size // 2], draws[draws.size // 2 :]
    for finder, judge in (halves, halves[::-1]):
        steps = sample_steps(finder)
        gap = steps[1] - _height(truth, steps[0])
        best = int(np.argmax(np.abs(gap)))
        place = steps[0][best]
        there = float(np.mean(judge <= place)) - float(_height(truth, place))
        low.append(there * np.sign(gap[best]))
    return float(np.mean(low)), distance(truth, sample_steps(draws))


def draw_sizes(size: int, prevalence: float, draws: int, rng: np.random.Generator) -> IntArray:
    """Draw numbers of positives; samples without one of the classes are drawn again."""
    n_pos = rng.binomial(size, prevalence, size=draws)
    while (empty := (n_pos == 0) | (n_pos == size)).any():
        n_pos[empty] = rng.binomial(size, prevalence, size=int(empty.sum()))
    return n_pos


def draw_curves(
    distributions: tuple[Any, Any],
    recall: FloatArray,
    n_pos: IntArray,
    size: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Empirical curves (samples, recalls) of samples with these numbers of positives.

    `distributions` are anything with the `upper_quantile` of positives and the `survival` of
    negatives.
    """
    rates = smoothed_rates(distributions[0], distributions[1], recall, n_pos, size - n_pos, rng)
    return precision(recall, rates, (n_pos / size)[:, np.newaxis])

"""Bands over tasks around a summary curve, on a grid of recalls."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._numerics import ratio
from ..curves import Curve
from ..ranking.pooling import Pooled
from ..ranking.ranking_set import RankingSet
from .group_limits import skewness_of, t_quantile
from .jackknife import leave_one_group_out

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]

GRID = np.linspace(0.01, 1.0, 100)
GRID.flags.writeable = False


class SummaryBand(NamedTuple):
    """Limits around the precision at each recall of the grid; NaN where nothing can be said."""

    low: FloatArray
    precision: FloatArray
    high: FloatArray


def false_positive_rates(rankings: RankingSet, count: Any) -> FloatArray:
    """FPR of every group when its positives reach `count`; 0 before the first, 1 beyond the last.

    `count` has one line per group (or one for all). Within a tie the rate grows linearly.
    """
    n, m = rankings.n_pos[:, np.newaxis], rankings.n_neg[:, np.newaxis]
    cumulated = np.cumsum(rankings.cells.positives)
    base = (cumulated - rankings.tp)[rankings.offsets[:-1]][:, np.newaxis]
    inside = np.clip(count, 0.0, n)
    # The first row that reaches it; a hair less, so that rounding does not reach too far.
    row = np.searchsorted(cumulated, base + inside * (1 - 1e-12))
    row = np.clip(row, rankings.offsets[:-1, np.newaxis], rankings.offsets[1:, np.newaxis] - 1)
    missing = np.clip((rankings.tp[row] - inside) / rankings.cells.positives[row], 0.0, 1.0)
    rate = (rankings.fp[row] - missing * rankings.cells.tied[row]) / m
    return np.where(count <= 0, 0.0, np.where(count > n * (1 + 1e-12), 1.0, rate))


def unbiased_rates(rankings: RankingSet, recall: FloatArray) -> FloatArray:
    """FPR of every group at each recall, free of bias to the order of one over the positives.

    Recall at the k-th positive is Beta(k, n + 1 - k): ``k / (n + 1)`` on average, with variance
    ``h^2 = r (1 - r) / (n + 2)``. So rates are read at these places, and the curvature that
    averaging over the spread adds, ``alpha'' h^2 / 2``, is taken off as a second difference.
    """
    n = _effective_positives(rankings)[:, np.newaxis]
    reach = np.sqrt(recall * (1 - recall) / (n + 2))
    unit = rankings.n_pos[:, np.newaxis] / n

    def at(place: FloatArray) -> FloatArray:
        position = place * (n + 1)
        whole = np.floor(position)
        share = position - whole
        low, high = (false_positive_rates(rankings, unit * (whole + step)) for step in (0, 1))
        return np.asarray((1 - share) * low + share * high)

    around = at(np.minimum(recall + reach, 1.0)) + at(np.maximum(recall - reach, 0.0))
    return np.asarray(2.0 * at(np.broadcast_to(recall, reach.shape)) - 0.5 * around)


def rates_beyond(rankings: RankingSet, recall: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rates that limits include at recalls that lie beyond the last positive of the groups.

    There a group has seen nothing, but all groups together have: the rates at their last positives.
    Recall is under r in a share ``r**n`` of the groups there, and their rates are under those at r.
    So the mean of as large a share of all, the lowest ones, is under the mean rate at r, and that
    of the others, the highest ones, above it. NaN at recalls that half of the groups have seen.
    """
    n = _effective_positives(rankings)[:, np.newaxis]
    last = np.sort(false_positive_rates(rankings, rankings.n_pos[:, np.newaxis])[:, 0])
    under = np.sum(recall**n, axis=0)
    lowest = _mean_of_first(last, under)
    highest = _mean_of_first(last[::-1], last.size - under)
    seen = np.mean(recall * (n + 1) <= n, axis=0) >= 0.5
    return np.where(seen, np.nan, lowest), np.where(seen, np.nan, highest)


def _mean_of_first(values: FloatArray, number: FloatArray) -> FloatArray:
    """Mean of the first values: so many, of which the last may be a part, and one at the least."""
    number = np.maximum(number, 1.0)
    taken = np.clip(number - np.arange(values.size)[:, np.newaxis], 0.0, 1.0)
    return np.asarray(np.sum(taken * values[:, np.newaxis], axis=0) / number)


def _effective_positives(rankings: RankingSet) -> FloatArray:
    if rankings.squares is None:
        return np.asarray(rankings.n_pos, dtype=np.float64)
    return ratio(rankings.n_pos**2, rankings.sums(rankings.squares.positives))


def precision_on_grid(tasks: RankingSet) -> FloatArray:
    """Precision of every task at each recall, at the task's own prevalence."""
    own = tasks.prevalence[:, np.newaxis]
    rates = false_positive_rates(tasks, GRID * tasks.n_pos[:, np.newaxis])
    return np.asarray(own * GRID / (own * GRID + (1 - own) * rates))


def _to_precision(alpha: FloatArray, prevalence: float) -> FloatArray:
    found = prevalence * GRID
    return np.asarray(found / (found + (1 - prevalence) * alpha))


def _nothing(precision: FloatArray) -> SummaryBand:
    unknown = np.full_like(precision, np.nan)
    return SummaryBand(unknown, precision, unknown)


def reference_band(tasks: RankingSet, curve: Curve, prevalence: float, level: float) -> SummaryBand:
    """Leave out each task in turn, for the log odds of the mean false-positive rate."""
    count = len(tasks)
    if count < 2:
        return _nothing(curve.at(GRID))
    rates = unbiased_rates(tasks, GRID)
    left_out = (rates.sum(axis=0) - rates) / (count - 1)
    n_neg = float(np.sum(tasks.n_neg))
    within = rates_beyond(tasks, GRID)
    return _around(rates.mean(axis=0), left_out, curve, prevalence, level, n_neg, within)


def pooled_band(pooled: Pooled, curve: Curve, prevalence: float, level: float) -> SummaryBand:
    """The same for the false-positive rate of everything pooled."""
    precision = curve.at(GRID)
    without = leave_one_group_out(pooled)
    if without is None:
        return _nothing(precision)
    rates = false_positive_rates(without, GRID * without.n_pos[:, np.newaxis])
    alpha = prevalence * GRID * (1 - precision) / (precision * (1 - prevalence))
    n_neg = float(pooled.ranking.n_neg)
    return _around(alpha, rates, curve, prevalence, level, n_neg)


# By which power of e a limit of the rate is farther, and the other one nearer, at a skewness of the
# root of the number of tasks. Chosen on normal and logistic scores.
_FARTHER, _NEARER = 0.5, 0.25


def _around(
    alpha: FloatArray,
    left_out: FloatArray,
    curve: Curve,
    prevalence: float,
    level: float,
    n_neg: float,
    within: tuple[Any, Any] = (np.nan, np.nan),
) -> SummaryBand:
    """Student's t over tasks on the scale of log odds, mapped to precision; contains the curve.

    Rates of tasks that differ are skewed, and at high recall they press against 1. On the scale of
    log odds, and with what leaving out a task really changes, the limits follow; G/(G - 1) times
    the sum of squares instead of (G - 1)/G is what a task moves when it was not yet in the mean.
    Where some tasks have much higher rates than the others, few tasks rarely have the highest among
    them: the more skewed, the farther goes the upper limit of the rate, and the less the lower one.
    Rates between the ends of `within`, where they are numbers, are within the limits.
    """
    from scipy.special import expit, logit

    count, least = len(left_out), 0.5 / n_neg

    def odds(rate: FloatArray) -> FloatArray:
        return np.asarray(logit(np.clip(rate, least, 1.0 - least)))

    moved = odds(left_out).mean(axis=0) - odds(left_out)
    spread = np.sum(moved**2, axis=0) * count / (count - 1)
    half = t_quantile(level, count - 1) * np.sqrt(spread)
    skewness = np.maximum(skewness_of(moved), 0.0)
    # Clopper-Pearson for no event among all negatives.
    unseen = -np.expm1(np.log(0.5 * (1 - level)) / n_neg)
    nearer, further = half * np.exp(-_NEARER * skewness), half * np.exp(_FARTHER * skewness)
    lower = np.where(alpha > least, expit(odds(alpha) - nearer), 0.0)
    upper = np.where(alpha < 1.0 - least, expit(odds(alpha) + further), 1.0)
    lower, upper = np.fmin(lower, within[0]), np.fmax(upper, within[1])
    precision = curve.at(GRID)
    return SummaryBand(
        np.minimum(_to_precision(np.maximum(upper, unseen), prevalence), precision),
        precision,
        np.maximum(_to_precision(lower, prevalence), precision),
    )


def vertical_band(tasks: RankingSet, level: float) -> SummaryBand:
    """Student's t over tasks for the mean precision."""
    heights = precision_on_grid(tasks)
    precision, count = heights.mean(axis=0), len(tasks)
    if count < 2:
        return _nothing(precision)
    half = t_quantile(level, count - 1) * heights.std(axis=0, ddof=1) / np.sqrt(count)
    return SummaryBand(
        np.maximum(precision - half, 0.0), precision, np.minimum(precision + half, 1.0)
    )

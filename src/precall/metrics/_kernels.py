"""The area estimators, as sums over the rows of one ranking or of many at once.

Every kernel works on the last axis and takes any number of leading axes, so a thousand
bootstrap replicates are one call. A row whose `positives` are zero (a score that a replicate
did not draw) is no threshold: its negatives count in the gap before the next one. Positives that
were missed have no row: the curve ends at the recall of the others, and its precision is 0 beyond.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._cached import cached_property
from .._numerics import in_blocks, ratio, reciprocal_sum, segment_area
from ..exceptions import InputError
from ..ranking import Cells

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
# One number per run of values, from where each run starts and how long it is.
Summary = Callable[[FloatArray, IntArray, IntArray], FloatArray]
Kernel = Callable[["Steps", float, float], Any]


class Steps:
    """Counts before and after each row, each computed when first asked for.

    A row goes from its departure ``(tp0, fp0)``, all negatives strictly above it passed, to
    its arrival ``(tp1, fp1)``, the whole tie included.
    """

    def __init__(self, cells: Cells, squares: Cells | None = None) -> None:
        self.cells, self._squares = cells, squares
        self.weight: FloatArray = np.asarray(cells.positives, dtype=np.float64)
        self.tp1: FloatArray = np.asarray(cells.tp, dtype=np.float64)
        self.fp1: FloatArray = np.asarray(cells.fp, dtype=np.float64)

    @property
    def n_pos(self) -> FloatArray:
        """Weight of all positives, those that no row holds included; the last axis kept."""
        missed = np.asarray(self.cells.missed, dtype=np.float64)
        return np.asarray(self.tp1[..., -1:] + missed[..., np.newaxis])

    @cached_property
    def n_neg(self) -> FloatArray:
        """Weight of all negatives, the last axis kept."""
        below = np.asarray(self.cells.below, dtype=np.float64)
        return np.asarray(self.fp1[..., -1:] + below[..., np.newaxis])

    @cached_property
    def tp0(self) -> FloatArray:
        """TP before the row."""
        return self.tp1 - self.weight

    @cached_property
    def fp0(self) -> FloatArray:
        """FP before the row's own tie."""
        return np.asarray(self.fp1 - self.cells.tied)

    @cached_property
    def fp_last(self) -> FloatArray:
        """FP on arrival at the previous threshold, where the gap begins."""
        arrived = np.maximum.accumulate(np.where(self.weight > 0, self.fp1, 0.0), axis=-1)
        return np.concatenate([np.zeros_like(arrived[..., :1]), arrived[..., :-1]], axis=-1)

    @cached_property
    def arrival(self) -> FloatArray:
        """Precision on arrival."""
        return ratio(self.tp1, self.tp1 + self.fp1)

    @cached_property
    def gap(self) -> FloatArray:
        """Negatives between arrival at a row and the next positive."""
        following = np.where(self.weight > 0, self.fp0, self.n_neg)
        reversed_minimum = np.minimum.accumulate(following[..., ::-1], axis=-1)[..., ::-1]
        after = np.concatenate([reversed_minimum[..., 1:], np.asarray(self.n_neg)], axis=-1)
        return np.asarray(after - self.fp1)

    @cached_property
    def first(self) -> npt.NDArray[np.bool_]:
        """Mark the first threshold."""
        return np.asarray((self.tp0 == 0) & (self.weight > 0))

    @cached_property
    def removed(self) -> FloatArray:
        """One positive's own weight: exact unless unequal weights share a score."""
        ones = np.ones_like(self.weight)
        if self._squares is None:
            return ones
        return np.divide(self._squares.positives, self.weight, out=ones, where=self.weight > 0)


# Rounds of pooling, each over all steps, before SciPy goes through them one by one.
_MOST_POOLINGS = 64


def make_steps(cells: Cells, squares: Cells | None = None) -> Steps:
    """Cumulate the counts of cells once for every kernel."""
    return Steps(cells, squares)


def _clip(tp0: FloatArray, tp1: FloatArray, n_pos: FloatArray, low: float, high: float) -> Any:
    """Cut each row's TP range to the recall range; return both ends and their share of the row."""
    start = np.clip(tp0, low * n_pos, high * n_pos)
    stop = np.clip(tp1, low * n_pos, high * n_pos)
    height = tp1 - tp0
    return start, stop, ratio(start - tp0, height), ratio(stop - tp0, height)


def _linear_area(steps: Steps, left: Any, right: Any, low: float, high: float) -> Any:
    """Integrate a precision that is linear in recall within each row."""
    if (low, high) == (0.0, 1.0):
        total = np.sum(steps.weight * (left + right), axis=-1)
    else:
        start, stop, f0, f1 = _clip(steps.tp0, steps.tp1, steps.n_pos, low, high)
        total = np.sum((stop - start) * (2 * left + (f0 + f1) * (right - left)), axis=-1)
    return 0.5 * total / steps.n_pos[..., 0]


def _hyperbola_area(
    tp0: Any, fp0: Any, tp1: Any, fp1: Any, n_pos: Any, low: float, high: float
) -> Any:
    """Integrate precision along straight lines in count space (hyperbolas in PR space)."""
    if (low, high) != (0.0, 1.0):
        start, stop, f0, f1 = _clip(tp0, tp1, n_pos, low, high)
        tp0, tp1, fp0, fp1 = start, stop, fp0 + f0 * (fp1 - fp0), fp0 + f1 * (fp1 - fp0)
    return np.sum(segment_area(tp0, fp0, tp1, fp1), axis=-1) / n_pos[..., 0]


def mean_precision(weight: Any, tp: Any, fp: Any, missed: Any = 0) -> Any:
    """Average precision over all recalls, in as few passes as there can be."""
    total = tp + fp
    first = total[..., 0]
    if np.count_nonzero(first) == first.size:  # more than 0, and so are all that follow
        precision = tp / total
    else:
        precision = np.divide(tp, total, out=np.zeros(total.shape), where=total > 0)
    precision *= weight
    # Not a dot product: the last bits of BLAS differ between processors.
    return np.add.reduce(precision, axis=-1) / (tp[..., -1] + missed)


def average_precision(steps: Steps, low: float, high: float) -> Any:
    if (low, high) == (0.0, 1.0):
        return mean_precision(steps.weight, steps.tp1, steps.fp1, steps.cells.missed)
    return _linear_area(steps, steps.arrival, steps.arrival, low, high)


def lower_trapezoid(steps: Steps, low: float, high: float) -> Any:
    arrival = steps.arrival
    departure = ratio(steps.tp0, steps.tp0 + steps.fp0)
    opening = np.where(steps.fp0 > 0, 0.0, np.where(steps.fp1 > steps.fp0, arrival, 1.0))
    return _linear_area(steps, np.where(steps.first, opening, departure), arrival, low, high)


def upper_trapezoid(steps: Steps, low: float, high: float) -> Any:
    arrival = steps.arrival
    previous = ratio(steps.tp0, steps.tp0 + steps.fp_last)
    opening = np.where(steps.fp1 > steps.fp0, arrival, 1.0)
    return _linear_area(steps, np.where(steps.first, opening, previous), arrival, low, high)


def davis_goadrich(steps: Steps, low: float, high: float) -> Any:
    return _hyperbola_area(steps.tp0, steps.fp0, steps.tp1, steps.fp1, steps.n_pos, low, high)


def interpolated_max(steps: Steps, low: float, high: float) -> Any:
    return _hyperbola_area(steps.tp0, steps.fp_last, steps.tp1, steps.fp1, steps.n_pos, low, high)


def interpolated_mean(steps: Steps, low: float, high: float) -> Any:
    between = _mean_between(steps.weight, steps.tp1, steps.fp1, steps.gap)
    return _interpolated(steps, between, low, high)


@in_blocks
def _mean_between(weight: Any, tp1: Any, fp1: Any, gap: Any) -> FloatArray:
    """Mean of TP/(TP + a + i), i = 0..W: TP [digamma(TP+a+W+1) - digamma(TP+a)] / (W+1)."""
    at = np.where(weight > 0, tp1 + fp1, 1.0)
    return np.asarray(tp1 * (1.0 / at + reciprocal_sum(at, gap)) / (gap + 1.0))


def interpolated_median(steps: Steps, low: float, high: float) -> Any:
    between = _median_between(steps.tp1, steps.fp1, steps.gap)
    return _interpolated(steps, between, low, high)


@in_blocks
def _median_between(tp1: Any, fp1: Any, gap: Any) -> FloatArray:
    """Median of the same: a whole odd gap has an even number of points, of which two are middle."""
    half_gap = 0.5 * gap
    # What is left over by whole pairs, exactly, and in a tenth of the time that % takes.
    half_step = np.where(gap - 2.0 * np.floor(half_gap) == 1.0, 0.5, 0.0)
    middle = tp1 + fp1 + half_gap
    return np.asarray(0.5 * (ratio(tp1, middle - half_step) + ratio(tp1, middle + half_step)))


def mean_of_thresholds(steps: Steps, low: float, high: float) -> Any:
    """As interpolated_mean, with one point per threshold instead of one per negative."""
    return _of_thresholds(
        steps, low, high, lambda values, starts, counts: np.add.reduceat(values, starts) / counts
    )


def median_of_thresholds(steps: Steps, low: float, high: float) -> Any:
    """As interpolated_median, with one point per threshold instead of one per negative."""

    def median(values: FloatArray, starts: IntArray, counts: IntArray) -> FloatArray:
        # Precision falls along the thresholds of one recall, so that they are in order.
        return np.asarray(0.5 * (values[starts + (counts - 1) // 2] + values[starts + counts // 2]))

    return _of_thresholds(steps, low, high, median)


def _of_thresholds(steps: Steps, low: float, high: float, summary: Summary) -> Any:
    """Hyperbolas through the summary of the precisions of all thresholds at each recall."""
    cells = steps.cells
    if np.any(cells.above) or np.any(cells.below):
        raise InputError(
            "negatives='thresholds' needs every score, and a ranking keeps those of positives: "
            "pass pr.rank(y_true, y_score, thresholds=y_score)."
        )
    shape = steps.tp1.shape[:-1]
    areas = np.empty(shape)
    tied = np.broadcast_to(cells.tied, steps.weight.shape)
    for index in np.ndindex(shape):
        # A threshold that was kept and has no rows is none.
        seen = np.flatnonzero((steps.weight[index] > 0) | (tied[index] > 0))
        tp, fp = steps.tp1[index][seen], steps.fp1[index][seen]
        starts = np.flatnonzero(steps.weight[index][seen] > 0)
        counts = np.diff(starts, append=seen.size)
        precision = summary(ratio(tp, tp + fp), starts, counts)
        found = tp[starts]
        passed = found * ratio(1.0 - precision, precision)
        areas[index] = _hyperbola_area(
            np.append(0.0, found[:-1]),
            np.append(0.0, passed[:-1]),
            found,
            passed,
            steps.n_pos[index],
            low,
            high,
        )
    return areas[()]


def _interpolated(steps: Steps, precision: FloatArray, low: float, high: float) -> Any:
    """Hyperbolas through one summary point per recall; from the origin to the first."""
    fp = np.maximum.accumulate(_passed_at(precision, steps.weight, steps.tp1), axis=-1)
    before = np.concatenate([np.zeros_like(fp[..., :1]), fp[..., :-1]], axis=-1)
    return _hyperbola_area(steps.tp0, before, steps.tp1, fp, steps.n_pos, low, high)


@in_blocks
def _passed_at(precision: Any, weight: Any, tp: Any) -> FloatArray:
    """The number of negatives that a precision stands for; none in a row without positives."""
    return np.where(weight > 0, tp * ratio(1.0 - precision, precision), 0.0)


def interpolated_convex(steps: Steps, low: float, high: float) -> Any:
    shape = steps.tp1.shape[:-1]
    zero = np.zeros_like(steps.n_pos)
    tp = np.concatenate([zero, steps.tp1, steps.tp1[..., -1:]], axis=-1)
    fp = np.concatenate([zero, steps.fp1, steps.n_neg], axis=-1)
    areas = np.empty(shape)
    for index in np.ndindex(shape):
        hull = roc_hull(tp[index], fp[index])
        x, y = fp[index][hull], tp[index][hull]
        total = steps.n_pos[index]
        areas[index] = _hyperbola_area(y[:-1], x[:-1], y[1:], x[1:], total, low, high)
    return areas[()]


def roc_hull(tp: FloatArray, fp: FloatArray) -> npt.NDArray[np.int64]:
    """Return which points of a path of counts are vertices of its upper ROC convex hull.

    The path starts at the origin. The hull's slopes are the decreasing isotonic regression of
    the share of positives in each step, weighted by the step's size: steps that do not fall are
    pooled with the next, all runs of them at once, until every step falls.
    """
    kept = np.append(0, np.flatnonzero(np.diff(tp + fp) > 0) + 1)
    for _ in range(_MOST_POOLINGS):
        size, found = np.diff(tp[kept] + fp[kept]), np.diff(tp[kept])
        falls = found[:-1] * size[1:] > found[1:] * size[:-1]
        if falls.all():
            return np.asarray(kept, dtype=np.int64)
        kept = kept[np.concatenate([[True], falls, [True]])]
    from scipy.optimize import isotonic_regression

    size = np.diff(tp[kept] + fp[kept])
    blocks = isotonic_regression(np.diff(tp[kept]) / size, weights=size, increasing=False).blocks
    return np.asarray(kept[blocks], dtype=np.int64)


def leave_one_out(steps: Steps, low: float, high: float) -> Any:
    others = steps.tp1 - steps.removed
    scaled = others * ratio(steps.n_pos, steps.n_pos - steps.removed)
    value = ratio(scaled, scaled + steps.fp1)
    # The top positive with nothing above it says nothing: it takes the next one's value.
    empty = steps.first & (others + steps.fp1 <= 1e-12 * steps.removed)
    second = (steps.weight > 0) & (np.cumsum(steps.weight > 0, axis=-1) == 2)
    following = np.sum(np.where(second, value, 0.0), axis=-1, keepdims=True)
    value = np.where(empty, following, value)
    # A single positive has no others: fall back to its precision.
    single = steps.n_pos <= np.max(steps.removed, axis=-1, keepdims=True)
    value = np.where(single, steps.arrival, value)
    return _linear_area(steps, value, value, low, high)

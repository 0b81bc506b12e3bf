"""Areas under the precision-recall curve as other tools compute them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._numerics import ratio, reciprocal_sum
from ..ranking import Cells, Ranking
from ._kernels import Steps, make_steps
from .precision_recall import PrecisionRecallArea

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# precrec puts a point at every multiple of this recall (its x_bins = 1000).
_PRECREC_STEPS = 1000
# keras.metrics.AUC counts the scores above each of these, and those from 0 to 1 at the ends.
_KERAS_STEPS = 199
KERAS_THRESHOLDS = tuple(
    float(np.nextafter(step / _KERAS_STEPS, np.inf)) for step in range(1, _KERAS_STEPS)
)
UNIT_RANGE = (0.0, float(np.nextafter(1.0, np.inf)))
FINITE_RANGE = (-float(np.finfo(np.float64).max), float("inf"))

#: Scores at which some tools need the counts, beside the scores of positives.
THRESHOLDS = (*KERAS_THRESHOLDS, *UNIT_RANGE, *FINITE_RANGE)


class Seen(NamedTuple):
    """The data as a rule sees them: every row, and the steps at the scores of positives."""

    ranking: Ranking
    steps: Steps

    def counts(self, threshold: float) -> tuple[Any, Any] | None:
        """TP and FP at a threshold; None where the ranking does not know them."""
        rows, *hidden = self.ranking.reached(threshold)
        if any(hidden):
            return None
        if not rows:
            return 0, 0
        return self.ranking.tp[rows - 1], self.ranking.fp[rows - 1]

    def outside(self, low: float, high: float) -> float:
        """Largest known weight of the rows on one side: below `low`, or at or above `high`."""
        total = self.ranking.n_pos + self.ranking.n_neg
        above, kept = self.counts(high), self.counts(low)
        return max(
            0.0 if above is None else float(sum(above)),
            0.0 if kept is None else float(total - sum(kept)),
        )


def kernel(name: str) -> Callable[[Seen], float]:
    """Return the area by an estimator of this library."""
    area = PrecisionRecallArea(name).kernel
    return lambda seen: float(area(seen.steps, 0.0, 1.0))


def _precisions(steps: Steps) -> tuple[FloatArray, FloatArray]:
    """Precision just before each row and on arrival."""
    return ratio(steps.tp0, steps.tp0 + steps.fp0), ratio(steps.tp1, steps.tp1 + steps.fp1)


def _trapezoids(steps: Steps, left: FloatArray, right: FloatArray) -> float:
    return float(0.5 * np.sum(steps.weight * (left + right)) / steps.n_pos[0])


def from_one(seen: Seen) -> float:
    """Straight lines through all points, the first of them (0, 1)."""
    steps = seen.steps
    before, arrival = _precisions(steps)
    before[0] = 0.0 if steps.fp0[0] > 0 else 1.0
    return _trapezoids(steps, before, arrival)


def highest_from_one(seen: Seen) -> float:
    """Straight lines through the highest precision at each recall, from (0, 1)."""
    _, arrival = _precisions(seen.steps)
    return _trapezoids(seen.steps, np.concatenate([[1.0], arrival[:-1]]), arrival)


def whole_positives(steps: Steps, *, drop_leading: bool) -> float:
    """Straight lines through all points and one more per positive inside a tie.

    A row of p positives and q negatives after (TP, FP) has the precisions
    ``(TP + j) / (TP + FP + j s)``, ``s = 1 + q/p``, ``j = 0..p``; their sum is a sum of
    reciprocals.
    """
    p, start = steps.weight, steps.tp0 + steps.fp0
    before, arrival = _precisions(steps)
    pace = 1.0 + (steps.fp1 - steps.fp0) / p
    inner = (p + (steps.tp0 - start / pace) * reciprocal_sum(start / pace, p)) / pace
    areas = inner + 0.5 * (before - arrival)
    if drop_leading or start[0] == 0:
        areas[0] = p[0] * arrival[0]
    return float(np.sum(areas) / steps.n_pos[0])


def after_first(seen: Seen) -> float:
    """Straight lines through all points; nothing before the first of them."""
    steps = seen.steps
    before, arrival = _precisions(steps)
    areas = 0.5 * steps.weight * (before + arrival)
    areas[0] = areas[0] if steps.fp0[0] > 0 else 0.0
    return float(np.sum(areas) / steps.n_pos[0])


def row_by_row(seen: Seen) -> float:
    """Straight lines from row to row; nothing before the first of them."""
    steps = seen.steps
    lost = 0.0 if steps.fp0[0] > 0 else 1.0 / float(steps.n_pos[0])
    return whole_positives(steps, drop_leading=False) - lost


def precrec(seen: Seen) -> float:
    """Straight lines through a point per row of the data and per thousandth of recall.

    The rows of a tie of p positives and q negatives are spread evenly: each is p/(p+q) of a
    positive and the rest of a negative. A thousandth that falls between two rows is a point more.
    """
    steps = seen.steps
    n = float(steps.n_pos[0])
    rows = steps.weight + steps.fp1 - steps.fp0
    part = steps.weight / rows  # of a positive, in each row of the tie
    start = steps.tp0 + steps.fp0
    before, arrival = _precisions(steps)
    before[0] = before[0] if start[0] > 0 else arrival[0]
    # Sum of (TP + i part) / (start + i) over i = 1..rows, then trapezoids of width part / n.
    inner = part * rows + (steps.tp0 - part * start) * reciprocal_sum(start, rows)
    areas = part * (inner + 0.5 * (before - arrival)) / n
    return float(np.sum(areas)) + _thousandths(steps, part, n)


def _thousandths(steps: Steps, part: FloatArray, n: float) -> float:
    """What the points at thousandths of recall add to the trapezoids that they fall into."""
    grid = n * np.arange(1, _PRECREC_STEPS) / _PRECREC_STEPS
    row = np.searchsorted(steps.tp1, grid, side="left")
    place = np.floor((grid - steps.tp0[row]) / part[row])
    low = steps.tp0[row] + place * part[row]
    # Each trapezoid once, with its ends and the points inside it in order.
    first = np.append(True, (row[1:] != row[:-1]) | (place[1:] != place[:-1]))
    owner = np.cumsum(first) - 1
    row, low = row[first], low[first]
    high = low + part[row]
    tp = np.concatenate([low, grid, high])
    whose = np.concatenate([np.arange(row.size), owner, np.arange(row.size)])
    order = np.lexsort([tp, whose])
    tp, whose = tp[order], whose[order]

    def precision(at: FloatArray, own: IntArray) -> FloatArray:
        pace = (steps.fp1 - steps.fp0)[own] / steps.weight[own]
        fp = steps.fp0[own] + (at - steps.tp0[own]) * pace
        return np.where(at + fp == 0, 1.0 / (1.0 + pace), ratio(at, at + fp))

    height = precision(tp, row[whose])
    pieces = np.diff(tp) * (height[1:] + height[:-1])
    within = float(np.sum(pieces[whose[1:] == whose[:-1]]))
    whole = float(np.sum((high - low) * (precision(low, row) + precision(high, row))))
    return 0.5 * (within - whole) / n


def rocr(seen: Seen) -> float:
    """Straight lines through the highest precisions, and a point per positive in long steps.

    The points of a step of three positives or more are put into the list of points at the place
    that the step had at first. Points put in before have moved it on, so the line goes back and
    forth, and the areas of its pieces are added with their signs.
    """
    steps = seen.steps
    tp, fp = np.append(0.0, steps.tp1), np.append(0.0, steps.fp1)
    step = np.diff(tp)
    added = np.where(step > 2, step, 0.0).astype(np.int64)
    owner = np.repeat(np.arange(added.size), added)
    within = np.arange(owner.size) - np.repeat(np.cumsum(added) - added, added) + 1.0
    tp = np.append(tp, tp[owner] + within)
    fp = np.append(fp, fp[owner] + within * (np.diff(fp) / step)[owner])
    order = _moved(added, owner, within.astype(np.int64))
    recall, precision = tp / steps.n_pos[0], ratio(tp, tp + fp)
    precision[0] = 1.0
    x, y = recall[order], precision[order]
    return float(0.5 * np.sum(np.diff(x) * (y[1:] + y[:-1])))


def _moved(added: IntArray, owner: IntArray, within: IntArray) -> IntArray:
    """Order of the points 0, 1, ... after each block is put in behind place 1, 2, ...

    What comes after the place is a stack: a block is put on it, its last point first, and then one
    point is taken from the top. Points are found by their height in the stack and the time.
    """
    n = added.size
    before = np.cumsum(added - 1) - (added - 1)
    height = np.concatenate([-np.arange(n), before[owner] + added[owner] - within + 1])
    time = np.concatenate([np.zeros(n, dtype=np.int64), owner + 1])
    put = np.lexsort([time, height])
    key = height[put] * (n + 2) + time[put]
    taken_at = before + added  # the height of what is taken, at times 1, 2, ...
    taken = put[np.searchsorted(key, taken_at * (n + 2) + np.arange(1, n + 1), side="right") - 1]
    left = np.ones(height.size, dtype=np.bool_)
    left[taken] = False
    rest = np.flatnonzero(left)
    rest = rest[np.argsort(-height[rest], kind="stable")]
    return np.concatenate([[0], taken + 1, rest + 1])


def keras(seen: Seen) -> float:
    """Exact hyperbolas through the counts above 200 thresholds from 0 to 1."""
    thresholds = (UNIT_RANGE[0], *KERAS_THRESHOLDS)
    known = [seen.counts(threshold) for threshold in reversed(thresholds)]
    tp, fp = np.array([each for each in known if each is not None], dtype=np.float64).T
    positives, negatives = np.diff(tp, prepend=0.0), np.diff(fp, prepend=0.0)
    # Each interval of scores is one tie; one without positives lies above the next.
    some = positives > 0
    above = np.where(some, 0.0, negatives)
    tied = np.where(some, negatives, 0.0)
    steps = make_steps(Cells(positives, tied, above, 0.0))
    return float(PrecisionRecallArea("davis_goadrich").kernel(steps, 0.0, 1.0))

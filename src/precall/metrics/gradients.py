"""Derivatives of areas by the weight of each cell.

With the number of positives given, the derivatives of average precision have a closed form,
``O(rows)`` by cumulated sums from below:

    dT/d(positive at j)  =  (1/n) [P_j + sum_{k >= j} w_k FP_k / (TP_k + FP_k)^2] + constant
    dT/d(negative at x)  = -(1/n) sum_{threshold_k <= x} w_k TP_k / (TP_k + FP_k)^2

For the other areas each row's contribution depends only on the counts where the row begins and
ends, so differences of one contribution at a time, cumulated, give the whole gradient.

A positive that was missed moves nothing but the number of positives, which is the constant of its
class: its derivative is 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._numerics import ratio
from ..ranking.number_layout import Cells
from ._kernels import Kernel, average_precision, davis_goadrich, make_steps, roc_hull

FloatArray = npt.NDArray[np.float64]
Recall = tuple[float, float]

# Relative to a row's weight: truncation is its square, rounding the machine's precision over it.
_STEP = 1e-4


def average_precision_gradient(kernel: Kernel, cells: Cells, recall: Recall) -> Cells:
    """Closed form over all recalls, by contributions over a part of them."""
    if recall != (0.0, 1.0):
        return cumulated_gradient(average_precision, cells, recall)
    weight = np.asarray(cells.positives, dtype=np.float64)
    # Products of numbers of rows may be larger than whole numbers can.
    tp, fp = (np.asarray(count, dtype=np.float64) for count in (cells.tp, cells.fp))
    n = np.asarray(cells.all_positives)[..., np.newaxis]
    precision = ratio(tp, tp + fp)
    share = ratio(weight, (tp + fp) * n)
    from_positives = precision / n + from_here(share * (1.0 - precision))
    from_negatives = -from_here(share * precision)
    return Cells(from_positives, from_negatives, from_negatives, np.zeros(n.shape[:-1]))


def from_here(values: FloatArray) -> FloatArray:
    """Sum from each row to the last."""
    return np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]


def after_here(values: FloatArray) -> FloatArray:
    """Sum over the rows after each row."""
    return from_here(values) - values


class _Alone(NamedTuple):
    """The counts of every row as a data set of its own: then a kernel returns contributions."""

    weight: FloatArray
    tp0: FloatArray
    tp1: FloatArray
    fp_last: FloatArray
    fp0: FloatArray
    fp1: FloatArray
    n_pos: FloatArray
    first: npt.NDArray[np.bool_]

    @property
    def arrival(self) -> FloatArray:
        """Precision on arrival."""
        return ratio(self.tp1, self.tp1 + self.fp1)


def cumulated_gradient(kernel: Any, cells: Cells, recall: Recall) -> Cells:
    """Gradient of an area from the partial derivatives of each row's contribution."""
    steps = make_steps(cells)
    alone = _Alone(*(getattr(steps, name)[..., np.newaxis] for name in _Alone._fields))
    held = steps.weight > 0

    def partial(where: npt.NDArray[np.bool_], **signs: float) -> FloatArray:
        """Move the named counts together; their signs say which way."""
        up = np.where(where, _STEP * steps.weight, 0.0)
        down = up
        for name in signs:  # counts stay at or above zero
            down = np.minimum(down, getattr(steps, name))
        ends = []
        for move in (up, -down):
            moved = {name: getattr(steps, name) + sign * move for name, sign in signs.items()}
            rows = alone._replace(**{name: v[..., np.newaxis] for name, v in moved.items()})
            ends.append(np.asarray(kernel(rows, *recall)))
        return ratio(ends[0] - ends[1], up + down)

    # Nothing comes before the first threshold, so nothing moves where it begins.
    later = held & (steps.tp0 > 0)
    by_tp0 = partial(later, tp0=1.0, weight=-1.0)
    by_tp1 = partial(held, tp1=1.0, weight=1.0)
    by_fp = partial(held, fp0=1.0, fp1=1.0)
    by_tied = partial(held, fp1=1.0)
    by_last = partial(later, fp_last=1.0)
    # FP at the previous threshold counts the cells down to that threshold.
    index = np.where(held, np.arange(held.shape[-1]), held.shape[-1] - 1)
    following = np.minimum.accumulate(index[..., ::-1], axis=-1)[..., ::-1]
    after = after_here(by_fp) + np.take_along_axis(after_here(by_last), following, axis=-1)
    return Cells(
        from_here(by_tp1) + after_here(by_tp0),
        after + by_tied,
        after + by_fp,
        np.zeros(held.shape[:-1]),
    )


def hull_gradient(kernel: Kernel, cells: Cells, recall: Recall) -> Cells:
    """The hull is the plug-in curve of its own blocks, and a small change keeps its vertices."""
    shape = np.shape(cells.positives)
    flat = [np.broadcast_to(field, shape).reshape(-1, shape[-1]) for field in cells[:3]]
    ends = [np.broadcast_to(end, shape[:-1]).reshape(-1) for end in (cells.below, cells.missed)]
    results = [_hull_row(recall, *row) for row in zip(*flat, *ends, strict=True)]
    positives, tied, above = (np.reshape([row[i] for row in results], shape) for i in range(3))
    return Cells(positives, tied, above, np.reshape([row.below for row in results], shape[:-1]))


def _hull_row(
    recall: Recall, positives: Any, tied: Any, above: Any, below: Any, missed: Any
) -> Cells:
    tp = np.concatenate([[0.0], np.cumsum(positives), [np.sum(positives)]])
    fp = np.cumsum(np.concatenate([[0.0], above + tied, [below]]))
    vertex = roc_hull(tp, fp)
    size, inside = np.diff(tp[vertex]), np.diff(fp[vertex])
    # A last block of negatives alone stands below every positive and moves nothing.
    held = size > 0
    blocks = Cells(size[held], inside[held], np.zeros(held.sum()), 0.0, missed)
    inner = cumulated_gradient(davis_goadrich, blocks, recall)
    block = np.searchsorted(vertex[1:], np.arange(1, tp.size))
    by_positive, by_negative = (np.append(field, 0.0)[block] for field in inner[:2])
    return Cells(by_positive[:-1], by_negative[:-1], by_negative[:-1], by_negative[-1])

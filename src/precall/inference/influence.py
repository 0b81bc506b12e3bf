"""Influence values: how much each row moves a metric, and the variance that follows.

A metric T is a function of the weights of the cells. With the number of positives given, the
influence value of a row is its class's total times the derivative of T by the weight of the row's
cell, centred within the class; the variance of T is the sum over rows of the squared centred
derivatives. For average precision the derivatives have a closed form, ``O(rows)`` by cumulated
sums from below:

    dT/d(positive at j)  =  (1/n) [P_j + sum_{k >= j} w_k FP_k / (TP_k + FP_k)^2] + constant
    dT/d(negative at x)  = -(1/n) sum_{threshold_k <= x} w_k TP_k / (TP_k + FP_k)^2

For the other areas each row's contribution depends only on the counts where the row begins and
ends, so differences of one contribution at a time, cumulated, give the whole gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._estimators import KERNELS, make_steps, ratio, roc_hull
from ..exceptions import InputError
from ..ranking import Cells
from .functionals import AREAS, Functional, reach, totals

FloatArray = npt.NDArray[np.float64]

#: Estimators of the area that have influence values here. Those of leave_one_out are average
#: precision's: the two differ by a term of order 1/n.
SMOOTH_ESTIMATORS = (
    "average_precision",
    "leave_one_out",
    "davis_goadrich",
    "lower_trapezoid",
    "upper_trapezoid",
    "interpolated_max",
    "interpolated_convex",
)
# Relative to a row's weight: truncation is its square, rounding the machine's precision over it.
_STEP = 1e-4


class Linearisation(NamedTuple):
    """A metric to first order, one number per leading axis.

    Attributes
    ----------
    positives, negatives : array
        Variance that each class contributes, with its numbers given.
    slope : array
        Derivative by the log odds of the prevalence.
    top : array
        Change by one more negative (of weight 1) at the place of the highest-ranked one.
    skewness : array
        Sum of the cubed contributions of all rows, for the acceleration of BCa.
    """

    positives: FloatArray
    negatives: FloatArray
    slope: FloatArray
    top: FloatArray
    skewness: FloatArray


def has_gradient(functional: Functional) -> bool:
    """Return whether the metric has influence values."""
    metric = functional.metric
    if metric.name in AREAS:
        return metric.estimator in SMOOTH_ESTIMATORS
    return metric.name != "recall_at_precision"


def gradient(functional: Functional, cells: Cells) -> Cells:
    """Return the derivative by the weight of each cell, up to one constant per class."""
    metric = functional.metric
    if not has_gradient(functional):
        others = f", or one of {', '.join(SMOOTH_ESTIMATORS)}" if metric.name in AREAS else ""
        raise InputError(
            f"{metric.describe()} has no influence values: use "
            f"method='bootstrap_percentile'{others}."
        )
    if metric.name not in AREAS:
        return _GRADIENTS[metric.name](functional, cells)
    if functional.mean_precision or metric.estimator == "leave_one_out":
        area = average_precision_gradient(cells)
    elif metric.estimator == "interpolated_convex":
        area = _hull_gradient(functional, cells)
    else:
        area = _cumulated(functional, cells)
    if metric.name == "aucpr":
        return area
    scale = np.asarray(1.0 / (functional.limits[1] - functional.floor(cells)))
    positives, tied, above = (values * scale[..., np.newaxis] for values in area[:3])
    return Cells(positives, tied, above, area.below * scale)


def average_precision_gradient(cells: Cells) -> Cells:
    """Closed form for average precision over all recalls."""
    weight = np.asarray(cells.positives, dtype=np.float64)
    tp = np.cumsum(weight, axis=-1)
    fp = np.cumsum(cells.above + cells.tied, axis=-1)
    n = tp[..., -1:]
    precision = ratio(tp, tp + fp)
    share = ratio(weight, (tp + fp) * n)
    from_positives = precision / n + _from_here(share * (1.0 - precision))
    from_negatives = -_from_here(share * precision)
    return Cells(from_positives, from_negatives, from_negatives, np.zeros(n.shape[:-1]))


def _from_here(values: FloatArray) -> FloatArray:
    """Sum from each row to the last."""
    return np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]


def _after(values: FloatArray) -> FloatArray:
    """Sum over the rows after each row."""
    return _from_here(values) - values


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


def _cumulated(functional: Functional, cells: Cells) -> Cells:
    """Gradient of an area from the partial derivatives of each row's contribution."""
    kernel: Any = KERNELS[functional.metric.estimator]
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
            ends.append(np.asarray(kernel(rows, *functional.metric.recall)))
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
    after = _after(by_fp) + np.take_along_axis(_after(by_last), following, axis=-1)
    return Cells(
        _from_here(by_tp1) + _after(by_tp0),
        after + by_tied,
        after + by_fp,
        np.zeros(held.shape[:-1]),
    )


def _hull_gradient(functional: Functional, cells: Cells) -> Cells:
    """The hull is the plug-in curve of its own blocks, and a small change keeps its vertices."""
    plug_in = _replace_estimator(functional, "davis_goadrich")
    shape = np.shape(cells.positives)
    flat = [np.broadcast_to(field, shape).reshape(-1, shape[-1]) for field in cells[:3]]
    below = np.broadcast_to(cells.below, shape[:-1]).reshape(-1)
    results = [_hull_row(plug_in, *row) for row in zip(*flat, below, strict=True)]
    positives, tied, above = (np.reshape([row[i] for row in results], shape) for i in range(3))
    return Cells(positives, tied, above, np.reshape([row.below for row in results], shape[:-1]))


def _hull_row(functional: Functional, positives: Any, tied: Any, above: Any, below: Any) -> Cells:
    tp = np.concatenate([[0.0], np.cumsum(positives), [np.sum(positives)]])
    fp = np.cumsum(np.concatenate([[0.0], above + tied, [below]]))
    vertex = roc_hull(tp, fp)
    size, inside = np.diff(tp[vertex]), np.diff(fp[vertex])
    # A last block of negatives alone stands below every positive and moves nothing.
    held = size > 0
    inner = _cumulated(functional, Cells(size[held], inside[held], np.zeros(held.sum()), 0.0))
    block = np.searchsorted(vertex[1:], np.arange(1, tp.size))
    by_positive, by_negative = (np.append(field, 0.0)[block] for field in inner[:2])
    return Cells(by_positive[:-1], by_negative[:-1], by_negative[:-1], by_negative[-1])


def _replace_estimator(functional: Functional, estimator: str) -> Functional:
    return replace(functional, metric=replace(functional.metric, estimator=estimator))


def _auroc_gradient(functional: Functional, cells: Cells) -> Cells:
    """The structural components of DeLong, DeLong & Clarke-Pearson (1988)."""
    weight = np.asarray(cells.positives, dtype=np.float64)
    n, m = (np.asarray(total)[..., np.newaxis] for total in totals(cells))
    misplaced = np.cumsum(cells.above + cells.tied, axis=-1) - 0.5 * cells.tied
    lower = _from_here(weight)
    return Cells(
        -misplaced / (n * m),
        -(lower - 0.5 * weight) / (n * m),
        -lower / (n * m),
        np.zeros(weight.shape[:-1]),
    )


def _auprg_gradient(functional: Functional, cells: Cells) -> Cells:
    """The gain area is ``const - (n^3/m^2)`` times the integral of ``FP(t)/t^3`` over TP t.

    It runs from ``t = n^2/N``. A negative raises FP(t) from its place on; a positive moves FP(t)
    down to ``FP(t - 1)`` there.
    """
    weight = np.asarray(cells.positives, dtype=np.float64)
    tied = np.broadcast_to(np.asarray(cells.tied, dtype=np.float64), weight.shape)
    n, m = (np.asarray(total)[..., np.newaxis] for total in totals(cells))
    tp1 = np.cumsum(weight, axis=-1)
    begin = n * n / (n + m)
    start, stop = np.maximum(tp1 - weight, begin), np.maximum(tp1, begin)
    scale = n**3 / m**2
    rest = 0.5 * (1.0 / stop**2 - 1.0 / n**2)
    inside = 0.5 * (1.0 / start**2 - 1.0 / stop**2)
    # Mean over the row of (t - tp0)/w, the share of its negatives passed, over t^3.
    ramp = ratio((1.0 / start - 1.0 / stop) - (tp1 - weight) * inside, weight)
    slope = ratio(tied, weight)
    # In a row without positives the tied negatives are passed at once, like those above.
    passed = cells.above + np.where(weight > 0, 0.0, tied)
    by_jump = _after(np.where(tp1 - weight >= begin, passed / start**3, 0.0))
    return Cells(
        scale * (by_jump + _after(slope * inside) + slope * ramp),
        -scale * (rest + ramp),
        -scale * (rest + inside),
        np.zeros(weight.shape[:-1]),
    )


def _precision_at_recall_gradient(functional: Functional, cells: Cells) -> Cells:
    """Precision at recall r moves by its own FP and by the threshold, which positives set.

    The second part needs the slope dFP/dTP there: a difference over one standard deviation of
    the recall at a threshold, to both sides, as far as the sample itself may be off.
    """
    recall = functional.metric.recall
    weight = np.asarray(cells.positives, dtype=np.float64)
    n = np.sum(weight, axis=-1)
    width = np.maximum(np.sqrt(recall * (1.0 - recall) / n), 1.0 / n)
    low, high = np.maximum(recall - width, 0.0) * n, np.minimum(recall + width, 1.0) * n
    slope = ratio(reach(cells, high).fp - reach(cells, low).fp, high - low)[..., np.newaxis]
    tp = recall * n
    point = reach(cells, tp)
    by_fp = -ratio(tp, (tp + point.fp) ** 2)[..., np.newaxis]
    rows = np.arange(weight.shape[-1])
    passed = np.where(rows < point.row, 1.0, np.where(rows == point.row, point.share, 0.0))
    above = np.where(rows <= point.row, by_fp, 0.0)
    return Cells(-by_fp * slope * passed, by_fp * passed, above, np.zeros(n.shape))


def _f_beta_gradient(functional: Functional, cells: Cells) -> Cells:
    square = functional.metric.beta**2
    weight = np.asarray(cells.positives, dtype=np.float64)
    chosen = np.arange(weight.shape[-1]) <= functional.row
    tp = np.sum(np.where(chosen, weight, 0.0), axis=-1, keepdims=True)
    fp = np.sum(np.where(chosen, cells.above + cells.tied, 0.0), axis=-1, keepdims=True)
    whole = tp + fp + square * np.sum(weight, axis=-1, keepdims=True)
    by_tp = ratio((1.0 + square) * (whole - tp), whole**2)
    by_fp = -ratio((1.0 + square) * tp, whole**2)
    negative = np.where(chosen, by_fp, 0.0)
    return Cells(np.where(chosen, by_tp, 0.0), negative, negative, np.zeros(whole.shape[:-1]))


_GRADIENTS: dict[str, Callable[[Functional, Cells], Cells]] = {
    "auroc": _auroc_gradient,
    "auprg": _auprg_gradient,
    "precision_at_recall": _precision_at_recall_gradient,
    "f_beta": _f_beta_gradient,
}


def linearise(
    functional: Functional, cells: Cells, squares: Cells | None = None, *, slope: bool = True
) -> Linearisation:
    """Expand a metric to first order; with weights, rows count with their squares."""
    values = gradient(functional, cells)
    counts = squares or cells
    ours = values.positives - mean_of(values.positives, cells.positives)
    negative = Cells(*(np.asarray(v) for v in values))
    n, m = totals(cells)
    mean = (
        _inner(negative.tied, cells.tied)
        + _inner(negative.above, cells.above)
        + negative.below * cells.below
    ) / m
    tied, above = (part - mean[..., np.newaxis] for part in (negative.tied, negative.above))
    below = negative.below - mean
    # The average weight of a cell's rows, needed only for the cubes.
    cubes = squares and _cube_factors(cells, squares)
    parts = [
        (ours, counts.positives, cubes and cubes.positives),
        (tied, counts.tied, cubes and cubes.tied),
        (above, counts.above, cubes and cubes.above),
    ]
    third = sum(
        _inner(part**3, count if factor is None else count * factor)
        for part, count, factor in parts
    )
    third = third + below**3 * (counts.below if cubes is None else counts.below * cubes.below)
    return Linearisation(
        positives=_inner(ours**2, counts.positives),
        negatives=_inner(tied**2, counts.tied)
        + _inner(above**2, counts.above)
        + below**2 * counts.below,
        slope=prevalence_slope(functional, cells) if slope else np.zeros(np.shape(n)),
        top=np.abs(_at_the_top(negative, cells)),
        skewness=np.asarray(third),
    )


def mean_of(values: Any, weight: Any) -> FloatArray:
    """Weighted mean over the last axis, which is kept."""
    mean = _inner(values, weight) / np.sum(weight, axis=-1)
    return np.asarray(mean)[..., np.newaxis]


def _inner(first: Any, second: Any) -> Any:
    first, second = np.broadcast_arrays(first, second)
    return np.einsum("...i,...i->...", first, second)


def _cube_factors(cells: Cells, squares: Cells) -> Cells:
    return Cells(*(ratio(square, weight) for square, weight in zip(squares, cells, strict=True)))


def _at_the_top(values: Cells, cells: Cells) -> Any:
    """Derivative at the highest-ranked negative, less that at a negative below every positive."""
    above = np.broadcast_to(cells.above, np.shape(values.above))
    both = above + cells.tied
    row = np.argmax(both > 0, axis=-1)[..., np.newaxis]

    def at(field: FloatArray) -> FloatArray:
        return np.take_along_axis(field, row, axis=-1)[..., 0]

    top = np.where(at(above) > 0, at(values.above), at(values.tied)) - values.below
    return np.where(np.any(both > 0, axis=-1), top, 0.0)


def prevalence_slope(functional: Functional, cells: Cells) -> Any:
    """Derivative of the metric by the log odds of the prevalence, both classes kept as they are."""
    if functional.mean_precision and functional.metric.name == "aucpr":
        tp = np.cumsum(cells.positives, axis=-1, dtype=np.float64)
        precision = ratio(tp, tp + np.cumsum(cells.above + cells.tied, axis=-1))
        return mean_of(precision * (1.0 - precision), cells.positives)[..., 0]
    down, up = (functional.value(cells.scaled(1.0, np.exp(sign * _STEP))) for sign in (1.0, -1.0))
    return (up - down) / (2.0 * _STEP)

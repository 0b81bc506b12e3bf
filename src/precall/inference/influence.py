"""Influence values: how much each row moves a metric, and the variance that follows.

A metric T is a function of the weights of the cells. With the number of positives given, the
influence value of a row is its class's total times the derivative of T by the weight of the row's
cell, centred within the class; the variance of T is the sum over rows of the squared centred
derivatives. Where the numbers vary, each row moves the prevalence as well.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._numerics import ratio
from ..metrics import Metric
from ..metrics.base import totals
from ..ranking import Cells

FloatArray = npt.NDArray[np.float64]


class Linearisation(NamedTuple):
    """A metric to first order, one number per leading axis.

    Attributes
    ----------
    positives, negatives : array
        Variance that each class contributes, with its numbers given.
    slope : array
        Derivative by the log odds of the prevalence.
    together : array
        Covariance of those log odds with what rows do with their numbers given: 0 where all rows of
        a class weigh the same. Heavy rows at one end of the scores move both.
    top : array
        Change by one more negative (of weight 1) at the place of the highest-ranked one.
    """

    positives: FloatArray
    negatives: FloatArray
    slope: FloatArray
    together: FloatArray
    top: FloatArray


def linearise(
    metric: Metric, cells: Cells, squares: Cells | None = None, *, slope: bool = True
) -> Linearisation:
    """Expand a metric to first order; with weights, rows count with their squares."""
    values = metric.gradient(cells)
    counts = squares or cells
    n, _ = totals(cells)
    ours, tied, above, below, missed = centred = centred_values(values, cells)
    negative = Cells(*(np.asarray(v) for v in values))
    return Linearisation(
        positives=_inner(ours**2, counts.positives) + missed**2 * counts.missed,
        negatives=_inner(tied**2, counts.tied)
        + _inner(above**2, counts.above)
        + below**2 * counts.below,
        slope=metric.prevalence_slope(cells) if slope else np.zeros(np.shape(n)),
        together=with_prevalence(centred, cells, squares),
        top=np.abs(_at_the_top(negative, cells)),
    )


def summed_cubes(metric: Metric, cells: Cells, squares: Cells | None = None) -> FloatArray:
    """Sum of the cubed contributions of all rows, for the acceleration of BCa."""
    ours, tied, above, below, missed = centred_values(metric.gradient(cells), cells)
    counts = squares or cells
    if squares is not None:  # times the average weight of each cell's rows
        factors = _cube_factors(cells, squares)._replace(missed=1.0)
        counts = Cells(*(count * factor for count, factor in zip(counts, factors, strict=True)))
    cubes = Cells(*(part**2 * part for part in (ours, tied, above, below, missed)))
    return np.asarray(_summed(cubes, counts))


def deciding_rows(
    metric: Metric, cells: Cells, squares: Cells, rows: Cells
) -> tuple[FloatArray, FloatArray]:
    """How many rows the variance rests on, and how many it would with equal weights in a class.

    Kish's number of their contributions ``v = (w g)^2``, ``(sum v)^2 / (sum v^2)`` with g the
    centred derivative: the degrees of freedom that Satterthwaite (1946) gives their sum.
    """
    held = np.asarray(rows.positives) > 0
    if not np.all(held):
        # Negatives between the same two positives count together, however many cells they are in.
        weight, square, count = (_gathered(part, held) for part in (cells, squares, rows))
        cells, squares, rows = (
            part._replace(above=np.where(count.above > 0, part.above, 0.0))
            for part in (weight, square, count)
        )
    values = centred_values(metric.gradient(cells), cells)
    ours, theirs = (whole / n for whole, n in zip(totals(cells), totals(rows), strict=True))
    equal = scaled_by_class(Cells(*(np.ones_like(value) for value in values)), ours, theirs)
    return (
        _kish_number(values, squares, _cube_factors(cells, squares)),
        _kish_number(values, scaled_by_class(rows, ours**2, theirs**2), equal),
    )


def _kish_number(values: Cells, squares: Cells, weights: Cells) -> Any:
    """Return ``(sum v)^2 / (sum v^2)`` of ``v = (w g)^2`` from sums of squared weights of cells."""
    first = second = 0.0
    for value, square, weight in zip(values, squares, weights, strict=True):
        # Roots first: weights may be so large, and values so small, that their squares are not.
        each = (np.sqrt(square) * value) ** 2
        both = each * (weight * value) ** 2
        inside = np.ndim(value) > np.ndim(values.below)
        first = first + (np.sum(each, axis=-1) if inside else each)
        second = second + (np.sum(both, axis=-1) if inside else both)
    return ratio(first**2, second)


def _gathered(cells: Cells, held: Any) -> Cells:
    """Give the negatives of thresholds without positives to the next threshold that has some."""
    reached = np.maximum.accumulate(np.where(held, cells.fp, 0), axis=-1)
    tied = np.where(held, cells.tied, 0)
    return cells._replace(
        tied=tied,
        above=np.where(held, np.diff(reached, axis=-1, prepend=0) - tied, 0),
        below=totals(cells)[1] - reached[..., -1],
    )


def scaled_by_class(cells: Cells, positives: Any, negatives: Any) -> Cells:
    """Multiply each class by a factor per ranking."""
    ours, theirs = (np.asarray(factor, dtype=np.float64) for factor in (positives, negatives))
    return Cells(
        cells.positives * ours[..., np.newaxis],
        cells.tied * theirs[..., np.newaxis],
        cells.above * theirs[..., np.newaxis],
        cells.below * theirs,
        cells.missed * ours,
    )


def centred_values(values: Cells, cells: Cells) -> Cells:
    """Derivatives less their mean within the class. Missed positives are one more of its cells."""
    n, m = totals(cells)
    centre = (_inner(values.positives, cells.positives) + values.missed * cells.missed) / n
    negative = Cells(*(np.asarray(v) for v in values))
    mean = (
        _inner(negative.tied, cells.tied)
        + _inner(negative.above, cells.above)
        + negative.below * cells.below
    ) / m
    tied, above = (part - mean[..., np.newaxis] for part in (negative.tied, negative.above))
    return Cells(
        values.positives - centre[..., np.newaxis],
        tied,
        above,
        negative.below - mean,
        values.missed - centre,
    )


def _summed(values: Cells, weights: Cells) -> Any:
    """Sum over all cells of a ranking."""
    return (
        _inner(values.positives, weights.positives)
        + _inner(values.tied, weights.tied)
        + _inner(values.above, weights.above)
        + values.below * weights.below
        + values.missed * weights.missed
    )


def with_prevalence(centred: Cells, cells: Cells, squares: Cells | None) -> FloatArray:
    """Covariance of the log odds of the prevalence with a metric whose numbers are given.

    Of derivatives that are centred in their class. 0 where all rows of a class weigh the same.
    """
    n, m = totals(cells)
    if squares is None:
        return np.zeros(np.shape(n))
    ours = _inner(centred.positives, squares.positives) + centred.missed * squares.missed
    theirs = (
        _inner(centred.tied, squares.tied)
        + _inner(centred.above, squares.above)
        + centred.below * squares.below
    )
    return np.asarray(ours / n - theirs / m)


def vary_prevalence(
    covariance: FloatArray, variances: FloatArray, slopes: Any, together: Any, share: float
) -> tuple[FloatArray, FloatArray]:
    """Add what a prevalence that varies does to models that see the same rows.

    To the covariance of their values and to the variances of all differences. `slopes` and
    `together` are those of :class:`Linearisation`; `share` is the variance of the log odds.
    """
    slopes, together = np.asarray(slopes), np.asarray(together)
    crossed = np.outer(slopes, together)
    moved = np.subtract.outer(slopes, slopes)
    apart = np.subtract.outer(together, together)
    return (
        covariance + np.outer(slopes, slopes) * share + (crossed + crossed.T),
        variances + moved**2 * share + 2.0 * moved * apart,
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


def sample_factor(size: Any) -> Any:
    """Return ``size / (size - 1)``; a single row shows no variance, so there it is no matter."""
    return size / np.maximum(np.asarray(size) - 1.0, 1e-9)


def total_variance(
    metric: Metric,
    linear: Linearisation,
    cells: Cells,
    sizes: tuple[Any, Any],
    top_weight: Any = None,
) -> Any:
    """Influence variance on the unit scale, the top-ranked negative counted once more.

    It counts with `top_weight`, by default with what an effective negative weighs on average.
    """
    n, m = sizes
    if top_weight is None:
        top_weight = totals(cells)[1] / m
    variance = (
        linear.positives
        + linear.negatives * sample_factor(m)
        + (linear.top * top_weight) ** 2
        + linear.slope**2 * (1.0 / n + 1.0 / m)
        + 2.0 * linear.slope * linear.together
    )
    zero, one = metric.unit
    return variance / (one - zero) ** 2

"""What weights do where they vary inside a class: near the top, between positives and below them.

An unseen row stands for as many rows as those that were seen beside it do, not for as many as a
row does on average. Where every row of a class weighs the same, nothing here makes a difference.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._numerics import ratio
from ..metrics.base import totals
from ..ranking import Cells, Ranking

# As many rows, at least, are the top.
_TOP_ROWS = 5
# The variance is drawn towards the binomial one, which is worth some rows too.
_MORE_DEGREES = 4.0


class LocalWeights(NamedTuple):
    """Rows that were seen, and what one at either end stands for; arrays for many rankings.

    Attributes
    ----------
    rows : tuple
        Numbers of positives and negatives, each row counted once.
    top : tuple
        Weight of a positive and of a negative at the top: of the first rows of the class or, where
        that is more, of either.
    spread : tuple
        As many positives and negatives there would be if each weighed what one at the top does.
    bottom : tuple
        Weight of a positive and of a negative below every positive.
    excess : array
        How much more a positive below all others would weigh than the effective one; 0 if less.
    between : array
        The same of a positive between each one and the last above it (..., cells).
    counts, squares : Cells
        Number of rows and sum of squared weights of every cell.
    """

    rows: tuple[Any, Any]
    top: tuple[Any, Any]
    spread: tuple[Any, Any]
    bottom: tuple[Any, Any]
    excess: Any
    between: Any
    counts: Cells
    squares: Cells

    @classmethod
    def of(cls, cells: Cells, rows: Cells, squares: Cells | None) -> LocalWeights:
        """Look at the ends of a ranking.

        `rows` has the number of rows in every cell, `squares` the sum of their squared weights.
        """
        squares = cells if squares is None else squares
        seen, whole = totals(rows), totals(cells)
        held = np.asarray(rows.positives) > 0
        above, count = _reached(cells, held), _reached(rows, held)
        times = _negative_to_positive(cells, rows, squares, above[1], count[1], held)
        ours, theirs = (
            _top_mean(held, weight, number, all_weight, all_rows)
            for weight, number, all_weight, all_rows in zip(above, count, whole, seen, strict=True)
        )
        # The first rows of either class, in positives.
        each = np.asarray(times)[..., np.newaxis]
        first = _top_mean(held, above[0] + above[1] / each, count[0] + count[1], whole[0], seen[0])
        ours, theirs = np.maximum(ours, first), np.maximum(theirs, first * times)
        effective = squares.all_positives / whole[0]
        three = (cells, squares, rows)
        gaps = [_between(part, held) for part in three]
        ends = [_after(part, held) for part in three]
        # Without both classes in one place nobody knows what the light rows weigh.
        least = np.where(
            count[1][..., -1] > 0, _lightest(cells, rows, held, times, gaps[::2], ends[::2]), 0.0
        )
        gap = heaviest(gaps[0], gaps[1], gaps[2], least[..., np.newaxis])
        below = heaviest(ends[0], ends[1], ends[2], least)
        below = np.where(below > 0, below, effective * times)
        return cls(
            rows=seen,
            top=(ours, theirs),
            spread=(whole[0] / ours, whole[1] / theirs),
            bottom=(below / times, below),
            excess=np.maximum(below / times - effective, 0.0),
            between=np.maximum(gap / each - effective[..., np.newaxis], 0.0),
            counts=rows,
            squares=squares,
        )

    def deciding(self, effective: Any) -> Any:
        """Positives that the estimate rests on: few if those on top are heavy."""
        return np.minimum(effective, self.spread[0])

    def correction(self, effective: Any) -> Any:
        """How much of the way to the less biased estimate the centre of a lower limit goes.

        Half of it where all positives weigh the same. Heavy ones count themselves more.
        """
        return 1.0 - 0.5 * self.deciding(effective) / self.rows[0]

    def stretch(self, effective: Any, worth: tuple[Any, Any], level: float) -> Any:
        """How many times wider limits are because few heavy rows tell the variance.

        The quantile of Student's t with as many degrees of freedom as they are worth, over that of
        as many as were seen: 1 where all positives weigh the same. The rows are the positives or,
        where that is more, those that `worth` counts: which the variance rests on, and would rest
        on if all weighed the same (:func:`.influence.deciding_rows`).
        """
        from scipy.special import stdtrit

        degrees = np.maximum([self.deciding(effective) - 1.0, self.rows[0] - 1.0], 1.0)
        quantiles = stdtrit([*degrees, *(np.asarray(worth) + _MORE_DEGREES)], 0.5 + 0.5 * level)
        return np.maximum(quantiles[0] / quantiles[1], quantiles[2] / quantiles[3])


def weights_vary(ranking: Ranking) -> bool:
    """Return whether rows of one class weigh differently."""
    if ranking.rows is None:
        return False
    return not np.allclose(totals(ranking.rows), ranking.effective_sizes, rtol=1e-9, atol=0.0)


def heaviest(weight: Any, square: Any, rows: Any, least: Any) -> Any:
    """What the heavy ones of some rows weigh: their mean, each counted by its excess over `least`.

    Where rows weigh either `least` or more, what the heavier ones weigh. It is never less than
    their plain mean, whatever the rounding. 0 where there are none.
    """
    weight, square, rows = (np.asarray(part, dtype=np.float64) for part in (weight, square, rows))
    over = weight - least * rows
    # Sums of weights are differences of running sums: of no rows, they are rounding errors.
    some = (rows > 0) & (over > 1e-9 * weight)
    heavy = (square - least**2 * rows) / np.where(some, over, 1.0) - least
    mean = ratio(weight, rows)
    return np.where(some, np.maximum(heavy, mean), mean)


def _lightest(
    cells: Cells, rows: Cells, held: Any, times: Any, gaps: list[Any], ends: list[Any]
) -> Any:
    """Mean weight of the rows of the place where that is least, as of negatives.

    A place is a threshold with positives, or what lies between two, given by weight and number.
    """
    means = [
        np.min(np.where(held & (np.asarray(count) > 0), ratio(weight, count), np.inf), axis=-1)
        for weight, count in (
            (cells.positives, rows.positives),
            (cells.tied, rows.tied),
            (gaps[0], gaps[1]),
        )
    ]
    below = np.where(np.asarray(ends[1]) > 0, ratio(ends[0], ends[1]), np.inf)
    return np.minimum.reduce([means[0] * times, means[1], means[2], below])


def _between(cells: Cells, held: Any) -> Any:
    """Negatives between each positive and the last above it; 0 where there is no positive."""
    reached = np.diff(_reached(cells, held)[1], axis=-1, prepend=0)
    return np.where(held, reached - cells.tied, 0)


def _after(cells: Cells, held: Any) -> Any:
    """Negatives below every positive: a sum of their own, without the heavy ones above."""
    later = ~np.logical_or.accumulate(held[..., ::-1], axis=-1)[..., ::-1]
    return np.sum(np.where(later, cells.above + cells.tied, 0), axis=-1) + cells.below


def _reached(cells: Cells, held: Any) -> tuple[Any, Any]:
    """Positives and negatives at or above each threshold, or the last one that has positives."""
    reached = np.maximum.accumulate(np.where(held, cells.fp, 0), axis=-1)
    return cells.tp, reached


def _negative_to_positive(
    cells: Cells, rows: Cells, squares: Cells, weight: Any, count: Any, held: Any
) -> Any:
    """How many times a positive a negative weighs at the same place of the ranking.

    Where the two classes are nowhere together, their mean weights tell. The negatives next to the
    positives are taken for light ones: their mean is divided by what unequal weights cost them.
    """
    weight, count = (np.diff(part, axis=-1, prepend=0) for part in (weight, count))
    together = held & (count > 0)
    negative = np.sum(np.where(together, rows.positives * ratio(weight, count), 0.0), axis=-1)
    positive = np.sum(np.where(together, cells.positives, 0.0), axis=-1)
    (ours, theirs), (n, m) = totals(cells), totals(rows)
    light = (theirs / m) ** 2 * theirs / totals(squares)[1]
    return np.where(positive > 0, ratio(negative, positive), light / (ours / n))


def _top_mean(held: Any, weight: Any, count: Any, all_weight: Any, all_rows: Any) -> Any:
    """Mean weight at or above the first threshold that has enough rows; of all if none has."""
    enough = held & (count >= _TOP_ROWS)
    row = np.argmax(enough, axis=-1)[..., np.newaxis]
    there = np.any(enough, axis=-1)
    weight, count = (np.take_along_axis(part, row, axis=-1)[..., 0] for part in (weight, count))
    return np.where(there, weight, all_weight) / np.where(there, count, all_rows)

"""What weights do where they vary inside a class: near the top, and below every positive.

An unseen row stands for as many rows as those that were seen beside it do, not for as many as a
row does on average. Where every row of a class weighs the same, nothing here makes a difference.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._numerics import ratio
from ..metrics.base import totals
from ..ranking import Cells

# As many rows, at least, are the top.
_TOP_ROWS = 5


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
    """

    rows: tuple[Any, Any]
    top: tuple[Any, Any]
    spread: tuple[Any, Any]
    bottom: tuple[Any, Any]
    excess: Any

    @classmethod
    def of(cls, cells: Cells, rows: Cells, squares: Cells | None) -> LocalWeights:
        """Look at the ends of a ranking.

        `rows` has the number of rows in every cell, `squares` the sum of their squared weights.
        """
        squares = cells if squares is None else squares
        seen, whole = totals(rows), totals(cells)
        held = np.asarray(rows.positives) > 0
        above, count = _reached(cells, held), _reached(rows, held)
        times = _negative_to_positive(cells, rows, above[1], count[1], held)
        ours, theirs = (
            _top_mean(held, weight, number, all_weight, all_rows)
            for weight, number, all_weight, all_rows in zip(above, count, whole, seen, strict=True)
        )
        # The first rows of either class, in positives.
        each = np.asarray(times)[..., np.newaxis]
        first = _top_mean(held, above[0] + above[1] / each, count[0] + count[1], whole[0], seen[0])
        ours, theirs = np.maximum(ours, first), np.maximum(theirs, first * times)
        effective = squares.all_positives / whole[0]
        # Of the rows that they stand for, those below have this weight on average.
        weight, square, left = (
            totals(part)[1] - _reached(part, held)[1][..., -1] for part in (cells, squares, rows)
        )
        none = left <= 0
        below = np.where(none, effective * times, ratio(square, np.where(none, 0.0, weight)))
        return cls(
            rows=seen,
            top=(ours, theirs),
            spread=(whole[0] / ours, whole[1] / theirs),
            bottom=(below / times, below),
            excess=np.maximum(below / times - effective, 0.0),
        )

    def deciding(self, effective: Any) -> Any:
        """Positives that the estimate rests on: few if those on top are heavy."""
        return np.minimum(effective, self.spread[0])

    def correction(self, effective: Any) -> Any:
        """How much of the way to the less biased estimate the centre of a lower limit goes.

        Half of it where all positives weigh the same. Heavy ones count themselves more.
        """
        return 1.0 - 0.5 * self.deciding(effective) / self.rows[0]

    def stretch(self, effective: Any, level: float) -> Any:
        """How many times wider limits are because few heavy rows tell the variance.

        The quantile of Student's t with as many degrees of freedom as they are worth, over that of
        as many as were seen: 1 where all positives weigh the same.
        """
        from scipy.special import stdtrit

        few, all_ = (
            stdtrit(np.maximum(size - 1.0, 1.0), 0.5 + 0.5 * level)
            for size in (self.deciding(effective), self.rows[0])
        )
        return few / all_


def _reached(cells: Cells, held: Any) -> tuple[Any, Any]:
    """Positives and negatives at or above each threshold, or the last one that has positives."""
    negatives = np.cumsum(np.asarray(cells.above) + cells.tied, axis=-1)
    reached = np.maximum.accumulate(np.where(held, negatives, 0), axis=-1)
    return np.cumsum(cells.positives, axis=-1), reached


def _negative_to_positive(cells: Cells, rows: Cells, weight: Any, count: Any, held: Any) -> Any:
    """How many times a positive a negative weighs at the same place of the ranking.

    Where the two classes are nowhere together, their mean weights tell.
    """
    weight, count = (np.diff(part, axis=-1, prepend=0) for part in (weight, count))
    together = held & (count > 0)
    negative = np.sum(np.where(together, rows.positives * ratio(weight, count), 0.0), axis=-1)
    positive = np.sum(np.where(together, cells.positives, 0.0), axis=-1)
    (ours, theirs), (n, m) = totals(cells), totals(rows)
    return np.where(positive > 0, ratio(negative, positive), (theirs / m) / (ours / n))


def _top_mean(held: Any, weight: Any, count: Any, all_weight: Any, all_rows: Any) -> Any:
    """Mean weight at or above the first threshold that has enough rows; of all if none has."""
    enough = held & (count >= _TOP_ROWS)
    row = np.argmax(enough, axis=-1)[..., np.newaxis]
    there = np.any(enough, axis=-1)
    weight, count = (np.take_along_axis(part, row, axis=-1)[..., 0] for part in (weight, count))
    return np.where(there, weight, all_weight) / np.where(there, count, all_rows)

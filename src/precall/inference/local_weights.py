"""What weights do near the top, where they vary inside a class.

An unseen row at the top would have stood for as many rows as those that were seen there do, not for
as many as a row does on average. Where every row of a class weighs the same, nothing here makes a
difference.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..metrics.base import totals
from ..ranking import Cells

# As many rows of a class, at least, are the top.
_TOP_ROWS = 5


class LocalWeights(NamedTuple):
    """Rows that were seen, and what one of those at the top stands for; arrays for many rankings.

    Attributes
    ----------
    rows : tuple
        Numbers of positives and negatives, each row counted once.
    top : tuple
        Weight of a positive and of a negative at the top.
    spread : tuple
        As many positives and negatives there would be if each weighed what one at the top does.
    """

    rows: tuple[Any, Any]
    top: tuple[Any, Any]
    spread: tuple[Any, Any]

    @classmethod
    def of(cls, cells: Cells, rows: Cells) -> LocalWeights:
        """Look at the top of a ranking; `rows` has the number of rows in every cell."""
        seen, whole = totals(rows), totals(cells)
        holds = np.asarray(rows.positives) > 0
        ours, theirs = (
            _top_mean(holds & (count >= _TOP_ROWS), weight, count, all_weight, all_rows)
            for weight, count, all_weight, all_rows in zip(
                _reached(cells), _reached(rows), whole, seen, strict=True
            )
        )
        # Where no negative was seen among heavy positives on top, it would have been as heavy.
        heavy = ours * seen[0] / whole[0]
        theirs = np.where(heavy > 1.0, np.maximum(theirs, heavy * whole[1] / seen[1]), theirs)
        return cls(seen, (ours, theirs), (whole[0] / ours, whole[1] / theirs))

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


def _top_mean(enough: Any, weight: Any, count: Any, all_weight: Any, all_rows: Any) -> Any:
    """Mean weight at or above the first threshold that has enough rows; of all if none has."""
    row = np.argmax(enough, axis=-1)[..., np.newaxis]
    there = np.any(enough, axis=-1)
    weight, count = (np.take_along_axis(part, row, axis=-1)[..., 0] for part in (weight, count))
    return np.where(there, weight, all_weight) / np.where(there, count, all_rows)


def _reached(cells: Cells) -> tuple[Any, Any]:
    """Positives and negatives at or above every threshold."""
    negatives = np.asarray(cells.above) + cells.tied
    return np.cumsum(cells.positives, axis=-1), np.cumsum(negatives, axis=-1)

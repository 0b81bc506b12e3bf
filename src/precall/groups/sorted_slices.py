"""The slices of a cut with their rows in order: the rankings of all of them without another sort.

A stable sort of the ordered rows by slice gives every slice's rows in order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..ranking import Cells
from ..ranking.ranking_set import RankingSet
from ..rows import Rows
from .ranking_by_group import groups_in_order

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class SortedSlices(NamedTuple):
    """The rows of some slices of a cut, by slice and then by falling score."""

    rows: IntArray
    starts: IntArray
    rankings: RankingSet

    @classmethod
    def of(cls, rows: Rows, model: str, code: IntArray, levels: IntArray) -> SortedSlices:
        """Take the slices with the numbers `levels`; `code` has the slice of each row."""
        local = np.full(max(levels.max(initial=0), int(code.max())) + 1, -1, dtype=np.int64)
        local[levels] = np.arange(levels.size)
        return cls(*groups_in_order(rows, model, local[code], levels))

    @property
    def n_slices(self) -> int:
        """Number of slices."""
        return self.starts.size - 1

    @property
    def slice_of_row(self) -> IntArray:
        """The position of each row's slice."""
        return np.repeat(np.arange(self.n_slices), np.diff(self.starts))

    def rows_of(self, slices: IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows of some slices, and the position of each row's slice among them."""
        starts, ends = self.starts[slices], self.starts[slices + 1]
        code = np.repeat(np.arange(slices.size), ends - starts)
        offset = np.repeat(starts - np.append(0, np.cumsum(ends - starts)[:-1]), ends - starts)
        return self.rows[offset + np.arange(code.size)], code

    # Segments: for each slice above its first threshold, at it, above the second, ..., below all.

    @property
    def segment_of_row(self) -> IntArray:
        """The segment of each row."""
        counted: Any = self.rankings.rows or self.rankings.cells
        length = self.by_segment(
            counted.above, counted.positives + counted.tied, counted.below
        ).astype(np.int64)
        return np.repeat(np.arange(length.size), length)

    def by_segment(self, above: Array, at: Array, below: Array) -> Array:
        """Lay one value per row of the tables, and one per slice, out by segment."""
        number, group = np.arange(at.size), self.rankings.group_of_row
        found = np.zeros(2 * at.size + self.n_slices)
        over = 2 * number + group
        found[over], found[over + 1] = above, at
        found[2 * self.rankings.offsets[1:] + np.arange(self.n_slices)] = below
        return found

    def of_negatives(self, values: Cells, factor: FloatArray) -> FloatArray:
        """Lay out what a negative of each segment has: values times the factor of its slice."""
        by = factor[self.rankings.group_of_row]
        return self.by_segment(values.above * by, values.tied * by, values.below * factor)

    def of_positives(self, values: Cells) -> FloatArray:
        """Lay out what a positive of each segment has."""
        return self.by_segment(np.zeros(()), values.positives, np.zeros(()))

"""The rankings of what is outside of each slice: that of all rows less the slice, as counts add."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..ranking import Cells, Ranking
from ..ranking.number_layout import even_cuts
from ..ranking.ranking_set import RankingSet
from .slice_evidence import SliceQuestion
from .sorted_slices import SortedSlices

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# Cells of all rests together (four for each row within these bounds) and of one: rankings of more
# rows are coarsened for them. With 2,048 cells limits move by at most 5e-5 of their width (100,000
# rows, 120 slices).
_LEAST_REST_CELLS, _REST_CELLS, _REST_CELLS_PER_ROW = 400_000, 1 << 22, 4
_FEWEST_CELLS, _MOST_CELLS = 1 << 11, 1 << 14
# Cells of the rests that are handled at a time.
_BLOCK_CELLS = 1 << 19


class _Kind(NamedTuple):
    """One kind of mass (rows, weights or squared weights) of all rows, per place."""

    per_row: FloatArray | None
    positives: Array
    segments: Array


class RestCells(NamedTuple):
    """A ranking coarsened for rests: the cell of each of its rows, and which are first in it."""

    exact: Ranking
    coarse: Ranking
    cell: IntArray
    first: Mask

    @classmethod
    def of(cls, exact: Ranking, count: int) -> RestCells:
        """Merge rows where there are many thresholds and `count` rests."""
        n_rows = sum(int(np.sum(numbers)) for numbers in exact.rows or exact.cells)
        total = np.clip(_REST_CELLS_PER_ROW * n_rows, _LEAST_REST_CELLS, _REST_CELLS)
        most = int(np.clip(total // max(count, 1), _FEWEST_CELLS, _MOST_CELLS))
        if len(exact) <= most:
            every = np.arange(len(exact))
            return cls(exact, exact, every, np.ones(every.size, dtype=np.bool_))
        last = _cuts(exact, most)
        cell = np.searchsorted(last, np.arange(len(exact)))
        return cls(exact, _merged(exact, last), cell, np.append(True, np.diff(cell) > 0))

    @property
    def edges(self) -> Array:
        """The thresholds at which the counts of parts have to be known."""
        last = np.append(self.first[1:], True)
        return np.asarray(self.exact.threshold[self.first | last])


@dataclass(frozen=True, kw_only=True, eq=False)
class WholeRanking:
    """The ranking of all rows, from which slices are subtracted."""

    exact: Ranking
    coarse: Ranking
    positive: Mask
    place: IntArray
    kinds: list[_Kind]
    divisible: bool

    @classmethod
    def of(cls, question: SliceQuestion, count: int) -> WholeRanking:
        """Rank all rows, coarsely where there are many thresholds and many slices."""
        rows = question.rows
        place = rows.place(question.model)
        exact = rows.ranking(question.model)
        cells = RestCells.of(exact, count)
        coarse = cells.coarse
        if coarse is not exact:
            # Above the first row of a merged cell is above the cell; the rest is tied in it.
            moved = np.stack([2 * cells.cell + ~cells.first, 2 * cells.cell + 1], axis=-1).ravel()
            place = np.append(moved, 2 * len(coarse))[place]
        kinds = [_kind(coarse.rows or coarse.cells, None)]
        if rows.weight is not None and coarse.squares is not None:
            kinds += [
                _kind(coarse.cells, rows.weight),
                _kind(coarse.squares, rows.weight * rows.weight),
            ]
        return cls(
            exact=exact,
            coarse=coarse,
            positive=rows.positive,
            place=place,
            kinds=kinds,
            divisible=exact.divisible,
        )

    def without(self, one: SortedSlices, wanted: IntArray) -> Iterator[tuple[IntArray, RankingSet]]:
        """Yield slices, and the rankings of what remains without each of them."""
        size = len(self.coarse)
        step = max(1, _BLOCK_CELLS // size)
        for begin in range(0, wanted.size, step):
            block = wanted[begin : begin + step]
            rows, code = one.rows_of(block)
            cells = [self._rest(kind, rows, code, block.size) for kind in self.kinds]
            counted, *weighted = cells
            if weighted:
                weighted = [without_rounding(counted, kind) for kind in weighted]
            yield (
                block,
                RankingSet(
                    labels=block,
                    offsets=np.arange(block.size + 1) * size,
                    threshold=np.tile(self.coarse.threshold, block.size),
                    cells=weighted[0] if weighted else counted,
                    squares=weighted[1] if weighted else None,
                    rows=counted if weighted else None,
                    divisible=np.full(block.size, self.divisible),
                ),
            )

    def _rest(self, kind: _Kind, rows: IntArray, code: IntArray, count: int) -> Cells:
        size = len(self.coarse)
        own, place = self.positive[rows], self.place[rows]
        weight = None if kind.per_row is None else kind.per_row[rows]

        def counted(chosen: Mask, key: IntArray, width: int) -> Array:
            found = np.bincount(
                key[chosen], None if weight is None else weight[chosen], count * width
            )
            return found.reshape(count, width)

        positives = kind.positives - counted(own, code * size + place // 2, size)
        width = 2 * size + 1
        segments = kind.segments - counted(~own, code * width + place, width)
        return Cells(
            positives.ravel(),
            segments[:, 1::2].ravel(),
            segments[:, :-1:2].ravel(),
            segments[:, -1].copy(),
        )


def _cuts(ranking: Ranking, most: int) -> IntArray:
    """Last row of each merged cell; half of the cells are the highest rows as they are.

    What unseen negatives would do is decided there, and merging would hide it.
    """
    top = most // 2
    positives, tied, above = (part[top:] for part in ranking.cells[:3])
    lower = Cells(positives, tied, above, ranking.cells.below)
    further = even_cuts(lower, ranking.tp[top:], ranking.fp[top:], most - top)
    return np.append(np.arange(top), top + further)


def _merged(ranking: Ranking, last: IntArray) -> Ranking:
    return replace(
        ranking,
        threshold=ranking.threshold[last],
        **ranking.cells.merged(last)._asdict(),
        squares=ranking.squares and ranking.squares.merged(last),
        rows=ranking.rows and ranking.rows.merged(last),
        coarsened=True,
    )


def _kind(cells: Cells, per_row: FloatArray | None) -> _Kind:
    segments = np.append(np.stack([cells.above, cells.tied], axis=-1).ravel(), cells.below)
    return _Kind(per_row, np.asarray(cells.positives), segments)


def without_rounding(counted: Cells, kind: Cells) -> Cells:
    """Weights of cells, none where no row is counted: what is left of a difference is rounding."""
    return Cells(*(np.where(n > 0, v, 0.0) for n, v in zip(counted, kind, strict=True)))

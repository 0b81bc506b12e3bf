"""The metric of all slices and of their rests at once: one sort, then passes over the rows.

Rows are sorted by score once. A stable sort by slice then gives the rankings of all the slices of
a cut, and the rests follow by subtraction from the ranking of all rows: counts add.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..inference.rules.rule import ClosedForm, Formula, closed_form
from ..inference.simultaneous import MOST_DRAWN
from ..ranking import Cells, Ranking
from ..ranking.grouping import cut_sorted, stable_order
from ..ranking.number_layout import even_cuts
from ..ranking.ranking_set import RankingSet
from .ranking_by_group import divisible_groups
from .slice_evidence import Rests, SliceQuestion

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# Cells of all rests together, and of one: rankings of more rows are coarsened for them.
_REST_CELLS = 1 << 22
_FEWEST_CELLS, _MOST_CELLS = 1 << 11, 1 << 14
# Cells of the rests that are handled at a time.
_BLOCK_CELLS = 1 << 19


def fits(question: SliceQuestion) -> bool:
    """Return whether all slices can be computed at once."""
    metric = question.metric
    return (
        isinstance(question.rule, Formula)
        and question.rows.cluster is None
        and metric.smooth
        and not metric.thresholds
    )


class _Sorted(NamedTuple):
    """The rows of the tested slices of a cut, by slice and then by falling score."""

    rows: IntArray
    starts: IntArray
    rankings: RankingSet


@dataclass(frozen=True, eq=False)
class _Values:
    """The metric of every ranking of a set, with its limits at every level."""

    estimate: FloatArray
    pieces: list[tuple[IntArray, ClosedForm]] = field(repr=False)

    def limits(self, level: float) -> tuple[FloatArray, FloatArray]:
        low, high = np.empty_like(self.estimate), np.empty_like(self.estimate)
        for groups, form in self.pieces:
            low[groups], high[groups] = form.limits(level)
        return low, high


@dataclass(frozen=True)
class AtOnce:
    """All slices, cut by cut."""

    question: SliceQuestion

    @cached_property
    def _falling(self) -> IntArray:
        """Rows by falling score."""
        scores = self.question.rows.scores[self.question.model]
        return np.argsort(scores)[::-1]

    @cached_property
    def _sorted(self) -> list[_Sorted]:
        rows, scores = self.question.rows, self.question.rows.scores[self.question.model]
        found = []
        for cut, levels in zip(self.question.cuts, self.question.tested, strict=True):
            local = np.full(max(len(cut.names), int(cut.code.max()) + 1), -1, dtype=np.int64)
            local[levels] = np.arange(levels.size)
            falling = local[cut.code][self._falling]
            kept = falling >= 0
            group, chosen = falling[kept], self._falling[kept]
            chosen = chosen[stable_order(group, levels.size)]
            starts = np.append(0, np.cumsum(np.bincount(group, minlength=levels.size)))
            weight = None if rows.weight is None else rows.weight[chosen]
            tables = cut_sorted(rows.positive[chosen], scores[chosen], weight, starts)
            rankings = RankingSet(
                labels=levels,
                **tables._asdict(),
                divisible=divisible_groups(rows.positive, rows.weight, starts, chosen),
            )
            found.append(_Sorted(chosen, starts, rankings))
        return found

    @cached_property
    def _values(self) -> list[_Values]:
        return [self._measured(one.rankings) for one in self._sorted]

    @property
    def estimate(self) -> FloatArray:
        """The metric of every slice."""
        return np.concatenate([values.estimate for values in self._values])

    def limits(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the limits of every slice."""
        found = [values.limits(level) for values in self._values]
        low, high = (np.concatenate(ends) for ends in zip(*found, strict=True))
        return low, high

    def _measured(self, rankings: RankingSet) -> _Values:
        """Return the metric of rankings at the common prevalence."""
        metric, rule = self.question.metric, self.question.rule
        moved = rankings.at_prevalence(self.question.prevalence)
        bound, sizes = metric.on(moved), moved.effective_sizes
        estimate, pieces = np.empty(len(rankings)), []
        for groups, cells, squares in moved.lines():
            own = bound.take(groups)
            estimate[groups] = np.clip(own.value(cells, squares), *own.bounds)
            pieces.append(
                (
                    groups,
                    closed_form(
                        own,
                        rule,  # type: ignore[arg-type]
                        cells,
                        squares,
                        sizes=(sizes[0][groups], sizes[1][groups]),
                        varying=False,
                    ),
                )
            )
        return _Values(estimate, pieces)

    # What slices of different cuts share.

    @property
    def covariance(self) -> FloatArray | None:
        """Of the estimates, from the rows that slices share; None where it is not needed."""
        count = self.question.count
        if count > MOST_DRAWN or sum(levels.size > 0 for levels in self.question.tested) == 1:
            return None
        moved = [self._contributions(one) for one in self._sorted]
        sizes = [levels.size for levels in self.question.tested]
        first = np.append(0, np.cumsum(sizes))
        slots = [
            np.full(len(self.question.rows), size, dtype=np.int64) for size in sizes
        ]  # one more for rows in none of the tested slices
        covariance = np.zeros((count, count))
        for number, one in enumerate(self._sorted):
            slots[number][one.rows] = np.repeat(np.arange(sizes[number]), np.diff(one.starts))
            own = np.bincount(slots[number], moved[number] ** 2, sizes[number] + 1)[:-1]
            place = np.arange(first[number], first[number + 1])
            covariance[place, place] = own
        for a, b in combinations(range(len(sizes)), 2):
            joint = slots[a] * (sizes[b] + 1) + slots[b]
            shape = (sizes[a] + 1, sizes[b] + 1)
            shared = np.bincount(joint, moved[a] * moved[b], shape[0] * shape[1]).reshape(shape)
            inside = slice(first[a], first[a + 1]), slice(first[b], first[b + 1])
            covariance[inside] = shared[:-1, :-1]
            covariance[inside[::-1]] = shared[:-1, :-1].T
        return covariance

    def _contributions(self, one: _Sorted) -> FloatArray:
        """First-order contribution of every row to the metric of its slice; 0 if it has none."""
        moved = one.rankings.at_prevalence(self.question.prevalence)
        values = _centred(moved, self._gradient(moved))
        factor = np.divide(moved.n_neg, one.rankings.n_neg)
        counted: Any = one.rankings.rows or one.rankings.cells
        at, group = np.arange(moved.threshold.size), moved.group_of_row
        size = 2 * at.size + len(moved)
        length, ours, theirs = np.zeros(size, dtype=np.int64), np.zeros(size), np.zeros(size)
        over, here = 2 * at + group, 2 * at + group + 1
        below = 2 * one.rankings.offsets[1:] + np.arange(len(moved))
        length[over], length[below] = counted.above, counted.below
        length[here] = counted.positives + counted.tied
        ours[here] = values.positives
        theirs[over], theirs[here] = values.above * factor[group], values.tied * factor[group]
        theirs[below] = values.below * factor
        rows = self.question.rows
        label = rows.positive[one.rows]
        found = np.where(label, np.repeat(ours, length), np.repeat(theirs, length))
        if rows.weight is not None:
            found *= rows.weight[one.rows]
        result = np.zeros(len(rows))
        result[one.rows] = found
        return result

    def _gradient(self, moved: RankingSet) -> Cells:
        bound = self.question.metric.on(moved)
        first, second, third = (np.zeros(moved.threshold.size) for _ in range(3))
        flat = Cells(first, second, third, np.zeros(len(moved)))
        for (groups, index, real), (_, cells, _) in zip(moved.blocks(), moved.lines(), strict=True):
            values = bound.take(groups).gradient(cells)
            for field_, found in zip(flat[:3], values[:3], strict=True):
                field_[index[real]] = np.broadcast_to(found, real.shape)[real]
            flat.below[groups] = values.below
        return flat

    # The rests.

    def rests(self, level: float, known: Mask) -> Rests:
        """Return the metric outside of each slice with its limits."""
        whole = _Whole.of(self.question, self._falling, known.size)
        found = np.full((4, known.size), np.nan)
        begin = 0
        for one in self._sorted:
            count = one.starts.size - 1
            wanted = np.flatnonzero(known[begin : begin + count])
            for block, rankings in whole.without(one, wanted):
                values = self._measured(rankings)
                low, high = values.limits(level)
                found[:3, begin + block] = values.estimate, low, high
            begin += count
        # What coarsening took from the ranking of all rows, it took from the rests.
        found[:3] += self._coarsened_away(whole)
        found[3] = 0.0
        return Rests(*found)

    def _coarsened_away(self, whole: _Whole) -> float:
        if whole.coarse is whole.exact:
            return 0.0
        exact, coarse = (
            self.question.metric.on(ranking).estimate(ranking)
            for ranking in (
                each.at_prevalence(self.question.prevalence) for each in (whole.exact, whole.coarse)
            )
        )
        return exact - coarse


def _centred(moved: RankingSet, values: Cells) -> Cells:
    """Take the mean of each class in each group from values of cells."""
    cells, group = moved.cells, moved.group_of_row
    ours = moved.sums(values.positives * cells.positives) / moved.n_pos
    theirs = moved.sums(values.tied * cells.tied + values.above * cells.above)
    theirs = (theirs + values.below * cells.below) / moved.n_neg
    return Cells(
        values.positives - ours[group],
        values.tied - theirs[group],
        values.above - theirs[group],
        values.below - theirs,
    )


class _Kind(NamedTuple):
    """One kind of mass (rows, weights or squared weights) of all rows, per place."""

    per_row: FloatArray | None
    positives: Array
    segments: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class _Whole:
    """The ranking of all rows, from which slices are subtracted."""

    exact: Ranking
    coarse: Ranking
    positive: Mask
    place: IntArray
    kinds: list[_Kind]
    divisible: bool

    @classmethod
    def of(cls, question: SliceQuestion, falling: IntArray, count: int) -> _Whole:
        """Rank all rows, coarsely where there are many thresholds and many slices."""
        rows = question.rows
        exact = rows.ranking(question.model)
        counts = exact.rows or exact.cells
        lengths = np.stack([counts.above, counts.positives + counts.tied], axis=-1).ravel()
        segment = np.repeat(np.arange(lengths.size + 1), np.append(lengths, counts.below))
        coarse = exact
        most = int(np.clip(_REST_CELLS // max(count, 1), _FEWEST_CELLS, _MOST_CELLS))
        if len(exact) > most:
            last = _cuts(exact, most)
            coarse = _merged(exact, last)
            cell = np.searchsorted(last, np.arange(len(exact)))
            first = np.append(True, np.diff(cell) > 0)
            # Above the first row of a merged cell is above the cell; the rest is tied in it.
            moved = np.stack([2 * cell + ~first, 2 * cell + 1], axis=-1).ravel()
            segment = np.append(moved, 2 * last.size)[segment]
        place = np.empty(len(rows), dtype=np.int64)
        place[falling] = segment
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

    def without(self, one: _Sorted, wanted: IntArray) -> Iterator[tuple[IntArray, RankingSet]]:
        """Yield slices, and the rankings of what remains without each of them."""
        size = len(self.coarse)
        step = max(1, _BLOCK_CELLS // size)
        for begin in range(0, wanted.size, step):
            block = wanted[begin : begin + step]
            rows, code = _rows_of(one, block)
            cells = [self._rest(kind, rows, code, block.size) for kind in self.kinds]
            counted, *weighted = cells
            if weighted:  # what is left of a cell without rows is rounding
                weighted = [_where(counted, kind) for kind in weighted]
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


def _where(counted: Cells, kind: Cells) -> Cells:
    return Cells(*(np.where(n > 0, v, 0.0) for n, v in zip(counted, kind, strict=True)))


def _rows_of(one: _Sorted, block: IntArray) -> tuple[IntArray, IntArray]:
    """Rows of some slices, and the position of each row's slice among them."""
    starts, ends = one.starts[block], one.starts[block + 1]
    code = np.repeat(np.arange(block.size), ends - starts)
    offset = np.repeat(starts - np.append(0, np.cumsum(ends - starts)[:-1]), ends - starts)
    return one.rows[offset + np.arange(code.size)], code

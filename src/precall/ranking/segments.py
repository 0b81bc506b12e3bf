"""Counts of both classes on fixed thresholds: the state of every pass over data in pieces.

``K`` thresholds cut the scores into ``2 K + 1`` segments in ascending order, as in
``_counting``: below everything, at the first threshold, between the first and the second, ...,
above everything. Counts on the same thresholds add, so pieces can be counted anywhere, in any
order, and again after a failure.

The positives are counted per segment too. Where no positive lies strictly between two
thresholds the table is exact; where some do, the gap and the threshold under it become one cell,
inside which no order is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import Cells, Moments, Ranking, counting

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


# BLAS starts threads of its own for longer arrays, and they would fight ours.
_BLOCK = 8192


class Mass(NamedTuple):
    """Rows, weights and squared weights per place, and how many weights are not whole numbers.

    All but the rows are None without weights.
    """

    rows: IntArray
    weights: FloatArray | None = None
    squares: FloatArray | None = None
    parts: IntArray | None = None

    @classmethod
    def empty(cls, size: int, weighted: bool) -> Mass:
        """No rows at `size` places."""
        rows = np.zeros(size, dtype=np.int64)
        return cls(rows, np.zeros(size), np.zeros(size), rows.copy()) if weighted else cls(rows)

    @classmethod
    def of_runs(cls, weights: FloatArray | None, edges: IntArray) -> Mass:
        """Mass of the runs of sorted rows that `edges` cut."""
        rows = np.diff(edges)
        if weights is None:
            return cls(rows)
        before = np.append(0, np.cumsum(weights != np.rint(weights)))
        return cls(
            rows,
            counting.segment_sums(weights, edges),
            counting.segment_sums(weights * weights, edges),
            np.diff(before[edges]),
        )

    def with_weights(self) -> Mass:
        """Rows without weights count as rows of weight 1."""
        if self.weights is not None:
            return self
        ones = self.rows.astype(np.float64)
        return Mass(self.rows, ones, ones.copy(), np.zeros_like(self.rows))

    def each(self, *others: Mass) -> list[tuple[Array, ...]]:
        """Group the arrays of several masses by kind; all are weighted if any is."""
        masses = (self, *others)
        if any(mass.weights is not None for mass in masses):
            masses = tuple(mass.with_weights() for mass in masses)
        return [kind for kind in zip(*masses, strict=True) if kind[0] is not None]

    @classmethod
    def from_kinds(cls, kinds: list[Array]) -> Mass:
        """Inverse of `each`."""
        return cls(*kinds)

    def __add__(self, other: object) -> Mass:
        """Add place by place."""
        if not isinstance(other, Mass):
            return NotImplemented
        return Mass.from_kinds([mine + theirs for mine, theirs in self.each(other)])

    def at(self, index: Any) -> Mass:
        """Take some places."""
        return Mass.from_kinds([kind[index] for (kind,) in self.each()])

    def joined(self, *others: Mass) -> Mass:
        """Put places one after the other."""
        return Mass.from_kinds([np.concatenate(kinds) for kinds in self.each(*others)])

    def reduced(self, starts: IntArray) -> Mass:
        """Add up the runs of places that begin at `starts`."""
        if starts.size == 0:
            return self
        return Mass.from_kinds([np.add.reduceat(kind, starts) for (kind,) in self.each()])


class Spread(NamedTuple):
    """Total weight, mean and sum of squared deviations of the raw scores of one class."""

    weight: float = 0.0
    mean: float = 0.0
    deviation: float = 0.0

    @classmethod
    def of(cls, ascending: Array, weights: FloatArray | None) -> Spread:
        """Spread of sorted scores; NaN if one of them is infinite."""
        total = cls()
        for start in range(0, ascending.size, _BLOCK):
            block = ascending[start : start + _BLOCK]
            block_weights = None if weights is None else weights[start : start + _BLOCK]
            weight = float(block.size) if block_weights is None else counting.sum_of(block_weights)
            total += cls(weight, *counting.mean_and_deviation(block, block_weights))
        return total

    def __add__(self, other: object) -> Spread:
        """Spread of the union of two samples."""
        if not isinstance(other, Spread):
            return NotImplemented
        mean, deviation = counting.combine_moments(self.weight, self[1:], other.weight, other[1:])
        return Spread(self.weight + other.weight, mean, deviation)


def moments_of(positives: Spread, negatives: Spread) -> Moments | None:
    """Moments of a ranking, or None where they do not exist (an empty class, infinite scores)."""
    if not (positives.weight and negatives.weight):
        return None
    moments = Moments(positives[1:], negatives[1:])
    return None if any(math.isnan(mean) for mean, _ in moments) else moments


def split_sorted(
    positive: Mask, scores: Array, weights: FloatArray | None
) -> list[tuple[Array, FloatArray | None]]:
    """Sort the positives, then the negatives; rows of weight zero are left out."""
    if weights is None:
        classes = [scores[positive], scores[~positive]]
        for values in classes:
            values.sort()
        return [(values, None) for values in classes]
    parts: list[tuple[Array, FloatArray | None]] = []
    for chosen in (positive, ~positive):
        rows = np.flatnonzero(chosen & (weights > 0))
        parts.append(counting.sorted_with_weights(scores[rows], weights[rows]))
    return parts


@dataclass
class SegmentCounts:
    """What lies in each segment, per class. Thresholds are passed in: many counts share them."""

    positives: Mass
    negatives: Mass
    spreads: tuple[Spread, Spread] = (Spread(), Spread())

    @classmethod
    def empty(cls, n_thresholds: int, weighted: bool) -> SegmentCounts:
        """No rows yet."""
        size = 2 * n_thresholds + 1
        return cls(Mass.empty(size, weighted), Mass.empty(size, weighted))

    def update(
        self,
        thresholds: Array,
        positive: Mask,
        scores: Array,
        weights: FloatArray | None,
        *,
        spread: bool = True,
    ) -> None:
        """Count rows in place. `thresholds` ascend and have the dtype of the scores.

        The spreads are left alone where the scores stand for something else (``spread=False``).
        """
        if weights is not None and self.positives.weights is None:
            self.positives = self.positives.with_weights()
            self.negatives = self.negatives.with_weights()
        parts = split_sorted(positive, scores, weights)
        for mass, (ascending, sorted_weights) in zip(
            (self.positives, self.negatives), parts, strict=True
        ):
            _count(mass, thresholds, ascending, sorted_weights)
        if spread:
            first, second = (
                total + Spread.of(*part) for total, part in zip(self.spreads, parts, strict=True)
            )
            self.spreads = first, second

    def __add__(self, other: object) -> SegmentCounts:
        """Counts of both, on the same thresholds."""
        if not isinstance(other, SegmentCounts):
            return NotImplemented
        return SegmentCounts(
            self.positives + other.positives,
            self.negatives + other.negatives,
            (self.spreads[0] + other.spreads[0], self.spreads[1] + other.spreads[1]),
        )

    @property
    def n_rows(self) -> int:
        """Rows counted."""
        return int(self.positives.rows.sum() + self.negatives.rows.sum())

    def blocks(self, n_thresholds: int) -> list[SegmentCounts]:
        """Cut into parts that add up by themselves; the raw scores' spreads go with the first."""
        size = 2 * n_thresholds
        cuts = [slice(start, start + size) for start in range(0, self.positives.rows.size, size)]
        if len(cuts) > 1 and self.positives.rows.size % size == 1:  # no block without a threshold
            cuts[-2:] = [slice(cuts[-2].start, None)]
        return [
            SegmentCounts(
                self.positives.at(cut),
                self.negatives.at(cut),
                (Spread(), Spread()) if cut.start else self.spreads,
            )
            for cut in cuts
        ]

    @classmethod
    def from_blocks(cls, blocks: list[SegmentCounts]) -> SegmentCounts:
        """Inverse of `blocks`."""
        first, *rest = blocks
        if not rest:
            return first
        return cls(
            first.positives.joined(*(block.positives for block in rest)),
            first.negatives.joined(*(block.negatives for block in rest)),
            first.spreads,
        )

    def __getstate__(self) -> tuple[Any, ...]:
        """Leave out the gaps of the positives when they are empty: 24 bytes per threshold."""
        exact = not self.positives.rows[::2].any()
        positives = self.positives.at(slice(1, None, 2)) if exact else self.positives
        return exact, positives, self.negatives, self.spreads

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Put the empty gaps back."""
        exact, self.positives, self.negatives, self.spreads = state
        if exact:
            size = self.negatives.rows.size
            self.positives = Mass.from_kinds(
                [_with_gaps(k, size) for (k,) in self.positives.each()]
            )

    def ranking(self, thresholds: Array, *, keep: bool = False) -> Ranking:
        """Return the table of these counts; exact wherever no positive lies between thresholds.

        Thresholds without positives are dropped, or kept as rows if `keep`.
        """
        positives, negatives = self.positives, self.negatives
        if positives.rows[0]:
            # Positives under the lowest threshold: a last cell that everything reaches.
            thresholds = np.append(lowest_score(thresholds.dtype), thresholds)
            head = Mass.empty(2, positives.weights is not None)
            positives, negatives = head.joined(positives), head.joined(negatives)
        over = positives.rows[2::2]
        mixed = over[::-1] > 0
        found = [
            _cells_of_segments(ours, theirs, mixed) for ours, theirs in positives.each(negatives)
        ]
        coarsened = bool(self.positives.rows[::2].any())
        return assemble(thresholds[::-1], found, moments_of(*self.spreads), coarsened, keep=keep)


def _count(mass: Mass, thresholds: Array, ascending: Array, weights: FloatArray | None) -> None:
    """Add sorted rows to the mass of their segments, by searching for the shorter side."""
    if ascending.size == 0:
        return
    where: Any
    if thresholds.size <= ascending.size:
        where, edges = slice(None), counting.segment_edges(ascending, thresholds)
    else:
        # Left and right position of a score are equal inside a gap and differ by one on a
        # threshold, so that their sum is the number of the segment.
        segment = np.searchsorted(thresholds, ascending, side="left")
        segment += np.searchsorted(thresholds, ascending, side="right")
        where, edges = counting.distinct(segment)
    for kind, found in mass.each(Mass.of_runs(weights, edges)):
        kind[where] += found


def _with_gaps(at_thresholds: Array, size: int) -> Array:
    segments = np.zeros(size, dtype=at_thresholds.dtype)
    segments[1::2] = at_thresholds
    return segments


def lowest_score(dtype: np.dtype[Any]) -> Any:
    """Return the lowest score of a type: every row is at or above it."""
    return dtype.type(-np.inf) if dtype.kind == "f" else np.iinfo(dtype).min


def _cells_of_segments(ours: Array, theirs: Array, mixed: Mask) -> Cells:
    """Rows of the table, highest first; a gap with positives in it joins the threshold below."""
    at, over = theirs[1::2][::-1], theirs[2::2][::-1]
    return Cells(
        ours[1::2][::-1] + ours[2::2][::-1],
        at + np.where(mixed, over, 0),
        np.where(mixed, 0, over),
        theirs[0],
    )


def assemble(
    threshold: Array,
    kinds: list[Cells],
    moments: Moments | None,
    coarsened: bool,
    *,
    keep: bool = False,
) -> Ranking:
    """Make a ranking of the cells of every kind of mass; rows of no positives stay only if `keep`.

    The negatives of a dropped row lie above the next row that is kept, or below everything.
    """
    kept = np.arange(threshold.size) if keep else np.flatnonzero(kinds[0].positives)
    rows, *weighted = (cells.only(kept) for cells in kinds)
    counts, squares, parts = weighted if weighted else (rows, None, None)
    return Ranking(
        threshold=np.ascontiguousarray(counting.one_zero(threshold[kept])),
        **counts._asdict(),
        squares=squares,
        rows=rows if weighted else None,
        moments=moments,
        coarsened=coarsened,
        divisible=parts is not None and bool(parts.positives.any()),
    )

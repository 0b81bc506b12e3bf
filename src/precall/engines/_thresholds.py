"""The thresholds of the second pass: scores, or scores within groups, on one line.

The rows of all groups are counted at once. A row with group ``g`` (a number) and score ``s``
becomes one integer, ``(2 U + 2) g + place``. Here ``U`` is the number of distinct thresholds over
all groups, and ``place`` is ``2 i + 2`` on the ``i``-th of them and ``2 i + 1`` in the gap under
it. The integers are in the order of group and score, so the thresholds of all groups are one
ascending array, and segments are counted as without groups. One more threshold per group, at
``(2 U + 2) g``, where no row can lie, parts what is above one group from what is below the next.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._cached import cached_property
from ..exceptions import InputError
from ..ranking import Cells
from ..ranking.segments import SegmentCounts
from ._columns import Array, IntArray, Mask
from ._survey import CHANGED


@dataclass(frozen=True)
class Thresholds:
    """Thresholds in ascending order, group after group.

    Attributes
    ----------
    values : array
        Scores of positives, distinct and ascending within each group.
    groups : array of int, optional
        The number of the group of each; None without groups.
    labels : list, optional
        The groups by their number; None without groups.
    """

    values: Array
    groups: IntArray | None = None
    labels: list[Any] | None = None

    @classmethod
    def of(cls, values: Array, groups: IntArray | None, labels: list[Any] | None) -> Thresholds:
        """Thresholds of a census; data without positives have groups all the same."""
        if labels is not None and groups is None:
            groups = np.zeros(0, dtype=np.int64)
        return cls(values, groups, labels)

    def with_kept(self, kept: Array) -> Thresholds:
        """Add thresholds that somebody asked for, to every group."""
        if self.groups is None or self.labels is None:
            return Thresholds(np.union1d(self.values, kept))
        count = len(self.labels)
        values = np.concatenate([self.values, np.tile(kept, count)])
        groups = np.concatenate([self.groups, np.repeat(np.arange(count), kept.size)])
        order = np.lexsort((values, groups))
        values, groups = values[order], groups[order]
        new = np.append(True, (values[1:] != values[:-1]) | (groups[1:] != groups[:-1]))
        return Thresholds(values[new[: values.size]], groups[new[: values.size]], self.labels)

    @cached_property
    def _scores(self) -> Array:
        """The distinct thresholds over all groups."""
        return np.unique(self.values)

    @cached_property
    def keys(self) -> Array:
        """What the places of rows are counted between: ascending, one dtype with the places."""
        if self.groups is None or self.labels is None:
            return self.values
        width = 2 * self._scores.size + 2
        inner = width * self.groups + 2 * np.searchsorted(self._scores, self.values) + 2
        return np.sort(np.concatenate([width * np.arange(len(self.labels)), inner]))

    @cached_property
    def _is_score(self) -> Mask:
        """Which keys are thresholds, and not the starts of groups."""
        if self.groups is None:
            return np.ones(self.values.size, dtype=np.bool_)
        return np.asarray(self.keys % (2 * self._scores.size + 2) > 0)

    def place(self, scores: Array, numbers: IntArray | None) -> Array:
        """Bring the scores of rows, whose groups are `numbers`, in line with the keys."""
        scores = scores.astype(self.values.dtype, copy=False)
        if numbers is None:
            return scores
        # A search is fast where neighbours are looked for one after the other.
        order = np.argsort(scores)
        scores = scores[order]
        found = np.searchsorted(self._scores, scores)
        place = 2 * found + 1
        if self._scores.size:
            place += self._scores.take(found, mode="clip") == scores
        place += (2 * self._scores.size + 2) * numbers[order]
        keys = np.empty_like(place)
        keys[order] = place
        return keys

    def require_positives(self, counts: SegmentCounts, *, exact: bool, kept: Any = ()) -> None:
        """Raise unless every threshold has a positive and, if `exact`, every positive has one.

        Those that were `kept` because somebody asked for them need none.
        """
        rows = counts.positives.rows
        empty = rows[1::2][self._is_score] == 0
        if len(kept):
            empty &= ~np.isin(self.values, kept)
        if empty.any() or (exact and rows[::2].any()):
            raise InputError(f"the positives of the two passes have different scores: {CHANGED}")

    def ranking_set(self, counts: SegmentCounts, max_rows: int | None) -> Any:
        """Return the rankings of all groups, in the order of their labels."""
        from ..ranking.grouping import as_group_labels
        from ..ranking.ranking_set import RankingSet

        labels = self.labels or []
        order = list(range(len(labels)))
        with suppress(TypeError):  # labels of different kinds have no order
            order.sort(key=labels.__getitem__)
        if max_rows is not None:
            rankings = [self._ranking(counts, group).coarsen(max_rows) for group in order]
            return RankingSet.from_rankings(rankings, labels=[labels[group] for group in order])
        # From the highest threshold of the last group to the lowest of the first.
        sizes = np.bincount(np.asarray(self.groups), minlength=len(labels))[::-1]
        found = [self._cells(*kinds) for kinds in counts.positives.each(counts.negatives)]
        rows, *weighted = found
        weights, squares, parts = weighted or (rows, None, None)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        divisible = np.zeros(len(labels), dtype=np.bool_)
        if parts is not None:
            divisible = np.diff(np.append(0, np.cumsum(parts.positives))[offsets]) > 0
        table = RankingSet(
            labels=as_group_labels(labels[::-1]),
            offsets=offsets,
            threshold=self.values[::-1],
            cells=weights,
            squares=squares,
            rows=rows if weighted else None,
            divisible=divisible,
        )
        return table.select(len(labels) - 1 - np.array(order))

    def _cells(self, ours: Array, theirs: Array) -> Cells:
        at, over = theirs[1::2], theirs[2::2]
        real = self._is_score
        return Cells(ours[1::2][real][::-1], at[real][::-1], over[real][::-1], over[~real][::-1])

    def _ranking(self, counts: SegmentCounts, group: int) -> Any:
        """The ranking of one group, which may have positives between its thresholds."""
        starts = np.flatnonzero(~self._is_score)
        first = int(starts[group])
        last = int(starts[group + 1]) if group + 1 < starts.size else self.keys.size
        segments = slice(2 * first + 2, 2 * last + 1)
        own = SegmentCounts(counts.positives.at(segments), counts.negatives.at(segments))
        return own.ranking(self.values[first - group : last - group - 1])

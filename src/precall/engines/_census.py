"""The first pass: the distinct scores of positives, group by group, and a survey of all rows.

A census of a shard adds to the census of another in any order and grouping, and adding is all
that an engine does with it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..exceptions import MemoryLimitError
from ..ranking import counting
from ._columns import Array, FloatArray, IntArray, Piece
from ._groups import Groups
from ._survey import Survey

# Scores that may wait to be sorted in, however few are held already.
_WAITING = 1 << 16


@dataclass
class PositiveScores:
    """Distinct scores of positives; thinned to about evenly spaced quantiles beyond `limit`.

    With groups, `groups` numbers the group of each score, and scores are distinct, sorted and
    thinned within their group. Thinning chooses thresholds, nothing else: whatever is kept, the
    second pass counts exactly what lies on and between them. The smallest and the largest score
    always stay.
    """

    limit: int | None = None
    values: Array | None = None
    groups: IntArray | None = None
    weights: FloatArray | None = None
    waiting: list[tuple[Array, IntArray | None]] = field(default_factory=list)
    n_waiting: int = 0

    def add(self, scores: Array, groups: IntArray | None = None) -> None:
        """Take in scores; they are sorted in when they are as many as those already here."""
        if scores.size == 0:
            return
        self.waiting.append((scores, groups))
        self.n_waiting += scores.size
        # Where scores are thinned there is a bound, and what waits counts towards it.
        most = max(_WAITING, self.size)
        if self.limit is not None:
            most = max(_WAITING - self.size, self.size // 2)
        if self.n_waiting > most:
            self.settle()

    @property
    def size(self) -> int:
        """Distinct scores held, those waiting left out."""
        return 0 if self.values is None else int(self.values.size)

    def settle(self) -> None:
        """Sort in what is waiting."""
        if not self.waiting:
            return
        waiting, self.waiting, self.n_waiting = self.waiting, [], 0
        values = np.concatenate([scores for scores, _ in waiting])
        groups = _joined([group for _, group in waiting])
        # Numbers matter to quantiles only: where every score is kept they are not needed.
        weights = None if self.limit is None else np.ones(values.size)
        self._take(PositiveScores(self.limit, *_distinct(values, groups, weights)))

    def __add__(self, other: object) -> PositiveScores:
        """Scores of both, whose groups have the same numbers."""
        if not isinstance(other, PositiveScores):
            return NotImplemented
        self.settle()
        other.settle()
        total = PositiveScores(self.limit, self.values, self.groups, self.weights)
        total._take(other)
        return total

    def _take(self, other: PositiveScores) -> None:
        if other.values is None:
            return
        if self.values is None:
            self.values, self.groups, self.weights = other.values, other.groups, other.weights
        else:
            values = np.concatenate([self.values, other.values])
            groups = _joined([self.groups, other.groups])
            weights = _joined([self.weights, other.weights])
            self.values, self.groups, self.weights = _distinct(values, groups, weights)
        if self.limit is not None and self.values.size > 2 * self.limit:
            self._thin(self.limit)

    def _thin(self, limit: int) -> None:
        """Thin the groups that have too many scores; each of them costs about as many rows."""
        values, weights = self.values, self.weights
        if values is None or weights is None:
            return
        starts = np.zeros(1, dtype=np.int64)
        if self.groups is not None:
            starts = counting.distinct(self.groups)[1][:-1]
        sizes = np.diff(starts, append=values.size)
        keep = np.ones(values.size, dtype=np.bool_)
        weights = weights.copy()
        for crowded in np.flatnonzero(sizes > 2 * limit).tolist():
            inside = slice(starts[crowded], starts[crowded] + sizes[crowded])
            reached = np.cumsum(weights[inside])
            targets = reached[-1] * np.arange(1, limit) / limit
            inner = np.searchsorted(reached, targets)
            kept = np.unique(np.concatenate([[0], inner, [reached.size - 1]]))
            keep[inside] = False
            keep[inside.start + kept] = True
            weights[inside.start + kept] = np.diff(reached[kept], prepend=0.0)
        self.values, self.weights = values[keep], weights[keep]
        self.groups = None if self.groups is None else self.groups[keep]

    def thresholds(self, dtype: np.dtype[Any]) -> tuple[Array, IntArray | None]:
        """All that is kept, ascending within its group, and the groups where there are any."""
        self.settle()
        if self.values is None:
            return np.zeros(0, dtype=dtype), None
        values, groups, _ = _distinct(self.values.astype(dtype, copy=False), self.groups, None)
        return values, groups

    def __getstate__(self) -> tuple[Any, ...]:
        """Only what is needed crosses the network: 8 bytes per distinct score (16 when thinned)."""
        self.settle()
        return self.limit, self.values, self.groups, self.weights

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Read what came over the network."""
        self.limit, self.values, self.groups, self.weights = state
        self.waiting, self.n_waiting = [], 0


def _joined(parts: list[Any]) -> Any:
    return None if parts[0] is None else np.concatenate(parts)


def _distinct(
    values: Array, groups: IntArray | None, weights: FloatArray | None
) -> tuple[Array, IntArray | None, FloatArray | None]:
    """Sort by group and score, leave out what is there twice, and add up the weights."""
    if groups is None and weights is None:
        return counting.distinct(np.sort(values))[0], None, None
    order = np.argsort(values) if groups is None else np.lexsort((values, groups))
    values = values[order]
    new = np.ones(values.size, dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    if groups is not None:
        groups = groups[order]
        new[1:] |= groups[1:] != groups[:-1]
    starts = np.flatnonzero(new)
    if weights is not None and weights.size:
        weights = np.add.reduceat(weights[order], starts)
    return values[starts], None if groups is None else groups[starts], weights


class Room:
    """How many distinct scores of positives fit into memory.

    `most` of them fit into the second pass, where each has its counts in every thread; `held` is
    how many the threads of the first pass may hold together, those that several hold counted
    several times; `thinned` is how many a thread may keep where it thins them.
    """

    def __init__(self, most: int, held: int, thinned: int) -> None:
        self._most, self._held, self.thinned = most, held, thinned
        self._sizes: dict[int, int] = {}
        self._lock = threading.Lock()

    def claim(self, census: Census) -> None:
        """Take note of how many scores one census has; raise when there are too many."""
        size = census.scores.size + len(census.groups)
        with self._lock:
            self._sizes[id(census)] = size
            held = sum(self._sizes.values())
        if size > self._most or held > self._held:
            groups = f" in {len(census.groups)} groups" if len(census.groups) else ""
            raise MemoryLimitError(
                f"the positives have at least {census.scores.size} distinct scores{groups}, too "
                "many for memory=: pass a larger memory= to keep them all, or max_rows= (for "
                "example max_rows=100_000) for a coarsened ranking with certified bounds."
            )

    def add(self, kept: int) -> None:
        """Take note of thresholds that are counted beside the scores of positives."""
        if kept + sum(self._sizes.values()) > self._most:
            raise MemoryLimitError(
                f"{kept} thresholds in all groups together are too many for memory=: pass a larger "
                "memory= or fewer thresholds."
            )

    def free(self) -> None:
        """Forget who holds what: the threads have handed over what they held."""
        self._sizes.clear()


@dataclass
class Census:
    """What the first pass over some rows has found."""

    survey: Survey
    scores: PositiveScores
    groups: Groups = field(default_factory=Groups)

    def update(self, piece: Piece) -> None:
        """Take in some rows."""
        positive = piece.positive(self.survey.request.pos_label)
        numbers = None if piece.groups is None else self.groups.numbers(piece.groups)
        self.survey.update(piece, positive, None if numbers is None else self.groups.keys(numbers))
        chosen = positive
        if piece.weights is not None:
            chosen = chosen & (piece.weights > 0)
        if piece.scores_missing is not None:
            chosen = chosen & ~piece.scores_missing
        if numbers is not None:
            chosen = chosen & (numbers >= 0)
        self.scores.add(piece.scores[chosen], None if numbers is None else numbers[chosen])

    def __add__(self, other: object) -> Census:
        """Census of the rows of both."""
        if not isinstance(other, Census):
            return NotImplemented
        groups = Groups(self.groups.number)
        number = np.array(groups.add(other.groups.number), dtype=np.int64)
        scores = self.scores + _renumbered(other.scores, number)
        return Census(self.survey + other.survey, scores, groups)

    def split(self) -> Iterator[tuple[int, Census]]:
        """Cut into numbered parts: those of one number add up, and so do all."""
        if not len(self.groups):
            yield 0, self
            return
        self.scores.settle()
        buckets, values = self.groups.buckets(), list(self.groups.number)
        groups = self.scores.groups
        dealt = np.zeros(0, np.int64) if groups is None else buckets[groups]
        first = True  # the survey goes with the first part
        for bucket in np.unique(buckets).tolist():
            chosen = np.flatnonzero(buckets == bucket)
            number = np.full(len(values), -1, dtype=np.int64)
            number[chosen] = np.arange(chosen.size)
            scores = _renumbered(_chosen(self.scores, np.flatnonzero(dealt == bucket)), number)
            survey = self.survey if first else Survey(self.survey.request)
            first = False
            yield bucket, Census(survey, scores, Groups(values[i] for i in chosen.tolist()))


def _chosen(scores: PositiveScores, rows: IntArray) -> PositiveScores:
    kept: list[Any] = [
        None if part is None else part[rows]
        for part in (scores.values, scores.groups, scores.weights)
    ]
    return PositiveScores(scores.limit, kept[0], kept[1], kept[2])


def _renumbered(scores: PositiveScores, number: IntArray) -> PositiveScores:
    """The same scores, their groups numbered anew."""
    scores.settle()
    if scores.values is None or scores.groups is None:
        return scores
    found = _distinct(scores.values, number[scores.groups], scores.weights)
    return PositiveScores(scores.limit, *found)

"""What is done with the scores of a population, shard by shard; results add in any order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import InputError
from ..ranking.scored_rows import ScorePiece
from .labels import missing_in
from .strata_pieces import interval_of

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass
class DrawnScores:
    """Scores with the smallest of random numbers, the extremes, and the number of rows."""

    most: int
    n_rows: int = 0
    drawn: list[Array] = field(default_factory=list)
    keys: FloatArray = field(default_factory=lambda: np.zeros(0))
    limit: float = 1.0
    ends: list[Array] = field(default_factory=list)

    def add(self, scores: Array, keys: FloatArray) -> None:
        """Take in some scores."""
        missing = np.flatnonzero(missing_in(scores))
        if missing.size:
            raise InputError(
                f"scores must not be missing, and that of row {self.n_rows + int(missing[0])} is."
            )
        self.n_rows += scores.size
        if scores.size:
            self.ends.append(np.array([scores.min(), scores.max()]))
            chosen = keys < self.limit
            self.drawn, self.keys = (
                [*self.drawn, scores[chosen]],
                np.append(self.keys, keys[chosen]),
            )
        self._thin()

    def _thin(self) -> None:
        if self.keys.size > self.most:
            self.limit = float(np.partition(self.keys, self.most)[self.most])
            kept = self.keys < self.limit
            self.drawn, self.keys = [np.concatenate(self.drawn)[kept]], self.keys[kept]
            ends = np.concatenate(self.ends)
            self.ends = [np.array([ends.min(), ends.max()])]

    def __add__(self, other: object) -> DrawnScores:
        """Those of both."""
        if not isinstance(other, DrawnScores):
            return NotImplemented
        total = DrawnScores(
            self.most,
            self.n_rows + other.n_rows,
            self.drawn + other.drawn,
            np.append(self.keys, other.keys),
            1.0,
            self.ends + other.ends,
        )
        total._thin()
        return total

    def pivots(self) -> Array:
        """Return the scores to count at, rising."""
        return np.unique(np.concatenate([*self.drawn, *self.ends]))


@dataclass(frozen=True)
class DrawScores:
    """Draw scores at random to count at: what is exact afterwards does not depend on them."""

    number: int

    def start(self) -> DrawnScores:
        """None."""
        return DrawnScores(self.number)

    def __call__(self, pieces: Iterable[ScorePiece]) -> DrawnScores:
        """Draw from some rows."""
        found = self.start()
        for piece in pieces:
            rng = np.random.default_rng([piece.shard, piece.start])
            found.add(piece.scores, rng.random(piece.scores.size))
        return found


@dataclass
class PlaceCounts:
    """PlaceCounts that add."""

    number: IntArray

    def __add__(self, other: object) -> PlaceCounts:
        """PlaceCounts of both."""
        if not isinstance(other, PlaceCounts):
            return NotImplemented
        return PlaceCounts(self.number + other.number)


@dataclass(frozen=True)
class CountAtAndBetween:
    """Count rows at each of some rising scores, and between them."""

    pivots: Array

    def start(self) -> PlaceCounts:
        """No rows."""
        return PlaceCounts(np.zeros(2 * self.pivots.size + 1, dtype=np.int64))

    def __call__(self, pieces: Iterable[ScorePiece]) -> PlaceCounts:
        """Count some rows."""
        number = self.start().number
        for piece in pieces:
            scores = piece.scores.astype(self.pivots.dtype, copy=False)
            place = np.searchsorted(self.pivots, scores, side="left")
            same = self.pivots[np.minimum(place, self.pivots.size - 1)] == scores
            number += np.bincount(2 * place + same, minlength=number.size)
        return PlaceCounts(number)


@dataclass
class Collected:
    """Scores, as they come."""

    parts: list[Array] = field(default_factory=list)

    def __add__(self, other: object) -> Collected:
        """Those of both."""
        if not isinstance(other, Collected):
            return NotImplemented
        return Collected(self.parts + other.parts)

    def scores(self) -> Array:
        """Return all."""
        return np.concatenate(self.parts) if self.parts else np.zeros(0)


@dataclass(frozen=True)
class OpenGaps:
    """Collect the scores inside of gaps: between the first and second edge, the third and so on."""

    edges: Array

    def start(self) -> Collected:
        """None."""
        return Collected()

    def __call__(self, pieces: Iterable[ScorePiece]) -> Collected:
        """Collect those of some rows."""
        found = self.start()
        for piece in pieces:
            scores = piece.scores.astype(self.edges.dtype, copy=False)
            place = np.searchsorted(self.edges, scores, side="left")
            inside = place % 2 == 1
            inside &= scores != self.edges[np.minimum(place, self.edges.size - 1)]
            found.parts.append(scores[inside])
        return found


@dataclass(frozen=True)
class Strata:
    """Ranges of the score: where they end, and which of them have rows."""

    edges: Array
    present: IntArray

    @property
    def number(self) -> int:
        """How many."""
        return int(self.present.size)

    def of(self, scores: Array) -> IntArray:
        """Return the stratum of each score."""
        found = interval_of(scores.astype(self.edges.dtype, copy=False), self.edges)
        return np.minimum(np.searchsorted(self.present, found), self.number - 1)


@dataclass
class ShardCounts:
    """Rows in each stratum, by shard."""

    rows: dict[int, IntArray] = field(default_factory=dict)

    def __add__(self, other: object) -> ShardCounts:
        """Those of both, which have no shard in common."""
        if not isinstance(other, ShardCounts):
            return NotImplemented
        return ShardCounts(self.rows | other.rows)

    def before(self, number: int) -> dict[int, IntArray]:
        """Return how many rows of each stratum lie in the shards before each one."""
        total, found = np.zeros(number, dtype=np.int64), {}
        for shard in sorted(self.rows):
            found[shard] = total
            total = total + self.rows[shard]
        return found


@dataclass(frozen=True)
class CountStrata:
    """Count the rows of every stratum."""

    strata: Strata

    def start(self) -> ShardCounts:
        """No rows."""
        return ShardCounts()

    def __call__(self, pieces: Iterable[ScorePiece]) -> ShardCounts:
        """Count some rows."""
        rows = self.start().rows
        for piece in pieces:
            found = np.bincount(self.strata.of(piece.scores), minlength=self.strata.number)
            rows[piece.shard] = rows.get(piece.shard, 0) + found
        return ShardCounts(rows)


@dataclass
class Picked:
    """Rows that were picked: number, score and stratum, and the other columns in each."""

    rows: list[tuple[int, Any, int]] = field(default_factory=list)
    others: list[tuple[Any, ...]] = field(default_factory=list)

    def __add__(self, other: object) -> Picked:
        """Those of both."""
        if not isinstance(other, Picked):
            return NotImplemented
        return Picked(self.rows + other.rows, self.others + other.others)

    def in_order(self) -> Picked:
        """Return them by their numbers."""
        order = sorted(range(len(self.rows)), key=lambda place: self.rows[place][0])
        return Picked([self.rows[at] for at in order], [self.others[at] for at in order])


@dataclass(frozen=True)
class PickRows:
    """Pick rows by their places in their strata: rising, from 0, over all shards in order."""

    strata: Strata
    places: list[IntArray]
    before: dict[int, IntArray]

    def start(self) -> Picked:
        """None."""
        return Picked()

    def __call__(self, pieces: Iterable[ScorePiece]) -> Picked:
        """Pick from some rows."""
        found = self.start()
        seen: dict[int, IntArray] = {}
        for piece in pieces:
            if piece.shard not in self.before:  # the data changed, and others will say so
                continue
            first = seen.get(piece.shard, self.before[piece.shard])
            stratum = self.strata.of(piece.scores)
            number = np.bincount(stratum, minlength=self.strata.number)
            seen[piece.shard] = first + number
            there = np.flatnonzero(number).tolist()
            chosen = [self._chosen(stratum, h, int(first[h]), int(number[h])) for h in there]
            rows = np.sort(np.concatenate(chosen))
            at = int(self.before[piece.shard].sum()) + piece.start
            values = (rows + at, piece.scores[rows], stratum[rows])
            found.rows += zip(*(each.tolist() for each in values), strict=True)
            others = piece.values_of(rows)
            found.others += zip(*others.values(), strict=True) if others else [()] * rows.size
        return found

    def _chosen(self, stratum: IntArray, h: int, first: int, number: int) -> IntArray:
        low, high = np.searchsorted(self.places[h], [first, first + number])
        if low == high:
            return np.zeros(0, dtype=np.int64)
        found: IntArray = np.flatnonzero(stratum == h)[self.places[h][low:high] - first]
        return found

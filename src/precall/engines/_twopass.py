"""The two passes that every engine runs: collect the positive scores, then count between them.

An engine gives :func:`rank_in_two_passes` one function, ``run(task)``: it applies the task to each
of its shards, wherever they are, and adds up the results, in any order and grouping. A task is a
pure function of its shard, so an engine may repeat one that failed: only the result that arrives
is added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._validation import as_count
from ..exceptions import InputError
from ..ranking.direction import warn_if_worse_than_random
from ..ranking.kept_thresholds import as_thresholds
from ..ranking.segments import SegmentCounts
from ._census import Census, PositiveScores, Room
from ._columns import Piece, Request
from ._groups import Groups
from ._survey import CHANGED, Survey, combined
from ._thresholds import Thresholds

# With max_rows, thresholds kept for each row of the result: the final cut has a choice, and what
# thinning lost is small against it.
THRESHOLDS_PER_ROW = 8

# Results that cross a network are cut into blocks of this many thresholds (3 MB).
THRESHOLDS_PER_BLOCK = 1 << 17


@dataclass
class Tally:
    """Counts on the thresholds, whole or in numbered blocks, and a survey of the rows counted."""

    survey: Survey
    counts: dict[int, SegmentCounts] = field(default_factory=dict)

    def __add__(self, other: object) -> Tally:
        """Counts of both, block by block."""
        if not isinstance(other, Tally):
            return NotImplemented
        return Tally(self.survey + other.survey, combined(self.counts, other.counts))

    def split(self) -> Iterator[tuple[int, Tally]]:
        """Cut into numbered parts: those of one number add up, and no part is very large."""
        survey = self.survey
        for counts in self.counts.values():
            for number, block in enumerate(counts.blocks(THRESHOLDS_PER_BLOCK)):
                yield number, Tally(survey, {number: block})
                survey = Survey(survey.request)  # it goes with the first part
        if not self.counts:
            yield 0, self

    def whole(self) -> SegmentCounts:
        """Put the blocks together."""
        return SegmentCounts.from_blocks([self.counts[number] for number in sorted(self.counts)])


@dataclass(frozen=True, kw_only=True)
class TakeCensus:
    """The task of the first pass."""

    request: Request
    limit: int | None = None
    room: Room | None = None

    def start(self) -> Census:
        """Census of no rows."""
        return Census(Survey(self.request), PositiveScores(self.limit))

    def __call__(self, pieces: Iterable[Piece]) -> Census:
        """Census of a shard."""
        census = self.start()
        for piece in pieces:
            census.update(piece)
            if self.room is not None:
                self.room.claim(census)
        census.scores.settle()
        return census


@dataclass(frozen=True, kw_only=True)
class Count:
    """The task of the second pass."""

    request: Request
    thresholds: Thresholds

    def start(self) -> Tally:
        """Counts of no rows."""
        return Tally(Survey(self.request))

    def __call__(self, pieces: Iterable[Piece]) -> Tally:
        """Counts of a shard."""
        tally = self.start()
        groups = Groups(self.thresholds.labels or (), closed=True)
        for piece in pieces:
            positive = piece.positive(self.request.pos_label)
            numbers = None if piece.groups is None else groups.numbers(piece.groups)
            keys = None if numbers is None else groups.keys(numbers)
            tally.survey.update(piece, positive, keys)
            if tally.survey.flaws:  # the first pass found none: the survey tells
                continue
            if 0 not in tally.counts:
                weighted = piece.weights is not None
                tally.counts[0] = SegmentCounts.empty(self.thresholds.keys.size, weighted)
            tally.counts[0].update(
                self.thresholds.keys,
                positive,
                self.thresholds.place(piece.scores, numbers),
                piece.weights,
                spread=numbers is None,
            )
        return tally


Task = TakeCensus | Count
Run = Callable[[Any], Any]


def rank_in_two_passes(
    run: Run,
    request: Request,
    max_rows: int | None,
    *,
    room: Room | None = None,
    thresholds: object = (),
    missed_positives: int = 0,
) -> Any:
    """Rank the data behind `run`: a Ranking, or a RankingSet where groups are asked for.

    With `max_rows`, each ranking is coarsened to that many rows, and thresholds are thinned on
    the way when the positives are many more. More scores than there is `room` for are refused.
    `thresholds` and `missed_positives` are those of :func:`precall.rank`.
    """
    missed = as_count(missed_positives, "missed_positives")
    asked = as_thresholds(thresholds, np.dtype(np.float64)).size > 0
    if (asked or missed) and not (max_rows is None and (request.group is None or not missed)):
        raise InputError(
            "thresholds are for exact rankings, and missed_positives for one: leave out max_rows, "
            "and groups with missed_positives."
        )
    limit = None
    if max_rows is not None:
        max_rows = as_count(max_rows, "max_rows", minimum=1)
        limit = THRESHOLDS_PER_ROW * max_rows
        if room is not None:  # fewer to choose from, but never fewer than rows
            limit = max(min(limit, room.thinned), max_rows)
    census: Census = run(TakeCensus(request=request, limit=limit, room=room))
    census.survey.judge()
    if room is not None:
        room.free()
        room.claim(census)
    labels = None if request.group is None else list(census.groups.number)
    first = census.survey
    found, groups = census.scores.thresholds(first.dtype)
    kept = as_thresholds(thresholds, found.dtype)
    if asked and room is not None:
        room.add(kept.size * (1 if labels is None else len(labels)))
    table = Thresholds.of(found, groups, labels)
    if asked:
        table = table.with_kept(kept)
    del census  # its scores need not be there twice
    tally: Tally = run(Count(request=request, thresholds=table))
    first.compare(tally.survey)
    counts = tally.whole()
    # Every row once: neither lost, nor counted again by a task that was repeated.
    if counts.n_rows != first.n_used:
        raise InputError(
            f"the first pass used {first.n_used} rows and the second {counts.n_rows}: {CHANGED}"
        )
    table.require_positives(counts, exact=max_rows is None, kept=kept)
    if request.group is not None:
        return table.ranking_set(counts, max_rows)
    ranking = counts.ranking(table.values, keep=asked)
    if max_rows is not None:
        ranking = ranking.coarsen(max_rows)
    warn_if_worse_than_random(ranking)
    return replace(ranking, missed=missed) if missed else ranking

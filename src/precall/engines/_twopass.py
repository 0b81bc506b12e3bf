"""The two passes that every engine runs: collect the positive scores, then count between them.

An engine gives :func:`rank_in_two_passes` one function, ``run(task)``: it applies the task to each
of its shards, wherever they are, and adds up the results, in any order and grouping. A task is a
pure function of its shard, so an engine may repeat one that failed: only the result that arrives
is added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from .._direction import warn_if_worse_than_random
from .._segments import SegmentCounts
from .._validation import as_count
from ..exceptions import InputError
from ..ranking import Ranking
from ._census import N_BUCKETS, Census, bucket, combined
from ._columns import Array, Piece, Request

# With max_rows, thresholds kept for each row of the result: the final cut has a choice, and what
# thinning lost is small against it.
THRESHOLDS_PER_ROW = 8

# Results that cross a network are cut into blocks of this many thresholds (3 MB).
THRESHOLDS_PER_BLOCK = 1 << 17

_CHANGED = (
    "the data changed between the passes, or each reading gives other rows; "
    "write them to a file, or cache them, first."
)


@dataclass
class Tally:
    """Counts on the thresholds of each group, whole or in numbered blocks of thresholds."""

    counts: dict[tuple[Any, int], SegmentCounts] = field(default_factory=dict)

    def __add__(self, other: object) -> Tally:
        """Counts of both, block by block."""
        if not isinstance(other, Tally):
            return NotImplemented
        return Tally(combined(self.counts, other.counts))

    def split(self) -> Iterator[tuple[int, Tally]]:
        """Cut into numbered parts: those of one number add up, and no part is very large."""
        parts: dict[int, Tally] = {}
        for (group, _), counts in self.counts.items():
            for number, block in enumerate(counts.blocks(THRESHOLDS_PER_BLOCK)):
                part = parts.setdefault(bucket(group) + N_BUCKETS * number, Tally())
                part.counts[group, number] = block
        yield from parts.items()

    def by_group(self) -> dict[Any, SegmentCounts]:
        """Put the blocks of each group together."""
        blocks: dict[Any, list[SegmentCounts]] = {}
        for group, number in sorted(self.counts, key=lambda key: key[1]):
            blocks.setdefault(group, []).append(self.counts[group, number])
        return {group: SegmentCounts.from_blocks(parts) for group, parts in blocks.items()}


@dataclass(frozen=True, kw_only=True)
class TakeCensus:
    """The task of the first pass."""

    request: Request
    limit: int | None = None
    most: int | None = None

    def start(self) -> Census:
        """Census of no rows."""
        return Census(self.request, self.limit)

    def __call__(self, pieces: Iterable[Piece]) -> Census:
        """Census of a shard."""
        census = self.start()
        for piece in pieces:
            census.update(piece)
            if self.most is not None:
                census.refuse_more_than(self.most)
        return census


@dataclass(frozen=True, kw_only=True)
class Count:
    """The task of the second pass."""

    request: Request
    thresholds: dict[Any, Array]

    def start(self) -> Tally:
        """Counts of no rows."""
        return Tally()

    def __call__(self, pieces: Iterable[Piece]) -> Tally:
        """Counts of a shard."""
        tally = self.start()
        for piece in pieces:
            positive = piece.positive(self.request.pos_label)
            for group, where in piece.by_group():
                if group not in self.thresholds:
                    raise InputError(f"group {group!r} came up in the second pass only: {_CHANGED}")
                thresholds = self.thresholds[group]
                if (group, 0) not in tally.counts:
                    weighted = piece.weights is not None
                    tally.counts[group, 0] = SegmentCounts.empty(thresholds.size, weighted)
                positives, scores, weights = piece.rows(where, positive)
                scores = scores.astype(thresholds.dtype, copy=False)
                tally.counts[group, 0].update(thresholds, positives, scores, weights)
        return tally


Task = TakeCensus | Count
Run = Callable[[Any], Any]


def rank_in_two_passes(
    run: Run, request: Request, max_rows: int | None, *, most: int | None = None
) -> dict[Any, Ranking]:
    """Rank the data behind `run`; one ranking per group, under the name None without groups.

    With `max_rows`, each ranking is coarsened to that many rows, and thresholds are thinned on
    the way when the positives are many more. More than `most` distinct scores are refused.
    """
    limit = None
    if max_rows is not None:
        max_rows = as_count(max_rows, "max_rows", minimum=1)
        limit = THRESHOLDS_PER_ROW * max_rows
    census: Census = run(TakeCensus(request=request, limit=limit, most=most))
    thresholds = census.thresholds()
    tally: Tally = run(Count(request=request, thresholds=thresholds))
    by_group = tally.by_group()
    # Every row once: neither lost, nor counted again by a task that was repeated.
    counted = sum(counts.n_rows for counts in by_group.values())
    if counted != census.n_used:
        raise InputError(
            f"the first pass read {census.n_used} rows and the second {counted}: {_CHANGED}"
        )
    rankings = {group: counts.ranking(thresholds[group]) for group, counts in by_group.items()}
    if max_rows is not None:
        rankings = {group: ranking.coarsen(max_rows) for group, ranking in rankings.items()}
    return rankings


def deliver(rankings: dict[Any, Ranking], request: Request) -> Any:
    """Return the one ranking, or the set of rankings where groups were asked for."""
    if request.group is None:
        ranking = rankings[None]
        warn_if_worse_than_random(ranking)
        return ranking
    from ..aggregate.ranking_set import RankingSet

    labels = list(rankings)
    with suppress(TypeError):  # labels of different kinds have no order
        labels.sort()
    return RankingSet.from_rankings([rankings[label] for label in labels], labels=labels)

"""Populations that are not held in memory: counted at some scores, and between them.

Of all scores only their order matters: how many rows are at or above each labelled one, and how
many each stratum has. So a population is read in pieces, a few times, and kept as counts at a few
ten thousand scores and in the gaps between them. Gaps in which a rank is wanted are opened: all of
their scores are collected, and counted one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from ..exceptions import InputError

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
#: Reads all scores from the beginning, in pieces, each time it is called.
Read = Callable[[], Iterable[Array]]

# Scores drawn at random to count at, and the most that opened gaps may hold.
_PIVOTS, _MOST_OPENED = 50_000, 20_000_000


@dataclass(frozen=True, eq=False)
class ScoreCounts:
    """Scores from the highest down, and how many rows each stands for.

    `single` says whether it is one score, or a place between two that stands for the rows there;
    `kept` are the scores that were asked for, in no gap, whether or not a row has them.
    """

    score: FloatArray
    count: IntArray
    single: npt.NDArray[np.bool_]
    kept: FloatArray

    @property
    def n_rows(self) -> int:
        """All rows."""
        return int(self.count.sum())

    def place_of(self, scores: Array) -> IntArray:
        """Return where scores that were counted at are."""
        rising = self.score[::-1]
        place = self.score.size - 1 - np.searchsorted(rising, scores, side="left")
        place = np.clip(place, 0, self.score.size - 1)
        strange = np.flatnonzero((self.score[place] != scores) | ~self.single[place])
        if strange.size:
            raise InputError(
                f"the score {float(np.asarray(scores)[strange[0]])!r} of a labelled row is not in "
                "the population: give the population that was planned with."
            )
        return np.asarray(place, dtype=np.int64)

    def falling(self) -> Falling:
        """Return all rows from the highest score down."""
        return Falling(self.score, np.cumsum(self.count))

    def require(self, thresholds: Iterable[float], places: Iterable[int]) -> None:
        """Raise where a threshold or a rank may lie in a gap."""
        for threshold in thresholds:
            if threshold not in self.kept:
                raise InputError(
                    f"the population was not counted at {threshold:g}: give it in thresholds when "
                    "counting."
                )
        ends = np.cumsum(self.count)
        for place in places:
            if not self.single[min(int(np.searchsorted(ends, place)), ends.size - 1)]:
                raise InputError(
                    f"the population was not counted at rank {place:,}: give it in ranks when "
                    "counting."
                )


class Falling:
    """Scores of all rows from the highest down, by their place from 0; no array holds them."""

    def __init__(self, score: FloatArray, ends: IntArray) -> None:
        self.score, self.ends, self.size = score, ends, int(ends[-1])

    def __getitem__(self, place: Any) -> Any:
        """Return the scores at places."""
        return self.score[np.searchsorted(self.ends, place, side="right")]


def count_scores(
    read: Read,
    *,
    keep: object = (),
    ranks: Iterable[int] = (),
    rng: np.random.Generator | int | None = 0,
) -> ScoreCounts:
    """Count the scores of a population that is read in pieces.

    Parameters
    ----------
    read : callable
        Gives all scores, piece by piece and in the same order, each time it is called.
    keep : array-like
        Scores to count at exactly: those of labelled rows, and thresholds.
    ranks : iterable of int
        Ranks, from 1, whose scores are found exactly; those over the number of rows are passed
        over.
    rng : None, int or Generator
        For the other scores to count at. What is exact does not depend on it.

    Returns
    -------
    ScoreCounts
    """
    drawn, n_rows = _drawn(read, _validation.as_generator(rng))
    kept = np.asarray(keep, dtype=np.float64).reshape(-1)
    found = _at_and_between(read, np.unique(np.append(drawn, kept)), kept)
    if found.n_rows != n_rows:
        raise InputError(_changed(n_rows, found.n_rows))
    wanted = np.array(sorted({int(rank) for rank in ranks if 0 < rank <= n_rows}), dtype=np.int64)
    ends = np.cumsum(found.count)
    inside = np.unique(np.searchsorted(ends, wanted, side="left"))
    inside = inside[~found.single[inside]]
    found = _opened(read, found, inside) if inside.size else found
    there = found.count > 0
    return ScoreCounts(found.score[there], found.count[there], found.single[there], kept)


def _changed(first: int, second: int) -> str:
    return (
        f"the population had {first:,} rows when it was first read, and then {second:,}: it must "
        "not change meanwhile."
    )


def _drawn(read: Read, rng: np.random.Generator) -> tuple[FloatArray, int]:
    """Return scores drawn at random, those with the smallest of random numbers, and all rows."""
    kept, keys, n_rows, limit = np.zeros(0), np.zeros(0), 0, 1.0
    lowest, highest = np.inf, -np.inf
    for piece in read():
        values = _checked(piece, n_rows)
        n_rows += values.size
        lowest = min(lowest, float(values.min(initial=np.inf)))
        highest = max(highest, float(values.max(initial=-np.inf)))
        key = rng.random(values.size)
        chosen = key < limit
        kept, keys = np.append(kept, values[chosen]), np.append(keys, key[chosen])
        if keys.size > _PIVOTS:
            limit = float(np.partition(keys, _PIVOTS)[_PIVOTS])
            kept, keys = kept[keys < limit], keys[keys < limit]
    if not n_rows:
        raise InputError("scores must have at least one row, got none.")
    return np.append(kept, [lowest, highest]), n_rows


def _checked(piece: Array, before: int) -> FloatArray:
    values = np.asarray(piece, dtype=np.float64)
    missing = np.flatnonzero(np.isnan(values))
    if missing.size:
        raise InputError(
            f"scores must not be missing, and that of row {before + int(missing[0])} is."
        )
    return values


def _at_and_between(read: Read, pivots: FloatArray, kept: FloatArray) -> ScoreCounts:
    """Count the rows at each of some rising scores, the extremes among them, and between them."""
    count = np.zeros(2 * pivots.size + 1, dtype=np.int64)
    for piece in read():
        values = np.asarray(piece, dtype=np.float64)
        place = np.searchsorted(pivots, values, side="left")
        same = pivots[np.minimum(place, pivots.size - 1)] == values
        count += np.bincount(2 * place + same, minlength=count.size)
    score = np.empty(count.size)
    score[1::2] = pivots
    with np.errstate(over="ignore", invalid="ignore"):
        middle = pivots[:-1] + (pivots[1:] - pivots[:-1]) / 2.0
    middle = np.where(
        (middle > pivots[:-1]) & (middle < pivots[1:]), middle, np.nextafter(pivots[1:], -np.inf)
    )
    score[2:-1:2] = middle
    score[0], score[-1] = np.nextafter(pivots[0], -np.inf), np.nextafter(pivots[-1], np.inf)
    single = np.arange(count.size) % 2 == 1
    # Single scores stay although no row has them: they are where a gap ends.
    there = np.flatnonzero((count > 0) | single)[::-1]
    return ScoreCounts(score[there], count[there], single[there], kept)


def _opened(read: Read, found: ScoreCounts, gaps: IntArray) -> ScoreCounts:
    """Collect the scores of some gaps, and count at each of them."""
    expected = int(found.count[gaps].sum())
    if expected > _MOST_OPENED:
        raise InputError(
            f"{expected:,} rows lie between the scores that were counted at, too many to sort: "
            "ask for fewer ranks."
        )
    # Both neighbours of a gap are single scores.
    edges = np.stack([found.score[gaps + 1], found.score[gaps - 1]], axis=1)[::-1].reshape(-1)
    scores = []
    for piece in read():
        values = np.asarray(piece, dtype=np.float64)
        place = np.searchsorted(edges, values, side="left")
        inside = place % 2 == 1
        inside &= values != edges[np.minimum(place, edges.size - 1)]
        scores.append(values[inside])
    distinct, number = np.unique(np.concatenate(scores), return_counts=True)
    if int(number.sum()) != expected:
        raise InputError(_changed(expected, int(number.sum())))
    kept = np.ones(found.score.size, dtype=np.bool_)
    kept[gaps] = False
    score = np.append(found.score[kept], distinct)
    count = np.append(found.count[kept], number)
    single = np.append(found.single[kept], np.ones(distinct.size, dtype=np.bool_))
    order = np.argsort(score, kind="stable")[::-1]
    return ScoreCounts(score[order], count[order], single[order], found.kept)

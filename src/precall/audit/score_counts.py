"""Populations that are not held in memory: counted at some scores, and between them.

Of all scores only their order matters: how many rows are at or above each labelled one, and how
many each stratum has. So a population is read a few times, wherever it is, and kept as counts at a
few ten thousand scores and in the gaps between them. Gaps in which a rank is wanted are opened: all
of their scores are collected, and counted one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import InputError
from ..ranking.kept_thresholds import as_score
from ..ranking.scored_rows import ScoredRows
from .score_tasks import CountAtAndBetween, DrawScores, OpenGaps

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]

# Scores drawn at random to count at, and the most that opened gaps may hold.
_PIVOTS, _MOST_OPENED = 50_000, 20_000_000


@dataclass(frozen=True, eq=False)
class ScoreCounts:
    """Scores from the highest down, and how many rows each stands for.

    `single` says whether it is one score, or a place in the gap between the scores `low` and `high`
    that stands for the rows there; `kept` are the scores that were asked for, in no gap, whether or
    not a row has them.
    """

    score: Array
    count: IntArray
    low: Array
    high: Array
    kept: Array

    @property
    def single(self) -> npt.NDArray[np.bool_]:
        """Which are one score."""
        return np.asarray(self.low == self.high)

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
            value = as_score(threshold, self.score.dtype)
            if value is not None and value not in self.kept:
                raise InputError(
                    f"the population was not counted at {threshold:g}: name the metric in metrics= "
                    "when making the sample."
                )
        ends = np.cumsum(self.count)
        for place in places:
            if not self.single[min(int(np.searchsorted(ends, place)), ends.size - 1)]:
                raise InputError(
                    f"the population was not counted at rank {place:,}: name the metric in "
                    "metrics= when making the sample."
                )


class Falling:
    """Scores of all rows from the highest down, by their place from 0; no array holds them."""

    def __init__(self, score: Array, ends: IntArray) -> None:
        self.score, self.ends, self.size = score, ends, int(ends[-1])

    def __getitem__(self, place: Any) -> Any:
        """Return the scores at places."""
        return self.score[np.searchsorted(self.ends, place, side="right")]


def count_scores(
    population: ScoredRows,
    *,
    labelled: object = (),
    thresholds: Iterable[float] = (),
    ranks: Iterable[int] = (),
) -> ScoreCounts:
    """Count the scores of a population.

    Parameters
    ----------
    population : ScoredRows
    labelled, thresholds : array-like
        Scores to count at exactly.
    ranks : iterable of int
        Ranks, from 1, whose scores are found exactly; those over the number of rows are passed
        over.

    Returns
    -------
    ScoreCounts
    """
    drawn = population.run(DrawScores(_PIVOTS))
    if not drawn.n_rows:
        raise InputError("scores must have at least one row, got none.")
    pivots = drawn.pivots()
    asked = [as_score(each, pivots.dtype) for each in thresholds]
    kept = np.array([each for each in asked if each is not None], dtype=pivots.dtype)
    kept = np.append(kept, np.asarray(labelled).astype(pivots.dtype))
    pivots = np.unique(np.append(pivots, kept))
    found = _at_and_between(population, pivots, kept)
    if found.n_rows != drawn.n_rows:
        raise InputError(_changed(drawn.n_rows, found.n_rows))
    wanted = np.array(sorted({int(rank) for rank in ranks if 0 < rank <= drawn.n_rows}), np.int64)
    inside = np.unique(np.searchsorted(np.cumsum(found.count), wanted, side="left"))
    return opened(population, found, inside)


def opened(population: ScoredRows, found: ScoreCounts, places: IntArray) -> ScoreCounts:
    """Collect the scores of the gaps among some places, and count at each of them."""
    gaps = places[~found.single[places]]
    if not gaps.size:
        return found
    expected = int(found.count[gaps].sum())
    if expected > _MOST_OPENED:
        raise InputError(
            f"{expected:,} rows lie between the scores that were counted at, too many to sort: "
            "ask for fewer ranks."
        )
    rising = gaps[::-1]
    edges = np.stack([found.low[rising], found.high[rising]], axis=1).reshape(-1)
    scores = population.run(OpenGaps(edges)).scores()
    distinct, number = np.unique(scores, return_counts=True)
    if int(number.sum()) != expected:
        raise InputError(_changed(expected, int(number.sum())))
    kept = np.ones(found.score.size, dtype=np.bool_)
    kept[gaps] = False
    score = np.append(found.score[kept], distinct)
    order = np.argsort(score, kind="stable")[::-1]
    return ScoreCounts(
        score[order],
        np.append(found.count[kept], number)[order],
        np.append(found.low[kept], distinct)[order],
        np.append(found.high[kept], distinct)[order],
        found.kept,
    )


def _changed(first: int, second: int) -> str:
    return (
        f"the population had {first:,} rows when it was first read, and then {second:,}: it must "
        "not change meanwhile."
    )


def _at_and_between(population: ScoredRows, pivots: Array, kept: Array) -> ScoreCounts:
    """Count the rows at each of some rising scores, the extremes among them, and between them."""
    count = population.run(CountAtAndBetween(pivots)).number
    if count[0] or count[-1]:
        raise InputError(_changed(int(count[1:-1].sum()), int(count.sum())))
    score = np.empty(2 * pivots.size - 1, dtype=pivots.dtype)
    score[::2], score[1::2] = pivots, _between(pivots)
    low, high = np.repeat(pivots, 2)[:-1], np.repeat(pivots, 2)[1:]
    there = np.flatnonzero(count[1:-1])[::-1]
    return ScoreCounts(score[there], count[1:-1][there], low[there], high[there], kept)


def _between(pivots: Array) -> Array:
    """Return a score between neighbours; where there is none, no row has it either."""
    low, high = pivots[:-1], pivots[1:]
    if pivots.dtype.kind in "iu":
        return np.asarray((low >> 1) + (high >> 1) + (low & high & 1))
    with np.errstate(over="ignore", invalid="ignore"):
        middle = low + (high - low) / 2
    above = np.nextafter(high, np.array(-np.inf, dtype=high.dtype))
    return np.asarray(np.where((middle > low) & (middle < high), middle, above))

"""Plans and samples of populations that are read in pieces, in bounded memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._words import plural
from ..exceptions import InputError
from ..metrics import Metric
from .allocation import equal
from .designs import not_a_population, runs_of_shares
from .label_plan import range_edges, ranges
from .sample import Sample
from .score_counts import Read, ScoreCounts, count_scores
from .strata_pieces import edge_ranks, interval_of

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class PlannedRows(NamedTuple):
    """Rows to label, in rising order, with their scores, probabilities and strata."""

    rows: IntArray
    scores: FloatArray
    inclusion: FloatArray
    stratum: IntArray
    names: tuple[str, ...]
    n_rows: int


def plan_in_pieces(
    read: Read, *, budget: int, metric: Metric, rng: np.random.Generator | int | None
) -> PlannedRows:
    """Choose rows as :func:`precall.audit.plan` does without a guess: the same strata.

    The population is read four times: to draw scores to count at, to count, to find the scores at
    the ranks where strata end, and to draw rows. Rows with the smallest of random numbers are kept,
    so the choice does not depend on the size of the pieces.
    """
    number = _validation.as_count(budget, "budget", minimum=1)
    if not (metric.smooth or metric.places):
        raise metric.no_gradient()
    generator = _validation.as_generator(rng)
    counted = _counted(read, metric.thresholds, metric.places, (), generator)
    edges = range_edges(counted.score, counted.falling(), metric, number)
    codes, names = ranges(counted.score, edges, counted.count)
    size = np.bincount(codes, counted.count).astype(np.int64)
    if not size.size <= number <= counted.n_rows:
        raise InputError(
            f"budget is {number:,}, but there are {plural(counted.n_rows, 'row')} in "
            f"{plural(int(size.size), 'stratum', 'strata')}: each stratum needs a label."
        )
    wanted = equal(size, number)
    present = np.unique(interval_of(counted.score, edges))
    rows, scores, stratum = _smallest_keys(read, edges, present, wanted, generator)
    order = np.argsort(rows, kind="stable")
    return PlannedRows(
        rows[order],
        scores[order],
        (wanted / size)[stratum[order]],
        stratum[order],
        names,
        counted.n_rows,
    )


def _counted(
    read: Read, thresholds: Any, places: Any, keep: Any, rng: np.random.Generator | int | None
) -> ScoreCounts:
    kept = np.append(np.asarray(tuple(thresholds), dtype=np.float64), keep)
    ranks = [int(rank) for rank in edge_ranks(2**62)]
    ranks += [at for place in places for at in (int(place), int(place) + 1)]
    return count_scores(read, keep=kept, ranks=ranks, rng=rng)


def _smallest_keys(
    read: Read,
    edges: FloatArray,
    present: IntArray,
    wanted: IntArray,
    rng: np.random.Generator,
) -> tuple[IntArray, FloatArray, IntArray]:
    """Draw so many rows from every stratum: those with the smallest random numbers."""
    limit = np.ones(wanted.size)
    rows, scores = np.zeros(0, dtype=np.int64), np.zeros(0)
    keys, strata = np.zeros(0), np.zeros(0, dtype=np.int64)
    first = 0
    for piece in read():
        values = np.asarray(piece, dtype=np.float64)
        stratum = np.searchsorted(present, interval_of(values, edges))
        key = rng.random(values.size)
        chosen = np.flatnonzero(key < limit[stratum])
        rows, scores = np.append(rows, chosen + first), np.append(scores, values[chosen])
        keys, strata = np.append(keys, key[chosen]), np.append(strata, stratum[chosen])
        first += values.size
        order = np.lexsort((keys, strata))
        begin = np.searchsorted(strata[order], np.arange(wanted.size))
        place = np.arange(order.size) - begin[strata[order]]
        kept = order[place < wanted[strata[order]]]
        rows, scores, keys, strata = rows[kept], scores[kept], keys[kept], strata[kept]
        full = np.bincount(strata, minlength=wanted.size) == wanted
        last = np.zeros(wanted.size)
        np.maximum.at(last, strata, keys)
        limit = np.where(full, last, limit)
    return rows, scores, strata


def sample_in_pieces(
    read: Read,
    labelled: Any,
    labels: Any,
    inclusion: Any,
    *,
    thresholds: Any = (),
    places: Any = (),
    target: str = "rows",
    rng: np.random.Generator | int | None = 0,
) -> Sample:
    """Make a sample from the labelled rows of a plan and a population that is read in pieces.

    Parameters
    ----------
    read : callable
        Gives all scores, piece by piece, each time it is called.
    labelled, labels, inclusion : array-like
        The score, the label and the probability of every labelled row; strata have to be ranges of
        the score.
    thresholds, places : iterable
        Scores and ranks that metrics will be asked about.
    target : {"rows", "process"}
    rng : None, int or Generator
        For the scores to count at.
    """
    scores = np.asarray(labelled, dtype=np.float64)
    runs = runs_of_shares(scores, np.asarray(inclusion, dtype=np.float64))
    ends = np.cumsum(runs.sizes)
    places = [*places, *ends.tolist()]
    counted = _counted(read, thresholds, places, scores, rng)
    reached = np.cumsum(counted.count)
    stratum = np.searchsorted(ends, reached - counted.count, side="right")
    place = counted.place_of(scores)
    if (
        int(ends[-1]) != counted.n_rows
        or not np.isin(ends, reached).all()
        or not np.array_equal(stratum[place[runs.order]], runs.run)
    ):
        raise not_a_population(runs, counted.n_rows)
    return Sample.from_counts(counted, scores, labels, strata=stratum, target=target)

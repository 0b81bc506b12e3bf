"""Pieces of the population: strata cut into ranges of the score, with the labels found in each.

Labels drawn at random from a stratum are drawn at random from every part of it, given how many
fell there. So a stratum that spans many ranks is cut where ranks double, as long as there are
labels on both sides, and at every threshold or rank that is asked about.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._numerics import ratio
from ..ranking.kept_thresholds import as_score
from .designs import Design
from .labels import KnownLabels, summed

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

#: Ranks at which strata are cut: 50, 100, 200, ...
FIRST_EDGE = 50
# A piece has at least so many labels. With more, where inside a large piece its positives are would
# be known too badly: of 1,000 labels in 20,000 rows, 50 are in the first 1,000.
_ENOUGH = 1
# Rows that stand for positives or negatives of which none was labelled.
_STAND_INS = 5
# Rows looked at to find them.
_LOOKED_AT = 100_000


class Pieces(NamedTuple):
    """Pieces, by number.

    Attributes
    ----------
    size : array
        Rows of the population in each.
    labels, positives : array
        Effective numbers of labels and of labelled positives (Korn & Graubard 1998): the numbers
        themselves unless the weights inside a piece differ.
    estimate : array
        Estimated positives in each.
    least, most : array
        The numbers of positives that the labels themselves leave open.
    sampled : array
        Share of its rows that are labelled.
    of_label : array
        The piece of every labelled row.
    stand_ins, of_stand_in : array
        Unlabelled rows, evenly spaced by score inside each piece, and their pieces.
    tied : array
        Of every labelled row, then of every stand-in: the share of the other rows of its piece that
        have its score.
    of_row : array
        The piece of every row of the population.
    """

    size: FloatArray
    labels: FloatArray
    positives: FloatArray
    estimate: FloatArray
    least: FloatArray
    most: FloatArray
    sampled: FloatArray
    of_label: IntArray
    stand_ins: IntArray
    of_stand_in: IntArray
    tied: FloatArray
    of_row: IntArray


def edge_ranks(size: int, first: int = FIRST_EDGE) -> IntArray:
    """Return the ranks 50, 100, 200, ... under a number of rows."""
    places = first * 2 ** np.arange(64 - first.bit_length(), dtype=np.int64)
    return places[places < size]


def edge_scores(descending: Any) -> Array:
    """Return the scores at the ranks 50, 100, 200, ..., the highest first."""
    found: Array = descending[edge_ranks(descending.size) - 1]
    return found


def interval_of(scores: Array, edges: Array) -> IntArray:
    """Return how many of the edges lie above each score; a tie is never cut."""
    rising = np.unique(edges)
    found: IntArray = (rising.size - np.searchsorted(rising, scores, side="right")).astype(np.int64)
    return found


def cut(
    scores: Array,
    descending: Any,
    design: Design,
    known: KnownLabels,
    thresholds: tuple[float, ...] = (),
    places: tuple[int, ...] = (),
    zone: IntArray | None = None,
    count: IntArray | None = None,
) -> Pieces:
    """Cut the strata of a design, and count.

    `zone` numbers the parts between what is asked about, if not by thresholds or places; `count`
    says how many rows each score stands for, if not for one.
    """
    grid = interval_of(scores, edge_scores(descending))
    width = int(grid.max()) + 1
    joint = design.stratum * width + grid
    labelled = np.bincount(joint[known.rows], minlength=len(design.names) * width)
    merged = np.concatenate([_merged(line) for line in labelled.reshape(-1, width)])
    offset = np.repeat(np.arange(len(design.names)) * width, width)
    whole = (merged + offset)[joint]
    zone = zones(scores, descending, thresholds, places) if zone is None else zone
    parts = int(zone.max()) + 1
    present, code = _compact(whole * parts + zone)
    return _count(scores, code, present // parts, design, known, count)


def _merged(labelled: IntArray) -> IntArray:
    """Number neighbouring ranges of ranks so that each number has enough labels."""
    number, found, numbers = 0, 0, []
    for count in labelled:
        if found >= _ENOUGH:
            number, found = number + 1, 0
        numbers.append(number)
        found += count
    if found < _ENOUGH and number:
        numbers = [min(each, number - 1) for each in numbers]
    return np.array(numbers, dtype=np.int64)


def zones(
    scores: Array, descending: Any, thresholds: tuple[float, ...], places: tuple[int, ...]
) -> IntArray:
    """Number the parts between what is asked about; a tie at a rank is a part of its own."""
    return interval_of(scores, asked_edges(scores, descending, thresholds, places))


def asked_edges(
    scores: Array, descending: Any, thresholds: tuple[float, ...], places: tuple[int, ...]
) -> Array:
    """Return the lowest scores of those parts."""
    edges = [as_score(each, scores.dtype) for each in thresholds]
    for place in places:
        if place < descending.size:
            own = descending[place - 1]
            edges.append(own)
            edges += [] if descending[place] < own else [_next_above(own)]
    return np.array([each for each in edges if each is not None], dtype=scores.dtype)


def _next_above(score: Any) -> Any:
    """Return the lowest number of its type that is above a score, None above the highest."""
    if isinstance(score, np.integer):
        return None if score == np.iinfo(score.dtype).max else score + 1
    return np.nextafter(score, type(score)(np.inf))


def _compact(codes: IntArray) -> tuple[IntArray, IntArray]:
    count = np.bincount(codes)
    present = np.flatnonzero(count)
    number = np.cumsum(count > 0) - 1
    return present, number[codes]


def _count(
    scores: Array,
    code: IntArray,
    parent: IntArray,
    design: Design,
    known: KnownLabels,
    count: IntArray | None,
) -> Pieces:
    size = np.bincount(code, count).astype(np.float64)
    of_label, weight, positive = code[known.rows], design.weight, known.positive

    number, found, total, hits, squares = (
        summed(of_label, values, size.size)
        for values in (None, positive, weight, weight * positive, weight**2)
    )
    labels = ratio(total**2, squares)
    # A piece without labels takes its share from the stratum that it was cut from.
    groups = np.unique(parent, return_inverse=True)[1].reshape(-1)
    pooled = ratio(np.bincount(groups, hits), np.bincount(groups, total))[groups]
    share = np.where(number > 0, ratio(hits, total), pooled)
    if count is None:
        chosen, of_stand_in = _stand_ins(scores, code, known)
    else:
        unlabelled = count - np.bincount(known.rows, minlength=count.size)
        chosen, of_stand_in = _counted_stand_ins(scores, code, unlabelled)
    return Pieces(
        size=size,
        labels=labels,
        positives=share * labels,
        estimate=np.clip(share * size, found, size - (number - found)),
        least=found,
        most=size - (number - found),
        sampled=number / size,
        of_label=of_label,
        stand_ins=chosen,
        of_stand_in=of_stand_in,
        tied=tied_shares(scores, code, np.append(known.rows, chosen), size, count),
        of_row=code,
    )


def tied_shares(
    scores: Array,
    code: IntArray,
    rows: IntArray,
    size: FloatArray,
    count: IntArray | None = None,
) -> FloatArray:
    """Share of the other rows of its piece that each of some rows is tied with."""
    values, place = np.unique(scores[rows], return_inverse=True)
    near = np.minimum(np.searchsorted(values, scores), values.size - 1)
    same = np.flatnonzero(values[near] == scores)
    found = np.bincount(
        code[same] * values.size + near[same],
        None if count is None else count[same],
        minlength=size.size * values.size,
    )
    others = found[code[rows] * values.size + place.reshape(-1)] - 1.0
    return np.asarray(ratio(others, size[code[rows]] - 1.0))


def _stand_ins(scores: Array, code: IntArray, known: KnownLabels) -> tuple[IntArray, IntArray]:
    unlabelled = np.where(known.mask(code.size), -1, code)
    order = np.argsort(
        unlabelled.astype(np.int16 if code.max() < 2**15 else np.int64), kind="stable"
    )
    ends = np.searchsorted(unlabelled[order], np.arange(int(code.max()) + 2))
    chosen, numbers = [], []
    for number in range(ends.size - 1):
        rows = order[ends[number] : ends[number + 1]]
        rows = rows[:: max(1, rows.size // _LOOKED_AT)]
        count = min(_STAND_INS, rows.size)
        if count:
            places = ((np.arange(count) + 0.5) * rows.size / count).astype(np.int64)
            found = np.argpartition(scores[rows], places)[places]
            chosen.append(rows[found])
            numbers.append(np.full(count, number))
    return _joined(chosen), _joined(numbers)


def _counted_stand_ins(scores: Array, code: IntArray, count: IntArray) -> tuple[IntArray, IntArray]:
    """Evenly spaced by rank inside each piece; a score that stands for many may be there twice.

    `count` is of unlabelled rows.
    """
    chosen, numbers = [], []
    for number in range(int(code.max()) + 1):
        rows = np.flatnonzero(code == number)
        rows = rows[np.argsort(scores[rows], kind="stable")]
        ends = np.cumsum(count[rows])
        many = min(_STAND_INS, int(ends[-1]))
        if not many:
            continue
        places = ((np.arange(many) + 0.5) * ends[-1] / many).astype(np.int64)
        chosen.append(rows[np.searchsorted(ends, places, side="right")])
        numbers.append(np.full(many, number))
    return _joined(chosen), _joined(numbers)


def _joined(parts: list[IntArray]) -> IntArray:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

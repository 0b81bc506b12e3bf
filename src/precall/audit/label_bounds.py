"""Average precision whatever the labels are that nobody has looked at.

Write ``f = sum over positives of TP / R``, so that average precision is f over the number of
positives. In a strict order, moving a positive up never lowers f. So with k positives among the
unlabelled rows f is smallest when they are the k lowest, and the extremes over k are the bounds.
The order of tied rows is taken as unknown too: negatives first is the worst of it.

The largest value needs each tie's positives first and tied with each other, since rows that share
a threshold share the precision on arrival. Then moving a positive up out of a tie can lower f.
Over all numbers of positives the k highest rows are still best (compared with every labelling of
thousands of small data sets); with a largest number of positives they are not, and the best
places are found by dynamic programming over runs of untied rows and ties. Given the positives P
above it, a part of the ranking with x more positives adds ``P A(x) + C(x)`` to f.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._interval import Span
from .._notebook import Rich
from .._numerics import ratio
from .._rounding import area_error, falling, outward
from ..exceptions import InputError, UndefinedMetricError
from .labels import KnownLabels, as_known, as_population

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Sums in the dynamic programme, and rows looked at while rows to label next are tried.
_WORK, _TRIED = 1e8, 4e6
# What one step of it costs beside its sums.
_STEP = 1000.0
_SHOWN = 10


@dataclass(frozen=True, kw_only=True, repr=False)
class LabelBounds(Span, Rich):
    """The least and the largest average precision that the labels so far allow.

    Attributes
    ----------
    low, high : float
        No labelling of the other rows, and no order of tied rows, goes beyond them.
    exact : bool
        Whether some labelling reaches both. False where ties and `max_positives` would take too
        long: then the lowest rows are taken as tied in `high`, which is still guaranteed.
    n_labelled, n_unlabelled, n_positives : int
        Rows with and without a label, and labelled rows that are positive.
    max_positives : int or None
        The largest number of positives among all rows, if one was given.
    positives_at_low, positives_at_high : int
        How many positives there are where the bounds are reached.
    next_rows : tuple of int
        Rows that, labelled, would narrow the bounds most, the best first.
    next_widths : tuple of float
        The width that is left after labelling each of them, whichever label it turns out to have.
    """

    low: float
    high: float
    exact: bool
    n_labelled: int
    n_unlabelled: int
    n_positives: int
    max_positives: int | None
    positives_at_low: int
    positives_at_high: int
    next_rows: tuple[int, ...]
    next_widths: tuple[float, ...]

    def __repr__(self) -> str:
        """Return one line."""
        return (
            f"LabelBounds(low={self.low:.6g}, high={self.high:.6g}, "
            f"{self.n_labelled:,} of {self.n_labelled + self.n_unlabelled:,} rows labelled)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**plain, "next_rows": [*self.next_rows], "next_widths": [*self.next_widths]}


def bounds(scores: object, labels: object, *, max_positives: int | None = None) -> LabelBounds:
    """Bound average precision whatever the unlabelled rows are.

    Nothing is assumed about how the labelled rows were chosen. With few labels the bounds are wide;
    they are of use where the labels are many, where the highest rows are labelled, or where the
    number of positives is known to be small.

    Parameters
    ----------
    scores : array-like
        The scores of all rows.
    labels : array-like or mapping
        One label (0 or 1) per row, NaN or None where it is unknown; or a mapping from row to label.
    max_positives : int, optional
        There are at most so many positives among all rows.

    Returns
    -------
    LabelBounds
        With the rows that, labelled next, would narrow the bounds most.

    Raises
    ------
    InputError
        If more rows than `max_positives` are labelled positive.
    UndefinedMetricError
        If no row can be positive.

    Examples
    --------
    >>> import precall as pr
    >>> pr.audit.bounds([5, 4, 3, 2, 1], [1, None, 1, 0, 0])
    LabelBounds(low=0.833333, high=1, 4 of 5 rows labelled)
    >>> pr.audit.bounds([5, 4, 3, 2, 1], {0: 1, 4: 0}, max_positives=2).low
    0.75
    """
    values = as_population(scores)
    known = as_known(labels, values.size)
    order = _Order.of(values, known)
    most = order.unknown.size
    if max_positives is not None:
        cap = _validation.as_count(max_positives, "max_positives", minimum=1)
        found = int(known.positive.sum())
        if found > cap:
            raise InputError(
                f"max_positives is {cap:,}, but {found:,} rows are labelled positive: give at "
                "least that number."
            )
        most = min(most, cap - found)
        max_positives = cap
    if not known.positive.any() and not most:
        raise UndefinedMetricError("no row can be positive, so average precision is not defined.")
    found_bounds = _bounds(order, most)
    rows, widths = _next(values, known, order, most, max_positives is not None)
    low, high = outward(
        found_bounds.low, found_bounds.high, area_error(values.size, exact_counts=True)
    )
    return LabelBounds(
        low=low,
        high=high,
        exact=found_bounds.exact,
        n_labelled=int(known.rows.size),
        n_unlabelled=int(order.unknown.size),
        n_positives=order.positives,
        max_positives=max_positives,
        positives_at_low=order.positives + found_bounds.at_low,
        positives_at_high=order.positives + found_bounds.at_high,
        next_rows=tuple(rows),
        next_widths=tuple(widths),
    )


def largest_average_precision(scores: Any, known: KnownLabels, most: int) -> float:
    """Return the upper bound with at most so many positives among the unlabelled rows."""
    order = _Order.of(scores, known)
    high = _bounds(order, min(most, int(order.unknown.size))).high
    return outward(0.0, high, area_error(scores.size, exact_counts=True))[1]


class _Bounds(NamedTuple):
    low: float
    high: float
    at_low: int
    at_high: int
    exact: bool


class _Order(NamedTuple):
    """Rows from the highest score down; within a tie negatives, unlabelled rows, positives.

    Attributes
    ----------
    rows : array
        The row at each place.
    positive, unknown : array
        Places of labelled positives and of unlabelled rows, rising.
    start : array
        Place where each tie begins, and the number of rows at the end.
    """

    rows: IntArray
    positive: IntArray
    unknown: IntArray
    start: IntArray

    @classmethod
    def of(cls, scores: Any, known: KnownLabels) -> _Order:
        """Sort the rows."""
        kind = np.ones(scores.size, dtype=np.int8)
        kind[known.rows] = np.where(known.positive, 2, 0)
        # From the lowest score up, backwards: integers need not be negated.
        rows = np.lexsort((-kind, scores))[::-1]
        ordered = scores[rows]
        start = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        kinds = kind[rows]
        return cls(
            rows,
            np.flatnonzero(kinds == 2),
            np.flatnonzero(kinds == 1),
            np.append(start, scores.size),
        )

    @property
    def positives(self) -> int:
        """Number of labelled positives."""
        return int(self.positive.size)


def _bounds(order: _Order, most: int) -> _Bounds:
    low, at_low = _smallest(order, most)
    if most == order.unknown.size:
        high, at_high, exact = *_largest(order), True
    else:
        high, at_high, exact = _largest_of(order, most)
    return _Bounds(low, high, at_low, at_high, exact)


def _extreme(f: FloatArray, positives: int, highest: bool) -> tuple[float, int]:
    """Return the extreme of ``f[k] / (positives + k)`` and its k."""
    number = positives + np.arange(f.size)
    values = np.where(number > 0, ratio(f, number), -np.inf if highest else np.inf)
    k = int(np.argmax(values) if highest else np.argmin(values))
    return float(values[k]), k


def _smallest(order: _Order, most: int) -> tuple[float, int]:
    """The k lowest unlabelled rows are positive, for every k up to `most`."""
    at, unknown = order.positive, order.unknown[::-1][:most]
    before = np.searchsorted(at, unknown)
    inverse = np.append(np.cumsum((1.0 / (at + 1.0))[::-1])[::-1], 0.0)
    others = np.cumsum(1.0 / (unknown + 1.0))  # unlabelled ones that are positive, itself included
    added = before / (unknown + 1.0) + others + inverse[before]
    first = np.sum((np.arange(at.size) + 1.0) / (at + 1.0))
    return _extreme(first + np.append(0.0, np.cumsum(added)), order.positives, highest=False)


def _largest(order: _Order) -> tuple[float, int]:
    """The k highest unlabelled rows are positive, for every k; a tie's positives come first."""
    above, own, free = _ties(order)
    full, passed = own + free, np.cumsum(own)
    reached = np.cumsum(full)
    complete = np.append(0.0, np.cumsum(full * ratio(reached, above + full)))
    # Ties under the one that is being filled: f = sum own (passed + k) / (above + own).
    share = ratio(own, above + own)
    slope = np.append(np.cumsum(share[::-1])[::-1], 0.0)
    level = np.append(np.cumsum((share * passed)[::-1])[::-1], 0.0)
    k = np.arange(1, order.unknown.size + 1)
    tie = np.searchsorted(np.cumsum(free), k)
    mine = own[tie] + k - (np.cumsum(free) - free)[tie]
    here = mine * ratio(passed[tie] + k, above[tie] + mine)
    f = complete[tie] + here + level[tie + 1] + slope[tie + 1] * k
    return _extreme(np.append(level[0], f), order.positives, highest=True)


def _ties(order: _Order) -> tuple[IntArray, IntArray, IntArray]:
    """Rows above each tie, its labelled positives, its unlabelled rows."""
    own, free = (
        np.diff(np.searchsorted(places, order.start)) for places in (order.positive, order.unknown)
    )
    return order.start[:-1], own, free


class _Part(NamedTuple):
    """A part of the ranking: with x more positives it adds ``P A[x] + C[x]`` to f."""

    own: int
    slope: FloatArray
    level: FloatArray


def _largest_of(order: _Order, most: int) -> tuple[float, int, bool]:
    """The best places of every number of positives up to `most`."""
    parts, exact = _parts(order, most)
    best = np.zeros(1)
    passed = 0
    for part in parts:
        width = min(best.size + part.slope.size - 2, most) + 1
        extended = np.full(width, -np.inf)
        reached = passed + np.arange(best.size)
        for x, (slope, level) in enumerate(zip(part.slope, part.level, strict=True)):
            here = (best + reached * slope + level)[: width - x]
            extended[x : x + here.size] = np.maximum(extended[x : x + here.size], here)
        best, passed = extended, passed + part.own
    return *_extreme(best, order.positives, highest=True), exact


def _parts(order: _Order, most: int) -> tuple[list[_Part], bool]:
    """Runs of untied rows, and ties; the lowest of them as one tie where they are too many."""
    above, own, free = _ties(order)
    tied = np.diff(order.start) > 1
    # A tie of which nothing is unknown, or a single row, belongs to the run around it.
    alone = tied & (free > 0)
    run = np.cumsum(alone | np.append(False, alone[:-1]))
    first = np.flatnonzero(np.append(True, run[1:] != run[:-1]))
    ends = np.append(first, run.size)
    sizes = np.minimum(np.add.reduceat(free, first), most) + 1
    work = np.cumsum(sizes) * (most + _STEP)
    kept = int(np.searchsorted(work, _WORK))
    parts = [
        _tie(above[begin], int(own[begin]), int(free[begin]), most)
        if alone[begin]
        else _run(order, above[begin], order.start[end], own[begin:end], above[begin:end], most)
        for begin, end in pairwise(ends[: kept + 1])
    ]
    if kept == first.size:
        return parts, True
    rest = ends[kept]
    return [*parts, _tie(above[rest], int(own[rest:].sum()), int(free[rest:].sum()), most)], False


def _tie(above: int, own: int, free: int, most: int) -> _Part:
    positives = own + np.arange(min(free, most) + 1.0)
    slope = ratio(positives, above + positives)
    return _Part(own, slope, slope * positives)


def _run(order: _Order, begin: int, end: int, own: IntArray, above: IntArray, most: int) -> _Part:
    """Untied rows, the x highest unlabelled ones positive; known ties among them are merged."""
    unknown = order.unknown[slice(*np.searchsorted(order.unknown, [begin, end]))][:most]
    known = np.repeat(above + own, own)  # a tie's positives arrive together
    passed = np.repeat(np.cumsum(own), own)
    inverse, before = 1.0 / (unknown + 1.0), np.searchsorted(known, unknown + 1)
    after = np.append(np.cumsum((1.0 / np.maximum(known, 1))[::-1])[::-1], 0.0)
    place = np.arange(1.0, unknown.size + 1.0)
    added = (np.append(0, passed)[before] + place) * inverse + after[before]
    slope = np.append(0.0, np.cumsum(inverse)) + after[0]
    level = np.append(0.0, np.cumsum(added)) + np.sum(passed / np.maximum(known, 1))
    return _Part(int(own.sum()), slope, level)


def _next(
    scores: Any, known: KnownLabels, order: _Order, most: int, capped: bool
) -> tuple[list[int], list[float]]:
    """Try unlabelled rows, evenly spaced in rank where all of them would take too long."""
    if not order.unknown.size:
        return [], []
    # Scores in order are sorted again in no time.
    sequence = order.rows[::-1]
    scores, place = scores[sequence], np.argsort(sequence)
    moved = np.argsort(place[known.rows])
    known = KnownLabels(place[known.rows][moved], known.positive[moved])
    cost = scores.size + (min(_WORK, order.unknown.size * (most + _STEP)) if capped else 0.0)
    tried = int(np.clip(_TRIED / cost, 2, order.unknown.size))
    places = np.unique(np.linspace(0, order.unknown.size - 1, tried).round().astype(np.int64))
    rows = np.sort(order.rows[order.unknown[places]])
    widths = np.array([_width_with(scores, known, int(place[row]), most) for row in rows])
    chosen = falling(-widths)[:_SHOWN]
    return rows[chosen].tolist(), widths[chosen].tolist()


def _width_with(scores: Any, known: KnownLabels, row: int, most: int) -> float:
    """Return the larger of the widths with the row positive and with the row negative."""
    place = int(np.searchsorted(known.rows, row))
    rows = np.insert(known.rows, place, row)
    left = scores.size - rows.size
    widths = [0.0]
    for label, allowed in ((False, most), (True, most - 1)):
        order = _Order.of(scores, KnownLabels(rows, np.insert(known.positive, place, label)))
        allowed = min(allowed, left)
        if allowed >= 0 and order.positives + allowed:
            found = _bounds(order, allowed)
            widths.append(found.high - found.low)
    return max(widths)

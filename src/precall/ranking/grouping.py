"""Sort the rows of many groups at once and cut them into one table: no loop over groups.

Rows are brought into the order (group, score descending) by one vectorised sort per distinct group
*size*: groups of equal size are the rows of a matrix, and sorting a matrix along its rows is much
faster than one long sort of all rows. The table of :class:`~precall.RankingSet` then follows from
linear passes over blocks of rows that stay in cache.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _threads, _validation
from ..exceptions import InputError
from . import Cells, counting

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

# Rows handled at a time: what a block needs fits into a cache. With smaller ones threads wait for
# each other more often.
BLOCK_ROWS = 262144
# Integer labels within a range this many times the number of rows are counted, not sorted.
_DENSE_RANGE = 4
# Looking at so many rows takes as long as sorting one.
_QUICK = 20
# All bits of a 64-bit integer but its sign.
_LOW_BITS = np.int64((1 << 63) - 1)


class Grouping(NamedTuple):
    """Which rows belong to which group.

    Rows ``order[starts[g]:starts[g + 1]]`` belong to group ``g``; `order` is None where the rows
    already lie together, group after group.
    """

    labels: Array
    starts: IntArray
    order: IntArray | None


class Packing(NamedTuple):
    """How scores of one dtype become integers of 63 bits: None for `scale` if they are integers."""

    scale: float | None


class Tables(NamedTuple):
    """The rankings of all groups, one below the other; `offsets` says where each begins."""

    offsets: IntArray
    threshold: Array
    cells: Cells
    squares: Cells | None
    rows: Cells | None


def as_group_labels(groups: object) -> Array:
    """Return the column of group labels; tuples and other hashables become objects."""
    if isinstance(groups, (list, tuple)) and any(isinstance(label, tuple) for label in groups[:1]):
        column = np.empty(len(groups), dtype=object)
        column[:] = groups
        return column
    return _validation.as_names(groups, "groups")


def group_rows(column: Array) -> Grouping:
    """Find the groups; labels in ascending order, or by first appearance if they do not sort."""
    heads = np.concatenate([[0], *_changes(column)])
    labels, codes = factorise(column[heads])
    _reject_missing(labels, column)
    lengths = np.diff(heads, append=column.size)
    sizes = np.bincount(codes, weights=lengths, minlength=labels.size).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    if labels.size == heads.size and (codes[1:] > codes[:-1]).all():
        return Grouping(labels, starts, None)
    return Grouping(labels, starts, stable_order(np.repeat(codes, lengths), labels.size))


def _reject_missing(labels: Array, column: Array) -> None:
    """Look among the distinct labels first: they are few."""
    try:
        _validation.reject_missing(labels, "groups")
    except InputError:
        _validation.reject_missing(column, "groups")


def _changes(column: Array) -> list[IntArray]:
    """Positions of rows whose label is not that of the row before, block by block."""

    def inside(first: int) -> IntArray:
        labels = column[first : first + BLOCK_ROWS + 1]
        return np.flatnonzero(_differ(labels[1:], labels[:-1])) + (first + 1)

    firsts = range(0, column.size, BLOCK_ROWS)
    return _threads.each_in_threads(inside, firsts, column.size // _QUICK)


def _differ(a: Array, b: Array) -> Mask:
    try:
        return np.asarray(a != b, dtype=np.bool_)
    except (TypeError, ValueError) as error:  # pandas.NA has no truth value
        _validation.reject_missing(np.concatenate([b, a[-1:]]), "groups")
        raise InputError(f"groups must hold labels that can be compared ({error}).") from error


def factorise(column: Array) -> tuple[Array, IntArray]:
    """Distinct labels and the position of each row's label among them."""
    kind = column.dtype.kind
    if kind in "iu":
        low, high = int(column.min()), int(column.max())
        if high - low < _DENSE_RANGE * column.size + 1000:
            wide = column.astype(np.uint64 if kind == "u" else np.int64, copy=False)
            shifted = (wide - wide.dtype.type(low)).astype(np.int64)
            present = np.bincount(shifted) > 0
            labels = np.flatnonzero(present).astype(wide.dtype) + wide.dtype.type(low)
            return labels.astype(column.dtype), (np.cumsum(present) - 1)[shifted]
    if kind in "biufmM":
        labels, codes = np.unique(column, return_inverse=True)
        return labels, codes.astype(np.int64)
    return _factorise_objects(column)


def _factorise_objects(column: Array) -> tuple[Array, IntArray]:
    """Hash labels of any kind; much faster than sorting strings."""
    listed = column.tolist()
    try:
        found = list(dict.fromkeys(listed))
    except TypeError as error:
        raise InputError(f"groups must hold hashable labels ({error}).") from error
    with contextlib.suppress(TypeError):  # labels of different kinds have no order
        found = sorted(found)
    position = {label: index for index, label in enumerate(found)}
    codes = np.fromiter(map(position.__getitem__, listed), dtype=np.int64, count=column.size)
    labels = np.empty(len(found), dtype=column.dtype)
    labels[:] = found
    return labels, codes


def stable_order(codes: IntArray, n_groups: int) -> IntArray:
    """Row numbers by group: a radix sort for few groups, else one sort of packed numbers."""
    if n_groups <= 1 << 16:
        return np.argsort(codes.astype(np.uint16), kind="stable").astype(np.int64, copy=False)
    bits = int(codes.size - 1).bit_length()
    if n_groups >> (63 - bits):
        return np.argsort(codes, kind="stable").astype(np.int64, copy=False)
    packed = codes << bits | np.arange(codes.size)
    packed.sort()
    return packed & ((1 << bits) - 1)


def tabulate(
    positive: Mask,
    scores: Array,
    weights: FloatArray | None,
    starts: IntArray,
    order: IntArray | None,
) -> Tables:
    """Rank every group; `starts` and `order` as in :class:`Grouping`."""
    packing = _packing(scores) if weights is None else None
    if order is not None:
        positive, scores = positive[order], scores[order]
        weights = None if weights is None else weights[order]
    sizes = np.diff(starts)
    uniform = bool(sizes.size) and bool((sizes == sizes[0]).all())
    if packing is not None and (uniform or not _any_loses_digits(scores, packing)):
        keys = None if uniform else _sorted_keys(pack(positive, scores, packing), starts)
        block = partial(_packed_block, positive, scores, keys, packing)
    else:
        if not uniform:
            positive, scores, weights = _sorted_rows(positive, scores, weights, starts)
        block = partial(_block, positive, scores, weights, uniform)
    edges = blocks(starts)
    tasks = [partial(block, starts[first : last + 1]) for first, last in pairwise(edges)]
    return _joined(_threads.in_threads(tasks, scores.size))


def _packing(scores: Array) -> Packing | None:
    """Say how score and label fit into 64 bits together, or None if they do not.

    A float whose absolute value is below 2 leaves the second-highest of its bits unused. Other
    finite floats get there by a power of two, which changes no digit unless `_loses_digits`. On the
    way it shows whether a score is missing.
    """
    if not scores.size:
        return None
    found = _threads.each_in_threads(
        lambda part: (part.min(), part.max()), _in_blocks(scores), scores.size // _QUICK
    )
    # NumPy's extremes are NaN where one of the numbers is; those of Python depend on the order.
    low, high = np.min([part[0] for part in found]), np.max([part[1] for part in found])
    if low != low:
        _validation.reject_missing(scores, "y_score")
    if scores.dtype.kind != "f":
        return Packing(None) if int(low) >= -(1 << 62) and int(high) < 1 << 62 else None
    if scores.dtype.itemsize > 8:
        return None
    largest = max(abs(float(low)), abs(float(high)))
    if not np.isfinite(largest):
        return None
    exponent = int(np.frexp(largest)[1]) - 1
    if exponent <= 0:
        return Packing(1.0)
    return None if exponent >= 1000 else Packing(float(np.ldexp(1.0, -exponent)))


def _any_loses_digits(scores: Array, packing: Packing) -> bool:
    """Ask :func:`_loses_digits` block by block, in threads."""
    asked = partial(_loses_digits, packing=packing)
    return any(_threads.each_in_threads(asked, _in_blocks(scores), scores.size // _QUICK))


def _loses_digits(scores: Array, packing: Packing) -> bool:
    """Return whether a score that is not 0 is so small that the scale would cost it digits."""
    if packing.scale is None or packing.scale == 1.0:
        return False
    near = np.abs(scores) < np.finfo(np.float64).tiny / packing.scale
    return bool(near.any() and scores[near].any())


def _in_blocks(scores: Array) -> list[Array]:
    return counting.pieces(scores, -(-scores.size // BLOCK_ROWS))


def pack(positive: Mask, scores: Array, packing: Packing) -> IntArray:
    """Integers that rise as scores fall, with the label in the lowest bit."""
    if packing.scale is None:
        keys = scores.astype(np.int64)
        np.invert(keys, out=keys)
    else:
        numbers = np.multiply(scores, -packing.scale, dtype=np.float64)
        numbers += 0.0  # makes one zero of -0.0 and 0.0
        keys = numbers.view(np.int64)
        negative = keys >> 63
        negative &= _LOW_BITS
        keys ^= negative
    keys <<= 1
    keys |= positive
    return keys


def unpack(keys: IntArray, packing: Packing, dtype: Any) -> Array:
    """Scores of keys without their label bit, exactly."""
    if packing.scale is None:
        return (~keys).astype(dtype)
    bits = keys ^ ((keys >> 63) & _LOW_BITS)
    return counting.one_zero(bits.view(np.float64) / -packing.scale).astype(dtype)


def blocks(starts: IntArray) -> IntArray:
    """Cut the groups into blocks of about equally many rows: where they begin, and the end."""
    targets = np.arange(0, starts[-1], BLOCK_ROWS)
    firsts = np.searchsorted(starts[:-1], targets)
    return np.unique(np.concatenate([[0], firsts, [starts.size - 1]]))


def _by_size(starts: IntArray) -> Iterator[IntArray]:
    """Row numbers of groups of one size as a matrix, one group per line."""
    sizes = np.diff(starts)
    by_size = np.argsort(sizes, kind="stable")
    edges = np.flatnonzero(np.diff(sizes[by_size], prepend=-1, append=-1))
    for first, last in pairwise(edges):
        size = int(sizes[by_size[first]])
        step = max(1, BLOCK_ROWS // max(size, 1))
        for begin in range(first, last, step):
            chosen = by_size[begin : min(begin + step, last)]
            yield starts[chosen][:, np.newaxis] + np.arange(size)


def _sorted_rows(
    positive: Mask, scores: Array, weights: FloatArray | None, starts: IntArray
) -> tuple[Mask, Array, FloatArray | None]:
    """Sort the rows inside every group by score, highest first."""
    out_positive, out_scores = np.empty_like(positive), np.empty_like(scores)
    out_weights = None if weights is None else np.empty_like(weights)

    def sort(rows: IntArray) -> None:
        ranked = np.take_along_axis(rows, np.argsort(scores[rows], axis=1)[:, ::-1], axis=1)
        out_positive[rows], out_scores[rows] = positive[ranked], scores[ranked]
        if weights is not None and out_weights is not None:
            out_weights[rows] = weights[ranked]

    _threads.in_threads([partial(sort, rows) for rows in _by_size(starts)], scores.size)
    return out_positive, out_scores, out_weights


def _sorted_keys(keys: IntArray, starts: IntArray) -> IntArray:
    """Sort packed rows inside every group, highest first."""
    out = np.empty_like(keys)

    def sort(rows: IntArray) -> None:
        out[rows] = np.sort(keys[rows], axis=1)

    _threads.in_threads([partial(sort, rows) for rows in _by_size(starts)], keys.size)
    return out


def _block(
    positive: Mask, scores: Array, weights: FloatArray | None, uniform: bool, starts: IntArray
) -> Tables:
    """Tables of the consecutive groups between `starts`, by sorting indices."""
    inside = slice(starts[0], starts[-1])
    label, score = positive[inside], scores[inside]
    weight = None if weights is None else weights[inside]
    starts = starts - starts[0]
    if uniform and score.size:
        ranked = np.argsort(score.reshape(starts.size - 1, -1), axis=1)[:, ::-1]
        rows = (ranked + starts[:-1, np.newaxis]).ravel()
        label, score = label[rows], score[rows]
        weight = None if weight is None else weight[rows]
    return cut_sorted(label, score, weight, starts)


def _packed_block(
    positive: Mask, scores: Array, keys: IntArray | None, packing: Packing, starts: IntArray
) -> Tables:
    """Tables of the consecutive groups between `starts`, by sorting score and label as one number.

    `keys` are sorted rows; without them the groups have one size and are sorted here.
    """
    inside = slice(starts[0], starts[-1])
    if keys is None and _loses_digits(scores[inside], packing):
        return _block(positive, scores, None, True, starts)
    starts = starts - starts[0]
    if keys is not None:
        ordered = keys[inside]
    else:
        packed = pack(positive[inside], scores[inside], packing).reshape(starts.size - 1, -1)
        packed.sort(axis=1)
        ordered = packed.ravel()
    label = (ordered.astype(np.int8) & 1).view(np.bool_)
    ours = np.flatnonzero(label)
    keys = ordered[ours]
    # A positive comes after all negatives of its score. Where groups meet, the row before may be
    # another group's: a doubt that is none.
    if ((ordered[ours - 1] | 1) == keys).any():
        tables = cut_sorted(label, ordered >> 1, None, starts)
    else:
        tables = _cut_at(ours, ours + 1, np.ones_like(ours), keys >> 1, starts)
    return tables._replace(threshold=unpack(tables.threshold, packing, scores.dtype))


def cut_sorted(label: Mask, score: Array, weight: FloatArray | None, starts: IntArray) -> Tables:
    """Cut rows sorted by (group, score descending) at every score that a positive has."""
    new = np.empty(score.size, dtype=np.bool_)
    np.not_equal(score[1:], score[:-1], out=new[1:])
    new[starts[:-1][starts[:-1] < score.size]] = True  # a group's first row; empty groups have none
    begin, end, count = _positive_runs(label, new)
    tables = _cut_at(begin, end, count, counting.one_zero(score[begin]), starts)
    if weight is None:
        return tables
    sums, squares = (
        _sum(values, label, begin, end, starts, tables.offsets)
        for values in (weight, weight * weight)
    )
    return tables._replace(cells=sums, squares=squares, rows=tables.cells)


def _cut_at(
    begin: IntArray, end: IntArray, count: IntArray, threshold: Array, starts: IntArray
) -> Tables:
    """Count the rows between runs of equal scores, each with its positives and its score."""
    offsets = np.searchsorted(begin, starts)
    return Tables(offsets, threshold, _count(begin, end, count, starts, offsets), None, None)


def _positive_runs(label: Mask, new: Mask) -> tuple[IntArray, IntArray, IntArray]:
    """Begin, end and positives of every run of equal scores that has a positive."""
    if new.all():  # no ties at all: every positive is a run
        begin = np.flatnonzero(label)
        return begin, begin + 1, np.ones_like(begin)
    runs = np.flatnonzero(new)
    members = np.add.reduceat(label, runs, dtype=np.int64)
    chosen = np.flatnonzero(members)
    return runs[chosen], np.append(runs, label.size)[chosen + 1], members[chosen]


def _count(
    begin: IntArray, end: IntArray, count: IntArray, starts: IntArray, offsets: IntArray
) -> Cells:
    """Number of rows per cell; a group's gaps begin where its rows begin."""
    previous = np.empty_like(begin)
    previous[1:] = end[:-1]
    filled = offsets[:-1] < offsets[1:]
    previous[offsets[:-1][filled]] = starts[:-1][filled]
    below = np.diff(starts)
    below[filled] = starts[1:][filled] - end[offsets[1:][filled] - 1]
    return Cells(count, end - begin - count, begin - previous, below)


def _sum(
    values: FloatArray,
    label: Mask,
    begin: IntArray,
    end: IntArray,
    starts: IntArray,
    offsets: IntArray,
) -> Cells:
    """Sums of `values` per cell, laid out as :func:`_count` does."""
    ours = np.where(label, values, 0.0)
    # All edges in the order of the rows: a group's start, then begin and end of each of its ties.
    edges = np.empty(2 * begin.size + starts.size, dtype=np.int64)
    row_at = 2 * np.arange(begin.size) + np.repeat(np.arange(1, starts.size), np.diff(offsets))
    start_at = 2 * offsets + np.arange(starts.size)
    edges[row_at], edges[row_at + 1], edges[start_at] = begin, end, starts
    negatives = counting.segment_sums(values - ours, edges)
    return Cells(
        counting.segment_sums(ours, edges)[row_at],
        negatives[row_at],
        negatives[row_at - 1],
        negatives[start_at[1:] - 1],
    )


def _joined(parts: list[Tables]) -> Tables:
    """Put the tables of consecutive groups below each other, column by column."""
    ends = np.cumsum([part.threshold.size for part in parts])
    offsets = [
        part.offsets[1:] + end - part.threshold.size for part, end in zip(parts, ends, strict=True)
    ]
    held = [name for name in ("cells", "squares", "rows") if getattr(parts[0], name) is not None]
    columns = [
        [part.threshold for part in parts],
        *([getattr(part, name)[field] for part in parts] for name in held for field in range(4)),
    ]
    threshold, *fields = _threads.each_in_threads(np.concatenate, columns, int(ends[-1]))
    kinds = {name: Cells(*fields[4 * at : 4 * at + 4]) for at, name in enumerate(held)}
    return Tables(
        np.concatenate([[0], *offsets]),
        threshold,
        kinds["cells"],
        kinds.get("squares"),
        kinds.get("rows"),
    )

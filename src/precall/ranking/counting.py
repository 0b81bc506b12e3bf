"""The only code that touches every row: split, sort, and count between thresholds.

A *shard* is a sorted piece of one class. Many negatives are sorted in several shards, each by a
thread, because counts on the same thresholds add; the same property lets data that never meet in
one memory be ranked exactly. The shards depend on the data only, never on the number of cores, and
sums of weights inside them not on the order of the rows: they are the same on every machine.

Counts between ``K`` thresholds are kept as ``2 K + 1`` *segments* in ascending order of score::

    below, tied[K-1], between[K-2, K-1], ..., tied[0], above everything
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _threads

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Pieces in which many negatives are sorted. More would make finding the thresholds in them slower.
_SHARDS = 4
# Powers of two that leave room for finer units under them.
_FAR = 800
# Deviations of so many values stay in cache. With fewer, threads wait for the interpreter's lock
# more often than they add up.
_MOMENT_BLOCK = 1 << 17
# So many thresholds are looked for at once, between the places of the first and of the next ones.
_CUT_BLOCK = 4096


def shard_rows(n_positives: int, n_negatives: int, n_rows: int | None = None) -> list[slice]:
    """Return the rows of each shard of the negatives: several where sorting them takes longest.

    `n_rows` are more than both together where some rows are left out.
    """
    total = n_positives + n_negatives
    alone = total < _threads.THREADING_PAYS or n_negatives < 2 * n_positives
    edges = np.linspace(0, n_rows or total, 2 if alone else _SHARDS + 1).astype(np.int64).tolist()
    return [slice(start, stop) for start, stop in pairwise(edges)]


def pieces(values: Array, count: int) -> list[Array]:
    """Cut an array into `count` contiguous views."""
    if count == 1:
        return [values]
    edges = np.linspace(0, values.size, count + 1).astype(np.int64)
    return [values[start:stop] for start, stop in pairwise(edges)]


def select(values: Array, mask: npt.NDArray[np.bool_], share: float) -> Array:
    """Copy the marked values, the faster way for their share.

    A boolean index is fastest where the mask hardly ever changes, and slow where its branches
    cannot be predicted; there a list of positions is faster.
    """
    return values.compress(mask) if 0.05 < share < 0.95 else values[mask]


def sorted_with_weights(scores: Array, weights: FloatArray) -> tuple[Array, FloatArray]:
    """Sort rows by score; which of two equal scores comes first is up to the processor."""
    order = np.argsort(scores)
    return scores[order], weights[order]


def one_zero(thresholds: Array) -> Array:
    """Make one zero of -0.0 and 0.0: as scores they are equal, and either may be found first."""
    return thresholds + 0.0 if thresholds.dtype.kind == "f" else thresholds


def distinct(ascending: Array) -> tuple[Array, IntArray]:
    """Return the distinct values of a sorted array and where each begins (plus the end)."""
    if ascending.size == 0:
        return ascending, np.zeros(1, dtype=np.int64)
    starts = np.flatnonzero(ascending[1:] != ascending[:-1])
    if starts.size == ascending.size - 1:
        return ascending, np.arange(ascending.size + 1, dtype=np.int64)
    edges = np.empty(starts.size + 2, dtype=np.int64)
    edges[0], edges[-1] = 0, ascending.size
    np.add(starts, 1, out=edges[1:-1])
    return ascending[edges[:-1]], edges


def tally(ascending: Array) -> tuple[Array, IntArray]:
    """Return the distinct values of a sorted array and how often each occurs."""
    if np.count_nonzero(ascending[1:] != ascending[:-1]) >= ascending.size - 1:
        ones = np.empty(ascending.size, dtype=np.int64)
        ones.fill(1)
        return ascending, ones
    values, edges = distinct(ascending)
    return values, np.diff(edges)


def segment_edges(shard: Array, thresholds: Array) -> IntArray:
    """Return the ``2 K + 2`` positions that cut a sorted shard at ascending thresholds."""
    edges = np.empty(2 * thresholds.size + 2, dtype=np.int64)
    edges[0], edges[-1] = 0, shard.size
    edges[1:-1:2], edges[2:-1:2] = cut(shard, thresholds)
    return edges


def cut(shard: Array, thresholds: Array) -> tuple[IntArray, IntArray]:
    """Count the members of a sorted shard under, and at or under, each ascending threshold.

    Where no member sits on a threshold, the two are one array.
    """
    if thresholds.size <= _CUT_BLOCK:
        return _cut_at_once(shard, thresholds)
    under, tied = np.empty(thresholds.size, dtype=np.int64), []
    # What lies between two blocks of thresholds is near, and a shorter way to search.
    edges = [*shard.searchsorted(thresholds[::_CUT_BLOCK]).tolist(), shard.size]
    for number, (first, last) in enumerate(pairwise(edges)):
        block = slice(number * _CUT_BLOCK, (number + 1) * _CUT_BLOCK)
        found, upto = _cut_at_once(shard[first:last], thresholds[block])
        np.add(found, first, out=under[block])
        if upto is not found:
            tied.append((block, upto + first))
    if not tied:
        return under, under
    reached = under.copy()
    for block, upto in tied:
        reached[block] = upto
    return under, reached


def _cut_at_once(shard: Array, thresholds: Array) -> tuple[IntArray, IntArray]:
    under = shard.searchsorted(thresholds)
    if not shard.size:
        return under, under
    # A second search only where a member sits exactly on a threshold. Clipped to the last
    # member where all are under the threshold, and then the two are not equal either.
    at = (shard.take(under, mode="clip") == thresholds).nonzero()[0]
    if not at.size:
        return under, under
    upto = under.copy()
    upto[at] = np.searchsorted(shard, thresholds[at], side="right")
    return under, upto


def segment_sums(values: FloatArray, edges: IntArray) -> FloatArray:
    """Sum `values` over the segments that `edges` cut; empty segments sum to zero.

    The sums are the same to the last bit for every order of the values inside a segment, so they
    do not depend on how a processor sorts equal scores. Each value is cut into two whole numbers of
    some 40 bits, in units that only the largest value decides, and whole numbers add exactly. What
    lies below the second is less than ``2**-80`` of the largest value.
    """
    sums = np.zeros(edges.size - 1)
    starts = edges[:-1]
    filled = np.flatnonzero(edges[1:] > starts)
    largest = float(np.abs(values).max(initial=0.0))
    if not filled.size or largest == 0.0:
        return sums
    exponent = math.frexp(largest)[1]
    if abs(exponent) > _FAR:  # the units would overflow or vanish
        return np.ldexp(segment_sums(np.ldexp(values, -exponent), edges), exponent)
    coarse_unit, fine_unit = units(largest, values.size)
    coarse = np.rint(values / coarse_unit)
    fine = np.rint((values - coarse * coarse_unit) / fine_unit)
    for part, unit in ((coarse, coarse_unit), (fine, fine_unit)):
        sums[filled] += np.add.reduceat(part.astype(np.int64), starts[filled]) * unit
    return sums


def units(largest: float, size: int) -> tuple[float, float]:
    """The coarse and the fine unit in which :func:`segment_sums` adds up whole numbers."""
    bits = 62 - size.bit_length()
    coarse = math.ldexp(1.0, math.frexp(largest)[1] - bits)
    return coarse, math.ldexp(coarse, -bits)


def sum_of(values: FloatArray) -> float:
    """Sum in any order to the same bits; see :func:`segment_sums`."""
    return float(segment_sums(values, np.array([0, values.size]))[0])


def count_below(shards: Sequence[Array], thresholds: Array) -> tuple[IntArray, IntArray]:
    """`cut` for all the members of all shards together; the work runs in threads."""
    rows = sum([shard.size for shard in shards]) + thresholds.size
    if len(shards) == 1:
        if rows < _threads.THREADING_PAYS:
            return cut(shards[0], thresholds)
        # One shard: cut the thresholds instead.
        parts = pieces(thresholds, _threads.available_cores())
        found = _threads.in_threads([partial(cut, shards[0], part) for part in parts], rows)
        join: Callable[[list[IntArray]], IntArray] = np.concatenate
    else:
        found = _threads.in_threads([partial(cut, shard, thresholds) for shard in shards], rows)
        join = partial(np.sum, axis=0)
    if len(found) == 1:
        return found[0]
    under = join([each[0] for each in found])
    if all(each[0] is each[1] for each in found):
        return under, under
    return under, join([each[1] for each in found])


def mean_and_deviation(ascending: Array, weights: FloatArray | None = None) -> tuple[float, float]:
    """Return the (weighted) mean and sum of squared deviations of sorted finite values.

    One pass in blocks that stay in cache, shifted by the median so that nothing cancels.
    Infinite values, which sorting has put at the ends, and finite ones so far apart that the
    sum could overflow give NaN.
    """
    if ascending.size == 0:
        return np.nan, np.nan
    low, high = float(ascending.item(0)), float(ascending.item(-1))
    total = float(ascending.size) if weights is None else sum_of(weights)
    if not math.isfinite((high - low) * (high - low) * total):
        return np.nan, np.nan
    shift = float(ascending.item(ascending.size // 2))
    if weights is not None:
        # Rows of one score come in any order, so their products are added in none.
        deviation = np.subtract(ascending, shift, dtype=np.float64)
        first, second = sum_of(deviation * weights), sum_of(deviation * deviation * weights)
    else:
        first, second = _blockwise(ascending, shift)
    squares = second - first * (first / total)
    return shift + first / total, max(squares, 0.0)


def _blockwise(ascending: Array, shift: float) -> tuple[float, float]:
    """Sum of deviations from `shift` and of their squares, in blocks that stay in cache."""
    first = second = 0.0
    for start in range(0, ascending.size, _MOMENT_BLOCK):
        block = slice(start, start + _MOMENT_BLOCK)
        deviation = np.subtract(ascending[block], shift, dtype=np.float64)
        first += float(np.add.reduce(deviation))
        deviation *= deviation
        second += float(np.add.reduce(deviation))  # the last bits of BLAS differ by processor
    return first, second


def combine_moments(
    weight_a: float, a: tuple[float, float], weight_b: float, b: tuple[float, float]
) -> tuple[float, float]:
    """Mean and squared deviations of the union of two samples (Chan, Golub & LeVeque 1983)."""
    if weight_a == 0:
        return b
    if weight_b == 0:
        return a
    total = weight_a + weight_b
    step = b[0] - a[0]
    return a[0] + step * weight_b / total, a[1] + b[1] + step * step * weight_a * weight_b / total

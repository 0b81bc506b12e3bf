"""From rows to the fields of a ranking: split by class, sort, cut, count."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _threads, _validation
from . import counting
from .later_moments import CLASSES, FEW_ROWS, combined
from .number_layout import Cells

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def count_rows(
    positive: Mask, scores: Array, kept: Array | None = None, order: IntArray | None = None
) -> dict[str, Any]:
    """Return the fields of the ranking of unweighted rows, its running sums and its totals.

    `kept` are scores to count at, ascending, whether a positive has them or not. `order` are the
    rows by rising score, where that is known; nothing is sorted then.
    """
    if order is None:
        classes = _sorted_classes(positive, scores)
        _reject_nan(scores, classes)
    else:
        classes = [scores[rows] for rows in _classes_of(order, positive)]
    return _count_sorted(classes, scores.size, kept)


def count_classes(classes: list[Array], kept: Array | None = None) -> dict[str, Any]:
    """Count the scores of the positives, and of parts of the negatives, which are sorted here."""
    rows = sum([each.size for each in classes])
    _threads.each_in_threads(np.ndarray.sort, classes, rows)
    return _count_sorted(classes, rows, kept)


def _count_sorted(classes: list[Array], rows: int, kept: Array | None) -> dict[str, Any]:
    ours, *parts = classes
    size = sum([part.size for part in parts])
    threshold, positives = counting.tally(ours)
    if kept is not None:
        threshold, positives = _with_kept(threshold, kept, positives)
    if threshold is ours:  # all distinct
        reached = np.arange(1, ours.size + 1, dtype=np.int64)
    else:
        positives = positives[::-1].copy()
        reached = np.cumsum(positives)
    counted = {
        "threshold": np.ascontiguousarray(counting.one_zero(threshold[::-1])),
        "positives": positives,
        "tp": reached,
        "n_pos": ours.size,
        "n_neg": size,
        **_negatives(*counting.count_below(parts, threshold), size),
    }
    if rows < FEW_ROWS:
        counted[CLASSES] = classes
    else:
        found = _threads.each_in_threads(counting.mean_and_deviation, classes, rows)
        counted["moments"] = combined(found, [part.size for part in parts])
    return counted


def _sorted_classes(positive: Mask, scores: Array) -> list[Array]:
    """Return the sorted scores of the positives and of each shard of the negatives."""
    n_pos = int(np.count_nonzero(positive))
    share = n_pos / scores.size
    negative = ~positive
    if scores.size < _threads.THREADING_PAYS:
        classes = [
            counting.select(scores, positive, share),
            counting.select(scores, negative, 1.0 - share),
        ]
        for each in classes:
            each.sort()  # a copy of its own
        return classes

    def selected(rows: slice, label: Mask, of_rows: float) -> Array:
        found = counting.select(scores[rows], label[rows], of_rows)
        found.sort()
        return found

    shards = counting.shard_rows(n_pos, scores.size - n_pos)
    tasks = [partial(selected, slice(None), positive, share)]
    tasks += [partial(selected, rows, negative, 1.0 - share) for rows in shards]
    return _threads.in_threads(tasks, scores.size)


def _classes_of(order: IntArray, positive: Mask) -> list[IntArray]:
    """Cut rows in order into the positives and the same shards of negatives as without it."""
    label = positive[order]
    share = np.count_nonzero(label) / label.size
    ours = counting.select(order, label, share)
    theirs = counting.select(order, ~label, 1.0 - share)
    shards = counting.shard_rows(ours.size, theirs.size)
    if len(shards) == 1:
        return [ours, theirs]
    shard = sum((theirs >= rows.start).astype(np.int8) for rows in shards[1:])
    return [ours, *(theirs[shard == number] for number in range(len(shards)))]


def _negatives(under: IntArray, upto: IntArray, size: int) -> dict[str, Any]:
    """Return the cells of the negatives from their counts under and up to each threshold."""
    tied = np.zeros(under.size, dtype=np.int64) if upto is under else (upto - under)[::-1].copy()
    above = np.empty(under.size, dtype=np.int64)
    below = size
    if under.size:
        above[0] = size - upto.item(-1)
        np.subtract(under[:0:-1], upto[-2::-1], out=above[1:])
        below = under.item(0)
    # What is not under a threshold are its false positives, so they need no running sum.
    return {"tied": tied, "above": above, "below": below, "fp": size - under[::-1]}


def _with_kept(threshold: Array, kept: Array, *counts: Array) -> tuple[Array, ...]:
    """Add scores to ascending thresholds, with zeros for the counts there."""
    joined = np.union1d(threshold, kept)
    where = np.searchsorted(joined, threshold)
    spread = []
    for values in counts:
        wider = np.zeros(joined.size, dtype=values.dtype)
        wider[where] = values
        spread.append(wider)
    return joined, *spread


def weigh_rows(
    positive: Mask,
    scores: Array,
    weights: FloatArray,
    kept: Array | None = None,
    order: IntArray | None = None,
) -> dict[str, Any]:
    """Return the fields of the ranking of weighted rows; the rest as in :func:`count_rows`.

    Weights need the order of their rows, so this path sorts indices; each thread takes a part.
    With an `order` no weight may be zero.
    """
    if order is None:
        _validation.reject_missing(scores, "y_score")  # also where the weight is zero
        parts = _sorted_with_weights(positive, scores, weights)
    else:
        parts = [(scores[rows], weights[rows]) for rows in _classes_of(order, positive)]
    (ours, our_weights), negatives = parts[0], parts[1:]
    threshold, edges = counting.distinct(ours)
    positives, squared, rows = (
        counting.segment_sums(our_weights, edges),
        counting.segment_sums(our_weights * our_weights, edges),
        np.diff(edges),
    )
    if kept is not None:
        threshold, positives, squared, rows = _with_kept(threshold, kept, positives, squared, rows)

    def summed(shard: Array, shard_weights: FloatArray) -> tuple[Array, Array, Array]:
        cut = counting.segment_edges(shard, threshold)
        return (
            counting.segment_sums(shard_weights, cut),
            counting.segment_sums(shard_weights * shard_weights, cut),
            np.diff(cut),
        )

    segments = _threads.in_threads([partial(summed, *part) for part in negatives], scores.size)
    sums, squares, counts = (np.sum(kind, axis=0) for kind in zip(*segments, strict=True))
    moments = [counting.mean_and_deviation(*part) for part in parts]
    return _fields(
        threshold,
        positives,
        sums,
        squares=_descending(squared, squares),
        rows=_descending(rows, counts),
        moments=combined(moments, [counting.sum_of(part[1]) for part in negatives]),
        divisible=bool(np.any(our_weights != np.rint(our_weights))),
    )


def _sorted_with_weights(
    positive: Mask, scores: Array, weights: FloatArray
) -> list[tuple[Array, FloatArray]]:
    used = weights > 0
    chosen = [np.flatnonzero(positive & used), np.flatnonzero(~positive & used)]
    shards = counting.shard_rows(chosen[0].size, chosen[1].size, scores.size)
    ends = np.searchsorted(chosen[1], [rows.start for rows in shards[1:]])
    index = [chosen[0], *np.split(chosen[1], ends)]

    def ordered(rows: IntArray) -> tuple[Array, FloatArray]:
        return counting.sorted_with_weights(scores[rows], weights[rows])

    return _threads.in_threads([partial(ordered, rows) for rows in index], scores.size)


def _descending(positives: Array, segments: Array) -> Cells:
    """Turn ascending positives and segments into the cells of a ranking."""
    falling = segments[::-1]
    return Cells(
        np.ascontiguousarray(positives[::-1]),
        np.ascontiguousarray(falling[1::2]),
        np.ascontiguousarray(falling[:-1:2]),
        falling[-1].item(),
    )


def _fields(threshold: Array, positives: Array, segments: Array, **extra: Any) -> dict[str, Any]:
    cells = _descending(positives, segments)
    falling = counting.one_zero(threshold[::-1])
    return {"threshold": np.ascontiguousarray(falling), **cells._asdict(), **extra}


def _reject_nan(scores: Array, sorted_parts: list[Array]) -> None:
    """Sorting puts NaN last, so one look per part is enough."""
    if scores.dtype.kind != "f":
        return
    for part in sorted_parts:
        if part.size and part[-1] != part[-1]:
            _validation.reject_missing(scores, "y_score")

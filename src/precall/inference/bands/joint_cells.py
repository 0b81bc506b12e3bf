"""Rows of one class as two models rank them, and the random weights that both rankings share.

Cumulated weights are looked at between two rows only, of either model. Rows that no look can tell
apart, in neither model, are one unit: the sum of k exponential weights has a gamma distribution
of shape k, so one number is drawn for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._cached import cached_property

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Classes up to this size are drawn row by row, larger ones in cells of neighbouring ranks.
_MOST_ROWS = 4096
# Neighbouring cells of ranks grow by this factor away from either end: inside a cell a share of
# about a quarter of it of the variance is lost to linear interpolation.
_CELL_GROWTH = 1.04


@dataclass(frozen=True, kw_only=True, eq=False)
class JointUnits:
    """Cells of rows of a class as both models rank them.

    `counts` are rows per unit, ascending; for each model `edges` are rows before each of its
    positions and `position` says where each unit stands.
    """

    counts: IntArray
    edges: tuple[FloatArray, FloatArray]
    position: tuple[IntArray, IntArray]

    def draw(self, rng: np.random.Generator, draws: int) -> FloatArray:
        """Draw the weight of every unit: the sum of an exponential one per row (units, draws)."""
        weights = np.empty((self.counts.size, draws))
        starts = np.flatnonzero(np.diff(self.counts, prepend=0, append=0))
        for first, last in pairwise(starts):
            count = int(self.counts[first])
            if count == 1:
                rng.standard_exponential(out=weights[first:last])
            else:
                rng.standard_gamma(count, out=weights[first:last])
        return weights

    def cumulated(self, weights: FloatArray, model: int) -> FloatArray:
        """Weight before each position of a model, and the total at the end (draws, positions+1)."""
        order, starts = self._ordered[model]
        cumulated = np.zeros((self.edges[model].size, weights.shape[1]))
        np.add.reduceat(weights[order], starts, axis=0, out=cumulated[1:])
        np.cumsum(cumulated, axis=0, out=cumulated)
        return np.ascontiguousarray(cumulated.T)

    @cached_property
    def _ordered(self) -> list[tuple[IntArray, IntArray]]:
        """For each model its units by position, and where each position begins."""
        orders = [np.argsort(position, kind="stable") for position in self.position]
        return [
            (order, np.flatnonzero(np.diff(position[order], prepend=-1)))
            for order, position in zip(orders, self.position, strict=True)
        ]


def joint_units(
    falling: tuple[IntArray, IntArray], reach: tuple[tuple[float, float], tuple[float, float]]
) -> JointUnits:
    """Put the rows of a class, in the order of both models, into units.

    `reach` says for each model between which numbers of rows before it a place is looked at.
    """
    edges = (_reached(falling[0].size, reach[0]), _reached(falling[1].size, reach[1]))
    lengths = [np.diff(each).astype(np.int64) for each in edges]
    second = np.empty(int(falling[1].max()) + 1, dtype=np.int32)
    second[falling[1]] = np.repeat(np.arange(lengths[1].size, dtype=np.int32), lengths[1])
    first = np.repeat(np.arange(lengths[0].size) * lengths[1].size, lengths[0])
    code, counts = _counted(first + second[falling[0]], lengths[0].size * lengths[1].size)
    order = np.argsort(counts, kind="stable")
    position = np.divmod(code[order], lengths[1].size)
    return JointUnits(counts=counts[order], edges=edges, position=position)


def _counted(codes: IntArray, most: int) -> tuple[IntArray, IntArray]:
    """Distinct codes, all under `most`, and how often each occurs."""
    if most > max(4 * codes.size, 1 << 20):
        return np.unique(codes, return_counts=True)
    every = np.bincount(codes)
    found = np.flatnonzero(every)
    return found, every[found]


def _reached(size: int, reach: tuple[float, float]) -> FloatArray:
    """Rows before each cell, cells that lie outside of the reach taken as one on either side."""
    edges = np.arange(size + 1.0) if size <= _MOST_ROWS else _cell_edges(size)
    first = max(int(np.searchsorted(edges, reach[0], side="right")) - 1, 0)
    last = min(int(np.searchsorted(edges, reach[1], side="left")), edges.size - 1)
    return np.unique(np.concatenate([[0.0], edges[first : last + 1], [size]]))


def _cell_edges(size: int) -> FloatArray:
    """Rows before each cell: narrow cells at both ends, where the curve's detail is."""
    steps = np.arange(np.ceil(np.log(size) / np.log(_CELL_GROWTH)))
    half = np.unique(np.floor(_CELL_GROWTH**steps))
    half = half[half <= size / 2]
    return np.unique(np.concatenate([[0.0], half, size - half, [size]]))


def falling_rows(
    scores: npt.NDArray[Any],
    order: IntArray,
    positive: npt.NDArray[np.bool_],
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray]:
    """Positives, and negatives, the highest score first, tied rows of a class in random order.

    `order` are all rows by rising score.
    """
    falling = order[::-1]
    label, values = positive[falling], scores[falling]
    ours, theirs = (
        _untied(falling[chosen], values[chosen], rng.random) for chosen in (label, ~label)
    )
    return ours, theirs


def _untied(
    rows: IntArray, values: npt.NDArray[Any], numbers: Callable[[int], FloatArray]
) -> IntArray:
    """Put rows of equal value into the order of some numbers."""
    new = np.append(True, values[1:] != values[:-1])
    if not new.all():
        tied = np.flatnonzero(~new | ~np.append(new[1:], True))
        rows[tied] = rows[tied][np.lexsort((numbers(tied.size), np.cumsum(new)[tied]))]
    return rows

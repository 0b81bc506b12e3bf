"""What clusters change about slices and their rests: effective sizes, variances, what is shared.

A cluster is in a slice with some of its rows and in the rest with the others. Everything is a sum
over pairs of a slice and a cluster that has rows in it, or over the clusters outside of a slice;
the formulas are those of :mod:`precall.inference.clusters`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._cached import cached_property
from .._numerics import ratio
from ..inference.clusters import design_size
from ..ranking import Cells
from ..ranking.grouping import factorise
from ..rows import Rows
from .slice_rests import WholeRanking
from .slice_values import Clustered, Gradient
from .sorted_slices import SortedSlices

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Counting(NamedTuple):
    """Whether the top-ranked negative counts once more, and clusters by their design effect."""

    top: bool
    design_effect: bool


@dataclass(frozen=True, eq=False)
class SliceClusters:
    """Pairs of a slice and a cluster that has rows in it, for the slices of a cut."""

    rows: Rows
    one: SortedSlices

    @cached_property
    def _pairs(self) -> tuple[IntArray, IntArray, IntArray]:
        cluster, count = _cluster(self.rows)
        key = self.one.slice_of_row * count + cluster[self.one.rows]
        if not key.size:
            return key, key, key
        found, pair = factorise(key)
        return pair, *np.divmod(found, count)

    @property
    def slice_of_pair(self) -> IntArray:
        """The slice of each pair."""
        return self._pairs[1]

    @property
    def cluster_of_pair(self) -> IntArray:
        """The cluster of each pair."""
        return self._pairs[2]

    def summed(self, values: FloatArray) -> FloatArray:
        """Sum one value per row of the slices over each pair."""
        return _summed(self._pairs[0], values, self.slice_of_pair.size)

    def by_slice(self, values: Array | None) -> FloatArray:
        """Sum one value per pair over each slice."""
        return _summed(self.slice_of_pair, values, self.one.n_slices)

    @cached_property
    def rows_of_pair(self) -> IntArray:
        """Number of rows of each pair."""
        return np.bincount(self._pairs[0], minlength=self.slice_of_pair.size)

    @cached_property
    def weight(self) -> FloatArray:
        """The weight of each row of the slices."""
        return _weights(self.rows)[self.one.rows]

    @cached_property
    def masses(self) -> tuple[FloatArray, FloatArray]:
        """The weight of the positives and of the negatives of each pair."""
        label = self.rows.positive[self.one.rows]
        return self.summed(self.weight * label), self.summed(self.weight * ~label)

    def clustered(self, moved: FloatArray, gradient: Gradient, counts: Counting) -> Clustered:
        """Return what the slices have; `moved` are the contributions of their rows."""
        ours, theirs = (self.by_slice(mass) ** 2 / self.by_slice(mass**2) for mass in self.masses)
        if counts.design_effect:
            ours, theirs = self._design_sizes(moved, (ours, theirs))
        count = self.by_slice(None)
        variance = self.by_slice(self.summed(moved) ** 2) * ratio(count, count - 1.0)
        if counts.top:
            variance += self._top(gradient) ** 2
        return Clustered((ours, theirs), variance)

    def _design_sizes(
        self, moved: FloatArray, clusters: tuple[FloatArray, FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Rows over their design effect, class by class."""
        label, inside, count = (
            self.rows.positive[self.one.rows],
            self.one.slice_of_row,
            self.one.n_slices,
        )
        sizes = []
        for own, size in zip((label, ~label), clusters, strict=True):
            weight, part = self.weight * own, moved * own
            mass, square = (_summed(inside, weight**power, count) for power in (1, 2))
            sizes.append(
                design_size(
                    mass**2 / square,
                    size,
                    self.by_slice(self.summed(part) ** 2),
                    _summed(inside, part**2, count),
                )
            )
        return sizes[0], sizes[1]

    def _top(self, gradient: Gradient) -> FloatArray:
        """What the cluster with the top-ranked negative of each slice contributes."""
        one, values = self.one, gradient.values
        below = values.below[one.rankings.group_of_row]
        excess = one.of_negatives(
            values._replace(
                above=values.above - below, tied=values.tied - below, below=0.0 * values.below
            ),
            gradient.factor,
        )
        segment, inside = one.segment_of_row, one.slice_of_row
        negative = ~self.rows.positive[one.rows]
        beyond = np.where(negative, segment, excess.size)
        highest = np.minimum.reduceat(beyond, one.starts[:-1])
        sums = np.abs(self.summed(np.where(negative, excess[segment] * self.weight, 0.0)))
        top = np.flatnonzero(beyond == highest[inside])
        found = np.zeros(one.n_slices)
        np.maximum.at(found, inside[top], sums[self._pairs[0][top]])
        mass, square = (
            _summed(inside[negative], self.weight[negative] ** power, one.n_slices)
            for power in (1, 2)
        )
        return np.maximum(found, np.abs(excess[highest]) * square / mass)


class Outside(NamedTuple):
    """What one rest has: sizes, variance, and the sum of the contributions of every cluster."""

    ours: float
    theirs: float
    variance: float
    sums: FloatArray


class OutsideClusters:
    """Sums over the clusters outside of one slice after the other."""

    def __init__(self, rows: Rows, model: str, whole: WholeRanking) -> None:
        self._positive, self._place = rows.positive, whole.place
        self._cluster, self._count = _cluster(rows)
        self._weight = _weights(rows)
        self._falling = rows.order(model)[::-1]
        places = 2 * len(whole.coarse) + 1
        self._starts = np.searchsorted(whole.place[self._falling], np.arange(places + 1))
        self._ours = np.flatnonzero(rows.positive)
        self._sizes = np.bincount(self._cluster, minlength=self._count)
        self._masses = [
            _summed(self._cluster, self._weight * own, self._count)
            for own in (rows.positive, ~rows.positive)
        ]

    def of(
        self,
        clusters: SliceClusters,
        number: int,
        rest: Cells,
        gradient: Gradient,
        counts: Counting,
    ) -> Outside:
        """Return what the rest of a slice has: `rest` are its rows per cell."""
        inside = np.zeros(self._place.size, dtype=np.bool_)
        inside[clusters.one.rows[slice(*clusters.one.starts[number : number + 2])]] = True
        pairs = slice(*np.searchsorted(clusters.slice_of_pair, [number, number + 1]))
        there = clusters.cluster_of_pair[pairs]
        ours, theirs = (mass.copy() for mass in self._masses)
        ours[there] -= clusters.masses[0][pairs]
        theirs[there] -= clusters.masses[1][pairs]
        excess = _by_place(gradient.values) - gradient.values.below
        excess *= gradient.factor
        # A negative contributes its excess over one below every positive, and what that one does.
        moved = np.where(self._positive | inside, 0.0, excess[self._place])
        negatives = _summed(self._cluster, moved * self._weight, self._count)
        own, outside = self._ours[~inside[self._ours]], np.flatnonzero(~(self._positive | inside))
        moved = gradient.centred.positives[self._place[own] // 2] * self._weight[own]
        sums = _summed(self._cluster[own], moved, self._count) + negatives
        below = gradient.centred.below * gradient.factor
        sums += below * theirs
        emptied = clusters.rows_of_pair[pairs] == self._sizes[there]
        count = self._count - np.count_nonzero(emptied)
        variance = float(np.sum(sums**2)) * (count / (count - 1.0))
        if counts.top:
            variance += self._top(rest, inside, excess, negatives) ** 2
        sizes = _kish(ours), _kish(theirs)
        if counts.design_effect:
            other = (excess[self._place] + below) * self._weight
            sizes = (
                self._design_size(own, moved, sizes[0]),
                self._design_size(outside, other[outside], sizes[1]),
            )
        return Outside(*sizes, variance, sums)

    def _design_size(self, rows: IntArray, moved: FloatArray, clusters: float) -> float:
        """Rows over their design effect; `moved` are their contributions."""
        sums, weight = _summed(self._cluster[rows], moved, self._count), self._weight[rows]
        single = np.sum(weight) ** 2 / np.sum(weight**2)
        return float(design_size(single, clusters, sums @ sums, moved @ moved))

    def _top(self, rest: Cells, inside: Mask, excess: FloatArray, negatives: FloatArray) -> float:
        """What the cluster with the top-ranked negative of a rest contributes."""
        found = np.asarray(rest.positives) > 0
        before = np.append(0, np.cumsum(found))
        # Places in the ranking of the rest alone, which has no rows without positives.
        own = np.append(
            np.stack([2 * before[:-1], 2 * before[:-1] + found], axis=-1), 2 * before[-1]
        )
        first = int(np.argmax(_by_place(rest) > 0))
        low, high = (np.searchsorted(own, own[first], side) for side in ("left", "right"))
        rows = self._falling[self._starts[low] : self._starts[high]]
        rows = rows[~(self._positive | inside)[rows]]
        weight = self._weight[~(self._positive | inside)]
        alone = abs(float(excess[first])) * float(np.sum(weight**2) / np.sum(weight))
        return max(float(np.abs(negatives[self._cluster[rows]]).max()), alone)


def _summed(code: IntArray, values: Array | None, count: int) -> FloatArray:
    """Sum values (or count them) by code."""
    return np.bincount(code, values, count).astype(np.float64, copy=False)


def _by_place(cells: Cells) -> Array:
    """Values of negatives above each threshold, at it, ..., and below all."""
    return np.append(np.stack([cells.above, cells.tied], axis=-1), cells.below)


def _kish(mass: FloatArray) -> float:
    return float(np.sum(mass) ** 2 / np.sum(mass**2))


def _cluster(rows: Rows) -> tuple[IntArray, int]:
    if rows.cluster is None:
        raise ValueError("rows have no clusters")
    return rows.cluster, rows.n_clusters


def _weights(rows: Rows) -> FloatArray:
    return np.ones(len(rows)) if rows.weight is None else rows.weight

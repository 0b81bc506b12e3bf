"""Rows that are drawn together, and where each stands in the ranking of each model.

A unit is what a resample takes or leaves as a whole: a cluster, or all rows that no model tells
apart. Sorting happens once; a replicate is a product of a sparse matrix (cells by units) with the
numbers of times that the units were drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import numpy.typing as npt

from ..ranking import Cells
from ..rows import Rows
from .resampling import Multinomial

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def row_values(place: IntArray, positive: npt.NDArray[np.bool_], values: Cells) -> FloatArray:
    """Give every row the value of its cell."""
    segments = np.append(np.stack([values.above, values.tied], axis=-1).ravel(), values.below)
    found = segments[place]
    ours = np.flatnonzero(positive)
    row = np.minimum(place[ours] // 2, values.positives.size - 1)
    found[ours] = values.positives[row]
    return found


def contributions(rows: Rows, place: IntArray, values: Cells, slope: float) -> FloatArray:
    """First-order contribution of every row: weight times derivative, centred in its class.

    `slope` is the derivative by the log odds of the prevalence; 0 with sampling by classes.
    """
    value = row_values(place, rows.positive, values)
    offsets = []
    for chosen, sign in ((rows.positive, 1.0), (~rows.positive, -1.0)):
        weight = chosen.astype(np.float64) if rows.weight is None else chosen * rows.weight
        total = np.sum(weight)
        offsets.append((np.einsum("i,i", value, weight) - sign * slope) / total)
    value -= np.where(rows.positive, *offsets)
    return value if rows.weight is None else value * rows.weight


def per_unit(rows: Rows, column: FloatArray, sizes: tuple[float, float]) -> FloatArray:
    """Bring contributions to what is drawn, rows or clusters: products add up to covariances."""
    if rows.cluster is None:
        factors = (math.sqrt(size / max(size - 1.0, 1e-9)) for size in sizes)
        return np.asarray(column * np.where(rows.positive, *factors))
    count = rows.n_clusters
    return np.asarray(np.bincount(rows.cluster, column, count) * math.sqrt(count / (count - 1.0)))


def covariance_of(rows: Rows, columns: FloatArray, sizes: tuple[float, float]) -> FloatArray:
    """Covariance matrix from contributions, one column per model."""
    return products([per_unit(rows, column, sizes) for column in columns.T])


def products(columns: Sequence[FloatArray]) -> FloatArray:
    """Sums of products of all pairs of columns."""
    result = np.empty((len(columns), len(columns)))
    for i, j in combinations_with_replacement(range(len(columns)), 2):
        result[i, j] = result[j, i] = columns[i] @ columns[j]
    return result


class Units:
    """Draws of units, and the cells that each model's ranking then has.

    Parameters
    ----------
    rows : Rows
    places : sequence of arrays
        `locate` for each model.
    n_thresholds : sequence of int
        Thresholds of each model.
    together : bool
        Whether to draw rows whatever their class. Mixed clusters are always drawn so.

    Attributes
    ----------
    mixed : bool
        Whether some cluster has rows of both classes: then only `rebalanced` cells keep the
        prevalence.
    strata : list of arrays
        Units that are drawn from each other's places.
    """

    def __init__(
        self, rows: Rows, places: Sequence[IntArray], n_thresholds: Sequence[int], *, together: bool
    ) -> None:
        unit, counts, positive = _units(rows, places)
        self.mixed = positive is None
        self.n_units = counts.size
        self.unit_of_row = unit
        strata = [np.arange(counts.size)]
        if positive is not None and not together:
            strata = [np.flatnonzero(positive), np.flatnonzero(~positive)]
        self.strata = strata
        self._strata = [(stratum, Multinomial(counts[stratum])) for stratum in strata]
        self.counts = counts
        # Rows that no model tells apart are one unit: one drawn row brings one row's weight.
        share = 1.0 if rows.cluster is not None else 1.0 / counts[unit]
        weight = (1.0 if rows.weight is None else rows.weight) * share
        self.weight = np.broadcast_to(weight, unit.shape)
        self._matrices = [
            _matrix(rows.positive, unit, place, self.weight, size, counts.size)
            for place, size in zip(places, n_thresholds, strict=True)
        ]
        self.n_cells = max(self.n_units, 3 * max(n_thresholds) + 1)

    def draw(self, rng: np.random.Generator, size: int) -> IntArray:
        """Return how often each unit is drawn, (size, units)."""
        drawn = np.empty((size, self.n_units), dtype=np.int64)
        for stratum, sampler in self._strata:
            drawn[:, stratum] = sampler.draw(rng, size)
        return drawn

    def cells(self, drawn: Array, model: int = 0) -> Cells:
        """Return the cells of a model when units count as often as they were drawn."""
        matrix, size = self._matrices[model]
        product = np.ascontiguousarray((matrix @ drawn.T.astype(np.float64)).T)
        segments = product[:, size:]
        return Cells(product[:, :size], segments[:, 1:-1:2], segments[:, :-1:2], segments[:, -1])


def _units(
    rows: Rows, places: Sequence[IntArray]
) -> tuple[IntArray, IntArray, npt.NDArray[np.bool_] | None]:
    """Unit of every row, rows per unit to draw from, and the class of each unit if it has one."""
    if rows.cluster is not None:
        count = rows.n_clusters
        positives = np.bincount(rows.cluster, rows.positive, count)
        size = np.bincount(rows.cluster, minlength=count)
        pure = bool(np.all((positives == 0) | (positives == size)))
        return rows.cluster, np.ones(count, dtype=np.int64), positives > 0 if pure else None
    if rows.weight is not None:
        every = np.arange(rows.positive.size)
        return every, np.ones(every.size, dtype=np.int64), rows.positive
    code = rows.positive.astype(np.int64)
    for place in places:
        code = np.unique(code * (int(place.max()) + 1) + place, return_inverse=True)[1]
    counts = np.bincount(code)
    positive = np.zeros(counts.size, dtype=np.bool_)
    positive[code[rows.positive]] = True
    return code, counts, positive


def _matrix(
    positive: npt.NDArray[np.bool_],
    unit: IntArray,
    place: IntArray,
    weight: FloatArray,
    size: int,
    n_units: int,
) -> tuple[Any, int]:
    """Sparse matrix from units to the cells ``positives, above_0, tied_0, above_1, ..., below``."""
    from scipy.sparse import csr_array

    cell = np.where(positive, place // 2, size + place)
    shape = (3 * size + 1, n_units)
    return csr_array((weight, (cell, unit)), shape=shape), size


def rebalanced(cells: Cells, odds: float) -> Cells:
    """Weight the negatives of every replicate so that it has the odds of the sample."""
    n = np.sum(cells.positives, axis=-1)
    m = np.sum(cells.above, axis=-1) + np.sum(cells.tied, axis=-1) + cells.below
    factor = n / (m * odds)
    column = factor[:, np.newaxis]
    return Cells(cells.positives, cells.tied * column, cells.above * column, cells.below * factor)

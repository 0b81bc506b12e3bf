"""The swap test: exchange the ranks of two models in random rows.

Under the hypothesis that the two models' ranks are exchangeable in every row, every exchange is as
likely as the one observed. Ranks, not scores, are exchanged, so the two scales need not be alike.
All values are located once among the thresholds of both models; an exchange moves rows between
cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..metrics import Metric
from ..ranking import Cells
from ..ranking.grouping import stable_order
from ..rows import Rows
from .resampling import Progress, replicate

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def swap_differences(
    rows: Rows,
    metric: Metric,
    first: Array,
    second: Array,
    n_resamples: int,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> FloatArray:
    """Return the difference of the metric, first minus second, after random exchanges."""
    swaps = _Swaps(rows, metric, midranks(first), midranks(second))
    differences: FloatArray = replicate(
        swaps, swaps.statistic, n_resamples, rng=rng, progress=progress
    )
    return differences


def midranks(scores: Array) -> FloatArray:
    """Rank from 1 for the lowest score; equal scores share the mean of their ranks.

    Examples
    --------
    >>> midranks(np.array([10, 30, 20, 30]))
    array([1. , 3.5, 2. , 3.5])
    """
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks: FloatArray = (np.cumsum(counts) - 0.5 * (counts - 1))[inverse]
    return ranks


def _places(
    first: FloatArray, second: FloatArray, positive: npt.NDArray[np.bool_]
) -> tuple[int, tuple[IntArray, IntArray]]:
    """Count the ranks of positives in both models, and place every row among them.

    Places are as in :func:`precall.rows.locate`. Twice a midrank is a small whole number, so a
    table of all of them is faster than a million searches.
    """
    twice = (2.0 * first).astype(np.int64), (2.0 * second).astype(np.int64)
    marked = np.zeros(2 * positive.size + 1, dtype=np.bool_)
    for ranks in twice:
        marked[ranks[positive]] = True
    reached = np.cumsum(marked)
    size = int(reached[-1])
    table = 2 * (size - reached) + marked
    return size, (table[twice[0]], table[twice[1]])


def _numbered(code: IntArray) -> tuple[IntArray, IntArray]:
    """Number the distinct codes in ascending order: which one each row has, and how often it is."""
    order = stable_order(code, int(code.max()) + 1)
    ascending = code[order]
    new = np.append(True, ascending[1:] != ascending[:-1])
    number = np.empty(code.size, dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    return number, np.diff(np.append(np.flatnonzero(new), code.size))


class _Swaps:
    """Draws which units are exchanged; rows that stand alike in both models are one unit."""

    def __init__(self, rows: Rows, metric: Metric, first: Array, second: Array) -> None:
        from scipy.sparse import csr_array

        self._metric = metric
        positive = rows.positive
        self._size, places = _places(first, second, positive)
        if rows.cluster is not None:
            unit, self._counts = rows.cluster, np.ones(rows.n_clusters, dtype=np.int64)
        elif rows.weight is not None:
            unit, self._counts = np.arange(positive.size), np.ones(positive.size, dtype=np.int64)
        else:
            code = (places[0] * (2 * self._size + 1) + places[1]) * 2 + positive
            unit, self._counts = _numbered(code)
        weight = np.ones(positive.size) if rows.weight is None else rows.weight
        share = weight / (1.0 if rows.cluster is not None else self._counts[unit])
        shape = (3 * self._size + 1, self._counts.size)
        cells = [np.where(positive, place // 2, self._size + place) for place in places]
        matrices = [csr_array((share, (cell, unit)), shape=shape) for cell in cells]
        self._own = [np.bincount(cell, weight, shape[0]) for cell in cells]
        self._exchange = matrices[1] - matrices[0]
        self.n_cells = max(shape)

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Any, Cells | None]:
        """Draw the number of exchanged rows of every unit."""
        return rng.binomial(self._counts, 0.5, size=(size, self._counts.size)), None

    def statistic(self, drawn: Any, _: Cells | None) -> FloatArray:
        """Difference of the metric after the exchanges."""
        moved = np.ascontiguousarray((self._exchange @ drawn.T.astype(np.float64)).T)
        # What was subtracted back to nothing must be nothing.
        first, second = (
            np.maximum(own + sign * moved, 0.0)
            for own, sign in zip(self._own, (1, -1), strict=True)
        )
        difference: FloatArray = self._value(first) - self._value(second)
        return difference

    def _value(self, cells: FloatArray) -> Any:
        segments = cells[:, self._size :]
        return self._metric.value(
            Cells(cells[:, : self._size], segments[:, 1:-1:2], segments[:, :-1:2], segments[:, -1])
        )

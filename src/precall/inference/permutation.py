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
from ..rows import Rows, locate
from .resampling import Progress, replicate

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]


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


class _Swaps:
    """Draws which units are exchanged; rows that stand alike in both models are one unit."""

    def __init__(self, rows: Rows, metric: Metric, first: Array, second: Array) -> None:
        from scipy.sparse import csr_array

        self._metric = metric
        positive = rows.positive
        threshold = np.unique(np.concatenate([first[positive], second[positive]]))[::-1]
        self._size = threshold.size
        places = locate(threshold, first), locate(threshold, second)
        if rows.cluster is not None:
            unit, self._counts = rows.cluster, np.ones(rows.n_clusters, dtype=np.int64)
        elif rows.weight is not None:
            unit, self._counts = np.arange(positive.size), np.ones(positive.size, dtype=np.int64)
        else:
            code = (places[0] * (2 * self._size + 1) + places[1]) * 2 + positive
            unit, self._counts = np.unique(code, return_inverse=True, return_counts=True)[1:]
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

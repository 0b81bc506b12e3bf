"""The swap test: exchange the ranks of two models in random rows.

Under the hypothesis that the two models' ranks are exchangeable in every row, every exchange is as
likely as the one observed. Ranks, not scores, are exchanged, so the two scales need not be alike.
All values are located once among the thresholds of both models; an exchange moves rows between
cells, and a cell counts the rows that came and those that went.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..metrics import Metric
from ..ranking import Cells
from ..rows import Rows
from .resampling import Progress, replicate

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
_Pair = tuple[IntArray, IntArray]

# Draws that one random byte per row decides.
_LANES = 8
_WORD = 64


def swap_differences(
    rows: Rows,
    metric: Metric,
    first: str,
    second: str,
    n_resamples: int,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> FloatArray:
    """Return the difference of the metric, first model minus second, after random exchanges."""
    swaps = _Swaps(rows, metric, first, second)
    differences: FloatArray = replicate(
        swaps,
        swaps.statistic,
        n_resamples,
        rng=rng,
        progress=progress,
        at_least=swaps.at_least,
    )
    return differences


def twice_midranks(ascending: Array) -> IntArray:
    """Twice the rank of every score, from 1 for the lowest; equal ones share the mean rank.

    Examples
    --------
    >>> twice_midranks(np.array([10, 20, 30, 30]))
    array([2, 4, 7, 7])
    """
    starts = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1]))
    counts = np.diff(starts, append=ascending.size)
    return np.repeat(2 * starts + counts + 1, counts)


def cells_of_both(rows: Rows, first: str, second: str) -> tuple[int, _Pair]:
    """Count the ranks of positives in both models, and put every row into a cell for each model.

    Cells are ``positives, above_0, tied_0, above_1, ..., below``, as the ranks of positives in
    either model cut them.
    """
    orders = rows.order(first), rows.order(second)
    labels = [rows.positive[order] for order in orders]
    ranks = [
        twice_midranks(rows.scores[name][order])
        for name, order in zip((first, second), orders, strict=True)
    ]
    # Twice a midrank is a small whole number, so a table of all of them finds every row's place.
    marked = np.zeros(2 * len(rows) + 1, dtype=np.bool_)
    for rank, label in zip(ranks, labels, strict=True):
        marked[rank[label]] = True
    reached = np.cumsum(marked)
    size = int(reached[-1])
    found = np.empty((2, len(rows)), dtype=np.int64)
    for cell, order, rank, label in zip(found, orders, ranks, labels, strict=True):
        threshold = size - reached[rank]
        cell[order] = np.where(label, threshold, size + 2 * threshold + marked[rank])
    return size, (found[0], found[1])


class _Swaps:
    """Draws which rows are exchanged, and computes what the metrics are then."""

    def __init__(self, rows: Rows, metric: Metric, first: str, second: str) -> None:
        self._metric = metric
        self._size, cells = cells_of_both(rows, first, second)
        n_cells = 3 * self._size + 1
        self._own = [np.bincount(cell, rows.weight, n_cells) for cell in cells]
        # Rows that stand alike in both models change nothing.
        moving = np.flatnonzero(cells[0] != cells[1])
        pair = cells[0][moving], cells[1][moving]
        weight = None if rows.weight is None else rows.weight[moving]
        unit = None if rows.cluster is None else rows.cluster[moving]
        self._exchange: _Bits | _Numbers
        if weight is not None:
            self._exchange = _Numbers.of_weights(pair, n_cells, weight, unit)
        elif unit is None and n_cells**2 <= len(rows):
            self._exchange = _Numbers.of_counts(pair, n_cells)
        else:
            self._exchange = _Bits(pair, n_cells, unit)
        self.at_least = self._exchange.at_least
        self.n_cells = max(n_cells, self._exchange.n_units)

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Any, Cells | None]:
        """Draw what the exchanged rows add to every cell of the first model."""
        return self._exchange.draw(rng, size), None

    def statistic(self, moved: Any, _: Cells | None) -> FloatArray:
        """Difference of the metric after the exchanges."""
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


class _Bits:
    """A random bit for every row, or for all rows of a cluster.

    The bits of several draws are spread over the lanes of one word per row, so wide that the rows
    of no cell overflow them: one addition counts for all of these draws.
    """

    def __init__(self, cells: _Pair, n_cells: int, unit: IntArray | None) -> None:
        self._cells, self._n_cells, self._unit = cells, n_cells, unit
        most = max(int(np.bincount(cell, minlength=1).max()) for cell in cells)
        self._width = max(most.bit_length(), _WORD // _LANES)
        self.at_least = _WORD // self._width
        self.n_units = cells[0].size if unit is None else int(unit.max(initial=0)) + 1
        lanes = np.arange(self.at_least, dtype=np.uint64)
        self._shifts = lanes * np.uint64(self._width)
        bits = np.arange(1 << _LANES, dtype=np.uint64)[:, np.newaxis] >> lanes & np.uint64(1)
        self._spread = np.bitwise_or.reduce(bits << self._shifts, axis=1)

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw the change of every cell (size, cells)."""
        moved = np.empty((size, self._n_cells))
        for first in range(0, size, self.at_least):
            came, went = self._counted(np.frombuffer(rng.bytes(self.n_units), dtype=np.uint8))
            rest = moved[first : first + self.at_least]
            np.subtract(came[: len(rest)], went[: len(rest)], out=rest)
        return moved

    def _counted(self, drawn: npt.NDArray[np.uint8]) -> list[FloatArray]:
        """Exchanged rows that come into every cell, and that leave it (lanes, cells)."""
        words = self._spread[drawn if self._unit is None else drawn[self._unit]]
        counted = []
        for cell in self._cells[::-1]:
            sums = np.zeros(self._n_cells, dtype=np.uint64)
            np.add.at(sums, cell, words)
            lane = sums >> self._shifts[:, np.newaxis]
            lane &= np.uint64((1 << self._width) - 1)
            counted.append(lane.astype(np.float64))
        return counted


class _Numbers:
    """A random number for every row, or kind of rows: of exchanged rows, or their weight."""

    at_least = 1

    def __init__(
        self,
        cells: _Pair,
        n_cells: int,
        counts: IntArray,
        weight: FloatArray | float = 1.0,
        unit: IntArray | slice = slice(None),
    ) -> None:
        self._cells, self._n_cells = cells, n_cells
        self._counts, self._weight, self._unit = counts, weight, unit
        self.n_units = counts.size

    @classmethod
    def of_counts(cls, cells: _Pair, n_cells: int) -> _Numbers:
        """Take rows together that stand alike: of them a binomial number is exchanged."""
        every = np.bincount(cells[0] * n_cells + cells[1], minlength=1)
        kinds = np.flatnonzero(every)
        first, second = np.divmod(kinds, n_cells)
        return cls((first, second), n_cells, every[kinds])

    @classmethod
    def of_weights(
        cls, cells: _Pair, n_cells: int, weight: FloatArray, unit: IntArray | None
    ) -> _Numbers:
        """Exchange each row, or all rows of a cluster, or not."""
        units = weight.size if unit is None else int(unit.max(initial=0)) + 1
        every = slice(None) if unit is None else unit
        return cls(cells, n_cells, np.ones(units, dtype=np.int64), weight, every)

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw the change of every cell (size, cells)."""
        moved = np.empty((size, self._n_cells))
        for change in moved:
            number = rng.binomial(self._counts, 0.5)[self._unit] * self._weight
            went, came = (np.bincount(cell, number, self._n_cells) for cell in self._cells)
            np.subtract(came, went, out=change)
        return moved

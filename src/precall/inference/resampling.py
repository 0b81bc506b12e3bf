"""The bootstrap on counts: replicates of a ranking without its rows and without sorting.

To draw n positives with replacement is to draw how many fall on each threshold: a multinomial
over the rows of the :class:`~precall.Ranking`; the negatives likewise fall into the gaps and ties
between the thresholds. The distribution is that of resampling the rows themselves, exactly, and a
replicate costs as much as there are positives, however many negatives there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .._numerics import ratio
from .._parallel import run_blocks
from ..metrics import Metric
from ..ranking import Cells, Ranking

IntArray = npt.NDArray[np.int64]
Progress = Callable[[int, int], object]

# Elements of a block of replicates: about what a core's cache holds.
_BLOCK_ELEMENTS = 2**17
# Nanoseconds, measured: only their ratio matters, and only to speed.
_COST_OF_BINOMIAL = 70.0
_COST_OF_INDEX = 6.0


class Resampler(Protocol):
    """Draws blocks of replicates."""

    @property
    def n_cells(self) -> int:
        """Numbers per replicate."""

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Cells, Cells | None]:
        """Draw `size` replicates: their cells and, with weights, their squared weights."""


def replicate(
    resampler: Resampler,
    statistic: Callable[[Cells, Cells | None], Any],
    n_resamples: int,
    *,
    rng: np.random.Generator,
    workers: int | None = None,
    progress: Progress | None = None,
    at_least: int = 1,
) -> Any:
    """Return the statistic of every replicate; replicates run along the last axis.

    Replicates are drawn in blocks of a size that depends on the data only, each block with a
    generator of its own, so the result does not depend on the number of workers. `at_least` is for
    a resampler that draws so many replicates as fast as one.
    """
    size = min(n_resamples, max(at_least, _BLOCK_ELEMENTS // max(resampler.n_cells, 1)))
    n_blocks = -(-n_resamples // size)

    def block(generator: np.random.Generator) -> Any:
        return statistic(*resampler.draw(generator, size))

    results = run_blocks(
        block,
        n_blocks,
        rng=rng,
        workers=1 if n_blocks == 1 else workers,
        progress=progress
        and (lambda done, _: progress(min(done * size, n_resamples), n_resamples)),
    )
    return np.concatenate(results, axis=-1)[..., :n_resamples]


class Multinomial:
    """Draws of a fixed total over cells with given counts, by the cheapest exact way.

    One binomial per filled cell, given those before it, when cells are few; else one random row
    number per draw, looked up and counted.
    """

    def __init__(self, counts: IntArray) -> None:
        self.n_cells = counts.size
        self.total = int(counts.sum())
        self._filled = np.flatnonzero(counts)
        filled = self._filled.size
        self.by_binomials = filled * _COST_OF_BINOMIAL < self.total * _COST_OF_INDEX
        self._all_filled = filled == counts.size
        if self.by_binomials:
            self._shares = counts[self._filled] / self.total
        elif not (self._all_filled and filled == self.total):
            self._cell_of_row = np.repeat(np.arange(counts.size), counts)

    def draw(self, rng: np.random.Generator, size: int) -> IntArray:
        """Draw `size` replicates."""
        if self.by_binomials:
            drawn = rng.multinomial(self.total, self._shares, size=size)
            if self._all_filled:
                return drawn
            cells = np.zeros((size, self.n_cells), dtype=np.int64)
            cells[:, self._filled] = drawn
            return cells
        index = rng.integers(self.total, size=(size, self.total))
        if hasattr(self, "_cell_of_row"):
            index = self._cell_of_row[index]
        index += self.n_cells * np.arange(size)[:, np.newaxis]
        counted = np.bincount(index.ravel(), minlength=size * self.n_cells)
        return counted.reshape(size, self.n_cells)


class RankingResampler:
    """Replicates of a ranking, the two classes drawn apart or together.

    Parameters
    ----------
    ranking : Ranking
    together : bool
        Draw rows whatever their class, so that prevalence varies; replicates in which a class is
        empty are drawn again. Else each class keeps its number of rows.
    merge_ties : bool
        Count tied negatives as negatives above, for a metric that does not tell them apart.

    Notes
    -----
    With weights, rows are drawn with their weights. A cell knows the number of its rows and the
    sum and the sum of squares of their weights: where these are equal within the cell the draw is
    exact, else the weight that a cell's draws bring is a gamma variable with the right mean and
    variance. To resample unequal weights exactly, use :func:`precall.interval` of
    :class:`~precall.Rows` in which each row is its own cluster.
    """

    def __init__(
        self, ranking: Ranking, *, together: bool = False, merge_ties: bool = False
    ) -> None:
        counts = ranking.rows or ranking.cells
        self._layout = "apart" if np.any(counts.tied) and not merge_ties else "merged"
        self._weights = None
        if ranking.squares is not None:
            cells = zip(ranking.cells, ranking.squares, counts, strict=True)
            self._weights = [_mean_and_deviation(*cell) for cell in cells]
            self._layout = "apart"
        segments = self._segments(counts)
        self._missed = bool(ranking.missed)
        positives = np.asarray(counts.positives)
        if self._missed:  # one more cell of positives, the last one
            positives = np.append(positives, counts.missed)
        self._positives = positives.size
        self._samplers = (
            [Multinomial(np.concatenate([positives, segments]))]
            if together
            else [Multinomial(positives), Multinomial(segments)]
        )
        self.n_cells = sum(sampler.n_cells for sampler in self._samplers)

    def _segments(self, counts: Cells) -> IntArray:
        if self._layout == "merged":
            return np.append(counts.above + counts.tied, counts.below)
        return np.append(np.stack([counts.above, counts.tied], axis=-1).ravel(), counts.below)

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Cells, Cells | None]:
        """Draw `size` replicates."""
        if len(self._samplers) == 2:
            positives, segments = (sampler.draw(rng, size) for sampler in self._samplers)
        else:
            drawn = self._draw_both_classes(rng, size)
            positives, segments = drawn[:, : self._positives], drawn[:, self._positives :]
        missed: Any = 0
        if self._missed:
            positives, missed = positives[:, :-1], positives[:, -1]
        if self._layout == "merged":
            nothing = np.zeros(1, dtype=np.int64)
            cells = Cells(positives, nothing, segments[:, :-1], segments[:, -1], missed)
        else:
            tied, above = segments[:, 1:-1:2], segments[:, :-1:2]
            cells = Cells(positives, tied, above, segments[:, -1], missed)
        if self._weights is None:
            return cells, None
        weighted = [
            _weighted(rng, count, *weight)
            for count, weight in zip(cells, self._weights, strict=True)
        ]
        return Cells(*(sums for sums, _ in weighted)), Cells(*(squares for _, squares in weighted))

    def _draw_both_classes(self, rng: np.random.Generator, size: int) -> IntArray:
        sampler = self._samplers[0]
        drawn = sampler.draw(rng, size)
        while True:
            n_pos = drawn[:, : self._positives].sum(axis=-1)
            empty = np.flatnonzero((n_pos == 0) | (n_pos == sampler.total))
            if not empty.size:
                return drawn
            drawn[empty] = sampler.draw(rng, empty.size)


def _mean_and_deviation(weight: Any, square: Any, rows: Any) -> tuple[Any, Any, Any]:
    """Mean weight of a cell's rows, its variance, and the mean square."""
    mean, mean_square = ratio(weight, rows), ratio(square, rows)
    variance = mean_square - mean * mean
    # Equal weights leave rounding errors only.
    return mean, np.where(variance > 1e-9 * mean_square, variance, 0.0), mean_square


def _weighted(
    rng: np.random.Generator, count: IntArray, mean: Any, variance: Any, mean_square: Any
) -> tuple[Any, Any]:
    """Turn numbers of drawn rows into sums of weights and of squared weights."""
    sums = count * mean
    if np.any(variance > 0):
        uneven = (variance > 0) & (count > 0)
        scale = np.broadcast_to(ratio(variance, mean), count.shape)[uneven]
        sums[uneven] = scale * rng.standard_gamma(sums[uneven] / scale)
    return sums, count * mean_square


def merge_runs(ranking: Ranking) -> Ranking:
    """Make one row of every run of positives with no negative between them."""
    joined = (ranking.above[1:] == 0) & (ranking.tied[1:] == 0) & (ranking.tied[:-1] == 0)
    last = np.append(np.flatnonzero(~joined), len(ranking) - 1)
    return Ranking(threshold=ranking.threshold[last], **ranking.cells.merged(last)._asdict())


def resampler_for(metric: Metric, ranking: Ranking, *, together: bool) -> RankingResampler:
    """Return the resampler of a ranking that serves a metric."""
    # Rows of unequal weight must stay apart to be drawn exactly.
    if metric.merges_runs and not ranking.weighted:
        ranking = merge_runs(ranking)
    return RankingResampler(ranking, together=together, merge_ties=metric.ignores_ties)

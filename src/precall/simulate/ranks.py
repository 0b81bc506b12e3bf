"""Many data sets ranked at once, for simulations: no Python loop over data sets.

What :func:`precall.rank` is for one data set, `rank_batch` is for a block of data sets of equal
size: the same table of counts, with one more axis in front.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from precall._cached import cached_property
from precall.exceptions import InputError
from precall.ranking import Cells, Moments, Ranking

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


class BatchMoments(NamedTuple):
    """Mean and sum of squared deviations of the scores per class, one number per data set."""

    positives: tuple[FloatArray, FloatArray]
    negatives: tuple[FloatArray, FloatArray]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RankingBatch:
    """The fields of :class:`precall.Ranking` for many data sets of n positives, m negatives each.

    Axis 0 is the data set, axis 1 the threshold, highest first. A data set whose positives are
    tied has fewer than n thresholds: the rows left over stand at the end with all counts 0 (and
    the last threshold again), so that they repeat the last point and add nothing to a sum.

    Parameters
    ----------
    threshold : array (data sets, n)
        Distinct scores of positives, descending.
    positives, tied, above : int64 array (data sets, n)
        Positives at the threshold, negatives at it, and negatives between it and the one before.
        Without ties the first two are the constants 1 and 0 and take no memory.
    below : int64 array (data sets,)
        Negatives under the last threshold.
    n_thresholds : int64 array (data sets,)
        Number of rows that are not left over.
    n_neg : int
        Negatives in each data set.
    has_ties : bool
        Whether any positive is tied, with a positive or with a negative.
    moments : BatchMoments, optional
        Mean and sum of squared deviations of the scores per class.
    """

    threshold: Array
    positives: IntArray
    tied: IntArray
    above: IntArray
    below: IntArray
    n_thresholds: IntArray
    n_neg: int
    has_ties: bool
    moments: BatchMoments | None = None

    @property
    def n_pos(self) -> int:
        """Positives in each data set."""
        return int(self.positives.shape[1])

    @property
    def cells(self) -> Cells:
        """The four count fields as one object, for functions that work on the last axis."""
        return Cells(self.positives, self.tied, self.above, self.below)

    @cached_property
    def tp(self) -> IntArray:
        """True positives at each threshold."""
        if self.has_ties:
            return np.cumsum(self.positives, axis=1)
        return np.broadcast_to(np.arange(1, self.n_pos + 1), self.positives.shape)

    @cached_property
    def fp(self) -> IntArray:
        """False positives at each threshold, those tied with it included."""
        return np.cumsum(self.above + self.tied if self.has_ties else self.above, axis=1)

    def __len__(self) -> int:
        """Return the number of data sets."""
        return int(self.above.shape[0])

    def __getitem__(self, index: int) -> Ranking:
        """Return one data set as a :class:`precall.Ranking`."""
        rows = slice(0, int(self.n_thresholds[index]))
        return Ranking(
            threshold=self.threshold[index, rows],
            positives=self.positives[index, rows],
            tied=self.tied[index, rows],
            above=self.above[index, rows],
            below=int(self.below[index]),
            moments=self.moments
            and Moments(*((float(mean[index]), float(sum_[index])) for mean, sum_ in self.moments)),
        )

    def __repr__(self) -> str:
        """Return one line with the sizes."""
        ties = ", with ties" if self.has_ties else ""
        return f"RankingBatch({len(self)} data sets, n_pos={self.n_pos}, n_neg={self.n_neg}{ties})"


def rank_batch(positives: Array, negatives: Array, *, moments: bool = False) -> RankingBatch:
    """Rank many data sets at once.

    Each class of each data set is sorted, and the negatives above each positive are counted by a
    binary search that runs in all data sets together. Ties are found, not declared, and exact.

    Parameters
    ----------
    positives, negatives : arrays (data sets, n) and (data sets, m)
        Scores, as `Scenario.sample_scores` draws them. Blocks of 10⁵ to 10⁶ scores are fastest.
    moments : bool
        Whether to keep mean and squared deviations of the scores, for the binormal estimator.

    Examples
    --------
    >>> from precall.simulate import Binormal, rank_batch
    >>> batch = rank_batch(*Binormal().sample_scores(10, 90, size=1000, rng=0))
    >>> batch
    RankingBatch(1000 data sets, n_pos=10, n_neg=90)
    >>> average_precision = (batch.positives * batch.tp / (batch.tp + batch.fp)).sum(axis=1) / 10
    >>> average_precision.shape
    (1000,)
    >>> batch[0]
    Ranking(n_pos=10, n_neg=90, prevalence=0.1, thresholds=10, tied=0 %)
    """
    positives, negatives = np.asarray(positives), np.asarray(negatives)
    if positives.ndim != 2 or negatives.ndim != 2 or len(positives) != len(negatives):
        raise InputError(
            "positives and negatives must have shapes (data sets, n) and (data sets, m), got "
            f"{positives.shape} and {negatives.shape}."
        )
    if positives.shape[1] == 0:
        raise InputError("positives must have at least one score per data set, got none.")
    kept = BatchMoments(_moments(positives), _moments(negatives)) if moments else None
    positives, negatives = np.sort(positives, axis=1), np.sort(negatives, axis=1)
    for name, ascending in (("positives", positives), ("negatives", negatives)):
        if np.isnan(ascending[:, -1:]).any():  # NaN sorts last
            raise InputError(f"{name} must not be NaN: draw those data sets again, or drop them.")

    n_neg = negatives.shape[1]
    under = _count(negatives, np.less, positives)
    threshold, fp = positives[:, ::-1], (n_neg - under)[:, ::-1]
    first = np.ones(threshold.shape, dtype=np.bool_)
    np.not_equal(threshold[:, 1:], threshold[:, :-1], out=first[:, 1:])
    if first.all() and not _meets(negatives, under, positives):
        return RankingBatch(
            threshold=threshold,
            positives=np.broadcast_to(np.int64(1), threshold.shape),
            tied=np.broadcast_to(np.int64(0), threshold.shape),
            above=np.diff(fp, axis=1, prepend=0),
            below=n_neg - fp[:, -1],
            n_thresholds=np.full(len(threshold), threshold.shape[1]),
            n_neg=n_neg,
            has_ties=False,
            moments=kept,
        )

    over = (n_neg - _count(negatives, np.less_equal, positives))[:, ::-1]
    row = np.cumsum(first, axis=1) - 1
    cell = row + threshold.shape[1] * np.arange(len(threshold))[:, None]
    above = over.copy()
    above[:, 1:] -= fp[:, :-1]

    def compact(values: Array, filling: Array) -> Array:
        compacted = np.array(np.broadcast_to(filling, threshold.shape), dtype=values.dtype)
        compacted.flat[cell[first]] = values[first]
        return compacted

    zero = np.zeros(1, dtype=np.int64)
    return RankingBatch(
        threshold=compact(threshold, threshold[:, -1:]),
        positives=np.bincount(cell.ravel(), minlength=cell.size).reshape(cell.shape),
        tied=compact(fp - over, zero),
        above=compact(above, zero),
        below=n_neg - fp[:, -1],
        n_thresholds=row[:, -1] + 1,
        n_neg=n_neg,
        has_ties=True,
        moments=kept,
    )


def _count(ascending: Array, before: np.ufunc, queries: Array) -> IntArray:
    """Count, per row, the sorted values that come `before` each query (less, or less or equal).

    Binary search with the same number of steps for every query, so all rows go in step.
    """
    size = ascending.shape[1]
    if size == 0:
        return np.zeros(queries.shape, dtype=np.int64)
    values, sought = ascending.ravel(), queries.ravel()
    start = np.repeat(size * np.arange(len(ascending)), queries.shape[1])
    position = start.copy()
    while size > 1:
        half = size >> 1
        position += half * before(values[position + (half - 1)], sought)
        size -= half
    position += before(values[position], sought)
    position -= start
    return position.reshape(queries.shape)


def _meets(ascending: Array, under: IntArray, queries: Array) -> bool:
    """Whether any query equals a value of its row, given the number of values under it."""
    size = ascending.shape[1]
    if size == 0:
        return False
    index = np.minimum(under, size - 1)
    return bool((np.take_along_axis(ascending, index, axis=1) == queries).any())


def _moments(scores: Array) -> tuple[FloatArray, FloatArray]:
    mean = scores.mean(axis=1)
    deviation = scores - mean[:, None]
    return mean, np.einsum("ij,ij->i", deviation, deviation)

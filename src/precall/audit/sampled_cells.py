"""A metric as a function of the numbers of positives in the pieces of a population.

Labelled rows stand for the others of their piece: with T positives among the N rows of a piece its
k labelled positives weigh ``T / k`` each, its labelled negatives ``(N - T) / (n - k)``. Where a
piece has no labelled positive (or negative), unlabelled rows evenly spaced inside it stand in.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._cached import cached_property
from .._numerics import ratio
from ..metrics import Metric
from ..ranking.kept_thresholds import rows_at_or_above
from ..ranking.number_layout import Cells
from .labels import KnownLabels, summed
from .strata_pieces import Pieces

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Whole(NamedTuple):
    """What a metric may want to know of the data that it is put on."""

    threshold: Array
    n_pos: float
    n_neg: float
    missed: int = 0
    weighted: bool = False
    divisible: bool = False

    @property
    def all_positives(self) -> float:
        """All positives, those that were missed included."""
        return self.n_pos + self.missed

    @property
    def prevalence(self) -> float:
        """Share of positives."""
        return float(ratio(self.n_pos, self.n_pos + self.n_neg))

    def rows_reaching(self, threshold: float) -> int:
        """Return how many of the thresholds are at or above one."""
        return rows_at_or_above(self.threshold, threshold)


class SampledMetric:
    """A metric of one model on a sample.

    Parameters
    ----------
    metric : Metric
    scores : array
        Of all rows.
    pieces : Pieces
    known : KnownLabels
    weight : array
        Of the labelled rows, relative to others in the same piece.
    """

    def __init__(
        self, metric: Metric, scores: Array, pieces: Pieces, known: KnownLabels, weight: FloatArray
    ) -> None:
        self.pieces = pieces
        rows = np.concatenate([known.rows, pieces.stand_ins])
        self.piece = np.concatenate([pieces.of_label, pieces.of_stand_in])
        labelled = np.arange(rows.size) < known.rows.size
        positive = np.append(known.positive, np.zeros(pieces.stand_ins.size, dtype=np.bool_))
        weights = np.append(weight, np.ones(pieces.stand_ins.size))
        #: What a row has of its piece's positives and of its negatives.
        self.positive_share = self._shares(labelled & positive, ~labelled, weights)
        self.negative_share = self._shares(labelled & ~positive, ~labelled, weights)
        self.labelled, self.positive = labelled, positive
        ascending = np.argsort(scores[rows], kind="stable")
        self.order = ascending[::-1]
        ordered = scores[rows][self.order]
        self.first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        self.threshold = ordered[self.first]
        n_pos = float(pieces.estimate.sum())
        self.whole = Whole(self.threshold, n_pos, float(pieces.size.sum()) - n_pos)
        self.metric = metric.on(self.whole)
        self._kept: dict[bytes, tuple[Cells, Cells]] | None = None

    def of_each(self, metrics: Iterable[Metric]) -> list[SampledMetric]:
        """Return the same with other metrics, which share the cells that they are computed from."""
        kept: dict[bytes, tuple[Cells, Cells]] = {}
        found = []
        for metric in metrics:
            one = copy(self)
            one.metric, one._kept = metric.on(self.whole), kept
            found.append(one)
        return found

    def _shares(self, own: Array, spare: Array, weights: FloatArray) -> FloatArray:
        """Shares of the labelled rows of a class, or of the stand-ins where it has none."""
        count = self.pieces.size.size
        total = summed(self.piece, weights * own, count)[self.piece]
        instead = summed(self.piece, weights * spare, count)[self.piece]
        return np.where(total > 0, ratio(weights * own, total), ratio(weights * spare, instead))

    def cells(self, positives: FloatArray) -> tuple[Cells, Cells]:
        """Return the cells of positives per piece (last axis), and those of squared weights.

        The squares are of weights of single rows: where a row stands for others with its own score,
        those are rows of weight 1.
        """
        ours = positives[..., self.piece] * self.positive_share
        others = (self.pieces.size - positives)[..., self.piece] * self.negative_share

        def grouped(values: FloatArray) -> FloatArray:
            return np.add.reduceat(values[..., self.order], self.first, axis=-1)

        none = np.zeros(self.first.size)
        below = np.zeros(ours.shape[:-1])
        # The others that a row stands for are tied with it, or somewhere in its piece.
        alone = ours - self.pieces.tied * (ours - 1.0)
        return (
            Cells(grouped(ours), grouped(others), none, below),
            Cells(grouped(ours * alone), grouped(others**2), none, below),
        )

    def value(self, positives: FloatArray) -> FloatArray:
        """Return the metric, one for each leading axis."""
        if self._kept is None:
            cells = self.cells(positives)
        else:
            key = positives.tobytes()
            cells = self._kept.get(key) or self._kept.setdefault(key, self.cells(positives))
        return np.asarray(self.metric.sampled_value(*cells), dtype=np.float64)

    @cached_property
    def slopes(self) -> tuple[FloatArray, FloatArray]:
        """Derivatives by the weight of each row, were it positive and were it negative."""
        if not self.metric.smooth:  # what it depends on is cut into pieces: see `places`
            return np.zeros(self.piece.size), np.zeros(self.piece.size)
        cells, _ = self.cells(self.pieces.estimate)
        gradient = self.metric.gradient(cells)
        place = np.empty(self.piece.size, dtype=np.int64)
        place[self.order] = np.cumsum(np.isin(np.arange(self.piece.size), self.first)) - 1
        return (
            np.asarray(gradient.positives, dtype=np.float64)[place],
            np.asarray(gradient.tied, dtype=np.float64)[place],
        )

    def prevalence_slope(self) -> float:
        """Derivative by the log odds of the prevalence."""
        return float(self.metric.prevalence_slope(self.cells(self.pieces.estimate)[0]))

    def process_variance(
        self, slopes: tuple[FloatArray, FloatArray], prevalence_slope: float
    ) -> float:
        """Variance of a metric with these derivatives, were as many rows as these drawn anew.

        The sum of the squared influence values of all rows: derivatives, centred in each class, and
        what a change of the prevalence does.
        """
        positives = self.pieces.estimate
        weights = (
            positives[self.piece] * self.positive_share,
            (self.pieces.size - positives)[self.piece] * self.negative_share,
        )
        total = 0.0
        for slope, weight in zip(slopes, weights, strict=True):
            size = float(weight.sum())
            centred = slope - ratio(np.sum(weight * slope), size)
            total += float(np.sum(weight * centred**2)) + float(ratio(prevalence_slope**2, size))
        return total


def placement_variance(sampled: SampledMetric, slopes: tuple[FloatArray, FloatArray]) -> float:
    """Variance of where inside their pieces the labelled rows of each class happen to be.

    ``sum_h (1 - n_h/N_h) sum_class n_hc (N_h/n_h)^2 s_hc^2``, with the derivatives at the stand-ins
    as one more observation of s: a single labelled row shows no variance.
    """
    return float(np.sum(placement_terms(sampled, slopes) ** 2))


def placement_terms(
    sampled: SampledMetric, slopes: tuple[FloatArray, FloatArray]
) -> npt.NDArray[np.float64]:
    """Return what each row adds to that variance, before it is squared: first one class's terms.

    Sums of products of the terms of two metrics are their covariance.
    """
    pieces, piece = sampled.pieces, sampled.piece
    count = pieces.size.size
    factor = np.maximum(1.0 - pieces.sampled, 0.0) * ratio(1.0, pieces.sampled) ** 2
    spare = ~sampled.labelled
    prior = ratio(factor, summed(piece, spare, count) - 1.0)
    terms = []
    for slope, mine in (
        (slopes[0], sampled.labelled & sampled.positive),
        (slopes[1], sampled.labelled & ~sampled.positive),
    ):
        found = summed(piece, mine, count) > 0
        scale = np.sqrt(np.where(mine, factor[piece], np.where(spare, prior[piece], 0.0)))
        apart = _centred(piece, slope, mine, count) + _centred(piece, slope, spare, count)
        terms.append(np.where(found[piece], scale * apart, 0.0))
    return np.concatenate(terms)


def _centred(piece: IntArray, values: FloatArray, chosen: Array, count: int) -> FloatArray:
    """Deviations of the chosen rows from the mean of those of their piece; 0 for other rows."""
    mean = ratio(summed(piece, values * chosen, count), summed(piece, chosen, count))
    return np.asarray(chosen * (values - mean[piece]))

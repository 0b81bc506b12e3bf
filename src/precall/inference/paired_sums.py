"""Models compared although their rows are never together in memory: sums over the rows are enough.

The influence value of a row needs its place in the ranking of each model and nothing else of the
other rows. With the rankings known, one pass adds up products of influence values, class by class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from ..exceptions import InputError
from ..metrics import Metric, as_metric
from ..ranking import Cells, Ranking
from ..ranking.places import locate
from .compare import warn_if_few
from .comparison import Comparison
from .influence import centred_values, mean_of, vary_prevalence, with_prevalence
from .pairwise import as_distribution, assembled, by_influence
from .reach import usual_limits
from .sampling import varying_prevalence
from .units import row_values

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def as_smooth(metric: Metric | type[Metric] | str) -> Metric:
    """Return a metric, which must have influence values."""
    found = as_metric(metric)
    if not found.smooth:
        raise InputError(f"{found} has no influence values: compare the rows in memory.")
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class PairedModels:
    """The rankings of models on the same rows, and the influence values of their cells."""

    metric: Metric
    rankings: dict[str, Ranking]
    varying: bool
    values: list[Cells]
    means: list[tuple[float, float]]
    estimates: FloatArray
    slopes: FloatArray
    together: FloatArray

    @classmethod
    def of(
        cls, metric: Metric, rankings: Mapping[str, Ranking], sampling: str | None
    ) -> PairedModels:
        """Prepare a pass over the rows."""
        varying = varying_prevalence(sampling, None)
        values, means, estimates, slopes, together = [], [], [], [], []
        for ranking in rankings.values():
            placed = metric.on_both_classes(ranking)
            found = Cells(*(np.asarray(part) for part in placed.gradient(ranking.cells)))
            values.append(found)
            means.append(_class_means(found, ranking.cells))
            estimates.append(placed.estimate(ranking))
            slopes.append(float(placed.prevalence_slope(ranking.cells)) if varying else 0.0)
            centred = centred_values(found, ranking.cells)
            together.append(float(with_prevalence(centred, ranking.cells, ranking.squares)))
        return cls(
            metric=metric,
            rankings=dict(rankings),
            varying=varying,
            values=values,
            means=means,
            estimates=np.array(estimates),
            slopes=np.array(slopes),
            together=np.array(together),
        )

    def are_rows_of(self, sums: PairedSums) -> bool:
        """Return whether the sums are of the rows that were ranked: so many in every cell."""
        for ranking, found in zip(self.rankings.values(), sums.counts, strict=True):
            cells = ranking.rows or ranking.cells
            expected = np.zeros_like(found)
            expected[0, 1:-1:2] = cells.positives
            expected[1] = np.append(np.stack([cells.above, cells.tied], axis=-1), cells.below)
            if not np.array_equal(found, expected):
                return False
        return True

    def contributions(
        self, number: int, place: IntArray, positive: Mask, weights: FloatArray | None
    ) -> FloatArray:
        """Return what each row contributes to the metric of a model, centred in its class."""
        result = row_values(place, positive, self.values[number])
        result -= np.where(positive, *self.means[number])
        return result if weights is None else result * weights

    def comparison(
        self, sums: PairedSums, *, confidence_level: float, distribution: str
    ) -> Comparison:
        """Return the comparison of all rows."""
        level = _validation.as_fraction(confidence_level, "confidence_level")
        distribution = as_distribution(distribution)
        sizes = next(iter(self.rankings.values())).effective_sizes
        warn_if_few(sizes[0], "influence")
        factors = [size / max(size - 1.0, 1e-9) for size in sizes]
        share = 1.0 / sizes[0] + 1.0 / sizes[1]
        covariance = np.tensordot(factors, sums.products, axes=1)
        variances = np.tensordot(factors, sums.moved, axes=1)
        covariance, variances = vary_prevalence(
            covariance, variances, self.slopes, self.together, share
        )
        evidence = by_influence(
            self.metric,
            self.estimates,
            covariance,
            variances,
            max(sizes[0] - 1.0, 1.0),
            level,
            distribution,
            partial(usual_limits, self.rankings.values(), self.metric, varying=self.varying),
        )
        return assembled(
            self.metric,
            list(self.rankings),
            self.estimates,
            evidence,
            level=level,
            method="influence",
            interval_method="influence",
        )


@dataclass
class PairedSums:
    """Sums over rows by class: products of contributions, and squares of their differences.

    `counts` has the rows of each model at every place, positives first: what was summed has to be
    what was ranked.
    """

    products: FloatArray
    moved: FloatArray
    counts: list[IntArray]

    @classmethod
    def empty(cls, models: PairedModels) -> PairedSums:
        """No rows yet."""
        sizes = [len(ranking) for ranking in models.rankings.values()]
        shape = (2, len(sizes), len(sizes))
        counts = [np.zeros((2, 2 * size + 1), dtype=np.int64) for size in sizes]
        return cls(np.zeros(shape), np.zeros(shape), counts)

    def update(
        self,
        models: PairedModels,
        positive: Mask,
        scores: Sequence[Array],
        weights: FloatArray | None,
    ) -> None:
        """Take in some rows."""
        used = np.ones(positive.size, dtype=np.bool_) if weights is None else weights > 0
        classes = (positive, ~positive)
        columns = np.empty((positive.size, len(scores)))
        for number, (ranking, column) in enumerate(
            zip(models.rankings.values(), scores, strict=True)
        ):
            threshold = ranking.threshold
            place = locate(threshold, column.astype(threshold.dtype, copy=False))
            columns[:, number] = models.contributions(number, place, positive, weights)
            for counts, chosen in zip(self.counts[number], classes, strict=True):
                counts += np.bincount(place[chosen & used], minlength=counts.size)
        for number, chosen in enumerate(classes):
            part = columns[chosen]
            self.products[number] += part.T @ part
            # From the differences themselves: models that order rows alike differ by nothing.
            for i, j in combinations(range(part.shape[1]), 2):
                apart = part[:, i] - part[:, j]
                self.moved[number, [i, j], [j, i]] += apart @ apart


def _class_means(values: Cells, cells: Cells) -> tuple[float, float]:
    """Mean of the values over positives and over negatives."""
    theirs = [np.append(np.append(each.tied, each.above), each.below) for each in (values, cells)]
    ours = mean_of(values.positives, np.asarray(cells.positives, dtype=np.float64))
    return float(ours[0]), float(mean_of(theirs[0], theirs[1].astype(np.float64))[0])

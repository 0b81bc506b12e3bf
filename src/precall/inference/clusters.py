"""Rows that belong together: their variance, and replicates that draw whole clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..metrics import Metric
from ..metrics.base import totals
from ..ranking import Cells, Ranked
from .resampling import Progress, replicate
from .units import (
    Units,
    contributions,
    covariance_of,
    rebalanced,
    row_values,
)


def cluster_variance(
    metric: Metric, sample: Ranked, sizes: tuple[float, float], *, varying: bool
) -> float:
    """Variance from the influence values summed in clusters, on the unit scale."""
    rows, place, cells = sample.rows, sample.place, sample.ranking.cells
    slope = float(metric.prevalence_slope(cells)) if varying else 0.0
    values = metric.gradient(cells)
    columns = contributions(rows, place, values, slope)[:, np.newaxis]
    variance = float(covariance_of(rows, columns, sizes)[0, 0])
    if metric.counts_top:
        variance += _top_cluster(rows, place, values) ** 2
    zero, one = metric.unit
    return float(variance / (one - zero) ** 2)


# The design effect of these rows is drawn towards the largest with the weight of so many clusters.
_PRIOR_CLUSTERS = 4.0
# Influence values whose squares sum to less are rounding errors: nothing is known of them.
_NO_INFLUENCE = 1e-20


def cluster_sizes(metric: Metric, sample: Ranked) -> tuple[float, float]:
    """Effective numbers of positives and negatives, by what clusters do to the metric.

    Kish's effective number of clusters takes the rows of a cluster as one. What a cluster's rows
    do together, against what they would do one by one, says how much alike they are.
    """
    rows, cells = sample.rows, sample.ranking.cells
    moved = contributions(rows, sample.place, metric.gradient(cells), 0.0)
    weight = np.ones(moved.size) if rows.weight is None else rows.weight
    sizes = []
    for own, clusters in zip((rows.positive, ~rows.positive), rows.effective_sizes, strict=True):
        sums = np.bincount(rows.cluster[own], moved[own])
        single = np.sum(weight[own]) ** 2 / np.sum(weight[own] ** 2)
        sizes.append(float(design_size(single, clusters, sums @ sums, moved[own] @ moved[own])))
    return sizes[0], sizes[1]


def design_size(rows: Any, clusters: Any, together: Any, alone: Any) -> Any:
    """Rows over their design effect: the sum of squares of clusters over that of single rows.

    `rows` and `clusters` are Kish's effective numbers of single rows and of clusters. The design
    effect is kept between 1 and ``rows / clusters``, and drawn towards that.
    """
    most = np.maximum(rows / clusters, 1.0)
    effect = (together + _NO_INFLUENCE * most) / (alone + _NO_INFLUENCE)
    kept = clusters * np.clip(effect, 1.0, most)
    return rows * (clusters + _PRIOR_CLUSTERS) / (kept + _PRIOR_CLUSTERS * most)


def _top_cluster(rows: Any, place: npt.NDArray[np.int64], values: Cells) -> float:
    """What the negatives of the cluster with the top-ranked negative contribute together.

    Measured from a negative below every positive. At least what one row of average weight does
    there: the top-ranked one may happen to weigh little.
    """
    negative = ~rows.positive
    weight = np.ones(place.size) if rows.weight is None else rows.weight
    weight, place = weight[negative], place[negative]
    excess = row_values(place, np.zeros(place.size, dtype=np.bool_), values) - values.below
    top = place == place.min()
    cluster = np.arange(place.size) if rows.cluster is None else rows.cluster[negative]
    sums = np.bincount(cluster, weight * excess)
    one_row = excess[top][0] * np.sum(weight**2) / np.sum(weight)
    return float(max(np.abs(sums[cluster[top]]).max(), abs(one_row)))


def draw_cells(
    units: Units,
    metrics: list[Metric],
    *,
    odds: float | None,
    n_resamples: int,
    rng: np.random.Generator,
    progress: Progress | None,
) -> npt.NDArray[np.float64]:
    """Return replicates of every model's metric, (models, replicates).

    `odds` keeps the prevalence where clusters hold both classes.
    """
    models = _Models(units, metrics, odds if units.mixed else None)
    replicates: npt.NDArray[np.float64] = replicate(
        models, models.statistic, n_resamples, rng=rng, progress=progress
    )
    return replicates


# Numbers made at a time when units are left out one by one.
_BLOCK = 1 << 21


def jackknife(
    units: Units, metrics: list[Metric], *, odds: float | None
) -> npt.NDArray[np.float64] | None:
    """Return what each unit moves every model's metric when it is left out, (models, units).

    Centred, so that sums of products are covariances: all of them, not ``(G - 1)/G`` over the G
    units of a stratum. With units of unequal size the plain jackknife is short (HC3 of MacKinnon &
    White 1985). None if some class would be empty without a unit.
    """
    models = _Models(units, metrics, odds if units.mixed else None)
    step = max(_BLOCK // max(units.n_cells, units.n_units), 1)
    parts = []
    for first in range(0, units.n_units, step):
        left = np.arange(first, min(first + step, units.n_units))
        drawn = np.ones((left.size, units.n_units), dtype=np.int64)
        drawn[np.arange(left.size), left] = 0
        if models.lacks_a_class(drawn).any():
            return None
        parts.append(models.statistic(drawn, None))
    values = np.concatenate(parts, axis=1)
    for stratum in units.strata:
        if stratum.size < 2:
            return None
        inside = values[:, stratum]
        values[:, stratum] = inside - inside.mean(axis=1, keepdims=True)
    return values


class _Models:
    """A resampler whose replicates are numbers of draws; the statistic turns them into metrics."""

    def __init__(self, units: Units, metrics: list[Metric], odds: float | None) -> None:
        self._units, self._metrics, self._odds = units, metrics, odds
        self.n_cells = units.n_cells

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Any, Cells | None]:
        """Draw units until every replicate has both classes."""
        drawn = self._units.draw(rng, size)
        while True:
            empty = np.flatnonzero(self.lacks_a_class(drawn))
            if not empty.size:
                return drawn, None
            drawn[empty] = self._units.draw(rng, empty.size)

    def lacks_a_class(self, drawn: Any) -> npt.NDArray[np.bool_]:
        """Return which replicates have no positive or no negative."""
        n, m = totals(self._units.cells(drawn))
        return np.asarray((n == 0) | (m == 0))

    def statistic(self, drawn: Any, _: Cells | None) -> npt.NDArray[np.float64]:
        """Metric of every model in every replicate."""
        values = []
        for model, metric in enumerate(self._metrics):
            cells = self._units.cells(drawn, model)
            if self._odds is not None:
                cells = rebalanced(cells, self._odds)
            values.append(metric.value(cells))
        return np.stack(values)

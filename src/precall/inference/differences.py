"""One-sided limits of the difference between two models: on the same rows, or on their own.

The two-sided test of :func:`precall.compare` asks whether there is a difference at all. A gate asks
whether the difference is above a margin, and there the estimate and its variance go together: rows
on which the candidate happens to do well also show less variance. So the limits here use the
variance as it would be at the limit, not as it is at the estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..exceptions import InputError
from ..metrics import Metric
from ..ranking import Cells
from ..rows import Rows
from .compare import RankedModels
from .limits import percentile_limits
from .result import MetricInterval
from .significance import is_rounding
from .units import contributions, covariance_of

FloatArray = npt.NDArray[np.float64]

# How many standard errors away the variance is looked at again.
_STEP = 1.645
# The variance at a limit is at most this many times, or this part of, the one at the estimate.
_LARGEST_CHANGE = 20.0
# Weight, in positives, of the variance that unpaired models would have.
_PRIOR_POSITIVES = 1.0


class LimitsAtEveryLevel(Protocol):
    """An estimate with limits at every level."""

    @property
    def estimate(self) -> float:
        """The number itself."""

    @property
    def method(self) -> str:
        """How the limits are made."""

    def limits(self, confidence_level: float) -> tuple[float, float]:
        """Return the lower and the upper limit, together at this level."""


@dataclass(frozen=True, kw_only=True)
class PairedDifference:
    """First minus second on the same rows, from the influence values of every row.

    Attributes
    ----------
    estimate : float
    variance : float
        Of the difference, with a little of the variance that unpaired models would have.
    rates : (float, float)
        Change of the logarithm of the variance by the difference, below and above the estimate.
    bias : float
        How far the difference is too high; 0 where the metric knows no less biased estimate.
    degrees : float
        Degrees of freedom of t: as many as positives, less one, and fewer where a few rows make
        most of the variance.
    """

    estimate: float
    variance: float
    rates: tuple[float, float]
    bias: float
    degrees: float
    method: str = "influence"

    def limits(self, confidence_level: float) -> tuple[float, float]:
        """Return limits, each with the larger variance of estimate and limit."""
        from scipy.special import stdtrit

        if self.variance == 0.0:
            return self.estimate, self.estimate
        quantile = float(stdtrit(self.degrees, 0.5 + 0.5 * confidence_level))
        down, up = (self._half(quantile, sign) for sign in (-1.0, 1.0))
        # An estimate that may be too high is lowered for the lower limit only, and vice versa.
        low = self.estimate - max(self.bias, 0.0) - down
        return low, self.estimate + max(-self.bias, 0.0) + up

    def _half(self, quantile: float, sign: float) -> float:
        """Solve ``h = quantile sqrt(V(estimate + sign h))`` from below, V never under the plain."""
        plain = quantile * math.sqrt(self.variance)
        rate = self.rates[0 if sign < 0 else 1] * sign
        half = plain
        for _ in range(100):
            growth = min(max(rate * half, 0.0), math.log(_LARGEST_CHANGE))
            half = plain * math.exp(0.5 * growth)
        return half


@dataclass(frozen=True, kw_only=True)
class DrawnDifference:
    """First minus second on the same rows, drawn again and again."""

    estimate: float
    replicates: FloatArray = field(repr=False)
    method: str = "bootstrap"

    def limits(self, confidence_level: float) -> tuple[float, float]:
        """Return quantiles of the replicates."""
        low, high = percentile_limits(self.replicates, confidence_level)
        return float(low), float(high)


@dataclass(frozen=True, kw_only=True)
class UnpairedDifference:
    """First minus second, as if their rows were independent of each other.

    The limits combine those of both (Zou & Donner, *Construction of confidence limits about effect
    measures: a general approach*, 2008). On the same rows two models err together, so the
    difference varies less than this says: the limits are wider than need be.
    """

    first: MetricInterval
    second: MetricInterval
    method: str = "unpaired"

    @property
    def estimate(self) -> float:
        """The difference."""
        return self.first.estimate - self.second.estimate

    def limits(self, confidence_level: float) -> tuple[float, float]:
        """Return limits from those of both."""
        one, other = (each.at_level(confidence_level) for each in (self.first, self.second))
        down = math.hypot(one.estimate - one.low, other.high - other.estimate)
        up = math.hypot(one.high - one.estimate, other.estimate - other.low)
        return self.estimate - down, self.estimate + up


def paired_difference(
    rows: Rows, metric: Metric, *, varying: bool, n_resamples: int, rng: np.random.Generator
) -> tuple[PairedDifference | DrawnDifference, tuple[float, float]]:
    """Return the difference of the two models of these rows, and the value of each."""
    if len(rows.names) != 2:
        raise InputError("a paired difference is of two models.")
    models = RankedModels.rank(metric, rows)
    first, second = (float(value) for value in models.estimates)
    if not metric.smooth:
        drawn = models.bootstrap(varying, n_resamples, rng, None)
        found = DrawnDifference(estimate=first - second, replicates=drawn[0] - drawn[1])
        return found, (first, second)
    return _by_influence(models, varying, first - second), (first, second)


def _by_influence(models: RankedModels, varying: bool, difference: float) -> PairedDifference:
    rows, sizes = models.rows, models.sizes
    columns = [
        contributions(rows, place, metric.gradient(ranking.cells), slope)
        for metric, ranking, place, slope in zip(
            models.metrics,
            models.rankings,
            models.places,
            [_slope(m, r.cells, varying) for m, r in _pairs(models)],
            strict=True,
        )
    ]
    moved = columns[0] - columns[1]
    variance, *own = (
        float(covariance_of(rows, column[:, np.newaxis], sizes)[0, 0])
        for column in (moved, *columns)
    )
    same = is_rounding(variance, sum(own))
    if same and difference == 0.0:  # the same order of all rows
        return PairedDifference(estimate=0.0, variance=0.0, rates=(0.0, 0.0), bias=0.0, degrees=1.0)
    share = _PRIOR_POSITIVES / (sizes[0] + _PRIOR_POSITIVES)
    degrees = max(sizes[0] - 1.0, 1.0)
    return PairedDifference(
        estimate=difference,
        variance=(1.0 - share) * variance + share * sum(own),
        rates=(0.0, 0.0) if same else _rates(models, varying, moved, difference),
        bias=_bias(models),
        degrees=degrees if same else min(_degrees(_summed(rows, moved)), degrees),
    )


def _summed(rows: Rows, moved: FloatArray) -> FloatArray:
    """Contributions of what was drawn by itself: rows, or clusters."""
    return moved if rows.cluster is None else np.bincount(rows.cluster, moved).astype(np.float64)


def _degrees(sums: FloatArray) -> float:
    """Degrees of freedom of a variance that is a sum of squares: Satterthwaite's ``2 V^2 / Var V``.

    The variance of a sum of squares is at most the sum of their squares.
    """
    squares = (sums / np.abs(sums).max()) ** 2
    return max(2.0 * float(squares.sum()) ** 2 / float(squares @ squares), 1.0)


def _pairs(models: RankedModels) -> Any:
    return zip(models.metrics, models.rankings, strict=True)


def _slope(metric: Metric, cells: Cells, varying: bool) -> float:
    return float(metric.prevalence_slope(cells)) if varying else 0.0


def _bias(models: RankedModels) -> float:
    """How far the difference is above that of the less biased estimates."""
    biases = []
    for metric, ranking in _pairs(models):
        unbiased = metric.unbiased(ranking.cells, ranking.squares)
        if unbiased is None or not np.isfinite(unbiased):
            return 0.0
        biases.append(metric.estimate(ranking) - float(metric.from_unit(unbiased)))
    return float(biases[0] - biases[1])


def _rates(
    models: RankedModels, varying: bool, moved: FloatArray, difference: float
) -> tuple[float, float]:
    """How the logarithm of the variance changes with the difference, to either side of it.

    Rows (or clusters) are weighted by ``exp(t c / sigma)``, c their contributions: of all the data
    with a difference t standard errors away, those that are nearest to the ones seen.
    """
    rows = models.rows
    units = np.arange(len(rows)) if rows.cluster is None else rows.cluster
    sums = _summed(rows, moved)
    sigma = math.sqrt(float(sums @ sums))
    rates = []
    for step in (-_STEP, _STEP):
        tilt = np.exp(step * sums / sigma)
        found, variance = _tilted(models, varying, tilt, units)
        distance = found - difference
        # A step that leads nowhere, or back, says nothing about the variance.
        forward = distance * step > 0.0 and variance > 0.0
        rates.append(math.log(variance / sigma**2) / distance if forward else 0.0)
    return rates[0], rates[1]


def _tilted(
    models: RankedModels, varying: bool, tilt: FloatArray, units: npt.NDArray[np.int64]
) -> tuple[float, float]:
    """Difference and variance where the units have these weights."""
    rows = models.rows
    weight = tilt[units] * (1.0 if rows.weight is None else rows.weight)
    if not varying:  # the classes keep their totals
        for chosen in (rows.positive, ~rows.positive):
            before = chosen.sum() if rows.weight is None else rows.weight[chosen].sum()
            weight[chosen] *= before / weight[chosen].sum()
    else:
        weight *= (len(rows) if rows.weight is None else rows.weight.sum()) / weight.sum()
    weighted = rows.reweighted(weight)
    values, columns = [], []
    for (metric, ranking), place in zip(_pairs(models), models.places, strict=True):
        cells = _cells(rows.positive, place, weight, len(ranking))
        values.append(float(np.clip(metric.value(cells), *metric.bounds)))
        slope = _slope(metric, cells, varying)
        columns.append(contributions(weighted, place, metric.gradient(cells), slope))
    sums = np.bincount(units, columns[0] - columns[1])
    return values[0] - values[1], float(np.sum(sums**2 / tilt) * tilt.mean())


def _cells(
    positive: npt.NDArray[np.bool_], place: npt.NDArray[np.int64], weight: FloatArray, size: int
) -> Cells:
    """Cells of rows whose places are known, with these weights."""
    ours = np.bincount(place[positive] // 2, weight[positive], size)
    between = np.bincount(place[~positive], weight[~positive], 2 * size + 1)
    return Cells(ours, between[1::2], between[:-1:2], float(between[-1]))

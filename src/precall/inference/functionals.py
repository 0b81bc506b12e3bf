"""What an interval is about: one number as a function of the cells of a ranking.

A functional has a value and, where it is smooth enough, a gradient: its derivative with respect to
the weight of each cell. Both work on the last axis with any number of leading axes, so the same
code serves one data set, a thousand bootstrap replicates and a simulation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _estimators, _validation
from .._estimators import ESTIMATORS, KERNELS, make_steps, ratio
from .._rounding import at_least
from ..areas import area_limits, aucpr, gain_area, minimum_aucpr
from ..exceptions import InputError, UndefinedMetricError
from ..ranking import Cells, Ranking

FloatArray = npt.NDArray[np.float64]

#: Metrics that :func:`precall.metric_interval` and :func:`precall.compare` know.
METRICS = (
    "aucpr",
    "aucnpr",
    "auroc",
    "auprg",
    "precision_at_recall",
    "recall_at_precision",
    "f_beta",
)
AREAS = ("aucpr", "aucnpr")


@dataclass(frozen=True, kw_only=True)
class Metric:
    """The caller's choice of metric with its options, checked; it knows no data yet."""

    name: str = "aucpr"
    estimator: str = "average_precision"
    recall: Any = None
    precision: float | None = None
    threshold: float | None = None
    beta: float = 1.0

    def __post_init__(self) -> None:
        """Check the options that the metric uses, and refuse those that it does not."""
        _validation.as_choice(self.name, "metric", METRICS)
        _validation.as_choice(self.estimator, "estimator", ESTIMATORS)
        if self.name in AREAS:
            whole = (0.0, 1.0) if self.recall is None else self.recall
            object.__setattr__(self, "recall", _validation.as_range(whole, "recall"))
        elif self.estimator != "average_precision":
            raise InputError(
                f"estimator={self.estimator!r} is for aucpr and aucnpr, not for {self.name}: "
                "leave it out."
            )
        self._check("recall", "precision_at_recall", AREAS)
        self._check("precision", "recall_at_precision")
        self._check("threshold", "f_beta")
        if _validation.as_number(self.beta, "beta") < 0:
            raise InputError(f"beta must not be negative, got {self.beta!r}.")

    def _check(self, option: str, metric: str, elsewhere: tuple[str, ...] = ()) -> None:
        value = getattr(self, option)
        if self.name == metric:
            if value is None:
                raise InputError(f"metric {metric!r} needs {option}=, a number.")
            number = _validation.as_number(value, option)
            if option != "threshold" and not 0.0 < number <= 1.0:
                raise InputError(f"{option} must be above 0 and at most 1, got {value!r}.")
            object.__setattr__(self, option, number)
        elif value is not None and self.name not in elsewhere:
            raise InputError(f"{option}= is for {metric}, not for {self.name}: leave it out.")

    def describe(self) -> str:
        """Return the metric in words, for messages."""
        return f"{self.name} by {self.estimator}" if self.name in AREAS else self.name

    def of(self, ranking: Ranking) -> Functional:
        """Return the functional for one ranking; raise where a class is empty."""
        if not (ranking.n_pos and ranking.n_neg):
            missing = "negatives" if ranking.n_pos else "positives"
            raise UndefinedMetricError(
                f"{self.name} has no interval with no {missing}: check the labels and pos_label."
            )
        limits = (0.0, 1.0)
        if self.name == "aucnpr":
            limits = area_limits(ranking, self.estimator, self.recall)
        row = -1
        if self.threshold is not None:
            row = int(np.count_nonzero(ranking.threshold >= self.threshold)) - 1
        fixed = aucpr(ranking, "binormal", self.recall) if self.estimator == "binormal" else None
        return Functional(
            metric=self, limits=limits, prevalence=ranking.prevalence, row=row, fixed=fixed
        )


@dataclass(frozen=True, kw_only=True)
class Functional:
    """A metric on rankings of one shape.

    Attributes
    ----------
    metric : Metric
    limits : (float, float)
        For aucnpr, the areas of the worst and of the perfect ranking at the observed prevalence.
    prevalence : float
        The observed prevalence.
    row : int
        For f_beta, the last row at or above the threshold.
    fixed : float, optional
        The value where the cells do not determine it: the binormal area needs raw scores.
    """

    metric: Metric
    limits: tuple[float, float]
    prevalence: float
    row: int
    fixed: float | None = None

    @property
    def unit(self) -> tuple[float, float]:
        """The values of the metric that stand for 0 and 1 on the unit scale.

        On it an area is divided by the length of its recall range; other metrics stay.
        """
        if self.metric.name not in AREAS:
            return 0.0, 1.0
        low, high = self.metric.recall
        floor, ceiling = self.limits if self.metric.name == "aucnpr" else (0.0, 1.0)
        return -floor / (ceiling - floor), (high - low - floor) / (ceiling - floor)

    @property
    def merges_runs(self) -> bool:
        """Whether positives with no negative between them count by their sum alone.

        Along such a run FP stands still. Average precision is not of this kind: it gives positives
        that share a threshold the precision on arrival, so ties within a run raise it.
        """
        if self.metric.name in AREAS:
            return self.metric.estimator in ("davis_goadrich", "interpolated_convex")
        return self.metric.name != "f_beta"

    def to_unit(self, value: Any) -> Any:
        """Move values of the metric to the unit scale."""
        zero, one = self.unit
        return (value - zero) / (one - zero)

    def from_unit(self, value: Any) -> Any:
        """Move limits on the unit scale to the metric, within its bounds."""
        zero, one = self.unit
        return np.clip(zero + (one - zero) * np.asarray(value), *self.bounds)

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and largest value that any ranking can have."""
        if self.metric.name == "aucpr":
            return self.unit
        return (-np.inf if self.metric.name == "auprg" else 0.0), 1.0

    @property
    def mean_precision(self) -> bool:
        """Whether it is average precision over all recalls, for which there are faster ways."""
        metric = self.metric
        return (
            metric.name in AREAS
            and metric.estimator == "average_precision"
            and metric.recall == (0.0, 1.0)
        )

    @property
    def ignores_ties(self) -> bool:
        """Whether a tied negative counts as one above the positive would."""
        return self.metric.name in AREAS and self.metric.estimator == "average_precision"

    def value(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the metric of one ranking, or of many along the leading axes."""
        if self.fixed is not None:
            raise InputError(
                "the binormal estimator needs the mean and standard deviation of raw scores, which "
                "resampled counts do not have: use method='logit', or another estimator."
            )
        return _VALUES[self.metric.name](self, cells, squares)

    def estimate(self, ranking: Ranking) -> float:
        """Return the metric of the ranking itself, within its bounds whatever the rounding."""
        if self.fixed is None:
            value = self.value(ranking.cells, ranking.squares)
        else:
            floor, ceiling = self.limits
            value = (self.fixed - floor) / (ceiling - floor)
        return float(np.clip(value, *self.bounds))

    def unit_value(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the metric on the unit scale, an area normalised by the observed floor."""
        if self.metric.name not in AREAS:
            return self.value(cells, squares)
        low, high = self.metric.recall
        return self.area(cells, squares) / (high - low)

    def area(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the area that aucpr and aucnpr stand on."""
        if self.mean_precision:
            return mean_precision(cells)
        kernel = KERNELS[self.metric.estimator]
        return kernel(make_steps(cells, squares), *self.metric.recall)

    def floor(self, cells: Cells) -> Any:
        """The worst area at the prevalence of the cells.

        The observed one's, moved by as much as the area under the minimum curve moves.
        """
        n, m = totals(cells)
        return self.limits[0] + self._minimum(n / (n + m)) - self._minimum(self.prevalence)

    def _minimum(self, prevalence: Any) -> Any:
        if self.metric.estimator == "interpolated_convex":  # the hull of the worst is the diagonal
            low, high = self.metric.recall
            return prevalence * (high - low)
        return minimum_aucpr(prevalence, self.metric.recall)


def totals(cells: Cells) -> tuple[Any, Any]:
    """Total weight of positives and of negatives, as floats: their products outgrow int64."""
    negatives = np.sum(cells.tied, axis=-1) + np.sum(cells.above, axis=-1) + cells.below
    positives = np.sum(cells.positives, axis=-1)
    return np.asarray(positives, dtype=np.float64), np.asarray(negatives, dtype=np.float64)


def mean_precision(cells: Cells) -> Any:
    """Average precision with as few passes over the cells as there can be."""
    weight = np.asarray(cells.positives)
    fp = np.cumsum(cells.above + cells.tied, axis=-1)
    return _estimators.mean_precision(weight, np.cumsum(weight, axis=-1), fp)


def _aucpr(functional: Functional, cells: Cells, squares: Cells | None) -> Any:
    return functional.area(cells, squares)


def _aucnpr(functional: Functional, cells: Cells, squares: Cells | None) -> Any:
    floor = functional.floor(cells)
    return (functional.area(cells, squares) - floor) / (functional.limits[1] - floor)


def _auroc(functional: Functional, cells: Cells, squares: Cells | None) -> Any:
    n, m = totals(cells)
    misplaced = np.cumsum(cells.above + cells.tied, axis=-1) - 0.5 * cells.tied
    return 1.0 - np.einsum("...i,...i->...", np.asarray(cells.positives), misplaced) / (n * m)


def _auprg(functional: Functional, cells: Cells, squares: Cells | None) -> Any:
    return gain_area(cells)


class Point(NamedTuple):
    """Where a path of counts reaches a number of true positives.

    `row` is the row that it lies in, `share` how far inside that row.
    """

    row: npt.NDArray[np.int64]
    share: FloatArray
    fp: FloatArray


def reach(cells: Cells, tp: Any) -> Point:
    """Find the point of the curve with `tp` true positives (one per leading axis)."""
    weight = np.asarray(cells.positives, dtype=np.float64)
    tied = np.asarray(cells.tied, dtype=np.float64)
    arrival = np.cumsum(weight, axis=-1)
    fp = np.cumsum(tied + cells.above, axis=-1)
    target = np.asarray(tp)[..., np.newaxis]
    # A target that rounding put just over an observed recall is that recall.
    passed = np.count_nonzero(arrival < target * (1.0 - 1e-12), axis=-1)[..., np.newaxis]
    row = np.minimum(passed, weight.shape[-1] - 1)

    def at(values: FloatArray) -> FloatArray:
        return np.take_along_axis(values, row, axis=-1)

    share = np.clip(1.0 - ratio(at(arrival) - target, at(weight)), 0.0, 1.0)
    tied = np.broadcast_to(tied, weight.shape)
    return Point(row, share, (at(fp) - (1.0 - share) * at(tied))[..., 0])


def _precision_at_recall(functional: Functional, cells: Cells, squares: Cells | None) -> Any:
    tp = functional.metric.recall * np.sum(cells.positives, axis=-1)
    return tp / (tp + reach(cells, tp).fp)


def _recall_at_precision(functional: Functional, cells: Cells, squares: Cells | None) -> Any:
    tp = np.cumsum(cells.positives, axis=-1)
    fp = np.cumsum(cells.above + cells.tied, axis=-1)
    precise = at_least(ratio(tp, tp + fp), functional.metric.precision or 0.0)
    return np.max(np.where(precise, tp, 0), axis=-1) / tp[..., -1]


def _f_beta(functional: Functional, cells: Cells, squares: Cells | None) -> Any:
    rows = slice(0, functional.row + 1)
    tp = np.sum(cells.positives[..., rows], axis=-1)
    fp = np.sum(cells.above[..., rows], axis=-1) + np.sum(cells.tied[..., rows], axis=-1)
    square = functional.metric.beta**2
    return ratio((1.0 + square) * tp, tp + fp + square * np.sum(cells.positives, axis=-1))


_VALUES: dict[str, Callable[[Functional, Cells, Cells | None], Any]] = {
    "aucpr": _aucpr,
    "aucnpr": _aucnpr,
    "auroc": _auroc,
    "auprg": _auprg,
    "precision_at_recall": _precision_at_recall,
    "recall_at_precision": _recall_at_precision,
    "f_beta": _f_beta,
}

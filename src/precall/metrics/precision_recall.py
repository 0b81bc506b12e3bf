"""The area under the precision-recall curve, by any estimator and over any range of recall."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _threads, _validation
from .._numerics import ratio
from ..exceptions import InputError
from ..ranking import Ranking
from ..ranking.number_layout import Cells
from . import _kernels
from ._kernels import Kernel, Steps, make_steps
from .base import FloatArray, Metric
from .estimators import ESTIMATORS, Estimator
from .floors import area_limits, random_average_precision

_WHOLE = (0.0, 1.0)
# An area takes as long for one threshold as ranking takes for so many rows.
_ROWS_PER_THRESHOLD = 5
_NEGATIVES = ("rows", "thresholds")
_RULES = (
    "guarded",
    "binomial",
    "logit",
    "influence",
    "bootstrap_percentile",
    "bootstrap_bca",
    "bootstrap_t",
)


@dataclass(frozen=True)
class Area(Metric):
    """What both areas share: an estimator and a range of recall.

    Recall is a share of all positives. Beyond that of the positives that were scored no threshold
    selects any: precision counts as 0 there, whatever the estimator.
    """

    estimator: str = "average_precision"
    recall: tuple[float, float] = _WHOLE

    rules = _RULES
    shown = True
    counts_missed = True

    def __post_init__(self) -> None:
        """Check the options."""
        _validation.as_choice(self.estimator, "estimator", ESTIMATORS)
        object.__setattr__(self, "recall", _validation.as_range(self.recall, "recall"))

    @property
    def kind(self) -> Estimator:
        """What the estimator can do."""
        return ESTIMATORS[self.estimator]

    @property
    def unnormalised(self) -> Metric:
        """The area as it is."""
        return PrecisionRecallArea(self.estimator, self.recall)

    @property
    def share_of_positives(self) -> float:
        """Those between the ends of the recall range."""
        return self.length

    @property
    def length(self) -> float:
        """The length of the recall range."""
        return self.recall[1] - self.recall[0]

    @property
    def mean_precision(self) -> bool:
        """Whether it is average precision over all recalls, for which there are faster ways."""
        return self.estimator == "average_precision" and self.recall == _WHOLE

    @property
    def merges_runs(self) -> bool:
        """Whether runs of positives count by their sum alone.

        Not in average precision: it gives positives that share a threshold the precision on
        arrival, so ties within a run raise it.
        """
        return self.kind.merges_runs

    @property
    def ignores_ties(self) -> bool:
        """Whether a tied negative counts as one above the positive would."""
        return self.kind.ignores_ties

    @property
    def smooth(self) -> bool:
        """Whether the estimator has influence values."""
        return self.kind.gradient is not None

    def no_gradient(self) -> InputError:
        """Return the error that names the estimators that have one."""
        others = ", ".join(name for name, kind in ESTIMATORS.items() if kind.gradient is not None)
        return InputError(
            f"{self.name} by {self.estimator} has no influence values: use "
            f"method='bootstrap_percentile', or one of {others}."
        )

    def area(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the area under the curve itself."""
        if self.mean_precision:
            weight = np.asarray(cells.positives)
            return _kernels.mean_precision(weight, cells.tp, cells.fp, cells.missed)
        return self.kernel(make_steps(cells, squares), *self.recall)

    def sampled_area(self, cells: Cells, squares: Cells) -> Any:
        """Return the area where a row stands for several: it ranks above itself only once.

        A positive of weight w among others of weight TP finds ``TP + 1`` positives, not ``TP + w``:
        that would raise average precision.
        """
        if not self.mean_precision:
            return self.area(cells, squares)
        weight = np.asarray(cells.positives)
        tp = cells.tp - ratio(squares.positives, weight) + 1.0
        found = np.sum(weight * ratio(tp, tp + cells.fp), axis=-1)
        return ratio(found, np.sum(weight, axis=-1))[()]

    @property
    def kernel(self) -> Kernel:
        """The estimator on counts; raises for one that needs raw scores."""
        if self.kind.kernel is None:
            raise InputError(
                f"the {self.estimator} estimator needs the mean and standard deviation of raw "
                "scores, which counts do not have: use precall.rank and precall.aucpr for its "
                "value, method='logit' for its interval, or another estimator."
            )
        return self.kind.kernel

    def area_of(self, ranking: Ranking, steps: Steps | None = None) -> float:
        """Return the area of one ranking, from its cumulated counts or from its scores' moments.

        `steps` are those of the ranking, where somebody has made them already.
        """
        if not ranking.n_pos:  # all positives were missed
            return 0.0
        if self.kind.of_scores is not None:
            reached = ranking.n_pos / ranking.all_positives
            low, high = (min(end / reached, 1.0) for end in self.recall)
            return reached * self.kind.of_scores(ranking.scored, low, high) if low < high else 0.0
        if self.mean_precision:
            counts = ranking.positives, ranking.tp, ranking.fp, ranking.missed
            return float(_kernels.mean_precision(*counts))
        if steps is None:
            steps = make_steps(ranking.cells, ranking.squares)
        return float(self.kernel(steps, *self.recall))

    def area_gradient(self, cells: Cells) -> Cells:
        """Return the derivative of the area by the weight of each cell."""
        if self.kind.gradient is None:
            raise self.no_gradient()
        return self.kind.gradient(self.kernel, cells, self.recall)

    def unit_value(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the area over the length of its range, normalised by nothing else."""
        return self.area(cells, squares) / self.length

    def unbiased(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the leave-one-out area on the unit scale."""
        return _kernels.leave_one_out(make_steps(cells, squares), *self.recall) / self.length

    def random_area(self, ranking: Ranking) -> float:
        """Expected average precision of a random order of these rows.

        Of other estimators, of a range of recall and where weights are no counts, the area under
        the curve of a random scorer, whose precision is the prevalence.
        """
        reached = ranking.n_pos / ranking.all_positives if ranking.n_pos else 0.0
        if self.mean_precision and not ranking.divisible and ranking.n_pos + ranking.n_neg > 1:
            return reached * random_average_precision(ranking.n_pos, ranking.n_neg)
        low, high = (min(end, reached) for end in self.recall)
        return ranking.prevalence * (high - low)


@dataclass(frozen=True)
class PrecisionRecallArea(Area):
    """The area under the precision-recall curve.

    Parameters
    ----------
    estimator : str, default "average_precision"
        A name in :data:`precall.ESTIMATORS`.
    recall : (float, float), default (0.0, 1.0)
        The range of recall.
    negatives : {"rows", "thresholds"}
        For ``interpolated_mean`` and ``interpolated_median``: whether each negative between two
        positives is a point, or each threshold, so that tied negatives count once.

    Examples
    --------
    >>> import precall as pr
    >>> metric = pr.metrics.aucpr(estimator="davis_goadrich", recall=(0.5, 1.0))
    >>> round(metric(pr.rank([1, 0, 1, 0], [4, 3, 2, 1])), 6)
    0.297267
    >>> print(metric)
    aucpr(estimator=davis_goadrich, recall=(0.5, 1))
    """

    negatives: str = "rows"

    name = "aucpr"
    title = "AUCPR"
    summary = "area under the precision-recall curve"
    explanation = (
        "Area under the precision-recall curve (average precision): the mean precision over all "
        "positives."
    )
    needs_negatives = False
    with_prevalence = (
        "AUCPR rises with it: {dominated}. Average AUCNPR instead, or compare at one prevalence "
        "with summary_curve."
    )

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        _validation.as_choice(self.negatives, "negatives", _NEGATIVES)
        if self.by_threshold and self.kind.of_thresholds is None:
            able = [name for name, kind in ESTIMATORS.items() if kind.of_thresholds is not None]
            raise InputError(
                f"negatives='thresholds' is for the estimators {' and '.join(able)}, not for "
                f"{self.estimator}."
            )

    @property
    def by_threshold(self) -> bool:
        """Whether tied negatives count once."""
        return self.negatives == "thresholds"

    @property
    def kernel(self) -> Kernel:
        """The estimator on counts."""
        return (self.by_threshold and self.kind.of_thresholds) or super().kernel

    def ranked(self, data: Any) -> Ranking:
        """Return the ranking; with all its rows where thresholds are counted."""
        found = super().ranked(data)
        return data if self.by_threshold and isinstance(data, Ranking) else found

    @property
    def bounds(self) -> tuple[float, float]:
        """Nothing lies outside of 0 and the length of the recall range."""
        return self.unit

    @property
    def unit(self) -> tuple[float, float]:
        """On the unit scale an area is divided by the length of its recall range."""
        return 0.0, self.length

    def value(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the area."""
        return self.area(cells, squares)

    def sampled_value(self, cells: Cells, squares: Cells) -> Any:
        """Return the area where every row stands for as many as its weight says."""
        return self.sampled_area(cells, squares)

    def gradient(self, cells: Cells) -> Cells:
        """Return the derivative by the weight of each cell, up to one constant per class."""
        return self.area_gradient(cells)

    def prevalence_slope(self, cells: Cells) -> Any:
        """Return ``sum w P (1 - P) / n`` for average precision."""
        return (
            mean_precision_slope(cells) if self.mean_precision else super().prevalence_slope(cells)
        )

    def of_ranking(self, ranking: Ranking) -> float:
        """Return the area of one ranking."""
        return self.area_of(ranking)

    def convention(self, ranking: Ranking) -> float:
        """With no positives 0, with no negatives what was reached of the recall range."""
        if not ranking.n_pos:
            return 0.0
        reached = float(ranking.n_pos / ranking.all_positives)
        low, high = (min(end, reached) for end in self.recall)
        return high - low

    def floor(self, ranking: Ranking) -> float:
        """Return the area of the worst ranking of the same rows."""
        return float(area_limits(ranking, self.estimator, self.recall)[0])

    def random(self, ranking: Ranking) -> float:
        """Return the expected area of a random order."""
        return self.random_area(ranking)

    def per_group(self, rankings: Any) -> FloatArray:
        """Average precision needs one sum per group, and counts positives that had no score."""
        if not self.mean_precision:
            return super().per_group(rankings)
        found = _threads.each_in_threads(
            _mean_precisions, rankings.parts(), rankings.threshold.size
        )
        return np.concatenate([np.zeros(0), *found])


def mean_precision_slope(cells: Cells) -> Any:
    """The derivative of average precision by the log odds of the prevalence."""
    weight = np.asarray(cells.positives, dtype=np.float64)
    precision = ratio(cells.tp, cells.tp + cells.fp)
    return np.sum(weight * precision * (1.0 - precision), axis=-1) / cells.all_positives


def _mean_precisions(rankings: Any) -> FloatArray:
    precision = ratio(rankings.tp, rankings.tp + rankings.fp)
    total = rankings.sums(rankings.cells.positives * precision)
    return ratio(total, rankings.all_positives)


def areas_by_estimator(ranking: Ranking) -> dict[str, float]:
    """Return the area by every estimator that is defined for the ranking, of both classes."""
    steps = make_steps(ranking.cells, ranking.squares)

    def area(estimator: str) -> float | None:
        # The binormal estimator needs finite scores that differ.
        with suppress(InputError):
            return PrecisionRecallArea(estimator).area_of(ranking, steps)
        return None

    areas = _threads.each_in_threads(area, list(ESTIMATORS), _ROWS_PER_THRESHOLD * len(ranking))
    found = zip(ESTIMATORS, areas, strict=True)
    return {name: area for name, area in found if area is not None}


def bounds_of_estimators(ranking: Ranking) -> tuple[float, float]:
    """Bounds of the area by every estimator that is a sum over the rows, of both classes.

    From row to row such a curve stays in the box between the counts of the one before and those of
    the next one; the hull and the area without bias leave it, and are computed. In a quarter of the
    time that all of them take.
    """
    steps = make_steps(ranking.cells, ranking.squares)
    n_pos = steps.n_pos[..., 0]
    worst = ratio(steps.tp0, steps.tp0 + steps.fp1 + steps.gap)
    best = ratio(steps.tp1, steps.tp1 + steps.fp_last)
    others = [
        PrecisionRecallArea(name).area_of(ranking, steps)
        for name in ("interpolated_convex", "leave_one_out")
    ]
    return (
        min(float(np.sum(steps.weight * worst) / n_pos), *others),
        max(float(np.sum(steps.weight * best) / n_pos), *others),
    )

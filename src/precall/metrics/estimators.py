"""The estimators of the area under the precision-recall curve, each with all that it knows.

A new one is a function and a line in :data:`ESTIMATORS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._numerics import precision_sum, ratio, segment_area
from ..ranking import Ranking
from ..ranking.number_layout import Cells
from . import _extremes as extremes
from . import _kernels as kernels
from ._kernels import Kernel, Steps
from .binormal import binormal_area
from .gradients import average_precision_gradient, cumulated_gradient, hull_gradient

FloatArray = npt.NDArray[np.float64]
Recall = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Estimator:
    """What an estimator of the area is, where it comes from, how it errs and what it can do.

    Attributes
    ----------
    summary, source, bias : str
    kernel : callable, optional
        The area from :class:`~precall.metrics._kernels.Steps` and a recall range.
    of_thresholds : callable, optional
        The kernel that counts the thresholds between two positives instead of the negatives.
    of_scores : callable, optional
        The area of a Ranking and a recall range, for an estimator that needs more than its counts.
    gradient : callable, optional
        The derivative of the area by the weight of each cell, from the kernel, the cells and a
        recall range; without one there are no influence values.
    worst, perfect : callable, optional
        The cumulated area of the worst and of the perfect ranking, as in ``_extremes.py``; without
        them it is the area under the minimum curve, and the length of the recall range.
    hull : bool
        Whether mixing thresholds is allowed: the worst ranking then has the diagonal.
    tie_bounds : callable, optional
        Smallest and largest contribution of every row over all orders inside it.
    merges_runs, ignores_ties : bool
        As in :class:`~precall.metrics.Metric`.
    """

    summary: str
    source: str
    bias: str
    kernel: Kernel | None = None
    of_thresholds: Kernel | None = None
    of_scores: Callable[[Ranking, float, float], float] | None = None
    gradient: Callable[[Kernel, Cells, Recall], Cells] | None = None
    worst: extremes.Cumulated | None = None
    perfect: extremes.Cumulated | None = None
    hull: bool = False
    tie_bounds: Callable[[Steps, bool], tuple[Any, Any]] | None = None
    merges_runs: bool = False
    ignores_ties: bool = False


def precision_bounds(steps: Steps, divisible: bool) -> tuple[Any, Any]:
    """Positives last and apart, and positives first and tied."""
    lows = (
        segment_area(steps.tp0, steps.fp1, steps.tp1, steps.fp1)
        if divisible
        else precision_sum(steps.tp0, steps.fp1, steps.weight)
    )
    return lows, steps.weight * ratio(steps.tp1, steps.tp1 + steps.fp0)


def curve_bounds(steps: Steps, divisible: bool) -> tuple[Any, Any]:
    """All negatives of the row before its positives, and all after."""
    return (
        segment_area(steps.tp0, steps.fp1, steps.tp1, steps.fp1),
        segment_area(steps.tp0, steps.fp0, steps.tp1, steps.fp0),
    )


ESTIMATORS: dict[str, Estimator] = {
    "average_precision": Estimator(
        summary="mean precision over the positives; the usual choice",
        source="Zhu 2004; Boyd 2014, eq. (4.10) with >=; scikit-learn",
        bias="upwards when positives are few: +21 % at binormal, N=100, prevalence .1",
        kernel=kernels.average_precision,
        gradient=average_precision_gradient,
        worst=extremes.average_precision,
        tie_bounds=precision_bounds,
        ignores_ties=True,
    ),
    "lower_trapezoid": Estimator(
        summary="trapezoids from the lowest precision at each recall to the highest at the next",
        source="Boyd 2014, eq. (4.3)",
        bias="small: +12 % at binormal, N=100, prevalence .1, about 0 elsewhere",
        kernel=kernels.lower_trapezoid,
        gradient=cumulated_gradient,
        worst=extremes.lower_trapezoid,
    ),
    "upper_trapezoid": Estimator(
        summary="trapezoids through the highest precision at each recall",
        source="Boyd 2014, eq. (4.4), corrected",
        bias="upwards always: +36 % at binormal, N=100, prevalence .1",
        kernel=kernels.upper_trapezoid,
        gradient=cumulated_gradient,
        worst=extremes.upper_trapezoid,
    ),
    "interpolated_max": Estimator(
        summary="hyperbolas through the highest precision at each recall",
        source="Boyd 2014, Theorem 4.1",
        bias="upwards: +27 % at binormal, N=100, prevalence .1",
        kernel=kernels.interpolated_max,
        gradient=cumulated_gradient,
        worst=extremes.hyperbolas,
    ),
    "interpolated_mean": Estimator(
        summary="hyperbolas through the mean precision at each recall",
        source="Boyd 2014, Theorem 4.1",
        bias="small; a perfect ranking gets less than 1: trailing negatives count at recall 1",
        kernel=kernels.interpolated_mean,
        of_thresholds=kernels.mean_of_thresholds,
        worst=extremes.hyperbolas,
        perfect=extremes.last_at_mean,
    ),
    "interpolated_median": Estimator(
        summary="hyperbolas through the median precision at each recall",
        source="Boyd 2014, Theorem 4.1",
        bias="small; a perfect ranking gets less than 1: trailing negatives count at recall 1",
        kernel=kernels.interpolated_median,
        of_thresholds=kernels.median_of_thresholds,
        worst=extremes.hyperbolas,
        perfect=extremes.last_at_median,
    ),
    "interpolated_convex": Estimator(
        summary="the curve of the ROC convex hull: the best that mixing thresholds achieves",
        source="Boyd 2014, section 4.3.2; Davis & Goadrich 2006",
        bias="upwards most of all: +39 % at binormal, N=100, prevalence .1",
        kernel=kernels.interpolated_convex,
        gradient=hull_gradient,
        merges_runs=True,
        hull=True,
    ),
    "binormal": Estimator(
        summary="the area of two normal distributions with the moments of the scores",
        source="Boyd 2014, eq. (4.11), sign corrected; Brodersen et al. 2010",
        bias="none if scores are normal, else large at any size: -14 % at offset uniform",
        of_scores=binormal_area,
    ),
    "davis_goadrich": Estimator(
        summary="hyperbolas through every observed point: the exact area under the drawn curve",
        source="Davis & Goadrich 2006; Clemencon & Vayatis 2009, plug-in curve",
        bias="close to lower_trapezoid's",
        kernel=kernels.davis_goadrich,
        gradient=cumulated_gradient,
        tie_bounds=curve_bounds,
        merges_runs=True,
    ),
    "leave_one_out": Estimator(
        summary="mean precision that each positive gets from the other positives",
        source="this library",
        bias="nearly none: +1 % where average_precision has +81 % (binormal, .01, 10 positives)",
        kernel=kernels.leave_one_out,
        # Average precision's: the two differ by a term of order 1/n.
        gradient=average_precision_gradient,
        worst=extremes.leave_one_out,
    ),
}

"""Areas: every AUCPR estimator, its floor and its baselines, AUROC and the PR-gain area."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _validation
from ._direction import concordance
from ._estimators import ESTIMATORS, KERNELS, make_steps, mean_precision, ratio
from ._extremes import worst_and_perfect
from ._interval import Interval
from ._layout import Cells
from ._numerics import log1p_excess, log1p_over, precision_sum, segment_area
from ._rounding import area_error, outward
from .exceptions import InputError, UndefinedMetricError, UndefinedMetricWarning
from .ranking import Ranking

FloatArray = npt.NDArray[np.float64]

BOUNDED = ("average_precision", "davis_goadrich")

# Products of two such sizes are still floats.
_MOST_ROWS = 1e100


def aucpr(
    ranking: Ranking,
    estimator: str = "average_precision",
    recall: tuple[float, float] = (0.0, 1.0),
) -> float:
    """Estimate the area under the precision-recall curve.

    Parameters
    ----------
    ranking : Ranking
        From :func:`precall.rank`.
    estimator : str, default "average_precision"
        A name in :data:`precall.ESTIMATORS`. Which to use:

        - ``average_precision``: the default; what most papers and scikit-learn report.
        - ``davis_goadrich``: the exact area under the curve that :func:`precall.pr_curve`
          draws; normalised by :func:`aucnpr` it is the dissertation's AUCNPR.
        - ``lower_trapezoid``: least biased of the classical ones at moderate sizes.
        - ``leave_one_out``: with fewer than about 50 positives at low prevalence, where
          average precision is biased upwards.
        - ``interpolated_convex``: the curve you can reach by mixing thresholds at random.
        - the others, to reproduce a published number.
    recall : (float, float), default (0.0, 1.0)
        The same curve integrated over this range of recall only.

    Returns
    -------
    float
        With no positives 0 and with no negatives the length of the recall range, each with an
        :class:`~precall.exceptions.UndefinedMetricWarning`.

    Notes
    -----
    A tie between classes is one threshold. ``O(rows)``; the negatives' scores are not needed.
    Weights that are whole numbers count as repetitions, except in ``leave_one_out`` (which
    removes a row's whole weight) and ``binormal`` (whose variances take them as importance
    weights).

    References
    ----------
    Boyd, *Mitigating the risks of thresholdless metrics in machine learning evaluation*, 2014,
    section 4.3.

    Examples
    --------
    >>> import precall as pr
    >>> ranking = pr.rank([1, 0, 1, 0], [4, 3, 2, 1])
    >>> round(pr.aucpr(ranking), 6)
    0.833333
    >>> round(pr.aucpr(ranking, estimator="davis_goadrich", recall=(0.5, 1.0)), 6)
    0.297267
    """
    _validation.require_ranking(ranking)
    _validation.as_choice(estimator, "estimator", ESTIMATORS)
    low, high = _validation.as_range(recall, "recall")
    if not (ranking.n_pos and ranking.n_neg):
        warn_undefined(ranking, "AUCPR")
        return (high - low) * float(ranking.n_pos > 0)
    if estimator == "binormal":
        return _binormal(ranking, low, high)
    if estimator == "average_precision" and (low, high) == (0.0, 1.0):
        return float(mean_precision(ranking.positives, ranking.tp, ranking.fp))
    return float(KERNELS[estimator](make_steps(ranking.cells, ranking.squares), low, high))


def warn_undefined(ranking: Ranking, metric: str) -> None:
    """Say which class is empty; the caller then returns the convention's value."""
    missing = "negatives" if ranking.n_pos else "positives"
    warnings.warn(
        f"{metric} is not defined with no {missing}: the value returned is a convention; "
        "check the labels and pos_label.",
        UndefinedMetricWarning,
        stacklevel=3,
    )


def _binormal(ranking: Ranking, low: float, high: float) -> float:
    """Integrate over ``z = Phi^-1(recall)``, in panels fine enough for both classes' scales."""
    from scipy.special import log_ndtr, ndtri

    (mean_y, deviation_y), (mean_x, deviation_x) = _score_laws(ranking)
    shift, stretch = (mean_x - mean_y) / deviation_x, deviation_y / deviation_x
    start, stop = max(float(ndtri(low)), -39.0), min(float(ndtri(high)), 39.0)
    around = np.linspace(-10.0, 10.0, 41)
    # FPR moves on its own scale around z = -shift / stretch.
    panels = np.unique(np.clip(np.concatenate([around, (around - shift) / stretch]), start, stop))
    panels = np.union1d(panels, [start, stop])
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = np.diff(panels)[:, np.newaxis] / 2
    z = panels[:-1, np.newaxis] + half * (nodes + 1)
    odds = (1 - ranking.prevalence) / ranking.prevalence
    with np.errstate(over="ignore"):
        precision = 1 / (1 + odds * np.exp(log_ndtr(shift + stretch * z) - log_ndtr(z)))
    density = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    return float(np.sum(half * weights * density * precision))


def _score_laws(ranking: Ranking) -> tuple[tuple[float, float], tuple[float, float]]:
    """Mean and standard deviation of the scores in each class (``n - 1``; Kish's with weights)."""
    if ranking.moments is None:
        raise UndefinedMetricError(
            "the binormal estimator needs the mean and standard deviation of finite raw scores, "
            "which this ranking does not carry: build it with rank() on finite scores."
        )
    laws = []
    sizes = zip(ranking.effective_sizes, (ranking.n_pos, ranking.n_neg), strict=True)
    for name, (mean, squared), (effective, total) in zip(
        ("positives", "negatives"), ranking.moments, sizes, strict=True
    ):
        if effective <= 1 or squared == 0:
            raise UndefinedMetricError(
                f"the binormal estimator needs two different scores among the {name}: "
                "use another estimator here."
            )
        laws.append((mean, math.sqrt(squared / (total - total / effective))))
    return laws[0], laws[1]


def tie_bounds(ranking: Ranking, estimator: str = "average_precision") -> Interval:
    """Bound an area over every way the rows inside each tie could have been scored.

    Any order and any ties among the rows of a cell are allowed, so the bounds contain the
    exact value of whatever was coarsened with :meth:`precall.Ranking.coarsen`.

    Parameters
    ----------
    ranking : Ranking
    estimator : {"average_precision", "davis_goadrich"}

    Returns
    -------
    Interval
        ``confidence_level`` is 1: the bounds are certain and attained (for weights that are
        not whole numbers, the lower bound of average precision is a limit: positives may be
        split finer and finer). They are rounded outwards by a bound on the error of the sums,
        some 1e-14, so that every value computed on finer scores lies between them.

    Notes
    -----
    A cell of ``p`` positives and ``q`` negatives after ``(TP, FP)`` contributes to ``n AP`` at
    least ``sum_{i=1..p} (TP+i)/(TP+i+FP+q)``, its positives last and apart, and at most
    ``p (TP+p)/(TP+p+FP)``, its positives first and tied.

    Examples
    --------
    >>> import precall as pr
    >>> pr.tie_bounds(pr.rank([1, 0, 1, 0], [2, 2, 2, 1]))
    Interval(0.666667, low=0.583333, high=1, 100 %, tie_bounds)
    """
    _validation.require_ranking(ranking)
    if _validation.as_choice(estimator, "estimator", ESTIMATORS) not in BOUNDED:
        raise InputError(
            f"tie_bounds knows bounds for {' and '.join(BOUNDED)} only, not for {estimator!r}."
        )
    estimate = aucpr(ranking, estimator=estimator)
    if not (ranking.n_pos and ranking.n_neg):
        low = high = estimate
    else:
        steps = make_steps(ranking.cells)
        if estimator == "davis_goadrich":
            lows = segment_area(steps.tp0, steps.fp1, steps.tp1, steps.fp1)
            highs = segment_area(steps.tp0, steps.fp0, steps.tp1, steps.fp0)
        else:
            lows = (
                segment_area(steps.tp0, steps.fp1, steps.tp1, steps.fp1)
                if ranking.divisible
                else precision_sum(steps.tp0, steps.fp1, steps.weight)
            )
            highs = steps.weight * ratio(steps.tp1, steps.tp1 + steps.fp0)
        low, high = (float(np.sum(side) / ranking.n_pos) for side in (lows, highs))
        rows = ranking.rows or ranking.cells
        size = float(np.sum(rows.positives) + np.sum(rows.tied) + np.sum(rows.above) + rows.below)
        low, high = outward(low, high, area_error(size, exact_counts=not ranking.weighted))
    return Interval(
        low=low,
        high=high,
        estimate=estimate,
        confidence_level=1.0,
        method="tie_bounds",
    )


def minimum_aucpr(prevalence: Any, recall: tuple[float, float] = (0.0, 1.0)) -> Any:
    """Return the smallest area that any ranking can have at this prevalence.

    ``1 + (1 - pi) ln(1 - pi) / pi`` on the whole range; computed in a form that keeps all digits
    down to a prevalence of 1e-300. A number gives a float, an array gives an array.

    References
    ----------
    Boyd, Santos Costa, Davis & Page, *Unachievable region in precision-recall space*, 2012,
    Theorem 2.

    Examples
    --------
    >>> import precall as pr
    >>> round(pr.minimum_aucpr(0.5), 6)
    0.306853
    >>> pr.minimum_aucpr(1e-8)
    5.000000016666667e-09
    """
    pi = _validation.as_numbers(prevalence, "prevalence")
    if not np.all((pi >= 0) & (pi <= 1)):
        raise InputError(f"prevalence must be between 0 and 1, got {prevalence!r}.")
    low, high = _validation.as_range(recall, "recall")
    length = high - low
    start = 1.0 - pi + pi * low
    safe = np.where(start > 0, start, 1.0)
    x = np.where(start > 0, pi * length / safe, 0.0)
    area = x * (low * log1p_over(x) + length * log1p_excess(x))
    area = np.where(pi == 1, length, area)
    return float(area) if area.ndim == 0 else area


def minimum_average_precision(n_pos: float, n_neg: float) -> float:
    """Return the average precision of the worst ranking: all negatives above all positives.

    ``(1/n) sum_{i=1..n} i / (i + m)``, in closed form.

    Examples
    --------
    >>> import precall as pr
    >>> round(pr.minimum_average_precision(2, 3), 6)
    0.325
    >>> pr.minimum_average_precision(1, 1e9)
    9.99999999e-10
    """
    n, m = _class_sizes(n_pos, n_neg)
    if n == 0:
        return 0.0
    return float(precision_sum(0.0, m, n) / n)


def random_average_precision(n_pos: float, n_neg: float) -> float:
    """Return the expected average precision of a random order.

    ``(n-1)/(N-1) + (N-n) H_N / (N (N-1))``: more than the prevalence, much more when positives
    are few.

    Examples
    --------
    >>> import precall as pr
    >>> round(pr.random_average_precision(10, 90), 6)
    0.138067
    """
    n, m = _class_sizes(n_pos, n_neg)
    total = n + m
    if n == 0 or m == 0:
        return float(n > 0)
    if total <= 1:
        raise InputError(f"n_pos + n_neg must be above 1, got {total:g}.")
    from scipy.special import digamma

    harmonic = float(digamma(total + 1)) + np.euler_gamma
    return (n - 1) / (total - 1) + m * harmonic / (total * (total - 1))


def _class_sizes(n_pos: object, n_neg: object) -> tuple[float, float]:
    n, m = _validation.as_number(n_pos, "n_pos"), _validation.as_number(n_neg, "n_neg")
    if not (0 <= n <= _MOST_ROWS and 0 <= m <= _MOST_ROWS):
        raise InputError(
            f"n_pos and n_neg must be not negative and at most {_MOST_ROWS:g}, got {n:g} and {m:g}."
        )
    return n, m


def aucnpr(
    ranking: Ranking,
    estimator: str = "average_precision",
    recall: tuple[float, float] = (0.0, 1.0),
) -> float:
    """Return the area normalised to what is achievable: 0 is the worst ranking, 1 the perfect.

    ``(A - A_min) / (A_max - A_min)``, where both ends are the same estimator on the worst and on
    the perfect ranking of the same class sizes and recall range. With ``davis_goadrich`` this is
    the dissertation's AUCNPR.

    Returns
    -------
    float
        With no positives 0 and with no negatives 1, with a warning.

    References
    ----------
    Boyd, Santos Costa, Davis & Page 2012, section 3.

    Examples
    --------
    >>> import precall as pr
    >>> pr.aucnpr(pr.rank([1, 1, 0, 0], [4, 3, 2, 1]))
    1.0
    >>> round(pr.aucnpr(pr.rank([1, 0, 1, 0], [4, 3, 2, 1])), 6)
    0.714286
    """
    _validation.require_ranking(ranking)
    recall = _validation.as_range(recall, "recall")
    if not (ranking.n_pos and ranking.n_neg):
        _validation.as_choice(estimator, "estimator", ESTIMATORS)
        warn_undefined(ranking, "AUCNPR")
        return float(ranking.n_pos > 0)
    area = aucpr(ranking, estimator=estimator, recall=recall)
    low, high = area_limits(ranking, estimator, recall)
    return (area - low) / (high - low)


def area_limits(
    ranking: Ranking, estimator: str, recall: tuple[float, float]
) -> tuple[float, float]:
    """Return the estimator's value on the worst and on the perfect ranking of these sizes.

    With weights that are not whole numbers the positives are taken as infinitely divisible,
    where every estimator agrees with the area under the curve.
    """
    low, high = recall
    n, m = float(ranking.n_pos), float(ranking.n_neg)
    if estimator == "interpolated_convex":  # the hull of the worst ranking is the diagonal
        return ranking.prevalence * (high - low), high - low
    divisible = estimator == "binormal" or ranking.divisible
    if divisible or estimator == "davis_goadrich":
        return minimum_aucpr(ranking.prevalence, recall), high - low
    worst, perfect = worst_and_perfect(estimator, n, m, recall)
    return float(worst), float(perfect)


def auroc(ranking: Ranking, false_positive_rate: tuple[float, float] = (0.0, 1.0)) -> float:
    """Return the area under the ROC curve, or the part of it over a range of false-positive rate.

    Ties between classes count one half. NaN, with a warning, when a class is empty.

    Examples
    --------
    >>> import precall as pr
    >>> ranking = pr.rank([1, 0, 1, 0], [4, 3, 2, 1])
    >>> pr.auroc(ranking), pr.auroc(ranking, false_positive_rate=(0.0, 0.5))
    (0.75, 0.25)
    """
    _validation.require_ranking(ranking)
    low, high = _validation.as_range(false_positive_rate, "false_positive_rate")
    if not (ranking.n_pos and ranking.n_neg):
        warn_undefined(ranking, "AUROC")
        return float("nan")
    if (low, high) == (0.0, 1.0):
        return concordance(ranking)
    n, m = float(ranking.n_pos), float(ranking.n_neg)
    tp = np.concatenate([[0.0], np.repeat(ranking.tp, 2), [n]]) / n
    tp[1:-1:2] -= ranking.positives / n  # before the row's own positives
    fp = np.empty_like(tp)
    fp[0], fp[1:-1:2], fp[2:-1:2], fp[-1] = 0.0, ranking.fp - ranking.tied, ranking.fp, m
    fp /= m
    left, right = fp[:-1], fp[1:]
    start, stop = np.clip(left, low, high), np.clip(right, low, high)
    slope = ratio(np.diff(tp), right - left)
    height = tp[:-1] + slope * (0.5 * (start + stop) - left)
    return float(np.sum((stop - start) * height))


def auprg(ranking: Ranking) -> float:
    """Return the area under the precision-recall-gain curve.

    ``precG = 1 - (pi/(1-pi)) FP/TP`` over ``recG = 1 - (pi/(1-pi)) FN/TP`` from 0 to 1, linear
    between points. Negative precision gain counts as it is: a constant scorer has area 0, a
    perfect one 1.

    Returns
    -------
    float
        With no positives 0 and with no negatives 1, with a warning.

    References
    ----------
    Flach & Kull, *Precision-recall-gain curves: PR analysis done right*, 2015.

    Examples
    --------
    >>> import precall as pr
    >>> pr.auprg(pr.rank([1, 0, 1, 0], [1, 1, 1, 1]))
    0.0
    """
    _validation.require_ranking(ranking)
    if not (ranking.n_pos and ranking.n_neg):
        warn_undefined(ranking, "AUPRG")
        return float(ranking.n_pos > 0)
    return float(gain_area(ranking.cells))


def gain_area(cells: Cells) -> Any:
    """PR-gain area of one ranking or of many along the leading axes."""
    steps = make_steps(cells)
    odds = steps.n_pos / steps.n_neg
    # recG = 0 where TP = n^2 / N.
    start = np.maximum(steps.tp0, steps.n_pos**2 / (steps.n_pos + steps.n_neg))
    stop = np.maximum(steps.tp1, start)
    share = ratio(start - steps.tp0, steps.weight)
    fp_start = steps.fp0 + share * (steps.fp1 - steps.fp0)
    gain = 1 - 0.5 * odds * (fp_start / start + steps.fp1 / stop)
    # recG rises by odds n (1/start - 1/stop) over the row.
    rise = odds * steps.n_pos * (stop - start) / (start * stop)
    return np.sum(np.where(stop > start, rise * gain, 0.0), axis=-1)

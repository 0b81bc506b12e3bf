"""Areas of one ranking: AUCPR by every estimator, normalised or not, AUROC, the PR-gain area."""

from __future__ import annotations

from operator import is_

import numpy as np

from .. import _validation
from .._interval import Interval
from .._rounding import area_error, outward
from ..exceptions import InputError
from ..ranking import Ranking
from ..ranking.checks import as_ranking, require_ranking
from ..ranking.reflex import takes_one_ranking
from . import ESTIMATORS
from ._kernels import make_steps
from .floors import minimum_aucpr, minimum_average_precision, random_average_precision
from .gain import GainArea
from .normalised_area import NormalisedArea
from .precision_recall import PrecisionRecallArea
from .roc import RocArea

__all__ = [
    "aucnpr",
    "aucpr",
    "auprg",
    "auroc",
    "minimum_aucpr",
    "minimum_average_precision",
    "random_average_precision",
    "tie_bounds",
]


# Ready for who asks for nothing else: checking the options takes as long as a sum of 1,000 rows.
_USUAL = PrecisionRecallArea()


@takes_one_ranking
def aucpr(
    ranking: Ranking,
    *,
    estimator: str = _USUAL.estimator,
    recall: tuple[float, float] = _USUAL.recall,
    negatives: str = _USUAL.negatives,
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
    negatives : {"rows", "thresholds"}
        For ``interpolated_mean`` and ``interpolated_median``, which summarise the precisions at
        each recall: ``"rows"`` has a precision for each negative between two positives, so that a
        weight is a repetition; ``"thresholds"`` one for each threshold, as the dissertation's own
        code does, so that tied negatives count once. The latter needs a ranking that knows every
        score: ``pr.rank(y_true, y_score, thresholds=y_score)``.

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

    Three tied negatives after the only positive are three points, or one:

    >>> y, s = [1, 0, 0, 0], [2, 1, 1, 1]
    >>> ranking = pr.rank(y, s, thresholds=s)
    >>> round(pr.aucpr(ranking, estimator="interpolated_mean"), 4)
    0.5208
    >>> pr.aucpr(ranking, estimator="interpolated_mean", negatives="thresholds")
    0.625
    """
    require_ranking(ranking, missed=True)
    asked = (estimator, recall, negatives)
    usual = all(map(is_, asked, (_USUAL.estimator, _USUAL.recall, _USUAL.negatives)))
    return (_USUAL if usual else PrecisionRecallArea(*asked)).called(ranking, 5)


@takes_one_ranking
def tie_bounds(ranking: Ranking, *, estimator: str = "average_precision") -> Interval:
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
    ranking = as_ranking(ranking, missed=True)
    bounds = ESTIMATORS[_validation.as_choice(estimator, "estimator", ESTIMATORS)].tie_bounds
    if bounds is None:
        known = [name for name, kind in ESTIMATORS.items() if kind.tie_bounds is not None]
        raise InputError(
            f"tie_bounds knows bounds for {' and '.join(known)} only, not for {estimator!r}."
        )
    estimate = aucpr(ranking, estimator=estimator)
    if not (ranking.n_pos and ranking.n_neg):
        low = high = estimate
    else:
        lows, highs = bounds(make_steps(ranking.cells), ranking.divisible)
        low, high = (float(np.sum(side) / ranking.all_positives) for side in (lows, highs))
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


@takes_one_ranking
def aucnpr(
    ranking: Ranking,
    *,
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
    require_ranking(ranking, missed=True)
    return NormalisedArea(estimator, recall).called(ranking, 5)


@takes_one_ranking
def auroc(ranking: Ranking, *, false_positive_rate: tuple[float, float] = (0.0, 1.0)) -> float:
    """Return the area under the ROC curve, or the part of it over a range of false-positive rate.

    Ties between classes count one half. NaN, with a warning, when a class is empty.

    Examples
    --------
    >>> import precall as pr
    >>> ranking = pr.rank([1, 0, 1, 0], [4, 3, 2, 1])
    >>> pr.auroc(ranking), pr.auroc(ranking, false_positive_rate=(0.0, 0.5))
    (0.75, 0.25)
    """
    require_ranking(ranking, missed=True)
    return RocArea(false_positive_rate).called(ranking, 5)


@takes_one_ranking
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
    require_ranking(ranking, missed=True)
    return GainArea().called(ranking, 5)

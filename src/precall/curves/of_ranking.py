"""The curves of a ranking, and the lowest curve that any ranking can have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._numerics import ratio
from ..exceptions import InputError, UndefinedMetricError
from ..ranking import Ranking
from ..ranking.checks import as_ranking
from ..ranking.reflex import takes_one_ranking
from .curve import Curve as Curve
from .curve import drawable, made_up

FloatArray = npt.NDArray[np.float64]


@takes_one_ranking
def pr_curve(ranking: Ranking) -> Curve:
    """Return the precision-recall curve through every observed point.

    No point is invented at recall 0: the curve is flat at the first threshold's precision when
    a positive ranks first, and rises from precision 0 when negatives lead. Its area is exactly
    the ``davis_goadrich`` estimator. Points with ``observed == False`` are added where the
    hyperbola between two thresholds bends visibly. With missed positives it ends at the recall of
    those that were scored, and :meth:`Curve.at` gives precision 0 beyond.

    A :class:`~precall.audit.Sample` has the curve of its whole population as its labels estimate
    it, each labelled row with its weight; :func:`precall.band` says how sure it is. The other
    curves take one too.

    Examples
    --------
    >>> import precall as pr
    >>> ranking = pr.rank([0, 1, 0, 1], [4, 3, 2, 1])
    >>> curve = pr.pr_curve(ranking)
    >>> float(curve.at(0.5))
    0.5
    >>> abs(curve.area() - pr.aucpr(ranking, estimator="davis_goadrich")) < 1e-15
    True
    """
    return drawable(_path(ranking, "pr"))


@takes_one_ranking
def roc_curve(ranking: Ranking) -> Curve:
    """Return the ROC curve: true-positive rate over false-positive rate.

    With missed positives it ends at the recall of those that were scored, where every negative is
    selected; its area is the least that AUROC can be, with the missed ones below every negative.
    """
    return _path(ranking, "roc")


@takes_one_ranking
def hit_curve(ranking: Ranking) -> Curve:
    """Return the hit curve h(t): of everything, the share that is selected and positive.

    Zhu (2004), section 1: recall is ``h(t) / prevalence`` and precision ``h(t) / t``. The perfect
    and the random curve are its methods :meth:`Curve.perfect` and :meth:`Curve.random`. With missed
    positives it ends where all that was scored is selected, and :meth:`Curve.at` gives that height
    beyond: nothing more can be found.

    Examples
    --------
    >>> import precall as pr
    >>> curve = pr.hit_curve(pr.rank([1, 0, 1, 0], [4, 3, 2, 1]))
    >>> float(curve.at(0.75)), float(curve.perfect().at(0.75)), float(curve.random().at(0.75))
    (0.5, 0.5, 0.375)
    """
    return _path(ranking, "hit")


@takes_one_ranking
def lift_curve(ranking: Ranking) -> Curve:
    """Return the lift curve: precision over prevalence, against the share selected.

    With missed positives both are of everything, those included; beyond the end nothing more is
    found, and :meth:`Curve.at` falls in proportion.
    """
    return drawable(_path(ranking, "lift"))


@takes_one_ranking
def gain_curve(ranking: Ranking) -> Curve:
    """Return the precision-recall-gain curve over recall gain 0 to 1 (Flach & Kull 2015).

    Straight lines between its points are right. It starts at ``TP = n^2 / N``, where recall gain
    is 0; precision gain may be negative. With missed positives it ends at the recall gain of those
    that were scored, which must be above 0; beyond, precision 0 is a gain of minus infinity.
    """
    path = _path(ranking, "gain")
    start = path.n_pos**2 / (path.n_pos + path.n_neg)
    if path.tp[-1] <= start:
        raise UndefinedMetricError(
            "a gain curve starts at a recall as large as the prevalence, and too many positives "
            "were missed to reach it: take the precision-recall curve."
        )
    after = int(np.searchsorted(path.tp, start, side="left"))
    before = max(after - 1, 0)
    share = ratio(start - path.tp[before], path.tp[after] - path.tp[before])
    fp = path.fp[before] + share * (path.fp[after] - path.fp[before])
    if path.tp[after] == start:
        return path.subset(slice(after, None))
    return replace(
        path,
        tp=np.append(start, path.tp[after:]),
        fp=np.append(fp, path.fp[after:]),
        threshold=np.append(np.nan, path.threshold[after:]),
        observed=np.append(False, path.observed[after:]),
    )


def minimum_pr_curve(prevalence: float) -> Curve:
    """Return the lowest precision-recall curve that any ranking can have.

    ``precision = pi r / (1 - pi + pi r)``; everything below is unachievable (Boyd et al. 2012,
    Theorem 1).

    Examples
    --------
    >>> import precall as pr
    >>> float(pr.minimum_pr_curve(0.5).at(1.0))
    0.5
    """
    pi = _validation.as_fraction(prevalence, "prevalence")
    return made_up("pr", [0.0, pi], [1.0 - pi, 1.0 - pi])


def is_achievable(recall: Any, precision: Any, prevalence: Any) -> Any:
    """Return whether some ranking can pass through a point: ``p >= pi r / (1 - pi + pi r)``.

    Works element by element on arrays. Points on the boundary are achievable.

    Examples
    --------
    >>> import precall as pr
    >>> pr.is_achievable(0.5, 0.2, 0.5), pr.is_achievable(0.5, 0.4, 0.5)
    (False, True)
    """
    given = {"recall": recall, "precision": precision, "prevalence": prevalence}
    r, p, pi = (_validation.as_numbers(value, name) for name, value in given.items())
    for name, value in zip(given, (r, p, pi), strict=True):
        if not np.all((value >= 0) & (value <= 1)):
            raise InputError(f"{name} must be between 0 and 1, got {value!r}.")
    try:
        np.broadcast_shapes(r.shape, p.shape, pi.shape)
    except ValueError:
        raise InputError(
            f"recall, precision and prevalence must be numbers or arrays of one shape, got "
            f"{r.shape}, {p.shape} and {pi.shape}."
        ) from None
    # A few units in the last place, so that points computed on the boundary stay on it.
    inside = p * (1 - pi + pi * r) >= pi * r * (1 - 4 * np.finfo(float).eps)
    return bool(inside) if inside.ndim == 0 else inside


def _path(ranking: Ranking, kind: str) -> Curve:
    """Vertices: before and after each threshold's own tie, without repetitions."""
    if (estimated := getattr(ranking, "estimated_ranking", None)) is not None:
        ranking = estimated()
    ranking = as_ranking(ranking, missed=True)
    n_pos, n_neg = ranking.n_pos, ranking.n_neg
    if not (n_pos and n_neg):
        missing = "negatives" if n_pos else "positives"
        raise UndefinedMetricError(
            f"a curve needs both classes, and there are no {missing}: check labels and pos_label."
        )
    rows = len(ranking)
    tp, fp = np.zeros(2 * rows + 2), np.zeros(2 * rows + 2)
    threshold = np.empty(2 * rows + 2)
    tp[2:-1:2], tp[3:-1:2] = ranking.tp, ranking.tp[:-1]
    fp[1:-1:2], fp[2:-1:2] = ranking.fp - ranking.tied, ranking.fp
    tp[-1], fp[-1] = n_pos, n_neg
    threshold[0], threshold[-1] = np.inf, -np.inf
    threshold[2:-1:2] = ranking.threshold
    threshold[1:-1:2] = np.nextafter(ranking.threshold.astype(np.float64), np.inf)
    moved = np.append(True, (np.diff(tp) > 0) | (np.diff(fp) > 0))
    observed = np.ones(tp.size, dtype=bool)
    if kind in ("pr", "lift"):
        # Precision of the empty selection is a limit; with leading negatives it is not needed.
        observed[0] = False
        moved[0] = ranking.above[0] == 0 or kind == "lift"
    full = Curve(
        kind=kind,
        tp=tp,
        fp=fp,
        n_pos=float(ranking.all_positives),
        n_neg=float(n_neg),
        threshold=threshold,
        observed=observed,
    )
    return full.subset(moved)

"""The same quantities by this library, and what is known of the differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import precall as pr
from precall.points.share_bounds import observed_share

from .data import DataSet, data_sets
from .tools import MEASURES, PROBABILITY, collection

SETS = {data.name: data for data in data_sets()}


class NotCompared(Exception):
    """The tool's number is not defined by the data alone; the message says why."""


@cache
def _table(name: str, weighted: bool) -> Any:
    data = SETS[name]
    rows = pr.Rows(data.y, data.s, sample_weight=data.w if weighted else None)
    return pr.conventions(rows)


def _convention(quantity: str) -> Callable[[DataSet], float]:
    name, _, weighted = quantity.partition(" ")

    def value(data: DataSet) -> float:
        row = _table(data.name, bool(weighted))[name]
        if row.value is None:
            raise NotCompared(row.reason)
        return row.value

    return value


def _ranking(data: DataSet, weighted: bool = False) -> pr.Ranking:
    return pr.rank(data.y, data.s, sample_weight=data.w if weighted else None)


def _at_median(metric: Any) -> Callable[[DataSet], float]:
    return lambda data: metric(float(np.median(data.s)))(pr.Rows(data.y, data.s))


def _share(which: str) -> Callable[[DataSet], float]:
    def value(data: DataSet) -> float:
        chosen = data.y[data.s >= np.median(data.s)]
        return getattr(observed_share(float(chosen.sum()), float(chosen.size), 0.95), which)

    return value


def _delong(which: str) -> Callable[[DataSet], float]:
    def value(data: DataSet) -> float:
        _require_finite(data)
        if min(data.y.sum(), (1 - data.y).sum()) < 2:
            raise NotCompared("one row of a class has no variance: precall has a wide interval")
        if pr.auroc(_ranking(data)) in (0.0, 1.0):
            raise NotCompared(
                "an estimate of 0 or 1 has variance 0: precall's interval is one-sided"
            )
        return getattr(pr.interval(_ranking(data), "auroc", method="delong"), which)

    return value


def _require_finite(data: DataSet) -> None:
    if not np.isfinite(data.s).all():
        raise NotCompared("scores are infinite: tools raise, drop their rows or order them by luck")


def _auroc(weighted: bool = False, **options: Any) -> Callable[[DataSet], float]:
    def value(data: DataSet) -> float:
        _require_finite(data)
        return pr.auroc(_ranking(data, weighted), **options)

    return value


def _relative(data: DataSet) -> float:
    if _table(data.name, False)["prroc_davis_goadrich"].value is None:
        raise NotCompared("it prints NA where both classes have the same scores")
    return pr.aucnpr(_ranking(data), estimator="davis_goadrich")


def _variance(data: DataSet) -> float:
    """DeLong's variance, from the standard error of a comparison."""
    _delong("low")(data)
    compared = pr.compare(data.y, {"one": data.s, "other": -data.s}, "auroc")
    return compared.standard_errors["one"] ** 2


@cache
def _searched(name: str) -> Any:
    run, judged = collection(SETS[name])
    return pr.read_trec(
        [f"q Q0 {document} 0 {score!r} x" for document, score in run.items()],
        [f"q 0 {document} {grade}" for document, grade in judged.items()],
    )


def _measure(measure: str) -> Callable[[DataSet], float]:
    words = {
        "map": "aucpr",
        "Rprec": "r_precision",
        "11pt_avg": "eleven_point_precision(points=trec_eval)",
        "recip_rank": "reciprocal_rank",
        "P_5": "precision_at_k(5)",
        "recall_5": "recall_at_k(5)",
    }

    def value(data: DataSet) -> float:
        searched = _searched(data.name)
        if measure == "bpref":
            return searched.bpref().mean()
        if measure == "infAP":
            return searched.inferred_ap().mean()
        if measure == "ndcg":
            return searched.ndcg(ties="trec_eval").mean()
        rankings = searched.rankings(ties="trec_eval")
        return pr.per_group(rankings, words[measure], undefined="zero").mean()

    return value


def _thresholds(estimator: str) -> Callable[[DataSet], float]:
    def value(data: DataSet) -> float:
        ranking = pr.rank(data.y, data.s, thresholds=data.s)
        return pr.aucpr(ranking, estimator=estimator, negatives="thresholds")

    return value


_FUNCTIONS: dict[str, Callable[[DataSet], float]] = {
    "average_precision": lambda data: pr.aucpr(_ranking(data)),
    "auroc": _auroc(),
    "auroc weighted": _auroc(weighted=True),
    "partial_auroc": _auroc(false_positive_rate=(0.0, 0.2)),
    "auroc_variance": _variance,
    "auroc_low": _delong("low"),
    "auroc_high": _delong("high"),
    "auroc low": _delong("low"),
    "auroc high": _delong("high"),
    "auprg": lambda data: pr.auprg(_ranking(data)),
    "prroc_relative": _relative,
    "prroc_random": lambda data: _ranking(data).prevalence,
    "raucpr_interpolated_mean": _thresholds("interpolated_mean"),
    "raucpr_interpolated_median": _thresholds("interpolated_median"),
    "precision at the median": _at_median(pr.metrics.precision_at_threshold),
    "recall at the median": _at_median(pr.metrics.recall_at_threshold),
    "f1 at the median": _at_median(pr.metrics.f1_at_threshold),
    "precision low": _share("low"),
    "precision high": _share("high"),
    "net benefit": lambda data: float(
        pr.net_benefit_curve(pr.Rows(data.y, data.s), probabilities=[PROBABILITY]).y[0]
    ),
    **{measure: _measure(measure) for measure in MEASURES},
}


def value(quantity: str, data: DataSet) -> float:
    """Return this library's number; raise NotCompared where there is nothing to compare."""
    function = _FUNCTIONS.get(quantity) or _convention(quantity)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(data)

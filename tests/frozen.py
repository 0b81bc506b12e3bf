"""Every result of the public functions on one small data set, for tests/data/frozen.json."""

from __future__ import annotations

import math
import warnings

import numpy as np

import precall as pr
from precall.exceptions import PrecallError
from precall.inference.rules import rules_of

INTERVALS = (
    pr.metrics.aucpr(),
    pr.metrics.aucnpr(),
    pr.metrics.auroc(),
    pr.metrics.auprg(),
    pr.metrics.precision_at_recall(0.5),
    pr.metrics.recall_at_precision(0.5),
)
# The numbers were frozen with the numbers of each class as part of the design.
CLASSES = {"sampling": "classes"}
# Said elsewhere in the file, or by the data.
LEFT_OUT = ("confusion", "confidence_level", "labels", "joint_confidence_level")
BEST = {
    "f1": {},
    "f_beta": {"beta": 2.0},
    "modified_f1": {},
    "modified_f_beta": {"beta": 0.5},
    "matthews_correlation": {},
    "balanced_accuracy": {},
    "cost": {"cost_ratio": 5.0},
    "precision": {"min_recall": 0.6},
    "recall": {"min_precision": 0.6},
}


def results(data):
    """Return {kind: {name: number, None or the name of an error}}.

    The kinds differ in how far they may move: `exact` are sums and ratios, `quantiles` go through
    SciPy's distributions, `drawn` through NumPy's random numbers.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "exact": flat(exact(**data)),
            "quantiles": flat(quantiles(**data)),
            "drawn": flat(drawn(**data)),
        }


def asked(function, *arguments, **options):
    try:
        return function(*arguments, **options)
    except PrecallError as error:
        return type(error).__name__


def plain(result):
    """A result as a dictionary, or the name of an error; `confusion` is asked for by itself."""
    if isinstance(result, str):
        return result
    return {key: value for key, value in result.to_dict().items() if key not in LEFT_OUT}


def promise(point):
    """An operating point under the names that its numbers were frozen with."""
    found = plain(point)
    for each in (*found.pop("constraints"), *found.pop("other_bounds")):
        found[f"{each['name']}_bound"] = each["bound"]
        found[each["name"]] = each["observed"]
    return found


def exact(y, s, w=None, groups=None, **_):
    ranking = pr.rank(y, s, sample_weight=w)
    middle = ranking.threshold[len(ranking) // 2].item()
    yield "auroc", pr.auroc(ranking)
    yield "auroc of few", pr.auroc(ranking, false_positive_rate=(0.0, 0.3))
    yield "auprg", pr.auprg(ranking)
    for name in pr.ESTIMATORS:
        yield f"aucpr {name}", asked(pr.aucpr, ranking, estimator=name)
        yield f"aucpr in part {name}", asked(pr.aucpr, ranking, estimator=name, recall=(0.25, 0.75))
        yield f"aucnpr {name}", asked(pr.aucnpr, ranking, estimator=name)
    for curve in (pr.pr_curve, pr.roc_curve, pr.hit_curve, pr.gain_curve):
        yield f"area of {curve.__name__}", asked(lambda make=curve: make(ranking).area())
    yield "tie_bounds", plain(asked(pr.tie_bounds, ranking))
    yield "confusion", plain(asked(pr.confusion, ranking, middle))
    for metric, option in BEST.items():
        yield f"best {metric}", plain(asked(pr.best_threshold, ranking, metric, **option))
    if groups is not None:
        rankings = pr.rank_groups(y, s, groups, sample_weight=w)
        for metric in ("aucpr", "aucnpr", "auroc", "ndcg(k=3)"):
            values = asked(pr.per_group, rankings, metric)
            yield f"per group {metric.partition('(')[0]}", plain(values)


def quantiles(y, s, w=None, other=None, clusters=None, groups=None):
    ranking = pr.rank(y, s, sample_weight=w)
    middle = ranking.threshold[len(ranking) // 2].item()
    for metric in (*INTERVALS, pr.metrics.f_beta_at_threshold(middle)):
        for method in rules_of(metric):
            if not method.startswith(("bootstrap", "fiducial")):
                got = asked(pr.interval, ranking, metric, method=method, **CLASSES)
                yield f"interval {metric.name} {method}", plain(got)
    for target in ("min_precision", "min_recall"):
        got = asked(pr.operating_point, ranking, **{target: 0.6})
        yield f"promise {target}", got if isinstance(got, str) else promise(got)
    for curve in ("pr", "roc", "hit"):
        got = asked(pr.band, ranking, curve, method="exact", n_points=3)
        yield f"exact {curve}_band", got if isinstance(got, str) else [got.low, got.high]
    if clusters is not None:
        rows = pr.Rows(y, s, clusters=clusters, sample_weight=w)
        yield "cluster interval", plain(asked(pr.interval, rows, **CLASSES))
    if other is not None:
        for metric in ("aucpr", "auroc"):
            models = {"a": s, "b": other}
            rows = {"sample_weight": w, "clusters": clusters}
            got = asked(pr.compare, y, models, metric, **rows, **CLASSES)
            yield f"compare {metric}", plain(got)
    if groups is not None:
        rankings = pr.rank_groups(y, s, groups, sample_weight=w)
        for how in ("mean", "weighted", "pooled"):
            yield f"aggregate {how}", plain(asked(pr.aggregate, rankings, "auroc", how=how))


def drawn(y, s, w=None, **_):
    ranking = pr.rank(y, s, sample_weight=w)
    for method in ("fiducial", "pointwise"):
        got = asked(pr.band, ranking, method=method, n_resamples=100, n_points=3, rng=0)
        yield f"band {method}", got if isinstance(got, str) else [got.low, got.high]
    draws = {"method": "bootstrap_percentile", "n_resamples": 100, "rng": 0}
    yield "interval bootstrap_percentile", plain(asked(pr.interval, ranking, **draws, **CLASSES))


def flat(named):
    """Return the numbers inside, each under the path that leads to it; texts are left out."""
    found = {}
    for name, value in named:
        if isinstance(value, str):
            found[name] = value
        else:
            _add(found, name, value)
    return found


def _add(found, name, value):
    match value:
        case str():
            return
        case dict():
            for key, part in value.items():
                _add(found, f"{name}/{key}", part)
        case list() | tuple() | np.ndarray():
            for index, part in enumerate(value):
                _add(found, f"{name}/{index}", part)
        case None:
            found[name] = None
        case _:
            number = float(value)
            found[name] = number if math.isfinite(number) else repr(number)

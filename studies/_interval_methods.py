"""Limits of every interval method for a block of data sets, each named by what it is of.

The formula intervals of a whole block are one call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from precall.inference import limits
from precall.inference.resampling import resampler_for
from precall.inference.rules import RULES, rule_for
from precall.inference.rules.bootstrap import Replicates, resampled
from precall.inference.rules.rule import ClosedForm, closed_form
from precall.inference.rules.stabilised import Stabilised
from precall.metrics import Metric, aucpr, auprg, auroc, precision_at_recall
from precall.ranking import Cells, Ranking

from ._cells import draw_cells

FloatArray = npt.NDArray[np.float64]
#: Metric, estimator and method.
Key = tuple[str, str, str]
Limits = dict[Key, tuple[Any, Any]]

LEVEL = 0.95
FORMULAS = ("binomial", "logit", "influence", "guarded", "beta")
RESAMPLED = ("bootstrap_percentile", "bootstrap_bca", "bootstrap_t")
OTHER_ESTIMATORS = ("davis_goadrich", "lower_trapezoid", "upper_trapezoid", "leave_one_out")
OTHER_METRICS = (
    (auroc(), "logit"),
    (auroc(), "beta"),
    (auprg(), "guarded"),
    (auprg(), "influence"),
    (precision_at_recall(0.5), "mover"),
    (precision_at_recall(0.5), "influence"),
)
#: What each part of the study has, in the order of its rows.
KEYS: dict[str, tuple[Key, ...]] = {
    "formula": tuple(("aucpr", "average_precision", method) for method in FORMULAS),
    "other": (
        *(("aucpr", estimator, "guarded") for estimator in OTHER_ESTIMATORS),
        *((metric.name, "", method) for metric, method in OTHER_METRICS),
    ),
    "resampling": tuple(
        ("aucpr", "average_precision", method) for method in (*RESAMPLED, "crossval")
    ),
}


@dataclass(frozen=True, kw_only=True)
class Beta(Stabilised):
    """A candidate: exact limits of a share of as many trials as the variance is worth."""

    def limits(self, form: ClosedForm, level: float) -> tuple[Any, Any]:
        """Return the limits."""
        return limits.beta_limits(
            form.estimate,
            form.variance,
            form.sizes[0],
            level,
            unbiased=form.unbiased,
            guard=form.guard(level),
        )


CANDIDATES = {
    "beta": Beta(
        key="beta",
        name="beta",
        guarded=True,
        summary="exact limits of a share of as many trials as the influence variance is worth",
        source="Korn & Graubard 1998",
        caution="a candidate, not better than guarded",
    )
}


def formula(
    metric: Metric,
    method: str,
    cells: Cells,
    sizes: tuple[FloatArray, FloatArray],
    kind: str,
    estimate: Any = None,
) -> ClosedForm:
    """Return what the limits of a formula come from, for many data sets at once."""
    rule: Any = rule_for(metric, method)
    return closed_form(
        metric, rule, cells, sizes=sizes, varying=kind == "random", estimate=estimate
    )


def formula_limits(
    cells: Cells,
    sizes: tuple[FloatArray, FloatArray],
    kind: str,
    wanted: Collection[Key] = KEYS["formula"],
) -> Limits:
    """Limits of the formulas for average precision."""
    found: Limits = {}
    own = formula(aucpr(), "guarded", cells, sizes, kind)
    for key in wanted:
        method = key[2]
        rule: Any = (RULES | CANDIDATES)[method]
        evidence = replace(own, rule=rule)
        if method in ("binomial", "logit"):
            evidence = formula(aucpr(), method, cells, sizes, kind, own.estimate)
        found[key] = evidence.limits(LEVEL)
    return found


def other_limits(
    cells: Cells,
    sizes: tuple[FloatArray, FloatArray],
    kind: str,
    wanted: Collection[Key] = KEYS["other"],
) -> Limits:
    """Limits of other estimators and metrics."""
    named = {metric.name: metric for metric, _ in OTHER_METRICS}
    return {
        (name, estimator, method): formula(
            aucpr(estimator) if estimator else named[name], method, cells, sizes, kind
        ).limits(LEVEL)
        for name, estimator, method in wanted
    }


def resampled_limits(cells: Cells, n_resamples: int, rng: np.random.Generator) -> Limits:
    """Limits of the three bootstrap methods, from the same replicates of each data set."""
    ends: dict[str, list[tuple[float, float]]] = {method: [] for method in RESAMPLED}
    for evidence in replicates("bootstrap_t", cells, n_resamples, rng):
        for method in RESAMPLED:
            rule: Any = RULES[method]
            ends[method].append(replace(evidence, rule=rule).limits(LEVEL))
    return {
        ("aucpr", "average_precision", method): tuple(np.transpose(pairs))
        for method, pairs in ends.items()
    }


def replicates(
    method: str, cells: Cells, n_resamples: int, rng: np.random.Generator
) -> Iterator[Replicates]:
    """Bootstrap every data set, the numbers of positives and negatives fixed."""
    size = cells.positives.shape[1]
    metric = aucpr()
    rule: Any = RULES[method]
    for row in range(len(cells.positives)):
        ranking = Ranking(
            threshold=-np.arange(size),
            positives=cells.positives[row],
            tied=np.zeros(size, dtype=np.int64),
            above=cells.above[row],
            below=int(cells.below[row]),
        )
        yield resampled(
            metric,
            rule,
            ranking,
            resampler_for(metric, ranking, together=False),
            n_resamples=n_resamples,
            varying=False,
            rng=rng,
        )


def crossval_limits(
    scenario: Any, n_pos: int, n_neg: int, data_sets: int, rng: np.random.Generator
) -> Limits:
    """Limits of ten-fold cross-validation; with independent rows its folds are small data sets."""
    from scipy.special import stdtrit

    folds = 10
    cells, *_ = draw_cells(scenario, n_pos // folds, n_neg // folds, data_sets * folds, rng)
    values = aucpr().value(cells).reshape(data_sets, folds)
    mean, error = values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(folds)
    half = float(stdtrit(folds - 1, 0.5 + 0.5 * LEVEL)) * error
    ends = np.clip([mean - half, mean + half], 0.0, 1.0)
    return {("aucpr", "average_precision", "crossval"): (ends[0], ends[1])}

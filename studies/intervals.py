"""How often each interval for the area covers the truth, and how wide it is.

Every method of `interval` on regular score models and on models with a few negatives above
everything, the numbers of positives and negatives fixed or random; cross-validation; `guarded` on
other estimators; the intervals of other metrics.

A block of data sets is one array, and the formula intervals of the whole block are one call.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
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
from precall.simulate import (
    HELD_OUT,
    REGULAR,
    UNSEEN,
    Levels,
    OutlyingNegatives,
    Scenario,
    run_blocks,
)

from ._cells import draw_cells
from ._intervals_page import Sampling, draw_figure, shown_cases, write_page
from ._results import Results, Row

FloatArray = npt.NDArray[np.float64]
Limits = dict[tuple[str, str, str], tuple[Any, Any]]

N_POS = (10, 20, 50, 100, 500)
PREVALENCES = (0.5, 0.1, 0.01)
LEVEL = 0.95
FORMULAS = ("binomial", "logit", "influence", "guarded", "beta")
OUTLYING = {
    f"{base}+{number}": (base, number)
    for base in ("binormal_2", "bibeta", "offset_uniform")
    for number in (1, 3, 10)
}
MODELS = {**REGULAR, **UNSEEN, **HELD_OUT}
#: Models that the constants of `beta` were chosen on, before this study.
TUNED_ON = (
    "binormal_1",
    "binormal_2",
    "bibeta",
    "offset_uniform",
    "normal_against_t2",
    "binormal_2+1",
)
#: Kinds of models: those that methods were developed on, and those found by looking for failures.
GROUPS: dict[str, Collection[str]] = {
    "regular": REGULAR,
    "outlying": OUTLYING,
    "found since": UNSEEN,
    "held out": HELD_OUT,
}
OTHER_ESTIMATORS = ("davis_goadrich", "lower_trapezoid", "upper_trapezoid", "leave_one_out")
OTHER_METRICS = (
    (auroc(), "logit"),
    (auroc(), "beta"),
    (auprg(), "influence"),
    (precision_at_recall(0.5), "mover"),
    (precision_at_recall(0.5), "influence"),
)
RESAMPLED_MODELS = ("binormal_1", "bibeta", "offset_uniform", "normal_against_t2")
_SCORES_PER_BLOCK = 200_000
# For the figure: data sets whose estimates give the ideal width and the locations.
_SAMPLING_DATA_SETS = 2000


def scenario_of(model: str, n_neg: int) -> Any:
    """Return the score model; ``NAME+K`` has K of the negatives above everything on average."""
    base, _, number = model.partition("+")
    if number:
        return OutlyingNegatives.expecting(float(number), n_neg, base=REGULAR[base])  # type: ignore[arg-type]
    return MODELS[base]


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


def formula_limits(cells: Cells, sizes: tuple[FloatArray, FloatArray], kind: str) -> Limits:
    """Limits of every formula for average precision."""
    found: Limits = {}
    own = formula(aucpr(), "guarded", cells, sizes, kind)
    for method in FORMULAS:
        rule: Any = (RULES | CANDIDATES)[method]
        evidence = replace(own, rule=rule)
        if method in ("binomial", "logit"):
            evidence = formula(aucpr(), method, cells, sizes, kind, own.estimate)
        found["aucpr", "average_precision", method] = evidence.limits(LEVEL)
    return found


def other_limits(cells: Cells, sizes: tuple[FloatArray, FloatArray], kind: str) -> Limits:
    """Limits of the other estimators and metrics, each by its default method."""
    found: Limits = {}
    for estimator in OTHER_ESTIMATORS:
        evidence = formula(aucpr(estimator), "guarded", cells, sizes, kind)
        found["aucpr", estimator, "guarded"] = evidence.limits(LEVEL)
    for metric, method in OTHER_METRICS:
        found[metric.name, "", method] = formula(metric, method, cells, sizes, kind).limits(LEVEL)
    return found


def resampled_limits(cells: Cells, n_resamples: int, rng: np.random.Generator) -> Limits:
    """Limits of the three bootstrap methods, from the same replicates of each data set."""
    methods = ("bootstrap_percentile", "bootstrap_bca", "bootstrap_t")
    ends: dict[str, list[tuple[float, float]]] = {method: [] for method in methods}
    for evidence in _replicates("bootstrap_t", cells, n_resamples, rng):
        for method in methods:
            rule: Any = RULES[method]
            ends[method].append(replace(evidence, rule=rule).limits(LEVEL))
    return {
        ("aucpr", "average_precision", method): tuple(np.transpose(pairs))
        for method, pairs in ends.items()
    }


def _replicates(
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


def truth_of(scenario: Scenario, metric: str, estimator: str, prevalence: float) -> float:
    """Return what the metric is in the population."""
    if metric == "auroc":
        return scenario.auroc()
    if metric == "precision_at_recall":
        return float(scenario.precision(0.5, prevalence))
    if metric == "auprg":
        return _true_auprg(scenario, prevalence)
    tied = isinstance(scenario, Levels) and estimator != "average_precision"
    return scenario.aucpr(prevalence, estimator="davis_goadrich" if tied else "average_precision")


def _true_auprg(scenario: Scenario, prevalence: float) -> float:
    """Integral of ``(1 - FPR/t) pi/((1 - pi) t^2)`` over recall t from pi to 1, in u = 1/t."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(1.0, 1.0 / prevalence, 201)
    half = 0.5 * np.diff(edges)[:, np.newaxis]
    recall = 1.0 / (edges[:-1, np.newaxis] + half * (nodes + 1.0))
    gain = 1.0 - scenario.false_positive_rate(recall) / recall
    return float(np.sum(half * weights * gain) / (edges[-1] - edges[0]))


def simulate_case(
    part: str,
    model: str,
    kind: str,
    prevalence: float,
    n_pos: int,
    *,
    simulations: int,
    n_resamples: int,
    seed: Any,
    workers: int | None = None,
) -> list[Row]:
    """Return one row per metric, estimator and method: coverage, its error, and mean width."""
    n_neg = round(n_pos * (1.0 - prevalence) / prevalence)
    scenario = scenario_of(model, n_neg)
    per_block = max(1, min(simulations, _SCORES_PER_BLOCK // n_pos))
    if part == "resampling":
        per_block = min(per_block, 50)

    def block(rng: np.random.Generator) -> Limits:
        random = kind == "random"
        cells, n, m = draw_cells(scenario, n_pos, n_neg, per_block, rng, random=random)
        if part == "formula":
            return formula_limits(cells, (n, m), kind)
        if part == "other":
            return other_limits(cells, (n, m), kind)
        return resampled_limits(cells, n_resamples, rng) | crossval_limits(
            scenario, n_pos, n_neg, per_block, rng
        )

    n_blocks = -(-simulations // per_block)
    results = run_blocks(block, n_blocks, rng=np.random.default_rng(seed), workers=workers)
    rows = []
    for key in results[0]:
        low, high = (np.concatenate([block_[key][end] for block_ in results]) for end in (0, 1))
        metric, estimator, method = key
        truth = truth_of(scenario, metric, estimator, prevalence)
        covered = float(np.mean((low <= truth) & (truth <= high)))
        rows.append(
            {
                "part": part,
                "model": model,
                "numbers": kind,
                "prevalence": prevalence,
                "n_pos": n_pos,
                "metric": metric,
                "estimator": estimator,
                "method": method,
                "coverage": round(covered, 4),
                "error": round(float(np.sqrt(covered * (1 - covered) / low.size)), 4),
                "width": round(float(np.mean(high - low)), 4),
            }
        )
    return rows


def sampling_of(
    model: str, prevalence: float, n_pos: int, *, resample: bool, seed: Any
) -> Sampling:
    """What holds 95 % of the estimates, and where the intervals sit, from data sets of its own.

    An interval sits, after Boyd (2014, figure 4.9), at the estimate (binomial, logit), at the
    median of the replicates, or at the mean of the folds: estimates from a tenth of the rows.
    """
    rng = np.random.default_rng(seed)
    n_neg = round(n_pos * (1.0 - prevalence) / prevalence)
    scenario = scenario_of(model, n_neg)
    truth = scenario.aucpr(prevalence)
    cells, *_ = draw_cells(scenario, n_pos, n_neg, _SAMPLING_DATA_SETS, rng)
    estimates = aucpr().value(cells)
    low, high = np.quantile(estimates, [0.5 - 0.5 * LEVEL, 0.5 + 0.5 * LEVEL])
    located = {"binomial": float(estimates.mean() / truth)}
    if resample:
        cells, *_ = draw_cells(scenario, n_pos, n_neg, _SAMPLING_DATA_SETS // 10, rng)
        drawn = _replicates("bootstrap_percentile", cells, 200, rng)
        medians = [float(np.median(evidence.values)) for evidence in drawn]
        located["bootstrap_percentile"] = float(np.mean(medians) / truth)
    if n_pos >= 10:
        cells, *_ = draw_cells(scenario, n_pos // 10, n_neg // 10, _SAMPLING_DATA_SETS, rng)
        located["crossval"] = float(np.mean(aucpr().value(cells)) / truth)
    return Sampling(float(high - low), located)


def draw(results: Results) -> None:
    """Draw figures 4.7 to 4.9 from the table, and what is only in them from new data sets."""
    sampling = {
        (model, prevalence, n_pos): sampling_of(
            model,
            prevalence,
            n_pos,
            resample=resample,
            seed=[results.settings["seed"], list(REGULAR).index(model), n_pos],
        )
        for model, prevalence, n_pos, resample in shown_cases(results)
    }
    draw_figure(results, sampling, groups=GROUPS)


def plan(*, quick: bool) -> list[tuple[str, str, str, float, int]]:
    """Return every case of the study."""
    models = [*REGULAR, *OUTLYING, *UNSEEN, *HELD_OUT]
    if quick:
        models = ["binormal_1", "ten_levels", "bibeta+1", "zero_inflated"]
    sizes = (20, 100) if quick else N_POS
    cases = [
        ("formula", model, kind, prevalence, n_pos)
        for model in models
        for kind in ("fixed", "random")
        for prevalence in PREVALENCES
        for n_pos in sizes
        # Not where every negative would be an outlier.
        if model not in OUTLYING or OUTLYING[model][1] < n_pos * (1 - prevalence) / prevalence
    ]
    few = ("binormal_1",) if quick else RESAMPLED_MODELS
    more = () if quick else (*UNSEEN, *HELD_OUT)
    for part, chosen in (("other", (*few, *more)), ("resampling", few)):
        cases += [
            (part, model, "fixed", prevalence, n_pos)
            for model in chosen
            for prevalence in PREVALENCES
            for n_pos in (20, 100)
        ]
    return cases


def run(
    output: str | Path,
    *,
    quick: bool = False,
    seed: int = 20130923,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Run the study into a folder and return the page written there."""
    simulations = {"formula": 4000, "other": 4000, "resampling": 500}
    if quick:
        simulations = {"formula": 400, "other": 400, "resampling": 40}
    n_resamples = 99 if quick else 500
    settings = {
        "study": "intervals",
        "confidence_level": LEVEL,
        "simulations": simulations,
        "n_resamples": n_resamples,
        "seed": seed,
    }
    results = Results(output, "intervals", settings)
    todo = plan(quick=quick)
    every = [*REGULAR, *OUTLYING, *UNSEEN, *HELD_OUT]
    for done, (part, model, kind, prevalence, n_pos) in enumerate(todo, start=1):
        key = {"part": part, "model": model, "numbers": kind}
        if not results.has(**key, prevalence=prevalence, n_pos=n_pos):
            place = [len(part), every.index(model), len(kind), round(1000 * prevalence), n_pos]
            results.add(
                simulate_case(
                    part,
                    model,
                    kind,
                    prevalence,
                    n_pos,
                    simulations=simulations[part],
                    n_resamples=n_resamples,
                    seed=[seed, *place],
                    workers=workers,
                )
            )
        if progress is not None:
            progress(done, len(todo))
    draw(results)
    return write_page(results, groups=GROUPS, tuned_on=TUNED_ON, formulas=FORMULAS)

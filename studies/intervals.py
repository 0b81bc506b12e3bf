"""How often each interval for the area covers the truth, and how wide it is.

Every method of `interval` on regular score models and on models with a few negatives above
everything, the numbers of positives and negatives fixed or random; cross-validation; `guarded` on
other estimators; the intervals of other metrics.

A block of data sets is one array. Cases of a default that come out low are run again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np

from precall.metrics import aucpr
from precall.simulate import (
    HELD_OUT,
    REGULAR,
    UNSEEN,
    OutlyingNegatives,
    Scenario,
    run_blocks,
)

from ._cells import draw_cells
from ._interval_methods import (
    FORMULAS,
    KEYS,
    LEVEL,
    OTHER_ESTIMATORS,
    Key,
    Limits,
    crossval_limits,
    formula_limits,
    other_limits,
    replicates,
    resampled_limits,
)
from ._intervals_page import Sampling, draw_figure, shown_cases, write_page
from ._population import true_area
from ._results import Results, Row, with_core_seconds

Case = tuple[str, str, str, float, int]

N_POS = (10, 20, 50, 100, 500)
PREVALENCES = (0.5, 0.1, 0.01)
OUTLYING = {
    f"{base}+{number}": (base, number)
    for numbers in ((1, 3, 10), (0.5, 2))
    for base in ("binormal_2", "bibeta", "offset_uniform")
    for number in numbers
}
MODELS = {**REGULAR, **UNSEEN, **HELD_OUT}
#: Models that the constants of `beta` and `guarded` were chosen on.
TUNED_ON = (
    "binormal_1",
    "binormal_2",
    "bibeta",
    "offset_uniform",
    "normal_against_t2",
    *(f"binormal_2+{number}" for number in (0.5, 1, 2, 3)),
)
#: The default intervals. Cases under this are run again, with other draws and more data sets: the
#: lowest of many is low by chance, too.
DEFAULTS: tuple[Key, ...] = (
    ("aucpr", "average_precision", "guarded"),
    *(("aucpr", estimator, "guarded") for estimator in OTHER_ESTIMATORS),
    ("auroc", "", "beta"),
    ("auprg", "", "guarded"),
    ("precision_at_recall", "", "mover"),
)
DOUBTED_UNDER, DATA_SETS_AGAIN = 0.94, 40_000
CASE = ("part", "model", "numbers", "prevalence", "n_pos")
#: Kinds of models: those that methods were developed on, and those found by looking for failures.
GROUPS: dict[str, Collection[str]] = {
    "regular": REGULAR,
    "outlying": OUTLYING,
    "found since": UNSEEN,
    "held out": HELD_OUT,
}
RESAMPLED_MODELS = ("binormal_1", "bibeta", "offset_uniform", "normal_against_t2")
_SCORES_PER_BLOCK = 200_000
# For the figure: data sets whose estimates give the ideal width and the locations.
_SAMPLING_DATA_SETS = 2000
# A case has its seed by its model's place here: new ones go to the end.
_MODELS = [
    *REGULAR,
    *(model for model, (_, number) in OUTLYING.items() if number in (1, 3, 10)),
    *UNSEEN,
    *HELD_OUT,
    *(model for model, (_, number) in OUTLYING.items() if number in (0.5, 2)),
]


def scenario_of(model: str, n_neg: int) -> Any:
    """Return the score model; ``NAME+K`` has K of the negatives above everything on average."""
    base, _, number = model.partition("+")
    if number:
        return OutlyingNegatives.expecting(float(number), n_neg, base=REGULAR[base])  # type: ignore[arg-type]
    return MODELS[base]


def truth_of(scenario: Scenario, metric: str, estimator: str, prevalence: float) -> float:
    """Return what the metric is in the population."""
    if metric == "auroc":
        return scenario.auroc()
    if metric == "precision_at_recall":
        return float(scenario.precision(0.5, prevalence))
    if metric == "auprg":
        return _true_auprg(scenario, prevalence)
    return true_area(scenario, prevalence, estimator)


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
    wanted: Collection[Key] | None = None,
) -> list[Row]:
    """Return one row per metric, estimator and method: coverage, its error, and mean width."""
    n_neg = round(n_pos * (1.0 - prevalence) / prevalence)
    scenario = scenario_of(model, n_neg)
    per_block = max(1, min(simulations, _SCORES_PER_BLOCK // n_pos))
    if part == "resampling":
        per_block = min(per_block, 50)
    keys = KEYS[part] if wanted is None else tuple(wanted)
    began = time.process_time()

    def block(rng: np.random.Generator) -> Limits:
        random = kind == "random"
        cells, n, m = draw_cells(scenario, n_pos, n_neg, per_block, rng, random=random)
        if part == "formula":
            return formula_limits(cells, (n, m), kind, keys)
        if part == "other":
            return other_limits(cells, (n, m), kind, keys)
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
    return with_core_seconds(rows, began)


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
        drawn = replicates("bootstrap_percentile", cells, 200, rng)
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


def plan(*, quick: bool) -> list[Case]:
    """Return every case of the study."""
    models = _MODELS
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
        # A bootstrap here draws class by class.
        cases += [
            (part, model, kind, prevalence, n_pos)
            for kind in (("fixed", "random") if part == "other" else ("fixed",))
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
    for done, case in enumerate(todo, start=1):
        if lacking := _lacking(results, case):
            results.add(
                simulate_case(
                    *case,
                    simulations=simulations[case[0]],
                    n_resamples=n_resamples,
                    seed=[seed, *_place(case)],
                    workers=workers,
                    wanted=lacking,
                )
            )
        if progress is not None:
            progress(done, len(todo))
    again = Results(
        output,
        "intervals_again",
        settings | {"simulations": 4000 if quick else DATA_SETS_AGAIN, "n_resamples": 0},
    )
    _run_again(results, again, workers)
    draw(results)
    return write_page(
        results,
        again,
        groups=GROUPS,
        tuned_on=TUNED_ON,
        formulas=FORMULAS,
        defaults=DEFAULTS,
        level=DOUBTED_UNDER,
    )


def _place(case: Case) -> list[int]:
    """Numbers that tell a case from all others, for its seed."""
    part, model, kind, prevalence, n_pos = case
    return [len(part), _MODELS.index(model), len(kind), round(1000 * prevalence), n_pos]


def _lacking(results: Results, case: Case) -> tuple[Key, ...]:
    """Return what has no rows yet. Draws of rows are all made, or none."""
    key = dict(zip(CASE, case, strict=True))
    lacking = tuple(
        each
        for each in KEYS[case[0]]
        if not results.has(**key, **dict(zip(("metric", "estimator", "method"), each, strict=True)))
    )
    return KEYS["resampling"] if lacking and case[0] == "resampling" else lacking


def _run_again(results: Results, again: Results, workers: int | None) -> None:
    """Run the cases of a default that came out low again."""
    for row in results.rows:
        case: Any = tuple(row[name] for name in CASE)
        key = (row["metric"], row["estimator"], row["method"])
        doubted = key in DEFAULTS and row["coverage"] < DOUBTED_UNDER
        if doubted and not again.has(**{name: row[name] for name in list(row)[:8]}):
            again.add(
                simulate_case(
                    *case,
                    simulations=again.settings["simulations"],
                    n_resamples=0,
                    seed=[again.settings["seed"], *_place(case), 1],
                    workers=workers,
                    wanted=(key,),
                )
            )

"""What Clémençon & Vayatis (2009) state about the curve and its bootstrap, put to the test.

Three parts. `weights`: how many of B replicates the importance weights of Algorithm 1 leave, over
rows and the proposal prevalence. `bootstrap`: how far the bootstrap distribution of the curve's
error is from the true one (Theorem 2), smoothed and not, over rows. `variance`: the variance of the
empirical precision over that of Theorem 1, as corrected here and as printed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from precall.inference.bands.request import make_request, precision
from precall.inference.bands.smoothed import make_replicates
from precall.inference.bands.smoothing import class_distributions
from precall.ranking import rank
from precall.simulate import ContinuousScenario

from ._band_distributions import (
    RowDistribution,
    Steps,
    distance,
    distance_bounds,
    draw_curves,
    draw_sizes,
    precision_distribution,
    row_at,
    row_rates,
    sample_steps,
    threshold_rates,
)
from ._band_rows import tidy_row
from ._band_theory_figure import draw
from ._band_theory_page import write_page
from ._band_weights import weight_case
from ._cases import compute
from ._results import Results, Row
from .bands import MODELS

FloatArray = npt.NDArray[np.float64]

SMOOTH_MODELS = {
    name: scenario for name, scenario in MODELS.items() if isinstance(scenario, ContinuousScenario)
}
PROPOSALS = (0.05, 0.1, 0.2, 0.4, 0.5)
WEIGHT_ROWS = (50, 100, 200, 500, 1000, 5000)
#: Score models with the smooth densities that the theorems ask for, and prevalences.
POINT_MODELS = (("binormal_1", 0.5), ("bibeta", 0.1), ("gamma", 0.1))
CURVE_MODELS = (("binormal_1", 0.5), ("gamma", 0.1))
POINT_ROWS = (250, 1000, 4000, 16_000, 64_000, 256_000)
CURVE_ROWS = (250, 1000, 4000, 16_000, 64_000)
POINT_RECALL = 0.5
CURVE_RECALL = np.linspace(0.1, 0.9, 21)
#: Bandwidth rules on the raw scores, as in the paper; the last is the default of the library's
#: bands, on normal scores of the pooled ranks.
SMOOTHED = ("undersmoothed", "pooled", "per_class", "normal_scores")
VARIANCE_MODELS = ("binormal_1", "binormal_2", "bibeta", "student_3", "gamma", "mixture")
VARIANCE_PREVALENCES = (0.02, 0.1, 0.5)
VARIANCE_ROWS = (500, 5000, 50_000)
VARIANCE_RECALL = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
#: Sizes of a full and of a quick study.
FULL = {
    "weight_replicates": 2000,
    "weight_repeats": 500,
    "point_data_sets": 100,
    "curve_data_sets": 24,
    "curve_replicates": 20_000,
    "curve_truth": 200_000,
    "variance_samples": 50_000,
}
QUICK = {
    "weight_replicates": 500,
    "weight_repeats": 40,
    "point_data_sets": 8,
    "curve_data_sets": 3,
    "curve_replicates": 2000,
    "curve_truth": 20_000,
    "variance_samples": 5000,
}
_QUICK_ROWS = 16_000
_SAMPLES_PER_BLOCK = 50_000


def _data_set(
    scenario: ContinuousScenario, n_pos: int, size: int, rng: np.random.Generator
) -> tuple[Any, RowDistribution, dict[str, tuple[Any, Any]]]:
    """Draw a data set; return it, its distribution and the smoothed ones by bandwidth."""
    scores = scenario.sample(n_pos, size - n_pos, rng)
    ranking = rank(*scores)
    rows = RowDistribution(above=np.cumsum(ranking.above), n_neg=size - n_pos)
    distributions = {
        name: class_distributions(ranking, *_smoothing(name, scores), "gaussian")
        for name in SMOOTHED
    }
    return (ranking, scores), rows, distributions


def _smoothing(method: str, scores: Any) -> tuple[Any, str]:
    """Return the scores to smooth, None for normal scores, and the bandwidth rule."""
    return (None, "per_class") if method == "normal_scores" else (scores, method)


def point_case(
    model: str, prevalence: float, size: int, plan: dict[str, int], seed: Any
) -> list[Row]:
    """Distance of true and bootstrap distribution of the error of the precision at one recall.

    The numbers of positives and negatives are fixed: then both distributions can be computed, and
    the only chance left is that of the data set.
    """
    rng = np.random.default_rng(seed)
    scenario, recall = SMOOTH_MODELS[model], POINT_RECALL
    n_pos = round(size * prevalence)
    sizes = recall, n_pos, size - n_pos
    truth = precision_distribution(
        threshold_rates(scenario.false_positive_rate, *sizes[:2]), *sizes
    )
    truth = truth[0] - scenario.precision(recall, prevalence), truth[1]
    found: dict[tuple[str, str], list[float]] = {}

    def keep(method: str, distribution: Steps, **centres: float) -> None:
        for name, centre in centres.items():
            gap = distance(truth, (distribution[0] - centre, distribution[1]))
            found.setdefault((method, name), []).append(gap)

    for _ in range(plan["point_data_sets"]):
        _, rows, distributions = _data_set(scenario, n_pos, size, rng)
        observed = float(precision(recall, rows.survival(-row_at(recall, n_pos)), prevalence))
        keep("naive", precision_distribution(row_rates(rows, recall), *sizes), observed=observed)
        for method, (positive, negative) in distributions.items():

            def rate(tail: Any, own: Any = positive, other: Any = negative) -> FloatArray:
                return np.asarray(other.survival(own.upper_quantile(tail)))

            smooth = float(precision(recall, rate(recall), prevalence))
            distribution = precision_distribution(threshold_rates(rate, *sizes[:2]), *sizes)
            keep(method, distribution, smoothed=smooth, observed=observed)
    shared = {"model": model, "design": "fixed", "prevalence": prevalence, "rows": size}
    return [
        _distancetidy_row(
            values, recall=recall, method=method, quantity=f"distance_{centre}", **shared
        )
        for (method, centre), values in found.items()
    ]


def _distancetidy_row(values: list[float], **names: Any) -> Row:
    error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
    return tidy_row("bootstrap", **names, value=float(np.mean(values)), standard_error=error)


def curve_case(
    model: str, prevalence: float, size: int, plan: dict[str, int], seed: Any
) -> list[Row]:
    """Do the same for the largest error over the recalls, with random numbers of positives.

    Both distributions are drawn here. The distance is bracketed by an estimate that is too low on
    average and one that is too high; `chance` is what draws from the true distribution itself give.
    The radius is that of a 95 % ball from the replicates, over that from the true distribution.
    """
    rng = np.random.default_rng(seed)
    scenario = SMOOTH_MODELS[model]
    curve = scenario.precision(CURVE_RECALL, prevalence)
    count = plan["curve_replicates"]

    def true_errors(draws: int) -> FloatArray:
        sizes = draw_sizes(size, prevalence, draws, rng)
        curves = draw_curves(scenario.distributions(), CURVE_RECALL, sizes, size, rng)
        return np.asarray(np.abs(curves - curve).max(axis=1))

    blocks = [true_errors(count) for _ in range(-(-plan["curve_truth"] // count))]
    truth = sample_steps(np.concatenate(blocks))
    true_radius = np.quantile(truth[0], 0.95)
    found: dict[tuple[str, str], list[tuple[float, ...]]] = {}

    def judge(method: str, centre: str, errors: FloatArray) -> None:
        radius = float(np.quantile(errors, 0.95) / true_radius)
        found.setdefault((method, centre), []).append((*distance_bounds(truth, errors), radius))

    def keep(method: str, curves: FloatArray, **centres: FloatArray) -> None:
        for name, centre in centres.items():
            judge(method, name, np.abs(curves - centre).max(axis=1))

    for _ in range(plan["curve_data_sets"]):
        n_pos = int(draw_sizes(size, prevalence, 1, rng)[0])
        (ranking, scores), rows, distributions = _data_set(scenario, n_pos, size, rng)
        share = n_pos / size
        observed = precision(CURVE_RECALL, rows.survival(rows.upper_quantile(CURVE_RECALL)), share)
        sizes = draw_sizes(size, share, count, rng)
        keep("naive", draw_curves((rows, rows), CURVE_RECALL, sizes, size, rng), observed=observed)
        for method, (positive, negative) in distributions.items():
            request = make_request(
                ranking,
                kind="pr",
                confidence_level=0.95,
                span=(CURVE_RECALL[0], CURVE_RECALL[-1]),
                span_name="recall",
                n_points=CURVE_RECALL.size,
                n_resamples=count,
                varying=True,
                rng=rng,
            )
            raw, bandwidth = _smoothing(method, scores)
            curves = make_replicates(request, raw, "gaussian", bandwidth, None).curves
            rate = negative.survival(positive.upper_quantile(CURVE_RECALL))
            smooth = precision(CURVE_RECALL, rate, share)
            keep(method, curves, smoothed=smooth, observed=observed)
        judge("chance", "smoothed", true_errors(count))
    shared = {"model": model, "design": "random", "prevalence": prevalence, "rows": size}
    return [
        _distancetidy_row(
            [values[place] for values in judged],
            recall="all",
            method=method,
            quantity=f"{word}_{centre}",
            **shared,
        )
        for (method, centre), judged in found.items()
        for place, word in enumerate(("low", "high", "radius"))
    ]


def printed_variance(
    scenario: ContinuousScenario, recall: FloatArray, prevalence: float
) -> FloatArray:
    """Equation (9) as printed, except that its G is read as the inverse that it must mean.

    ``PR^4 / recall^2`` stands before the first of the three terms only.
    """
    whole = scenario.asymptotic_variance(recall, prevalence)
    other_terms = scenario.asymptotic_variance(recall, prevalence, random_prevalence=False)
    factor = scenario.precision(recall, prevalence) ** 4 / recall**2
    return np.asarray(whole - other_terms + other_terms / factor)


def variance_case(
    model: str, prevalence: float, size: int, plan: dict[str, int], seed: Any
) -> list[Row]:
    """Variance of the empirical precision over that of Theorem 1, at several recalls."""
    rng = np.random.default_rng(seed)
    scenario = SMOOTH_MODELS[model]
    samples, recall = plan["variance_samples"], VARIANCE_RECALL
    rows = []
    for design in ("random", "fixed"):
        blocks = []
        for start in range(0, samples, _SAMPLES_PER_BLOCK):
            block = min(_SAMPLES_PER_BLOCK, samples - start)
            sizes = np.full(block, round(size * prevalence))
            if design == "random":
                sizes = draw_sizes(size, prevalence, block, rng)
            blocks.append(draw_curves(scenario.distributions(), recall, sizes, size, rng))
        squares = (np.concatenate(blocks) - np.mean(np.concatenate(blocks), axis=0)) ** 2
        variance = size * squares.mean(axis=0)
        error = size * squares.std(axis=0, ddof=1) / np.sqrt(samples)
        random = design == "random"
        corrected = scenario.asymptotic_variance(recall, prevalence, random_prevalence=random)
        theories = {"over_corrected": corrected}
        if random:
            theories["over_printed"] = printed_variance(scenario, recall, prevalence)
        rows += [
            tidy_row(
                "variance",
                model=model,
                design=design,
                prevalence=prevalence,
                rows=size,
                recall=float(recall[k]),
                quantity=quantity,
                value=float(variance[k] / theory[k]),
                standard_error=float(error[k] / theory[k]),
                expected=float(corrected[k] / theory[k]),
            )
            for quantity, theory in theories.items()
            for k in range(recall.size)
        ]
    return rows


PARTS: dict[str, Callable[..., list[Row]]] = {
    "weights": weight_case,
    "point": point_case,
    "curve": curve_case,
    "variance": variance_case,
}


def simulate_case(part: str, *arguments: Any) -> list[Row]:
    """Run one case of any part."""
    return PARTS[part](*arguments)


def cases(quick: bool) -> list[tuple[Any, ...]]:
    """Return every case: its kind and what tells it from others of that kind."""
    most = _QUICK_ROWS if quick else max(POINT_ROWS)
    models = VARIANCE_MODELS[:2] if quick else VARIANCE_MODELS
    todo: list[tuple[Any, ...]] = [
        ("weights", size, proposal)
        for size in WEIGHT_ROWS
        for proposal in PROPOSALS
        if size <= most
    ]
    for kind, pairs, sizes in (
        ("point", POINT_MODELS, POINT_ROWS),
        ("curve", CURVE_MODELS, CURVE_ROWS),
    ):
        todo += [(kind, *pair, size) for size in sizes if size <= most for pair in pairs]
    todo += [
        ("variance", model, prevalence, size)
        for model in models
        for prevalence in VARIANCE_PREVALENCES
        for size in VARIANCE_ROWS  # as quick with many rows as with few
    ]
    return todo


def _has(results: Results, case: tuple[Any, ...]) -> bool:
    kind, *key = case
    if kind == "weights":
        return results.has(part=kind, rows=key[0], proposal=key[1])
    names = {"model": key[0], "prevalence": key[1], "rows": key[2]}
    if kind == "variance":
        return results.has(part=kind, **names)
    return results.has(part="bootstrap", design="fixed" if kind == "point" else "random", **names)


def _seed(seed: int, part: str, *key: Any) -> list[int]:
    """Return a seed that is the case's own, whatever other cases there are."""
    model = [list(MODELS).index(name) for name in key if isinstance(name, str)]
    numbers = [round(1000 * value) for value in key if not isinstance(value, str)]
    return [seed, list(PARTS).index(part), *model, *numbers]


def run(
    output: str | Path,
    *,
    quick: bool = False,
    seed: int = 20090615,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Run the study into a folder and return the page written there."""
    plan = QUICK if quick else FULL
    results = Results(output, "band_theory", {"study": "band_theory", "seed": seed, **plan})
    every = cases(quick)
    todo = [(*case, plan, _seed(seed, *case)) for case in every if not _has(results, case)]
    for done, rows in enumerate(
        compute(simulate_case, todo, workers), start=len(every) - len(todo) + 1
    ):
        results.add(rows)
        if progress is not None:
            progress(done, len(every))
    draw(results)
    return write_page(results)

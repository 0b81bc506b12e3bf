"""How often intervals from few labels cover the truth of the whole population, and their width.

Populations of 50,000 rows from fifteen score models, twelve of which were not looked at while the
method was made; 50 to 5,000 of the rows are positive and 200 to 5,000 are labelled, chosen in
several ways. Guesses that are wrong, reversed or constant, show what a bad guess costs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
import numpy.typing as npt

from precall import audit, interval
from precall.exceptions import ReliabilityWarning
from precall.metrics import aucpr
from precall.rows import Rows
from precall.simulate import HELD_OUT, REGULAR, UNSEEN, Scenario

from ._audit_page import draw, write_page
from ._cases import compute
from ._results import Results, Row

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Chosen = tuple[IntArray, dict[str, Any]]

#: The first six are asked everything; the last three of them, and the others, were not used while
#: the method was made.
FIRST: dict[str, Scenario] = {
    "binormal_2": REGULAR["binormal_2"],
    "mixture": REGULAR["mixture"],
    "five_levels": UNSEEN["five_levels"],
    "pareto": UNSEEN["pareto"],
    "calibrated": UNSEEN["calibrated"],
    "zero_inflated": UNSEEN["zero_inflated"],
}
MODELS: dict[str, Scenario] = {**FIRST, **UNSEEN, **HELD_OUT}
ROWS = 50_000
PREVALENCES = (0.001, 0.01, 0.1)
LEVEL = 0.95
# A population is labelled so many times, each time anew.
_SAMPLES_PER_POPULATION = 20
_PILOT = 5
_METRIC = aucpr()


class Population(NamedTuple):
    """Rows with the truth about them, and a guess made from other rows of the same model."""

    positive: npt.NDArray[np.bool_]
    scores: FloatArray
    guess: FloatArray
    truth: float


def make_population(scenario: Scenario, prevalence: float, rng: np.random.Generator) -> Population:
    """Draw a population, and calibrate its scores on as many rows of each class."""
    n_pos = round(ROWS * prevalence)
    labels, scores = scenario.sample(n_pos, ROWS - n_pos, rng=rng)
    positive = np.asarray(labels) == 1
    others, seen = scenario.sample(20_000, 20_000, rng=rng)
    edges = np.unique(np.quantile(seen, np.linspace(0, 1, 200)[1:-1]))
    place, own = np.searchsorted(edges, seen, side="right"), np.asarray(others) == 1
    odds = (np.bincount(place[own], minlength=edges.size + 1) + 0.5) / (
        np.bincount(place[~own], minlength=edges.size + 1) + 0.5
    )
    odds = (odds * prevalence / (1.0 - prevalence))[np.searchsorted(edges, scores, side="right")]
    truth = _METRIC(Rows(positive, scores))
    return Population(positive, np.asarray(scores), odds / (1.0 + odds), float(truth))


def _planned(guess: Callable[[Population], FloatArray | None]) -> Callable[..., Chosen]:
    def choose(people: Population, budget: int, rng: np.random.Generator) -> Chosen:
        plan = audit.plan(people.scores, budget=budget, guess=guess(people), rng=rng)
        return plan.rows, {"plan": plan}

    return choose


def _two_rounds(people: Population, budget: int, rng: np.random.Generator) -> Chosen:
    first = audit.plan(people.scores, budget=budget // _PILOT, rng=rng)
    sample = labelled(people, first.rows, plan=first)
    rest = budget - first.rows.size
    second = audit.plan(people.scores, budget=rest, already=sample, rng=rng)
    return np.concatenate([first.rows, second.rows]), {"plan": second}


def _simple(people: Population, budget: int, rng: np.random.Generator) -> Chosen:
    rows = rng.choice(people.scores.size, budget, replace=False)
    return rows, {"inclusion": budget / people.scores.size}


def _poisson(people: Population, budget: int, rng: np.random.Generator) -> Chosen:
    """Each row by itself, with a probability that falls with its rank."""
    rank = np.empty(people.scores.size)
    rank[np.argsort(-people.scores, kind="stable")] = np.arange(people.scores.size)
    size = 1.0 / np.sqrt(rank + 50.0)
    chance = np.minimum(size * budget / size.sum(), 1.0)
    return np.flatnonzero(rng.random(chance.size) < chance), {"inclusion": chance}


def _reversed(people: Population) -> FloatArray:
    """Return the guesses of the highest scores for the lowest, and so on."""
    order = np.argsort(people.scores, kind="stable")
    wrong = np.empty(order.size)
    wrong[order] = people.guess[order[::-1]]
    return wrong


DESIGNS: dict[str, Callable[..., Chosen]] = {
    "plan": _planned(lambda people: None),
    "guess": _planned(lambda people: people.guess),
    "two rounds": _two_rounds,
    "simple": _simple,
    "poisson": _poisson,
    "reversed guess": _planned(_reversed),
    "constant guess": _planned(lambda people: np.full(people.scores.size, people.positive.mean())),
}
#: The designs asked at each budget, and the samples of each case.
ASKED: dict[int, tuple[str, ...]] = {
    1000: tuple(DESIGNS),
    200: ("plan", "guess", "two rounds", "simple"),
    5000: ("plan", "simple"),
}
ASKED_OF_OTHERS: dict[int, tuple[str, ...]] = {
    1000: ("plan", "guess", "two rounds", "simple"),
    200: ("plan", "simple"),
}
SAMPLES = {1000: 200, 200: 100, 5000: 100}


def labelled(people: Population, rows: IntArray, **design: Any) -> audit.Sample:
    """Return the sample with the labels of some rows."""
    labels = np.full(people.scores.size, np.nan)
    labels[rows] = people.positive[rows]
    return audit.Sample(people.scores, labels, **design)


def cases(quick: bool) -> list[tuple[str, float, int, str]]:
    """Return model, prevalence, budget and design of every case."""
    models = ["binormal_2", "five_levels"] if quick else list(FIRST)
    others = [] if quick else [model for model in MODELS if model not in FIRST]
    prevalences = PREVALENCES[1:2] if quick else PREVALENCES
    return [
        (model, prevalence, budget, design)
        for asked, some in ((ASKED, models), (ASKED_OF_OTHERS, others))
        for budget in (list(asked)[:1] if quick else asked)
        for prevalence in prevalences
        for design in asked[budget]
        for model in some
    ]


def one_case(
    model: str, prevalence: float, budget: int, design: str, samples: int, seed: int
) -> list[Row]:
    """Label populations again and again, and count the intervals that cover."""
    key = [list(MODELS).index(model), round(1e4 * prevalence), budget, list(DESIGNS).index(design)]
    rng = np.random.default_rng([seed, *key])
    found = []
    for number in range(samples):
        if number % _SAMPLES_PER_POPULATION == 0:
            people = make_population(MODELS[model], prevalence, rng)
        rows, how = DESIGNS[design](people, budget, rng)
        sample = labelled(people, rows, **how)
        with catch_warnings():
            simplefilter("ignore", ReliabilityWarning)
            limits = interval(sample, _METRIC, confidence_level=LEVEL)
        error = limits.estimate - people.truth
        found.append(
            (
                people.truth < limits.low,
                people.truth > limits.high,
                limits.width,
                error,
                error**2,
                sample.n_positives,
            )
        )
    below, above, width, bias, square, positives = np.mean(found, axis=0)
    return [
        {
            "model": model,
            "prevalence": prevalence,
            "budget": budget,
            "design": design,
            "samples": samples,
            "covered": 1.0 - float(below + above),
            "truth_below": float(below),
            "truth_above": float(above),
            "width": float(width),
            "bias": float(bias),
            "mean_square": float(square),
            "positives": float(positives),
        }
    ]


def run(
    output: str | Path,
    *,
    quick: bool = False,
    seed: int = 20261117,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Run the study into a folder and return the page written there."""
    samples = {budget: 10 if quick else number for budget, number in SAMPLES.items()}
    settings = {"study": "audit", "rows": ROWS, "samples": samples, "level": LEVEL, "seed": seed}
    results = Results(output, "audit", settings)
    todo = cases(quick)
    names = ("model", "prevalence", "budget", "design")
    left = [case for case in todo if not results.has(**dict(zip(names, case, strict=True)))]
    done = len(todo) - len(left)
    for rows in compute(one_case, [(*case, samples[case[2]], seed) for case in left], workers):
        results.add(rows)
        done += 1
        if progress is not None:
            progress(done, len(todo))
    draw(results)
    return write_page(results, len(todo))

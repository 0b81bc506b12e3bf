"""How often a promised threshold breaks its promise, on models that no constant was chosen on.

What is promised is what the population has at a recall of one half (.8 for weighted rows): where
the curve falls, every threshold below breaks it. Nothing is easier to get wrong. What can hardly
ever be promised there, as a net benefit or several things together, is asked for with some room.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom

import precall as pr
from precall.exceptions import DirectionWarning, ReliabilityWarning
from precall.simulate import HELD_OUT, UNSEEN

from ._cases import run_cases
from ._cells import shares_above
from ._results import Results, Row, core_minutes, markdown_table, with_core_seconds

MODELS: dict[str, Any] = {**UNSEEN, **HELD_OUT}
POSITIVES = (20, 100)
PREVALENCES = (0.1, 0.01)
CONFIDENCE_LEVEL = 0.95
MISSED = 0.15
#: Where weights differ, rows that score below the threshold of this recall are kept this rarely.
DENSE_TO, KEPT = 0.7, 0.2
NPV = "negative_predictive_value"
_ROUNDING = 1e-9


class Case(NamedTuple):
    """What is promised, of which scores, and how many positives there are on average."""

    promise: str
    model: str
    positives: int
    prevalence: float


class Population(NamedTuple):
    """What is true of thresholds, as shares of all rows; missed positives have no score."""

    model: Any
    prevalence: float
    missed: float
    probability: float = 0.5

    def value(self, name: str, recall: float, rate: float) -> float:
        """Return what a bound of that name is about, at these shares of the scored classes."""
        tp = self.prevalence * (1.0 - self.missed) * recall
        fp = (1.0 - self.prevalence) * rate
        left = 1.0 - tp - fp
        if name == "precision":
            return tp / (tp + fp) if tp + fp > 0.0 else 1.0
        if name == NPV:
            return (1.0 - self.prevalence - fp) / left if left > 0.0 else 1.0
        if name == "net_benefit":
            return tp - fp * self.probability / (1.0 - self.probability)
        return {"recall": tp / self.prevalence, "selected": tp + fp}[name]

    def at_recall(self, name: str, recall: float) -> float:
        """Return it at the threshold that has this recall of the scored positives."""
        return self.value(name, recall, float(self.model.false_positive_rate(recall)))

    def at(self, name: str, threshold: Any) -> float:
        """Return it at a threshold."""
        recall, rate = shares_above(self.model, threshold)
        return self.value(name, float(recall), float(rate))


class Outcome(NamedTuple):
    """What came of one data set."""

    made: bool  # something was promised
    broken: bool  # it is not so
    wrong: bool  # something that was printed with it is not so
    recall: float


NOTHING = Outcome(made=False, broken=False, wrong=False, recall=0.0)
Draw = Callable[[Case, np.random.Generator], Any]


def _sizes(case: Case, rng: np.random.Generator) -> tuple[int, int]:
    """Draw how many rows there are of each class, one at least."""
    rows = round(case.positives / case.prevalence)
    positives = int(np.clip(rng.binomial(rows, case.prevalence), 1, rows - 1))
    return positives, rows - positives


def _all(case: Case, rng: np.random.Generator) -> pr.Rows:
    return pr.Rows(*MODELS[case.model].sample(*_sizes(case, rng), rng))


def _half_positive(case: Case, rng: np.random.Generator) -> pr.Rows:
    return pr.Rows(*MODELS[case.model].sample(case.positives, case.positives, rng))


def _partly_scored(case: Case, rng: np.random.Generator) -> pr.Ranking:
    positives, negatives = _sizes(case, rng)
    missed = min(int(rng.binomial(positives, MISSED)), positives - 1)
    y, s = MODELS[case.model].sample(positives - missed, negatives, rng)
    return pr.rank(y, s, missed_positives=missed)


def _thinned(case: Case, rng: np.random.Generator) -> pr.Rows:
    while True:
        y, s = MODELS[case.model].sample(*_sizes(case, rng), rng)
        chance = np.where(shares_above(MODELS[case.model], s)[0] <= DENSE_TO, 1.0, KEPT)
        kept = rng.random(y.size) < chance
        if 0 < np.count_nonzero(y[kept]) < np.count_nonzero(kept):
            return pr.Rows(y[kept], s[kept], sample_weight=1.0 / chance[kept])


def _noisy(case: Case, rng: np.random.Generator) -> pr.Rows:
    y, s = MODELS[case.model].sample(*_sizes(case, rng), rng)
    return pr.Rows(y, s, sample_weight=np.exp(rng.normal(size=y.size)))


#: What is asked: the quantities, at which recall the population has them, and how rows are drawn.
PROMISES: dict[str, tuple[dict[str, float], Draw]] = {
    "precision": ({"precision": 0.5}, _all),
    "recall": ({"recall": 0.5}, _all),
    "precision and recall": ({"precision": 0.9, "recall": 0.5}, _all),
    "share of rows": ({"selected": 0.5}, _all),
    "net benefit": ({"net_benefit": 0.25}, _all),
    "two thresholds": ({"precision": 0.5, NPV: 0.7}, _all),
    "precision, half positives": ({"precision": 0.5}, _half_positive),
    "precision, positives missed": ({"precision": 0.5}, _partly_scored),
    "recall, positives missed": ({"recall": 0.5}, _partly_scored),
    "precision, weighted": ({"precision": 0.8}, _thinned),
    "recall, weighted": ({"recall": 0.8}, _thinned),
    "share of rows, weighted": ({"selected": 0.8}, _thinned),
    "net benefit, weighted": ({"net_benefit": 0.25}, _thinned),
    "two thresholds, weighted": ({"precision": 0.8, NPV: 0.7}, _thinned),
    "precision elsewhere, weighted": ({"precision": 0.8}, _thinned),
    "precision, lognormal weights": ({"precision": 0.5}, _noisy),
    "recall, lognormal weights": ({"recall": 0.5}, _noisy),
}
_ARGUMENTS = {
    "precision": "min_precision",
    "recall": "min_recall",
    "selected": "max_selected",
    "net_benefit": "min_net_benefit",
    NPV: "min_npv",
}


def asked_of(case: Case) -> tuple[Population, dict[str, float]]:
    """Return what is true, and what has to be promised."""
    quantities, draw = PROMISES[case.promise]
    missed = MISSED if draw is _partly_scored else 0.0
    population = Population(MODELS[case.model], case.prevalence, missed)
    # Acting is worth its cost at half of the precision there.
    population = population._replace(probability=0.5 * population.at_recall("precision", 0.5))
    return population, {
        name: population.at_recall(name, recall) for name, recall in quantities.items()
    }


def one_data_set(case: Case, rng: np.random.Generator) -> Outcome:
    """Draw a data set, ask for the promise, and look at what is so."""
    population, asked = asked_of(case)
    options: dict[str, Any] = {_ARGUMENTS[name]: value for name, value in asked.items()}
    draw = PROMISES[case.promise][1]
    data = draw(case, rng)
    if "min_npv" in options:
        return _of_two(population, asked, pr.two_thresholds(data, **options))
    if "min_net_benefit" in options:
        options["probability"] = population.probability
    if draw is _half_positive or "elsewhere" in case.promise:
        options["prevalence"] = case.prevalence
    point = pr.operating_point(data, **options)
    if not point.certified:
        return NOTHING
    true = {
        bound.name: population.at(bound.name, point.threshold)
        for bound in (*point.constraints, *point.other_bounds)
    }
    return Outcome(
        made=True,
        broken=any(
            _fails(bound.sign, bound.required, true[bound.name]) for bound in point.constraints
        ),
        wrong=any(
            _fails(bound.sign, bound.bound, true[bound.name])
            for bound in (*point.constraints, *point.other_bounds)
            if bound.bound is not None
        ),
        recall=population.at("recall", point.threshold),
    )


def _of_two(population: Population, asked: dict[str, float], found: pr.TwoThresholds) -> Outcome:
    """What came of a lower and an upper threshold, of which either may be missing."""
    broken = any(
        threshold is not None and _fails(">=", asked[name], population.at(name, threshold))
        for name, threshold in (
            ("precision", found.upper),
            (NPV, found.lower),
        )
    )
    reached = 0.0 if found.upper is None else population.at("recall", found.upper)
    return Outcome(found.certified, broken, broken, reached)


def _fails(sign: str, limit: float, value: float) -> bool:
    """Return whether a value is on the wrong side of a limit, by more than rounding."""
    return value < limit - _ROUNDING if sign == ">=" else value > limit + _ROUNDING


def cases(quick: bool) -> list[Case]:
    """Every case, in order."""
    if quick:
        return [
            Case(promise, model, 20, 0.1)
            for promise in PROMISES
            for model in ("zero_inflated", "five_levels", "cauchy")
        ]
    return [
        Case(promise, model, positives, prevalence)
        for promise in PROMISES
        for model in MODELS
        for positives in POSITIVES
        for prevalence in PREVALENCES
        if _sensible(Case(promise, model, positives, prevalence))
    ]


def _sensible(case: Case) -> bool:
    """Whether what the population has can be asked for: two models have shares of 0 or 1."""
    return all(
        name == "net_benefit" or 0.0 < value < 1.0 for name, value in asked_of(case)[1].items()
    )


def simulate_case(case: Case, data_sets: int, seed: Any) -> list[Row]:
    """Return the one row of a case."""
    rng = np.random.default_rng(seed)
    began = time.process_time()
    with warnings.catch_warnings():
        # Of small samples some rank the wrong way round, and one model does; weights say so too.
        warnings.simplefilter("ignore", DirectionWarning)
        warnings.simplefilter("ignore", ReliabilityWarning)
        found = [one_data_set(case, rng) for _ in range(data_sets)]
    shares = np.mean(np.array(found, dtype=float), axis=0)
    rows: list[Row] = [
        {
            **case._asdict(),
            "data_sets": data_sets,
            **dict(zip(Outcome._fields, map(float, shares), strict=True)),
        }
    ]
    return with_core_seconds(rows, began)


def run(
    output: str | Path,
    *,
    quick: bool = False,
    seed: int = 20261119,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Run the study into a folder and return the page written there."""
    data_sets = 10 if quick else 500
    settings = {"study": "promises", "data_sets": data_sets, "seed": seed}
    results = Results(output, "promises", settings)
    run_cases(results, cases(quick), simulate_case, lambda case: data_sets, workers, progress)
    return write_page(results)


def write_page(results: Results) -> Path:
    """Write one line for every promise and number of positives."""
    lines = []
    for promise in PROMISES:
        for positives in POSITIVES:
            found = [
                row
                for row in results.rows
                if row["promise"] == promise and row["positives"] == positives
            ]
            if found:
                shares = (_extremes(found, name) for name in ("broken", "wrong"))
                made, recall = (
                    np.mean([row[name] for row in found]) for name in ("made", "recall")
                )
                lines.append(
                    [promise, str(positives), *shares, f"{100 * made:.0f} %", f"{recall:.2f}"]
                )
    doubtful = beyond_chance(results.rows)
    named = "; ".join(
        f"{row['promise']}, {row['model']}, {row['positives']} positives at "
        f"{row['prevalence']:g}: {100 * row['broken']:.1f} %"
        for row in doubtful
    )
    data_sets = results.settings["data_sets"]
    error = 100.0 * np.sqrt(0.05 * 0.95 / data_sets)
    results.save_page(
        "# Promises\n\n"
        f"`operating_point` and `two_thresholds` at 95 %, {data_sets} data sets a cell (where "
        f"exactly 5 % are broken, ± {error:.1f} %), {len(MODELS)} models that no constant was "
        f"chosen on, prevalences of {PREVALENCES[0]:g} and {PREVALENCES[1]:g}, seed "
        f"{results.settings['seed']}. What is promised is what the population has at a recall of "
        ".5 (weighted: .8; negative predictive values: .7; net benefit: .25; precision and recall "
        "together: what it has at .9, and .5). Broken: the promised threshold does not keep it. "
        "Wrong: that, or another bound printed with it is not so; each of them may be with 5 %. "
        "Recall is that of the promised thresholds in the population, 0 where there is none. Each "
        f"positive is missed with probability {MISSED:g}; weighted rows that score below the "
        f"threshold of recall {DENSE_TO:g} are kept with probability {KEPT:g}. "
        f"{core_minutes(results.rows)}\n\n"
        + markdown_table(
            ["promise", "positives", "broken: mean, most", "wrong: mean, most", "made", "recall"],
            lines,
        )
        + f"\n\nCells of {len(results.rows)} that are broken in more than 5 % by more than chance "
        f"(Holm's correction, 1 % in all): {named or 'none'}.\n"
    )
    return results.path(".md")


def beyond_chance(rows: list[Row]) -> list[Row]:
    """Return the cells whose promises are broken too often, by Holm's procedure."""
    few = 1.0 - CONFIDENCE_LEVEL
    chances = [
        float(binom.sf(round(row["broken"] * row["data_sets"]) - 1, row["data_sets"], few))
        for row in rows
    ]
    found = []
    for tried, place in enumerate(np.argsort(chances).tolist()):
        if chances[place] > 0.01 / (len(rows) - tried):
            break
        found.append(rows[place])
    return found


def _extremes(rows: list[Row], name: str) -> str:
    """The mean and the highest of some shares, and where that is."""
    most = max(rows, key=lambda row: row[name])
    where = f" ({most['model']}, {most['prevalence']:g})" if most[name] else ""
    mean = np.mean([row[name] for row in rows])
    return f"{100 * mean:.1f} %, {100 * most[name]:.1f} %{where}"

"""Whether plans come true: planned widths and powers beside those of simulated samples.

Widths are planned for normal scores with equal spread and then measured on samples of the planned
size: of the assumed scores, of others with the same area, and of the models that no constant was
chosen on, whose area is what it is. Powers are planned from a guess and
from pilots.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import precall as pr
from precall.exceptions import DirectionWarning
from precall.planning import power, size
from precall.simulate import (
    HELD_OUT,
    UNSEEN,
    Binormal,
    ContinuousScenario,
    Distribution,
    Laplace,
    Logistic,
    Mixture,
    Normal,
    Pair,
    Scenario,
    StudentT,
)

from ._cases import run_cases
from ._results import Results, Row, core_minutes, markdown_table, with_core_seconds


def _shifted(kind: Callable[..., Distribution]) -> Callable[[float], ContinuousScenario]:
    return lambda distance: Pair(kind(location=distance), kind())


def _half_hidden(distance: float) -> ContinuousScenario:
    return Pair(Mixture((Normal(), Normal(location=distance)), (0.5, 0.5)), Normal())


#: Scores by how far apart the classes are; the first are those that plans assume.
SCORES: dict[str, Callable[[float], ContinuousScenario]] = {
    "normal, equal spread": lambda d: Binormal(d),
    "normal, positives spread twice as far": lambda d: Binormal(d, 2.0),
    "normal, positives spread half as far": lambda d: Binormal(d, 0.5),
    "logistic": _shifted(Logistic),
    "Laplace": _shifted(Laplace),
    "Student's t, 3 degrees of freedom": _shifted(partial(StudentT, 3)),
    "half of the positives like negatives": _half_hidden,
}
ASSUMED = next(iter(SCORES))
#: Scores of a known area at each prevalence: nothing can be chosen there.
MODELS: dict[str, Scenario] = {**UNSEEN, **HELD_OUT}


class Case(NamedTuple):
    """What is planned: a width for some scores and area, or a power."""

    part: str
    scores: str
    metric: str
    aucpr: float
    prevalence: float
    #: The width, or the positives of a pilot (0: a guess).
    asked: float


def cases(quick: bool) -> list[Case]:
    """Every case, in order."""
    if quick:
        return [
            Case("width", ASSUMED, "aucpr", 0.4, 0.1, 0.3),
            Case("width", "Laplace", "aucpr", 0.4, 0.1, 0.3),
            Case("power", ASSUMED, "aucpr", 0.4, 0.2, 0.0),
            Case("power", ASSUMED, "aucpr", 0.4, 0.2, 50.0),
        ]
    places = [(a, p) for a in (0.2, 0.4, 0.8) for p in (0.5, 0.1, 0.01) if a > p]
    found = [
        Case("width", ASSUMED, "aucpr", area, prevalence, width)
        for area, prevalence in places
        for width in (0.1, 0.2, 0.4)
    ]
    found += [
        Case("width", ASSUMED, metric, 0.4, prevalence, width)
        for metric in ("auroc", "precision_at_recall(0.8)")
        for prevalence in (0.1, 0.01)
        for width in (0.1, 0.2)
    ]
    found += [
        Case("width", scores, "aucpr", area, prevalence, 0.1)
        for scores in list(SCORES)[1:]
        for area, prevalence in ((0.4, 0.1), (0.4, 0.01), (0.7, 0.1))
        # With half of the positives hidden no area is so large.
        if not (scores.startswith("half") and area > 0.5)
    ]
    found += [Case("power", ASSUMED, "aucpr", 0.4, 0.2, pilot) for pilot in (0.0, 50.0, 200.0)]
    found += [
        Case("width", name, "aucpr", round(model.aucpr(prevalence), 4), prevalence, 0.1)
        for name, model in MODELS.items()
        for prevalence in (0.5, 0.1, 0.01)
    ]
    return found


def scenario_of(scores: str, area: float, prevalence: float) -> Scenario:
    """Return scores of this kind with this area at this prevalence."""
    from scipy.optimize import brentq

    if scores in MODELS:
        return MODELS[scores]

    def off(distance: float) -> float:
        return SCORES[scores](distance).aucpr(prevalence) - area

    return SCORES[scores](float(brentq(off, 0.01, 60.0, xtol=1e-6)))


def _width(case: Case, samples: int, rng: np.random.Generator) -> list[Row]:
    plan = size(width=case.asked, metric=case.metric, prevalence=case.prevalence, aucpr=case.aucpr)
    scenario = scenario_of(case.scores, case.aucpr, case.prevalence)
    widths = []
    for _ in range(samples):
        n = max(int(rng.binomial(plan.rows, case.prevalence)), 2)
        y, s = scenario.sample(n, plan.rows - n, rng=rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DirectionWarning)  # one model is worse than random
            widths.append(pr.interval(pr.rank(y, s), case.metric).width)
    ratio = np.array(widths) / plan.expected_width
    return [_row(case, "width over planned", plan.positives, ratio)]


#: The difference that a comparison is planned for, and how alike the two models' scores are.
DIFFERENCE, CORRELATION = 0.1, 0.5


def _power(case: Case, samples: int, rng: np.random.Generator) -> list[Row]:
    """Powers of planned comparisons; of pilots, the rows that they ask for."""
    worse = scenario_of(ASSUMED, case.aucpr, case.prevalence).mean  # type: ignore[attr-defined]
    better = scenario_of(ASSUMED, case.aucpr + DIFFERENCE, case.prevalence).mean  # type: ignore[attr-defined]

    def drawn(rows: int, positives: int) -> pr.Rows:
        y = np.arange(rows) < positives
        first, other = rng.normal(size=(2, rows))
        second = CORRELATION * first + np.sqrt(1.0 - CORRELATION**2) * other
        return pr.Rows(y, {"new": first + better * y, "old": second + worse * y})

    guess: dict[str, Any] = {
        "difference": DIFFERENCE,
        "prevalence": case.prevalence,
        "aucpr": case.aucpr,
        "correlation": CORRELATION,
    }
    if case.asked:
        pilots = round(case.asked)
        asked = [
            power(
                difference=DIFFERENCE,
                power=0.8,
                pilot=drawn(round(pilots / case.prevalence), pilots),
            ).rows
            for _ in range(max(samples // 2, 2))
        ]
        return [_row(case, "rows asked for", power(**guess).rows, np.array(asked, dtype=float))]
    plan = power(**guess)
    shown = []
    for _ in range(samples):
        compared = pr.compare(drawn(plan.rows, plan.positives))
        [interval] = compared.intervals.values()
        shown.append(interval.low > 0.0)
    return [_row(case, "power where .8 is planned", plan.rows, np.array(shown, dtype=float))]


def _row(case: Case, measure: str, planned: float, values: Any) -> Row:
    low, high = np.quantile(values, [0.1, 0.9])
    return {
        **case._asdict(),
        "measure": measure,
        "planned": int(planned),
        "samples": len(values),
        "mean": float(values.mean()),
        "error": float(values.std(ddof=1) / np.sqrt(len(values))),
        "low": float(low),
        "high": float(high),
    }


_PARTS = {"width": _width, "power": _power}


def simulate_case(case: Case, samples: int, seed: Any) -> list[Row]:
    """Return the one row of a case."""
    began = time.process_time()
    rows = _PARTS[case.part](case, samples, np.random.default_rng(seed))
    return with_core_seconds(rows, began)


def run(
    output: str | Path,
    *,
    quick: bool = False,
    seed: int = 20260912,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Run the study into a folder and return the page written there."""
    samples = 6 if quick else 120
    results = Results(output, "planning", {"study": "planning", "samples": samples, "seed": seed})
    run_cases(
        results,
        cases(quick),
        simulate_case,
        lambda case: samples * (4 if case.part == "power" else 1),
        workers,
        progress,
    )
    return write_page(results)


def _of_models(models: dict[str, list[str]]) -> str:
    """Say what came of plans for models whose area is what it is."""
    if not models:
        return ""
    columns = [
        f"{what} at {prevalence}"
        for prevalence in ("0.5", "0.1", "0.01")
        for what in ("AUCPR", "positives", "width over it")
    ]
    return (
        "\n\nThe same on models that no constant was chosen on, each with its own area, for a "
        "planned width of 0.1:\n\n"
        + markdown_table(["scores", *columns], [[name, *cells] for name, cells in models.items()])
    )


def write_page(results: Results) -> Path:
    """Write the tables of widths and of powers."""
    widths = [row for row in results.rows if row["part"] == "width"]
    assumed = [row for row in widths if row["scores"] == ASSUMED]
    table = [
        [
            row["metric"],
            f"{row['aucpr']:g}, {row['prevalence']:g}",
            f"{row['asked']:g}",
            f"{row['planned']:,}",
            f"{row['mean']:.2f} ± {2 * row['error']:.2f}",
        ]
        for row in assumed
    ]
    others: dict[str, dict[str, str]] = {}
    for row in widths:
        if row["metric"] == "aucpr" and row["scores"] not in (ASSUMED, *MODELS):
            place = f"{row['aucpr']:g}, {row['prevalence']:g}"
            others.setdefault(row["scores"], {})[place] = f"{row['mean']:.2f}"
    places = list(dict.fromkeys(place for found in others.values() for place in found))
    models: dict[str, list[str]] = {}
    for row in widths:
        if row["scores"] in MODELS:
            cells = f"{row['aucpr']:.3f}", f"{row['planned']:,}", f"{row['mean']:.2f}"
            models.setdefault(row["scores"], []).extend(cells)
    powers = [
        [
            "a guess" if not row["asked"] else f"pilots of {row['asked']:g} positives",
            row["measure"],
            f"{row['planned']:,}",
            str(row["samples"]),
            f"{row['mean']:.2f} ± {2 * row['error']:.2f}"
            if not row["asked"]
            else f"{row['low']:,.0f} to {row['high']:,.0f}",
        ]
        for row in results.rows
        if row["part"] == "power"
    ]
    off = max(abs(row["mean"] - 1.0) for row in assumed if row["metric"] == "aucpr")
    page = results.path(".md")
    results.save_page(
        "# Plans and what comes of them\n\n"
        "Width of the 95 % interval over the planned width, the mean over "
        f"{results.settings['samples']} samples of the planned size with twice its Monte Carlo "
        f"error (seed {results.settings['seed']}). {core_minutes(results.rows)} Scores are as the "
        "plan assumes: normal, with equal spread in both classes. For AUCPR the mean is within "
        f"{100 * off:.0f} % of the plan.\n\n"
        + markdown_table(
            ["metric", "AUCPR, prevalence", "planned width", "planned positives", "width over it"],
            table,
        )
        + "\n\nThe same where the area was guessed right and the scores are of another kind "
        "(planned width 0.1), by AUCPR and prevalence:\n\n"
        + markdown_table(
            ["scores", *places],
            [
                [name, *(found.get(place, "–") for place in places)]
                for name, found in others.items()
            ],
        )
        + _of_models(models)
        + f"\n\nComparisons of two models whose AUCPR differs by {DIFFERENCE:g} at prevalence 0.2: "
        "the share that shows the difference, and what pilots ask for (the middle 80 %) beside the "
        "rows that are right.\n\n"
        + markdown_table(
            ["planned from", "measure", "planned rows", "simulations", "found"], powers
        )
        + "\n"
    )
    return page

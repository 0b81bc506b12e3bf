"""How often a gate passes a candidate that is exactly at its target, and one that is better.

Three parts. `target`: an absolute rule on average precision, on many score models. `other`:
absolute rules on other metrics. `margin`: a candidate that is worse than its baseline by exactly
the margin, and one that is as good, their scores correlated.

At the target at most 5 % may pass.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq

import precall as pr
from precall.metrics import aucpr
from precall.simulate import HELD_OUT as KEPT_ASIDE
from precall.simulate import UNSEEN, Binormal

from ._cells import draw_cells
from ._interval_methods import formula
from ._results import Results, Row, core_minutes, markdown_table
from .intervals import scenario_of

ALPHA = 0.05
PREVALENCES = (0.5, 0.1, 0.01)
N_POS = (20, 40, 100, 200)
_SPOILT = ("bibeta", "mixture", "student_t3")
#: The constants of a lower limit were chosen on some models, the others came afterwards.
CHOSEN_ON = ("binormal_1", "gamma", "mixture", "binormal_2+0.5", "binormal_2+1", "binormal_2+2")
HELD_OUT = (
    "exponential",
    "unequal_variances",
    *UNSEEN,
    *KEPT_ASIDE,
    *(f"{base}+{number}" for base in _SPOILT for number in ("0.5", "1", "3")),
    "offset_uniform+1",
)
#: A better candidate: its target is so much of what it has.
BETTER = 0.8
#: Rows, prevalence, distance of the classes, margin, correlation of the two models' scores.
MARGINS = (
    (400, 0.1, 1.5, 0.1, 0.9),
    (300, 0.3, 3.0, 0.02, 0.5),
)
OTHERS = (
    "auroc",
    "aucnpr",
    "precision_at_recall(0.5)",
    "recall_at_precision",
    "precision_at_threshold",
    "recall_at_threshold",
)
OTHER_CASES = ((1.0, 40), (1.0, 200))
_OTHER_PREVALENCE = 0.1


def expected_outliers(model: str) -> float:
    """Return how many negatives are above everything on average."""
    return float(model.partition("+")[2] or 0.0)


def at_target(
    model: str, prevalence: float, n_pos: int, data_sets: int, rng: np.random.Generator
) -> tuple[float, float, float, float]:
    """Return the true area, and how often it passes as its own target and as a lower one.

    The last number is how many of all samples pass and have a positive on top.
    """
    n_neg = round(n_pos * (1.0 - prevalence) / prevalence)
    scenario = scenario_of(model, n_neg)
    truth = scenario.aucpr(prevalence)
    passed = np.zeros(3)
    block = max(1, 200_000 // n_pos)
    for done in range(0, data_sets, block):
        size = min(block, data_sets - done)
        cells, n, m = draw_cells(scenario, n_pos, n_neg, size, rng, random=True)
        evidence = formula(aucpr(), "guarded", cells, (n, m), "random")
        low, _ = evidence.one_sided(1.0 - 2.0 * ALPHA)
        wrong = low >= truth
        none_seen = (cells.above + cells.tied)[:, 0] == 0
        found = (wrong, low >= BETTER * truth, wrong & none_seen)
        passed += [np.count_nonzero(each) for each in found]
    at, better, none = map(float, passed / data_sets)
    return truth, at, better, none


def asked_of(name: str, scenario: Binormal) -> tuple[str, float]:
    """Return a metric in words, and its true value."""
    recall = 0.5
    precision = float(scenario.precision(recall, _OTHER_PREVALENCE))
    threshold = float(scenario.distributions()[0].upper_quantile(recall))
    if name == "auroc":
        return name, scenario.auroc()
    if name == "aucnpr":
        low = pr.minimum_aucpr(_OTHER_PREVALENCE)
        return name, (scenario.aucpr(_OTHER_PREVALENCE) - low) / (1.0 - low)
    if name == "recall_at_precision":
        return f"{name}({precision!r})", recall
    if name == "recall_at_threshold":
        return f"{name}({threshold!r})", recall
    words = name if "(" in name else f"{name}({threshold!r})"
    return words, precision


def of_other(
    name: str, mean: float, n_pos: int, data_sets: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return what :func:`at_target` does for a rule on another metric, by `pr.gate` itself."""
    scenario = Binormal(mean)
    words, truth = asked_of(name, scenario)
    rows = round(n_pos / _OTHER_PREVALENCE)
    passed = np.zeros(2)
    for _ in range(data_sets):
        y = rng.random(rows) < _OTHER_PREVALENCE
        data = pr.Rows(y, {"new": rng.normal(size=rows) + mean * y})
        rules = [f"{words} >= {target!r}" for target in (truth, BETTER * truth)]
        found = pr.gate(data, candidate="new", rules=rules)
        passed += [rule.verdict == "passed" for rule in found.rules]
    return truth, float(passed[0]) / data_sets, float(passed[1]) / data_sets


def at_margin(
    rows: int,
    prevalence: float,
    mean: float,
    margin: float,
    shared: float,
    data_sets: tuple[int, int],
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    """Return the baseline's area, and how often a candidate passes: at the margin, and as good."""
    truth = Binormal(mean).aucpr(prevalence)
    worse = brentq(lambda m: Binormal(m).aucpr(prevalence) - truth + margin, 0.01, 5.0)
    shares = []
    for own, count in zip((worse, mean), data_sets, strict=True):
        passed = 0
        for _ in range(count):
            y = rng.random(rows) < prevalence
            both = np.sqrt(shared) * rng.normal(size=rows)
            apart = np.sqrt(1.0 - shared) * rng.normal(size=(2, rows))
            scores = {"new": own * y + both + apart[0], "old": mean * y + both + apart[1]}
            found = pr.gate(pr.Rows(y, scores), candidate="new", baseline="old", margin=margin)
            passed += found.passed
        shares.append(passed / count)
    return truth, shares[0], shares[1]


def plan(*, quick: bool) -> list[tuple[str, str, float, int]]:
    """Return every case: its part, what it is about, and how it is made."""
    models = ("binormal_1",) if quick else (*CHOSEN_ON, *HELD_OUT)
    cases = [
        ("target", model, prevalence, n)
        for model in models
        for prevalence in PREVALENCES
        for n in N_POS
        if expected_outliers(model) < n * (1.0 - prevalence) / prevalence
    ]
    margins = MARGINS[:1] if quick else MARGINS
    cases += [("margin", "aucpr", float(place), 0) for place in range(len(margins))]
    others = OTHER_CASES[:1] if quick else OTHER_CASES
    return cases + [("other", name, mean, n) for name in OTHERS for mean, n in others]


def simulated(case: tuple[str, str, float, int], sizes: Any, seed: int) -> Row:
    """Return the row of a case."""
    part, name, number, n_pos = case
    text = [ord(letter) for letter in f"{part} {name}"]
    rng = np.random.default_rng([seed, *text, round(1000 * number), n_pos])
    count, none = sizes[part], 0.0
    started = time.process_time()
    if part == "target":
        truth, passed, better, none = at_target(name, number, n_pos, count, rng)
    elif part == "other":
        if name == "recall_at_precision":  # drawn, not computed
            count = sizes["drawn"]
        truth, passed, better = of_other(name, number, n_pos, count, rng)
    else:
        setting = MARGINS[round(number)]
        truth, passed, better = at_margin(*setting, (count, sizes["as good"]), rng)
    return {
        "part": part,
        "about": name,
        "number": number,
        "n_pos": n_pos,
        "truth": truth,
        "data_sets": count,
        "false_passes": passed,
        "error": float(np.sqrt(passed * (1.0 - passed) / count)),
        "passes_if_better": better,
        "positive_on_top": none,
        "core_seconds": time.process_time() - started,
    }


def run(
    output: str | Path,
    *,
    quick: bool = False,
    seed: int = 20261117,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Run the study into a folder and return the page written there."""
    sizes = {"target": 10_000, "other": 500, "drawn": 200, "margin": 10_000, "as good": 1_000}
    if quick:
        sizes = {"target": 400, "other": 10, "drawn": 5, "margin": 10, "as good": 10}
    results = Results(output, "gate", {"study": "gate", "data_sets": sizes, "seed": seed})
    todo = plan(quick=quick)
    for done, case in enumerate(todo, start=1):
        key = dict(zip(("part", "about", "number", "n_pos"), case, strict=True))
        if not results.has(**key):
            results.add([simulated(case, sizes, seed)])
        if progress is not None:
            progress(done, len(todo))
    return write_page(results)


def _percent(row: Row) -> str:
    return f"{100 * row['false_passes']:.1f} %"


def _of_part(results: Results, part: str) -> list[Row]:
    return [row for row in results.rows if row["part"] == part]


def summary(rows: list[Row]) -> str:
    """Say how bad the worst case is, of the models that constants were chosen on and of others."""
    said = []
    for chosen, kind in ((True, "that the constants were chosen on"), (False, "held apart")):
        for spoilt, what in ((False, "regular models"), (True, "models with such negatives")):
            cases = [
                row
                for row in rows
                if (row["about"] in CHOSEN_ON) == chosen
                and (expected_outliers(row["about"]) > 0.0) == spoilt
            ]
            if cases:
                worst = max(cases, key=lambda row: row["false_passes"])
                said.append(f"{_percent(worst)} of {len(cases)} cases on {what} {kind}")
    return f"The worst: {'; '.join(said)}."


def write_page(results: Results) -> Path:
    """Write the tables."""
    sizes = results.settings["data_sets"]
    targets = _of_part(results, "target")
    cells = {(row["about"], row["number"], row["n_pos"]): row for row in targets}
    table = []
    for about, prevalence in dict.fromkeys((key[0], key[1]) for key in cells):
        found = [cells.get((about, prevalence, n)) for n in N_POS]
        shown = [
            "–" if row is None else f"{_percent(row)} ({100 * row['passes_if_better']:.0f} %)"
            for row in found
        ]
        kind = "yes" if about in CHOSEN_ON else "no"
        table.append([about, kind, f"{prevalence:g}", *shown])
    others = [
        [
            row["about"],
            f"{row['number']:g}",
            str(row["n_pos"]),
            str(row["data_sets"]),
            f"{_percent(row)} ± {200 * row['error']:.1f}",
            f"{100 * row['passes_if_better']:.0f} %",
        ]
        for row in _of_part(results, "other")
    ]
    margins = []
    for row in _of_part(results, "margin"):
        rows, prevalence, _, margin, shared = MARGINS[round(row["number"])]
        numbers = [f"{number:g}" for number in (rows, prevalence, margin, shared)]
        setting = [*numbers[:2], f"{row['truth']:.2f}", *numbers[2:]]
        margins.append([*setting, _percent(row), f"{100 * row['passes_if_better']:.0f} %"])
    results.save_page(
        "# False passes of a gate\n\n"
        f"At the target, or worse than the baseline by exactly the margin, at most {100 * ALPHA:g} "
        "% may pass. Seed "
        f"{results.settings['seed']}; `python -m studies gate -o DIR` makes this page. "
        f"{core_minutes(results.rows)}\n\n"
        "## Average precision at its target\n\n"
        f"{sizes['target']:,} data sets each (standard error 0.2 %). In brackets, how many pass if "
        f"the target is {BETTER:g} times the true value. `NAME+K` has K negatives above "
        "everything on average.\n\n"
        + markdown_table(
            ["model", "chosen on", "prevalence", *(f"{n} positives" for n in N_POS)], table
        )
        + f"\n\n{summary(targets)}"
        + "\n\n## Other metrics at their target\n\n"
        f"Normal scores, prevalence {_OTHER_PREVALENCE:g}, recall 0.5 and the precision and the "
        "threshold there; ± two standard errors.\n\n"
        + markdown_table(
            ["metric", "distance", "positives", "data sets", "false passes", "passes if better"],
            others,
        )
        + "\n\n## Against a baseline on the same rows\n\n"
        f"{sizes['margin']:,} data sets at the margin, {sizes['as good']:,} as good.\n\n"
        + markdown_table(
            ["rows", "prevalence", "AUCPR", "margin", "correlation", "false passes", "as good"],
            margins,
        )
        + "\n"
    )
    return results.path(".md")

"""How often default intervals cover the truth beyond the plain area, which `intervals` has.

Ranges of recall, points of the curve, the first rows, counts at a threshold, another prevalence,
rows in clusters, differences of two models, groups and summary curves, on score models that nothing
was tuned on. Every data set is asked as a user asks. Cells that come out low are run again with
other draws and more data sets: the lowest of many is low by chance, too.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

from precall.exceptions import PrecallWarning
from precall.simulate import HELD_OUT, UNSEEN

from ._cases import run_cases
from ._default_parts import CLUSTER_DESIGNS, DISTANCES, NOISES, PARTS, Case
from ._defaults_page import write_page
from ._results import Results, Row

#: Data sets of a cell; where a formula has the limits, a block of them is one call.
DATA_SETS = {
    "ranges of recall": 2000,
    "precision at a recall": 4000,
    "recall at a precision": 200,
    "first rows": 400,
    "thresholds": 400,
    "another prevalence": 100,
    "clusters": 400,
    "differences": 200,
    "groups": 400,
    "summary curves": 200,
}
#: Cells under this are run again, with so many.
DOUBTED_UNDER, DATA_SETS_AGAIN = 0.94, 40_000

POSITIVES = (20, 100)
PREVALENCES = (0.5, 0.1, 0.01)
#: Scores that the rule for clusters was not chosen on.
CLUSTERED = (
    "gamma",
    "laplace",
    "exponential",
    "mixture",
    "pareto",
    "two_sided",
    "narrow_top",
    "comb",
)
#: Two models alike, and two that differ.
COMPARED = ("cauchy", "laplace", "pareto", "exponential", "logistic", "narrow_top")
RANGES = ("(0.5, 1)", "(0.2, 0.8)", "(0, 0.2)", "(0.9, 1)")
POINTS = {
    "precision at a recall": ("precision_at_recall(0.5)", "precision_at_recall(0.9)"),
    "recall at a precision": ("recall_at_precision(0.5)", "recall_at_precision(0.8)"),
}
COUNTED = ("precision_at_threshold(0)", "recall_at_threshold(0)", "f1_at_threshold(0)")
GROUPED = tuple(
    f"{count} groups, spread {spread:g}, {kind}"
    for count in (5, 10, 20)
    for spread in (0.5, 1.0)
    for kind in ("any", "larger are better")
) + tuple(
    f"{count} groups, spread 1, {kind}, {place}"
    for count in (5, 10, 20)
    for kind in ("any", "larger are better")
    for place in DISTANCES
)
SUMMARISED = tuple(
    f"{count} tasks, {kind}" for count in (5, 10, 20) for kind in ("alike", "different")
)


def cases(quick: bool) -> list[Case]:
    """Every cell, in order."""
    if quick:
        return [
            Case("ranges of recall", "aucpr(recall=(0.5, 1))", "calibrated", 20, 0.1),
            Case("clusters", "aucpr", "gamma", 36, 0.2, CLUSTER_DESIGNS[0]),
            Case("differences", "aucpr", "pareto - cauchy", 20, 0.1, "8 clusters"),
        ]
    unseen = [*UNSEEN, *HELD_OUT]
    cells = [*product(unseen, POSITIVES, PREVALENCES)]
    found = [
        Case("ranges of recall", f"aucpr(recall={part})", *cell)
        for part, cell in product(RANGES, cells)
    ]
    found += [
        Case(part, metric, *cell)
        for part, metrics in POINTS.items()
        for metric, cell in product(metrics, cells)
    ]
    found += [
        Case("first rows", f"{name}({cell[2]:g})", *cell)
        for name, cell in product(("precision_at_k", "recall_at_k"), cells)
    ]
    found += [
        Case("thresholds", metric, *cell, f"at recall {recall:g}")
        for recall, cell in product((0.5, 0.9), cells)
        for metric in (*COUNTED, f"net_benefit({cell[2]:g}, threshold=0)")
    ]
    found += [
        Case("another prevalence", metric, model, positives, 0.01, "as many negatives")
        for metric, model, positives in product(
            ("aucpr", "precision_at_recall(0.5)", "aucpr(recall=(0.5, 1))"), unseen, POSITIVES
        )
    ]
    found += [
        Case("clusters", "aucpr", model, 0, 0.2, design)
        for model, design in product(CLUSTERED, CLUSTER_DESIGNS)
    ]
    alike = [(model, model) for model in COMPARED]
    different = list(pairwise((*COMPARED, COMPARED[0])))
    found += [
        Case("differences", "aucpr", f"{first} - {second}", positives, prevalence, design)
        for (first, second), positives, prevalence, design in product(
            alike, POSITIVES, (0.1, 0.01), ("rows", "8 clusters", "20 clusters", "50 clusters")
        )
    ]
    found += [
        Case("differences", "aucpr", f"{first} - {second}", positives, 0.1, design)
        for (first, second), positives, design in product(
            different, POSITIVES, ("rows", "20 clusters")
        )
    ]
    found += [
        Case("differences", "aucpr", f"{first} - {second}", positives, prevalence)
        for pairs, prevalences in ((alike, (0.5,)), (different, (0.5, 0.01)))
        for (first, second), positives, prevalence in product(pairs, POSITIVES, prevalences)
    ]
    found += [
        Case("differences", metric, f"{first} - {second}", positives, 0.1)
        for metric, (first, second), positives in product(
            ("auroc", "precision_at_recall(0.5)"), (*alike, *different), POSITIVES
        )
    ]
    found += [
        Case("groups", how, model, 30, 0.2, design)
        for how, model, design in product(("mean", "weighted", "pooled"), NOISES, GROUPED)
    ]
    found += [
        Case("summary curves", f"at recall {recall:g}", model, positives, 0.1, design)
        for recall, model, positives, design in product(
            (0.1, 0.5, 0.9, 0.98), NOISES, POSITIVES, SUMMARISED
        )
    ]
    return found


def simulate_case(case: Case, data_sets: int, seed: Any) -> list[Row]:
    """Return the one row of a cell: coverage, and on which side the truth was missed."""
    rng, began = np.random.default_rng(seed), time.process_time()
    with warnings.catch_warnings():
        # Of many small samples, some are as bad as the warnings say.
        warnings.simplefilter("ignore", PrecallWarning)
        truth, ask = PARTS[case.part](case)
        low, high = ask(rng, data_sets)
    return [
        {
            **case._asdict(),
            "data_sets": data_sets,
            "truth": truth,
            "coverage": float(np.mean((low <= truth) & (truth <= high))),
            "too_high": float(np.mean(low > truth)),
            "too_low": float(np.mean(high < truth)),
            "width": float(np.mean(high - low)),
            "core_seconds": round(time.process_time() - began, 2),
        }
    ]


def run(
    output: str | Path,
    *,
    quick: bool = False,
    seed: int = 20261118,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Run the study into a folder and return the page written there."""
    sizes = dict.fromkeys(DATA_SETS, 20) if quick else DATA_SETS
    settings = {"study": "defaults", "doubted_under": DOUBTED_UNDER, "data_sets": sizes}
    results = Results(output, "defaults", settings | {"seed": seed})
    chosen = cases(quick)
    run_cases(results, chosen, simulate_case, lambda case: sizes[case.part], workers, progress)
    doubted = [
        Case(*(row[name] for name in Case._fields))
        for row in results.rows
        if row["coverage"] < DOUBTED_UNDER
    ]
    more = 20 if quick else DATA_SETS_AGAIN
    again = Results(output, "defaults_again", settings | {"data_sets": more, "seed": seed + 1})
    run_cases(again, doubted, simulate_case, lambda case: more, workers, None)
    return write_page(results, again)

"""What a private number of rows changes: error and coverage of curves for both kinds of neighbours.

With a replaced row the number of rows is public and two counts move; with a row more or less it is
private and one count moves, so the noise is halved at the same epsilon. Both are released on the
same public edges.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from precall import privacy
from precall.exceptions import ReliabilityWarning
from precall.metrics.areas import aucpr, auroc
from precall.privacy import SeededReleaseWarning
from precall.ranking import rank
from precall.simulate import Bibeta

from ._cases import run_cases
from ._results import Results, Row, markdown_table

PREVALENCE = 0.1
BINS = 16
ROWS = (2000, 20_000)
EPSILONS = (0.1, 1.0, 5.0)
KINDS = {"replace": "replaced", "add_remove": "added or removed"}


class Case(NamedTuple):
    """Rows, what they cost, and whom the release protects."""

    rows: int
    epsilon: float
    neighbours: str


def cases(quick: bool) -> list[Case]:
    """Every case, in order."""
    rows, epsilons = (ROWS[:1], EPSILONS[1:2]) if quick else (ROWS, EPSILONS)
    return [Case(n, epsilon, kind) for n in rows for epsilon in epsilons for kind in KINDS]


def simulate_case(case: Case, samples: int, seed: Any) -> list[Row]:
    """Return the one row of a case."""
    rng = np.random.default_rng(seed)
    scenario, edges = Bibeta(), privacy.probability_edges(BINS)
    truths = scenario.aucpr(PREVALENCE), scenario.auroc()
    errors, held, sizes = [], [], []
    for _ in range(samples):
        n_pos = int(np.clip(rng.binomial(case.rows, PREVALENCE), 1, case.rows - 1))
        labels, scores = scenario.sample(n_pos, case.rows - n_pos, rng)
        ranking = rank(labels, scores)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeededReleaseWarning)
            warnings.simplefilter("ignore", ReliabilityWarning)
            curve = privacy.pr_curve(
                labels,
                scores,
                edges=edges,
                epsilon=case.epsilon,
                budget=privacy.Budget(epsilon=case.epsilon, neighbours=case.neighbours),
                neighbours=case.neighbours,
                rng=rng,
            )
        shown = curve, curve.to("roc")
        exact = aucpr(ranking), auroc(ranking)
        errors.append([each.area() - value for each, value in zip(shown, exact, strict=True)])
        held.append(
            [
                _holds(each, of, value)
                for of, values in (("rows", exact), ("population", truths))
                for each, value in zip(shown, values, strict=True)
            ]
        )
        sizes.append(curve.n_rows - case.rows)
    return [_row(case, np.array(errors), np.array(held), np.array(sizes))]


def _holds(curve: privacy.PrivateCurve, of: str, value: float) -> bool:
    interval = curve.area_interval(of=of)
    return bool(interval.low <= value <= interval.high)


def _row(case: Case, errors: Any, held: Any, sizes: Any) -> Row:
    squares = np.square(errors)
    rmse = np.sqrt(squares.mean(axis=0))
    spread = squares.std(axis=0, ddof=1) / np.sqrt(len(squares)) / (2 * rmse)
    covered = held.mean(axis=0)
    return {
        **case._asdict(),
        "data_sets": len(errors),
        "ap_rmse": float(rmse[0]),
        "ap_error": float(spread[0]),
        "auroc_rmse": float(rmse[1]),
        "auroc_error": float(spread[1]),
        "rows_rmse": float(np.sqrt(np.mean(np.square(sizes.astype(np.float64))))),
        "ap_rows_covered": float(covered[0]),
        "auroc_rows_covered": float(covered[1]),
        "ap_population_covered": float(covered[2]),
        "auroc_population_covered": float(covered[3]),
    }


def run(
    output: str | Path,
    *,
    quick: bool = False,
    seed: int = 20261118,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Run the study into a folder and return the page written there."""
    samples = 4 if quick else 400
    settings = {"study": "neighbours", "samples": samples, "seed": seed}
    results = Results(output, "neighbours", settings)
    run_cases(results, cases(quick), simulate_case, lambda case: samples, workers, progress)
    return write_page(results)


def write_page(results: Results) -> Path:
    """Write the table of errors, and what intervals cover."""
    table = [
        [
            f"{row['rows']:,}",
            f"{row['epsilon']:g}",
            KINDS[row["neighbours"]],
            f"{row['ap_rmse']:.4f} ± {row['ap_error']:.4f}",
            f"{row['auroc_rmse']:.4f} ± {row['auroc_error']:.4f}",
            "public" if row["neighbours"] == "replace" else f"{row['rows_rmse']:.0f}",
        ]
        for row in results.rows
    ]
    names = [name for name in results.rows[0] if name.endswith("_covered")]
    least = min(row[name] for row in results.rows for name in names)
    results.save_page(
        "# A private number of rows\n\n"
        "Root-mean-square error of areas read off a private curve, against the exact areas of the "
        f"rows, on {BINS} public bins, with a prevalence of {PREVALENCE:g} (`Bibeta`, "
        f"{results.settings['samples']} data sets a cell, seed {results.settings['seed']}; ± is "
        "the Monte Carlo error). Rows are protected that are replaced, or that are added or "
        "removed; the last column is the error of the number of rows that the noisy counts "
        "show.\n\n"
        + markdown_table(
            ["rows", "epsilon", "rows are", "average precision", "AUROC", "number of rows"], table
        )
        + "\n\nThe same epsilon means less where rows are added or removed: a replaced row would "
        "cost twice as much.\n\n95 % intervals of both areas, of the rows and of their "
        f"population, covered in at least {100 * least:.1f} % of the data sets of every cell.\n"
    )
    return results.path(".md")

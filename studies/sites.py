"""What it costs that several sites add noise apart: error against one release of all rows.

Rows are drawn once and dealt out to sites, evenly or not. Every site releases its histogram, and
the sum is compared with one release of all rows together at the same epsilon, which a centre that
is trusted with the rows could make.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from precall import privacy
from precall.exceptions import ReliabilityWarning
from precall.metrics.areas import aucpr, auroc
from precall.privacy import SeededReleaseWarning
from precall.ranking import Ranking, rank
from precall.simulate import Bibeta

from ._cases import run_cases
from ._results import Results, Row, markdown_table

PREVALENCE = 0.1
EPSILONS = (0.1, 1.0, 5.0)
ROWS = (5000, 20_000)
SITES = (2, 5, 10, 20)
AREAS: dict[str, tuple[Callable[[Ranking], float], str]] = {
    "average precision": (aucpr, "pr"),
    "AUROC": (auroc, "roc"),
}


class Case(NamedTuple):
    """Sites and what they have; one site stands for the trusted centre."""

    rows: int
    epsilon: float
    sites: int
    sizes: str


def cases(quick: bool) -> list[Case]:
    """Every case, in order."""
    rows, epsilons = ((1000,), (1.0,)) if quick else (ROWS, EPSILONS)
    kinds = [(1, "all"), *((sites, sizes) for sites in SITES for sizes in SIZES)]
    return [Case(n, epsilon, *kind) for n in rows for epsilon in epsilons for kind in kinds]


def _harmonic(sites: int) -> npt.NDArray[np.float64]:
    """The second site has half as many rows as the first, the third a third."""
    return 1.0 / np.arange(1, sites + 1)


#: How rows are dealt out: shares of the sites.
SIZES: dict[str, Callable[[int], npt.NDArray[np.float64]]] = {
    "equal": np.ones,
    "unequal": _harmonic,
}


def simulate_case(case: Case, samples: int, seed: Any) -> list[Row]:
    """Root-mean-square errors and coverage of a case, a row for each area."""
    rng = np.random.default_rng(seed)
    plan = privacy.site_plan(epsilon=case.epsilon, n_rows=case.rows, n_sites=case.sites)
    scenario, n_pos = Bibeta(), round(case.rows * PREVALENCE)
    truths = {"pr": scenario.aucpr(PREVALENCE), "roc": scenario.auroc()}
    errors: dict[str, list[float]] = {name: [] for name in AREAS}
    held: dict[str, list[tuple[bool, bool]]] = {name: [] for name in AREAS}
    for _ in range(samples):
        # The rows are a sample of a population: how many of them are positive varies.
        drawn = int(np.clip(rng.binomial(case.rows, PREVALENCE), 1, 2 * n_pos))
        labels, scores = scenario.sample(drawn, case.rows - drawn, rng)
        ranking = rank(labels, scores)
        curve = _released(case, plan, labels, scores, rng)
        for name, (area, kind) in AREAS.items():
            exact = area(ranking)
            shown = curve.to(kind)
            errors[name].append(shown.area() - exact)
            inside = shown.area_interval()
            beyond = shown.area_interval(of="population")
            held[name].append(
                (inside.low <= exact <= inside.high, beyond.low <= truths[kind] <= beyond.high)
            )
    return [_row(case, name, np.array(errors[name]), np.array(held[name])) for name in AREAS]


def _released(
    case: Case, plan: privacy.SitePlan, labels: Any, scores: Any, rng: np.random.Generator
) -> privacy.SitesCurve:
    shares = SIZES.get(case.sizes, np.ones)(case.sites)
    cuts = np.rint(np.cumsum(shares)[:-1] / shares.sum() * case.rows).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeededReleaseWarning)
        warnings.simplefilter("ignore", ReliabilityWarning)
        return privacy.combine(
            privacy.site_release(
                labels[part],
                scores[part],
                plan=plan,
                site=f"site {number}",
                budget=privacy.Budget(epsilon=case.epsilon),
                rng=rng,
            )
            for number, part in enumerate(np.split(rng.permutation(case.rows), cuts))
        )


def _row(case: Case, area: str, errors: Any, held: Any) -> Row:
    squares = np.square(errors)
    rmse = float(np.sqrt(squares.mean()))
    spread = float(squares.std(ddof=1) / np.sqrt(squares.size))
    return {
        **case._asdict(),
        "area": area,
        "data_sets": int(errors.size),
        "rmse": rmse,
        "error": spread / (2 * rmse),
        "rows_covered": float(held[:, 0].mean()),
        "population_covered": float(held[:, 1].mean()),
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
    samples = 4 if quick else 300
    results = Results(output, "sites", {"study": "sites", "samples": samples, "seed": seed})
    run_cases(results, cases(quick), simulate_case, lambda case: samples, workers, progress)
    return write_page(results)


def write_page(results: Results) -> Path:
    """Write the tables of errors, and what intervals cover."""
    text = (
        "# Several sites against one trusted centre\n\n"
        "Root-mean-square error of areas read off the sum of noisy histograms, each site with its "
        "own noise at the same epsilon, against the exact area of all rows; in brackets the ratio "
        "to one release of all rows by a trusted centre. Scores are beta distributed (`Bibeta`), "
        f"the prevalence is {PREVALENCE:g}, {results.settings['samples']} data sets a cell (seed "
        f"{results.settings['seed']}); ± is the Monte Carlo error. Unequal sites have rows in "
        "proportion to 1, 1/2, 1/3 and so on. The noise of the sum does not depend on who has how "
        "many rows, so equal and unequal differ by chance only.\n"
    )
    for name in AREAS:
        for rows in dict.fromkeys(row["rows"] for row in results.rows):
            found = [row for row in results.rows if row["area"] == name and row["rows"] == rows]
            text += f"\n## {name[0].upper()}{name[1:]}, {rows:,} rows in all\n\n"
            text += _table(found) + "\n"
    rows_low = min(results.rows, key=lambda row: row["rows_covered"])
    population_low = min(results.rows, key=lambda row: row["population_covered"])
    text += (
        "\n## Intervals\n\n95 % intervals of the rows' area (noise and binning) covered it in at "
        f"least {100 * rows_low['rows_covered']:.1f} % of the data sets of every cell, those of "
        "the population (noise, binning and sampling) in at least "
        f"{100 * population_low['population_covered']:.1f} %.\n"
    )
    results.save_page(text)
    return results.path(".md")


def _table(rows: list[Row]) -> str:
    epsilons = list(dict.fromkeys(row["epsilon"] for row in rows))
    alone = {row["epsilon"]: row["rmse"] for row in rows if row["sites"] == 1}
    lines: dict[str, list[str]] = {}
    for row in rows:
        name = "one trusted centre" if row["sites"] == 1 else f"{row['sites']}, {row['sizes']}"
        ratio = "" if row["sites"] == 1 else f" ({row['rmse'] / alone[row['epsilon']]:.1f}x)"
        lines.setdefault(name, []).append(f"{row['rmse']:.4f} ± {row['error']:.4f}{ratio}")
    header = ["sites", *(f"epsilon {epsilon:g}" for epsilon in epsilons)]
    return markdown_table(header, [[name, *cells] for name, cells in lines.items()])

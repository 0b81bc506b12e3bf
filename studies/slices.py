"""Whether the limits of all slices hold at once, and how often a slice is called worse by chance.

All slices are equally good: normal scores 1.5 apart. Their sizes differ by a factor of four, and
about 20 positives are in a typical slice. A limit that fails, or a slice said to be worse or better
than the rest, is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import precall as pr
from precall.simulate import Binormal

from ._results import Results, Row, markdown_table

SHIFT = 1.5
TYPICAL_POSITIVES = 20
PREVALENCE = 0.1
#: Levels of each column, the least and the largest prevalence of a level, data sets.
CASES = (
    ((5,), 0.1, 0.1, 2000),
    ((5,), 0.03, 0.3, 1000),
    ((20,), 0.1, 0.1, 1000),
    ((20,), 0.03, 0.3, 1000),
    ((100,), 0.3, 0.3, 300),
    ((3, 2), 0.1, 0.1, 1000),
    ((3, 2), 0.03, 0.3, 1000),
    ((5, 4), 0.03, 0.3, 400),
    ((10, 8), 0.1, 0.1, 200),
)


def one_data_set(
    levels: tuple[int, ...], low: float, high: float, rng: np.random.Generator
) -> tuple[pr.Rows, list[str]]:
    """Draw rows whose columns have so many levels, the first of them of unequal prevalence."""
    smallest = int(np.prod(levels))
    prevalences = np.geomspace(low, high, levels[0])
    rows = round(smallest * TYPICAL_POSITIVES / float(np.mean(prevalences)))
    columns = {}
    for place, count in enumerate(levels):
        share = np.geomspace(1.0, 4.0, count)
        columns[f"column {place + 1}"] = rng.choice(count, rows, p=share / share.sum())
    y = rng.random(rows) < prevalences[columns["column 1"]]
    return pr.Rows(y, rng.normal(size=rows) + SHIFT * y, columns=columns), list(columns)


def simulated(place: int, data_sets: int, seed: int) -> Row:
    """Return the row of a case."""
    levels, low, high, _ = CASES[place]
    rng = np.random.default_rng([seed, place])
    area, least = Binormal(SHIFT).aucpr(PREVALENCE), pr.minimum_aucpr(PREVALENCE)
    truth = (area - least) / (1.0 - least)
    held = claimed = counted = 0
    for _ in range(data_sets):
        rows, by = one_data_set(levels, low, high, rng)
        found = pr.slices(rows, by, prevalence=PREVALENCE)
        counted += len(found)
        limits = [one.interval for one in found if one.interval is not None]
        held += all(each.low <= truth <= each.high for each in limits)
        claimed += bool(found.below or found.above)
    return {
        "case": place,
        "slices": counted / data_sets,
        "data_sets": data_sets,
        "all_hold": held / data_sets,
        "false_claims": claimed / data_sets,
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
    settings = {"study": "slices", "quick": quick, "seed": seed}
    results = Results(output, "slices", settings)
    todo = [0, 5] if quick else range(len(CASES))
    for done, place in enumerate(todo, start=1):
        if not results.has(case=place):
            results.add([simulated(place, 5 if quick else CASES[place][3], seed)])
        if progress is not None:
            progress(done, len(todo))
    return write_page(results)


def _share(value: float, data_sets: int) -> str:
    error = float(np.sqrt(value * (1.0 - value) / data_sets))
    return f"{100 * value:.1f} % ({100 * error:.1f})"


def write_page(results: Results) -> Path:
    """Write the table."""
    table = []
    for row in results.rows:
        levels, low, high, _ = CASES[row["case"]]
        named = " and ".join(map(str, levels)) + " levels"
        if len(levels) > 1:
            named += f", and {int(np.prod(levels))} crossings"
        spread = f"{low:g} each" if low == high else f"{low:g} to {high:g}"
        size = row["data_sets"]
        shares = [_share(row[name], size) for name in ("all_hold", "false_claims")]
        table.append([named, spread, f"{row['slices']:.0f}", f"{size:,}", *shares])
    results.save_page(
        "# Slices that are all equally good\n\n"
        f"Normal scores {SHIFT:g} apart, about {TYPICAL_POSITIVES} positives in a typical slice, "
        f"sizes unequal by a factor of four, the default metric at a prevalence of {PREVALENCE:g}; "
        f"seed {results.settings['seed']}. All limits should hold in at least 95 % of the data "
        "sets, and a slice be called worse or better than the rest in at most 5 %. In brackets, "
        "the standard error. `python -m studies slices -o DIR` makes this page.\n\n"
        + markdown_table(
            ["slices", "prevalence", "judged", "data sets", "all hold", "false claims"], table
        )
        + "\n"
    )
    return results.path(".md")

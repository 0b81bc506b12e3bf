"""Whether the limits of all slices hold at once, and how often a slice is called worse by chance.

Normal scores, and then those of models that no constant was chosen on; sizes of slices that differ
by a factor of four, and about 20 positives in a typical slice. In most cases all slices are equally
good: a limit that fails, or a slice said to be worse or better than the rest, is an error. In one
case the slices differ, and only their limits are judged.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

import precall as pr
from precall.exceptions import DirectionWarning
from precall.simulate import HELD_OUT, UNSEEN, Binormal, Scenario

from ._cases import compute
from ._results import Results, Row, core_minutes, markdown_table
from ._scores import draw_scores

SHIFT = 1.5
TYPICAL_POSITIVES = 20
PREVALENCE = 0.1
# Rows of the data sets that are timed, with ten levels a column.
_TIMED_ROWS = (100_000, 1_000_000)
_TIMED_ROUNDS = 5


@dataclass(frozen=True)
class Case:
    """Levels of each column, prevalences of the first column's levels, and data sets.

    `spread` is how far apart the classes are in the worst and in the best slice, half of it to
    either side of `SHIFT`. Scores are normal, or those of a `model` in every slice.
    """

    levels: tuple[int, ...]
    low: float
    high: float
    data_sets: int
    spread: float = 0.0
    model: str = ""


MODELS: dict[str, Scenario] = {**UNSEEN, **HELD_OUT}
CASES = (
    Case((6,), 0.1, 0.1, 10_000),
    Case((6,), 0.03, 0.3, 10_000),
    Case((25,), 0.1, 0.1, 2_000),
    Case((25,), 0.03, 0.3, 2_000),
    Case((25,), 0.03, 0.3, 2_000, spread=1.0),
    Case((125,), 0.1, 0.1, 600),
    Case((125,), 0.03, 0.3, 400),
    Case((3, 2), 0.1, 0.1, 600),
    Case((3, 2), 0.03, 0.3, 600),
    Case((5, 4), 0.1, 0.1, 400),
    Case((5, 4), 0.03, 0.3, 400),
    Case((12, 9), 0.1, 0.1, 150),
    Case((12, 9), 0.03, 0.3, 150),
    *(
        Case(levels, low, high, data_sets, model=model)
        for levels, low, high, data_sets in (
            ((6,), 0.03, 0.3, 2_000),
            ((25,), 0.03, 0.3, 1_000),
            ((5, 4), 0.1, 0.1, 400),
        )
        for model in MODELS
    ),
)


def level_names(count: int) -> np.ndarray:
    """Names of levels: words, because numbers would be cut at quantiles."""
    return np.array([f"level {place:03d}" for place in range(count)])


def shifts_of(case: Case) -> np.ndarray:
    """How far apart the classes are in each level of the first column, in no order of size."""
    half = 0.5 * case.spread
    steps = np.linspace(SHIFT - half, SHIFT + half, case.levels[0])
    return np.random.default_rng(0).permutation(steps)


def one_data_set(case: Case, rng: np.random.Generator) -> tuple[pr.Rows, list[str]]:
    """Draw rows whose columns have so many levels, the first of them of unequal prevalence."""
    smallest = int(np.prod(case.levels))
    prevalences = np.geomspace(case.low, case.high, case.levels[0])
    rows = round(smallest * TYPICAL_POSITIVES / float(np.mean(prevalences)))
    codes = []
    for count in case.levels:
        share = np.geomspace(1.0, 4.0, count)
        codes.append(rng.choice(count, rows, p=share / share.sum()))
    columns = {
        f"column {place}": level_names(count)[code]
        for place, (count, code) in enumerate(zip(case.levels, codes, strict=True), start=1)
    }
    y = rng.random(rows) < prevalences[codes[0]]
    return pr.Rows(y, _scores(case, y, codes[0], rng), columns=columns), list(columns)


def _scores(case: Case, y: np.ndarray, code: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw the scores of these rows."""
    if not case.model:
        return np.asarray(rng.normal(size=y.size) + shifts_of(case)[code] * y)
    return draw_scores(MODELS[case.model], y, rng)


def truth_of(scenario: Scenario) -> float:
    """Return the normalised area of a slice."""
    area, least = scenario.aucpr(PREVALENCE), pr.minimum_aucpr(PREVALENCE)
    return float((area - least) / (1.0 - least))


def simulated(place: int, data_sets: int, seed: int) -> list[Row]:
    """Return the one row of a case."""
    case = CASES[place]
    rng = np.random.default_rng([seed, place])
    started = time.process_time()
    names = level_names(case.levels[0])
    truths = {
        f"column 1={name}": truth_of(Binormal(float(shift)))
        for name, shift in zip(names, shifts_of(case), strict=True)
    }
    common = truth_of(Binormal(SHIFT))
    if case.model:
        truths, common = {}, truth_of(MODELS[case.model])
    held = worse = claimed = counted = 0
    for _ in range(data_sets):
        rows, by = one_data_set(case, rng)
        with warnings.catch_warnings():
            # Of small slices some rank the wrong way round, and one model does.
            warnings.simplefilter("ignore", DirectionWarning)
            found = pr.slices(rows, by, prevalence=PREVALENCE)
        limits = [
            (one.interval, truths.get(one.name, common))
            for one in found
            if one.interval is not None
        ]
        counted += len(limits)
        held += all(each.low <= truth <= each.high for each, truth in limits)
        worse += bool(found.below)
        claimed += bool(found.below or found.above)
    return [
        {
            "part": "holds",
            "case": place,
            "slices": counted / data_sets,
            "data_sets": data_sets,
            "all_hold": held / data_sets,
            "called_worse": worse / data_sets,
            "called_worse_or_better": claimed / data_sets,
            "ratio": 0.0,
            "core_seconds": time.process_time() - started,
        }
    ]


def timed(rows: int, seed: int) -> list[Row]:
    """Return CPU times over those of `rank_groups`: of a column, and of two and their crossing."""
    rng = np.random.default_rng([seed, rows])
    y = rng.random(rows) < PREVALENCE
    score = rng.normal(size=rows) + SHIFT * y
    columns = {name: level_names(10)[rng.integers(0, 10, rows)] for name in ("first", "second")}
    crossed = np.char.add(*columns.values())

    def seconds(work: Callable[[], object]) -> float:
        before = time.process_time()
        work()
        return time.process_time() - before

    found = []
    for by, keys in ((["first"], 1), (["first", "second"], 3)):
        started = time.process_time()

        def cut(by: list[str] = by) -> pr.Slices:
            return pr.slices(pr.Rows(y, score, columns=columns), by)

        def ranked(keys: int = keys) -> None:
            for key in [*columns.values(), crossed][:keys]:
                pr.rank_groups(y, score, key)

        slices = len(cut())
        ranked()
        ratios = [seconds(cut) / seconds(ranked) for _ in range(_TIMED_ROUNDS)]
        row = dict.fromkeys(("all_hold", "called_worse", "called_worse_or_better"), 0.0)
        timing = {"ratio": float(np.median(ratios)), "core_seconds": time.process_time() - started}
        about = {"part": "time", "case": rows, "slices": float(slices), "data_sets": _TIMED_ROUNDS}
        found.append(about | row | timing)
    return found


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
    places = [0, 7] if quick else list(range(len(CASES)))
    places = [place for place in places if not results.has(part="holds", case=place)]
    sizes = [size for size in _TIMED_ROWS if not results.has(part="time", case=size)]
    if quick:
        sizes = sizes[:1]
    todo = [(place, 5 if quick else CASES[place].data_sets, seed) for place in places]
    # What is timed has no other case beside it.
    found = chain(compute(simulated, todo, workers), (timed(size, seed) for size in sizes))
    for done, rows in enumerate(found, start=1):
        results.add(rows)
        if progress is not None:
            progress(done, len(todo) + len(sizes))
    return write_page(results)


def _share(value: float, data_sets: int) -> str:
    error = float(np.sqrt(value * (1.0 - value) / data_sets))
    return f"{100 * value:.1f} % ({100 * error:.1f})"


def described(case: Case) -> str:
    """Return the slices of a case in words."""
    named = " and ".join(map(str, case.levels)) + " levels"
    if len(case.levels) > 1:
        named += f", and {int(np.prod(case.levels))} crossings"
    return named + (", not equally good" if case.spread else "")


def prevalences_of(case: Case) -> str:
    """Return the prevalences of the slices in words."""
    return f"{case.low:g} each" if case.low == case.high else f"{case.low:g} to {case.high:g}"


def other_models(rows: list[Row]) -> str:
    """Return what is found on the models that are not normal: a line each."""
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        case = CASES[row["case"]]
        held, worse = (_share(row[name], row["data_sets"]) for name in ("all_hold", "called_worse"))
        column = f"{described(case)}, {prevalences_of(case)}; {row['data_sets']:,} data sets"
        cells.setdefault(case.model, {})[column] = f"{held}; {worse}"
    if not cells:
        return ""
    columns = list(dict.fromkeys(column for found in cells.values() for column in found))
    lowest, highest = (
        pick(rows, key=lambda row: row[name])
        for pick, name in ((min, "all_hold"), (max, "called_worse"))
    )
    return (
        "\n\n## Models that no constant was chosen on\n\n"
        "The same model in every slice: how often all limits hold, and how often some slice is "
        "called worse. The lowest and the highest of these "
        f"{len(rows)} cases are {_share(lowest['all_hold'], lowest['data_sets'])} on "
        f"{CASES[lowest['case']].model} and {_share(highest['called_worse'], highest['data_sets'])}"
        f" on {CASES[highest['case']].model}.\n\n"
        + markdown_table(
            ["model", *columns],
            [
                [name, *(found.get(column, "–") for column in columns)]
                for name, found in cells.items()
            ],
        )
    )


def write_page(results: Results) -> Path:
    """Write the tables."""
    table = []
    holds = [row for row in results.rows if row["part"] == "holds"]
    for row in holds:
        case = CASES[row["case"]]
        if case.model:
            continue
        spread = prevalences_of(case)
        size = row["data_sets"]
        claims = ["–", "–"]
        if not case.spread:
            names = ("called_worse", "called_worse_or_better")
            claims = [_share(row[name], size) for name in names]
        held = _share(row["all_hold"], size)
        table.append([described(case), spread, f"{row['slices']:.0f}", f"{size:,}", held, *claims])
    times = [
        [f"{row['case']:,}", f"{row['slices']:.0f}", f"{row['ratio']:.1f}"]
        for row in results.rows
        if row["part"] == "time"
    ]
    results.save_page(
        "# Slices that are all equally good\n\n"
        f"Normal scores {SHIFT:g} apart, about {TYPICAL_POSITIVES} positives in a typical slice, "
        f"sizes unequal by a factor of four, the default metric at a prevalence of {PREVALENCE:g}; "
        "slices with fewer than ten positives are not judged. All limits should hold in at least "
        "95 % of the data sets, and a slice be called worse than the rest, or worse or better, in "
        "at most 5 %. In the case that is not equally good the distance goes from 1 to 2. In "
        f"brackets, the standard error. Seed {results.settings['seed']}; `python -m studies slices "
        f"-o DIR` makes this page. {core_minutes(results.rows)}\n\n"
        + markdown_table(
            [
                "slices",
                "prevalence of the slices",
                "judged",
                "data sets",
                "all hold",
                "called worse",
                "called worse or better",
            ],
            table,
        )
        + other_models([row for row in holds if CASES[row["case"]].model])
        + "\n\n## Time\n\nCPU time of `pr.slices` on one column of ten levels, and on two with "
        "their crossing, over that of `pr.rank_groups` on the same one or three columns, both from "
        f"arrays; median of {_TIMED_ROUNDS}. At most 3 is wanted.\n\n"
        + markdown_table(["rows", "slices", "ratio"], times)
        + "\n"
    )
    return results.path(".md")

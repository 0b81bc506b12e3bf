"""The page: every outcome as Markdown, the lost races too. Nothing on it is written by hand."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import figures
from benchmarks.harness import REGISTRY, Outcome, in_units
from benchmarks.machine import SORTING
from benchmarks.peers import Found

COMMAND = "python -m benchmarks --page docs/benchmarks.md"
ROWS, POSITIVES = "growth_rows", "growth_positives"
# Below this many rows the fixed cost of a call hides how it grows.
FITTED_FROM = 10**5
SCALED = "†"

# The order of the page; what is registered and not named here follows under its own name.
HEADINGS = {
    ROWS: "Average precision over rows",
    POSITIVES: "Average precision over the share of positives",
    "rank_and_ap": "Average precision, with budgets",
    "small_inputs": "Average precision of few rows",
    "curves": "The precision-recall curve",
    "auroc": "AUROC",
    "several_answers": "Several answers from one ranking",
    "groups": "Mean average precision over queries",
    "delong": "DeLong's interval of the AUROC",
    "bootstrap": "Bootstrap interval, beside packaged bootstraps",
    "intervals": "Bootstrap interval, beside scikit-learn in a loop",
    "precision_at_threshold": "Precision at one threshold with its interval",
    "compare": "Two models on the same rows",
    "from_parquet": "From a Parquet file",
    "spark_mllib": "On Spark",
    "engine_spark": "On Spark, ten times the rows",
    "engine_dask": "On Dask",
    "engine_arrow": "A file larger than one wants in memory",
    "estimators": "All estimators of the area",
    "bands": "Bands",
    "drawing": "Answers that draw or exchange rows many times",
    "evaluation": "Evaluating three models, and the report",
    "command_line": "The command line",
    "import_time": "Import",
}


@dataclass(frozen=True, kw_only=True)
class Results:
    """One run of the benchmarks, with all that the page says about it."""

    outcomes: Mapping[str, Sequence[Outcome]]
    machine: Mapping[str, str]
    versions: Mapping[str, str]
    peers: Sequence[Found]
    not_run: Mapping[str, str]
    quick: bool
    minutes: float


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The subject and one peer in one race."""

    benchmark: str
    outcome: Outcome
    peer: str

    @property
    def bound(self) -> bool:
        return self.peer in self.outcome.race.bounds

    @property
    def ratio(self) -> float:
        """Times the peer's cost: above 1 the subject is slower."""
        return self.outcome.costs[self.outcome.subject] / self.outcome.costs[self.peer]


def write(results: Results, path: Path) -> None:
    """The page, and its figures in the folder `images` beside it."""
    images = path.parent / "images"
    images.mkdir(parents=True, exist_ok=True)
    if results.outcomes.get(ROWS):
        figures.draw(
            results.outcomes[ROWS],
            images / "benchmark_rows.svg",
            title="Average precision, 1 % positives",
            x_label="rows",
        )
    if results.outcomes.get(POSITIVES):
        figures.draw(
            results.outcomes[POSITIVES],
            images / "benchmark_positives.svg",
            title="Average precision, from few positives to a half",
            x_label=f"share of positives, {_rows_of_shares(results):,} rows",
        )
    path.write_text(render(results), encoding="utf-8")


def _rows_of_shares(results: Results) -> int:
    from benchmarks import growth

    return growth.QUICK_AT_ROWS if results.quick else growth.AT_ROWS


def render(results: Results) -> str:
    parts = [
        _top(results),
        _summary(results),
        _losses(results),
        _growth(results),
        *_tables(results),
        _budgets(results),
        _peers(results),
        _machine(results),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def pairs(results: Results) -> list[Pair]:
    return [
        Pair(benchmark=name, outcome=outcome, peer=peer)
        for name, outcomes in results.outcomes.items()
        for outcome in outcomes
        for peer in outcome.peers
    ]


def losses(results: Results, *, to_bounds: bool) -> list[Pair]:
    """Where a peer is faster, the worst first."""
    lost = [pair for pair in pairs(results) if pair.ratio > 1 and pair.bound == to_bounds]
    return sorted(lost, key=lambda pair: -pair.ratio)


def _top(results: Results) -> str:
    quick = (
        "\n\n**This page is from a quick run**: few rows and few repeats. Without `--quick` the "
        "sizes are larger."
        if results.quick
        else ""
    )
    load = float(results.machine.get("load before the run", 0))
    busy = (
        f"\n\n**The machine was busy** when the run began (load {load:.1f}): other programs took "
        "their share, from those with several threads most of all."
        if load > 0.5
        else ""
    )
    slow = (
        "\n\n**NumPy sorts slowly on this processor**: it takes AVX-512, which on Zen 4 needs six "
        "times as long as AVX2 ([what helps](how-to/billions-of-rows.md#on-amds-zen-4)). Commands "
        "avoid that; everything that ran in this process did not."
        if SORTING in results.machine
        else ""
    )
    return f"""# Benchmarks

Written by `{COMMAND}{" --quick" if results.quick else ""}` in {results.minutes:.0f} minutes, and
not edited by hand. All jobs of a line ran in one process, on the same data, in turns, and every
table in a process of its own; the best time of one call counts, and where two are within a fifth
of each other they are timed four times as often. Before anything was timed the answers were
compared, and where a peer computes something else, the difference is printed under the
table.{quick}{busy}{slow}

A time is followed by its ratio to this library's: 3× took three times as long, 0.5× half as long.
Inputs are converted before the clock starts: tensors for torchmetrics, a frame for polars. Scores
are normal, one standard deviation higher for positives, and without ties."""


def _summary(results: Results) -> str:
    rivals = [pair for pair in pairs(results) if not pair.bound]
    verdicts = [held for _, _, _, held in _verdicts(results)]
    won = sum(pair.ratio <= 1 for pair in rivals)
    missing = [f"{found.peer.name} ({found.problem})" for found in results.peers if found.problem]
    lines = [
        (
            f"- {len(rivals)} comparisons with a peer that answers the same question: this library "
            f"is faster in {won}, slower in {len(rivals) - won}."
        ),
        f"- {sum(verdicts)} of {len(verdicts)} budgets hold.",
        f"- Peers that could not be asked: {', '.join(missing) or 'none'}.",
    ]
    lines += [f"- Not run: `{name}` ({why})." for name, why in results.not_run.items()]
    return "\n".join(["## In short", "", *lines])


def _losses(results: Results) -> str:
    head = ("benchmark", "case", "this library", "faster", "its time", "slower by")
    parts = ["## What this library loses at"]
    if rivals := losses(results, to_bounds=False):
        parts += [
            "Every comparison of this run in which a peer was faster, the largest ratio first.",
            _table(head, map(_loss, rivals)),
        ]
    else:
        parts += ["No peer was faster in this run."]
    if bounds := losses(results, to_bounds=True):
        parts += [
            (
                "And every yardstick that was faster: a part of the work, such as one sort, or "
                "this library's own ranking in memory. They are not rivals; they say how far from "
                "the least possible cost this library is."
            ),
            _table(head, map(_loss, bounds)),
        ]
    return "\n\n".join(parts)


def _loss(pair: Pair) -> tuple[str, ...]:
    costs = pair.outcome.costs
    return (
        _heading(pair.benchmark),
        pair.outcome.race.title,
        f"`{pair.outcome.subject}` {_time(costs[pair.outcome.subject])}",
        pair.peer,
        _time(costs[pair.peer]) + (SCALED if pair.peer in pair.outcome.race.part else ""),
        f"{_number(pair.ratio)}×",
    )


def _growth(results: Results) -> str:
    parts = ["## How cost grows"]
    if outcomes := results.outcomes.get(ROWS):
        rows = [
            (name, *_fitted(at, seconds), _time(seconds[0]), _time(seconds[-1]), f"{at[-1]:,.0f}")
            for name, (at, seconds) in figures.series(outcomes).items()
        ]
        parts += [
            "![Time of one call over rows, both axes logarithmic](images/benchmark_rows.svg)",
            (
                "The exponent is the slope on those axes, fitted by least squares to "
                f"{FITTED_FROM:,} rows and more: 1 is growth in proportion, and a dash means that "
                "fewer than two sizes were timed there. A line that ends early was too slow to go "
                "on; nothing is extrapolated."
            ),
            _table(
                ("tool", "exponent", "sizes", "at fewest rows", "at most rows", "most rows"), rows
            ),
        ]
    if outcomes := results.outcomes.get(POSITIVES):
        rows = [
            (
                name,
                f"{_exponent(at, seconds):.2f}",
                _time(seconds[0]),
                _time(seconds[-1]),
                f"{_number(seconds[-1] / seconds[0])}×",
            )
            for name, (at, seconds) in figures.series(outcomes).items()
        ]
        first, last = outcomes[0].race.title, outcomes[-1].race.title
        parts += [
            (
                "![Time of one call over the share of positives, both axes logarithmic]"
                "(images/benchmark_positives.svg)"
            ),
            "Here the exponent is fitted to all shares: 0 is a cost that does not depend on them.",
            _table(("tool", "exponent", first, last, "growth"), rows),
        ]
    return "\n\n".join(parts) if len(parts) > 1 else ""


def _fitted(at: list[float], seconds: list[float]) -> tuple[str, str]:
    kept = [(x, y) for x, y in zip(at, seconds, strict=True) if x >= FITTED_FROM]
    if len(kept) < 2:
        return "–", str(len(kept))
    return f"{_exponent(*map(list, zip(*kept, strict=True))):.2f}", str(len(kept))


def _exponent(at: list[float], seconds: list[float]) -> float:
    """Slope of log cost over log size, by least squares."""
    return float(np.polynomial.polynomial.polyfit(np.log(at), np.log(seconds), 1)[1])


def _tables(results: Results) -> Iterator[str]:
    yield "## Every comparison"
    order = [*HEADINGS, *(name for name in results.outcomes if name not in HEADINGS)]
    for name in order:
        if outcomes := results.outcomes.get(name):
            yield _comparison(name, outcomes)


def _comparison(name: str, outcomes: Sequence[Outcome]) -> str:
    tools = list(dict.fromkeys(tool for outcome in outcomes for tool in outcome.race.jobs))
    bounds = {tool for outcome in outcomes for tool in outcome.race.bounds}
    head = [
        "case",
        *(f"{tool} (yardstick)" if tool in bounds else tool for tool in tools),
        "fastest",
    ]
    rows = []
    for outcome in outcomes:
        rivals = {t: cost for t, cost in outcome.costs.items() if t not in outcome.race.bounds}
        cells = [_cell(outcome, tool) for tool in tools]
        fastest = min(rivals, key=rivals.__getitem__) if len(rivals) > 1 else "–"
        rows.append((outcome.race.title, *cells, fastest))
    about = (REGISTRY[name].__doc__ or "").partition("\n\n")[0] if name in REGISTRY else ""
    parts = [
        f"### {_heading(name)}",
        " ".join(about.split()),
        _table(head, rows),
        *_notes(outcomes),
    ]
    return "\n\n".join(part for part in parts if part)


def _cell(outcome: Outcome, tool: str) -> str:
    costs = outcome.costs
    if tool not in costs:
        return "–"
    if tool == outcome.subject:
        return f"**{_time(costs[tool])}**"
    mark = SCALED if tool in outcome.race.part else ""
    return f"{_time(costs[tool])}{mark}, {_number(costs[tool] / costs[outcome.subject])}×"


def _notes(outcomes: Sequence[Outcome]) -> Iterator[str]:
    notes = [f"- {o.race.title}: {o.remark}." for o in outcomes if o.remark is not None]
    left_out: dict[tuple[str, str], list[str]] = {}
    for outcome in outcomes:
        for tool, why in outcome.race.skipped.items():
            left_out.setdefault((tool, why), []).append(outcome.race.title)
    notes += [
        f"- {tool} is left out at {'; '.join(titles)}: {why}."
        for (tool, why), titles in left_out.items()
    ]
    parts = {tool: part for outcome in outcomes for tool, part in outcome.race.part.items()}
    notes += [
        f"- {SCALED} {tool}: {_number(100 * part)} % of the work was timed, and multiplied by "
        f"{_number(1 / part)}."
        for tool, part in parts.items()
    ]
    if notes:
        yield "\n".join(notes)


def _verdicts(results: Results) -> Iterator[tuple[str, Outcome, str, bool]]:
    for name, outcomes in results.outcomes.items():
        for outcome in outcomes:
            for budget, held in outcome.verdicts().items():
                yield name, outcome, budget.describe(), held


def _budgets(results: Results) -> str:
    rows = [
        (
            _heading(name),
            o.race.title,
            _time(o.costs[o.subject]),
            says.replace(" us", " µs"),
            "holds" if held else "**MISSED**",
        )
        for name, o, says, held in _verdicts(results)
    ]
    if not rows:
        return ""
    table = _table(("benchmark", "case", "this library", "budget", "verdict"), rows)
    return f"## Budgets\n\nLimits that `--strict` insists on.\n\n{table}"


def _peers(results: Results) -> str:
    rows = [
        (found.peer.name, found.version or "–", found.problem or "found", found.peer.asked)
        for found in results.peers
    ]
    return "## Peers\n\n" + _table(("peer", "version", "here", "asked for"), rows)


def _machine(results: Results) -> str:
    return "\n\n".join(
        [
            "## Machine and versions",
            _table(("", ""), results.machine.items()),
            _table(("package", "version"), results.versions.items()),
        ]
    )


def _heading(name: str) -> str:
    return HEADINGS.get(name, name)


def _time(seconds: float) -> str:
    return in_units(seconds).replace("us", "µs")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 10 else f"{value:.2f}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)

"""``precall audit``: which rows to label, and what their labels say about all rows."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import click
import numpy as np

from .._output import whole_file
from .._text import visible
from .._version import __version__
from .._words import plural
from ..audit import Sample, plan, plan_of, sample_of
from ..audit.designs import strata_from_shares
from ..audit.sample import TARGETS
from ..evaluation import wording
from ..exceptions import InputError
from ..inference.intervals import interval
from ..metrics import Metric, as_metric
from ..metrics.registry import title_of
from ..ranking.scored_rows import ScoredRows
from ..readers.columns import read_values
from ..readers.label_columns import numeric_label
from ..readers.options import ReadOptions
from .examples import Command, Group
from .lines import write_json
from .moving import spinner
from .options import (
    Source,
    check_output,
    file_argument,
    file_title,
    json_option,
    level_option,
    metric_option,
    more_metrics_option,
    reading_options,
    seed_option,
)
from .terminal import console, grid, sentences

ROW = "row"
in_pieces_option = click.option(
    "--in-pieces",
    is_flag=True,
    help="Read the population in pieces: for files larger than memory.",
)
_WRITTEN = "inclusion"


@click.group(
    "audit",
    cls=Group,
    examples=(
        "precall audit plan all.parquet --score s --budget 500 -o to_label.csv",
        "precall audit estimate all.csv --score s --label y --inclusion p",
    ),
)
def command() -> None:
    """Plan which rows to label, and answer for all rows from those labels."""


@command.command(
    "plan",
    cls=Command,
    examples=(
        "precall audit plan all.parquet --score s --budget 500 -o to_label.csv",
        "precall audit plan all.csv --score s --guess s --budget 500 -o to_label.csv",
    ),
)
@file_argument()
@click.option("--score", required=True, metavar="COLUMN", help="Column with scores of all rows.")
@click.option("--budget", required=True, type=click.IntRange(min=1), help="How many rows to label.")
@click.option(
    "--guess", metavar="COLUMN", help="Column with a guess of the probability of a positive."
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="Column to copy beside each row, such as an identifier; repeat it for several.",
)
@metric_option("What the labels are for")
@in_pieces_option
@seed_option
@click.option("-o", "--output", required=True, metavar="FILE", help="A .csv file to fill in.")
@reading_options
def plan_command(
    file: Source,
    score: str,
    budget: int,
    guess: str | None,
    keep: tuple[str, ...],
    metric: Metric,
    in_pieces: bool,
    seed: int,
    output: str,
    reading: ReadOptions,
) -> None:
    """Choose the rows of FILE to label, and write them to a file that people fill in.

    It has the number of each row, from 0, its score, the probability with which it was chosen, and
    an empty column for the label.
    """
    path = check_output(output, (".csv",), file)
    kept = [name for name in dict.fromkeys(keep) if name not in (ROW, score, _WRITTEN, "label")]
    if in_pieces:
        if guess:
            raise InputError("--in-pieces plans without a guess: leave --guess out.")
        with spinner() as say:
            say("reading")
            population = _in_pieces(file, score, kept, reading)
            drawn = plan_of(population, budget=budget, metric=metric, rng=seed)
        columns = [drawn.rows.tolist(), *drawn.others.values(), drawn.scores.tolist()]
        _write_plan(path, [ROW, *kept, score], columns, drawn.inclusion.tolist())
        _say_plan(path, drawn.rows.size, drawn.n_rows, *_how_to_find(kept))
        return
    numbers = [score, *([guess] if guess else [])]
    with spinner() as say:
        say("reading")
        values = read_values(file, numbers=numbers, values=kept, options=reading)
    found = plan(
        values[score],
        budget=budget,
        metric=metric,
        guess=values[guess] if guess else None,
        rng=seed,
    )
    lines = [found.rows, *(values[name][found.rows] for name in [*kept, score])]
    shares = found.inclusion[found.rows].tolist()
    _write_plan(path, [ROW, *kept, score], [line.tolist() for line in lines], shares)
    said = _how_to_find(kept)
    if found.expected_width is not None:
        said.append(
            f"The 95 % interval of {found.metric} will be about {found.expected_width:.2g} wide; "
            f"rows drawn without a plan would need {plural(found.uniform_budget or 0, 'label')}."
        )
    _say_plan(path, found.rows.size, found.inclusion.size, *said)


def _write_plan(
    path: Path, names: list[str], values: list[list[Any]], inclusion: list[float]
) -> None:
    """Write rows to label, with an empty column for the label."""
    with whole_file(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text)
        writer.writerow([*names, _WRITTEN, "label"])
        writer.writerows([*line, ""] for line in zip(*values, inclusion, strict=True))


def _say_plan(path: Path, rows: int, population: int, *more: str) -> None:
    where = f"of {population:,} to label are in {visible(path)}"
    said = f"{plural(rows, 'row')} {where}: fill in the column label, with 1 or 0."
    sentences(console(), [said, *more])


def _how_to_find(kept: list[str]) -> list[str]:
    """Say how a row is found again, where nothing but its number says which it is."""
    if kept:
        return []
    return [f"Its column {ROW} counts the rows from 0; --keep COLUMN adds one that names them."]


def _in_pieces(file: Source, score: str, keep: list[str], reading: ReadOptions) -> ScoredRows:
    """Return the rows of files that are read in pieces."""
    from ..engines import arrow

    files = file if isinstance(file, str) else list(file)
    return arrow.scores(files, score=score, keep=keep, options=reading)


@command.command(
    "estimate",
    cls=Command,
    examples=(
        "precall audit estimate all.csv --score s --label y --inclusion p",
        "precall audit estimate done.csv --score s --label y --inclusion p --population all.csv",
    ),
)
@file_argument()
@click.option("--score", required=True, metavar="COLUMN", help="Column with scores.")
@click.option(
    "--label", required=True, metavar="COLUMN", help="Column of labels, empty where unknown."
)
@click.option(
    "--inclusion",
    required=True,
    metavar="COLUMN",
    help="Column with the probability with which each row was to be labelled.",
)
@click.option(
    "--population",
    metavar="FILE",
    help="The file with the scores of all rows, if FILE has only those to label.",
)
@click.option("--pos-label", metavar="LABEL", help="The positive label; 1 (or true) if not given.")
@more_metrics_option
@in_pieces_option
@click.option(
    "--target",
    type=click.Choice(TARGETS),
    default=TARGETS[0],
    show_default=True,
    help="Answer for these rows, or for the process that they came from.",
)
@level_option
@json_option
@click.option("-o", "--output", metavar="FILE", help="Write a page, an .html file, instead.")
@reading_options
def estimate_command(
    file: Source,
    score: str,
    label: str,
    inclusion: str,
    population: str | None,
    pos_label: str | None,
    metrics: tuple[Metric, ...],
    in_pieces: bool,
    target: str,
    level: float,
    as_json: bool,
    output: str | None,
    reading: ReadOptions,
) -> None:
    """Say how good the scores of a whole population are, from the labels of some of its rows.

    FILE has all rows, or, with --population, those that precall audit plan chose.
    """
    if output is not None and as_json:
        raise InputError("--output writes a page and --json prints numbers: give one of the two.")
    path = None if output is None else check_output(output, (".html", ".htm"), file)
    with spinner() as say:
        say("reading")
        if in_pieces and population is None:
            raise InputError("--in-pieces is about the file of --population: give one.")
        if population is None:
            columns = read_values(file, numbers=[score, inclusion], values=[label], options=reading)
            labels = _labels(columns[label], pos_label, label)
            named = {score: columns[score]}
            sample = Sample(named, labels, inclusion=columns[inclusion], target=target)
        else:
            sample = _of_population(
                file,
                score,
                label,
                inclusion,
                population,
                pos_label,
                target,
                reading,
                metrics if in_pieces else None,
            )
    if path is not None:
        words = {
            "--score": score,
            "--label": label,
            "--inclusion": inclusion,
            "--population": population,
            "--pos-label": pos_label,
            "--target": None if target == TARGETS[0] else target,
            "--level": None if level == 0.95 else f"{level:g}",
            "-o": output,
        }
        again = [word for pair in words.items() if pair[1] is not None for word in pair]
        again += [word for metric in metrics for word in ("--metric", str(metric))]
        with spinner() as say:
            say("writing the page")
            used = (("label", label), ("inclusion", inclusion))
            written = _page(sample, path, metrics, level, file, again, used)
        click.echo(f"The report is in {visible(written)}")
        return
    asked = metrics or (as_metric("aucpr"),)
    found = [interval(sample, metric, confidence_level=level) for metric in asked]
    if as_json:
        counts = {
            "rows": sample.n_rows,
            "labels": sample.n_labelled,
            "positives": sample.n_positives,
        }
        answers = [each.to_dict() for each in found]
        write_json({"precall": __version__, "file": file, **counts, "answers": answers})
        return
    screen = console()
    sentences(
        screen,
        [
            f"{sample.n_labelled:,} of {plural(sample.n_rows, 'row')} are labelled, "
            f"{sample.n_positives:,} of them positive. {wording.percent(level)} intervals for "
            + ("all rows:" if target == TARGETS[0] else "the process that the rows came from:")
        ],
    )
    screen.print()
    rows = [
        [
            title_of(each.metric),
            wording.number(each.estimate),
            wording.number(each.low),
            wording.number(each.high),
        ]
        for each in found
    ]
    titles = [("", "left"), ("estimate", "right"), ("from", "right"), ("to", "right")]
    grid(screen, titles, rows, indent=2)


def _page(
    sample: Sample,
    path: Path,
    metrics: tuple[Metric, ...],
    level: float,
    file: Source,
    words: list[str | None],
    columns: tuple[tuple[str, str], ...],
) -> Path:
    """Write the page, which says how it is made again."""
    from ..display.report import Origin
    from ..display.sample_page import write_sample_report

    files = (file,) if isinstance(file, str) else file
    command = ("precall", "audit", "estimate", *files, *(word for word in words if word))
    origin = Origin(source=file_title(file), command=command, columns=columns)
    return write_sample_report(sample, path, metrics=metrics, confidence_level=level, origin=origin)


def _labels(values: Any, pos_label: str | None, name: str) -> Any:
    """Labels with gaps; words are compared with the positive one."""
    if pos_label is None:
        return values
    known = np.array([value is not None and value == value for value in values.tolist()])
    words = any(isinstance(value, str) for value in values.tolist())
    wanted = pos_label if words else numeric_label(pos_label, f"label column {name!r}")
    found = np.full(values.size, np.nan)
    found[known] = [value == wanted for value in values[known].tolist()]
    return found


def _of_population(
    file: Source,
    score: str,
    label: str,
    inclusion: str,
    population: str,
    pos_label: str | None,
    target: str,
    reading: ReadOptions,
    in_pieces: tuple[Metric, ...] | None,
) -> Sample:
    """Put the labels of a filled-in plan on the rows of the population.

    `in_pieces` has the metrics to be asked where the population is read in pieces.
    """
    drawn = read_values(file, numbers=[ROW, score, inclusion], values=[label], options=reading)
    scores = None
    if in_pieces is None:
        scores = read_values(population, numbers=[score], options=reading)[score]
    most = np.inf if scores is None else scores.size
    labels = _labels(drawn[label], pos_label, label)
    found: dict[int, Any] = {}
    for line, (row, given) in enumerate(zip(drawn[ROW].tolist(), labels.tolist(), strict=True), 1):
        number = int(row)
        if not 0 <= number < most or number != row:
            raise InputError(
                f"column {ROW!r} has {row:g} in data row {line}, and the population has "
                f"{most:,.0f} rows, counted from 0."
            )
        if number in found and found[number] != given:
            raise InputError(
                f"row {number} has two labels that contradict each other, the second in data row "
                f"{line}: keep the right one."
            )
        found[number] = given
    rows = drawn[ROW].astype(np.int64)
    other = np.flatnonzero((drawn[score] if scores is None else scores[rows]) != drawn[score])
    if other.size:
        raise InputError(
            f"the score in data row {int(other[0]) + 1} is not that of row "
            f"{int(rows[other[0]])} of the population: give the population that was planned with."
        )
    empty = sum(value is None or value != value for value in found.values())
    if empty:
        raise InputError(
            f"{plural(empty, 'row')} of {len(found):,} {'has' if empty == 1 else 'have'} no label "
            f"yet: fill in label column {label!r}."
        )
    chosen, first = np.unique(rows, return_index=True)
    shares = drawn[inclusion][first].astype(np.float64)
    if scores is None:
        return sample_of(
            _in_pieces(population, score, [], reading),
            drawn[score][first],
            [found[row] for row in chosen.tolist()],
            inclusion=shares,
            metrics=in_pieces or (),
            target=target,
        )
    strata = strata_from_shares(scores, chosen, shares)
    return Sample({score: scores}, found, strata=strata, target=target)

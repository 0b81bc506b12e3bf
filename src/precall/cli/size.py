"""``precall size``."""

from __future__ import annotations

from typing import Any

import click

from .._version import __version__
from ..metrics import Metric
from ..planning import case_control, power, size
from ..readers.columns import Roles
from ..readers.options import ReadOptions
from ..rows import Rows
from .examples import Command
from .inputs import read
from .lines import write_json
from .options import (
    FRACTION,
    json_option,
    level_option,
    metric_option,
    reading_options,
)
from .terminal import console, grid, sentences


@click.command(
    "size",
    cls=Command,
    examples=(
        "precall size --width 0.1 --prevalence 0.01 --aucpr 0.4",
        "precall size --difference 0.02 --prevalence 0.01 --aucpr 0.4",
        "precall size --width 0.1 --pilot scores.csv --label y --score model",
    ),
)
@click.option("--width", type=float, help="How wide the interval may be.")
@click.option("--difference", type=float, help="Difference of two models to show.")
@click.option("--power", "chance", type=FRACTION, help="Probability to show it; 0.8 if not given.")
@click.option("--rows", type=click.IntRange(min=1), help="Rows that you have: ask for the power.")
@click.option("--prevalence", type=FRACTION, help="Share of positives to come.")
@click.option("--aucpr", type=FRACTION, help="Guess of the area; of the worse of two models.")
@click.option("--auroc", type=FRACTION, help="The same for the area under the ROC curve.")
@click.option(
    "--correlation",
    type=float,
    help="Of the scores of two models within a class; 0.5 if not given.",
)
@click.option("--case-control", "ratios", is_flag=True, help="What fewer negatives would cost.")
@click.option("--pilot", metavar="FILE", help="Scored rows instead of a guess.")
@click.option("--label", metavar="COLUMN", help="Column of labels of the pilot.")
@click.option("--score", "scores", multiple=True, metavar="COLUMN", help="Columns of its scores.")
@click.option("--pos-label", metavar="LABEL", help="The positive label; 1 (or true) if not given.")
@metric_option("What the rows are needed for")
@level_option
@json_option
@reading_options
def command(
    width: float | None,
    difference: float | None,
    chance: float | None,
    rows: int | None,
    prevalence: float | None,
    aucpr: float | None,
    auroc: float | None,
    correlation: float | None,
    ratios: bool,
    pilot: str | None,
    label: str | None,
    scores: tuple[str, ...],
    pos_label: str | None,
    metric: Metric,
    level: float,
    as_json: bool,
    reading: ReadOptions,
) -> None:
    """Say how many rows it takes: for an interval of some width, or to show a difference.

    Without a pilot, scores are taken as normal, with the guessed area.
    """
    of_two = [difference, chance, rows, correlation]
    if (width is None) == (of_two == [None] * 4):
        raise click.UsageError(
            "give --width for an interval, or --difference (with --power or --rows) for two models."
        )
    if ratios and width is None:
        raise click.UsageError("--case-control needs --width.")
    asked: dict[str, Any] = {
        "metric": metric,
        "prevalence": prevalence,
        "aucpr": aucpr,
        "auroc": auroc,
        "confidence_level": level,
    }
    if pilot is not None:
        if label is None or not scores:
            raise click.UsageError("--pilot needs --label and --score.")
        columns = read(pilot, Roles(label=label, scores=scores, pos_label=pos_label), reading)
        asked["pilot"] = Rows(columns.positive, columns.scores)
    elif (label, scores, pos_label) != (None, (), None):
        raise click.UsageError("--label, --score and --pos-label belong to a --pilot.")
    guesses = {"--pilot": pilot, "--aucpr": aucpr, "--auroc": auroc}
    named = [name for name, value in guesses.items() if value is not None]
    if len(named) != 1:
        raise click.UsageError(
            "say how good the model will be, in one way: --aucpr or --auroc with a guess, or "
            "--pilot with a file of scored rows."
        )
    if pilot is None and prevalence is None:
        raise click.UsageError(f"{named[0]} needs --prevalence, the share of positives to come.")
    plan: Any
    if width is None:
        if correlation is not None:
            asked["correlation"] = correlation
        plan = power(difference=difference, rows=rows, power=chance, **asked)
    else:
        plan = (case_control if ratios else size)(width=width, **asked)
    if as_json:
        write_json({"precall": __version__, **plan.to_dict()})
        return
    output = console()
    sentences(output, [plan.message])
    if ratios:
        output.print()
        table = zip(plan.ratios, plan.positives, plan.negatives, plan.rows, strict=True)
        titles = ("negatives per positive", "positives", "negatives", "rows")
        lines = [[f"{ratio:.4g}", *(f"{count:,}" for count in counts)] for ratio, *counts in table]
        grid(output, [(title, "right") for title in titles], lines)

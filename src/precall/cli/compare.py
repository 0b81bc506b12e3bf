"""``precall compare``."""

from __future__ import annotations

import click

from .._text import visible
from .._version import __version__
from ..evaluation import wording
from ..exceptions import InputError
from ..inference.compare import COMPARISONS, compare
from ..inference.comparison import Comparison
from ..metrics import Metric, parse
from ..readers.columns import Roles
from ..readers.options import ReadOptions
from ..rows import Rows
from .examples import Command
from .inputs import read
from .lines import write_json
from .moving import progress_bar
from .options import (
    Source,
    cluster_option,
    column_options,
    file_argument,
    json_option,
    level_option,
    metric_option,
    prevalence_option,
    reading_options,
    seed_option,
)
from .terminal import console, grid, heading, sentences


@click.command(
    "compare",
    cls=Command,
    examples=(
        "precall compare scores.csv --label y --score a --score b",
        "precall compare scores.csv --label y --score a --score b --cluster patient",
        "precall compare scores.csv --label y --score a --score b --metric 'auroc'",
    ),
)
@file_argument()
@column_options()
@cluster_option
@metric_option("What to compare the models by")
@click.option(
    "--method",
    type=click.Choice(COMPARISONS),
    default="influence",
    show_default=True,
    help="A formula, or one of two ways to resample.",
)
@click.option(
    "--resamples", type=click.IntRange(min=100), default=2000, show_default=True, help="How many."
)
@prevalence_option
@level_option
@seed_option
@json_option
@reading_options
def command(
    file: Source,
    label: str,
    scores: tuple[str, ...],
    weight: str | None,
    pos_label: str | None,
    cluster: str | None,
    metric: Metric,
    method: str,
    resamples: int,
    prevalence: float | None,
    level: float,
    seed: int,
    as_json: bool,
    reading: ReadOptions,
) -> None:
    """Compare models on the same rows of FILE: who is better, by how much, how surely."""
    if len(scores) < 2:
        raise InputError("compare needs two models: give --score twice or more.")
    roles = Roles(label=label, scores=scores, weight=weight, cluster=cluster, pos_label=pos_label)
    columns = read(file, roles, reading)
    rows = Rows(
        columns.positive,
        columns.scores,
        sample_weight=columns.weight,
        clusters=columns.cluster and columns.cluster.codes,
    )
    with progress_bar("resampling") as progress:
        comparison = compare(
            rows,
            metric=metric,
            method=method,
            prevalence=prevalence,
            confidence_level=level,
            n_resamples=resamples,
            rng=seed,
            progress=progress,
        )
    if as_json:
        write_json({"precall": __version__, "file": file, **comparison.to_dict()})
    else:
        show(comparison)


def show(comparison: Comparison) -> None:
    """Print the models, best first, and every pair."""
    output = console()
    titles = dict(
        zip(
            comparison.estimates,
            wording.clean_names([*map(visible, comparison.estimates)]),
            strict=True,
        )
    )
    metric = parse(comparison.metric).title
    level = wording.percent(comparison.confidence_level)
    heading(output, f"Models by {metric}, best first")
    errors = comparison.standard_errors
    grid(
        output,
        [("model", "left"), (metric, "right"), ("s.e.", "right"), ("P(best)", "right")],
        [
            [
                titles[name],
                wording.number(comparison.estimates[name], wording.decimals_for(errors[name])),
                wording.number(errors[name], wording.decimals_for(errors[name])),
                _probability(comparison.probability_best[name]),
            ]
            for name in comparison.ranked
        ],
    )
    heading(output, f"Differences with {level} intervals, p-values adjusted by Holm's method")
    rows = []
    for pair, interval in comparison.intervals.items():
        difference = wording.interval(interval.estimate, interval.low, interval.high, signed=True)
        rows.append(
            [
                f"{titles[pair[0]]} − {titles[pair[1]]}",
                difference,
                wording.p_value(comparison.p_values[pair]),
            ]
        )
    grid(output, [("first − second", "left"), ("difference", "right"), ("p", "right")], rows)
    output.print()
    alpha = 1.0 - comparison.confidence_level
    for pair, interval in comparison.intervals.items():
        better, worse = pair if interval.estimate >= 0 else pair[::-1]
        shown = "is" if comparison.p_values[pair] < alpha else "is not shown to be"
        sentences(output, [f"{titles[better]} {shown} better than {titles[worse]}."])


def _probability(value: float) -> str:
    if value > 0.995:
        return "> 0.99"
    return "< 0.01" if value < 0.005 else f"{value:.2f}"

"""``precall report``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import click

from .._text import visible
from ..display.report import Origin, write_report
from ..example import example_path, load_example
from ..exceptions import InputError
from ..metrics import Metric
from ..readers.columns import Roles
from ..readers.header import column_names
from ..readers.label_columns import NEGATIVE_REST
from ..readers.large import LARGE
from ..readers.messages import listed_names, no_header
from ..readers.missing import LEFT_OUT
from ..readers.options import ReadOptions
from ..readers.percent import IN_PERCENT
from .examples import Command
from .inputs import FileRequest, evaluated
from .moving import spinner
from .options import (
    Source,
    check_output,
    cluster_option,
    column_options,
    every_option,
    file_argument,
    file_title,
    group_option,
    level_option,
    memory_option,
    more_metrics_option,
    prevalence_option,
    reading_options,
    recall_option,
    seed_option,
    time_option,
)

# What was decided while reading and changes the numbers ends like this.
_FIRST = (LEFT_OUT, NEGATIVE_REST, IN_PERCENT)


@click.command(
    "report",
    cls=Command,
    examples=(
        "precall report",
        "precall report scores.csv --label y --score model -o report.html",
        "precall report scores.csv --label y --score a --score b --group country",
    ),
)
@file_argument(required=False)
@column_options(required=False)
@group_option
@cluster_option
@time_option
@every_option
@level_option
@recall_option
@prevalence_option
@more_metrics_option
@seed_option
@memory_option
@click.option("--net-benefit", is_flag=True, help="Show what decisions by probabilities are worth.")
@click.option(
    "--cost-ratio",
    type=click.FloatRange(min=0.0, min_open=True),
    metavar="RATIO",
    help="What a miss costs over a false alarm: show the expected cost.",
)
@click.option(
    "-o",
    "--output",
    default="precall-report.html",
    show_default=True,
    metavar="FILE",
    help="The page to write.",
)
@click.option("--open", "open_page", is_flag=True, help="Open it in the browser.")
@reading_options
def command(
    file: Source | None,
    label: str | None,
    scores: tuple[str, ...],
    weight: str | None,
    pos_label: str | None,
    group: str | None,
    cluster: str | None,
    time: str | None,
    every: str | float | None,
    level: float,
    recall: float,
    prevalence: float | None,
    metrics: tuple[Metric, ...],
    seed: int,
    memory: int,
    net_benefit: bool,
    cost_ratio: float | None,
    output: str,
    open_page: bool,
    reading: ReadOptions,
) -> None:
    """Write a report on FILE: one HTML page that opens offline.

    Without FILE, the report is about the example that comes with precall.
    """
    if file is None:
        if label or scores or weight or pos_label or group or cluster or time:
            raise InputError("columns are named but no FILE: run precall report FILE --label ...")
        if net_benefit or cost_ratio is not None:
            raise InputError(
                "--net-benefit and --cost-ratio are about decisions on a FILE of your own: name it."
            )
        request, origin = _example(level, recall, metrics, prevalence, seed, output)
    else:
        if not label or not scores:
            if file == "-":
                raise InputError("which columns? run precall report - --label NAME --score NAME")
            names = column_names(file, reading)
            raise InputError(
                "which columns? run precall report FILE --label NAME --score NAME; FILE has "
                f"{listed_names(names)}.{no_header(names)}"
            )
        roles = Roles(
            label=label,
            scores=scores,
            weight=weight,
            group=group,
            cluster=cluster,
            pos_label=pos_label,
            time=time,
        )
        request = FileRequest(
            file,
            roles,
            level=level,
            recall=recall,
            seed=seed,
            memory=memory * 2**20,
            reading=reading,
            metrics=metrics,
            prevalence=prevalence,
            every=every,
            net_benefit=net_benefit,
            cost_ratio=cost_ratio,
        )
        origin = Origin(
            source=file_title(file), command=_again(request, output), columns=used_columns(roles)
        )
    path = check_output(output, (".html", ".htm"), file)
    said: list[str] = []
    reading = replace(request.reading, say=lambda words: _both(words, said, request.reading.tell))
    evaluation = evaluated(request._replace(reading=reading), curves=True)
    once = dict.fromkeys(said)
    origin = replace(
        origin,
        notes=tuple(words for words in once if not words.endswith(_FIRST)),
        said_first=tuple(words for words in once if words.endswith(_FIRST)),
    )
    with spinner() as say:
        say("writing the page")
        written = write_report(evaluation, path, origin=origin)
    click.echo(f"The report is in {visible(written)}")
    if open_page:
        click.launch(written.as_uri())


def _both(words: str, said: list[str], tell: Callable[[str], None]) -> None:
    """What the reader says is for the terminal, and for the page."""
    said.append(words)
    tell(words)


def _example(
    level: float,
    recall: float,
    metrics: tuple[Metric, ...],
    prevalence: float | None,
    seed: int,
    output: str,
) -> tuple[FileRequest, Origin]:
    example = load_example()
    columns = example.columns
    roles = Roles(
        label=columns["label"],
        scores=tuple(example.scores),
        group=columns["group"],
        cluster=columns["cluster"],
    )
    request = FileRequest(
        str(example_path()),
        roles,
        level,
        recall,
        seed,
        LARGE,
        metrics=metrics,
        prevalence=prevalence,
    )
    command = ["precall", "report", *_settings(request), "-o", output]
    title = "Card payments: the example that comes with precall"
    return request, Origin(source=title, command=tuple(command), columns=used_columns(roles))


def used_columns(roles: Roles) -> tuple[tuple[str, str], ...]:
    """Which column is what, those of scores left out: they are the models."""
    label = roles.label if roles.pos_label is None else f"{roles.label} = {roles.pos_label}"
    given = {
        "label": label,
        "weight": roles.weight,
        "groups": roles.group,
        "clusters": roles.cluster,
        "time": roles.time,
    }
    return tuple((use, name) for use, name in given.items() if name is not None)


def _again(request: FileRequest, output: str) -> tuple[str, ...]:
    """The command that makes the page again."""
    roles = request.roles
    files = (request.file,) if isinstance(request.file, str) else request.file
    words = ["precall", "report", *files, "--label", roles.label]
    for name in roles.scores:
        words += ["--score", name]
    for option in ("weight", "group", "cluster", "pos_label", "time"):
        value = getattr(roles, option)
        if value is not None:
            words += [f"--{option.replace('_', '-')}", str(value)]
    return (*words, *_settings(request), "-o", output)


def _settings(request: FileRequest) -> list[str]:
    """Settings that are not the default ones."""
    words = []
    defaults = {"level": 0.95, "recall": 0.8, "prevalence": None, "cost_ratio": None, "seed": 0}
    for option, default in defaults.items():
        value = getattr(request, option)
        if value != default:
            words += [f"--{option.replace('_', '-')}", repr(value)]
    if request.every is not None:
        words += ["--every", str(request.every)]
    if request.net_benefit:
        words += ["--net-benefit"]
    for metric in request.metrics:
        words += ["--metric", str(metric)]
    reading = request.reading
    said = {
        "sep": "tab" if reading.delimiter == "\t" else reading.delimiter,
        "decimal": reading.decimal,
        "encoding": reading.encoding,
        "format": reading.format,
        "missing": None if reading.missing == "raise" else reading.missing,
    }
    for option, value in said.items():
        if value is not None:
            words += [f"--{option}", value]
    return words if reading.header else [*words, "--no-header"]

"""``precall evaluate``."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console

from .._version import __version__
from ..evaluation import Evaluation, wording
from ..metrics import Metric
from ..readers.columns import Roles
from ..readers.options import ReadOptions
from .examples import Command
from .options import (
    FileRequest,
    Source,
    cluster_option,
    column_options,
    evaluated,
    file_argument,
    file_title,
    group_option,
    json_option,
    level_option,
    memory_option,
    more_metrics_option,
    prevalence_option,
    reading_options,
    recall_option,
    seed_option,
)
from .terminal import (
    console,
    findings,
    grid,
    heading,
    measure_blocks,
    sentences,
    shown,
    write_json,
)


@click.command(
    "evaluate",
    cls=Command,
    examples=(
        "precall evaluate scores.csv --label y --score model",
        "precall evaluate scores.parquet --label y --score a --score b --group country",
        "cat scores.csv | precall evaluate - --label y --score model --json",
    ),
)
@file_argument()
@column_options()
@group_option
@cluster_option
@level_option
@recall_option
@prevalence_option
@more_metrics_option
@seed_option
@memory_option
@json_option
@reading_options
def command(
    file: Source,
    label: str,
    scores: tuple[str, ...],
    weight: str | None,
    pos_label: str | None,
    group: str | None,
    cluster: str | None,
    level: float,
    recall: float,
    prevalence: float | None,
    metrics: tuple[Metric, ...],
    seed: int,
    memory: int,
    as_json: bool,
    reading: ReadOptions,
) -> None:
    """Evaluate one or several models on the rows of FILE.

    FILE is CSV, TSV, Parquet, Feather, JSON or Excel by its ending, also compressed; - reads
    standard input, and several files are read as one table.
    """
    roles = Roles(
        label=label,
        scores=scores,
        weight=weight,
        group=group,
        cluster=cluster,
        pos_label=pos_label,
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
    )
    evaluation = evaluated(request)
    if as_json:
        write_json({"precall": __version__, "file": file} | evaluation.to_dict())
    else:
        show(evaluation, file)


def show(evaluation: Evaluation, file: Source) -> None:
    """Print an evaluation: the answer, the measures, the groups, the findings."""
    output = console()
    source = shown(file_title(file), 50)
    rows = wording.plural(evaluation.n_rows, "row")
    positive = wording.count(evaluation.n_positive_rows)
    share = wording.percent(evaluation.prevalence)
    level = wording.percent(evaluation.settings.confidence_level)
    sentences(output, [f"{source}: {rows}, {positive} positive, prevalence {share}", ""])
    sentences(output, evaluation.answer)
    titles = [model.title for model in evaluation.models]
    alone = ", each by itself" if len(titles) > 1 else ""
    heading(output, f"Measures with {level} intervals{alone}")
    measures = [
        [model.measures[name] for model in evaluation.models]
        for name in evaluation.models[0].measures
    ]
    measure_blocks(output, titles, measures)
    if evaluation.groups:
        _groups(output, evaluation)
    heading(output, "Findings")
    findings(output, evaluation.findings)


def _groups(output: Console, evaluation: Evaluation) -> None:
    chosen = list(range(len(evaluation.models)))
    if len(chosen) > 2:  # more do not fit; --json has all
        chosen = [evaluation.models.index(evaluation.best)]
    names: Any = [evaluation.models[i].title for i in chosen]
    heading(output, "AUCNPR by group" + (f" ({names[0]})" if len(chosen) == 1 else ""))
    columns = [("group", "left"), ("positive", "right"), ("prevalence", "right")]
    columns += [(shown(name, 19), "right") for name in names]
    rows = [
        [
            group.title,
            f"{wording.count(group.n_pos)} of {wording.count(group.n_pos + group.n_neg)}",
            wording.percent(group.prevalence),
            *(_cell(group.measures[i]["aucnpr"]) for i in chosen),
        ]
        for group in evaluation.groups
    ]
    grid(output, columns, rows)


def _cell(measure: Any) -> str:
    return measure.text if measure.interval is not None else "–"

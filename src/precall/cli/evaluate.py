"""``precall evaluate``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .._version import __version__
from ..readers.columns import Roles
from ..readers.options import ReadOptions
from .examples import Command
from .inputs import FileRequest, evaluated
from .lines import write_json
from .options import (
    Source,
    cluster_option,
    column_options,
    every_option,
    file_argument,
    group_option,
    json_option,
    level_option,
    memory_option,
    more_metrics_option,
    prevalence_option,
    public_file,
    reading_options,
    recall_option,
    seed_option,
    table_option,
    time_option,
)

if TYPE_CHECKING:
    from ..metrics import Metric

# What prints: loaded when there is something to print.
_SHOWN = "precall.cli.evaluation_shown"


@click.command(
    "evaluate",
    cls=Command,
    examples=(
        "precall evaluate scores.csv --label y --score model",
        "precall evaluate scores.parquet --label y --score a --score b --group country",
        "cat scores.csv | precall evaluate - --label y --score model --json",
        "precall evaluate duckdb:///scores.db --table scores --label y --score model",
    ),
)
@file_argument()
@column_options()
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
@json_option
@table_option
@reading_options
def command(
    file: Source,
    label: str,
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
    as_json: bool,
    table: str | None,
    reading: ReadOptions,
) -> None:
    """Evaluate one or several models on the rows of FILE.

    FILE is CSV, TSV, Parquet, Feather, JSON or Excel by its ending, also compressed; - reads
    standard input, and several files are read as one table. With --table it is the address of a
    database, which counts the rows itself.
    """
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
        table=table,
    )
    evaluation = evaluated(request, needed=() if as_json else (_SHOWN,))
    if as_json:
        write_json({"precall": __version__, "file": public_file(file)} | evaluation.to_dict())
    else:
        from .evaluation_shown import show

        show(evaluation, file)

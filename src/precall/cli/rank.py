"""``precall rank``."""

from __future__ import annotations

import click

from .._text import visible
from ..evaluation import wording
from ..exceptions import InputError
from ..ranking.stored import write_ranking
from ..readers.columns import Roles
from ..readers.options import ReadOptions
from .examples import Command
from .inputs import FileRequest, ranked
from .options import (
    Source,
    check_output,
    column_options,
    file_argument,
    memory_option,
    missed_option,
    reading_options,
    table_option,
)


@click.command(
    "rank",
    cls=Command,
    examples=(
        "precall rank scores.csv --label y --score old -o baseline.json",
        "precall rank scores.csv --label y --score old --threshold 0.5 -o baseline.json",
    ),
)
@file_argument()
@column_options()
@click.option(
    "--threshold",
    "thresholds",
    type=float,
    multiple=True,
    metavar="SCORE",
    help="Keep the exact counts at this score, for metrics at a threshold; repeat it for several.",
)
@missed_option
@memory_option
@click.option("-o", "--output", required=True, metavar="FILE", help="A .json file to write.")
@table_option
@reading_options
def command(
    file: Source,
    label: str,
    scores: tuple[str, ...],
    weight: str | None,
    pos_label: str | None,
    thresholds: tuple[float, ...],
    missed: int,
    memory: int,
    output: str,
    table: str | None,
    reading: ReadOptions,
) -> None:
    """Store the ranking of a model on FILE: the baseline of a gate, or for later.

    It holds counts between the scores of positives, from which every metric follows; no rows.
    """
    if len(scores) > 1:
        raise InputError("a stored ranking is of one model: give --score once.")
    path = check_output(output, (".json",), file)
    roles = Roles(label=label, scores=scores, weight=weight, pos_label=pos_label)
    request = FileRequest(
        file,
        roles,
        memory=memory * 2**20,
        reading=reading,
        thresholds=thresholds,
        missed=missed,
        table=table,
    )
    [(model, ranking)] = ranked(request).items()
    write_ranking(path, ranking, model=model)
    counts = [wording.count(number) for number in (ranking.n_pos, ranking.n_neg)]
    beside = f" ({wording.count(missed)} more were missed)" if missed else ""
    click.echo(
        f"The ranking of {wording.clean_name(visible(model))} on {counts[0]} positives{beside} and "
        f"{counts[1]} negatives is in {visible(path)}"
    )

"""``precall check``."""

from __future__ import annotations

import click

from .._version import __version__
from ..readers.columns import Roles, find_problems
from ..readers.options import ReadOptions
from .examples import Command
from .lines import one_line, write_json
from .option_words import in_options
from .options import (
    Source,
    cluster_option,
    column_options,
    file_argument,
    group_option,
    json_option,
    reading_options,
)
from .terminal import console, sentences

_BAD_INPUT = 2
_OPEN = (
    "This command is not private: what it prints may quote the rows. Do not publish it where "
    "precall private is used."
)


@click.command(
    "check",
    cls=Command,
    examples=(
        "precall check scores.csv --label y --score model",
        "precall check scores.csv --label diagnosis --pos-label sick --score model",
    ),
)
@file_argument()
@column_options()
@group_option
@cluster_option
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
    as_json: bool,
    reading: ReadOptions,
) -> int:
    """Say what is wrong with FILE: a line for each problem, or that nothing is.

    The file is read as precall evaluate reads it. Exit status 0 if nothing is wrong, 2 otherwise.
    This command is not private: its lines name counts, places and values.
    """
    roles = Roles(
        label=label,
        scores=scores,
        weight=weight,
        group=group,
        cluster=cluster,
        pos_label=pos_label,
    )
    problems = [in_options(problem) for problem in find_problems(file, roles, reading)]
    if as_json:
        write_json({"precall": __version__, "file": file, "private": False, "problems": problems})
    else:
        for problem in problems or ["nothing is wrong."]:
            click.echo(one_line(problem))
        sentences(console(), ["", _OPEN])
    return _BAD_INPUT if problems else 0

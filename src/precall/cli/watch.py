"""``precall watch``."""

from __future__ import annotations

import click

from .._version import __version__
from ..monitoring.monitor import DELAYS
from ..monitoring.watching import WATCHED, watch
from ..readers.columns import Roles
from ..readers.options import ReadOptions
from ..rows import Rows
from .examples import Command
from .inputs import read
from .lines import write_json
from .options import (
    FRACTION,
    Source,
    file_argument,
    json_option,
    level_option,
    reading_options,
)
from .terminal import console, sentences

#: What a scheduler sees.
_STATUS = {"fine": 0, "alarm": 1, "undecided": 3}


@click.command(
    "watch",
    cls=Command,
    examples=(
        "precall watch log.csv --label y --score s --time t --threshold 8 --target 0.5",
        "precall watch log.csv --label y --score s --threshold 8 --target 0.9 --json",
    ),
    epilog="Exit status: 0 no alarm, 1 alarm, 2 bad input, 3 no decision has a label yet.",
)
@file_argument()
@click.option(
    "--label", required=True, metavar="COLUMN", help="Column of labels; some may be empty."
)
@click.option("--score", required=True, metavar="COLUMN", help="Column of scores.")
@click.option("--pos-label", metavar="LABEL", help="The positive label; 1 (or true) if not given.")
@click.option(
    "--time",
    metavar="COLUMN",
    help="Column of times, as numbers or ISO dates; the order of the rows if not given.",
)
@click.option(
    "--threshold", type=float, required=True, help="Rows with at least this score were selected."
)
@click.option("--target", type=FRACTION, required=True, help="The value that was promised.")
@click.option(
    "--of",
    "watches",
    type=click.Choice([*WATCHED]),
    default="precision",
    show_default=True,
    help="Whether a precision or a recall was promised.",
)
@click.option(
    "--delay",
    type=click.Choice(DELAYS),
    default="any",
    show_default=True,
    help="Whether missing labels may differ from others (any), or are missing at random.",
)
@click.option(
    "--restart-every",
    type=click.IntRange(min=1),
    metavar="N",
    help="Begin anew after every N decisions, to notice a drop after a long good time.",
)
@level_option
@json_option
@reading_options
def command(
    file: Source,
    label: str,
    score: str,
    pos_label: str | None,
    time: str | None,
    threshold: float,
    target: float,
    watches: str,
    delay: str,
    restart_every: int | None,
    level: float,
    as_json: bool,
    reading: ReadOptions,
) -> int:
    """Tell whether a promised precision or recall still holds, however often you ask.

    The alarm goes on when the upper limit of a confidence sequence falls under the target. Run it
    every hour: while the promise holds, the probability of any alarm, ever, is at most 1 - level.
    """
    roles = Roles(
        label=label, scores=(score,), pos_label=pos_label, time=time, partly_labelled=True
    )
    columns = read(file, roles, reading)
    kept = {} if time is None else {time: columns.time}
    found = watch(
        Rows(columns.positive, columns.scores, columns=kept),
        threshold=threshold,
        target=target,
        time=time,
        watches=watches,
        labelled=columns.labelled,
        confidence_level=level,
        delay=delay,
        restart_every=restart_every,
    )
    if as_json:
        write_json({"precall": __version__, "file": file, **found.to_dict()})
    else:
        sentences(console(), [found.message])
    return _STATUS[found.state]

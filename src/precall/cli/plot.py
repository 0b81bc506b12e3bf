"""``precall plot``."""

from __future__ import annotations

from typing import Any

import click

from .. import curves
from .._optional import require
from .._output import whole_file
from .._text import visible
from ..evaluation import wording
from ..evaluation.few import FEWEST_POSITIVES, too_few
from ..inference.bands import band
from ..ranking import Ranking
from ..readers.columns import Roles
from ..readers.options import ReadOptions
from .examples import Command
from .inputs import FileRequest, ranked
from .lines import tell
from .options import (
    Source,
    check_output,
    column_options,
    file_argument,
    level_option,
    memory_option,
    missed_option,
    reading_options,
    seed_option,
    table_option,
)

_KINDS = ("pr", "roc", "hit", "lift", "gain")


@click.command(
    "plot",
    cls=Command,
    examples=(
        "precall plot scores.csv --label y --score model -o curve.png",
        "precall plot scores.csv --label y --score a --score b --kind roc -o roc.svg",
    ),
)
@file_argument()
@column_options()
@click.option(
    "--kind", type=click.Choice(_KINDS), default="pr", show_default=True, help="Which curve."
)
@click.option(
    "--band/--no-band",
    default=None,
    help="Band around each PR curve.  [default: for three models at most]",
)
@level_option
@seed_option
@missed_option
@memory_option
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="A .png, .svg or .pdf file to write."
)
@table_option
@reading_options
def command(
    file: Source,
    label: str,
    scores: tuple[str, ...],
    weight: str | None,
    pos_label: str | None,
    kind: str,
    band: bool | None,
    level: float,
    seed: int,
    missed: int,
    memory: int,
    output: str,
    table: str | None,
    reading: ReadOptions,
) -> None:
    """Draw the curves of FILE into a picture."""
    require("matplotlib", "drawing", "plot")
    path = check_output(output, (".png", ".svg", ".pdf"), file)
    roles = Roles(label=label, scores=scores, weight=weight, pos_label=pos_label)
    rankings = ranked(
        FileRequest(file, roles, memory=memory * 2**20, reading=reading, missed=missed, table=table)
    )
    # Matplotlib reads dollar signs as mathematics.
    titles = [title.replace("$", r"\$") for title in wording.clean_names([*map(visible, scores)])]
    named = dict(zip(titles, rankings.values(), strict=True))
    import matplotlib as mpl

    mpl.use("Agg")  # to a file, never to a screen
    import matplotlib.pyplot as plt

    pr = kind == "pr"
    axes = _draw_pr(named, level, seed, band) if pr else _draw_other(named, kind)
    try:
        with whole_file(path) as unfinished:
            axes.figure.savefig(unfinished, dpi=200)
    finally:
        plt.close(axes.figure)
    click.echo(f"The picture is in {visible(path.resolve())}")


def _draw_pr(rankings: dict[str, Ranking], level: float, seed: int, asked: bool | None) -> Any:
    """Draw the curves; bands where they were asked for, or where they do not bury the curves."""
    from ..display.mpl import plot_pr
    from ..display.result_plots import MOST_BANDS

    few = any(map(too_few, rankings.values()))
    if few and asked is not False:
        tell(
            f"precall: the picture has no band: there are fewer than {FEWEST_POSITIVES} positives."
        )
    bands = None
    if not few and (len(rankings) <= MOST_BANDS if asked is None else asked):
        bands = {
            name: band(ranking, confidence_level=level, rng=seed)
            for name, ranking in rankings.items()
        }
    return plot_pr(rankings, bands=bands)


def _draw_other(rankings: dict[str, Ranking], kind: str) -> Any:
    from ..display.mpl import legend_apart, new_axes, plot_curve, shown, styles

    axes = new_axes()
    make = getattr(curves, f"{kind}_curve")
    for (name, ranking), style in zip(rankings.items(), styles(len(rankings)), strict=True):
        plot_curve(make(ranking), axes, label=shown(name), **style)
    legend_apart(axes, None)
    return axes

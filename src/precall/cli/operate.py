"""``precall operate``."""

from __future__ import annotations

import click

from .._text import visible
from .._version import __version__
from ..evaluation import Settings, wording
from ..points.constraints import OperatingPoint
from ..points.operating import PREFERENCES, operating_point
from ..readers.columns import Roles
from ..readers.options import ReadOptions
from .examples import Command
from .inputs import FileRequest, ranked
from .lines import write_json
from .options import (
    FRACTION,
    Source,
    column_options,
    file_argument,
    json_option,
    level_option,
    memory_option,
    missed_option,
    prevalence_option,
    public_file,
    reading_options,
    table_option,
)
from .terminal import console, grid, heading, sentences


def _as_selected(value: float | None) -> float | None:
    if value is None or 0.0 < value < 1.0 or (value >= 1.0 and value.is_integer()):
        return value
    raise click.BadParameter(
        f"{value:g} is neither a whole number of rows nor a share of them between 0 and 1."
    )


@click.command(
    "operate",
    cls=Command,
    examples=(
        "precall operate scores.csv --label y --score model --min-precision 0.9",
        "precall operate scores.csv --label y --score model --min-recall 0.8",
        "precall operate scores.csv --label y --score model --max-selected 100",
    ),
)
@file_argument()
@column_options()
@click.option("--min-precision", type=FRACTION, help="Precision to be kept.")
@click.option("--min-recall", type=FRACTION, help="Recall to be kept.")
@click.option(
    "--max-selected",
    type=float,
    callback=lambda context, option, value: _as_selected(value),
    help="Rows to be selected at most: a whole number of these rows, or a share of all to come.",
)
@click.option("--min-net-benefit", type=float, help="Net benefit to be kept, at --probability.")
@click.option(
    "--probability", type=FRACTION, help="Probability at which acting is just worth its cost."
)
@click.option(
    "--prefer",
    type=click.Choice(PREFERENCES),
    help="Which of the thresholds that keep everything: the lowest or the highest.",
)
@prevalence_option
@level_option
@missed_option
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
    min_precision: float | None,
    min_recall: float | None,
    max_selected: float | None,
    min_net_benefit: float | None,
    probability: float | None,
    prefer: str | None,
    prevalence: float | None,
    level: float,
    missed: int,
    memory: int,
    as_json: bool,
    table: str | None,
    reading: ReadOptions,
) -> None:
    """Find a threshold whose precision, recall or net benefit can be promised.

    Several promises hold together, and although the threshold is chosen on the same rows, if they
    are independent.
    """
    if (min_precision, min_recall, max_selected, min_net_benefit) == (None,) * 4:
        raise click.UsageError(
            "nothing was asked: give --min-precision, --min-recall, --max-selected or "
            "--min-net-benefit."
        )
    if (min_net_benefit is None) != (probability is None):
        raise click.UsageError("--min-net-benefit and --probability go together.")
    roles = Roles(label=label, scores=scores, weight=weight, pos_label=pos_label)
    rankings = ranked(
        FileRequest(file, roles, memory=memory * 2**20, reading=reading, missed=missed, table=table)
    )
    # Whoever picks one of several models by its promise has chosen among as many.
    settings = Settings(confidence_level=level, candidates=len(rankings))
    points = {}
    for name, ranking in rankings.items():
        points[name] = operating_point(
            ranking,
            min_precision=min_precision,
            min_recall=min_recall,
            max_selected=max_selected,
            min_net_benefit=min_net_benefit,
            probability=probability,
            prefer=prefer,
            confidence_level=level,
            prevalence=prevalence,
            n_candidates=settings.candidates,
        )
    if as_json:
        models = [{"name": name, **point.to_dict()} for name, point in points.items()]
        choice = {"confidence_level": level, "candidates": settings.candidates}
        write_json({"precall": __version__, "file": public_file(file), **choice, "models": models})
    else:
        if settings.candidates > 1:
            said = (
                f"Each of the {settings.candidates} models is certified at "
                f"{wording.percent(settings.choice_level)}, so that what is said of the one you "
                f"choose holds with {wording.percent(level)} confidence."
            )
            sentences(console(), [said])
        for title, point in zip(
            wording.clean_names([*map(visible, scores)], 60), points.values(), strict=True
        ):
            show(title, point)


def show(title: str, point: OperatingPoint) -> None:
    """Print the promise, what was observed there, and the counts."""
    output = console()
    heading(output, title)
    sentences(output, [point.message])
    if not point.certified or point.confusion is None:
        return
    output.print()
    rows = []
    for each in point.bounds:
        seen = each.observed
        observed = wording.interval(seen.estimate, seen.low, seen.high) if seen else "–"
        sign = "≥" if each.sign == ">=" else "≤"
        shown = each.name.replace("_", " ")
        counted = getattr(each, "required", 0.0) >= 1.0  # rows, not a share
        bound = (wording.count if counted else wording.number)(each.bound or 0.0)
        rows.append([shown, f"{sign} {bound}", observed])
    grid(output, [("", "left"), ("promised", "right"), ("observed", "right")], rows, indent=2)
    output.print()
    at = point.confusion
    cells = [
        ["selected", wording.count(at.tp), wording.count(at.fp)],
        ["not selected", wording.count(at.fn), wording.count(at.tn)],
    ]
    grid(output, [("", "left"), ("positive", "right"), ("negative", "right")], cells, indent=2)

"""``precall private``."""

from __future__ import annotations

from typing import Any

import click

from .._version import __version__
from ..engines.files import Columns, Roles
from ..evaluation import wording
from ..exceptions import InputError
from ..ranking import Ranking
from .examples import Command
from .options import file_argument, json_option, read
from .terminal import console, grid, sentences, write_json

_METRICS = ("average_precision", "auroc")
_RECALLS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@click.command(
    "private",
    cls=Command,
    examples=(
        "precall private scores.csv --label y --score model --epsilon 1",
        "precall private scores.csv --label y --score model --epsilon 1 --metric auroc",
        "precall private scores.csv --label y --score model --epsilon 1 --curve --json",
    ),
)
@file_argument()
@click.option("--label", required=True, metavar="COLUMN", help="Column with the labels.")
@click.option("--score", required=True, metavar="COLUMN", help="Column with the scores.")
@click.option("--pos-label", metavar="LABEL", help="The positive label; 1 (or true) if not given.")
@click.option(
    "--epsilon",
    type=click.FloatRange(min=0.0, min_open=True),
    required=True,
    help="What may be spent in all; there is no default, because there is no right one.",
)
@click.option("--delta", type=click.FloatRange(0.0, 1.0, max_open=True), default=0.0)
@click.option(
    "--metric",
    "metrics",
    type=click.Choice(_METRICS),
    multiple=True,
    default=("average_precision",),
    show_default=True,
    help="What to release; several share epsilon evenly.",
)
@click.option("--mechanism", default="rescaled", show_default=True, help="How noise is added.")
@click.option("--curve", is_flag=True, help="Release the whole curve, for scores from 0 to 1.")
@json_option
def command(
    file: str,
    label: str,
    score: str,
    pos_label: str | None,
    epsilon: float,
    delta: float,
    metrics: tuple[str, ...],
    mechanism: str,
    curve: bool,
    as_json: bool,
) -> None:
    """Release a metric or a curve of FILE with differential privacy.

    Only what is printed here may be published: the number of rows is taken as public, everything
    else about the rows is not shown. Every run spends its epsilon anew.
    """
    columns = read(file, Roles(label=label, scores=(score,), pos_label=pos_label))
    if curve:
        released = _curve(columns, score, epsilon)
    else:
        released = _metrics(columns, score, metrics, epsilon, delta, mechanism)
    if as_json:
        write_json({"precall": __version__, **released})
    else:
        show(released)


def _ranking(columns: Columns, score: str) -> Ranking:
    """The ranking, without a word on its direction: that would tell of the private rows."""
    import warnings

    from ..exceptions import PrecallWarning
    from ..ranking import rank

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecallWarning)
        return rank(columns.positive, columns.scores[score])


def _metrics(
    columns: Columns,
    score: str,
    metrics: tuple[str, ...],
    epsilon: float,
    delta: float,
    mechanism: str,
) -> dict[str, Any]:
    from .. import privacy

    chosen = list(dict.fromkeys(metrics))
    budget = privacy.Budget(epsilon=epsilon, delta=delta)
    share = epsilon / len(chosen)
    ranking = _ranking(columns, score)
    values = []
    for metric in chosen:
        release = getattr(privacy, metric)
        value = release(
            ranking,
            epsilon=share,
            delta=delta / len(chosen),
            budget=budget,
            mechanism=mechanism,
        )
        plain = value.to_dict()
        try:
            interval = value.interval()
            plain |= {"low": interval.low, "high": interval.high, "confidence_level": 0.95}
        except InputError:  # a mechanism whose noise cannot be told
            plain |= {"low": None, "high": None, "confidence_level": None}
        values.append(plain)
    return {"epsilon": epsilon, "delta": delta, "rows": columns.n_rows, "released": values}


def _curve(columns: Columns, score: str, epsilon: float) -> dict[str, Any]:
    from .. import privacy

    budget = privacy.Budget(epsilon=epsilon)
    curve = privacy.pr_curve(
        columns.positive, columns.scores[score], epsilon=epsilon, budget=budget
    )
    area, band = curve.area_interval(), curve.band(at=_RECALLS)
    points = [
        {"recall": x, "precision": y, "low": low, "high": high}
        for x, y, low, high in zip(band.x, band.y, band.low, band.high, strict=True)
    ]
    released = {
        "metric": "average_precision",
        "value": area.estimate,
        "low": area.low,
        "high": area.high,
        "confidence_level": area.confidence_level,
        "epsilon": epsilon,
        "delta": 0.0,
        "mechanism": curve.mechanism,
    }
    return {
        "epsilon": epsilon,
        "delta": 0.0,
        "rows": columns.n_rows,
        "released": [released],
        "points": points,
        "curve": curve.to_dict(),
    }


def show(released: dict[str, Any]) -> None:
    """Print what was released and what it cost."""
    output = console()
    rows = []
    for value in released["released"]:
        low, high = value["low"], value["high"]
        told = (
            wording.number(value["value"])
            if low is None
            else wording.interval(value["value"], low, high)
        )
        rows.append([value["metric"].replace("_", " "), told, f"{value['epsilon']:.4g}"])
    grid(
        output,
        [("released", "left"), ("value (95 %, noise only)", "right"), ("epsilon", "right")],
        rows,
    )
    output.print()
    if "points" in released:
        columns = [("recall", "right"), ("precision (95 %, noise only)", "right")]
        points = [
            [f"{p['recall']:g}", wording.interval(p["precision"], p["low"], p["high"])]
            for p in released["points"]
        ]
        grid(output, columns, points)
        output.print()
    told = (
        f"Epsilon {released['epsilon']:g} was spent on {released['rows']:,} rows. The interval "
        "speaks of the noise, not of the sampling of the rows."
    )
    sentences(
        output,
        [told],
    )

"""``precall private``."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from .._version import __version__
from ..evaluation import wording
from ..exceptions import InputError
from ..metrics.registry import title_of
from ..readers.columns import Roles
from ..readers.options import ReadOptions
from . import private_dry_run as dry
from . import private_threshold as threshold
from .examples import Command
from .lines import write_json
from .options import FRACTION, file_argument, json_option, reading_options
from .private_inputs import (
    ledger_options,
    neighbours_option,
    open_budget,
    read_private,
    remaining_epsilon,
    require_range,
)
from .private_releases import (
    public_rows,
    release_comparison,
    release_curve,
    release_metrics,
    show_points,
)
from .terminal import console, grid, sentences

_METRICS = ("average_precision", "auroc")
# Options that a curve has no use for, with the names of their parameters.
_OF_METRICS = {"--metric": "metrics", "--delta": "delta", "--mechanism": "mechanism"}
_MEANINGS = {
    False: "The interval is for the value of these rows; --population adds their sampling.",
    True: "The interval is for the population that the rows were drawn from.",
}


@click.command(
    "private",
    cls=Command,
    examples=(
        "precall private scores.csv --label y --score model --epsilon 1",
        "precall private scores.csv --label y --score model --epsilon 1 --metric auroc",
        "precall private scores.csv --label y --score model --epsilon 1 --curve --json",
        "precall private scores.csv --label y --score model --epsilon 1 --ledger l.json",
        "precall private scores.csv --label y --score new --baseline old --epsilon 1",
        "precall private scores.csv --label y --score s --epsilon 1 --min-precision 0.8",
        "precall private scores.csv --label y --score model --epsilon 1 --dry-run",
    ),
)
@file_argument(several=False)
@click.option("--label", required=True, metavar="COLUMN", help="Column with the labels.")
@click.option("--score", required=True, metavar="COLUMN", help="Column with the scores.")
@click.option(
    "--baseline",
    metavar="COLUMN",
    help="Scores of another model: release how much better --score is, and how good both are.",
)
@click.option("--pos-label", metavar="LABEL", help="The positive label; 1 (or true) if not given.")
@click.option(
    "--person",
    metavar="COLUMN",
    help="Column that says whose row it is: persons are protected, not rows.",
)
@click.option(
    "--rows-per-person",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Rows used of each --person; without it, the most rows that anybody has.",
)
@click.option(
    "--epsilon",
    type=click.FloatRange(min=0.0, min_open=True),
    required=True,
    help="What may be spent in all; there is no default, because there is no right one.",
)
@click.option(
    "--delta",
    type=click.FloatRange(0.0, 1.0, max_open=True),
    default=0.0,
    help="Total delta of a new --ledger; nothing that is released here needs any.",
)
@click.option(
    "--metric",
    "metrics",
    type=click.Choice(_METRICS),
    multiple=True,
    default=("average_precision",),
    show_default=True,
    help="What to release; several share epsilon evenly.",
)
@click.option(
    "--mechanism",
    default="rescaled",
    show_default=True,
    help="How metrics are released: rescaled, curve (read off one), or auto, which chooses.",
)
@click.option("--curve", is_flag=True, help="Release the whole curve instead of metrics.")
@click.option(
    "--min-precision",
    type=FRACTION,
    help="Release a threshold instead, whose precision is at least this with confidence --level.",
)
@click.option(
    "--level",
    type=FRACTION,
    default=0.95,
    show_default=True,
    help="With --min-precision: confidence of the promise, over the rows and the noise.",
)
@click.option(
    "--range",
    "limits",
    type=float,
    nargs=2,
    metavar="LOW HIGH",
    help="With --curve, --min-precision, or a --mechanism other than rescaled: public range of the "
    "scores, 0 1 if not given; not one read off the data.",
)
@click.option(
    "--bins",
    type=click.IntRange(2, 256),
    help="With --curve: public number of bins, for --neighbours add-remove.",
)
@neighbours_option
@click.option(
    "--population",
    is_flag=True,
    help="Intervals for the population that the rows were drawn from: sampling is in them too.",
)
@ledger_options
@click.option(
    "--dry-run",
    is_flag=True,
    help="Release and spend nothing: print how far the noise would move the value.",
)
@click.option(
    "--prevalence",
    type=FRACTION,
    help="With --dry-run or --mechanism auto: a guess of the share of positives, not one read off "
    "these rows.",
)
@json_option
@click.pass_context
@partial(reading_options, private=True)
def command(
    context: click.Context,
    file: str,
    label: str,
    score: str,
    baseline: str | None,
    pos_label: str | None,
    person: str | None,
    rows_per_person: int,
    epsilon: float,
    delta: float,
    metrics: tuple[str, ...],
    mechanism: str,
    curve: bool,
    min_precision: float | None,
    level: float,
    limits: tuple[float, float] | None,
    bins: int | None,
    neighbours: str,
    population: bool,
    ledger: str | None,
    total: float | None,
    total_delta: float | None,
    moved: bool,
    new_rows: bool,
    dry_run: bool,
    prevalence: float | None,
    as_json: bool,
    reading: ReadOptions,
) -> None:
    """Release a metric or a curve of FILE with differential privacy.

    Only what is printed here may be published: the number of rows is taken as public, everything
    else about the rows is not shown. Every run spends its epsilon again; --ledger keeps account.

    With --neighbours add-remove the number of rows is private too, and --curve takes --bins.

    A row is protected, or with --person all rows of one person together: --rows-per-person of them
    are drawn from each. Without --person, --rows-per-person protects that many rows at once.

    Every row is read by itself: it is positive if its label is --pos-label, and negative otherwise.
    Whether any row is positive, and what is wrong with a file, is said by precall check, not here.
    """
    given = _given(context, {**_OF_METRICS, "--level": "level"})
    _require_belonging(given, curve, mechanism, limits, promise=min_precision is not None)
    if min_precision is not None:
        threshold.require_alone(
            {
                **dict.fromkeys([option for option in given if option in _OF_METRICS], True),
                "--curve": curve,
                "--baseline": baseline is not None,
                "--population": population,
                "--rows-per-person": rows_per_person > 1,
            }
        )
    scores = (score,) if baseline is None else (score, baseline)
    roles = Roles(label=label, scores=scores, pos_label=pos_label, cluster=person)
    if baseline is not None:
        _require_comparison(curve, dry_run, metrics, mechanism)
    if prevalence is not None and not (dry_run or mechanism == "auto"):
        raise InputError(
            "--prevalence is for --dry-run and --mechanism auto: no other release uses a guess."
        )
    _require_public_bins(neighbours, bins, curve=curve, dry_run=dry_run)
    if dry_run:
        from ..privacy._ledger import exact

        left = remaining_epsilon(ledger, total, total_delta, moved)
        n_rows = public_rows(read_private(file, roles, reading), rows_per_person)
        if min_precision is not None:
            foreseen = threshold.foresee(min_precision, level, n_rows, epsilon, prevalence)
            foreseen["left_in_the_ledger"] = left
            threshold.show_foreseen(foreseen, as_json=as_json)
            return
        share = float(exact(epsilon) / rows_per_person)
        foreseen = dry.foresee(metrics, curve, n_rows, share, prevalence, limits, mechanism)
        foreseen["epsilon"] = epsilon
        foreseen["left_in_the_ledger"] = left
        dry.show(foreseen, as_json=as_json)
        return
    budget = open_budget(
        ledger,
        total,
        epsilon,
        delta,
        total_delta=total_delta,
        moved=moved,
        new_rows=new_rows,
        neighbours=neighbours,
    )
    rows = read_private(file, roles, reading, may_be_empty=neighbours != "replace")
    of = "population" if population else "rows"
    if min_precision is not None:
        released = threshold.release_threshold(rows, min_precision, level, epsilon, limits, budget)
        released["left_in_the_ledger"] = None if ledger is None else budget.remaining.epsilon
        threshold.show(released, as_json=as_json)
        return
    if baseline is not None:
        released = release_comparison(rows, metrics[0], epsilon, budget, rows_per_person, of)
    elif curve:
        released = release_curve(
            rows, epsilon, limits, budget, rows_per_person, of, bins, neighbours
        )
    else:
        released = release_metrics(
            rows, metrics, epsilon, mechanism, prevalence, limits, budget, rows_per_person, of
        )
    released["left_in_the_ledger"] = None if ledger is None else budget.remaining.epsilon
    if as_json:
        write_json({"precall": __version__, **released})
    else:
        show(released)


def _given(context: click.Context, options: dict[str, str]) -> list[str]:
    """Which of these options were given, by the names of their parameters."""
    default = click.core.ParameterSource.DEFAULT
    return [
        option
        for option, name in options.items()
        if context.get_parameter_source(name) is not default
    ]


def _require_belonging(
    given: list[str],
    curve: bool,
    mechanism: str,
    limits: tuple[float, float] | None,
    *,
    promise: bool,
) -> None:
    """Refuse options that the release asked for would ignore, before anything is read."""
    if "--level" in given and not promise:
        raise InputError("--level is for --min-precision: add it or leave --level out.")
    if curve and given:
        raise InputError(
            f"{given[0]} is for metrics and changes nothing in a curve, which is released whole, "
            f"with Laplace noise: leave {given[0]} or --curve out."
        )
    if limits is not None and not (curve or promise) and mechanism == "rescaled":
        raise InputError(
            "--range is for --curve, for --min-precision and for --mechanism curve or auto: add "
            "one of them or leave --range out."
        )
    require_range(limits)


def _require_public_bins(neighbours: str, bins: int | None, *, curve: bool, dry_run: bool) -> None:
    """Refuse what a private number of rows would show in, in constant words."""
    if neighbours == "replace":
        if bins is not None:
            raise InputError("--bins is for --neighbours add-remove: leave it out.")
        return
    if not curve:
        raise InputError(
            "--neighbours add-remove is for --curve: other releases take the number of rows as "
            "public."
        )
    if dry_run:
        raise InputError(
            "--dry-run counts the rows, and with --neighbours add-remove their number is private."
        )
    if bins is None:
        raise InputError(
            "--neighbours add-remove needs --bins: the number of rows is private and cannot choose "
            "them. 20 is a fair number."
        )


def _require_comparison(
    curve: bool, dry_run: bool, metrics: tuple[str, ...], mechanism: str
) -> None:
    """Refuse what a comparison of two models does not have."""
    wrong = {
        "--curve": curve,
        "--dry-run": dry_run,
        "a second --metric": len(metrics) > 1,
        "--mechanism": mechanism != "rescaled",
    }
    for option, given in wrong.items():
        if given:
            raise InputError(f"--baseline compares one metric of two models, without {option}.")


def show(released: dict[str, Any]) -> None:
    """Print what was released and what it cost."""
    output = console()
    rows = []
    for value in released["released"]:
        low, high = value["low"], value["high"]
        text = wording.interval(value["value"], low, high)
        rows.append([title_of(value["metric"]).replace("_", " "), text, f"{value['epsilon']:.4g}"])
    whole = "points" in released
    covers = released["released"][0]["covers"]
    grid(
        output,
        [("released", "left"), (f"value (95 %, {covers})", "right"), ("epsilon", "right")],
        rows,
    )
    output.print()
    if whole:
        show_points(output, released["points"])
        output.print()
    size = wording.plural(released["rows"], "row")
    if released.get("neighbours", "replace") != "replace":
        size = f"rows that are about {released['rows']:,} as far as the noisy counts show"
    if released["persons"] is not None:
        size += f" drawn from {wording.plural(released['persons'], 'person')}"
    text = f"Epsilon {released['epsilon']:g} was spent on {size}."
    if released["left_in_the_ledger"] is not None:
        text += f" {released['left_in_the_ledger']:.6g} is left in the ledger."
    meaning = _MEANINGS["sampling" in (covers or "")]
    if not whole:
        if released.get("together"):
            text += " The three values come from one release, which cost it once."
        sentences(output, [f"{text} {meaning}"])
        return
    low, high = released["range"]
    bins = len(released["curve"]["edges"]) - 1
    covered = (
        f"{meaning} The ranges of precision show where 95 % of the noise would put it. They leave "
        f"out the error of counting scores in {bins} bins and the sampling of the rows."
    )
    # Printed for every file: whether scores lie outside would reveal something about rows.
    assumed = (
        f"The bins run from {low:g} to {high:g}; a score outside counts in the first or the last "
        "of them. For scores on another scale state a public range with --range LOW HIGH, not one "
        "read off the data."
    )
    sentences(output, [text, covered, assumed])

"""``precall sites``: several sites release their counts with noise, and a centre adds them up."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from .._text import visible
from .._version import __version__
from .._words import plural
from ..evaluation import wording
from ..exceptions import InputError
from ..metrics.registry import title_of
from ..readers.columns import Roles
from ..readers.options import ReadOptions
from . import private_dry_run as dry
from .examples import Command, Group
from .lines import shown, write_json
from .options import FRACTION, check_output, file_argument, json_option, reading_options
from .private_inputs import (
    ledger_options,
    neighbours_option,
    open_budget,
    read_private,
    remaining_epsilon,
    require_range,
)
from .private_releases import area_of, points_of, show_points
from .terminal import console, grid, sentences

if TYPE_CHECKING:
    from ..privacy import SitePlan

_PLAN = "precall sites plan --epsilon 1 --rows 60000 --sites 3 -o plan.json"
_RELEASE = (
    "precall sites release rows.csv --plan plan.json --site north \\\n"
    "    --label y --score s --epsilon 1 -o north.json"
)
_COMBINE = "precall sites combine north.json south.json east.json"
_PROBABILITIES = (0.0, 1.0)


@click.group("sites", cls=Group, examples=(_PLAN, _RELEASE, _COMBINE))
def command() -> None:
    """Evaluate one model on the rows of several sites, none of which shows its rows.

    Once, for all: plan. At each site: release, which spends that site's epsilon. At the centre,
    which nobody has to trust: combine.
    """


@command.command("plan", cls=Command, examples=(_PLAN,))
@click.option(
    "--epsilon",
    type=click.FloatRange(min=0.0, min_open=True),
    required=True,
    help="What every site will spend; there is no default, because there is no right one.",
)
@click.option(
    "--rows",
    "n_rows",
    type=click.IntRange(min=1),
    required=True,
    help="About how many rows all sites have together.",
)
@click.option(
    "--sites", "n_sites", type=click.IntRange(min=1), required=True, help="About how many sites."
)
@click.option(
    "--range",
    "limits",
    type=float,
    nargs=2,
    metavar="LOW HIGH",
    help="Public range of the scores, 0 1 if not given; not one read off the data.",
)
@click.option(
    "--rows-per-person",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Rows of one person at one site that are protected together.",
)
@neighbours_option
@click.option("-o", "--output", required=True, metavar="FILE", help="A .json file for all sites.")
@json_option
def plan_command(
    epsilon: float,
    n_rows: int,
    n_sites: int,
    limits: tuple[float, float] | None,
    rows_per_person: int,
    neighbours: str,
    output: str,
    as_json: bool,
) -> None:
    """Choose what all sites have to agree upon, from public facts, and write it to a file."""
    from .. import privacy

    path = check_output(output, (".json",))
    require_range(limits)
    settings: dict[str, Any] = {"n_rows": n_rows, "n_sites": n_sites}
    settings |= {"epsilon": epsilon, "rows_per_person": rows_per_person}
    settings["neighbours"] = neighbours
    plan = privacy.site_plan(**settings)
    if limits is not None:
        plan = privacy.site_plan(**settings, edges=np.linspace(*limits, len(plan.edges)))
    plan.save(path)
    foreseen = _foreseen(plan, None)
    if as_json:
        write_json({"precall": __version__, "plan": plan.to_dict(), **foreseen})
        return
    output_console = console()
    if foreseen["expected"]:
        dry.show_expected(output_console, foreseen["expected"])
    written = (
        f"The plan is in {visible(path)}: send it to every site. Scores are counted in "
        f"{len(plan.edges) - 1} bins from {plan.edges[0]:g} to {plan.edges[-1]:g}; a score outside "
        "counts in the first or the last of them."
    )
    sentences(output_console, [written, _noise(plan, foreseen)])


@command.command("release", cls=Command, examples=(_RELEASE, f"{_RELEASE} --dry-run"))
@file_argument(several=False)
@click.option("--plan", "plan_file", required=True, metavar="FILE", help="The plan of all sites.")
@click.option("--site", required=True, metavar="NAME", help="Name of this site.")
@click.option("--label", required=True, metavar="COLUMN", help="Column with the labels.")
@click.option("--score", required=True, metavar="COLUMN", help="Column with the scores.")
@click.option("--pos-label", metavar="LABEL", help="The positive label; 1 (or true) if not given.")
@click.option(
    "--person",
    metavar="COLUMN",
    help="Column that says whose row it is: persons are protected, not rows.",
)
@click.option(
    "--epsilon",
    type=click.FloatRange(min=0.0, min_open=True),
    required=True,
    help="What this site agrees to spend: it has to be what the plan says.",
)
@ledger_options
@click.option(
    "--dry-run",
    is_flag=True,
    help="Release and spend nothing: print how far noise would move the result of all sites.",
)
@click.option(
    "--prevalence",
    type=FRACTION,
    help="With --dry-run: a guess of the share of positives, not one read off these rows.",
)
@click.option("-o", "--output", required=True, metavar="FILE", help="A .json file for the centre.")
@json_option
@partial(reading_options, private=True)
def release_command(
    file: str,
    plan_file: str,
    site: str,
    label: str,
    score: str,
    pos_label: str | None,
    person: str | None,
    epsilon: float,
    ledger: str | None,
    total: float | None,
    total_delta: float | None,
    moved: bool,
    new_rows: bool,
    dry_run: bool,
    prevalence: float | None,
    output: str,
    as_json: bool,
    reading: ReadOptions,
) -> None:
    """Release the counts of FILE, the rows of one site, with noise of its own.

    What is written is private by itself and may be sent to anybody. Every run spends its epsilon
    again; --ledger keeps account. What is wrong with a file is not said here: precall check does.
    """
    from .. import privacy

    path = check_output(output, (".json",), file)
    plan = privacy.SitePlan.load(plan_file)
    if epsilon != plan.epsilon:
        raise InputError(
            f"--epsilon is {epsilon:g} and the plan asks for {plan.epsilon:g}: agree on one of "
            "them. Nothing was released."
        )
    if prevalence is not None and not dry_run:
        raise InputError("--prevalence is for --dry-run: a release does not use a guess.")
    roles = Roles(label=label, scores=(score,), pos_label=pos_label, cluster=person)
    if dry_run:
        left = remaining_epsilon(ledger, total, total_delta, moved)
        foreseen = {"spent": 0.0, **_foreseen(plan, prevalence), "left_in_the_ledger": left}
        _show_foreseen(plan, foreseen, as_json=as_json)
        return
    budget = open_budget(
        ledger,
        total,
        epsilon,
        0.0,
        total_delta=total_delta,
        moved=moved,
        new_rows=new_rows,
        neighbours=plan.neighbours,
    )
    rows = read_private(file, roles, reading, may_be_empty=plan.neighbours != "replace")
    released = privacy.site_release(
        rows.positive, rows.scores[0], plan=plan, site=site, person=rows.persons, budget=budget
    )
    released.save(path)
    left = None if ledger is None else budget.remaining.epsilon
    if as_json:
        write_json({"precall": __version__, **released.to_dict(), "left_in_the_ledger": left})
        return
    rows_of = "rows" if released.n_rows is None else plural(released.n_rows, "row")
    text = f"Epsilon {epsilon:g} was spent on {rows_of} of {shown(site)}"
    if released.n_persons is not None:
        text += f", drawn from {plural(released.n_persons, 'person')}"
    text += "." if left is None else f"; {left:.6g} is left in the ledger."
    sent = f"The noisy counts are in {visible(path)}: nothing else may leave this site."
    sentences(console(), [text, sent])


@command.command("combine", cls=Command, examples=(_COMBINE, f"{_COMBINE} --population --json"))
@file_argument()
@click.option(
    "--population",
    is_flag=True,
    help="Intervals for the population that the rows were drawn from: sampling is in them too.",
)
@json_option
def combine_command(file: str | tuple[str, ...], population: bool, as_json: bool) -> None:
    """Add up what sites released, in FILES, and show the curve of all of them.

    It looks at no row and spends nothing.
    """
    from .. import privacy

    files = (file,) if isinstance(file, str) else file
    if "-" in files:
        raise InputError("precall sites combine reads files that sites have written, not a pipe.")
    curve = privacy.combine([Path(name) for name in files])
    of = "population" if population else "rows"
    points, covered = points_of(curve)
    areas = [
        area_of(curve.to(kind), name, of)
        for kind, name in (("pr", "average_precision"), ("roc", "auroc"))
    ]
    if as_json:
        plain = {"released": areas, "points": points, "points_cover": covered}
        write_json({"precall": __version__, **plain, "curve": curve.to_dict()})
        return
    output = console()
    grid(
        output,
        [("all sites together", "left"), (f"value (95 %, {areas[0]['covers']})", "right")],
        [
            [title_of(area["metric"]).replace("_", " "), wording.interval(*_limits(area))]
            for area in areas
        ],
    )
    output.print()
    show_points(output, points)
    output.print()
    names = ", ".join(
        f"{shown(name)} ({count:,})"
        for name, count in zip(curve.sites, curve.rows_of_sites, strict=True)
    )
    about = "" if curve.neighbours == "replace" else "About "
    size = f"{about}{plural(curve.n_rows, 'row')} of {plural(len(curve.sites), 'site')}: {names}."
    sentences(output, [size, *curve.assumptions])


def _limits(area: dict[str, Any]) -> tuple[float, float, float]:
    return area["value"], area["low"], area["high"]


def _foreseen(plan: SitePlan, prevalence: float | None) -> dict[str, Any]:
    """What the sum of the sites will be worth, from the plan alone."""
    from ..privacy import expected_error

    noise = float(np.sqrt(2.0 * plan.n_sites) * plan.scale)
    foreseen: dict[str, Any] = {"noise_of_a_count": noise, "expected": []}
    if (plan.edges[0], plan.edges[-1]) != _PROBABILITIES:  # nothing is known of such scores
        return foreseen
    foreseen["expected"] = [
        expected_error(
            n_rows=max(plan.n_rows, 2),
            epsilon=_for_replaced_rows(plan),
            prevalence=guess,
            mechanism="curve",
            edges=plan.edges,
            rows_per_person=plan.rows_per_person,
            n_sites=plan.n_sites,
        ).to_dict()
        for guess in (dry.GUESSES if prevalence is None else (prevalence,))
    ]
    return foreseen


def _for_replaced_rows(plan: SitePlan) -> float:
    """The epsilon of replaced rows that has this noise: with a row more or less it is halved."""
    return plan.epsilon * (1 if plan.neighbours == "replace" else 2)


def _noise(plan: SitePlan, foreseen: dict[str, Any]) -> str:
    several = plural(plan.n_sites, "site")
    text = (
        f"Every site will spend epsilon {plan.epsilon:g}. With {several}, the noise in each count "
        f"of all together has a standard deviation of {foreseen['noise_of_a_count']:.3g}."
    )
    if foreseen["expected"]:
        text += (
            " The expected error is for made-up scores of middling quality and "
            f"{plural(plan.n_rows, 'row')} in all."
        )
    return text


def _show_foreseen(plan: SitePlan, foreseen: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        write_json({"precall": __version__, **foreseen})
        return
    output = console()
    if foreseen["expected"]:
        dry.show_expected(output, foreseen["expected"])
    left = dry.left_in_the_ledger(foreseen["left_in_the_ledger"], plan.epsilon)
    sentences(output, [f"Nothing was released or spent.{left}", _noise(plan, foreseen)])

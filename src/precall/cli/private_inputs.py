"""Rows and ledgers of private commands."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .._optional import require
from ..exceptions import InputError
from ..readers.cells import CellRows, read_cells
from ..readers.columns import Roles
from ..readers.formats import format_by_name
from ..readers.options import ReadOptions
from ..readers.sources import paths
from .moving import spinner
from .options import FRACTION, F, together

if TYPE_CHECKING:
    from ..privacy import Budget

# The same whatever is wrong, because whoever sees it may not see the rows.
_WRONG = (
    "these rows cannot be released: something is wrong with them or with the names of the columns. "
    "A private command does not say what. This one does, and what it prints is not private: "
    "precall check FILE --label COLUMN --score COLUMN. Unlike others, a private command guesses "
    "nothing: give --sep and --decimal where they are not the usual, and scores without percent "
    "signs."
)


neighbours_option = click.option(
    "--neighbours",
    type=click.Choice(["replace", "add-remove"]),
    default="replace",
    show_default=True,
    callback=lambda context, parameter, value: value.replace("-", "_"),
    help="add-remove keeps the number of rows private: a row that is there or not is protected.",
)


def ledger_options(function: F) -> F:
    """The ledger of a private command, and what is said about it."""
    options = [
        click.option(
            "--ledger",
            metavar="PATH",
            help="File that keeps what was spent on these rows: nothing is released beyond its "
            "total.",
        ),
        click.option(
            "--budget",
            "total",
            type=click.FloatRange(min=0.0, min_open=True),
            help="Total epsilon of a new --ledger.",
        ),
        click.option(
            "--budget-delta",
            "total_delta",
            type=FRACTION,
            help="Count a new --ledger by zCDP, for many small releases: --budget may then fail "
            "with this probability.",
        ),
        click.option(
            "--moved",
            is_flag=True,
            help="Take a --ledger that was moved or restored: no other copy of it is in use.",
        ),
        click.option(
            "--new-rows",
            is_flag=True,
            help="Accept rows that the --ledger does not recognise: its own in another order, or "
            "other columns of them.",
        ),
    ]
    return together(options)(function)


def open_budget(
    ledger: str | None,
    total: float | None,
    epsilon: float,
    delta: float,
    *,
    total_delta: float | None,
    moved: bool,
    new_rows: bool,
    neighbours: str = "replace",
) -> Budget:
    """The budget of a ledger, or one for this run alone."""
    from ..privacy import Budget

    _require_ledger(ledger, total, {"--moved": moved, "--new-rows": new_rows}, total_delta)
    if ledger is None:
        return Budget(epsilon=epsilon, delta=delta, neighbours=neighbours)
    if total is None:
        return Budget.load(ledger, moved=moved, new_rows=new_rows)
    budget = _new_budget(total, total_delta, delta, neighbours)
    budget.save(ledger)
    return budget


def _new_budget(
    total: float, total_delta: float | None, delta: float, neighbours: str = "replace"
) -> Budget:
    from ..privacy import Budget

    if total_delta is None:
        return Budget(epsilon=total, delta=delta, neighbours=neighbours)
    return Budget(epsilon=total, delta=total_delta, accounting="zcdp", neighbours=neighbours)


def remaining_epsilon(
    ledger: str | None, total: float | None, total_delta: float | None, moved: bool
) -> float | None:
    """What a ledger has left; a new one is not made."""
    from ..privacy import Budget

    _require_ledger(ledger, total, {"--moved": moved}, total_delta)
    if total is not None:
        return _new_budget(total, total_delta, 0.0).remaining.epsilon
    if ledger is None:
        return None
    if moved:  # taking it as it is would change its hidden files
        return Budget.from_dict(json.loads(Path(ledger).read_bytes())).remaining.epsilon
    return Budget.load(ledger).remaining.epsilon


def _require_ledger(
    ledger: str | None, total: float | None, flags: dict[str, bool], total_delta: float | None
) -> None:
    """Refuse options that do not fit the ledger, or the lack of one."""
    if total_delta is not None and total is None:
        raise InputError("--budget-delta is for a new --ledger: name its total with --budget.")
    if ledger is None:
        given = ["--budget"] * (total is not None) + [name for name, on in flags.items() if on]
        if given:
            raise InputError(f"{given[0]} is for a --ledger: name it, or leave {given[0]} out.")
        return
    there = Path(ledger).exists()
    if there and total is not None:
        raise InputError(
            f"--ledger {ledger!r} is there already, with a total of its own: leave --budget "
            "out, or name another file."
        )
    if not there and total is None:
        raise InputError(
            f"--ledger {ledger!r} is not there: check the path, or make it with --budget, the "
            "total epsilon for these rows."
        )
    for name, on in flags.items():
        if on and not there:
            raise InputError(f"{name} is for a --ledger that is there already: leave it out.")


def read_private(
    file: str, roles: Roles, reading: ReadOptions, *, may_be_empty: bool = False
) -> CellRows:
    """The rows, or one sentence that is the same whatever is wrong with them."""
    require("pyarrow", "reading files", "arrow")
    if file != "-":  # what is wrong with the name of a file is no secret
        for path in paths(file):
            if reading.format is None:
                format_by_name(path)
    rows = None
    try:
        with spinner() as say:
            say("reading")
            rows = read_cells(file, roles, reading)
    except Exception:  # noqa: BLE001 - whatever it is, its message may quote a row
        pass
    if rows is None or not (rows[0].size or may_be_empty):
        raise InputError(_WRONG)
    return rows


def require_range(limits: tuple[float, float] | None) -> None:
    """Refuse a --range that is none."""
    if limits is not None and not (math.isfinite(limits[1] - limits[0]) and limits[0] < limits[1]):
        raise InputError(
            f"--range must be two finite numbers, the lower first, got {limits[0]:g} {limits[1]:g}."
        )

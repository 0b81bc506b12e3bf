"""``precall private --dry-run``: what a release would be worth, before anything is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..evaluation import wording
from ..exceptions import InputError
from ..metrics.registry import title_of
from .lines import write_json
from .terminal import console, grid, sentences

if TYPE_CHECKING:
    from rich.console import Console

# What the share of positives may be where nobody has a guess.
GUESSES = (0.01, 0.1, 0.5)


def foresee(
    metrics: tuple[str, ...],
    curve: bool,
    n_rows: int,
    epsilon: float,
    prevalence: float | None,
    limits: tuple[float, float] | None,
    mechanism: str,
) -> dict[str, Any]:
    """Expected errors for a guess of the prevalence, or for three; no row is used."""
    from ..privacy import bin_count, expected_error
    from ..privacy._ledger import exact, rounded_down

    if limits not in (None, (0.0, 1.0)):
        raise InputError(
            "--dry-run foresees a curve of scores from 0 to 1, and knows nothing of scores on "
            "another scale: leave --range out."
        )
    chosen = ["average_precision"] if curve else list(dict.fromkeys(metrics))
    share = rounded_down(exact(epsilon) / len(chosen))
    edges = None
    if limits and (curve or mechanism != "rescaled"):
        edges = np.linspace(*limits, bin_count(n_rows, epsilon=epsilon) + 1)
    expected = [
        expected_error(
            n_rows=n_rows,
            epsilon=share,
            prevalence=guess,
            metric=metric,
            mechanism="curve" if curve else mechanism,
            edges=edges,
        ).to_dict()
        for metric in chosen
        for guess in (GUESSES if prevalence is None else (prevalence,))
    ]
    return {"spent": 0.0, "epsilon": epsilon, "rows": n_rows, "expected": expected}


def show(foreseen: dict[str, Any], *, as_json: bool) -> None:
    """Print what was foreseen."""
    if as_json:
        write_json({"precall": __version__, **foreseen})
        return
    output = console()
    show_expected(output, foreseen["expected"])
    size = wording.plural(foreseen["rows"], "row")
    text = f"Nothing was released or spent. Epsilon {foreseen['epsilon']:g} would be, on {size}."
    text += left_in_the_ledger(foreseen["left_in_the_ledger"], foreseen["epsilon"])
    guess = (
        "The error is the root of the mean squared distance from the exact value of the rows. It "
        "is simulated with made-up scores of middling quality and the prevalence in the table; "
        "the rows were only counted. --prevalence takes a better guess, if it does not come from "
        "these rows."
    )
    sentences(output, [text, guess])


def show_expected(output: Console, expected: list[dict[str, Any]]) -> None:
    """Print expected errors, a line for each guess."""
    columns = [
        ("would be released", "left"),
        ("if the prevalence is", "right"),
        ("mechanism", "left"),
        ("expected error", "right"),
    ]
    rows = [
        [
            title_of(line["metric"]).replace("_", " "),
            f"{line['prevalence']:g}",
            line["mechanism"],
            f"{line['error']:.2g} around {line['value']:.2g}",
        ]
        for line in expected
    ]
    grid(output, columns, rows)
    output.print()


def left_in_the_ledger(left: float | None, epsilon: float) -> str:
    """Say whether a ledger would pay, if there is one."""
    if left is None:
        return ""
    if left < epsilon:
        return f" The ledger would refuse: {left:.6g} is left in it."
    return f" {left:.6g} is left in the ledger."

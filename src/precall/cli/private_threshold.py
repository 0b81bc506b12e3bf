"""``precall private --min-precision``: a threshold that keeps a promised precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..evaluation import wording
from ..exceptions import InputError
from ..readers.cells import CellRows
from .lines import write_json
from .private_dry_run import GUESSES
from .terminal import console, grid, sentences

if TYPE_CHECKING:
    from ..privacy import Budget

# Thresholds between the ends of a public range.
_BINS = 64


def require_alone(given: dict[str, bool]) -> None:
    """Refuse what a threshold does not have."""
    for option, there in given.items():
        if there:
            raise InputError(
                f"--min-precision releases one threshold and nothing else: leave {option} out."
            )


def release_threshold(
    rows: CellRows,
    min_precision: float,
    level: float,
    epsilon: float,
    limits: tuple[float, float] | None,
    budget: Budget,
) -> dict[str, Any]:
    """Release the threshold, and return plain values."""
    from .. import privacy

    positive, (scores, *_), person = rows
    point = privacy.operating_point(
        positive,
        scores,
        min_precision=min_precision,
        confidence_level=level,
        epsilon=epsilon,
        budget=budget,
        edges=limits and np.linspace(*limits, _BINS + 1),
        person=person,
    )
    plain = point.to_dict()
    return {
        "epsilon": epsilon,
        "delta": 0.0,
        "rows": point.n_rows,
        "rows_per_person": 1,
        "persons": point.n_persons,
        "operating_point": plain,
    }


def show(released: dict[str, Any], *, as_json: bool) -> None:
    """Print what was released and what it cost."""
    if as_json:
        write_json({"precall": __version__, **released})
        return
    output = console()
    point = released["operating_point"]
    promise, level = f"{point['min_precision']:g}", wording.percent(point["confidence_level"])
    if point["threshold"] is None:
        said = (
            f"No threshold was found whose precision could be promised to be at least {promise}: "
            "there may be none, or too few rows for this epsilon."
        )
    else:
        said = (
            f"Rows with a score of at least {point['threshold']:.6g} have a precision of at least "
            f"{promise}."
        )
    meaning = (
        f"A threshold that does not keep this is printed with a probability of at most "
        f"{wording.percent(1.0 - point['confidence_level'])}, over the rows and the noise. It was "
        f"chosen from {point['n_thresholds']} public ones. Nothing is said of its recall: that is "
        "another release."
        if point["threshold"] is not None
        else f"The level is {level}, and {point['n_thresholds']} public thresholds were tried."
    )
    size = wording.plural(released["rows"], "row")
    if released["persons"] is not None:
        size += ", one drawn from each person"
    cost = f"Epsilon {released['epsilon']:g} was spent on {size}."
    if released["left_in_the_ledger"] is not None:
        cost += f" {released['left_in_the_ledger']:.6g} is left in the ledger."
    sentences(output, [said, meaning, cost])


def foresee(
    min_precision: float, level: float, n_rows: int, epsilon: float, prevalence: float | None
) -> dict[str, Any]:
    """What to expect, for a guess of the prevalence or for three; no row is used."""
    from ..privacy import expected_operating_point

    expected = [
        expected_operating_point(
            n_rows=n_rows,
            min_precision=min_precision,
            confidence_level=level,
            epsilon=epsilon,
            prevalence=guess,
        ).to_dict()
        for guess in (GUESSES if prevalence is None else (prevalence,))
    ]
    return {"spent": 0.0, "epsilon": epsilon, "rows": n_rows, "expected": expected}


def show_foreseen(foreseen: dict[str, Any], *, as_json: bool) -> None:
    """Print what was foreseen."""
    if as_json:
        write_json({"precall": __version__, **foreseen})
        return
    output = console()
    columns = [
        ("if the prevalence is", "right"),
        ("a threshold is found in", "right"),
        ("mean recall", "right"),
    ]
    rows = [
        [f"{line['prevalence']:g}", wording.percent(line["found"]), f"{line['recall']:.2f}"]
        for line in foreseen["expected"]
    ]
    grid(output, columns, rows)
    output.print()
    size = wording.plural(foreseen["rows"], "row")
    text = f"Nothing was released or spent. Epsilon {foreseen['epsilon']:g} would be, on {size}."
    left = foreseen["left_in_the_ledger"]
    if left is not None:
        refuses = left < foreseen["epsilon"]
        text += " The ledger would refuse:" if refuses else ""
        text += f" {left:.6g} is left in {'it' if refuses else 'the ledger'}."
    guess = (
        "This is simulated with made-up scores of middling quality and the prevalence in the "
        "table; the rows were only counted."
    )
    sentences(output, [text, guess])

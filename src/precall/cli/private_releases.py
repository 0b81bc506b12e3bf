"""What ``precall private`` releases, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..evaluation import wording
from ..readers.cells import CellRows
from .terminal import grid

if TYPE_CHECKING:
    from rich.console import Console

    from ..privacy import Budget, PrivateCurve, PrivateValue

_RECALLS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def public_rows(rows: CellRows, rows_per_person: int) -> int:
    """The number of rows that a release would be made from."""
    positive, _, person = rows
    return int(positive.size) if person is None else (int(person.max()) + 1) * rows_per_person


def release_metrics(
    rows: CellRows,
    metrics: tuple[str, ...],
    epsilon: float,
    mechanism: str,
    prevalence: float | None,
    limits: tuple[float, float] | None,
    budget: Budget,
    rows_per_person: int,
    of: str,
) -> dict[str, Any]:
    """Release metrics, each with its share of epsilon, and return plain values."""
    from .. import privacy
    from ..privacy._ledger import exact, rounded_down

    positive, (scores, *_), person = rows
    chosen = list(dict.fromkeys(metrics))
    share = rounded_down(exact(epsilon) / len(chosen))
    edges = _edges(limits, public_rows(rows, rows_per_person), share / rows_per_person)
    values = []
    for metric in chosen:
        release = getattr(privacy, metric)
        value = release(
            positive,
            scores,
            person=person,
            rows_per_person=rows_per_person,
            epsilon=share,
            budget=budget,
            mechanism=mechanism,
            prevalence=prevalence,
            edges=edges,
        )
        values.append(_with_interval(value, of))
    return {
        "epsilon": epsilon,
        "delta": 0.0,
        "rows": values[0]["n_rows"],
        "rows_per_person": rows_per_person,
        "persons": values[0]["n_persons"],
        "released": values,
    }


def release_comparison(
    rows: CellRows, metric: str, epsilon: float, budget: Budget, rows_per_person: int, of: str
) -> dict[str, Any]:
    """Release how two models compare, and return plain values."""
    from .. import privacy

    candidate, baseline = rows.scores
    compared = privacy.compare(
        rows.positive,
        candidate=candidate,
        baseline=baseline,
        metric=metric,
        epsilon=epsilon,
        budget=budget,
        person=rows.persons,
        rows_per_person=rows_per_person,
    )
    three = (compared.difference, compared.candidate, compared.baseline)
    values = [_with_interval(value, of) for value in three]
    return {
        "epsilon": epsilon,
        "delta": 0.0,
        "rows": values[0]["n_rows"],
        "rows_per_person": rows_per_person,
        "persons": values[0]["n_persons"],
        "released": values,
        "together": True,
    }


def release_curve(
    rows: CellRows,
    epsilon: float,
    limits: tuple[float, float] | None,
    budget: Budget,
    rows_per_person: int,
    of: str,
    bins: int | None,
    neighbours: str,
) -> dict[str, Any]:
    """Release the curve with its area, and return plain values."""
    from .. import privacy

    positive, (scores, *_), person = rows
    if bins is None:
        n_rows = public_rows(rows, rows_per_person)
        edges = _edges(limits, n_rows, epsilon / rows_per_person)
    else:
        edges = (
            privacy.probability_edges(bins) if limits is None else np.linspace(*limits, bins + 1)
        )
    curve = privacy.pr_curve(
        positive,
        scores,
        epsilon=epsilon,
        budget=budget,
        edges=edges,
        person=person,
        rows_per_person=rows_per_person,
        neighbours=neighbours,
    )
    points, covered = points_of(curve)
    released = area_of(curve, "average_precision", of)
    return {
        "epsilon": epsilon,
        "delta": 0.0,
        "rows": curve.n_rows,
        "neighbours": neighbours,
        "rows_per_person": rows_per_person,
        "persons": curve.n_persons,
        "released": [released],
        "range": [float(curve.edges[0]), float(curve.edges[-1])],
        "scores_outside_the_range": "count in the first or the last bin",
        "points": points,
        "points_cover": covered,
        "curve": curve.to_dict(),
    }


def _with_interval(value: PrivateValue, of: str) -> dict[str, Any]:
    """A private value and its interval as plain values."""
    interval = value.interval(of=of)
    limits = {"low": interval.low, "high": interval.high, "confidence_level": 0.95}
    return {**value.to_dict(), **limits, "covers": interval.method}


def _edges(
    limits: tuple[float, float] | None, n_rows: int, epsilon: float
) -> npt.NDArray[np.float64] | None:
    """Edges from public numbers only; without a range they are those of probabilities."""
    from ..privacy import bin_count

    return None if limits is None else np.linspace(*limits, bin_count(n_rows, epsilon=epsilon) + 1)


def area_of(curve: PrivateCurve, metric: str, of: str) -> dict[str, Any]:
    """The area under a private curve with its interval, as plain values."""
    area = curve.area_interval(of=of)
    return {
        "metric": metric,
        "value": area.estimate,
        "low": area.low,
        "high": area.high,
        "confidence_level": area.confidence_level,
        "covers": area.method,
        "epsilon": curve.epsilon,
        "delta": 0.0,
        "mechanism": curve.mechanism,
    }


def points_of(curve: PrivateCurve) -> tuple[list[dict[str, float]], str]:
    """Precision along a private curve with the range of its noise, and what that covers."""
    band = curve.band(at=_RECALLS)
    points = [
        {"recall": x, "precision": y, "low": low, "high": high}
        for x, y, low, high in zip(band.x, band.y, band.low, band.high, strict=True)
    ]
    return points, band.method


def show_points(output: Console, points: list[dict[str, float]]) -> None:
    """Print precision along a private curve."""
    # Without the binning error a level would be read as that of an interval.
    columns = [("recall", "right"), ("precision (range of the noise)", "right")]
    lines = [
        [f"{p['recall']:g}", wording.interval(p["precision"], p["low"], p["high"])] for p in points
    ]
    grid(output, columns, lines)

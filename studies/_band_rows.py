"""Rows of the table of the study of theorems: how they are made, chosen and fitted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ._results import Results, Row

#: (method, centre) of a bootstrap distribution, and how it is called on the page.
KINDS = {
    ("naive", "observed"): "rows themselves (naive)",
    ("undersmoothed", "smoothed"): "σ(n log³n)^(−1/5), at the smoothed curve",
    ("undersmoothed", "observed"): "σ(n log³n)^(−1/5), at the observed curve",
    ("pooled", "smoothed"): "σn^(−1/5), at the smoothed curve",
    ("pooled", "observed"): "σn^(−1/5), at the observed curve",
    ("per_class", "smoothed"): "per class, at the smoothed curve",
    ("per_class", "observed"): "per class, at the observed curve",
    ("normal_scores", "smoothed"): "per class on normal scores, at the smoothed curve",
    ("normal_scores", "observed"): "per class on normal scores, at the observed curve",
}
#: Rates are fitted from this many rows on: below, terms that fall faster still count.
FITTED_FROM = 4000


def tidy_row(part: str, **values: Any) -> Row:
    """Return a row with the columns of all parts; what a part does not have is empty."""
    names = ("model", "design", "prevalence", "proposal", "rows", "recall", "method")
    columns = dict.fromkeys((*names, "quantity", "value", "standard_error", "expected"), "")
    return {"part": part, **columns, **values}


def chosen(results: Results, **key: Any) -> list[Row]:
    """Return the rows with these values."""
    return [row for row in results.rows if all(row[name] == key[name] for name in key)]


def pairs_of(results: Results, design: str) -> list[tuple[str, float]]:
    """Return the score models and prevalences whose bootstrap was tried in this design."""
    rows = chosen(results, part="bootstrap", design=design)
    return list(dict.fromkeys((row["model"], row["prevalence"]) for row in rows))


def points_of(results: Results, kind: tuple[str, str], word: str, **key: Any) -> list[Row]:
    """Return the rows of one bootstrap, (method, centre), in the order of their sizes."""
    method, centre = kind
    rows = chosen(results, part="bootstrap", method=method, quantity=f"{word}_{centre}", **key)
    return sorted(rows, key=lambda row: row["rows"])


def slope(rows: Iterable[Row]) -> tuple[float, float]:
    """Fit ``value = c rows^slope`` by weighted least squares; return the slope and its error."""
    fitted = [row for row in rows if row["rows"] >= FITTED_FROM]
    if len(fitted) < 2:
        return float("nan"), float("nan")
    x = np.log([row["rows"] for row in fitted])
    value = np.array([row["value"] for row in fitted])
    weight = (value / np.array([row["standard_error"] for row in fitted])) ** 2
    x = x - np.average(x, weights=weight)
    spread = float(weight @ x**2)
    return float(weight @ (x * np.log(value))) / spread, spread**-0.5

"""Scores that a user gives a study to draw its data sets from."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from precall.exceptions import InputError
from precall.simulate import Empirical


def read_scores(path: str | Path) -> Empirical:
    """Read a CSV file with the columns ``label`` (0 or 1) and ``score``, one row an example."""
    with Path(path).open(newline="") as file:
        reader = csv.DictReader(file)
        names = reader.fieldnames or ()
        if not {"label", "score"} <= set(names):
            raise InputError(
                "scores must be a CSV file with the columns label and score, but the columns of "
                f"{path} are: {', '.join(names) or 'none'}. Rename them."
            )
        try:
            rows = [(float(row["label"]), float(row["score"])) for row in reader]
        except (TypeError, ValueError):
            raise InputError(
                f"scores must have a number for label and score in every row, but line "
                f"{reader.line_num} of {path} has none: correct that line."
            ) from None
    labels, values = np.array(rows, dtype=np.float64).reshape(-1, 2).T
    return Empirical(labels, values)

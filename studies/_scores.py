"""Scores of data sets: those that a user gives a study to draw from, and those of given rows."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from precall.exceptions import InputError
from precall.simulate import Empirical, Scenario


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


def draw_scores(
    scenario: Scenario, positive: npt.NDArray[np.bool_], rng: np.random.Generator
) -> npt.NDArray[Any]:
    """Draw scores for rows whose class is known."""
    ours = int(np.count_nonzero(positive))
    [positives], [negatives] = scenario.sample_scores(ours, positive.size - ours, rng=rng)
    scores = np.empty(positive.size, dtype=np.result_type(positives, negatives))
    scores[positive], scores[~positive] = positives, negatives
    return scores

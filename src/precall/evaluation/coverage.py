"""How often the intervals and bands held the truth in this library's own simulations.

``coverage.csv`` beside this file is a summary of the full studies in the documentation: for each
size, the lowest and the highest coverage over all score models. ``python -m scripts.make_coverage``
writes it.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from importlib import resources

#: The level that the studies were made at.
LEVEL = 0.95
# A simulated size is near enough within these factors.
_NEAR_POSITIVES, _NEAR_PREVALENCE = 3.0, 4.0


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Coverage at one size, over several score models.

    Attributes
    ----------
    kind : {"band", "interval"}
    method : str
    n_pos : float
        Number of positives, on average.
    prevalence : float
    models : int
        Number of score models.
    lowest, highest : float
        Smallest and largest coverage among them.
    """

    kind: str
    method: str
    n_pos: float
    prevalence: float
    models: int
    lowest: float
    highest: float

    def like(self, n_pos: float) -> bool:
        """Whether so many positives are about as many as were simulated."""
        return abs(_positives_apart(n_pos, self.n_pos)) <= 1


def _positives_apart(n_pos: float, simulated: float) -> float:
    """Distance between two numbers of positives; within 1 they are alike."""
    return math.log(n_pos / simulated) / math.log(_NEAR_POSITIVES)


def nearest(kind: str, method: str, n_pos: float, prevalence: float) -> Coverage | None:
    """Return the simulated size that is most like this one, or None if none is near.

    For more positives than were ever simulated that is the largest simulated number, which is then
    not :meth:`Coverage.like` it: whoever quotes it has to say so.
    """
    best, smallest = None, math.inf
    table = [row for row in read() if (row.kind, row.method) == (kind, method)]
    largest = max((row.n_pos for row in table), default=0.0)
    for row in table:
        size = _positives_apart(min(n_pos, largest), row.n_pos)
        share = math.log(prevalence / row.prevalence) / math.log(_NEAR_PREVALENCE)
        if max(abs(size), abs(share)) <= 1 and size**2 + share**2 < smallest:
            best, smallest = row, size**2 + share**2
    return best


def read() -> list[Coverage]:
    """Return the summary that comes with the library."""
    text = (resources.files("precall.evaluation") / "coverage.csv").read_text(encoding="utf-8")
    return [
        Coverage(
            kind=row["kind"],
            method=row["method"],
            n_pos=float(row["n_pos"]),
            prevalence=float(row["prevalence"]),
            models=int(row["models"]),
            lowest=float(row["lowest"]),
            highest=float(row["highest"]),
        )
        for row in csv.DictReader(io.StringIO(text))
    ]

"""How often the intervals and bands held the truth in this library's own simulations.

``coverage.csv`` beside this file is a summary of the full studies in the documentation: for each
size, the lowest and the highest coverage over all score models. It is made by
``python -m precall.evaluation.coverage docs/studies``.
"""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

#: The level that the studies were made at.
LEVEL = 0.95
_FIELDS = ("kind", "method", "n_pos", "prevalence", "models", "lowest", "highest")
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


def summarise(studies: Path) -> str:
    """Summarise the studies in a folder as the text of ``coverage.csv``."""
    found: dict[tuple[str, str, float, float], dict[str, list[float]]] = {}
    for kind, method, n_pos, prevalence, model, coverage in _rows(studies):
        cell = found.setdefault((kind, method, n_pos, prevalence), {})
        cell.setdefault(model, []).append(coverage)
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(_FIELDS)
    for key, cell in sorted(found.items()):
        values = [value for several in cell.values() for value in several]
        writer.writerow(
            [*key[:2], f"{key[2]:g}", f"{key[3]:g}", len(cell), min(values), max(values)]
        )
    return output.getvalue()


def _rows(studies: Path) -> Iterable[tuple[str, str, float, float, str, float]]:
    """Kind, method, positives, prevalence, score model and coverage of each simulated cell."""
    for row in _table(studies / "bands.csv"):
        prevalence = float(row["prevalence"])
        n_pos = float(row["rows"]) * prevalence
        yield "band", row["method"], n_pos, prevalence, row["model"], float(row["coverage"])
    for row in _table(studies / "intervals.csv"):
        if (row["part"], row["metric"], row["estimator"]) == (
            "formula",
            "aucpr",
            "average_precision",
        ):
            yield (
                "interval",
                row["method"],
                float(row["n_pos"]),
                float(row["prevalence"]),
                row["model"],
                float(row["coverage"]),
            )


def _table(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    Path(__file__).with_name("coverage.csv").write_text(
        summarise(Path(sys.argv[1])), encoding="utf-8", newline="\n"
    )

"""Summarise the studies for the report: `python -m scripts.make_coverage`.

Reads the full tables in docs/studies and writes src/precall/evaluation/coverage.csv: for each size,
the lowest and the highest coverage over all score models.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

from precall.evaluation.coverage import Coverage

ROOT = Path(__file__).resolve().parent.parent
STUDIES = ROOT / "docs" / "studies"
TABLE = ROOT / "src" / "precall" / "evaluation" / "coverage.csv"


def summarise(studies: Path = STUDIES) -> str:
    """Summarise the studies in a folder as the text of ``coverage.csv``."""
    found: dict[tuple[str, str, float, float], dict[str, list[float]]] = {}
    for kind, method, n_pos, prevalence, model, coverage in _rows(studies):
        size = found.setdefault((kind, method, n_pos, prevalence), {})
        size.setdefault(model, []).append(coverage)
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(field.name for field in fields(Coverage))
    for key, size in sorted(found.items()):
        values = [value for several in size.values() for value in several]
        writer.writerow(
            [*key[:2], f"{key[2]:g}", f"{key[3]:g}", len(size), min(values), max(values)]
        )
    return output.getvalue()


def _rows(studies: Path) -> Iterable[tuple[str, str, float, float, str, float]]:
    """Kind, method, positives, prevalence, score model and coverage of each simulated setting."""
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
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    TABLE.write_text(summarise(), encoding="utf-8", newline="\n")
    print(f"wrote {TABLE}")

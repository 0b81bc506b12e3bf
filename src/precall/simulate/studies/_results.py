"""What all studies share: rows saved as they come, with the settings that made them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class Results:
    """The tidy table of a study in a folder: ``NAME.csv`` beside its settings in ``NAME.json``.

    Rows are written when they are added. A run that finds a table made with the same settings
    goes on where it stopped; one made with other settings is begun anew.
    """

    def __init__(self, folder: str | Path, name: str, settings: Mapping[str, Any]) -> None:
        self.folder, self.name = Path(folder), name
        self.settings = json.loads(json.dumps(settings))
        self.rows: list[Row] = []
        self.folder.mkdir(parents=True, exist_ok=True)
        described = self.path(".json")
        if described.exists() and json.loads(described.read_text()) == self.settings:
            self.rows = read_rows(self.path(".csv"))
        else:
            self.path(".csv").unlink(missing_ok=True)
            described.write_text(json.dumps(self.settings, indent=2) + "\n")

    def path(self, suffix: str) -> Path:
        """Return the path of one of the study's files."""
        return self.folder / f"{self.name}{suffix}"

    def has(self, **key: Any) -> bool:
        """Return whether rows with these values are there already."""
        return any(all(row[name] == value for name, value in key.items()) for row in self.rows)

    def add(self, rows: Iterable[Row]) -> None:
        """Append rows that all have the same columns."""
        new = list(rows)
        target = self.path(".csv")
        fresh = not target.exists()
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, fieldnames=list(new[0]), lineterminator="\n")
        if fresh:
            writer.writeheader()
        writer.writerows({k: _short(v) for k, v in row.items()} for row in new)
        # One write, so that a run killed here leaves no half of a cell behind.
        with target.open("a", newline="") as file:
            file.write(text.getvalue())
        self.rows += [{k: _parsed(str(_short(v))) for k, v in row.items()} for row in new]


def read_rows(path: Path) -> list[Row]:
    """Read a tidy table; numbers become numbers."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [{k: _parsed(v) for k, v in row.items()} for row in csv.DictReader(file)]


def _short(value: Any) -> Any:
    """Six digits: more than any simulation supports."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _parsed(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def markdown_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    names = list(header)
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)

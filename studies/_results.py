"""What all studies share: rows saved as they come, with the settings that made them."""

from __future__ import annotations

import csv
import io
import json
import time
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from precall._output import whole_file
from precall.exceptions import PrecallWarning

Row = dict[str, Any]


class Results:
    """The tidy table of a study in a folder: ``NAME.csv`` beside its settings in ``NAME.json``.

    The table is written again, whole, whenever a case is added: a run that is killed, or a full
    disk, leaves the cases that were finished. A run that finds a table made with the same settings
    goes on where it stopped; one made with other settings starts again. Lines that are damaged
    all the same are dropped with the cases beside them, which are then computed again.
    """

    def __init__(self, folder: str | Path, name: str, settings: Mapping[str, Any]) -> None:
        self.folder, self.name = Path(folder), name
        self.settings = json.loads(json.dumps(settings))
        self.rows: list[Row] = []
        self._doubtful: list[Row] = []
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._settings_there() == self.settings:
            self._take_up(self.path(".csv"))
        else:
            self.path(".csv").unlink(missing_ok=True)
            write_whole(self.path(".json"), json.dumps(self.settings, indent=2) + "\n")

    def _settings_there(self) -> Any:
        described = self.path(".json")
        if not described.exists():
            return None
        try:
            return json.loads(described.read_text(encoding="utf-8"))
        except ValueError:
            self._warn(f"{described} is damaged: the study starts again.")
            return None

    def _take_up(self, table: Path) -> None:
        self.rows, self._doubtful, n_damaged = checked_rows(table)
        if n_damaged:
            lines = "line was" if n_damaged == 1 else "lines were"
            self._warn(
                f"{table} is damaged: {n_damaged} {lines} dropped, and the cases that they may "
                "have belonged to are computed again."
            )

    def _warn(self, message: str) -> None:
        warnings.warn(message, PrecallWarning, stacklevel=4)

    def path(self, suffix: str) -> Path:
        """Return the path of one of the study's files."""
        return self.folder / f"{self.name}{suffix}"

    def has(self, **key: Any) -> bool:
        """Return whether rows with these values are there already.

        Rows of a case that may be incomplete do not count, and are dropped.
        """

        def is_of(row: Row) -> bool:
            return all(row[name] == value for name, value in key.items())

        if any(is_of(row) for row in self._doubtful):
            self.rows = [row for row in self.rows if not is_of(row)]
            self._doubtful = [row for row in self._doubtful if not is_of(row)]
        return any(is_of(row) for row in self.rows)

    def add(self, rows: Iterable[Row]) -> None:
        """Append the rows of a case; all rows of a table have the same columns."""
        new = [{name: _short(value) for name, value in row.items()} for row in rows]
        parsed = [{name: _parsed(str(value)) for name, value in row.items()} for row in new]
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, fieldnames=list(new[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows([*self.rows, *new])
        write_whole(self.path(".csv"), text.getvalue())
        self.rows += parsed

    def save_page(self, text: str) -> None:
        """Write the page of the study."""
        write_whole(self.path(".md"), text)

    def save_figure(self, figure: Any, **options: Any) -> None:
        """Write the figure of the study."""
        with whole_file(self.path(".svg")) as unfinished:
            figure.savefig(unfinished, metadata={"Date": None}, **options)


def write_whole(path: Path, text: str) -> None:
    """Write a text whole or not at all."""
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="\n")


def read_rows(path: Path) -> list[Row]:
    """Read a tidy table; numbers become numbers."""
    return checked_rows(path)[0]


def checked_rows(path: Path) -> tuple[list[Row], list[Row], int]:
    """Read a tidy table: its rows, those beside a damaged line, and the number of such lines.

    A line is damaged if it has too few or too many values, or if the file ends inside it.
    """
    if not path.exists():
        return [], [], 0
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = list(csv.reader(io.StringIO(text, newline="")))
    whole = text.endswith("\n")
    if len(lines) < 2:
        return [], [], int(not whole and bool(lines))
    header, *body = lines
    good = [len(line) == len(header) for line in body]
    good[-1] &= whole
    rows = [dict(zip(header, map(_parsed, line), strict=False)) for line in body]
    beside = [
        fine and not all(good[max(index - 1, 0) : index + 2]) for index, fine in enumerate(good)
    ]
    return (
        [row for row, fine in zip(rows, good, strict=True) if fine],
        [row for row, doubtful in zip(rows, beside, strict=True) if doubtful],
        good.count(False),
    )


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


def with_core_seconds(rows: list[Row], began: float) -> list[Row]:
    """Give rows that come from the same draws an equal share of the processor time since then."""
    taken = round((time.process_time() - began) / len(rows), 3)
    return [row | {"core_seconds": taken} for row in rows]


def core_minutes(rows: Iterable[Row]) -> str:
    """Say how long the cases took, all together, on one core."""
    return f"It took {sum(row['core_seconds'] for row in rows) / 60:.0f} minutes of one core."


def markdown_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    names = list(header)
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)

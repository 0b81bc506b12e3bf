"""Workbooks of Excel and LibreOffice: the first sheet, its first row the names of the columns."""

from __future__ import annotations

import io
from typing import Any

from .._optional import require
from ..exceptions import InputError
from .csv_text import MISSING_WORDS
from .messages import source_name, unreadable
from .sources import File
from .wanted import Wanted


def read_sheet(file: File, wanted: Wanted) -> Any:
    """Read the first sheet of a workbook into a table."""
    import pyarrow as pa

    names, rows = _cells(file)
    stored = wanted.stored(names, file)
    columns = {name: [row[names.index(name)] for row in rows] for name in stored}
    return pa.table({name: _column(cells, name, wanted) for name, cells in columns.items()})


def _cells(file: File) -> tuple[list[str], list[list[Any]]]:
    """The names of the columns and the rows below them; an empty cell is an empty text."""
    require("python_calamine", "reading Excel files", "excel")
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        with file.open_at_random() as stream:
            book = CalamineWorkbook.from_filelike(io.BytesIO(stream.read()))
        sheet, *others = book.sheet_names
        cells = book.get_sheet_by_name(sheet).to_python()
    except (CalamineError, ValueError) as error:
        raise unreadable(file.name, error) from error
    if not cells:
        raise InputError(f"{source_name(file.name)} is empty: there is nothing to read.")
    if others:
        name, count = source_name(file.name), len(others) + 1
        file.options.tell(f"{name} has {count} sheets: the first, {sheet!r}, was read.")
    filled = [row for row in cells[1:] if any(cell != "" for cell in row)]
    return [_text(name) for name in cells[0]], filled


def _column(cells: list[Any], name: str, wanted: Wanted) -> Any:
    """One column, with the types of :mod:`csv_text`; numbers of a workbook are doubles."""
    import pyarrow as pa

    missing = ("",) if name in wanted.texts | wanted.levels else MISSING_WORDS
    values = [None if isinstance(cell, str) and cell in missing else cell for cell in cells]
    filled = [value for value in values if value is not None]
    numbers = all(isinstance(value, (int, float)) for value in filled)
    if name not in wanted.texts and filled and numbers and (wanted.guess or name in wanted.numbers):
        if all(isinstance(value, bool) for value in filled):
            return pa.array(values, pa.bool_())
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    return pa.array([None if v is None else _text(v) for v in values], pa.string())


def _text(value: object) -> str:
    """A cell as a sheet shows it: whole numbers, which are stored as doubles, without a point."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)

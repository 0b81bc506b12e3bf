"""Groups and clusters: names, which are text whatever they look like."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._arrow import plain

#: The name of the group of rows that have none.
MISSING = "(missing)"


def with_names(table: Any, name: str) -> Any:
    """Return a table whose column `name` is text, those without a name in a group of their own."""
    place = table.column_names.index(name)
    return table.set_column(place, name, as_names(table.column(name)).fill_null(MISSING))


def as_names(column: Any) -> Any:
    """Return a column as text, null where it is missing (null or NaN).

    Text stays as it is. Where a file stores types, a name is what Python prints of the value, so
    that ``1`` and ``1.0`` differ in text files, which have no types, and ``007`` is not ``7``.
    """
    import pyarrow as pa

    column = plain(column)
    if pa.types.is_string(column.type):
        return column
    encoded = column.dictionary_encode()
    values = encoded.dictionary.to_pylist()
    texts = [None if value is None or value != value else str(value) for value in values]
    return pa.array(texts, pa.string()).take(encoded.indices)


def positions(names: Sequence[str]) -> list[int]:
    """Where to take the names from to show them in order: numbers, other names, none at all."""
    return sorted(range(len(names)), key=lambda place: _key(names[place]))


def _key(name: str) -> tuple[int, float, str]:
    if name == MISSING:
        return 2, 0.0, name
    try:
        number = float(name)
    except ValueError:
        number = math.nan
    return (0, number, name) if math.isfinite(number) else (1, 0.0, name)

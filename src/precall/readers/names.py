"""Groups and clusters: names, which are text whatever they look like."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from .._arrow import plain

#: The name of the group of rows that have none.
MISSING = "(missing)"
# Between the names of a crossing; in a name it is escaped.
_SEPARATOR = "\x1f"


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


def with_crossing(table: Any, columns: Sequence[str]) -> Any:
    """Return a table with one more column, the names in several of its columns as one name."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = []
    for name in columns:
        text = pc.replace_substring(table.column(name), "\\", "\\\\")
        parts.append(pc.replace_substring(text, _SEPARATOR, "\\s"))
    joined = pc.binary_join_element_wise(*parts, pa.scalar(_SEPARATOR, parts[0].type))
    return table.append_column(crossing(columns), joined)


def crossing(columns: Sequence[str]) -> str:
    """Return the name of the column that :func:`with_crossing` adds."""
    return _SEPARATOR.join(columns)


def crossed_names(name: str) -> tuple[str, ...]:
    """Return the names that one of a crossing is made of.

    Examples
    --------
    >>> crossed_names("DE" + chr(31) + "phone")
    ('DE', 'phone')
    """

    def meant(found: re.Match[str]) -> str:
        return _SEPARATOR if found[1] == "s" else found[1]

    return tuple(re.sub(r"\\(.)", meant, part) for part in name.split(_SEPARATOR))


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

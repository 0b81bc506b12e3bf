"""Results as data frames of the library that the caller works with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from ._options import as_choice

#: The module, and what in it takes a dictionary of columns.
_LIBRARIES = {
    "pandas": ("pandas", "DataFrame"),
    "polars": ("polars", "DataFrame"),
    "pyarrow": ("pyarrow", "table"),
}


def as_frame(columns: Mapping[str, Any], library: object) -> Any:
    """Return a data frame of these columns, or say which library is missing."""
    chosen = as_choice(library, "library", _LIBRARIES)
    module, maker = _LIBRARIES[chosen]
    try:
        make = getattr(import_module(module), maker)
    except ImportError as error:
        others = " or ".join(repr(name) for name in _LIBRARIES if name != chosen)
        raise ImportError(
            f"to_frame needs {module}, which is not installed: install it, or pass "
            f"library={others}; to_dict needs neither."
        ) from error
    return make(dict(columns))


def columns_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Turn rows into columns; what a row lacks is None."""
    rows = list(rows)
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def flat(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Take dictionaries inside a dictionary apart: their names are joined with an underscore."""
    found: dict[str, Any] = {}
    for name, value in plain.items():
        if isinstance(value, Mapping):
            found |= {f"{name}_{inner}": deeper for inner, deeper in flat(value).items()}
        else:
            found[name] = value
    return found


def table_in(plain: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the rows that a dictionary holds, or the dictionary itself as the only row."""
    for rows in (list(plain.values()), *plain.values()):
        if _is_rows(rows):
            return columns_of(map(flat, rows))
    return {name: [value] for name, value in flat(plain).items()}


def _is_rows(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and bool(value)
        and all(isinstance(row, Mapping) for row in value)
    )

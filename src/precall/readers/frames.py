"""Columns of data frames, whichever library they are from; nothing is imported to find out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .._optional import require
from ..exceptions import InputError

Mask = npt.NDArray[np.bool_]


def library(value: object) -> str:
    """Return the top-level package that an object's class is from."""
    return type(value).__module__.partition(".")[0]


def as_column_names(names: object, argument: str) -> list[str]:
    """Return one name, or several, as a list."""
    if isinstance(names, str):
        return [names]
    if isinstance(names, Iterable) and getattr(names, "ndim", 1) != 0:
        listed = list(names)
        if all(isinstance(name, str) for name in listed):
            return listed
    raise InputError(f"{argument} must be the name of a column or a list of names, got {names!r}.")


def frame_columns(value: object) -> dict[str, Any] | None:
    """Return every column of a pandas, Polars or PyArrow frame by name; None for other things."""
    given: Any = value
    source = library(value)
    if source == "pyarrow" and hasattr(value, "column_names"):
        names = list(given.column_names)
    elif (source == "pandas" and hasattr(type(value), "columns")) or (
        source == "polars" and hasattr(type(value), "get_column")
    ):
        names = list(given.columns)
    else:
        return None
    return columns_of(value, names)


def columns_of(frame: object, names: Iterable[str]) -> dict[str, Any]:
    """Return the named columns of a frame, each as its library has it."""
    given: Any = frame
    source = library(frame)
    if source == "pyarrow" and hasattr(frame, "column_names"):
        known, take = list(given.column_names), given.column
    elif isinstance(frame, Mapping) or (source == "pandas" and hasattr(frame, "columns")):
        known, take = list(getattr(given, "columns", given)), given.__getitem__
    elif source == "polars" and hasattr(frame, "get_column"):
        known, take = list(given.columns), given.get_column
    else:
        known, take = _by_narwhals(frame)
    found = {}
    for name in names:
        count = known.count(name)
        if count != 1:
            listed = ", ".join(map(repr, known[:20])) or "none"
            what = "is there more than once" if count else "is not there"
            raise InputError(f"column {name!r} {what}: the columns are {listed}.")
        found[name] = take(name)
    return found


def _by_narwhals(frame: object) -> tuple[list[str], Any]:
    given: Any = frame
    # Of the class: a lazy frame would work out its columns to say whether it has any.
    if not any(hasattr(type(frame), name) for name in ("columns", "__dataframe__")):
        raise InputError(
            "frame must be a data frame, a PyArrow Table or a mapping from name to array, got "
            f"{type(frame).__name__}."
        )
    require("narwhals", f"reading a {type(frame).__name__} as a data frame", "frames")
    import narwhals as nw

    try:
        table = nw.from_native(given, eager_only=True)
    except TypeError:
        raise InputError(
            f"frame must be a data frame with its rows in memory, got {type(frame).__name__}."
        ) from None
    return list(table.columns), lambda name: table.get_column(name).to_numpy()


def missing_in(column: Any) -> Mask:
    """Return where a column has no value; NaN is none."""
    source = library(column)
    if source == "pandas":
        return np.asarray(column.isna(), dtype=np.bool_)
    if source == "pyarrow":
        import pyarrow.compute as pc

        return np.asarray(pc.is_null(column, nan_is_null=True), dtype=np.bool_)
    if source == "polars":
        empty = column.is_null()
        if column.dtype.is_float():
            empty = empty | column.is_nan().fill_null(value=True)
        return np.asarray(empty.to_numpy(), dtype=np.bool_)
    values = np.asarray(column)
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind in "mM":
        return np.asarray(np.isnat(values))
    if values.dtype.kind == "O":
        return np.array([value is None or value != value for value in values.tolist()], np.bool_)
    return np.zeros(values.shape, dtype=np.bool_)


def kept(column: Any, chosen: Mask) -> Any:
    """Return the rows of a column that a mask chooses."""
    source = library(column)
    if source == "pyarrow":
        import pyarrow as pa

        return column.filter(pa.array(chosen))
    if source == "polars":
        return column.filter(chosen)
    return column[chosen] if source == "pandas" else np.asarray(column)[chosen]

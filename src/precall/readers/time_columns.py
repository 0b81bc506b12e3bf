"""When rows happened: columns of times in files, as numbers or as dates in ISO format."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrow import is_number
from ..exceptions import InputError
from .messages import shown

Array = npt.NDArray[Any]


def as_times(column: Any, name: str) -> Array:
    """Return numbers or ``datetime64`` values of a column without nulls."""
    import pyarrow as pa
    import pyarrow.types as kind

    if kind.is_string(column.type) or kind.is_large_string(column.type):
        column = _parsed(column, name)
    if kind.is_temporal(column.type) and not kind.is_duration(column.type):
        if not kind.is_time(column.type):
            return np.asarray(column.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False))
    elif is_number(column) and not kind.is_boolean(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    raise InputError(
        f"time column {shown(name)} holds {column.type}, not times: name a column of numbers or "
        "of dates."
    )


def _parsed(column: Any, name: str) -> Any:
    """Text as time stamps, with or without a time zone, if all of it is ISO 8601."""
    import pyarrow as pa

    for zone in (None, "UTC"):
        try:
            return column.cast(pa.timestamp("us", tz=zone)).cast(pa.timestamp("us"))
        except pa.ArrowInvalid:
            continue
    raise InputError(
        f"time column {shown(name)} holds text such as {shown(_example(column))}, which is in no "
        "order of time: write times as numbers, or as 2026-01-31 or 2026-01-31 23:59:59."
    )


def _example(column: Any) -> Any:
    """The first cell that is no time."""
    import pyarrow as pa

    cells = column.to_pylist()
    for cell in cells:
        try:
            pa.array([cell]).cast(pa.timestamp("us", tz="UTC"))
        except pa.ArrowInvalid:
            try:
                pa.array([cell]).cast(pa.timestamp("us"))
            except pa.ArrowInvalid:
                return cell
    return cells[0]

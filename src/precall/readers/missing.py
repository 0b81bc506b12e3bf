"""Rows in which something is missing, left out where that was asked for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

from .._arrow import plain
from .._words import plural

#: How a sentence about rows that were left out ends.
LEFT_OUT = "with missing values left out."


def without_missing(table: Any, names: Iterable[str]) -> Any:
    """Return the rows in which none of these columns is missing (null or NaN)."""
    import pyarrow.compute as pc

    masks = [pc.is_null(plain(table.column(name)), nan_is_null=True) for name in names]
    return table.filter(pc.invert(reduce(pc.or_, masks)))


def sentence(dropped: int, rows: int) -> str:
    """Say how many rows were left out."""
    return f"{plural(dropped, 'row')} of {rows:,} {LEFT_OUT}"

"""Columns of times: numbers or dates, never text."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from ..exceptions import InputError

Array = npt.NDArray[Any]


def as_times(values: Array, name: str) -> Array:
    """Return times that can be sorted: numbers, or ``datetime64``."""
    kind = values.dtype.kind
    if kind == "O":
        _validation.reject_missing(values, f"time column {name!r}")
        listed = values.tolist()
        if all(isinstance(value, date) for value in listed):
            values = _as_dates(values, name)
        elif not any(isinstance(value, (str, bytes)) for value in listed):
            values = _validation.as_numbers(values, f"time column {name!r}")
        kind = values.dtype.kind
    if kind not in "iufM":
        held = "text" if kind in "OUST" else str(values.dtype)
        raise InputError(
            f"time column {name!r} holds {held}, not times: convert it first, for example with "
            "pandas.to_datetime."
        )
    _validation.reject_missing(values, f"time column {name!r}")
    return values


def _as_dates(values: Array, name: str) -> Array:
    zoned = [getattr(value, "tzinfo", None) is not None for value in values.tolist()]
    if any(zoned) and not all(zoned):
        raise InputError(
            f"time column {name!r} mixes times with and without a time zone: convert them first, "
            "for example with pandas.to_datetime."
        )
    if any(zoned):
        return np.asarray([value.timestamp() for value in values.tolist()])
    return values.astype("datetime64[us]")


def shown_time(value: Any) -> str:
    """Return a time as it is written: without the parts that are zero at its end."""
    if isinstance(value, np.datetime64):
        text = str(value.astype("datetime64[s]")).replace("T", " ")
        return text.removesuffix(" 00:00:00")
    return f"{value:.12g}" if isinstance(value, (float, np.floating)) else str(value)

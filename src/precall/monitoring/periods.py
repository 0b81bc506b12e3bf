"""Windows of time: which row belongs to which."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from ..exceptions import InputError

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]

# Days from the Monday before to the first of January 1970, a Thursday.
_THURSDAY = 3
#: Periods of the calendar: the unit of NumPy, how many make one, and how far its zero is off.
CALENDAR: dict[str, tuple[str, int, int]] = {
    "hour": ("h", 1, 0),
    "day": ("D", 1, 0),
    "week": ("D", 7, _THURSDAY),
    "month": ("M", 1, 0),
    "quarter": ("M", 3, 0),
    "year": ("Y", 1, 0),
}
# Windows of as many rows each, if nothing was said.
_WINDOWS = 10


def window_of(times: Array, every: object) -> tuple[IntArray, Array]:
    """Return the number of each row's window, from 0, and where each window starts.

    Windows without rows are left out.
    """
    if every is None:
        return _of_equal_size(times)
    if times.dtype.kind == "M":
        number, starts = _of_dates(times, every)
    else:
        length = _validation.as_number(every, "every")
        if not 0.0 < length < np.inf:
            raise InputError(f"every must be positive, got {every!r}.")
        first = times.min()
        number = np.floor((times - first) / length).astype(np.int64)
        starts = first + np.unique(number) * length
    return np.unique(number, return_inverse=True)[1].astype(np.int64), starts


def _of_dates(times: Array, every: object) -> tuple[IntArray, Array]:
    if isinstance(every, str):
        name = _validation.as_choice(every, "every", CALENDAR)
        unit, count, off = CALENDAR[name]
        whole = (times.astype(f"datetime64[{unit}]").astype(np.int64) + off) // count
        starts = (np.unique(whole) * count - off).astype(f"datetime64[{unit}]")
        return whole, starts.astype(times.dtype)
    try:
        length = np.timedelta64(every, "us")  # type: ignore[call-overload]
        given = isinstance(every, (timedelta, np.timedelta64))
    except (TypeError, ValueError):
        given = False
    if not given or not length > np.timedelta64(0, "us"):
        raise InputError(
            f"every must be one of {', '.join(map(repr, CALENDAR))} or a length of time such as "
            f"datetime.timedelta(days=7), got {every!r}."
        )
    first = times.min()
    number = (times - first).astype("timedelta64[us]") // length
    return number.astype(np.int64), (first + np.unique(number) * length).astype(times.dtype)


def _of_equal_size(times: Array) -> tuple[IntArray, Array]:
    """Ten windows of about as many rows; rows of one time stay together."""
    distinct, inverse, counts = np.unique(times, return_inverse=True, return_counts=True)
    before = np.cumsum(counts) - counts
    number = np.minimum(before * _WINDOWS // times.size, _WINDOWS - 1)
    _, first, window = np.unique(number, return_index=True, return_inverse=True)
    return window[inverse].astype(np.int64), distinct[first]

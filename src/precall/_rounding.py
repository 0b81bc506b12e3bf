"""Comparisons that do not depend on the last bits of a floating-point sum.

The last bits of a sum differ between processors, BLAS builds, numbers of threads and orders of the
terms. So "equal", "at least" and "highest" are decided here with a stated tolerance wherever the
numbers were computed, and guaranteed bounds are rounded outwards by a bound on their own error.
Counts and ranks are exact and need none of this.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

#: Numbers that differ by no more than this share of their size are the same number. Computed areas
#: carry errors of some 1e-15, and a difference of 1e-12 is of no use to anybody.
TOLERANCE = 1e-12


def at_least(values: Any, limit: Any) -> Any:
    """Return whether values reach a limit, or miss it by rounding only."""
    return np.asarray(values) >= limit - TOLERANCE * np.abs(limit)


def at_most(values: Any, limit: Any) -> Any:
    """Return whether values stay under a limit, or pass it by rounding only."""
    return at_least(np.negative(values), -limit)


def first_highest(values: Any) -> int:
    """Index of the first of the highest values; values that differ by rounding only are equal."""
    values = np.asarray(values, dtype=np.float64)
    return int(np.argmax(at_least(values, np.max(values))))


def falling(values: Any) -> list[int]:
    """Order of values, highest first; those that differ by rounding only stay as they were.

    Examples
    --------
    >>> falling([0.3, 0.5, 0.1 + 0.2])
    [1, 0, 2]
    """
    left = dict(enumerate(np.asarray(values, dtype=np.float64).tolist()))
    order = []
    while left:
        order.append(list(left)[first_highest(list(left.values()))])
        del left[order[-1]]
    return order


def settled(differences: Any, scale: Any) -> FloatArray:
    """Return differences with those that are rounding, beside numbers of size `scale`, as 0."""
    differences = np.asarray(differences, dtype=np.float64)
    return np.where(np.abs(differences) <= TOLERANCE * np.abs(scale), 0.0, differences)


def tied(values: Any, scale: float) -> FloatArray:
    """Return values in which those that differ from the next one by rounding only are equal.

    Examples
    --------
    >>> tied([0.3, 0.1 + 0.2, 0.5], 1.0).tolist()
    [0.3, 0.3, 0.5]
    """
    values = np.asarray(values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    new = np.append(True, np.diff(ascending) > TOLERANCE * scale)[: values.size]
    result: FloatArray = np.empty_like(values)
    result[order] = ascending[new][np.cumsum(new) - 1]
    return result


def outward(low: float, high: float, relative_error: float) -> tuple[float, float]:
    """Round guaranteed bounds of a share outwards, by a bound on the error of computing them."""
    return max(low * (1.0 - relative_error), 0.0), min(high * (1.0 + relative_error), 1.0)


def area_error(n_rows: float, *, exact_counts: bool) -> float:
    """Bound the relative error of a sum of precisions over rows, and of a second such sum.

    With whole counts TP and FP are exact; a term is then wrong by some 16 units in the last place
    at most, and NumPy's pairwise sum adds ``16 + log2(n)``. Sums of weights are wrong by up to one
    unit per row, in the numerator and in the denominator of a precision. All of it twice: what is
    compared with the bound was computed too.

    Examples
    --------
    >>> area_error(1e6, exact_counts=True) < 3e-14
    True
    """
    units = 32.0 + math.log2(n_rows + 1.0) + (0.0 if exact_counts else 2.0 * n_rows)
    return 2.0 * units * sys.float_info.epsilon

"""A threshold among scores: which scores are at or above it, compared in the scores' own type."""

from __future__ import annotations

import math
from bisect import bisect_left
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._words import plural
from ..exceptions import InputError

Array = npt.NDArray[Any]


def as_score(threshold: Any, dtype: np.dtype[Any]) -> Any:
    """Return the lowest score of a type that is at or above a threshold; None if there is none."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if math.isinf(threshold):
            return None if threshold > 0 else dtype.type(limits.min)
        whole = int(threshold) if isinstance(threshold, Integral) else math.ceil(threshold)
        return None if whole > limits.max else dtype.type(max(whole, limits.min))
    if type(threshold) is float and dtype == np.float64:
        return np.float64(threshold)
    with np.errstate(over="ignore"):  # a number too large for the type is infinite there
        value = dtype.type(threshold)
    # As NumPy compares: a plain 0.7 means the float32 nearest to it among float32 scores.
    if type(threshold) in (int, float) or not value < threshold:
        return value
    return np.nextafter(value, dtype.type(np.inf))


def as_thresholds(thresholds: object, dtype: np.dtype[Any]) -> Array:
    """Return thresholds to keep as distinct scores of a type, ascending."""
    try:
        given = list(thresholds)  # type: ignore[call-overload]
    except TypeError:  # a number, and an array without dimensions
        raise InputError(
            f"thresholds must be a list of scores, got {thresholds!r}: pass [{thresholds!r}]."
        ) from None
    for each in given:
        _validation.as_number(each, "thresholds")
    found = [as_score(each, dtype) for each in given]
    return np.unique(np.array([each for each in found if each is not None], dtype=dtype))


def rows_at_or_above(descending: Array, threshold: Any) -> int:
    """Return how many of the descending scores are at or above a threshold."""
    value = as_score(threshold, descending.dtype)
    if value is None:
        return 0
    # By hand: searchsorted would copy the scores to turn them round.
    return bisect_left(descending, True, key=lambda score: bool(score < value))


def not_kept(threshold: Any, hidden: Any) -> InputError:
    """Return the error for a threshold at which a ranking does not know the counts."""
    rows = plural(hidden, "row", shown=f"{hidden:.12g}")
    return InputError(
        f"the counts at threshold {threshold:.12g} are not known: this ranking did not keep it, "
        f"and up to {rows} may lie between it and the next higher threshold. Keep it with "
        f"pr.rank(y_true, y_score, thresholds=[{threshold:.12g}]), or pass pr.Rows."
    )

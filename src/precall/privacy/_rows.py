"""Reading private rows without saying anything about them.

The errors of the ordinary readers name counts and positions, which is right for the owner of the
data and wrong for whoever sees the error of a private release.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_positive_mask, as_scores, require_same_length
from ..exceptions import InputError

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

_SILENCE = (
    "Which rows break this is not said here, because errors of a private release may be seen by "
    "others: rank(y_true, y_score) says it."
)


def read_rows(y_true: object, y_score: object, *, pos_label: object = 1) -> tuple[Mask, Array]:
    """Return labels and scores, or an error that says nothing about any row."""
    try:
        positive, scores = as_positive_mask(y_true, pos_label), as_scores(y_score)
        require_same_length(y_true=positive, y_score=scores)
        good = _no_nan(scores)
    except InputError:
        good = False
    if not good:
        raise InputError(
            "y_true and y_score must be one-dimensional and of one length above 0, with labels "
            "{0, 1}, {-1, 1}, booleans or any two with pos_label, and scores that are numbers and "
            "not NaN. " + _SILENCE
        ) from None
    return positive, scores


def read_scores(y_score: object) -> Array:
    """Return scores, or an error that says nothing about any row."""
    try:
        scores = as_scores(y_score)
        good = _no_nan(scores) and scores.size > 0
    except InputError:
        good = False
    if not good:
        raise InputError(
            "y_score must be one-dimensional, with at least one row, of numbers that are not NaN. "
            + _SILENCE
        ) from None
    return scores


def _no_nan(scores: Array) -> bool:
    return scores.dtype.kind != "f" or not bool(np.isnan(scores).any())

"""Reading private rows: each by itself, and without saying anything about any of them.

The errors of the ordinary readers name counts and positions, which is right for the owner of the
data and wrong for whoever sees the error of a private release. And what one row holds must change
nothing about the others: a list of whole numbers becomes floats as soon as one of them is 0.5, and
whole numbers that differ above 2^53 then tie. So every score becomes a double on its own, and
every label is compared with the positive one on its own (``PROOFS.md``, section 1).
"""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_vector, is_missing
from ..exceptions import InputError
from ..ranking import Ranking

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

SILENCE = (
    "Which rows break this is not said here, because errors of a private release may be seen by "
    "others: rank(y_true, y_score) says it, and so does the command precall check."
)
_ROWS = (
    "y_true and y_score must be one-dimensional and of one length above 0: labels 1 and 0 or -1, "
    "booleans, or any labels with pos_label, none missing, and scores that are numbers and not "
    f"NaN. {SILENCE}"
)
_SCORES = (
    "y_score must be one-dimensional, with at least one row, of numbers that are not NaN. "
    f"{SILENCE}"
)
_RANKING = (
    "a private release takes the rows and not a Ranking: pass y_true and y_score. What made a "
    "Ranking (weights, merged scores, one person in several rows) is not covered by the proofs."
)


def read_rows(
    y_true: object, y_score: object, *, pos_label: object = 1, may_be_empty: bool = False
) -> tuple[Mask, FloatArray]:
    """Return which rows are positive, and their scores, or an error that says nothing about them.

    A row is positive if its label is `pos_label`. For a `pos_label` of 1 the others have to be 0 or
    -1; for any other they may be anything but missing. Where the number of rows is private, there
    may be none.
    """
    if isinstance(y_true, Ranking) or isinstance(y_score, Ranking):
        raise InputError(_RANKING)
    positive, scores = _positive(y_true, pos_label), _numbers(y_score)
    if positive is None or scores is None or positive.size != scores.size:
        raise InputError(_ROWS)
    if not (positive.size or may_be_empty):
        raise InputError(_ROWS)
    return positive, scores


def read_second_scores(scores: object, n_rows: int) -> FloatArray:
    """Return another model's scores of the same rows, or an error that says nothing about any."""
    if isinstance(scores, Ranking):
        raise InputError(_RANKING)
    numbers = _numbers(scores)
    if numbers is None or numbers.size != n_rows:
        raise InputError(_ROWS)
    return numbers


def read_scores(y_score: object) -> FloatArray:
    """Return scores, or an error that says nothing about any row."""
    scores = _numbers(y_score)
    if scores is None or not scores.size:
        raise InputError(_SCORES)
    return scores


def _positive(y_true: object, pos_label: object) -> Mask | None:
    """Which labels are the positive one; None if any is no label."""
    labels = as_cells(y_true)
    if labels is None:
        return None
    usual = isinstance(pos_label, (Real, np.number, np.bool_)) and pos_label == 1
    if labels.dtype.kind == "O":
        listed = labels.tolist()
        try:
            if any(is_missing(v) or (usual and not _is_usual(v)) for v in listed):
                return None
            return np.array([bool(v == pos_label) for v in listed], dtype=np.bool_)
        except (TypeError, ValueError):
            return None
    textual = labels.dtype.kind in "UST"
    if textual != isinstance(pos_label, (str, bytes)) or labels.dtype.kind not in "biufUST":
        return None  # by the types alone, which no single row decides
    allowed = np.isin(labels, (-1, 0, 1)) if usual else textual | (labels == labels)
    return np.asarray(labels == pos_label, dtype=np.bool_) if np.all(allowed) else None


def _is_usual(label: Any) -> bool:
    return isinstance(label, (Real, np.number, np.bool_)) and label in (-1, 0, 1)


def _numbers(y_score: object) -> FloatArray | None:
    """Scores as doubles, each converted by itself; None if any is no number."""
    values = as_cells(y_score)
    if values is None:
        return None
    if values.dtype.kind in "biuf":
        scores = values.astype(np.float64)
    elif values.dtype.kind == "O":
        listed = values.tolist()
        if not all(isinstance(v, (Real, Decimal, np.number, np.bool_)) for v in listed):
            return None
        try:
            scores = np.array([float(v) for v in listed], dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            return None
    else:
        return None
    return None if np.isnan(scores).any() else scores


def as_cells(values: object) -> Array | None:
    """A one-dimensional array in which no row has decided the type of another."""
    plain: Any = values
    if plain is None or isinstance(plain, (str, bytes)):
        return None
    try:
        if hasattr(plain, "__array__") or hasattr(plain, "__dlpack__"):
            return as_vector(plain, "values")
        array = np.array(list(plain), dtype=object)
    except (InputError, TypeError, ValueError):
        return None
    return array if array.ndim == 1 else None

"""Labels of some of the rows: which rows are known, and which of those are positive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._arrow import with_missing
from .._words import plural
from ..exceptions import InputError
from ..ranking.scored_rows import ScoredRows

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class KnownLabels(NamedTuple):
    """The rows that have a label, in rising order, and whether each is positive."""

    rows: IntArray
    positive: Mask

    def mask(self, size: int) -> Mask:
        """Return which of `size` rows are known."""
        known = np.zeros(size, dtype=np.bool_)
        known[self.rows] = True
        return known


def as_known(labels: object, size: int) -> KnownLabels:
    """Return the labels that are there.

    `labels` has one value per row of the population, missing (NaN or None) where unknown, or is a
    mapping from row to label.
    """
    if isinstance(labels, Mapping):
        return _from_mapping(labels, size)
    if labels is None or isinstance(labels, (str, bytes)):
        raise InputError(
            "labels must hold one value per row, NaN or None where unknown, or map rows to labels, "
            f"got {type(labels).__name__}."
        )
    column = with_missing(labels)
    values = _validation.as_vector(column, "labels")
    if values.size != size:
        raise InputError(
            f"labels must have one value for each of the {size:,} scores, got {values.size:,}: "
            "give NaN where a label is unknown, or a mapping from row to label."
        )
    known = ~missing_in(values)
    return KnownLabels(np.flatnonzero(known), _positive(values[known]))


def _from_mapping(labels: Mapping[Any, Any], size: int) -> KnownLabels:
    rows = np.array([_row(key, size) for key in labels], dtype=np.int64)
    values = np.empty(len(labels), dtype=object)
    values[:] = list(labels.values())
    known = ~missing_in(values)
    rows, values = rows[known], values[known]
    order = np.argsort(rows, kind="stable")
    return KnownLabels(rows[order], _positive(values[order]))


def _row(key: object, size: int) -> int:
    row = _validation.as_count(key, "a row in labels")
    if row >= size:
        raise InputError(
            f"labels has a row {row}, but there are {size:,} scores: rows count from 0."
        )
    return row


def _positive(values: Array) -> Mask:
    if not values.size:
        return np.zeros(0, dtype=np.bool_)
    return _validation.as_positive_mask(values, 1, "labels")


def missing_in(values: Array) -> Mask:
    """Return where an array has no value."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind == "O":
        return np.array([_validation.is_missing(value) for value in values.tolist()], np.bool_)
    return np.zeros(values.shape, dtype=np.bool_)


def as_population(scores: object, name: str = "scores") -> Array:
    """Return the scores of all rows, labelled or not; none may be missing."""
    if isinstance(scores, ScoredRows):
        raise InputError(f"{name} are not in memory: take pr.audit.plan_of and pr.audit.sample_of.")
    values = _validation.as_scores(scores, name)
    _validation.reject_missing(values, name)
    if not values.size:
        raise InputError(f"{name} must have at least one row, got none.")
    return values


def require_some(known: KnownLabels) -> None:
    """Raise where no row has a label."""
    if not known.rows.size:
        raise InputError(
            "labels has no label at all: label some rows first, for example those of "
            "pr.audit.plan(scores, budget=100)."
        )


def shown_rows(rows: IntArray) -> str:
    """Say how many rows, and which is the first."""
    return f"{plural(int(rows.size), 'row')} (the first is row {int(rows[0])})"


def summed(codes: IntArray, values: Any, count: int) -> FloatArray:
    """Return the sums of values (ones if None) by code."""
    return np.asarray(np.bincount(codes, values, minlength=count), dtype=np.float64)

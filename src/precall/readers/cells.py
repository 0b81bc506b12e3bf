"""Read labels and scores of a file cell by cell, for private releases.

The ordinary reader guesses the type of a column from its rows: one text cell turns a column of
numbers into text, and one 0.5 turns whole numbers into doubles. Then one row decides what becomes
of the others, and no noise that was made for one row covers that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._arrow import is_number
from ..exceptions import InputError
from .columns import Roles, column_of, reject_nulls
from .messages import shown
from .options import ReadOptions
from .sources import Named, opened
from .tables import read_tables

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class CellRows(NamedTuple):
    """Private rows.

    Attributes
    ----------
    positive : array of bool
        Which rows carry the positive label.
    scores : tuple of array
        Scores of each model, as doubles.
    persons : array of int or None
        Numbers that are equal where rows belong to one person, if there is such a column.
    """

    positive: Mask
    scores: tuple[FloatArray, ...]
    persons: IntArray | None


def read_cells(source: Named, roles: Roles, options: ReadOptions | None = None) -> CellRows:
    """Read labels, scores and whose row it is, each cell by itself.

    No row has a say in another.

    For private releases (``privacy/PROOFS.md``, section 1). Which rows are positive is decided by
    comparing each label with the positive one, as numbers where both are: without a positive
    label, every other has to be 0, -1 or false; with one, it may be anything but missing. An empty
    class is no error.

    Parameters
    ----------
    source : path
        As for :func:`read_columns`.
    roles : Roles
        Label, scores, the positive label, and as `cluster` the person of each row.
    options : ReadOptions, optional
        How to read the file. What is not said follows from the names of its columns, and from no
        row.

    Returns
    -------
    CellRows

    Raises
    ------
    InputError
        If any cell cannot be read. The message may quote private rows: do not show it.

    Examples
    --------
    >>> from precall import example_path
    >>> from precall.readers.cells import read_cells
    >>> from precall.readers.columns import Roles
    >>> roles = Roles(label="fraud", scores=("scorecard",))
    >>> positive, (scores,), _ = read_cells(example_path(), roles)
    >>> int(positive.sum()), scores.dtype
    (78, dtype('float64'))
    """
    with opened(source, options) as files:
        tables = read_tables(files, replace(roles.wanted, guess=False), source)
    positive = [_positive_cells(column_of(table, roles.label), roles) for table in tables]
    scores = [
        np.concatenate([_double_cells(column_of(table, name), name) for table in tables])
        for name in roles.scores
    ]
    persons = None if roles.cluster is None else _same_cells(tables, roles.cluster)
    return CellRows(np.concatenate(positive), tuple(scores), persons)


def _same_cells(tables: list[Any], name: str) -> IntArray:
    """Numbers that are equal where cells are."""
    import pyarrow as pa

    chunks = []
    for table in tables:
        column = column_of(table, name)
        reject_nulls(column, name)
        if pa.types.is_floating(column.type):
            _validation.reject_missing(column.to_numpy(), f"column {shown(name)}")
        chunks.append(column.cast(pa.string()))
    whole = pa.chunked_array([part for chunk in chunks for part in _parts(chunk)])
    encoded = whole.dictionary_encode().combine_chunks()
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def _parts(column: Any) -> list[Any]:
    return list(column.chunks) if hasattr(column, "chunks") else [column]


def _positive_cells(column: Any, roles: Roles) -> Mask:
    reject_nulls(column, roles.label)
    encoded = column.dictionary_encode()
    words = [_number_or_word(value) for value in encoded.dictionary.to_pylist()]
    wanted = 1.0 if roles.pos_label is None else _number_or_word(roles.pos_label)
    if any(word != word for word in words):
        raise InputError(f"label column {shown(roles.label)} has missing labels.")
    if roles.pos_label is None and not all(word in (1.0, 0.0, -1.0) for word in words):
        raise InputError(
            f"label column {shown(roles.label)} has labels other than 1, 0, -1, true and false: "
            "say which one is positive with pos_label=."
        )
    is_positive = np.array([word == wanted for word in words], dtype=np.bool_)
    return np.asarray(is_positive[encoded.indices.to_numpy(zero_copy_only=False)])


def _number_or_word(value: Any) -> Any:
    text = str(value).strip().lower()
    if text in ("true", "false"):
        return float(text == "true")
    try:
        return float(text)
    except ValueError:
        return str(value)


def _double_cells(column: Any, name: str) -> FloatArray:
    import pyarrow as pa

    if not is_number(column):
        raise InputError(f"score column {shown(name)} does not hold numbers.")
    reject_nulls(column, name)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    # Not safe: whole numbers above 2^53 are rounded to the next double.
    scores = np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    _validation.reject_missing(scores, f"column {shown(name)}")
    return scores

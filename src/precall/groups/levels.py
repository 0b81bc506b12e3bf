"""The levels of columns, and every crossing of them that occurs: what slices are made of."""

from __future__ import annotations

from itertools import combinations, pairwise
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._text import visible
from .._words import plural
from ..exceptions import InputError
from ..ranking.grouping import factorise
from ..rows import Rows

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: What the level of rows without a value is called.
MISSING = "(missing)"
# Numbers with more distinct values than this are cut at quantiles.
MOST_VALUES = 20
# A column of more levels names single things, and more slices than that nobody reads.
MOST_LEVELS = 1_000
MOST_SLICES = 10_000
# Digits of the edges of quantiles, tried in this order, and how wrong they may leave an edge.
_DIGITS = range(2, 18)
_OFF = 0.01


class ColumnLevels(NamedTuple):
    """The levels of one column: their names, and the position of each row's level."""

    names: list[str]
    code: IntArray


class Cut(NamedTuple):
    """All rows cut by one column, or by several at once.

    Attributes
    ----------
    columns : tuple of str
    names : list of tuples
        The levels of each slice, in the order of the columns; only those that occur.
    code : array of int
        The slice of each row; in none of them if it is beyond the names.
    """

    columns: tuple[str, ...]
    names: list[tuple[str, ...]]
    code: IntArray


def as_column_names(by: object, rows: Rows) -> tuple[str, ...]:
    """Return the columns to cut by; the nearest is suggested for one that is not there."""
    names = [by] if isinstance(by, str) else by
    if not isinstance(names, (list, tuple)) or not names:
        raise InputError(f"by must be a column of the rows, or a list of them, got {by!r}.")
    if not rows.columns:
        raise InputError("by needs rows with columns: give them to precall.Rows as columns=.")
    found = tuple(_validation.as_choice(name, "by", rows.columns) for name in names)
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise InputError(f"by must name every column once, got {twice!r} twice.")
    return found


def crossings_of(by: tuple[str, ...], depth: int) -> list[tuple[str, ...]]:
    """Return every column, then every crossing of up to `depth` columns.

    Examples
    --------
    >>> crossings_of(("a", "b"), 2)
    [('a',), ('b',), ('a', 'b')]
    """
    sizes = range(1, min(depth, len(by)) + 1)
    return [columns for size in sizes for columns in combinations(by, size)]


def cuts_of(rows: Rows, by: tuple[str, ...], *, depth: int, quantiles: int) -> list[Cut]:
    """Cut rows by every column and every crossing of up to `depth` columns."""
    levels = {name: levels_of(rows.columns[name], name, quantiles) for name in by}
    cuts: list[Cut] = []
    for columns in crossings_of(by, depth):
        cuts.append(_crossed(columns, [levels[name] for name in columns]))
        require_few_slices(sum(len(cut.names) for cut in cuts), len(cuts[-1].names), columns)
    return cuts


def require_few_slices(count: int, last: int, columns: tuple[str, ...]) -> None:
    """Refuse more slices than anybody reads; the last cut, by `columns`, has `last` of them."""
    if count > MOST_SLICES:
        raise InputError(
            f"by and depth give more than {MOST_SLICES:,} slices ({plural(last, 'crossing')} of "
            f"{' and '.join(columns)}): lower depth, or merge the rare levels of a column."
        )


def _crossed(columns: tuple[str, ...], levels: list[ColumnLevels]) -> Cut:
    code = levels[0].code
    for further in levels[1:]:
        code = code * len(further.names) + further.code
    present, code = factorise(code)
    shape = tuple(len(level.names) for level in levels)
    parts = np.unravel_index(present, shape)
    names = [
        tuple(level.names[index] for level, index in zip(levels, indices, strict=True))
        for indices in zip(*(part.tolist() for part in parts), strict=True)
    ]
    return Cut(columns, names, code)


def levels_of(column: Array, name: str, quantiles: int) -> ColumnLevels:
    """Return the levels of a column; rows without a value have one of their own, the last.

    Numbers and dates with more than 20 distinct values are cut at quantiles; anything else has a
    level for every value.

    Examples
    --------
    >>> levels_of(np.array(["b", None, "a", "b"], dtype=object), "x", 4)
    ColumnLevels(names=['a', 'b', '(missing)'], code=array([1, 2, 0, 1]))
    >>> levels_of(np.arange(100), "x", 4).names
    ['under 25', '25 to under 50', '50 to under 75', '75 and over']
    """
    column, known = _with_numbers(column)
    values = column[known]
    code = np.full(column.size, -1, dtype=np.int64)
    names: list[str] = []
    if values.size:
        labels, inside = factorise(_hashable(values, name))
        if labels.size > MOST_VALUES and labels.dtype.kind in "iufM":
            names, code[known] = _at_quantiles(values, quantiles)
        elif labels.size > MOST_LEVELS:
            raise InputError(
                f"column {name!r} has {labels.size:,} levels, more than {MOST_LEVELS:,}: slices "
                "need levels with many rows each. Merge the rare ones; the rows of one user or "
                "patient are a cluster."
            )
        else:
            names, code[known] = _names(labels), inside
    if not known.all():
        code[~known] = len(names)
        names = [*names, MISSING]
    return ColumnLevels(names, code)


def _with_numbers(column: Array) -> tuple[Array, Mask]:
    """Return a column, numbers among objects as numbers, and where it has a value."""
    if column.dtype.kind == "O":
        listed = column.tolist()
        known = np.fromiter((not _validation.is_missing(v) for v in listed), np.bool_, len(listed))
        if known.any() and all(_is_number(v) for v in column[known]):
            numbers = np.zeros(column.size)
            numbers[known] = column[known].astype(np.float64)
            return numbers, known
        return column, known
    if column.dtype.kind in "mM":
        return column, ~np.isnat(column)
    if column.dtype.kind == "f":
        return column, ~np.isnan(column)
    return column, np.ones(column.size, dtype=np.bool_)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _hashable(values: Array, name: str) -> Array:
    return _validation.as_names(values, f"column {name!r}")


def _names(labels: Array) -> list[str]:
    """Names of levels as they are shown, all different."""
    kind = labels.dtype.kind
    names = [f"{v:.15g}" if kind == "f" else visible(v) for v in labels.tolist()]
    if kind == "M":
        names = [str(v) for v in labels]
    return names if len(set(names)) == len(names) else [visible(repr(v)) for v in labels.tolist()]


def _at_quantiles(values: Array, quantiles: int) -> tuple[list[str], IntArray]:
    """Cut values into parts of about equally many rows; equal values stay together."""
    ascending = np.sort(values)
    places = values.size * np.arange(1, quantiles) // quantiles
    edges = np.unique(ascending[places])
    edges = edges[edges > ascending[0]]
    if not edges.size:  # more than one quantile at the smallest value
        edges = ascending[np.searchsorted(ascending, ascending[0], side="right")][np.newaxis]
    finite = ascending[np.isfinite(ascending)]
    shown = _shown(edges, finite[-1] - finite[0] if finite.size else np.inf)
    names = [f"under {shown[0]}"]
    names += [f"{low} to under {high}" for low, high in pairwise(shown)]
    return [*names, f"{shown[-1]} and over"], np.searchsorted(edges, values, side="right")


def _shown(edges: Array, span: Any) -> list[str]:
    """Edges with as few digits as are wrong by no more than a hundredth of the smallest part."""
    if edges.dtype.kind != "f":
        return [str(edge) for edge in edges]
    smallest = min([*np.diff(edges), span])
    for digits in _DIGITS:
        shown = [f"{edge:.{digits}g}" for edge in edges]
        if all(
            abs(float(text) - edge) <= _OFF * smallest
            for text, edge in zip(shown, edges, strict=True)
        ):
            break
    return shown

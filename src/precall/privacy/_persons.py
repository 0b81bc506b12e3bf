"""Rows that belong to one person, and are protected together (``PROOFS.md``, section 13)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_count, is_missing
from ..exceptions import InputError
from ._ledger import exact
from ._rows import SILENCE, as_cells
from .mechanisms import Noise

IntArray = npt.NDArray[np.int64]

# Up to here counts of pairs fit 64 bits and sums over rows keep the precision that the grid needs.
MOST_ROWS = 2**31
_PERSONS = (
    "person must be one-dimensional, say for every row whose it is, and be missing nowhere. "
    f"{SILENCE}"
)


def as_rows_per_person(value: object) -> int:
    """Return the rows by which a person is protected."""
    rows = as_count(value, "rows_per_person", minimum=1)
    if rows > MOST_ROWS:
        raise InputError(f"rows_per_person must be at most {MOST_ROWS}, got {rows}.")
    return rows


def row_share(epsilon: float, rows_per_person: int) -> Fraction:
    """The epsilon of one row, where so many of them cost `epsilon` together."""
    return exact(epsilon) / rows_per_person


@dataclass(frozen=True, eq=False)
class Persons:
    """Who is protected.

    Attributes
    ----------
    rows_per_person : int
        Rows of each person that a release is made from, or that nobody has more of.
    n_rows : int
        Public number of rows that a release is made from.
    codes : array of int or None
        The person of each row, from 0, if rows are to be drawn; None if the number of rows is
        vouched for.
    count : int or None
        Public number of persons, where `codes` are given.
    """

    rows_per_person: int
    n_rows: int
    codes: IntArray | None = None
    count: int | None = None

    def draw(self, noise: Noise, *columns: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
        """Take exactly `rows_per_person` rows of every person, at random and evenly.

        All of a person's rows come equally often, but for a remainder that is drawn. What is
        drawn of one person does not depend on any other.
        """
        if self.codes is None:
            return columns
        rows = self.rows_per_person
        order = np.lexsort((noise.words(self.codes.size), self.codes))
        owned = np.bincount(self.codes, minlength=self.count or 0)
        first = np.cumsum(owned) - owned
        place = np.arange(order.size) - np.repeat(first, owned)
        whole, rest = np.divmod(rows, np.repeat(owned, owned))
        drawn = np.repeat(order, whole + (place < rest))
        return tuple(column[drawn] for column in columns)


def read_persons(
    person: object, rows_per_person: int, n_rows: int, *, private_number: bool = False
) -> Persons:
    """Read whose rows they are, or an error that says nothing about any row.

    How many persons there are decides nothing if that is private.
    """
    if person is None:
        return Persons(rows_per_person, n_rows)
    cells = as_cells(person)
    if cells is None or cells.size != n_rows:
        raise InputError(_PERSONS)
    codes = _codes(cells)
    if codes is None:
        raise InputError(_PERSONS)
    count = int(codes.max(initial=-1)) + 1
    if count * rows_per_person > MOST_ROWS and not private_number:
        raise InputError(
            f"a private release is made for at most {MOST_ROWS} rows: take fewer rows_per_person."
        )
    return Persons(rows_per_person, count * rows_per_person, codes, count)


def _codes(cells: npt.NDArray[Any]) -> IntArray | None:
    """Number persons from 0; None if any is missing."""
    if cells.dtype.kind == "O":
        listed = cells.tolist()
        numbers: dict[Any, int] = {}
        try:
            if any(is_missing(value) for value in listed):
                return None
            return np.array([numbers.setdefault(v, len(numbers)) for v in listed], dtype=np.int64)
        except (TypeError, ValueError):
            return None
    if cells.dtype.kind not in "biufUSTM" or (cells != cells).any():
        return None
    return np.unique(cells, return_inverse=True)[1].astype(np.int64)

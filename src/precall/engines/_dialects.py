"""What databases do differently: names of types, rounding, and equality of text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..exceptions import InputError
from ._statements import Statement

# How a column of scores comes back, by the kind of its type.
SCORE_TYPES: dict[str, np.dtype[Any]] = {
    "boolean": np.dtype(np.uint8),
    "integer": np.dtype(np.int64),
    "unsigned": np.dtype(np.uint64),
    "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64),
    "decimal": np.dtype(np.float64),
}


@dataclass(frozen=True, kw_only=True)
class SqlDialect:
    """One database's SQL.

    Attributes
    ----------
    double, integer, unsigned : str
        Names of the types of 64 bits.
    type_of : str
        The type of ``{x}`` as text.
    each_row : bool
        Whether every row of a column may have a type of its own.
    kinds : mapping
        The kind of each type; one that is not there is "other".
    text : str
        ``{x}``, a text, so that two are equal only where every character is.
    decimal : str
        ``{x}``, a decimal number, as the nearest double.
    nearest : str
        ``{x}``, a double, rounded to a whole number; halves to the even one.
    longest : int, optional
        Bytes of the longest name; a longer one would be cut, and could be another's.
    folds_case : bool
        Whether quoted names that differ by case only are one.
    """

    name: str
    double: str
    integer: str
    unsigned: str
    type_of: str
    text: str
    decimal: str
    nearest: str
    kinds: Mapping[str, str] = field(repr=False)
    each_row: bool = False
    longest: int | None = None
    folds_case: bool = True

    def kind(self, types: Iterable[str]) -> str:
        """Return the kind of a column from the type of its rows, or their types."""
        kinds = {self.kinds.get(name.partition("(")[0].strip(), "other") for name in types}
        kinds.discard("null")
        if len(kinds) > 1:
            return "float64" if kinds <= {"integer", "float64"} else "other"
        return kinds.pop() if kinds else "float64"  # nothing but NULL

    def cast(self, expression: Statement, kind: str) -> Statement:
        """Return a column of numbers as a type that compares and comes back exactly."""
        template = {
            "boolean": f"CAST(CAST({{x}} AS INTEGER) AS {self.integer})",
            "integer": f"CAST({{x}} AS {self.integer})",
            "unsigned": f"CAST({{x}} AS {self.unsigned})",
            "decimal": self.decimal,
        }.get(kind, f"CAST({{x}} AS {self.double})")
        return Statement.compose(template, x=expression)

    def number_type(self, kind: str) -> str:
        """Name of the type that :meth:`cast` gives."""
        whole = {"boolean": self.integer, "integer": self.integer, "unsigned": self.unsigned}
        return whole.get(kind, self.double)


def _kinds(**names: str) -> dict[str, str]:
    return {name: kind for kind, listed in names.items() for name in listed.split(", ")}


_POSTGRESQL = SqlDialect(
    name="PostgreSQL",
    double="DOUBLE PRECISION",
    integer="BIGINT",
    unsigned="NUMERIC",
    type_of="CAST(pg_typeof({x}) AS TEXT)",
    text='CAST({x} AS TEXT) COLLATE "C"',
    decimal="CAST({x} AS DOUBLE PRECISION)",
    nearest="ROUND({x})",
    kinds=_kinds(
        boolean="boolean",
        integer="smallint, integer, bigint",
        float32="real",
        float64="double precision",
        decimal="numeric",
        text='text, character varying, character, name, "char", citext',
    ),
    longest=63,
    folds_case=False,
)

_DUCKDB = SqlDialect(
    name="DuckDB",
    double="DOUBLE",
    integer="BIGINT",
    unsigned="UBIGINT",
    type_of="typeof({x})",
    # The bytes of a text know nothing of a collation.
    text="encode(CAST({x} AS VARCHAR))",
    # Reading the digits rounds correctly; the direct cast does not always.
    decimal="CAST(CAST({x} AS VARCHAR) AS DOUBLE)",
    nearest="round_even({x}, 0)",
    kinds=_kinds(
        boolean="BOOLEAN",
        integer="TINYINT, SMALLINT, INTEGER, BIGINT, HUGEINT, UTINYINT, USMALLINT, UINTEGER",
        unsigned="UBIGINT, UHUGEINT",
        float32="FLOAT",
        float64="DOUBLE",
        decimal="DECIMAL",
        text="VARCHAR, ENUM",
        null='"NULL", NULL',
    ),
)

_SQLITE = SqlDialect(
    name="SQLite",
    double="REAL",
    integer="INTEGER",
    unsigned="INTEGER",
    type_of="typeof({x})",
    # The result of a function has no collation.
    text="COALESCE({x}, NULL)",
    decimal="CAST({x} AS REAL)",
    # A cast cuts towards zero; what it cuts off is exact.
    nearest=(
        "(CAST({x} AS INTEGER) + CASE"
        " WHEN {x} - CAST({x} AS INTEGER) > 0.5 THEN 1"
        " WHEN {x} - CAST({x} AS INTEGER) < -0.5 THEN -1"
        " WHEN {x} - CAST({x} AS INTEGER) IN (0.5, -0.5) THEN CAST({x} AS INTEGER) % 2"
        " ELSE 0 END)"
    ),
    kinds=_kinds(integer="integer", float64="real", text="text", blob="blob", null="null"),
    each_row=True,
)

DIALECTS = {each.name: each for each in (_POSTGRESQL, _DUCKDB, _SQLITE)}


def dialect_of(name: str) -> SqlDialect:
    """Return a dialect by the name of its database."""
    found = DIALECTS.get(name)
    if found is None:
        raise InputError(
            f"connection is to {name}, and this engine counts in {', '.join(DIALECTS)}: export "
            "the columns to Parquet and use precall.engines.arrow."
        )
    return found

"""Connections of many drivers, asked in one way: a statement goes in, columns come back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

from ..exceptions import InputError
from ._dialects import SqlDialect, dialect_of
from ._statements import Statement

# Rows that a driver hands over at a time.
_FETCHED = 50_000
# Where each driver's connections come from: the database, and how a place for a value is written.
_DRIVERS = {
    "sqlite3": ("SQLite", "?"),
    "duckdb": ("DuckDB", "?"),
    "_duckdb": ("DuckDB", "?"),
    "psycopg": ("PostgreSQL", "%s"),
}


@dataclass(frozen=True, kw_only=True)
class Database:
    """A connection, its SQL, and how it writes the place of a value."""

    connection: Any
    dialect: SqlDialect
    placeholder: str

    @classmethod
    def of(cls, connection: Any) -> Database:
        """Find out which driver a connection belongs to."""
        module = _module(connection)
        if module == "sqlalchemy":
            if not hasattr(connection, "exec_driver_sql"):
                raise InputError(
                    f"connection must be a connection, got SQLAlchemy's {type(connection).__name__}"
                    ": pass engine.connect(), or session.connection()."
                )
            return cls.of(connection.connection.driver_connection)
        if module == "adbc_driver_manager" and hasattr(connection, "adbc_get_info"):
            name = connection.adbc_get_info()["vendor_name"]
            placeholder = "$" if name == "PostgreSQL" else "?"
            return cls(connection=connection, dialect=dialect_of(name), placeholder=placeholder)
        if module not in _DRIVERS or not hasattr(connection, "cursor"):
            known = "sqlite3, duckdb, psycopg, SQLAlchemy or ADBC"
            raise InputError(
                f"connection must be an open connection of {known}, got "
                f"{type(connection).__module__}.{type(connection).__name__}."
            )
        name, placeholder = _DRIVERS[module]
        return cls(connection=connection, dialect=dialect_of(name), placeholder=placeholder)

    def names(self, statement: Statement) -> list[str]:
        """Return the names of the columns that a statement gives."""
        return self._asked(statement, lambda cursor: [each[0] for each in cursor.description])

    def rows(self, statement: Statement) -> list[tuple[Any, ...]]:
        """Return the few rows that a statement gives."""
        return self._asked(statement, lambda cursor: cursor.fetchall())

    def columns(self, statement: Statement) -> list[Any]:
        """Return the columns of the many rows that a statement gives."""
        return self._asked(statement, _columns)

    def _asked(self, statement: Statement, read: Callable[[Any], list[Any]]) -> list[Any]:
        text, values = statement.rendered(self.placeholder)
        try:
            with self._cursor() as cursor:
                cursor.execute(text, values)
                return read(cursor)
        except self._error as error:
            self._refuse(error)

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        """Give a cursor whose rows are tuples, whatever the connection makes of rows."""
        connection = self.connection
        module = _module(connection)
        if module in ("duckdb", "_duckdb"):
            # A cursor would be another connection: without temporary tables and registered frames.
            yield connection
            return
        if module == "psycopg":
            from psycopg.rows import tuple_row

            cursor = connection.cursor(row_factory=tuple_row)
        else:
            cursor = connection.cursor()
            if module == "sqlite3":
                cursor.row_factory = None
        try:
            yield cursor
        finally:
            cursor.close()

    @property
    def _error(self) -> type[Exception]:
        """The base of all errors of the driver (PEP 249)."""
        error: type[Exception] = _driver_module(self.connection).Error
        return error

    def _refuse(self, error: Exception) -> NoReturn:
        said = str(error).strip().partition("\n")[0]
        if getattr(self.connection, "closed", False):
            raise InputError(
                f"the connection to {self.dialect.name} was lost or closed ({said}): connect "
                "again and rank again; nothing was counted."
            ) from error
        raise InputError(f"{self.dialect.name} refused the query ({said}).") from error

    @contextmanager
    def as_found(self) -> Iterator[None]:
        """Leave no transaction behind where there was none before."""
        connection = self.connection
        idle = False
        if _module(connection) == "psycopg":
            from psycopg.pq import TransactionStatus

            idle = connection.info.transaction_status == TransactionStatus.IDLE
        try:
            yield
        finally:
            if idle and not connection.closed:
                connection.rollback()


def _columns(cursor: Any) -> list[Any]:
    columns: list[list[Any]] = [[] for _ in cursor.description]
    while found := cursor.fetchmany(_FETCHED):
        for column, values in zip(columns, zip(*found, strict=True), strict=True):
            column.extend(values)
    return columns


def _module(connection: Any) -> str:
    """The library that a connection is of, a subclass of somebody else's included."""
    known = {*_DRIVERS, "sqlalchemy", "adbc_driver_manager"}
    names = [kind.__module__.partition(".")[0] for kind in type(connection).__mro__]
    return next((name for name in names if name in known), names[0])


def _driver_module(connection: Any) -> Any:
    return sys.modules[_module(connection)]

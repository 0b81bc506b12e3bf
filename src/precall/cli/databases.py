"""A table of a database in place of a file: opened to be read, counted by the database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np

from .._optional import require
from ..exceptions import InputError
from ..readers.columns import Roles
from ..readers.label_columns import numeric_label
from ..readers.messages import shown
from ..readers.names import MISSING, positions
from .moving import spinner

# Thresholds that are kept in all groups together: a row each, which the database makes and sends.
_MOST_KEPT = 2_000_000
_ADDRESS = re.compile(r"(duckdb|sqlite|postgresql|postgres)://", re.IGNORECASE)


def is_database(source: object) -> bool:
    """Return whether FILE is the address of a database."""
    return isinstance(source, str) and _ADDRESS.match(source) is not None


def public_name(source: str) -> str:
    """Return an address without what may be secret in it: the user, the password, the options."""
    scheme, _, rest = source.partition("://")
    place = rest.partition("?")[0].partition("#")[0].rpartition("@")[2]
    return f"{scheme}://{place}"


@contextmanager
def opened_database(source: str) -> Iterator[Any]:
    """Connect to a database, to read from it."""
    scheme = source.partition("://")[0].lower()
    open_it = {"duckdb": _duckdb, "sqlite": _sqlite}.get(scheme, _postgresql)
    with closing(open_it(source)) as connection:
        yield connection


def _file(source: str) -> Path:
    """The file of an address: after three slashes a relative one, after four an absolute one."""
    host, _, name = source.partition("://")[2].partition("/")
    path = Path(unquote(name))
    if host or not name:
        raise InputError(
            f"FILE {shown(public_name(source))} names no database: write three slashes before a "
            "relative path and four before an absolute one, as in duckdb:///scores.db."
        )
    if not path.is_file():
        raise InputError(f"{shown(str(path))} does not exist, or is not a file.")
    return path


def _duckdb(source: str) -> Any:
    path = _file(source)
    require("duckdb", "this database", "sql")
    import duckdb

    try:
        return duckdb.connect(str(path), read_only=True)
    except duckdb.Error as error:
        raise _no_connection(source, error) from error


def _sqlite(source: str) -> Any:
    import sqlite3

    path = _file(source).absolute()
    try:
        return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise _no_connection(source, error) from error


def _postgresql(source: str) -> Any:
    try:
        import psycopg
    except ImportError:
        raise InputError(
            "a PostgreSQL database needs psycopg, which is not installed: pip install "
            '"psycopg[binary]".'
        ) from None
    try:
        connection = psycopg.connect(source)
    except psycopg.Error as error:
        raise _no_connection(source, error) from error
    # Every query sees the rows that were there when the first one ran.
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    return connection


def _no_connection(source: str, error: Exception) -> InputError:
    said = str(error).strip().partition("\n")[0]
    if "URI" in said or "invalid" in said:  # it would quote the address, which may hold a password
        said = "the address is not well formed"
    return InputError(f"{shown(public_name(source))} cannot be opened ({said}).")


def ranked_in_database(
    source: str, table: str | None, roles: Roles, thresholds: tuple[float, ...] = ()
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Rank every score of a table, and every group where there are any."""
    with counted_in_database(source, table, roles) as counted:
        rankings = counted.rankings(thresholds)
        if roles.group is None:
            return rankings, None
        return rankings, counted.groups((roles.group,), rankings)


@contextmanager
def counted_in_database(source: str, table: str | None, roles: Roles) -> Iterator[CountedTable]:
    """Open a table to count it, saying so on a terminal."""
    if table is None:
        raise InputError("which table of the database? Name it with --table.")
    if roles.cluster is not None:
        raise InputError("--cluster needs all rows in memory: write the columns to a file first.")
    with spinner() as say, opened_database(source) as connection:
        say("counting in the database")
        label = _positive_label(connection, table, roles)
        yield CountedTable(connection, table, roles, label)


class CountedTable(NamedTuple):
    """A table that its database counts."""

    connection: Any
    table: str
    roles: Roles
    pos_label: Any

    @property
    def _columns(self) -> dict[str, Any]:
        roles = self.roles
        return {
            "label": roles.label,
            "weight": roles.weight,
            "pos_label": self.pos_label,
            "one_against_rest": roles.pos_label is not None,
        }

    def rankings(self, thresholds: tuple[float, ...] = ()) -> dict[str, Any]:
        """Rank every score."""
        from ..engines import sql

        return {
            name: sql.rank(
                self.connection, (self.table,), score=name, thresholds=thresholds, **self._columns
            )
            for name in self.roles.scores
        }

    def levels(self, group: tuple[str, ...]) -> int:
        """Return how many groups there are."""
        from ..engines._database import Database
        from ..engines._statements import Statement, quoted

        asked = Statement.compose(
            "SELECT COUNT(*) FROM (SELECT DISTINCT {names} FROM {table} AS source) AS levels",
            names=Statement.listed(map(quoted, group)),
            table=quoted(self.table),
        )
        database = Database.of(self.connection)
        with database.as_found():
            [(count,)] = database.rows(asked)
        return int(count)

    def groups(self, group: tuple[str, ...], rankings: dict[str, Any]) -> dict[str, Any]:
        """Rank every score by group, and count the groups where their rests can be subtracted.

        Not where there are too many thresholds for one query, or too many in all groups together:
        then the groups have no rests.
        """
        from ..engines import sql
        from ..groups.slices_of_rankings import rest_thresholds

        found = {}
        for name, ranking in rankings.items():
            kept = rest_thresholds(ranking)
            if kept.size > min(sql.MOST_THRESHOLDS, _MOST_KEPT // max(self.levels(group), 1)):
                kept = kept[:0]
            found[name] = _named(
                sql.rank_groups(
                    self.connection,
                    (self.table,),
                    score=name,
                    group=group,
                    thresholds=kept.tolist(),
                    missing_groups=True,
                    **self._columns,
                )
            )
        return found


def _positive_label(connection: Any, table: str, roles: Roles) -> Any:
    """The positive label in the type of its column, as for files."""
    from ..engines._columns import Request
    from ..engines._database import Database
    from ..engines._table import Table

    request = Request(label=roles.label, score=roles.scores[0])
    kinds = Table.of(Database.of(connection), (table,), request).kinds
    if kinds["label"] != "text":
        return numeric_label(roles.pos_label, f"label column {shown(roles.label)}")
    if roles.pos_label is None:
        raise InputError(
            f"label column {shown(roles.label)} holds words: say which one is positive with "
            "pos_label=."
        )
    return str(roles.pos_label)


def _named(rankings: Any) -> Any:
    """Groups as names, in the order in which they are shown; crossed ones are tuples of names."""
    labels = rankings.labels.tolist()
    if not isinstance(labels[0], tuple):
        names = [_name(label) for label in labels]
        return replace(rankings, labels=np.array(names, dtype=object)).select(positions(names))
    crossed = [tuple(map(_name, label)) for label in labels]
    from ..ranking.grouping import as_group_labels

    return replace(rankings, labels=as_group_labels(crossed))


def _name(label: object) -> str:
    return MISSING if label is None else str(label)

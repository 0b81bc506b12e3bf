"""Tables of databases: counted where they are, by the database itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._validation import as_count, as_flag
from ..exceptions import InputError
from ..ranking import Ranking
from ..ranking.direction import warn_if_worse_than_random
from ..ranking.kept_thresholds import as_thresholds
from ..ranking.ranking_set import RankingSet
from ._columns import Request
from ._counted import Counted
from ._database import Database
from ._table import Table

#: A database takes only so many values with one query.
MOST_THRESHOLDS = 10_000


def rank(
    connection: Any,
    table_or_query: object,
    *,
    label: str,
    score: str,
    weight: str | None = None,
    pos_label: object = 1,
    one_against_rest: bool = False,
    thresholds: object = (),
    missed_positives: int = 0,
) -> Ranking:
    """Rank a table, a view or the result of a query, exactly, inside the database.

    The database sorts and counts (``GROUP BY`` and one window function): one row comes back for
    each distinct score of a positive. The result is that of :func:`precall.rank` on all rows.

    Parameters
    ----------
    connection : open connection
        Of sqlite3, DuckDB or psycopg (PostgreSQL), directly or through SQLAlchemy or ADBC.
    table_or_query : str, or tuple of str
        The name of a table, or a query: text that begins with ``SELECT``, ``WITH``, ``VALUES`` or
        ``FROM``. A name is taken literally, dots included; a tuple is always one, such as
        ``("schema", "table")``.
    label, score, weight : str
        Names of columns, exactly as the database shows them.
    pos_label : label, default 1
        The label of the positive class.
    one_against_rest : bool, default False
        Whether every label but `pos_label` is negative; if not, a third label is refused.
    thresholds, missed_positives
        As in :func:`precall.rank`.

    Returns
    -------
    Ranking

    Raises
    ------
    InputError
        For what :func:`precall.rank` rejects, for columns that are not there or hold something
        else than numbers, and for what the database refuses, its words included.

    Notes
    -----
    Names are quoted and values are bound: nothing is pasted into a query. NaN and NULL are missing
    values, infinities rank first or last, integers are compared as integers, and decimals as the
    nearest floating-point numbers, as everywhere in this library. Weights are added up as whole
    numbers, so that no order of the rows changes a sum.

    Three queries read the table: what is in it, the counts, and the moments of the scores. All
    counts come from one of them; rows that change in between are noticed by their numbers, and
    refused. A transaction (``REPEATABLE READ`` in PostgreSQL) makes all of them see the same rows.

    Examples
    --------
    >>> import sqlite3
    >>> from precall.engines import sql
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.execute("CREATE TABLE scores (y INTEGER, s REAL)")
    >>> rows = [(1, 0.9), (0, 0.8), (1, 0.7), (0, 0.1)]
    >>> _ = connection.executemany("INSERT INTO scores VALUES (?, ?)", rows)
    >>> sql.rank(connection, "scores", label="y", score="s")
    Ranking(n_pos=2, n_neg=2, prevalence=0.5, thresholds=2, tied=0 %)
    >>> connection.close()
    """
    request = Request(
        label=label,
        score=score,
        weight=weight,
        pos_label=pos_label,
        one_against_rest=one_against_rest,
    )
    missed = as_count(missed_positives, "missed_positives")
    as_thresholds(thresholds, np.dtype(np.float64))  # what is wrong with them, before any query
    database = Database.of(connection)
    with database.as_found():
        table = Table.of(database, table_or_query, request)
        survey = table.survey()
        counted = Counted.of(table, survey, _kept(thresholds, table))
        ranking = counted.ranking(table.moments)
    warn_if_worse_than_random(ranking)
    return replace(ranking, missed=missed) if missed else ranking


def rank_groups(
    connection: Any,
    table_or_query: object,
    *,
    label: str,
    score: str,
    group: str | Sequence[str],
    weight: str | None = None,
    pos_label: object = 1,
    one_against_rest: bool = False,
    thresholds: object = (),
    missing_groups: bool = False,
) -> RankingSet:
    """Rank every group of a table, a view or the result of a query, inside the database.

    Parameters
    ----------
    group : str, or sequence of str
        Name of the column of groups: each of its values is ranked by itself. With several columns,
        each combination of their values that occurs; its label is a tuple.
    missing_groups : bool, default False
        Whether rows without a group (NULL or NaN) are a group too, labelled None. Otherwise they
        are refused.
    connection, table_or_query, label, score, weight, pos_label, one_against_rest, thresholds
        As in :func:`rank`; `thresholds` are kept in every group.

    Returns
    -------
    RankingSet
        One ranking per group.

    Examples
    --------
    >>> import sqlite3
    >>> from precall.engines import sql
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.execute("CREATE TABLE scores (y INTEGER, s REAL, land TEXT, device TEXT)")
    >>> rows = [(1, 0.9, "DE", "phone"), (0, 0.8, "DE", "phone"), (1, 0.7, "FR", None)]
    >>> _ = connection.executemany("INSERT INTO scores VALUES (?, ?, ?, ?)", rows)
    >>> crossed = sql.rank_groups(
    ...     connection,
    ...     "scores",
    ...     label="y",
    ...     score="s",
    ...     group=["land", "device"],
    ...     missing_groups=True,
    ... )
    >>> crossed.labels.tolist()
    [('DE', 'phone'), ('FR', None)]
    >>> connection.close()
    """
    names = _column_names(group)
    request = Request(
        label=label,
        score=score,
        weight=weight,
        group=names[0],
        pos_label=pos_label,
        one_against_rest=one_against_rest,
        crossed=tuple(names[1:]),
        missing_groups=as_flag(missing_groups, "missing_groups"),
    )
    as_thresholds(thresholds, np.dtype(np.float64))  # what is wrong with them, before any query
    database = Database.of(connection)
    with database.as_found():
        table = Table.of(database, table_or_query, request)
        survey = table.survey()
        return Counted.of(table, survey, _kept(thresholds, table)).ranking_set()


def _column_names(group: object) -> list[str]:
    names = list(group) if isinstance(group, (list, tuple)) else [group]
    named = [name for name in names if isinstance(name, str)]
    if not names or len(set(named)) < len(names):
        raise InputError(
            f"group must be the name of a column, or a list of different ones, got {group!r}."
        )
    return named


def _kept(thresholds: object, table: Table) -> Any:
    """Thresholds in the type of the scores."""
    kept = as_thresholds(thresholds, table.dtype)
    if kept.size > MOST_THRESHOLDS:
        raise InputError(
            f"thresholds must be at most {MOST_THRESHOLDS}, got {kept.size}: each is sent to the "
            "database."
        )
    return kept

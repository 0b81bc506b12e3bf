"""Dask data frames and delayed partitions, on any client."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from .._optional import require
from ..exceptions import InputError
from ..ranking import Ranking
from ..ranking.ranking_set import RankingSet
from ..ranking.scored_rows import ScoredRows
from ._columns import Request, read_pieces
from ._scored import ScoreRequest, scored_rows
from ._twopass import Run, rank_in_two_passes

# Results added up in one step of the tree.
_FAN_IN = 8
_ROWS = 1_000_000


def rank(
    data: Any,
    *,
    label: str,
    score: str,
    weight: str | None = None,
    pos_label: object = 1,
    one_against_rest: bool = False,
    max_rows: int | None = None,
    thresholds: object = (),
    missed_positives: int = 0,
) -> Ranking:
    """Rank a Dask data frame, exactly, where its partitions are.

    Two passes: the workers collect the distinct scores of positives, then count negatives on and
    between them; results are added up as a tree. The result is that of :func:`precall.rank` on
    all rows, to the last bit for counts. Only scores of positives and counts leave a worker.

    Parameters
    ----------
    data : dask.dataframe.DataFrame, or list of delayed partitions
        Partitions are pandas data frames, or anything that PyArrow can read as a table.
    label, score, weight, pos_label, one_against_rest
        As in :func:`precall.engines.arrow.rank`.
    max_rows : int, optional
        Coarsen the result to this many rows. Beyond eight times as many distinct
        positive scores, thresholds are approximate quantiles of them, chosen by the workers; the
        counts on them are exact, and :func:`precall.tie_bounds` contains the exact value.
    thresholds, missed_positives
        As in :func:`precall.rank`; only without `max_rows`.

    Returns
    -------
    Ranking

    Raises
    ------
    InputError
        For what :func:`precall.rank` rejects, with the count over all partitions.

    Notes
    -----
    The data are read twice, so that no worker needs to hold them in between: call
    ``data.persist()`` first if they fit and are slow to compute. The current client runs the
    work, or Dask's local threads without one. A task that is lost with its worker is repeated by
    Dask; tasks only return their counts, so nothing is counted twice.

    Examples
    --------
    >>> import pandas as pd, dask, dask.dataframe as dd
    >>> from precall.engines import dask as engine
    >>> frame = pd.DataFrame({"y": [1, 0, 1, 0], "s": [0.9, 0.8, 0.7, 0.1]})
    >>> with dask.config.set(scheduler="synchronous"):
    ...     engine.rank(dd.from_pandas(frame, npartitions=2), label="y", score="s")
    Ranking(n_pos=2, n_neg=2, prevalence=0.5, thresholds=2, tied=0 %)
    """
    request = Request(
        label=label,
        score=score,
        weight=weight,
        group=None,
        pos_label=pos_label,
        one_against_rest=one_against_rest,
    )
    kept = {"thresholds": thresholds, "missed_positives": missed_positives}
    ranking: Ranking = _ranked(data, request, max_rows, kept)
    return ranking


def rank_groups(
    data: Any,
    *,
    label: str,
    score: str,
    group: str,
    weight: str | None = None,
    pos_label: object = 1,
    one_against_rest: bool = False,
    max_rows: int | None = None,
) -> RankingSet:
    """Rank every group of a Dask data frame, exactly.

    Parameters
    ----------
    group : str
        Name of the column of groups: each of its values is ranked by itself.
    data, label, score, weight, pos_label, one_against_rest, max_rows
        As in :func:`rank`; `max_rows` is per group.

    Returns
    -------
    RankingSet
        One ranking per group.
    """
    request = Request(
        label=label,
        score=score,
        weight=weight,
        group=group,
        pos_label=pos_label,
        one_against_rest=one_against_rest,
    )
    rankings: RankingSet = _ranked(data, request, max_rows)
    return rankings


def scores(data: Any, *, score: str, keep: Sequence[str] = ()) -> ScoredRows:
    """Scores of all rows of a Dask data frame, labelled or not, where its partitions are.

    Parameters
    ----------
    data
        As in :func:`rank`.
    score : str
        Name of the column of scores.
    keep : sequence of str
        Names of columns to show beside the rows that a plan chooses, such as an identifier.

    Returns
    -------
    ScoredRows
        For :func:`precall.audit.plan_of` and :func:`precall.audit.sample_of`, which read the data
        about five times: ``data.persist()`` first if that is slow.
    """
    request = ScoreRequest.of(score, keep)
    return scored_rows(_runner(data, request), request)


def _ranked(
    data: Any, request: Request, max_rows: int | None, asked: Mapping[str, Any] | None = None
) -> Any:
    """Rank all rows, or every group of them; `asked` are thresholds and missed positives."""
    return rank_in_two_passes(_runner(data, request), request, max_rows, **(asked or {}))


def _runner(data: Any, request: Request) -> Run:
    """Return what applies a task to each partition and adds up the results."""
    require("dask", "this engine", "dask")
    import dask.config
    from dask.base import compute
    from dask.delayed import delayed

    parts = _partitions(data, request)

    def run(task: Any) -> Any:
        # The task is a node of the graph, not a copy in each: workers hand it on to each other,
        # and the scheduler can make it again if the worker that holds it is lost.
        shared = delayed(task, traverse=False)
        work, add_up = delayed(_work), delayed(_add)
        states = [work(shared, part, request, shard) for shard, part in enumerate(parts)]
        while len(states) > 1:
            states = [add_up(states[i : i + _FAN_IN]) for i in range(0, len(states), _FAN_IN)]
        # Thresholds of millions of positives make a large graph, and they are meant to.
        quiet = {"distributed.admin.large-graph-warning-threshold": "1TB"}
        with dask.config.set(quiet if "distributed" in sys.modules else {}):
            return compute(states[0])[0]  # type: ignore[no-untyped-call]

    return run


def _partitions(data: Any, request: Request) -> list[Any]:
    if hasattr(data, "to_delayed") and hasattr(data, "columns"):
        request.check(data.columns)
        parts = data[list(dict.fromkeys(request.columns.values()))].to_delayed()
        return list(parts)
    if isinstance(data, (list, tuple)) and data and all(hasattr(part, "dask") for part in data):
        return list(data)
    raise InputError(
        "data must be a Dask data frame or a list of delayed partitions, got "
        f"{type(data).__name__}: use precall.rank for data in memory."
    )


def _work(task: Any, part: Any, request: Request, shard: int) -> Any:
    return task(read_pieces([_table(part, request)], request, shard, _ROWS))


def _add(states: list[Any]) -> Any:
    return reduce(add, states)


def _table(part: Any, request: Request) -> Any:
    """The columns of a partition in the order of their roles."""
    import pyarrow as pa

    if not hasattr(part, "columns") or isinstance(part, pa.Table):
        part = pa.table(part)
        names = part.column_names
    else:
        names = list(part.columns)
    request.check(names)
    try:
        columns = [
            part[name] if isinstance(part, pa.Table) else pa.Array.from_pandas(part[name])
            for name in request.columns.values()
        ]
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(f"a column holds values of more than one kind ({error}).") from error
    return pa.Table.from_arrays(columns, names=list(request.columns))

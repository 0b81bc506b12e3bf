"""PySpark data frames, through Arrow batches."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import add
from typing import Any, NamedTuple

from .._optional import require
from ..exceptions import InputError, MemoryLimitError
from ..ranking import Ranking
from ..ranking.ranking_set import RankingSet
from ..ranking.scored_rows import ScoredRows
from ._columns import Request, read_piece, read_pieces
from ._scored import ScoreRequest, scored_rows
from ._twopass import Run, rank_in_two_passes

# Results of partitions added up in one step of the tree.
_FAN_IN = 32
_ROWS = 1_000_000
# Bytes of thresholds that go to a Connect server with the query: it takes 128 MiB at a time.
_MOST_SENT = 96 * 2**20
# What tasks send: a number, where they are in the tree, and a state that adds to those alike.
_SCHEMA = "part int, branch int, state binary"


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
    """Rank a PySpark data frame, exactly, where its partitions are.

    Two passes: the executors collect the distinct scores of positives, which are broadcast, and
    then count negatives on and between them; results are added up on the executors as a tree.
    The result is that of :func:`precall.rank` on all rows, to the last bit for counts. No row
    of the data is collected: only scores of positives and counts leave an executor.

    Parameters
    ----------
    data : pyspark.sql.DataFrame
        Of a classic session or of Spark Connect.
    label, score, weight, pos_label, one_against_rest
        As in :func:`precall.engines.arrow.rank`. Names are taken literally, dots and backticks
        included.
    max_rows : int, optional
        Coarsen the result to this many rows. Beyond eight times as many distinct
        positive scores, thresholds are approximate quantiles of them, chosen by the executors; the
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
    The data are computed twice: ``data.cache()`` first if that is slow or not repeatable.
    Precall must be installed on the executors. On a Spark Connect session, which has no broadcast,
    the scores of positives go to the server with the query, up to 96 MiB of them. A task that fails
    is repeated by Spark; tasks only return their counts (no accumulators), so nothing is counted
    twice.
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
    """Rank every group of a PySpark data frame, exactly.

    Parameters
    ----------
    group : str
        Name of the column of groups: each of its values is ranked by itself.
    data, label, score, weight, pos_label, one_against_rest, max_rows
        As in :func:`rank`; `max_rows` is per group. Groups are partitioned: the
        counts of a group are added up in one place.

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
    """Scores of all rows of a PySpark data frame, labelled or not, where its partitions are.

    Parameters
    ----------
    data
        As in :func:`rank`.
    score : str
        Name of the column of scores.
    keep : sequence of str
        Names of columns to show beside the rows that a plan chooses. Rows of a Spark data frame
        have no numbers, so a plan needs one that identifies them.

    Returns
    -------
    ScoredRows
        For :func:`precall.audit.plan_of` and :func:`precall.audit.sample_of`, which compute the
        data about five times: ``data.cache()`` first if that is slow or not repeatable.
    """
    request = ScoreRequest.of(score, keep)
    return scored_rows(_runner(data, request), request, ordered=False)


def _ranked(
    data: Any, request: Request, max_rows: int | None, asked: Mapping[str, Any] | None = None
) -> Any:
    """Rank all rows, or every group of them; `asked` are thresholds and missed positives."""
    return rank_in_two_passes(_runner(data, request), request, max_rows, **(asked or {}))


def _runner(data: Any, request: Request) -> Run:
    """Return what applies a task to each partition and adds up the results."""
    require("pyspark", "this engine", "spark")
    if not hasattr(data, "mapInArrow"):
        raise InputError(
            f"data must be a PySpark data frame, got {type(data).__name__}: "
            "use precall.rank for data in memory."
        )
    request.check(data.columns)
    col = _functions(data).col
    chosen = data.select(
        *(col(_quoted(name)).alias(role) for role, name in request.columns.items())
    )
    read_piece(chosen.limit(0).toArrow(), request, 0, 0)  # columns of a wrong type fail here

    def run(task: Any) -> Any:
        with _shared(data, task) as shared:
            found = chosen.mapInArrow(_worker(shared, request), _SCHEMA)
            for level in ("floor(branch / {})", "0"):
                branch = level.format(_FAN_IN)
                found = (
                    found.selectExpr("part", f"int({branch}) AS branch", "state")
                    .groupBy("part", "branch")
                    .applyInArrow(_added, _SCHEMA)
                )
            states = [pickle.loads(row.state) for row in found.collect()]
        return reduce(add, states, task.start())

    return run


def _is_remote(data: Any) -> bool:
    """Return whether a frame is of Spark Connect, whose session has no Spark context."""
    return type(data).__module__.startswith("pyspark.sql.connect.")


def _functions(data: Any) -> Any:
    """The functions that make columns for a frame: each kind of session has its own."""
    if _is_remote(data):
        from pyspark.sql.connect import functions as remote

        return remote
    from pyspark.sql import functions

    return functions


def _quoted(name: str) -> str:
    """A column by its literal name: dots are no paths, and backticks are doubled."""
    escaped = name.replace("`", "``")
    return f"`{escaped}`"


class _Sent(NamedTuple):
    """A task that goes to the executors inside the function that runs it."""

    value: Any


@contextmanager
def _shared(data: Any, task: Any) -> Iterator[Any]:
    """Give every executor the task as ``.value``: broadcast, or sent with the query."""
    if not _is_remote(data):
        broadcast = data.sparkSession.sparkContext.broadcast(task)
        try:
            yield broadcast
        finally:
            broadcast.unpersist()
        return
    size = len(pickle.dumps(task, protocol=5))
    if size > _MOST_SENT:
        raise MemoryLimitError(
            f"the distinct scores of positives take {size / 2**20:.0f} MiB, and a Spark Connect "
            f"server takes {_MOST_SENT / 2**20:.0f} with a query: pass max_rows= (for example "
            "max_rows=100_000) for a coarsened ranking with certified bounds, or use a classic "
            "session."
        )
    yield _Sent(task)


def _worker(shared: Any, request: Request) -> Any:
    def work(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        shard = context.partitionId() if context is not None else 0
        state = shared.value(read_pieces(batches, request, shard, _ROWS))
        for part, piece in state.split():
            yield _row(part, shard, piece)

    return work


def _added(table: Any) -> Any:
    import pyarrow as pa

    states = (pickle.loads(state) for state in table["state"].to_pylist())
    total = reduce(add, states)
    row = _row(table["part"][0].as_py(), table["branch"][0].as_py(), total)
    return pa.Table.from_batches([row])


def _row(part: int, branch: int, state: Any) -> Any:
    import pyarrow as pa

    columns = [
        pa.array([part], pa.int32()),
        pa.array([branch], pa.int32()),
        pa.array([pickle.dumps(state, protocol=5)], pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, names=["part", "branch", "state"])

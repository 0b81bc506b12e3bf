"""Files larger than memory: Parquet, Feather, CSV and JSON lines through PyArrow."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from weakref import finalize

from .._optional import require
from .._validation import as_count
from ..exceptions import InputError
from ..ranking import Ranking
from ..ranking.builder import RankingBuilder
from ..ranking.ranking_set import RankingSet
from ..ranking.scored_rows import ScoredRows
from ..readers.options import ReadOptions
from ._census import Room
from ._columns import Request
from ._held import can_be_held, rank_held
from ._lanes import LANES, Meter, Progress, pieces_of, row_count, run_in_lanes
from ._paired import PairedRequest, changed, read_paired
from ._scored import ScoreRequest, scored_rows
from ._sources import Source, open_source, spooled
from ._streams import stream_of
from ._twopass import TakeCensus, rank_in_two_passes

# A quarter of the memory is for rows in work: bytes that one takes, as read, split by class and
# sorted, and what a weight or a group adds to it.
_SHARE_OF_ROWS = 4
_BYTES_PER_ROW, _BYTES_PER_COLUMN = 110, 50
# Bytes per score that a thread of the first pass holds, with those that wait and while sorting.
_BYTES_PER_SCORE = 64
# Bytes per score that a thread keeps after thinning: up to twice as many are held before, others
# wait, and both are sorted together with their numbers.
_BYTES_PER_THINNED = 300
_FEWEST_ROWS, _MOST_ROWS = 1_000, 1_000_000


def rank(
    data: object,
    *,
    label: str,
    score: str,
    weight: str | None = None,
    pos_label: object = 1,
    one_against_rest: bool = False,
    max_rows: int | None = None,
    thresholds: object = (),
    missed_positives: int = 0,
    memory: int = 512 * 2**20,
    progress: Progress | None = None,
    options: ReadOptions | None = None,
) -> Ranking:
    """Rank data on disk, exactly, in bounded memory.

    Two passes over the columns asked for: the first collects the distinct scores of positives, the
    second counts negatives on and between them. Files whose rows fit into `memory` (about 16
    million by default, unless many of them are positive) are read once. The result is the one that
    :func:`precall.rank` gives with all rows in memory: the same counts to the last bit.

    Parameters
    ----------
    data : path, glob, folder, list of paths, data set, table, reader, lazy frame or function
        Files by their ending: Parquet (``.parquet``, ``.pq``), Arrow (``.feather``, ``.arrow``,
        ``.ipc``), ``.csv``, ``.tsv``, JSON lines or an array (``.jsonl``, ``.json``), compressed
        or not. A folder is read with everything below it; directory names such as ``day=3``
        become columns. Groups of text files are text. A function is called once per pass and
        returns a new reader (an iterable of batches). ``"-"`` is standard input; that, a pipe, an
        open file and a ``pyarrow.RecordBatchReader`` can be read only once; their format is
        recognised by the first bytes. A Polars ``LazyFrame`` and a DuckDB relation are computed
        once per pass, as streams of the columns asked for; a Polars data frame, and whatever else
        gives an Arrow stream (``__arrow_c_stream__``), is read without a copy of the whole.
    label, score : str
        Names of the columns with labels and scores.
    weight : str, optional
        Name of the column with weights.
    pos_label : label, default 1
        The label of the positive class.
    one_against_rest : bool, default False
        Whether every label but `pos_label` is negative; if not, a third label is refused.
    max_rows : int, optional
        Coarsen the result to this many rows. Memory then no longer grows with the
        number of positives, and :func:`precall.tie_bounds` of the result contains the exact value.
    thresholds, missed_positives
        As in :func:`precall.rank`; only without `max_rows`.
    memory : int
        Bytes to work in, all threads together, beside the interpreter and its libraries; 512 MiB
        by default. Rows are read in pieces to match. When the positives alone need more, an error
        says so.
    progress : callable, optional
        Called as ``progress(done, total)`` with the rows handled so far and the rows to handle in
        all passes, or None while that is not known. Calls come from the threads that do the
        work, one at a time.
    options : precall.readers.options.ReadOptions, optional
        How to read files where guessing fails: their format, the separator, the decimal sign and
        the encoding of text, and whether rows with missing values are dropped.

    Returns
    -------
    Ranking

    Raises
    ------
    InputError
        For what :func:`precall.rank` rejects, with the count over all rows, and for columns or
        files that are not there.

    Notes
    -----
    Data that can be read only once are kept until the second pass (the columns asked for, on disk
    beyond `memory`). With `max_rows`, readers and Arrow streams are not kept at all: a
    :class:`~precall.RankingBuilder` adapts its cells on the way.

    Examples
    --------
    >>> import precall as pr
    >>> from precall.engines import arrow
    >>> ranking = arrow.rank(pr.example_path(), label="fraud", score="gradient_boosting")
    >>> example = pr.load_example()
    >>> ranking == pr.rank(example.label, example.scores["gradient_boosting"])
    True
    """
    request = Request(
        label=label,
        score=score,
        weight=weight,
        group=None,
        pos_label=pos_label,
        one_against_rest=one_against_rest,
        say=options.say if options else None,
    )
    kept = None
    if not (isinstance(thresholds, tuple) and not thresholds and missed_positives == 0):
        kept = {"thresholds": thresholds, "missed_positives": missed_positives}
    ranking: Ranking = _ranked(data, request, max_rows, memory, progress, options, kept)
    return ranking


def rank_groups(
    data: object,
    *,
    label: str,
    score: str,
    group: str,
    weight: str | None = None,
    pos_label: object = 1,
    one_against_rest: bool = False,
    max_rows: int | None = None,
    memory: int = 512 * 2**20,
    progress: Progress | None = None,
    options: ReadOptions | None = None,
    thresholds: object = (),
) -> RankingSet:
    """Rank every group of data on disk, exactly.

    Parameters
    ----------
    group : str
        Name of the column of groups: each of its values is ranked by itself.
    data, label, score, weight, pos_label, one_against_rest
        As in :func:`rank`.
    max_rows, memory, progress, options, thresholds
        As in :func:`rank`; `max_rows` is per group, and `thresholds` are kept in every group.

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
        say=options.say if options else None,
    )
    kept = {"thresholds": thresholds}
    rankings: RankingSet = _ranked(data, request, max_rows, memory, progress, options, kept)
    return rankings


def compare(
    data: object,
    *,
    label: str,
    scores: Sequence[str],
    weight: str | None = None,
    pos_label: object = 1,
    one_against_rest: bool = False,
    metric: Any = "aucpr",
    distribution: str = "t",
    sampling: str | None = None,
    confidence_level: float = 0.95,
    memory: int = 512 * 2**20,
    progress: Progress | None = None,
    options: ReadOptions | None = None,
) -> Any:
    """Compare models on the same rows of data on disk, in bounded memory.

    Every model is ranked in two passes. A third one finds the place of each row in every ranking,
    and adds up the products of the rows' influence values. The result is that of
    :func:`precall.compare` with all rows in memory, up to the last digits of the sums.

    Parameters
    ----------
    data
        As in :func:`rank`, but nothing that can be read only once.
    scores : sequence of str
        Names of the columns with scores, one per model, at least two.
    metric, distribution, sampling, confidence_level
        As in :func:`precall.compare` by influence values.
    label, weight, pos_label, one_against_rest, memory, progress, options
        As in :func:`rank`; `progress` starts again with every model.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import precall as pr
    >>> from precall.engines import arrow
    >>> models = ["gradient_boosting", "scorecard"]
    >>> found = arrow.compare(pr.example_path(), label="fraud", scores=models)
    >>> example = pr.load_example()
    >>> found.estimates == pr.compare(example.label, example.scores).estimates
    True
    """
    from ..inference.paired_sums import PairedModels, PairedSums, as_smooth

    names = _as_models(scores)
    what = as_smooth(metric)
    request = PairedRequest(
        label=label,
        score=names[0],
        others=tuple(names[1:]),
        weight=weight,
        pos_label=pos_label,
        one_against_rest=one_against_rest,
    )
    _refuse_once(data, request)
    rankings = {
        name: rank(
            data,
            label=label,
            score=name,
            weight=weight,
            pos_label=pos_label,
            one_against_rest=one_against_rest,
            thresholds=what.thresholds,
            memory=memory,
            progress=progress,
            options=options,
        )
        for name in names
    }
    models = PairedModels.of(what, rankings, sampling)
    sums = PairedSums.empty(models)
    rows = _rows_at_a_time(request, memory)
    with open_source(data, request, memory, options) as source:
        for shard, batches in enumerate(source.shards(rows)):
            for piece, columns in read_paired(batches, request, shard, rows):
                sums.update(models, piece.positive(pos_label), columns, piece.weights)
    if not models.are_rows_of(sums):
        raise changed()
    return models.comparison(sums, confidence_level=confidence_level, distribution=distribution)


def scores(
    data: object,
    *,
    score: str,
    keep: Sequence[str] = (),
    memory: int = 512 * 2**20,
    options: ReadOptions | None = None,
) -> ScoredRows:
    """Scores of all rows on disk, labelled or not, read in pieces as often as they are asked for.

    Parameters
    ----------
    score : str
        Name of the column of scores.
    keep : sequence of str
        Names of columns to show beside the rows that a plan chooses, such as an identifier.
    data, memory, options
        As in :func:`rank`; half of `memory` is enough for the rows in work.

    Returns
    -------
    ScoredRows
        For :func:`precall.audit.plan_of` and :func:`precall.audit.sample_of`.

    Notes
    -----
    Parquet and Arrow files are read where they are; whatever else is read is kept in temporary
    files until the result is given up.

    Examples
    --------
    >>> import precall as pr
    >>> from precall.engines import arrow
    >>> rows = arrow.scores(pr.example_path(), score="gradient_boosting")
    >>> rows
    ScoredRows(score='gradient_boosting', keep=(), ordered=True)
    """
    require("pyarrow", "this engine", "arrow")
    request = ScoreRequest.of(score, keep)
    memory = as_count(memory, "memory", minimum=1)
    number = _rows_at_a_time(request, memory)
    stack = ExitStack()
    try:
        source = stack.enter_context(open_source(data, request, memory, options))
        if source.once:
            source = stack.enter_context(spooled(source, request, number, memory))
    except BaseException:
        stack.close()
        raise
    found = scored_rows(run_in_lanes(source, request, number, Meter(None, source)), request)
    finalize(found, stack.close)
    return found


def _as_models(scores: object) -> list[str]:
    names = list(scores) if isinstance(scores, (list, tuple)) else []
    if len(set(names)) < 2 or len(set(names)) < len(names):
        raise InputError(
            "scores must be a list with the names of at least two columns, each once, got "
            f"{scores!r}."
        )
    return names


def _refuse_once(data: Any, request: Request) -> None:
    """Refuse what is gone after one reading, before it is read."""
    require("pyarrow", "this engine", "arrow")
    import pyarrow as pa

    piped = isinstance(data, str) and (data == "-" or Path(data).is_fifo())
    stream = None if isinstance(data, (str, os.PathLike)) else stream_of(data, request)
    once = stream is not None and stream[1] and not isinstance(data, (pa.Table, pa.RecordBatch))
    if piped or once or hasattr(data, "read") or isinstance(data, pa.RecordBatchReader):
        raise InputError(
            "data can be read only once, and a comparison reads them several times: write them to "
            "a file first."
        )


def _ranked(
    data: object,
    request: Request,
    max_rows: int | None,
    memory: int,
    progress: Progress | None,
    options: ReadOptions | None,
    asked: Mapping[str, Any] | None = None,
) -> Any:
    """Rank all rows, or every group of them; `asked` are thresholds and missed positives."""
    require("pyarrow", "this engine", "arrow")
    import pyarrow as pa

    memory = as_count(memory, "memory", minimum=1)
    rows = _rows_at_a_time(request, memory)
    with ExitStack() as stack:
        source = stack.enter_context(open_source(data, request, memory, options))
        # What is asked for beside is refused in the two passes, where it is checked.
        if source.once and max_rows is not None and request.group is None and asked is None:
            return _one_pass(source, request, max_rows, rows, progress)
        kept = source
        if source.once:
            kept = stack.enter_context(spooled(source, request, rows, memory))
        beside_rows = memory - memory // _SHARE_OF_ROWS
        hold = max_rows is None and can_be_held(request, row_count(kept), beside_rows)
        meter = Meter(progress, kept, passes=1 if hold else 2)
        run = run_in_lanes(kept, request, rows, meter)
        try:
            if hold:
                ranking = rank_held(run, request, beside_rows, **(asked or {}))
                if ranking is not None:
                    return ranking
                meter.start_again(passes=2)
            room = _room(request, memory)
            return rank_in_two_passes(run, request, max_rows, room=room, **(asked or {}))
        finally:  # Arrow keeps what it read in, and the caller may need it
            pa.default_memory_pool().release_unused()


def _rows_at_a_time(request: Request, memory: int) -> int:
    """Rows that each thread reads at a time."""
    size = _BYTES_PER_ROW + _BYTES_PER_COLUMN * (len(request.columns) - 2)
    return min(max(memory // (_SHARE_OF_ROWS * size * LANES), _FEWEST_ROWS), _MOST_ROWS)


def _room(request: Request, memory: int) -> Room:
    """Scores of positives that fit beside the rows in work, all threads taken together.

    Two moments need most. While the counts of the threads are added up, there are those of each
    thread and their sum: 4 numbers per threshold, 16 with weights. While the table is made, there
    are the counts, the table and what lies between them. The bytes are measured.
    """
    kinds = 1 if request.weight is None else 4
    adding = 32 + 33 * kinds * (LANES + 1)
    table = 60 + 90 * kinds
    grouped = 0 if request.group is None else 40
    # With groups, their numbers are held and sorted together with the scores.
    score = _BYTES_PER_SCORE * (1 if request.group is None else 2)
    beside_rows = memory - memory // _SHARE_OF_ROWS
    return Room(
        beside_rows // (max(adding, table) + grouped),
        beside_rows // score,
        beside_rows // (_BYTES_PER_THINNED * LANES),
    )


def _one_pass(
    source: Source, request: Request, max_rows: int, rows: int, progress: Progress | None
) -> Ranking:
    """Adapt cells to a stream; a census beside it finds what is wrong in all of the rows."""
    builder = RankingBuilder(max_rows=max_rows)
    take = TakeCensus(request=request, limit=1)
    census = take.start()
    shards = enumerate(source.shards(rows))
    for piece in Meter(progress, source, passes=1).watch(pieces_of(shards, request, rows)):
        census.update(piece)
        if not census.survey.flaws:
            positive, scores, weights = piece.rows(slice(None), piece.positive(request.pos_label))
            builder.update(positive, scores, sample_weight=weights)
    census.survey.judge()
    return builder.ranking()

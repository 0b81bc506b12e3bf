"""The data that a command names: read whole, in pieces, or counted by a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..evaluation.quiet import quietly
from ..exceptions import InputError, MemoryLimitError
from ..readers.columns import Columns, Roles, columns_of
from ..readers.large import LARGE, is_large, may_be_held, positive_label, stored_schema
from ..readers.missing import without_missing
from ..readers.names import positions, with_crossing, with_names
from ..readers.options import ReadOptions
from ..readers.pieces import copied, has_text_for_numbers, is_read_at_random
from ..readers.sources import File, opened
from . import loading
from .databases import is_database, ranked_in_database
from .lines import shown
from .moving import progress_bar, spinner
from .options import Source

if TYPE_CHECKING:
    from ..evaluation import Evaluation
    from ..metrics import Metric
    from ..ranking import Ranking

# Bytes that evaluating a ranking takes per distinct score of a positive while two models are in
# work, and what each model keeps: measured on a million scores.
_BYTES_PER_CELL, _BYTES_KEPT_PER_CELL = 520, 112
_FEWEST_CELLS = 1_000
# Needed as soon as a file is read, and then; the latter takes longer to load than to read a file of
# some thousand rows.
_ROWS, _EVALUATION = "precall.rows", "precall.evaluation.build"


class FileRequest(NamedTuple):
    """Which file, which columns, and how to evaluate them."""

    file: Source
    roles: Roles
    level: float = 0.95
    recall: float = 0.8
    seed: int = 0
    memory: int = LARGE
    reading: ReadOptions = ReadOptions()
    metrics: tuple[Metric, ...] = ()
    thresholds: tuple[float, ...] = ()
    missed: int = 0
    prevalence: float | None = None
    net_benefit: bool = False
    cost_ratio: float | None = None
    every: str | float | None = None
    table: str | None = None
    crossings: tuple[tuple[str, ...], ...] = ()

    @property
    def database(self) -> str | None:
        """The address of a database, if that is where the rows are."""
        names = (self.file,) if isinstance(self.file, str) else self.file
        found = [name for name in names if is_database(name)]
        if not found:
            if self.table is not None:
                raise InputError(
                    "--table is for a database: FILE must be its address, such as "
                    "duckdb:///scores.db."
                )
            return None
        if len(names) > 1:
            raise InputError("a database stands alone: give one FILE.")
        if self.reading != ReadOptions(say=self.reading.say):
            raise InputError(
                "--sep, --decimal, --encoding, --format, --no-header and --missing are for files: "
                "make a view of the rows that are meant."
            )
        return found[0]


class TooManyScoresError(InputError):
    """The distinct scores of the positives do not fit into the memory."""


def read(file: Source, roles: Roles, reading: ReadOptions) -> Columns:
    """Read the columns, saying so on a terminal."""
    with loading.beside(), spinner() as say, opened(file, reading) as files:
        say("reading")
        return columns_of(files, roles, file)


def ranked(request: FileRequest) -> dict[str, Ranking]:
    """Rank every score of a file: in memory, or piece by piece if it is large."""
    found = _ranked(request)
    if not request.missed:
        return found
    return {name: replace(ranking, missed=request.missed) for name, ranking in found.items()}


def _ranked(request: FileRequest) -> dict[str, Ranking]:
    roles = request.roles
    if (database := request.database) is not None:
        return ranked_in_database(database, request.table, roles, request.thresholds)[0]
    with opened_files(request) as files:
        if is_large(files, roles, memory=request.memory):
            with in_pieces(files, request) as paths:
                return ranked_by_pieces(paths, request)
        with loading.beside(), spinner() as say:
            say("reading")
            columns = columns_of(files, roles, request.file)
    from ..ranking import rank

    return {
        name: rank(
            columns.positive,
            scores,
            sample_weight=columns.weight,
            thresholds=request.thresholds,
        )
        for name, scores in columns.scores.items()
    }


def evaluated(
    request: FileRequest, *, curves: bool = False, needed: tuple[str, ...] = ()
) -> Evaluation:
    """Evaluate a file: in memory, or piece by piece if it is large.

    `needed` are modules that the caller needs then: they are loaded while the file is read.
    """
    roles = request.roles
    settings: dict[str, Any] = {
        "confidence_level": request.level,
        "recall": request.recall,
        "seed": request.seed,
        "metrics": request.metrics,
        "prevalence": request.prevalence,
    }
    if (database := request.database) is not None:
        if roles.time is not None:
            raise InputError("--time is for files: a database hands on counts, and not its rows.")
        with quietly():
            rankings, groups = ranked_in_database(database, request.table, roles)
        from ..evaluation import evaluate_rankings

        return evaluate_rankings(rankings, groups=groups, **settings)
    if roles.time is None and request.every is not None:
        raise InputError("--every is the length of a window: name the column of times with --time.")
    with opened_files(request) as files:
        if is_large(files, roles, memory=request.memory):
            if roles.time is not None:
                raise InputError(
                    "--time needs all rows in memory, and this file is larger than --memory: "
                    "raise --memory or leave --time out."
                )
            if request.net_benefit or request.cost_ratio is not None:
                raise InputError(
                    "--net-benefit and --cost-ratio need all rows in memory, and this file is "
                    "larger than --memory: raise --memory or leave them out."
                )
            loading.special_functions()
            return _evaluated_by_pieces(files, request, settings)
        with loading.beside(_EVALUATION, *needed, first=_ROWS), spinner() as say:
            say("reading")
            columns = columns_of(files, roles, request.file)
            from ..rows import Rows

            rows = Rows(
                columns.positive,
                columns.scores,
                sample_weight=columns.weight,
                clusters=columns.cluster and columns.cluster.codes,
            )
            if len(rows.names) == 1 and rows.cluster is None and columns.group is None:
                say("ranking")  # needs no special functions yet; the ranking is kept
                with quietly():
                    rows.ranking(rows.names[0])
    from ..evaluation import evaluate

    with spinner() as say:
        return evaluate(
            rows,
            groups=columns.group and columns.group.codes,
            group_names=columns.group and dict(enumerate(columns.group.names)),
            curves=curves,
            net_benefit=request.net_benefit,
            cost_ratio=request.cost_ratio,
            time=columns.time,
            every=request.every,
            progress=say,
            **settings,
        )


def _evaluated_by_pieces(
    files: list[File], request: FileRequest, settings: dict[str, Any]
) -> Evaluation:
    roles = request.roles
    if roles.cluster is not None:
        raise InputError(
            "--cluster needs all rows in memory, and this file is larger than --memory: raise "
            "--memory or leave --cluster out."
        )
    with quietly(), in_pieces(files, request) as paths:
        rankings = ranked_by_pieces(paths, request, most=_most_cells(request))
        groups = None
        if roles.group is not None:
            groups = groups_by_pieces(paths, request, roles.group, rankings)
    from ..evaluation import evaluate_rankings

    return evaluate_rankings(rankings, groups=groups, **settings)


def groups_by_pieces(
    paths: list[str], request: FileRequest, group: str, rankings: dict[str, Ranking]
) -> dict[str, Any]:
    """Rank every score by group, and count the groups where their rests can be subtracted."""
    from ..groups.slices_of_rankings import rest_thresholds

    found = {}
    for name, ranking in rankings.items():
        one = request._replace(roles=replace(request.roles, scores=(name,)))
        asked = () if ranking.coarsened else tuple(rest_thresholds(ranking).tolist())
        try:
            [sets] = ranked_by_pieces(paths, one, group, thresholds=asked).values()
        except TooManyScoresError:
            if not asked:
                raise
            [sets] = ranked_by_pieces(paths, one, group).values()
        found[name] = sets.select(positions(sets.labels.tolist()))
    return found


@contextmanager
def opened_files(request: FileRequest) -> Iterator[list[File]]:
    """Yield the files; what comes through a pipe and is large waits in a temporary file."""
    with ExitStack() as stack:
        with spinner() as say:
            say("reading")
            hold = may_be_held(request.memory)
            files = stack.enter_context(opened(request.file, request.reading, hold=hold))
        yield files


@contextmanager
def in_pieces(files: list[File], request: FileRequest) -> Iterator[list[str]]:
    """Yield files that the engines can read twice, the groups as names."""
    roles = request.roles
    from_folders = any(set(roles.columns) & set(file.constants) for file in files)
    as_stored = (
        roles.group is None
        and not roles.by
        and request.reading.missing == "raise"
        and not from_folders
    )
    if as_stored and all(map(is_read_at_random, files)):
        paths = [str(file.path) for file in files]
        if not has_text_for_numbers(stored_schema(paths), roles.wanted):
            yield paths
            return
    with ExitStack() as stack:
        with spinner() as say:
            say("reading")
            copies = copied(
                files,
                roles.wanted,
                source=request.file,
                memory=request.memory,
                prepare=partial(_prepared, request=request),
            )
            paths = stack.enter_context(copies)
        yield paths


def _prepared(table: Any, request: FileRequest) -> Any:
    """Rows as in memory: those with missing values left out if asked for, groups as names."""
    if request.reading.missing == "drop":
        table = without_missing(table, request.roles.required)
    group = request.roles.group
    for name in request.roles.by if group is None else (group,):
        table = with_names(table, name)
    for columns in request.crossings:
        table = with_crossing(table, columns)
    return table


def _most_cells(request: FileRequest) -> int:
    """Distinct scores of positives whose evaluation fits into the memory, for each model."""
    per_cell = _BYTES_PER_CELL + _BYTES_KEPT_PER_CELL * len(request.roles.scores)
    return max(request.memory // per_cell, _FEWEST_CELLS)


def ranked_by_pieces(
    paths: list[str],
    request: FileRequest,
    group: str | None = None,
    *,
    most: int | None = None,
    thresholds: tuple[float, ...] = (),
) -> dict[str, Any]:
    """Rank every score; with `most`, more distinct scores of positives are merged into cells.

    With a `group`, `thresholds` are kept in every group.
    """
    from ..engines import arrow
    from ..engines._twopass import THRESHOLDS_PER_ROW

    roles = request.roles
    pos_label = positive_label(paths, roles, request.file)
    by_group = "" if group is None else " by group"
    rankings = {}
    for name in roles.scores:
        with progress_bar(f"ranking {shown(name)}{by_group}") as progress:
            rank_all: Any = partial(arrow.rank, thresholds=request.thresholds)
            if group is not None:
                rank_all = partial(arrow.rank_groups, group=group, thresholds=thresholds)
            ranked_with = partial(
                rank_all,
                paths,
                label=roles.label,
                score=name,
                weight=roles.weight,
                pos_label=pos_label,
                one_against_rest=roles.pos_label is not None,
                memory=request.memory,
                options=ReadOptions(say=request.reading.say),
                progress=progress,
            )
            try:
                found = ranked_with()
            except MemoryLimitError:
                if most is None:
                    raise TooManyScoresError(
                        f"the positives have too many distinct values of score column {name!r} "
                        f"for --memory {request.memory // 2**20}: raise --memory."
                    ) from None
                found = None
            if (
                found is None and most is not None
            ):  # not inside "except", which would keep what was read so far
                # On the way to its rows the engine keeps several times as many thresholds.
                found = ranked_with(max_rows=max(most // THRESHOLDS_PER_ROW, 1))
            rankings[name] = found if most is None else found.coarsen(most)
    return rankings

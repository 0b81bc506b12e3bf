"""Options that several commands share, and the data they name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from .._output import why_not_writable
from ..evaluation import Evaluation, evaluate, evaluate_rankings
from ..evaluation.quiet import quietly
from ..exceptions import InputError, MemoryLimitError
from ..metrics import METRICS, Metric, as_metric
from ..ranking import Ranking, rank
from ..readers.columns import Columns, Roles, columns_of
from ..readers.formats import FORMATS
from ..readers.large import LARGE, is_large, may_be_held, positive_label
from ..readers.missing import without_missing
from ..readers.names import positions, with_names
from ..readers.options import ReadOptions
from ..readers.pieces import copied, is_read_at_random
from ..readers.sources import File, opened
from .databases import is_database, public_name, ranked_in_database
from .terminal import one_line, progress_bar, shown, spinner, tell

F = TypeVar("F", bound=Callable[..., Any])

# Bytes that evaluating a ranking takes per distinct score of a positive while two models are in
# work, and what each model keeps: measured on a million scores.
_BYTES_PER_CELL, _BYTES_KEPT_PER_CELL = 520, 112
_FEWEST_CELLS = 1_000

FRACTION = click.FloatRange(0.0, 1.0, min_open=True, max_open=True)


#: The FILE of a command: a name, or several that are read as one table.
Source = str | tuple[str, ...]


def file_argument(required: bool = True, *, several: bool = True) -> Callable[[F], F]:
    """The FILE of a command, or its FILES."""
    return click.argument(
        "file",
        required=required,
        nargs=-1 if several else 1,
        metavar="FILE..." if several and required else None,
        type=click.Path(path_type=str),
        callback=_not_empty,
    )


def _not_empty(
    context: click.Context, parameter: click.Parameter, value: str | tuple[str, ...] | None
) -> Source | None:
    """Refuse an empty name, which would be read as the folder that one is in."""
    names = (value,) if isinstance(value, str) else value or ()
    if "" in names:
        raise click.BadParameter("the name is empty; - is standard input.", context, parameter)
    if names.count("-") > 1:
        raise click.BadParameter("- can be read only once.", context, parameter)
    return names if len(names) > 1 else next(iter(names), None)


def file_title(source: Source) -> str:
    """What a page or a table calls the data."""
    if isinstance(source, tuple):
        return f"{file_title(source[0])} and {len(source) - 1} more"
    if is_database(source):
        return public_name(source)
    return "standard input" if source == "-" else Path(source).name


def public_file(source: Source) -> Source:
    """Return FILE as it may be printed: without the password of a database."""
    return public_name(source) if isinstance(source, str) and is_database(source) else source


def reading_options(function: F, *, private: bool = False) -> F:
    """How to read FILE where guessing fails; the command gets them as `reading`.

    A private command leaves out no row, which would show in their number, and says nothing.
    """

    @wraps(function)
    def command(
        *arguments: Any,
        sep: str | None,
        decimal: str | None,
        encoding: str | None,
        file_format: str | None,
        missing: str = "raise",
        **others: Any,
    ) -> Any:
        said: list[str] = []
        delimiter = {"tab": "\t", "\\t": "\t"}.get(sep or "", sep)
        try:
            reading = ReadOptions(
                format=file_format,
                delimiter=delimiter,
                decimal=decimal,
                encoding=encoding,
                missing=missing,  # type: ignore[arg-type]
                say=said.append,
            )
        except InputError as error:  # its first word is the name of the argument
            message = f"--{error}".replace("and decimal", "and --decimal")
            raise InputError(message.replace("--delimiter", "--sep")) from None
        result = function(*arguments, reading=reading, **others)
        for sentence in () if private else dict.fromkeys(said):
            tell(f"precall: {one_line(sentence)}")
        return result

    options = [
        click.option("--sep", metavar="SIGN", help="What separates the columns of text; or tab."),
        click.option("--decimal", type=click.Choice([".", ","]), help="The decimal sign of text."),
        click.option("--encoding", metavar="NAME", help="The encoding of text, such as latin-1."),
        click.option(
            "--format",
            "file_format",
            type=click.Choice(sorted(set(FORMATS.values()))),
            help="The format of FILE, whatever its ending.",
        ),
        click.option(
            "--missing",
            type=click.Choice(["raise", "drop"]),
            default="raise",
            show_default=True,
            help="Refuse rows with missing values, or leave them out.",
        ),
    ]
    return _together(options[:-1] if private else options)(command)  # type: ignore[return-value]


def column_options(required: bool = True) -> Callable[[F], F]:
    """Which column is what."""
    options = [
        click.option("--label", required=required, metavar="COLUMN", help="Column of labels."),
        click.option(
            "--score",
            "scores",
            multiple=True,
            required=required,
            metavar="COLUMN",
            help="Column with scores, higher for positive; repeat it for several models.",
        ),
        click.option("--weight", metavar="COLUMN", help="Column with weights."),
        click.option(
            "--pos-label",
            metavar="LABEL",
            help="The positive label; 1 (or true) if not given.",
        ),
    ]
    return _together(options)


group_option = click.option("--group", metavar="COLUMN", help="Column with groups to show apart.")
cluster_option = click.option(
    "--cluster", metavar="COLUMN", help="Column that names rows that belong together."
)
level_option = click.option(
    "--level", type=FRACTION, default=0.95, show_default=True, help="Confidence level."
)
recall_option = click.option(
    "--recall", type=FRACTION, default=0.8, show_default=True, help="Recall to give precision at."
)
prevalence_option = click.option(
    "--prevalence",
    type=FRACTION,
    metavar="SHARE",
    help="The known share of positives that the answer is about, if not that of FILE.",
)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For random draws."
)
time_option = click.option(
    "--time",
    metavar="COLUMN",
    help="Column of times, as numbers or ISO dates: show AUCPR window by window too.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Everything, as strict JSON.")
memory_option = click.option(
    "--memory",
    type=click.IntRange(min=1),
    default=LARGE // 2**20,
    show_default=True,
    metavar="MIB",
    help="A file whose evaluation needs more is read piece by piece.",
)


table_option = click.option(
    "--table",
    metavar="NAME",
    help="Table of a database: FILE is duckdb:///FILE, sqlite:///FILE or postgresql://...",
)


class MetricWords(click.ParamType):  # type: ignore[type-arg]
    """A metric by its words; what is wrong with them is said as for any other option."""

    name = "metric"

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> Metric:
        """Return the metric."""
        try:
            return as_metric(value)
        except InputError as error:
            self.fail(str(error), parameter, context)


class Length(click.ParamType):  # type: ignore[type-arg]
    """The length of a window: a number, or a word of the calendar."""

    name = "length"

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> str | float:
        """Return a number where it is one."""
        try:
            return float(value)
        except ValueError:
            return str(value)


every_option = click.option(
    "--every",
    type=Length(),
    metavar="LENGTH",
    help="Length of a window: day, week, month, ... of dates, a number of numbers; ten windows of "
    "as many rows if not given.",
)


def metric_option(purpose: str, default: str = "aucpr") -> Callable[[F], F]:
    """The metric of a command: any name in the registry, with its options in brackets."""
    listed = ", ".join(METRICS)
    return click.option(
        "--metric",
        type=MetricWords(),
        default=default,
        show_default=True,
        metavar="METRIC",
        help=f"{purpose}: {listed}; options in brackets, as in precision_at_recall(0.8).",
    )


more_metrics_option = click.option(
    "--metric",
    "metrics",
    type=MetricWords(),
    multiple=True,
    metavar="METRIC",
    help="Show this metric too, as in precision_at_recall(0.5); repeat it for several.",
)


def _together(options: list[Callable[[F], F]]) -> Callable[[F], F]:
    def apply(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


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
    prevalence: float | None = None
    net_benefit: bool = False
    cost_ratio: float | None = None
    every: str | float | None = None
    table: str | None = None

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
                "--sep, --decimal, --encoding, --format and --missing are for files: make a view "
                "of the rows that are meant."
            )
        return found[0]


def read(file: Source, roles: Roles, reading: ReadOptions) -> Columns:
    """Read the columns, saying so on a terminal."""
    with spinner() as say, opened(file, reading) as files:
        say("reading")
        return columns_of(files, roles, file)


def ranked(request: FileRequest) -> dict[str, Ranking]:
    """Rank every score of a file: in memory, or piece by piece if it is large."""
    roles = request.roles
    if (database := request.database) is not None:
        return ranked_in_database(database, request.table, roles, request.thresholds)[0]
    with _opened(request) as files:
        if is_large(files, roles, memory=request.memory):
            with _in_pieces(files, request) as paths:
                return _ranked_by_pieces(paths, request)
        with spinner() as say:
            say("reading")
            columns = columns_of(files, roles, request.file)
    return {
        name: rank(
            columns.positive,
            scores,
            sample_weight=columns.weight,
            thresholds=request.thresholds,
        )
        for name, scores in columns.scores.items()
    }


def evaluated(request: FileRequest, *, curves: bool = False) -> Evaluation:
    """Evaluate a file: in memory, or piece by piece if it is large."""
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
        return evaluate_rankings(rankings, groups=groups, **settings)
    if roles.time is None and request.every is not None:
        raise InputError("--every is the length of a window: name the column of times with --time.")
    with _opened(request) as files:
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
            return _evaluated_by_pieces(files, request, settings)
        with spinner() as say:
            say("reading")
            columns = columns_of(files, roles, request.file)
    with spinner() as say:
        return evaluate(
            columns.positive,
            columns.scores,
            sample_weight=columns.weight,
            groups=columns.group and columns.group.codes,
            group_names=columns.group and dict(enumerate(columns.group.names)),
            clusters=columns.cluster and columns.cluster.codes,
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
    with quietly(), _in_pieces(files, request) as paths:
        rankings = _ranked_by_pieces(paths, request, most=_most_cells(request))
        groups = None
        if roles.group is not None:
            found = _ranked_by_pieces(paths, request, roles.group)
            groups = {
                name: rankings.select(positions(rankings.labels.tolist()))
                for name, rankings in found.items()
            }
    return evaluate_rankings(rankings, groups=groups, **settings)


@contextmanager
def _opened(request: FileRequest) -> Iterator[list[File]]:
    """Yield the files; what comes through a pipe and is large waits in a temporary file."""
    with ExitStack() as stack:
        with spinner() as say:
            say("reading")
            hold = may_be_held(request.memory)
            files = stack.enter_context(opened(request.file, request.reading, hold=hold))
        yield files


@contextmanager
def _in_pieces(files: list[File], request: FileRequest) -> Iterator[list[str]]:
    """Yield files that the engines can read twice, the groups as names."""
    roles = request.roles
    from_folders = any(set(roles.columns) & set(file.constants) for file in files)
    as_stored = roles.group is None and request.reading.missing == "raise" and not from_folders
    if as_stored and all(map(is_read_at_random, files)):
        yield [str(file.path) for file in files]
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
    return table if group is None else with_names(table, group)


def _most_cells(request: FileRequest) -> int:
    """Distinct scores of positives whose evaluation fits into the memory, for each model."""
    per_cell = _BYTES_PER_CELL + _BYTES_KEPT_PER_CELL * len(request.roles.scores)
    return max(request.memory // per_cell, _FEWEST_CELLS)


def _ranked_by_pieces(
    paths: list[str], request: FileRequest, group: str | None = None, *, most: int | None = None
) -> dict[str, Any]:
    """Rank every score; with `most`, more distinct scores of positives are merged into cells."""
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
                rank_all = partial(arrow.rank_groups, group=group)
            ranked_with = partial(
                rank_all,
                paths,
                label=roles.label,
                score=name,
                weight=roles.weight,
                pos_label=pos_label,
                memory=request.memory,
                progress=progress,
            )
            try:
                found = ranked_with()
            except MemoryLimitError:
                if most is None:
                    raise InputError(
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


def check_output(
    output: str,
    endings: tuple[str, ...],
    source: Source | None = None,
    *,
    option: str = "--output",
) -> Path:
    """Return where to write: the folder has to be there, and the ending has to be known."""
    path = Path(output)
    if path.suffix.lower() not in endings:
        listed = ", ".join(endings)
        raise InputError(f"{option} {output!r} must end in {listed}: that says what to write.")
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InputError(f"{option} {output!r} is not a file in a folder that exists.")
    reason = why_not_writable(path)
    if reason is not None:
        raise InputError(f"{option} {output!r} {reason}")
    for name in (source,) if isinstance(source, str) else source or ():
        if name != "-" and path.exists() and Path(name).exists() and path.samefile(name):
            raise InputError(f"{option} {output!r} is the input: choose another name.")
    return path

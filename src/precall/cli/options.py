"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .._output import why_not_writable
from ..exceptions import InputError
from ..readers.formats import FORMATS
from ..readers.large import LARGE
from ..readers.options import ReadOptions
from .databases import is_database, public_name
from .lines import one_line, tell

if TYPE_CHECKING:
    from ..metrics import Metric

F = TypeVar("F", bound=Callable[..., Any])


class _Fraction(click.FloatRange):
    """A number between 0 and 1, both excluded; one in percent is refused with how to write it."""

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> float:
        """Return the number."""
        text = str(value).strip()
        signed = text.endswith("%")
        try:
            number = float(text.rstrip("% ").replace(",", "."))
        except ValueError:
            self.fail(f"{text!r} is not a number between 0 and 1.", parameter, context)
        if not signed and "," not in text and 0.0 < number < 1.0:
            return number
        meant = number / 100.0 if signed or number > 1.0 else number
        way = f": write {meant:.12g}" if 0.0 < meant < 1.0 else ""
        self.fail(f"{text} is not a number between 0 and 1{way}.", parameter, context)


FRACTION = _Fraction(0.0, 1.0, min_open=True, max_open=True)


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
    for name in names[1:]:  # a word behind the name of a column
        if not Path(name).suffix and name != "-" and not Path(name).exists():
            raise click.BadParameter(
                f"{name!r} is not there. A column is named by its option, each by its own: "
                "--label y --score a --score b.",
                context,
                parameter,
            )
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
        no_header: bool = False,
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
                header=not no_header,
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
            "--no-header",
            is_flag=True,
            help="Text has no line of names: its columns are called 1, 2, 3 and so on.",
        ),
        click.option(
            "--missing",
            type=click.Choice(["raise", "drop"]),
            default="raise",
            show_default=True,
            help="Refuse rows with missing values, or leave them out.",
        ),
    ]
    return together(options[:-1] if private else options)(command)  # type: ignore[return-value]


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
            help="The positive label; 1 (or true) if not given. All others are negative.",
        ),
    ]
    return together(options)


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
missed_option = click.option(
    "--missed-positives",
    "missed",
    type=click.IntRange(min=0),
    default=0,
    metavar="COUNT",
    help="Positives that are not in FILE because nobody scored them: they count in recall.",
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
        from ..metrics import as_metric  # only who names one waits for them

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
    help="Length of a window: day, week, month, ... for dates, a number for numbers; if not "
    "given, ten windows with equally many rows.",
)


def metric_option(purpose: str, default: str = "aucpr") -> Callable[[F], F]:
    """The metric of a command: any name in the registry, with its options in brackets."""
    from ..metrics import METRICS

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


def together(options: list[Callable[[F], F]]) -> Callable[[F], F]:
    """Several options as one, in this order."""

    def apply(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


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

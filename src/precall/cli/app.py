"""The commands, and what becomes of their errors: one line, exit status 2."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

import click

from .._text import visible
from .._version import __version__
from .._words import listed
from ..exceptions import PrecallError, PrecallWarning
from .examples import Group
from .lines import one_line, tell
from .option_words import in_options
from .signals import (
    INTERRUPTED,
    TERMINATED,
    Terminated,
    give_up_output,
    open_closed_streams,
    termination_raised,
)

_COMMANDS = (
    "evaluate",
    "compare",
    "report",
    "plot",
    "operate",
    "size",
    "watch",
    "slices",
    "gate",
    "rank",
    "audit",
    "private",
    "sites",
    "check",
)


class _Commands(Group):
    """Load a command when it is called, so that --help and --version are quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of use."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command by its name."""
        if cmd_name == "study":
            raise click.UsageError(
                "the studies are not installed; they run from the repository: "
                "python -m studies NAME -o DIR."
            )
        if cmd_name not in _COMMANDS:
            near = _near(cmd_name, _COMMANDS)
            if near and not ctx.resilient_parsing:
                ctx.fail(f"No such command {cmd_name!r}. Did you mean {near!r}?")
            return None
        command: click.Command = import_module(f".{cmd_name}", __package__).command
        return command


@click.group(
    cls=_Commands,
    examples=(
        "precall report",
        "precall evaluate scores.csv --label y --score model",
        "precall COMMAND --help",
    ),
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Bad input gives one line on standard error and exit status 2; nothing is written then.",
)
@click.version_option(__version__, message="precall %(version)s")
def app() -> None:
    """Tell how good a scorer is, how sure you can be, and what it would be elsewhere."""


def run(arguments: Sequence[str] | None) -> int:
    """Run the command line of this library."""
    return run_command(app, arguments, "precall")


def run_command(command: click.Command, arguments: Sequence[str] | None, program: str) -> int:
    """Run a command and return its exit status; every error that a user can fix is one line."""
    open_closed_streams()
    streams = (sys.stdout, sys.stderr)
    for stream in streams:
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a sign gets a question mark
            stream.reconfigure(errors="replace")
    try:
        with termination_raised(), _warnings_in_one_line():
            result = command.main(
                args=None if arguments is None else list(arguments),
                prog_name=program,
                standalone_mode=False,
            )
            sys.stdout.flush()
            return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.NoSuchOption as error:
        return _refuse(_unknown_option(error), _where(error))
    except click.MissingParameter as error:
        return _refuse(error.format_message() + _columns(error), _where(error))
    except click.ClickException as error:
        return _refuse(error.format_message(), _where(error))
    except PrecallError as error:
        return _refuse(str(error))
    except (ImportError, MemoryError) as error:
        return _refuse(str(error) or "there is not enough memory for this.")
    except BrokenPipeError:  # whoever read our output has enough
        give_up_output()
        return 0
    except SystemExit as error:  # how click and rich end when a pipe is broken
        wrapped = sys.stdout is not streams[0]
        if not wrapped and not isinstance(error.__context__, BrokenPipeError):
            raise
        sys.stdout, sys.stderr = streams
        give_up_output()
        return 0
    except OSError as error:
        give_up_output()
        name = f"{visible(error.filename)}: " if error.filename else ""
        return _refuse(f"{name}{error.strerror or error}.{_notes(error)}")
    except Terminated as error:
        return _refuse(f"terminated.{_notes(error)}", status=TERMINATED)
    except (KeyboardInterrupt, click.Abort) as error:
        return _refuse(f"interrupted.{_notes(error.__cause__ or error)}", status=INTERRUPTED)


def _notes(error: BaseException) -> str:
    return "".join(f" {note}" for note in getattr(error, "__notes__", ()))


def _columns(error: click.MissingParameter) -> str:
    """The columns of FILE, where the name of one is missing."""
    named = error.ctx.params.get("file") if error.ctx is not None else None
    asked = getattr(error.param, "metavar", None) == "COLUMN"
    if not asked or not named or "-" in ([named] if isinstance(named, str) else named):
        return ""
    if error.ctx is None or error.ctx.command.name == "private":  # it says nothing of its file
        return ""
    from ..readers.header import column_names
    from ..readers.messages import listed_names, no_header

    try:
        names = column_names(named if isinstance(named, str) else named[0])
        return f" The columns of FILE are {listed_names(names)}.{no_header(names)}"
    except (PrecallError, OSError, ImportError):  # that is said when the columns are named
        return ""


def _near(word: str, known: Sequence[str]) -> str | None:
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, known, n=1, cutoff=0.75)), None)


def _unknown_option(error: click.NoSuchOption) -> str:
    """An option that a command does not have: what was probably meant, or which command has it."""
    message = f"No such option {error.option_name!r}."
    if error.ctx is None:
        return message
    name = error.ctx.command.name or ""
    if error.option_name == "--score" and name == "gate":
        return f"{message} A gate names its models with --candidate and --baseline."
    if near := _near(error.option_name, _options(error.ctx.command)):
        return f"{message} Did you mean {near!r}?"
    having = [
        other
        for other in _COMMANDS
        if (command := app.get_command(error.ctx, other)) is not None
        and error.option_name in _options(command)
    ]
    return f"{message} It belongs to precall {listed(having, 'and')}." if having else message


def _options(command: click.Command) -> list[str]:
    return [name for parameter in command.params for name in parameter.opts]


def _where(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f" (see {context.command_path} --help)" if context is not None else ""


def _refuse(message: str, where: str = "", *, status: int = 2) -> int:
    tell(f"precall: {one_line(in_options(message))}{where}")
    return status


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Show this library's warnings as a line each, and nobody else's."""

    def show(message: object, category: type[Warning], *_: object, **__: object) -> None:
        if issubclass(category, PrecallWarning):
            tell(f"precall: warning: {one_line(str(message))}")

    with warnings.catch_warnings():
        warnings.simplefilter("default", PrecallWarning)
        previous, warnings.showwarning = warnings.showwarning, show
        try:
            yield
        finally:
            warnings.showwarning = previous

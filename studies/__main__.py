"""Run a study: ``python -m studies NAME -o DIR``, from the top of the repository."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import click

from precall._optional import require
from precall._text import visible
from precall._threads import available_cores
from precall.cli.app import run_command
from precall.cli.examples import Command
from precall.cli.moving import progress_bar
from precall.cli.signals import Terminated
from precall.exceptions import InputError

from . import ABOUT

PROGRAM = "python -m studies"


class _Study(Command):
    """A command whose --help lists the studies."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the studies above the options."""
        with formatter.section("Studies"):
            formatter.write_dl(list(ABOUT.items()))
        super().format_options(ctx, formatter)


@click.command(
    cls=_Study,
    examples=(f"{PROGRAM} bias --quick -o results", f"{PROGRAM} intervals -o results"),
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
)
@click.argument("name", metavar="NAME")
@click.option("--quick", is_flag=True, help="A small version, to see that it runs.")
@click.option("--seed", type=click.IntRange(min=0), help="Instead of the study's own.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes; all cores by default.")
@click.option("-o", "--output", required=True, metavar="DIR", help="Folder to write into.")
def command(name: str, quick: bool, seed: int | None, workers: int | None, output: str) -> None:
    """Run a simulation study: a table, a figure and a page in a folder.

    NAME is one of the studies below. A run that was interrupted goes on where it stopped.
    """
    if name not in ABOUT:
        raise InputError(f"there is no study {name!r}; there are {', '.join(ABOUT)}.")
    require("matplotlib", "drawing the figure of a study", "plot")
    run = import_module(f"studies.{name}").run
    chosen = {} if seed is None else {"seed": seed}
    workers = workers or available_cores()
    try:
        with progress_bar(f"study {name}") as progress:
            run(output, quick=quick, workers=workers, progress=progress, **chosen)
    except (OSError, KeyboardInterrupt, Terminated) as error:
        error.add_note(f"What was finished is in {output}; the same command goes on there.")
        raise
    click.echo(f"The results are in {visible(output)}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status, with the errors of ``precall``: one line."""
    return run_command(command, arguments, PROGRAM)


if __name__ == "__main__":
    sys.exit(main())

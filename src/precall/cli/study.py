"""``precall study``."""

from __future__ import annotations

from importlib import import_module

import click

from .._counting import available_cores
from .._optional import require
from .._text import visible
from ..exceptions import InputError
from .examples import Command
from .signals import Terminated
from .terminal import progress_bar


def studies() -> dict[str, str]:
    """Names of the studies that there are, with a few words about each."""
    from ..simulate.studies import ABOUT

    return ABOUT


class _Study(Command):
    """A command whose --help lists the studies."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the studies above the options."""
        with formatter.section("Studies"):
            formatter.write_dl(list(studies().items()))
        super().format_options(ctx, formatter)


@click.command(
    "study",
    cls=_Study,
    examples=(
        "precall study bias --quick -o results",
        "precall study intervals -o results",
    ),
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
    known = studies()
    if name not in known:
        raise InputError(f"there is no study {name!r}; there are {', '.join(known)}.")
    require("matplotlib", "drawing the figure of a study", "plot")
    run = import_module(f"precall.simulate.studies.{name}").run
    chosen = {} if seed is None else {"seed": seed}
    workers = workers or available_cores()
    try:
        with progress_bar(f"study {name}") as progress:
            run(output, quick=quick, workers=workers, progress=progress, **chosen)
    except (OSError, KeyboardInterrupt, Terminated) as error:
        error.add_note(f"What was finished is in {output}; the same command goes on there.")
        raise
    click.echo(f"The results are in {visible(output)}")

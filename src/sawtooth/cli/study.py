"""``sawtooth study``."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import click

from ..exceptions import InputError
from .examples import Command
from .terminal import progress_bar


def studies() -> list[str]:
    """Names of the studies that there are."""
    from ..simulate import studies as package

    found = (module.name for module in pkgutil.iter_modules(package.__path__))
    return sorted(name for name in found if not name.startswith("_"))


@click.command(
    "study",
    cls=Command,
    examples=(
        "sawtooth study bias --quick -o results",
        "sawtooth study intervals -o results",
    ),
)
@click.argument("name", metavar="NAME")
@click.option("--quick", is_flag=True, help="A small version, to see that it runs.")
@click.option("--seed", type=click.IntRange(min=0), help="Instead of the study's own.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes; all cores by default.")
@click.option("-o", "--output", required=True, metavar="DIR", help="Folder to write into.")
def command(name: str, quick: bool, seed: int | None, workers: int | None, output: str) -> None:
    """Run a simulation study: a table, a figure and a page in a folder.

    NAME is one of those in sawtooth.simulate.studies; a wrong name lists them. A run that was
    interrupted goes on where it stopped.
    """
    known = studies()
    if name not in known:
        raise InputError(f"there is no study {name!r}; there are {', '.join(known)}.")
    run = import_module(f"sawtooth.simulate.studies.{name}").run
    chosen = {} if seed is None else {"seed": seed}
    with progress_bar(f"study {name}") as progress:
        run(output, quick=quick, workers=workers, progress=progress, **chosen)
    click.echo(f"The results are in {output}")

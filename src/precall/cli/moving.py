"""A progress bar and a spinner, for eyes only: elsewhere nothing is shown, or loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def progress_bar(words: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show how far long work is, on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    error = Console(stderr=True)
    bar_columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeRemainingColumn(),
    )
    progress = Progress(*bar_columns, console=error, transient=True)
    with _started(progress, error):
        task = progress.add_task(words, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def spinner() -> Iterator[Callable[[str], None]]:
    """Say on a terminal what is being done; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda words: None
        return
    from rich.console import Console
    from rich.text import Text

    error = Console(stderr=True, markup=False)
    status = error.status("reading")
    with _started(status, error):
        yield lambda words: status.update(Text(words))


@contextmanager
def _started(display: Any, error: Console) -> Iterator[None]:
    """Run a moving display; the cursor that it hides comes back whenever it ends.

    Its own context manager leaves the cursor hidden if a signal arrives while it starts.
    """
    try:
        display.start()
        yield
    finally:
        try:
            with suppress(IndexError):  # it was not started far enough to be stopped
                display.stop()
        finally:
            error.show_cursor(True)

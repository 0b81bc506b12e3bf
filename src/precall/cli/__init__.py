"""The command line: argument parsing and printing only."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .._optional import missing

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 0, or 2 for input that cannot be used.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process by default.
    """
    try:
        from .app import run
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        sys.stderr.write(f"precall: {missing('the command line', 'click and rich', 'cli')}\n")
        return 2
    return run(arguments)

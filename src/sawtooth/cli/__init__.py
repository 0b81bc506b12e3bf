"""The command line: argument parsing and printing only."""

from __future__ import annotations

import sys
from collections.abc import Sequence

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
        sys.stderr.write("sawtooth: the command line needs click and rich: ")
        sys.stderr.write("pip install 'sawtooth[cli]'\n")
        return 2
    return run(arguments)

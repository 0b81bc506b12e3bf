"""The command line: argument parsing and printing only."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from .._optional import missing

__all__ = ["main"]

# Objects between two searches for garbage in a process of our own. Most belong to modules, which
# stay: by Python's default all of them are searched several times while modules are loaded.
_OBJECTS = 200_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    0 when it is done, 2 for input that cannot be used, 130 after an interrupt and 143 after
    SIGTERM.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process by default.
    """
    if arguments is None:
        gc.set_threshold(_OBJECTS)
    try:
        from .app import run
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        sys.stderr.write(f"precall: {missing('the command line', 'click and rich', 'cli')}\n")
        return 2
    except KeyboardInterrupt:  # while the libraries are loaded
        sys.stderr.write("precall: interrupted.\n")
        return 130
    return run(arguments)

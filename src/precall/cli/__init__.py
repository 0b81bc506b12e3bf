"""The command line: argument parsing and printing only."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from typing import NoReturn

from .._optional import missing
from . import environment

__all__ = ["main", "start"]

# What the command line stands on; the second is loaded when there is something to print.
_LIBRARIES = ("click", "rich")
# Objects between two searches for garbage in a process of our own. Most belong to modules, which
# stay: by Python's default all of them are searched several times while modules are loaded.
_OBJECTS = 200_000


def start() -> NoReturn:
    """Run the command of this process, and end it.

    Python would take everything apart first, module by module, which takes as long as evaluating a
    file of ten thousand rows. The system gives it all back at once. What others asked to be called
    at the end is called, and everything is written out; where that fails, or a thread still runs,
    the process ends as usual.
    """
    status = main()
    if threading.active_count() == 1:
        atexit._run_exitfuncs()
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (AttributeError, OSError, ValueError):  # closed, or nobody reads any more
            sys.exit(status)
        os._exit(status)
    sys.exit(status)


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
        environment.prepare()
    if not all(map(find_spec, _LIBRARIES)):
        sys.stderr.write(
            f"precall: {missing('the command line', ' and '.join(_LIBRARIES), 'cli')}\n"
        )
        return 2
    try:
        from .app import run
    except KeyboardInterrupt:  # while the libraries are loaded
        sys.stderr.write("precall: interrupted.\n")
        return 130
    status = run(arguments)
    if arguments is None:
        gc.freeze()  # the process ends: nothing of it has to be searched
    return status

"""Work in forks of a process that has imported what tests import: seconds less each time."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

# What the copy has of its own: each fork has to import it as it is then.
OURS = ("precall", "studies", "benchmarks", "scripts", "tests")
HEAVY = """numpy scipy.stats scipy.optimize scipy.signal scipy.special scipy.interpolate pandas
    pyarrow.compute pyarrow.parquet sklearn.metrics hypothesis.strategies hypothesis.extra.numpy
    pytest"""


def warm() -> None:
    """Import what most tests need, where it is installed."""
    for name in HEAVY.split():
        try:
            importlib.import_module(name)
        except ImportError:
            continue


def in_fork(
    task: Callable[[], int], root: Path, seconds: float, *, fresh: bool = True
) -> tuple[int | None, str]:
    """Do a task in the project in a folder; return its status (None: out of time) and output.

    Unless told otherwise, what is there of the project has to be imported again.
    """
    with tempfile.TemporaryFile() as printed:
        child = begin(task, root, printed.fileno(), fresh=fresh)
        try:
            status = _wait(child, time.monotonic() + seconds)
        finally:
            end(child)
        printed.seek(0)
        return status, printed.read().decode(errors="replace")


def begin(task: Callable[[], int], root: Path, output: int, *, fresh: bool = True) -> int:
    """Start a task in a fork and return its process."""
    child = os.fork()
    if child == 0:
        _do(task, root, output, fresh)
    return child


def _do(task: Callable[[], int], root: Path, output: int, fresh: bool) -> None:
    status = 1
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        if fresh:
            _forget(root)
        status = task()
    except Exception:  # noqa: BLE001 - it is printed, and the process ends
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _forget(root: Path) -> None:
    """Leave the project as it was: what is imported from now on is the one in the folder."""
    # What a test starts would import the file that this process began with.
    sys.modules["__main__"] = ModuleType("__main__")
    os.chdir(root)
    os.environ["PYTHONPATH"] = str(root / "src")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(root / "src"), str(root)]
    for name in [name for name in sys.modules if name.split(".")[0] in OURS]:
        del sys.modules[name]


def _wait(child: int, until: float) -> int | None:
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    return None


def end(child: int) -> None:
    """Stop what is left of a child and of what it started."""
    try:
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
    except (ProcessLookupError, ChildProcessError):
        pass

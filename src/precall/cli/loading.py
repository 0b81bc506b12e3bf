"""What a command loads beside reading: SciPy's special functions first, and quickly."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from .._threads import start_apart, take_core

# What a module says of its own names.
_LISTS = ("__all__", "__dir__")
# Submodules that NumPy loads when they are first named, and that no number here needs.
_NOT_NEEDED = ("f2py", "testing")
# Seconds that a thread may keep the interpreter from the others; five hundred times as many are
# usual.
_SHORT_TURN = 1e-5


@contextmanager
def beside(*modules: str, first: str | None = None) -> Iterator[None]:
    """Import them and other modules beside the body, which waits for a file and needs none before.

    Then it needs the `first` one. Importing takes one thread, and longer than reading and ranking
    most files: it has a core for itself, and the body the others.
    """
    import pyarrow as pa

    cores, give_back = pa.cpu_count(), take_core()

    def run() -> None:
        try:
            if first is not None:
                import_module(first)
            special_functions()
            for module in modules:
                import_module(module)
        finally:
            pa.set_cpu_count(cores)  # also for what is being read
            give_back()

    pa.set_cpu_count(max(cores - 1, 1))
    thread = start_apart(run)
    usual = sys.getswitchinterval()
    # Importing holds the lock of the interpreter: the body would wait long for each of its steps.
    sys.setswitchinterval(_SHORT_TURN)
    try:
        yield
    finally:
        thread.join()
        sys.setswitchinterval(usual)


def special_functions() -> None:
    """Import ``scipy.special``, which every interval needs, in two thirds of the time.

    SciPy copies the namespace of NumPy, name by name, and so loads the parts of it that wait to be
    named: a compiler of Fortran and a framework of tests. Here NumPy does not list them while SciPy
    is imported. A command is a process of its own, so nobody else sees that; the library, which
    shares its process, does no such thing.
    """
    if "scipy.special" in sys.modules:
        return
    import numpy as np

    names = vars(np)
    listed: dict[str, Any] = {name: names[name] for name in _LISTS if name in names}
    kept = [name for name in dir(np) if name not in _NOT_NEEDED]
    names["__all__"] = [name for name in listed.get("__all__", kept) if name not in _NOT_NEEDED]
    names["__dir__"] = lambda: kept
    try:
        import scipy.special  # noqa: F401
    finally:
        for name in _LISTS:
            del names[name]
        names.update(listed)

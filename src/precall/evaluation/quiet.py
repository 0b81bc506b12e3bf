"""Keep the library's warnings off the screen while they are turned into findings."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ..exceptions import PrecallWarning

_lock = threading.Lock()
_inside: list[ExitStack] = []
_depth = 0


@contextmanager
def quietly() -> Iterator[None]:
    """Ignore this library's warnings until every thread that asked for it has left.

    Filters belong to the process: ``warnings.catch_warnings`` entered and left by several threads
    would leave whichever filters were restored last.
    """
    global _depth
    with _lock:
        _depth += 1
        if _depth == 1:
            stack = ExitStack()
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore", PrecallWarning)
            _inside.append(stack)
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _inside.pop().close()

"""What ends a command from outside: interrupts, SIGTERM, and standard streams that are closed."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM


class Terminated(BaseException):
    """SIGTERM arrived: like an interrupt, so that files and the terminal are left in order."""


@contextmanager
def termination_raised() -> Iterator[None]:
    """Raise :class:`Terminated` where SIGTERM arrives, as Python does for an interrupt."""
    if threading.current_thread() is not threading.main_thread():  # only there can it be asked for
        yield
        return

    def terminate(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough: tidying up goes on
        raise Terminated

    previous: Any = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def open_closed_streams() -> None:
    """Put the null device in the place of standard streams that were closed (``>&-``).

    Otherwise the next file that is opened takes the number of the stream, and what is meant for
    the stream is written into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def give_up_output() -> None:
    """Send what is still to come to the null device: nobody takes it any more.

    What is left in the buffer would fail again when the interpreter ends.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError, ValueError):  # a stream without a number has no buffer to empty
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, stream.fileno())
                os.close(null)

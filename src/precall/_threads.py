"""Threads for work on large arrays, and how many cores there are for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import TypeVar

Result = TypeVar("Result")
Value = TypeVar("Value")

# Under this many rows a second thread costs more than it saves.
THREADING_PAYS = 200_000
# One for each core that is taken.
_busy: set[object] = set()


def in_threads(tasks: Sequence[Callable[[], Result]], rows: int) -> list[Result]:
    """Run tasks in threads when the data are large (NumPy releases the GIL), else in turn."""
    others = min(len(tasks), available_cores()) - 1 if rows >= THREADING_PAYS else 0
    if others < 1:
        return [task() for task in tasks]
    results: dict[int, Result] = {}
    failed: list[BaseException] = []
    left = iter(enumerate(tasks))

    def work(done: Callable[[], object] = int) -> None:
        try:
            for place, task in left:
                if failed:
                    break
                results[place] = task()
        except BaseException as error:  # noqa: BLE001 (raised where somebody waits for it)
            failed.append(error)
        finally:
            done()

    # The caller works too: a thread less to wait for, and its memory is warm. What the tasks do in
    # threads of their own finds the cores taken. A pool of threads takes longer to set up.
    beside = [Thread(target=work, args=(take_core(),)) for _ in range(others)]
    for thread in beside:
        thread.start()
    work()
    for thread in beside:
        thread.join()
    if failed:
        raise failed[0]
    return [results[place] for place in range(len(tasks))]


def each_in_threads(
    function: Callable[[Value], Result], values: Sequence[Value], rows: int
) -> list[Result]:
    """Call a function with each of the values, in threads when the data are large."""
    if rows < THREADING_PAYS:
        return [function(value) for value in values]
    return in_threads([partial(function, value) for value in values], rows)


def start_apart(function: Callable[[], object]) -> Thread:
    """Start a thread that keeps to another core than the one where the caller goes on.

    Of themselves, two threads that hand each other the lock of the interpreter may stay on one
    core for a tenth of a second, while another one is idle.
    """
    cores = _allowed_cores()
    if len(cores) < 2:
        thread = Thread(target=function)
        thread.start()
        return thread
    other = max(cores)

    def run() -> None:
        _move({other})
        function()

    thread = Thread(target=run)
    _move(cores - {other})
    try:
        thread.start()
    finally:
        _move(cores)  # the caller may go where it wants, and so may all that it starts
    return thread


def _allowed_cores() -> set[int]:
    """The cores that this thread may use; none where the system does not say."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()


def _move(cores: set[int]) -> None:
    """Move this thread to one of these cores."""
    with suppress(OSError):  # not allowed: then it stays where it is
        os.sched_setaffinity(0, cores)


def available_cores() -> int:
    """Cores this process may use, less those that are busy with something else."""
    cores = len(_allowed_cores()) or os.cpu_count() or 1
    return max(cores - len(_busy), 1)


def take_core() -> Callable[[], None]:
    """Leave a core to other work of this process until what is returned is called."""
    token = object()
    _busy.add(token)
    return partial(_busy.discard, token)

"""Threads for work on large arrays, and how many cores there are for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from threading import Thread, current_thread
from typing import TypeVar

Result = TypeVar("Result")
Value = TypeVar("Value")

# Under this many rows a second thread costs more than it saves.
THREADING_PAYS = 200_000
# One for each core that is taken, and one for each thread that only waits for others.
_busy: set[object] = set()
_waiting: set[object] = set()


def in_threads(tasks: Sequence[Callable[[], Result]], rows: int) -> list[Result]:
    """Run tasks in threads when the data are large (NumPy releases the GIL), else in turn."""
    others = min(len(tasks), available_cores()) - 1
    if rows < THREADING_PAYS or len(tasks) < 2 or (others < 1 and not _busy):
        return [task() for task in tasks]
    results: dict[int, Result] = {}
    failed: list[BaseException] = []
    beside: list[Thread] = []
    helping: set[object] = set()
    left = iter(enumerate(tasks))
    first = [next(left)]

    def help_out(give_back: Callable[[], object]) -> None:
        thread = Thread(target=work, args=(give_back,))
        helping.add(thread)
        beside.append(thread)
        thread.start()

    def work(
        give_back: Callable[[], object], own: Iterable[tuple[int, Callable[[], Result]]] = ()
    ) -> None:
        try:
            for place, task in chain(own, left):
                if failed:
                    break
                # Cores that were taken may have become free since the last task began.
                if place + 1 < len(tasks) and len(helping) < _cores() - 1 and available_cores() > 1:
                    help_out(take_core())
                results[place] = task()
        except BaseException as error:  # noqa: BLE001 (raised where somebody waits for it)
            failed.append(error)
        finally:
            helping.discard(current_thread())
            give_back()

    # The caller works too, and has the first task: its memory is warm, and there is a thread less
    # to wait for. What the tasks do in threads of their own finds the cores taken. To set up a pool
    # of threads takes longer.
    for _ in range(others):
        help_out(take_core())
    work(int, first)
    stop_waiting = _taken(_waiting)
    try:
        for thread in beside:  # a thread may have begun another one, which then stands behind it
            thread.join()
    finally:
        stop_waiting()
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
    return max(_cores() - len(_busy) + len(_waiting), 1)


def _cores() -> int:
    return len(_allowed_cores()) or os.cpu_count() or 1


def take_core() -> Callable[[], None]:
    """Leave a core to other work of this process until what is returned is called."""
    return _taken(_busy)


def _taken(tokens: set[object]) -> Callable[[], None]:
    token = object()
    tokens.add(token)
    return partial(tokens.discard, token)

"""Threads for work on large arrays, and how many cores there are for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
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
    left = iter(enumerate(tasks))

    def work() -> None:
        for place, task in left:
            results[place] = task()

    # The caller works too: a thread less to wait for, and its memory is warm.
    with ThreadPoolExecutor(max_workers=others) as pool:
        beside = [pool.submit(work) for _ in range(others)]
        work()
        for each in beside:
            each.result()
    return [results[place] for place in range(len(tasks))]


def each_in_threads(
    function: Callable[[Value], Result], values: Sequence[Value], rows: int
) -> list[Result]:
    """Call a function with each of the values, in threads when the data are large."""
    if rows < THREADING_PAYS:
        return [function(value) for value in values]
    return in_threads([partial(function, value) for value in values], rows)


def available_cores() -> int:
    """Cores this process may use, less those that are busy with something else."""
    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return max(cores - len(_busy), 1)


def take_core() -> Callable[[], None]:
    """Leave a core to other work of this process until what is returned is called."""
    token = object()
    _busy.add(token)
    return partial(_busy.discard, token)

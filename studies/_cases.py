"""Cases of a study one after the other, or several at a time in processes of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from precall._validation import as_count

from ._results import Results, Row


def compute(
    function: Callable[..., list[Row]], todo: Iterable[tuple[Any, ...]], workers: int | None
) -> Iterator[list[Row]]:
    """Yield ``function(*arguments)`` for each case, in the order of the cases.

    Every case has its seed among its arguments, so the rows do not depend on `workers`. By default
    and with one worker everything happens here. With more, cases run in processes, because these
    functions loop in Python; a script that asks for them needs ``if __name__ == "__main__":``, as
    always when Python starts processes. When the caller stops early or is interrupted, no further
    case is begun, and the processes end at once.
    """
    if workers is None or as_count(workers, "workers", minimum=1) == 1:
        for arguments in todo:
            yield function(*arguments)
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # A fresh interpreter: a fork of a process with threads can lock up.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        for future in [pool.submit(function, *arguments) for arguments in todo]:
            yield future.result()
    except BaseException:
        # A case may take minutes, and nobody waits for it any more.
        for process in list(pool._processes.values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def run_cases(
    results: Results,
    chosen: Sequence[Any],
    simulate: Callable[..., list[Row]],
    runs: Callable[[Any], int],
    workers: int | None,
    progress: Callable[[int, int], object] | None,
) -> None:
    """Add the rows of every case, a named tuple, that is not there yet.

    ``simulate(case, runs(case), seed)`` has them; a case has the same draws whatever is beside it.
    """
    todo = [case for case in chosen if not results.has(**case._asdict())]
    done = len(chosen) - len(todo)
    seed = results.settings["seed"]
    arguments = [(case, runs(case), [seed, *"|".join(map(str, case)).encode()]) for case in todo]
    for rows in compute(simulate, arguments, workers):
        results.add(rows)
        done += 1
        if progress is not None:
            progress(done, len(chosen))

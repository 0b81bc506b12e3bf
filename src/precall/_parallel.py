"""Blocks of a simulation on all cores, with the same result on any number of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from typing import TypeVar

import numpy as np

from precall._threads import available_cores
from precall._validation import as_count, as_generator

Result = TypeVar("Result")


def run_blocks(
    function: Callable[[np.random.Generator], Result],
    n_blocks: int,
    *,
    rng: np.random.Generator | int | None = None,
    workers: int | None = None,
    processes: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> list[Result]:
    """Run `function` once per block, each time with a random generator of its own.

    Every block's generator is spawned from `rng` by its number, so the results depend on neither
    the number of workers nor the order in which they finish.

    Parameters
    ----------
    function : callable
        Takes a Generator and returns the result of one block. It must not change what other
        blocks read.
    n_blocks : int
        Number of calls.
    rng : None, int or Generator
        A seed gives the same results every time; a Generator gives new ones on every call.
    workers : int, optional
        At most this many blocks at a time; by default one per core. One worker runs them in turn
        where the caller is.
    processes : bool
        Threads are the default: NumPy and SciPy release the lock of the interpreter in sorting,
        drawing and arithmetic, so threads keep all cores busy when blocks work on arrays of some
        10⁴ elements and more. Processes are for functions that loop in Python; they take longer
        to start, and `function` and its result must be picklable.
    progress : callable, optional
        Called as ``progress(finished, n_blocks)`` after every block.

    Returns
    -------
    list
        The results, in the order of the blocks.

    Examples
    --------
    >>> from precall.simulate import Binormal, rank_batch, run_blocks
    >>> def block(rng):
    ...     batch = rank_batch(*Binormal().sample_scores(100, 900, size=50, rng=rng))
    ...     return (batch.tp / (batch.tp + batch.fp)).mean()
    >>> run_blocks(block, 4, rng=0) == run_blocks(block, 4, rng=0, workers=1)
    True
    """
    n_blocks = as_count(n_blocks, "n_blocks")
    results: dict[int, Result] = {}
    blocks = iterate_blocks(function, n_blocks, rng=rng, workers=workers, processes=processes)
    for index, result in blocks:
        results[index] = result
        if progress is not None:
            progress(len(results), n_blocks)
    return [results[index] for index in range(n_blocks)]


def iterate_blocks(
    function: Callable[[np.random.Generator], Result],
    n_blocks: int,
    *,
    rng: np.random.Generator | int | None = None,
    workers: int | None = None,
    processes: bool = False,
    skip: Collection[int] = (),
) -> Iterator[tuple[int, Result]]:
    """Yield ``(block, result)`` as blocks finish, as `run_blocks` runs them.

    For work that is saved as it goes: blocks in `skip` are left out, and the others give what they
    would have given with them. A block that fails raises here, and no further block is begun; the
    same when the caller stops early.

    Examples
    --------
    >>> from precall.simulate import iterate_blocks
    >>> whole = dict(iterate_blocks(lambda rng: rng.random(), 4, rng=0))
    >>> rest = dict(iterate_blocks(lambda rng: rng.random(), 4, rng=0, skip={0, 2}))
    >>> rest == {1: whole[1], 3: whole[3]}
    True
    """
    n_blocks = as_count(n_blocks, "n_blocks")
    workers = available_cores() if workers is None else as_count(workers, "workers", minimum=1)
    generators = as_generator(rng).spawn(n_blocks)
    todo = [index for index in range(n_blocks) if index not in skip]
    if workers == 1:
        for index in todo:
            yield index, function(generators[index])
        return
    pool = _pool(workers, processes)
    try:
        futures = {pool.submit(function, generators[index]): index for index in todo}
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _pool(workers: int, processes: bool) -> Executor:
    if not processes:
        return ThreadPoolExecutor(workers)
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # A fresh interpreter: a fork of a process with threads can lock up.
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))

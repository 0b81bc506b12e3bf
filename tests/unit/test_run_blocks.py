"""Blocks on many workers: the same results on any number of them."""

import threading
import time
from operator import methodcaller

import numpy as np
import pytest

from precall.exceptions import InputError
from precall.simulate import iterate_blocks, run_blocks

draw = methodcaller("random", 3)


@pytest.mark.parametrize("workers", [1, 2, 5, None])
def test_results_do_not_depend_on_the_number_of_workers(workers):
    expected = [
        np.random.default_rng(seed).random(3) for seed in np.random.SeedSequence(7).spawn(9)
    ]
    got = run_blocks(draw, 9, rng=7, workers=workers)
    np.testing.assert_array_equal(got, expected)


def test_processes_give_what_threads_give():
    threads = run_blocks(draw, 3, rng=7, workers=2)
    processes = run_blocks(draw, 3, rng=7, workers=2, processes=True)
    np.testing.assert_array_equal(threads, processes)


def test_results_are_in_order_even_if_blocks_are_not():
    """The first block ends after the last one has."""
    last_done = threading.Event()
    order = {
        float(draw(rng)[0]): index for index, rng in enumerate(np.random.default_rng(1).spawn(4))
    }

    def block(rng):
        index = order[float(draw(rng)[0])]
        if index == 0:
            assert last_done.wait(timeout=60)
        if index == 3:
            last_done.set()
        return index

    assert run_blocks(block, 4, rng=1, workers=2) == [0, 1, 2, 3]


def test_a_generator_gives_new_blocks_on_every_call():
    rng = np.random.default_rng(0)
    first, second = (np.array(run_blocks(draw, 4, rng=rng)) for _ in range(2))
    assert not np.intersect1d(first, second).size
    again = np.array(run_blocks(draw, 4, rng=np.random.default_rng(0)))
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("workers", [1, 3])
def test_progress_is_told_after_every_block(workers):
    told = []
    run_blocks(draw, 5, rng=0, workers=workers, progress=lambda *now: told.append(now))
    assert told == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]


@pytest.mark.parametrize("workers", [1, 2])
def test_interrupted_work_goes_on_where_it_stopped(workers):
    whole = run_blocks(draw, 8, rng=3)
    blocks = iterate_blocks(draw, 8, rng=3, workers=workers)
    saved = dict(next(blocks) for _ in range(3))
    blocks.close()
    rest = dict(iterate_blocks(draw, 8, rng=3, workers=workers, skip=saved))
    assert saved.keys() | rest.keys() == set(range(8))
    assert not saved.keys() & rest.keys()
    for index, result in {**saved, **rest}.items():
        np.testing.assert_array_equal(result, whole[index])


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failing_block_raises_and_stops_the_rest(workers):
    started = []

    def block(rng):
        started.append(rng)
        if len(started) == 1:
            raise RuntimeError("as asked")
        time.sleep(0.01)  # the caller has time to hear of the failure

    with pytest.raises(RuntimeError, match="as asked"):
        run_blocks(block, 300, rng=0, workers=workers)
    assert len(started) < 300


def test_no_blocks_give_no_results():
    assert run_blocks(draw, 0, rng=0) == []


def test_bad_arguments_are_named():
    with pytest.raises(InputError, match="n_blocks must be a whole number"):
        run_blocks(draw, -1)
    with pytest.raises(InputError, match="workers must be a whole number of at least 1"):
        run_blocks(draw, 1, workers=0)

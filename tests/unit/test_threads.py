"""Tasks that share the cores: the same answers in the same order, and the same errors."""

import threading
import time
from functools import partial

import pytest

from precall import _threads

MANY = _threads.THREADING_PAYS


@pytest.mark.parametrize("cores", [1, 2, 3, 8])
@pytest.mark.parametrize("tasks", [0, 1, 2, 7])
@pytest.mark.parametrize("rows", [0, MANY])
def test_results_come_in_the_order_of_the_tasks(cores, tasks, rows, monkeypatch):
    monkeypatch.setattr(_threads, "available_cores", lambda: cores)
    squares = [partial(pow, number, 2) for number in range(tasks)]
    assert _threads.in_threads(squares, rows) == [number**2 for number in range(tasks)]


def test_the_caller_takes_its_share_and_tasks_run_at_the_same_time(monkeypatch):
    monkeypatch.setattr(_threads, "available_cores", lambda: 3)
    together = threading.Barrier(3, timeout=60)

    def task():
        together.wait()
        return threading.get_ident()

    found = _threads.in_threads([task] * 3, MANY)
    assert threading.get_ident() in found
    assert len(set(found)) == 3


@pytest.mark.parametrize("fails", range(4))
def test_an_error_of_any_task_is_raised(fails, monkeypatch):
    monkeypatch.setattr(_threads, "available_cores", lambda: 2)

    def task(number):
        if number == fails:
            raise ValueError(f"task {number}")
        return number

    with pytest.raises(ValueError, match=f"task {fails}"):
        _threads.each_in_threads(task, range(4), MANY)


def test_after_an_error_no_further_task_is_begun(monkeypatch):
    monkeypatch.setattr(_threads, "available_cores", lambda: 2)
    done = []

    def task(number):
        if number == 0:
            raise KeyboardInterrupt
        time.sleep(0.001)
        done.append(number)

    with pytest.raises(KeyboardInterrupt):
        _threads.each_in_threads(task, range(1000), MANY)
    assert len(done) < 999


def test_tasks_inside_tasks_find_the_cores_taken(monkeypatch):
    monkeypatch.setattr(_threads, "_allowed_cores", lambda: {0, 1, 2})
    together = threading.Barrier(2, timeout=60)

    def task():
        together.wait()
        found = _threads.available_cores()
        together.wait()
        return found

    assert _threads.in_threads([task] * 2, MANY) == [2, 2]
    assert _threads.available_cores() == 3
    with pytest.raises(ZeroDivisionError):  # given back all the same
        _threads.in_threads([lambda: 1 / 0] * 3, MANY)
    assert _threads.available_cores() == 3


def test_a_core_that_becomes_free_is_taken_by_the_tasks_that_are_left(monkeypatch):
    """A task that begins many of its own finds the second core taken, and later free."""
    monkeypatch.setattr(_threads, "_allowed_cores", lambda: {0, 1})
    waiting = threading.Event()
    both = threading.Barrier(2, timeout=60)

    def first():
        waiting.wait(60)
        return "first"

    def begin():
        waiting.set()  # the first task is done now, and the thread that had it waits
        while _threads.available_cores() < 2:
            time.sleep(0.001)
        return threading.get_ident()

    def meet():
        both.wait()
        return threading.get_ident()

    def many():
        return _threads.in_threads([begin, meet, meet], MANY)

    done, found = _threads.in_threads([first, many], MANY)
    assert done == "first"
    assert len(set(found)) == 2
    assert _threads.available_cores() == 2
    assert not _threads._busy | _threads._waiting


def test_the_caller_has_the_first_task(monkeypatch):
    monkeypatch.setattr(_threads, "available_cores", lambda: 2)
    for _ in range(20):
        found = _threads.in_threads([threading.get_ident] * 2, MANY)
        assert found[0] == threading.get_ident()


@pytest.mark.parametrize("cores", [set(), {5}, {2, 5}])
def test_a_thread_apart_keeps_to_the_last_core_and_the_caller_is_free_again(cores, monkeypatch):
    moves = []
    monkeypatch.setattr(_threads, "_allowed_cores", lambda: cores)
    monkeypatch.setattr(
        _threads, "_move", lambda to: moves.append((threading.current_thread().name, set(to)))
    )
    done = []
    thread = _threads.start_apart(lambda: done.append(threading.current_thread()))
    thread.join(60)
    assert done == [thread]
    if len(cores) < 2:
        assert moves == []
        return
    mine = threading.current_thread().name
    assert [to for who, to in moves if who == mine] == [{2}, cores]
    assert [to for who, to in moves if who == thread.name] == [{5}]


def test_where_moving_is_not_allowed_work_goes_on(monkeypatch):
    def refuse(*_):
        raise PermissionError("not here")

    monkeypatch.setattr(_threads.os, "sched_setaffinity", refuse, raising=False)
    monkeypatch.setattr(_threads, "_allowed_cores", lambda: {0, 1})
    done = []
    _threads.start_apart(lambda: done.append(1)).join(60)
    assert done == [1]

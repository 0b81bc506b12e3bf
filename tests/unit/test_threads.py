"""Tasks that share the cores: the same answers in the same order, and the same errors."""

import threading
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

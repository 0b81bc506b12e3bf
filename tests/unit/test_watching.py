"""Rows replayed in the order of their times."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError
from precall.monitoring import PrecisionMonitor, RecallMonitor, watch


def made(y, scores=None, **columns):
    return pr.Rows(y, np.ones(len(y)) if scores is None else scores, columns=columns)


def test_distinct_times_are_the_monitor_itself():
    rng = np.random.default_rng(0)
    y, s, t = rng.random(500) < 0.3, rng.random(500), rng.permutation(500)
    rows = made(y, s, t=t)
    order = np.argsort(t)
    for kind in (PrecisionMonitor, RecallMonitor):
        monitor = kind(target=0.6, restart_every=40)
        monitor.update(y[order], selected=s[order] >= 0.5)
        options = {"threshold": 0.5, "target": 0.6, "restart_every": 40}
        found = watch(rows, time="t", watches=monitor.watches, **options)
        assert (found.interval, found.alarm_at) == (monitor.interval, monitor.alarm_at)
        assert (found.trials, found.pending) == (monitor.trials, 0)


def test_rows_of_one_time_count_together_whatever_their_order():
    """Negatives first within each day would raise the alarm if somebody looked in between."""
    day = np.repeat(np.arange(40), 30)
    y = np.tile(np.arange(30) >= 15, 40)
    found = watch(made(y, day=day), threshold=0.5, target=0.5, time="day")
    assert not found.alarm
    assert watch(made(y), threshold=0.5, target=0.5).alarm
    mixed = np.random.default_rng(1).permutation(y.size)
    again = watch(made(y[mixed], day=day[mixed]), threshold=0.5, target=0.5, time="day")
    assert again == found


def test_only_whole_times_before_the_first_missing_label_count():
    day = np.array([1, 1, 2, 2, 3, 3])
    rows = made([1, 0, 1, 1, 0, 0], day=day)
    known = np.array([True, True, True, False, True, True])
    ask = {"threshold": 0.5, "target": 0.5, "time": "day", "labelled": known}
    found = watch(rows, **ask)
    assert (found.successes, found.trials, found.pending) == (1, 2, 4)
    assert found.message.endswith("4 decisions wait for labels.")
    told = watch(rows, **ask, delay="independent")
    assert (told.successes, told.trials, told.pending) == (2, 5, 1)


def test_nothing_selected_is_undecided():
    found = watch(made([1, 0]), threshold=2.0, target=0.5)
    assert found.state == "undecided"
    assert found.to_dict()["interval"]["estimate"] is None
    assert watch(made([1, 0], [7, 8]), threshold=np.inf, target=0.5).state == "undecided"


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("times", "shown"),
    [
        (np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]"), "2026-01-02"),
        (np.array([1.5, 2.5]), "2.5"),
        (np.array([1, 2], dtype=object), "2"),
        (np.array([date(2026, 1, 1), date(2026, 1, 2)], dtype=object), "2026-01-02"),
        (np.array([NOON, NOON + timedelta(1)], dtype=object), "1767355200"),
    ],
)
def test_times_may_be_numbers_or_dates(times, shown):
    y = np.zeros(60, dtype=bool)
    rows = made(y, day=np.repeat(times, 30))
    found = watch(rows, threshold=0.5, target=0.3, time="day")
    late = watch(made(~y, day=np.repeat(times, 30)), threshold=0.5, target=0.3, time="day")
    assert (found.alarm, late.alarm, late.alarm_time) == (True, False, None)
    everything = made(np.repeat([True, False], 30), day=np.repeat(times, 30))
    at_the_end = watch(everything, threshold=0.5, target=0.8, time="day")
    assert at_the_end.alarm_time == shown


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (["a", "b"], "time column 't' holds text, not times: convert it first"),
        (np.array(["a", 2], dtype=object), "holds text"),
        ([True, False], "holds bool, not times"),
        ([1.0, np.nan], "must not be missing"),
        (np.array([NOON, datetime(2026, 1, 1)], dtype=object), "with and without a time zone"),
        (np.array(["2026-01-01", "NaT"], dtype="datetime64[D]"), "must not be missing"),
    ],
)
def test_times_that_are_none_are_refused(times, message):
    with pytest.raises(InputError, match=message):
        watch(made([1, 0], t=times), threshold=0.5, target=0.5, time="t")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": 0}, "target must be strictly"),
        ({"threshold": "a"}, "threshold must be a number"),
        ({"watches": "f1"}, "watches must be one of"),
        ({"time": "z"}, "no column 'z'"),
        ({"labelled": [True]}, "one value per row"),
        ({"rows": [1, 0]}, "rows must be Rows, got list"),
        ({"rows": pr.Rows([1, 0], [1, 2], sample_weight=[1, 2])}, "weighted rows"),
    ],
)
def test_bad_questions_are_named(change, message):
    asked = {"rows": made([1, 0]), "threshold": 0.5, "target": 0.5} | change
    with pytest.raises(InputError, match=message):
        watch(asked.pop("rows"), **asked)

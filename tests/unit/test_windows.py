"""A metric window by window: which rows, which limits, and what changed."""

import json
import math
from datetime import timedelta

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError
from precall.monitoring import windows
from precall.monitoring.periods import window_of


def made(prevalence, distance, size=1500, seed=0, **more):
    rng = np.random.default_rng(seed)
    count = len(prevalence)
    y = rng.random(count * size) < np.repeat(prevalence, size)
    s = rng.normal(size=y.size) + np.repeat(distance, size) * y
    return pr.Rows(y, s, columns={"t": np.repeat(np.arange(count), size)}, **more)


DATES = np.array(["2025-12-31T23", "2026-01-01T00", "2026-01-04", "2026-01-05"], "datetime64[s]")


@pytest.mark.parametrize(
    ("times", "every", "number", "starts"),
    [
        ([0.5, 3.0, 1.4, 9.0], 1, [0, 1, 0, 2], [0.5, 2.5, 8.5]),
        (DATES, "year", [0, 1, 1, 1], ["2025-01-01", "2026-01-01"]),
        (DATES, "month", [0, 1, 1, 1], ["2025-12-01", "2026-01-01"]),
        (DATES, "quarter", [0, 1, 1, 1], ["2025-10-01", "2026-01-01"]),
        (DATES, "week", [0, 0, 0, 1], ["2025-12-29", "2026-01-05"]),
        (DATES, "day", [0, 1, 2, 3], ["2025-12-31", "2026-01-01", "2026-01-04", "2026-01-05"]),
        (
            DATES,
            timedelta(days=2),
            [0, 0, 1, 2],
            ["2025-12-31T23", "2026-01-02T23", "2026-01-04T23"],
        ),
        ([1, 1, 1, 2], None, [0, 0, 0, 1], [1, 2]),
    ],
)
def test_rows_belong_to_windows(times, every, number, starts):
    found = window_of(np.asarray(times), every)
    assert found[0].tolist() == number
    expected = np.asarray(starts, dtype=found[1].dtype if isinstance(starts[0], str) else None)
    assert found[1].tolist() == expected.tolist()


def test_equal_windows_have_equal_rows():
    number, _ = window_of(np.random.default_rng(1).random(1000), None)
    assert np.bincount(number).tolist() == [100] * 10


def test_every_window_is_the_interval_of_its_rows_at_its_level():
    rows = made([0.2] * 3, [1.0] * 3)
    found = windows(rows, "aucpr", time="t", every=1)
    for index, window in enumerate(found.windows):
        part = rows.select(rows.column("t") == index)
        level = 1.0 - 0.05 * 6.0 / (math.pi * (index + 1)) ** 2
        assert window.interval == pr.interval(part, confidence_level=level)
        assert window.rows == 1500
        assert window.at_reference.estimate == pytest.approx(
            pr.aucpr(part["score"].at_prevalence(found.reference.prevalence.estimate))
        )
    assert sum(6.0 / (math.pi * t) ** 2 for t in range(1, 100_000)) < 1.0


@pytest.mark.parametrize(
    ("prevalence", "distance", "verdict"),
    [
        ([0.2, 0.2, 0.2], [2.0, 2.0, 2.0], "no change shown"),
        ([0.2, 0.2, 0.06], [2.0, 2.0, 2.0], "fewer positives"),
        ([0.2, 0.2, 0.2], [2.0, 2.0, 0.5], "worse ranking"),
        ([0.2, 0.2, 0.5], [2.0, 2.0, 0.5], "worse ranking and more positives"),
        ([0.2, 0.2, 0.2], [0.5, 0.5, 2.0], "better ranking"),
    ],
)
def test_a_worse_ranking_is_told_from_fewer_positives(prevalence, distance, verdict):
    for metric in ("aucpr", "auroc", "precision_at_threshold(1)"):
        found = windows(made(prevalence, distance, 3000), metric, time="t", every=1)
        assert found.windows[-1].verdict == verdict
    assert (verdict in found.message.lower()) or verdict == "no change shown"


def test_windows_with_few_rows_of_a_class_are_counted_and_not_judged():
    rows = made([0.001, 0.2, 0.2], [1.0] * 3)
    found = windows(rows, time="t", every=1)
    assert found.windows[0].interval is None
    assert found.windows[0].verdict == "too few rows of a class"
    assert found.reference is found.windows[1]
    frame = found.to_frame()
    assert frame["start"].tolist() == ["0", "1", "2"]
    assert frame["low"].isna().tolist() == [True, False, False]
    json.dumps(found.to_dict(), allow_nan=False)


def test_clusters_and_weights_and_models_are_taken_along():
    base = made([0.2] * 3, [1.0] * 3)
    twice = np.repeat(np.arange(len(base)), 2)
    doubled = pr.Rows(
        base.positive[twice],
        {"a": base.scores["score"][twice], "b": -base.scores["score"][twice]},
        clusters=twice,
        columns={"t": base.column("t")[twice]},
    )
    one = windows(base, time="t", every=1).windows[1]
    two = windows(doubled, time="t", every=1, model="a").windows[1]
    assert two.interval.estimate == pytest.approx(one.interval.estimate, abs=0.01)
    assert two.interval.width == pytest.approx(one.interval.width, rel=0.1)
    assert two.prevalence.width == pytest.approx(one.prevalence.width, rel=0.01)
    with pytest.raises(InputError, match="say which"):
        windows(doubled, time="t")


def test_windows_are_shown():
    found = windows(made([0.2] * 4, [1.0] * 4, 300), time="t")
    assert repr(found) == "Windows(aucpr, 4 windows, 0 changed since the first)"
    assert found.message.startswith(
        "No change of aucpr or of the prevalence is shown since 0, in 4"
    )
    axes = found.plot()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0", "1", "2", "3"]
    axes.figure.clear()


ROWS = made([0.2] * 2, [1.0] * 2, 100)
TEXT = pr.Rows([1, 0], [2, 1], columns={"t": ["monday", "tuesday"]})
DATED = pr.Rows([1, 0], [2, 1], columns={"t": DATES[:2]})


@pytest.mark.parametrize(
    ("rows", "change", "message"),
    [
        ([1], {}, "rows must be Rows"),
        (ROWS, {"time": "z"}, "no column 'z'"),
        (ROWS, {"time": ["t"]}, "no column"),
        (ROWS, {"every": 0}, "every must be positive"),
        (ROWS, {"every": "month"}, "every must be a number"),
        (ROWS, {"confidence_level": 1}, "confidence_level"),
        (ROWS, {"every": 0.001, "metric": "auroc"}, None),
        (DATED, {"every": "decade"}, "every must be one of 'hour'"),
        (DATED, {"every": 3}, "or a length of time"),
        (DATED, {"every": timedelta(0)}, "or a length of time"),
        (DATED, {"every": "day"}, "no window has 10 positives and 10 negatives"),
        (TEXT, {}, "time column 't' holds text, not times"),
    ],
)
def test_bad_questions_are_named(rows, change, message):
    if message is None:
        assert len(windows(rows, **({"time": "t"} | change))) == 2
        return
    with pytest.raises(InputError, match=message):
        windows(rows, **({"time": "t"} | change))

"""Bounds of average precision whatever the unlabelled rows are, against every labelling."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import precall as pr
from precall.audit import label_bounds as module
from precall.exceptions import InputError, UndefinedMetricError
from tests.naive_audit import average_precision_bounds

# Sums of a few fractions, in another order.
CLOSE = {"rel": 1e-12, "abs": 1e-12}


def cases(seed, count, size):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(1, size))
        scores = rng.integers(0, rng.integers(1, 12) + 1, n).astype(float)
        labels = rng.choice([0.0, 1.0, np.nan], size=n, p=rng.dirichlet([1, 1, 1]))
        least = max(int(np.sum(labels == 1)), 1)
        cap = None if rng.random() < 0.3 else int(rng.integers(least, n + 2))
        yield scores, labels, cap


def test_every_labelling_of_small_data():
    seen = capped = 0
    for scores, labels, cap in cases(5, 500, 10):
        expected = average_precision_bounds(scores, labels, cap)
        if expected is None:
            with pytest.raises(UndefinedMetricError):
                pr.audit.bounds(scores, labels, max_positives=cap)
            continue
        found = pr.audit.bounds(scores, labels, max_positives=cap)
        assert found.exact
        assert tuple(found) == pytest.approx(expected, **CLOSE)
        seen, capped = seen + 1, capped + (cap is not None)
    assert seen > 450
    assert capped > 250


def test_the_number_itself_is_never_outside():
    rng = np.random.default_rng(2)
    for size, levels in ((30, 1000), (30, 4), (200, 20)):
        truth = (rng.random(size) < 0.3).astype(float)
        scores = rng.integers(0, levels, size) + truth * levels // 2
        truth[0] = 1
        labels = np.where(rng.random(size) < 0.6, truth, np.nan)
        value = pr.aucpr(pr.rank(truth, scores))
        assert value in pr.audit.bounds(scores, labels)
        assert value in pr.audit.bounds(scores, labels, max_positives=int(truth.sum()))


def test_all_labels_leave_nothing_open_without_ties():
    scores, labels = [4, 3, 2, 1], [1, 0, 1, 0]
    found = pr.audit.bounds(scores, labels)
    assert found.low == pytest.approx(5 / 6, **CLOSE)
    assert found.high == pytest.approx(5 / 6, **CLOSE)
    assert (found.n_unlabelled, found.next_rows) == (0, ())


def test_a_tie_far_below_beats_the_highest_rows():
    """With at most ten positives, ten tied rows do better than ten rows one after the other."""
    scores = np.concatenate([np.arange(200, 90, -1), np.ones(10)])
    labels = np.full(scores.size, np.nan)
    labels[:100] = 0
    found = pr.audit.bounds(scores, labels, max_positives=10)
    assert found.high == pytest.approx(10 / 120, rel=1e-12)
    assert found.positives_at_high == 10


def test_too_much_work_gives_a_bound_that_is_guaranteed(monkeypatch):
    rng = np.random.default_rng(4)
    scores = rng.integers(0, 30, 60)
    labels = np.where(rng.random(60) < 0.5, (rng.random(60) < 0.3) * 1.0, np.nan)
    exact = pr.audit.bounds(scores, labels, max_positives=15)
    monkeypatch.setattr(module, "_WORK", 30 * module._STEP)
    loose = pr.audit.bounds(scores, labels, max_positives=15)
    assert exact.exact
    assert not loose.exact
    assert loose.high >= exact.high
    assert loose.low == exact.low


def test_the_rows_to_label_next_are_the_best_of_all():
    for scores, labels, cap in cases(8, 40, 8):
        unknown = np.flatnonzero(np.isnan(labels))
        if average_precision_bounds(scores, labels, cap) is None or not unknown.size:
            continue
        widths = {}
        for row in unknown:
            widths[int(row)] = 0.0
            for label in (0.0, 1.0):
                guess = labels.copy()
                guess[row] = label
                ends = average_precision_bounds(scores, guess, cap)
                if ends is not None:
                    widths[int(row)] = max(widths[int(row)], ends[1] - ends[0])
        found = pr.audit.bounds(scores, labels, max_positives=cap)
        assert found.next_widths[0] == pytest.approx(min(widths.values()), **CLOSE)
        for row, width in zip(found.next_rows, found.next_widths, strict=True):
            assert width == pytest.approx(widths[row], **CLOSE)


LABELS = {
    "None": [1, None, 0, None],
    "booleans": [True, None, False, None],
    "mapping": {0: 1, 2: 0},
    "mapping with unknown": {0: True, 1: None, 2: False, 3: float("nan")},
    "pandas": pd.Series([1, None, 0, None], dtype="Int64"),
    "pandas floats": pd.Series([1, None, 0, None]),
    "Arrow": pa.array([1, None, 0, None]),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_in_any_form(name):
    assert pr.audit.bounds([4, 3, 2, 1], LABELS[name]) == pr.audit.bounds(
        [4, 3, 2, 1], [1, np.nan, 0, np.nan]
    )


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ([1, 0], {}, "one value for each of the 3 scores"),
        ({3: 1}, {}, "labels has a row 3, but there are 3 scores"),
        ({"a": 1}, {}, "a row in labels must be a whole number"),
        ({0: 2, 1: 0}, {}, "labels"),
        ([1, 2, 0], {}, "labels must have at most two labels"),
        (None, {}, "labels must hold one value per row"),
        ([1, 1, None], {"max_positives": 1}, "2 rows are labelled positive"),
        ([1, 1, None], {"max_positives": 0}, "max_positives must be a whole number"),
    ],
)
def test_bad_labels_are_refused(labels, options, message):
    with pytest.raises(InputError, match=message):
        pr.audit.bounds([3, 2, 1], labels, **options)


def test_a_missing_score_is_refused():
    with pytest.raises(InputError, match="scores must not be missing"):
        pr.audit.bounds([3, None, 1], [1, 0, None])


def test_it_can_be_written_down():
    found = pr.audit.bounds([4, 3, 2, 1], [1, None, 0, None])
    assert repr(found).startswith("LabelBounds(low=")
    assert found.to_frame()["n_labelled"].item() == 2
    assert found.to_dict()["next_rows"] == list(found.next_rows)
    assert found.width == found.high - found.low

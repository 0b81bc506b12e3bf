"""Hostile tables: the engine says about a table what `pr.rank` says about its columns."""

from __future__ import annotations

import datetime as dt
import os
import warnings
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import precall as pr
from precall.engines import arrow
from precall.exceptions import DirectionWarning, InputError

pa = pytest.importorskip("pyarrow")

SIZE = 6
LABELS = {
    "integers": lambda: pa.array([1, 0, 1, 0, 0, 1]),
    "int8": lambda: pa.array([1, 0, 1, 0, 0, 1], pa.int8()),
    "minus one and one": lambda: pa.array([1, -1, 1, -1, -1, 1]),
    "booleans": lambda: pa.array([True, False, True, False, False, True]),
    "floats": lambda: pa.array([1.0, 0.0, 1.0, 0.0, 0.0, 1.0]),
    "one class": lambda: pa.array([0] * SIZE),
    "a third label": lambda: pa.array([1, 0, 1, 0, 0, 2]),
    "missing": lambda: pa.array([1, 0, None, 0, 0, 1]),
    "not a number": lambda: pa.array([1.0, 0.0, np.nan, 0.0, 0.0, 1.0]),
    "words": lambda: pa.array(["a", "b", "a", "b", "b", "a"]),
    "words in a dictionary": lambda: LABELS["words"]().dictionary_encode(),
    "integers in a dictionary": lambda: LABELS["integers"]().dictionary_encode(),
    "missing in a dictionary": lambda: pa.array(
        ["a", "b", None, "b", "b", "a"]
    ).dictionary_encode(),
    "nested": lambda: pa.array([[1], [0], [1], [0], [0], [1]]),
    "dates": lambda: pa.array([dt.date(2024, 1, 1), dt.date(2024, 1, 2)] * 3),
    "nulls": lambda: pa.nulls(SIZE),
}
SCORES = {
    "floats": lambda: pa.array([0.9, 0.8, 0.8, 0.3, 0.1, 0.3]),
    "float32": lambda: pa.array([0.5, 0.25, 0.25, 0.125, 2.0, 0.5], pa.float32()),
    "integers": lambda: pa.array([5, 4, 4, 3, 2, 1]),
    "uint64": lambda: pa.array([2**64 - 1 - row for row in range(SIZE)], pa.uint64()),
    "beyond floats": lambda: pa.array([2**62 + row for row in range(SIZE)]),
    "booleans": lambda: pa.array([True, False] * 3),
    "infinite": lambda: pa.array([np.inf, -np.inf, 0.0, -0.0, np.inf, 1.0]),
    "all ties": lambda: pa.array([1.5] * SIZE),
    "missing": lambda: pa.array([0.9, None, 0.8, 0.3, 0.1, 0.3]),
    "not a number": lambda: pa.array([0.9, np.nan, 0.8, 0.3, 0.1, 0.3]),
    "dictionary": lambda: SCORES["floats"]().dictionary_encode(),
    "decimals": lambda: pa.array([Decimal("0.1") * row for row in range(SIZE)]),
    "words": lambda: pa.array(["9", "8", "8", "3", "1", "3"]),
    "dates": lambda: pa.array([dt.date(2024, 1, 1 + row) for row in range(SIZE)]),
    "nested": lambda: pa.array([[0.5]] * SIZE),
    "structs": lambda: pa.array([{"a": 0.5}] * SIZE),
    "nulls": lambda: pa.nulls(SIZE),
}
WEIGHTS = {
    "floats": lambda: pa.array([1.0, 2.0, 0.5, 0.0, 1.0, 3.0]),
    "integers": lambda: pa.array([1, 2, 3, 0, 1, 3]),
    "zeros": lambda: pa.array([0.0] * SIZE),
    "negative": lambda: pa.array([1.0, -2.0, 0.5, 0.0, 1.0, 3.0]),
    "infinite": lambda: pa.array([1.0, np.inf, 0.5, 0.0, 1.0, 3.0]),
    "far": lambda: pa.array([1.0, 1e300, 0.5, 0.0, 1.0, 3.0]),
    "missing": lambda: pa.array([1.0, None, 0.5, 0.0, 1.0, 3.0]),
    "decimals": lambda: pa.array([Decimal("0.5")] * SIZE),
    "words": lambda: pa.array(["1"] * SIZE),
    "nested": lambda: pa.array([[1.0]] * SIZE),
}
POSITIVE = (1, 1.0, True, 0, -1, "a", "b", "z", 2, b"a", None, dt.date(2024, 1, 1), [1])


def answer(call, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DirectionWarning)
        try:
            return call(*arguments, **options)
        except InputError:
            return "refused"


def cut(table, cuts):
    """The same rows in chunks, some of them empty."""
    edges = [0, *sorted(cuts), table.num_rows]
    pieces = [table.slice(a, b - a) for a, b in pairwise(edges)]
    return pa.concat_tables(pieces)


def both(labels, scores, weights, pos_label, cuts=()):
    columns = {"y": labels, "s": scores} | ({} if weights is None else {"w": weights})
    table = cut(pa.table(columns), cuts)
    weight = None if weights is None else table["w"]
    expected = answer(pr.rank, table["y"], table["s"], sample_weight=weight, pos_label=pos_label)
    name = None if weights is None else "w"
    found = answer(arrow.rank, table, label="y", score="s", weight=name, pos_label=pos_label)
    return expected, found


@pytest.mark.parametrize("kind", LABELS)
def test_every_kind_of_labels(kind):
    for pos_label in POSITIVE:
        expected, found = both(LABELS[kind](), SCORES["floats"](), None, pos_label)
        assert found == expected, pos_label


@pytest.mark.parametrize("kind", SCORES)
def test_every_kind_of_scores(kind):
    expected, found = both(LABELS["integers"](), SCORES[kind](), None, 1)
    assert found == expected


@pytest.mark.parametrize("kind", WEIGHTS)
def test_every_kind_of_weights(kind):
    expected, found = both(LABELS["integers"](), SCORES["floats"](), WEIGHTS[kind](), 1)
    assert found == expected


@settings(max_examples=settings.default.max_examples // 2)
@given(
    label=st.sampled_from(sorted(LABELS)),
    score=st.sampled_from(sorted(SCORES)),
    weight=st.none() | st.sampled_from(sorted(WEIGHTS)),
    pos_label=st.sampled_from(POSITIVE),
    cuts=st.lists(st.integers(0, SIZE), max_size=4),
)
def test_any_table_in_any_chunks(label, score, weight, pos_label, cuts):
    weights = None if weight is None else WEIGHTS[weight]()
    expected, found = both(LABELS[label](), SCORES[score](), weights, pos_label, cuts)
    assert found == expected


@pytest.mark.parametrize(
    "table",
    [
        pa.table({}),
        pa.table({"y": []}),
        pa.table({"y": pa.array([], pa.int64()), "s": pa.array([], pa.float64())}),
        pa.table([pa.array([1, 0]), pa.array([1.0, 2.0])], names=["s", "s"]),
        pa.table([pa.array([1, 0])] * 3, names=["y", "s", "s"]),
        pa.table([pa.array([1, 0])] * 2, names=["", "s"]),
    ],
    ids=["no columns", "no scores", "no rows", "no labels", "two of one name", "no name"],
)
def test_tables_that_do_not_hold_the_columns(table):
    with pytest.raises(InputError):
        arrow.rank(table, label="y", score="s")


def test_a_name_that_is_not_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"\xff.csv")
    try:
        (tmp_path / name).write_text("y,s\n1,2\n0,1\n")
    except OSError:
        pytest.skip("this file system has no such names")
    with pytest.raises(InputError, match="cannot be read"):
        arrow.rank(name, label="y", score="s")

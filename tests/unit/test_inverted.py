"""Recall at a precision, from the limits of precision at every recall."""

import numpy as np
import pytest

import precall as pr
from precall.inference.rules import inverted
from precall.simulate import Binormal


@pytest.fixture
def ranking():
    return pr.rank(*Binormal(1.5).sample(40, 160, rng=4))


@pytest.mark.parametrize("precision", [0.3, 0.5, 0.8])
def test_its_ends_are_where_the_limits_of_precision_cross(ranking, precision):
    found = pr.interval(ranking, pr.metrics.recall_at_precision(precision), sampling="classes")
    grid = np.arange(1, 129) / 128
    limits = np.array(
        [
            list(pr.interval(ranking, f"precision_at_recall({recall})", sampling="classes"))
            for recall in grid
        ]
    )
    surely, maybe = (grid[limits[:, end] >= precision] for end in (0, 1))
    assert found.low == min(surely.max(initial=0.0), found.estimate)
    assert found.high == min(maybe.max(initial=0.0) + 1 / 128, 1.0)
    assert found.method == "mover"


def test_a_precision_that_is_out_of_reach(ranking):
    lowest = pr.interval(ranking, "recall_at_precision(1)")
    assert lowest.low == 0.0
    anything = pr.interval(ranking, "recall_at_precision(0.01)")
    assert (anything.estimate, anything.high) == (1.0, 1.0)


def test_blocks_of_recalls_change_nothing(ranking, monkeypatch):
    whole = pr.interval(ranking, "recall_at_precision(0.5)")
    monkeypatch.setattr(inverted, "_BLOCK", 7 * len(ranking))
    assert tuple(pr.interval(ranking, "recall_at_precision(0.5)")) == tuple(whole)
    assert whole.at_level(0.5).high <= whole.high


def test_clusters_widen_it():
    y, s = Binormal(1.5).sample(60, 120, rng=1)
    rows = pr.Rows(np.tile(y, 4), np.tile(s, 4), clusters=np.tile(np.arange(y.size), 4))
    once = pr.interval(pr.rank(y, s), "recall_at_precision(0.6)")
    copied = pr.interval(pr.rank(np.tile(y, 4), np.tile(s, 4)), "recall_at_precision(0.6)")
    clustered = pr.interval(rows, "recall_at_precision(0.6)")
    assert copied.high - copied.low < clustered.high - clustered.low
    assert tuple(clustered) == pytest.approx(tuple(once), abs=1 / 64)

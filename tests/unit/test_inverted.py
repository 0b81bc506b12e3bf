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
    floor, ceiling = unseen_on_top(ranking, precision)
    assert found.low == pytest.approx(min(surely.max(initial=0.0), found.estimate, floor))
    assert found.high == pytest.approx(max(min(maybe.max(initial=0.0) + 1 / 128, 1.0), ceiling))
    assert found.method == "mover"


def unseen_on_top(ranking, precision):
    """The recall if a share of a class that a sample misses once in twenty were above the rest."""
    n, m = ranking.n_pos, ranking.n_neg
    ours, theirs = (1 - 0.05 ** (1 / size) for size in (n, m))
    ends = []
    for tp, fp in (
        (ranking.tp, theirs * m + (1 - theirs) * ranking.fp),
        (np.append(0, ranking.tp) * (1 - ours) + ours * n, np.append(0, ranking.fp)),
    ):
        ends.append(np.max(np.where(tp >= precision * (tp + fp), tp, 0)) / n)
    return ends


def test_a_sample_without_positives_on_top_cannot_exclude_them():
    ranking = pr.rank(np.arange(2000) % 100 == 99, -np.arange(2000.0))
    found = pr.interval(ranking, "recall_at_precision(0.5)")
    assert (found.estimate, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(1 - 0.05 ** (1 / 20))


def test_a_sample_without_negatives_on_top_cannot_exclude_them():
    ranking = pr.rank(np.arange(40) < 20, -np.arange(40.0))
    found = pr.interval(ranking, "recall_at_precision(0.95)")
    assert (found.estimate, found.low, found.high) == (1.0, 0.0, 1.0)


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

"""A metric of a threshold on rows: they are counted, not ranked, and the answer is the same."""

import numpy as np
import pytest

import precall as pr
from precall.exceptions import DirectionWarning, InputError
from precall.metrics.confusion import AtThreshold
from precall.ranking.counted_rows import count_at
from tests.datasets import random_data

METRICS = [
    *(kind(0.5) for kind in pr.METRICS.values() if issubclass(kind, AtThreshold)),
    pr.metrics.net_benefit(0.2, threshold=0.5),
    pr.metrics.expected_cost(3, threshold=0.5),
]

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_rows_give_what_their_ranking_gives(metric):
    rng = np.random.default_rng(1)
    for _ in range(20):
        y, s, _ = random_data(rng)
        rows, ranking = pr.Rows(y, s), pr.rank(y, s, thresholds=[0.5])
        assert metric(rows) == metric(ranking)
        for method in ("clopper_pearson", "wilson"):
            for options in ({}, {"sampling": "classes"}, {"prevalence": 0.1}):
                found, expected = (
                    pr.interval(data, metric, method=method, **options) for data in (rows, ranking)
                )
                assert (found.estimate, *found) == pytest.approx(
                    (expected.estimate, *expected), rel=1e-12
                )
                assert found.standard_error == pytest.approx(
                    expected.standard_error, rel=1e-9, nan_ok=True
                )


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, np.bool_])
def test_counts_at_several_thresholds(dtype):
    rng = np.random.default_rng(2)
    for _ in range(30):
        y = rng.random(40) < 0.4
        s = (rng.integers(0, 2 if dtype is np.bool_ else 9, 40)).astype(dtype)
        if dtype is np.bool_:
            s = s.astype(np.uint8)
        asked = tuple(rng.choice([-np.inf, -3.0, 0.0, 0.5, 2.0, 2.5, 7.0, 300.0, np.inf], 3))
        found = count_at(y, s, asked)
        assert (found.n_pos, found.n_neg) == (y.sum(), 40 - y.sum())
        for threshold in asked:
            rows = found.rows_reaching(threshold)
            chosen = s >= threshold
            counts = (found.tp[rows - 1], found.fp[rows - 1]) if rows else (0, 0)
            assert counts == (np.sum(y & chosen), np.sum(~y & chosen))


def test_rows_are_not_sorted_for_one_threshold(monkeypatch):
    rows = pr.Rows([1, 0, 1, 0, 1], {"a": [5, 4, 3, 2, 1], "b": [1, 2, 3, 4, 5]})

    def refuse(*arguments):
        raise AssertionError("the rows were ranked")

    monkeypatch.setattr("precall.rows.rank_checked", refuse)
    words = "precision_at_threshold(3)"
    assert pr.interval(rows, words, model="a").estimate == 2 / 3
    assert pr.metrics.parse(words)(rows.only("b")) == 2 / 3
    with pytest.raises(AssertionError, match="were ranked"):
        pr.interval(rows, "aucpr", model="a")
    with pytest.raises(AssertionError, match="were ranked"):
        pr.interval(rows, words, model="a", method="bootstrap_percentile")


def test_weights_and_clusters_are_ranked_as_before():
    y, s = [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1]
    for options in ({"sample_weight": [1, 2, 1, 3, 1, 1]}, {"clusters": [0, 0, 1, 1, 2, 2]}):
        rows = pr.Rows(y, s, **options)
        ranked = rows.counted(None, (3.0,)).ranking
        assert not ranked.coarsened
        assert len(ranked) > 2
    rows = pr.Rows(y, s)
    assert rows.counted(None, (3.0,)).ranking.coarsened
    rows.ranking("score", (3.0,))
    assert not rows.counted(None, (3.0,)).ranking.coarsened


def test_a_direction_that_the_counts_show_is_said():
    y = np.repeat([1, 0], [50, 50])
    with pytest.warns(DirectionWarning):
        pr.interval(pr.Rows(y, 1.0 - y), "recall_at_threshold(0.5)")
    with pytest.raises(InputError, match="there is no model"):
        pr.Rows(y, y).counted("other", (0.5,))

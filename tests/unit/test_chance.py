"""Tests against random orders: every placement of the positives, beside other implementations."""

import json
from itertools import combinations

import numpy as np
import pytest
import scipy.stats

import precall as pr
from precall.exceptions import InputError, UndefinedMetricError
from precall.inference import chance
from tests import naive

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]
SCORES = [9, 8, 8, 7, 5, 5, 5, 3, 2, 1]


def every_value(scores, n_pos, metric):
    """The metric for every placement, each ranked by itself."""
    found = []
    for places in combinations(range(len(scores)), n_pos):
        y = np.zeros(len(scores), dtype=int)
        y[list(places)] = 1
        found.append(metric(pr.Rows(y, scores)))
    return np.array(found)


class TestExact:
    @pytest.mark.parametrize(
        "words",
        [
            "aucpr",
            "aucpr(estimator=davis_goadrich)",
            "auroc",
            "aucnpr",
            "auprg",
            "precision_at_recall(0.5)",
            "precision_at_k(3)",
            "recall_at_k(4)",
            "lift_at_k(0.3)",
        ],
    )
    def test_every_placement_is_counted_with_its_ties(self, words):
        y = [1, 0, 1, 1, 0, 0, 0, 0, 0, 0]
        test = pr.chance_test(pr.Rows(y, SCORES), words)
        values = every_value(SCORES, 3, pr.metrics.parse(words))
        np.testing.assert_allclose(test.distribution, np.sort(values), atol=1e-12)
        assert test.exact
        assert test.expected == pytest.approx(np.mean(values))
        assert test.p_value == pytest.approx(np.mean(values >= test.estimate - 1e-12))
        assert test.estimate == pytest.approx(pr.metrics.parse(words)(pr.Rows(y, SCORES)))

    def test_average_precision_by_hand(self):
        """Two positives of four rows: 1, 5/6, 3/4, 7/12, 1/2 and 5/12, each once."""
        test = pr.chance_test(pr.rank([1, 0, 1, 0], [4, 3, 2, 1]))
        expected = [5 / 12, 1 / 2, 7 / 12, 3 / 4, 5 / 6, 1]
        np.testing.assert_allclose(test.distribution, expected)
        assert test.p_value == pytest.approx(2 / 6)

    def test_fewer_errors_are_better(self):
        y, s = [1, 1, 0, 0, 0], [0.9, 0.8, 0.3, 0.2, 0.1]
        for words in ("false_positive_rate_at_threshold(0.5)", "expected_cost(2)"):
            assert pr.chance_test(pr.Rows(y, s), words).p_value == pytest.approx(1 / 10)

    def test_equal_scores_say_nothing(self):
        test = pr.chance_test(pr.Rows([1, 0, 0, 1, 0], [2, 2, 2, 2, 2]))
        assert test.p_value == 1.0
        np.testing.assert_allclose(test.distribution, 0.4)

    def test_rows_know_the_ties_of_negatives_and_a_ranking_does_not(self):
        y, s = [1, 0, 0, 0, 0], [5, 3, 3, 3, 3]
        assert pr.chance_test(pr.Rows(y, s)).distribution.tolist() == [0.2] * 4 + [1.0]
        untied = pr.chance_test(pr.rank(y, s)).distribution
        np.testing.assert_allclose(untied, [1 / 5, 1 / 4, 1 / 3, 1 / 2, 1])


class TestDrawn:
    def test_auroc_agrees_with_the_exact_rank_sum_test(self):
        rng = np.random.default_rng(1)
        y = rng.random(60) < 0.3
        s = rng.normal(size=60) + 0.6 * y
        test = pr.chance_test(pr.rank(y, s), "auroc", rng=0)
        expected = scipy.stats.mannwhitneyu(s[y], s[~y], alternative="greater", method="exact")
        assert not test.exact
        error = np.sqrt(expected.pvalue / test.distribution.size)
        assert abs(test.p_value - expected.pvalue) < 6 * error
        assert test.expected == pytest.approx(0.5, abs=6 * np.std(test.distribution) / 100)

    def test_drawn_orders_have_the_distribution_of_all(self, monkeypatch):
        y = [1, 0, 1, 1, 0, 0, 0, 0, 0, 0]
        exact = pr.chance_test(pr.Rows(y, SCORES))
        monkeypatch.setattr("precall.inference.chance._ALL", 1)
        monkeypatch.setattr("precall.inference.chance._BLOCK", 1000)
        drawn = pr.chance_test(pr.Rows(y, SCORES), rng=3, n_resamples=20_000)
        assert not drawn.exact
        distance = scipy.stats.ks_2samp(
            np.round(drawn.distribution, 10), np.round(exact.distribution, 10), method="asymp"
        ).statistic
        assert distance < 0.02  # six standard errors of a share of 20,000
        assert drawn.p_value == pytest.approx(exact.p_value, abs=0.02)

    def test_it_is_reproducible_and_reports_progress(self):
        rng = np.random.default_rng(2)
        ranking = pr.rank(rng.random(300) < 0.2, rng.random(300))
        seen = []
        first = pr.chance_test(ranking, rng=5, n_resamples=500, progress=lambda *n: seen.append(n))
        again = pr.chance_test(ranking, rng=5, n_resamples=500)
        assert first.distribution.tolist() == again.distribution.tolist()
        assert seen[-1] == (500, 500)
        assert first.p_value >= 1 / 501

    def test_millions_of_negatives_need_no_memory(self):
        ranking = pr.rank([1, 0, 1, 0], [4, 3, 2, 1])
        large = pr.Ranking(
            threshold=ranking.threshold,
            positives=ranking.positives,
            tied=ranking.tied,
            above=np.array([0, 10**9]),
            below=10**10,
        )
        test = pr.chance_test(large, rng=0, n_resamples=200)
        assert test.p_value == pytest.approx(1 / 201)

    def test_many_placements_of_many_positives_are_drawn(self):
        """C(600, 2) is small, but every placement has 598 positives."""
        y = np.r_[np.ones(598), [0, 0]]
        test = pr.chance_test(pr.rank(y, -np.arange(600.0)), rng=0, n_resamples=99)
        assert (test.exact, test.distribution.size) == (False, 99)
        assert pr.chance_test(pr.rank(y[-40:], -np.arange(40.0))).exact

    def test_pieces_make_no_difference(self, monkeypatch):
        y = [1, 0, 1, 1, 0, 0, 0, 0, 0, 0]
        whole = pr.chance_test(pr.Rows(y, SCORES))
        monkeypatch.setattr("precall.inference.chance._BLOCK", 21)
        assert pr.chance_test(pr.Rows(y, SCORES)).distribution.tolist() == (
            whole.distribution.tolist()
        )


class TestAtAThreshold:
    @pytest.mark.parametrize("counts", [(3, 7, 4), (50, 3, 20), (400, 90_000, 700), (5, 5, 10)])
    def test_probabilities_are_hypergeometric(self, counts):
        n, m, selected = counts
        tp = np.arange(max(selected - m, 0), min(n, selected) + 1)
        found = chance._hypergeometric(tp, n, m, selected)
        expected = scipy.stats.hypergeom(n + m, n, selected).pmf(tp)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-300)

    def test_is_the_hypergeometric_test(self):
        rng = np.random.default_rng(4)
        y = rng.random(200) < 0.2
        s = rng.random(200) + 0.2 * y
        test = pr.chance_test(pr.Rows(y, s), "precision_at_threshold(0.9)")
        chosen = s >= 0.9
        expected = scipy.stats.hypergeom(200, y.sum(), chosen.sum()).sf(np.sum(chosen & y) - 1)
        assert test.exact
        assert test.p_value == pytest.approx(expected)
        assert test.expected == pytest.approx(y.mean())

    def test_beside_every_placement(self):
        y = [1, 0, 1, 1, 0, 0, 0, 0, 0, 0]
        test = pr.chance_test(pr.Rows(y, SCORES), "f1_at_threshold(5)")
        values = every_value(SCORES, 3, pr.metrics.f1_at_threshold(5))
        assert test.p_value == pytest.approx(np.mean(values >= test.estimate - 1e-12))
        assert test.expected == pytest.approx(np.mean(values))


def test_average_precision_of_a_random_order_is_what_the_formula_says():
    y = [1, 0, 1, 1, 0, 0, 0, 0, 0, 0]
    test = pr.chance_test(pr.rank(y, range(10, 0, -1)))
    assert test.expected == pytest.approx(pr.random_average_precision(3, 7))
    expected = naive.aucpr("average_precision", y, range(10, 0, -1))
    assert test.estimate == pytest.approx(float(expected))


def test_what_is_refused():
    y, s = [1, 0, 1, 0], [4, 3, 2, 1]
    with pytest.raises(InputError, match="rows of one cluster are not"):
        pr.chance_test(pr.Rows(y, s, clusters=[1, 1, 2, 2]))
    with pytest.raises(InputError, match="these have weights"):
        pr.chance_test(pr.rank(y, s, sample_weight=[1, 2, 1, 2]))
    with pytest.raises(UndefinedMetricError, match="no negatives"):
        pr.chance_test(pr.rank([1, 1], [2, 1]))
    with pytest.raises(InputError, match="with missed positives"):
        pr.chance_test(pr.rank(y, s, missed_positives=3), "auprg")
    with pytest.raises(InputError, match="coarsened"):
        pr.chance_test(pr.rank([1, 0, 1, 0, 1, 0], range(6)).coarsen(2))


def test_it_survives_json_and_is_a_table():
    test = pr.chance_test(pr.rank([1, 0, 1, 0], [4, 3, 2, 1]))
    plain = json.loads(json.dumps(test.to_dict()))
    assert plain["distribution"] == test.distribution.tolist()
    assert sum(plain["probabilities"]) == pytest.approx(1.0)
    assert len(test.to_frame()) == 6

"""Every metric of the counts at a threshold: one formula, beside fractions and scikit-learn."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
import sklearn.metrics

import precall as pr
from precall.exceptions import InputError, UndefinedMetricWarning
from precall.metrics.confusion import AT_THRESHOLDS, AtThreshold, OfCounts, OfMeasure
from precall.metrics.four_counts import MEASURES, CountShare, FourCounts
from tests import naive_points
from tests.datasets import random_data

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]
# Fractions, or a few float operations each.
TOLERANCE = 1e-12
NAMES = [name for name, kind in pr.METRICS.items() if issubclass(kind, AtThreshold)]
# What the metrics are, straight from their definitions.
BY_HAND = {
    "precision": lambda tp, fp, fn, tn: tp / (tp + fp),
    "recall": lambda tp, fp, fn, tn: tp / (tp + fn),
    "f1": naive_points.f_measure,
    "f_beta": naive_points.f_measure,
    "specificity": lambda tp, fp, fn, tn: tn / (tn + fp),
    "false_positive_rate": lambda tp, fp, fn, tn: fp / (tn + fp),
    "false_negative_rate": lambda tp, fp, fn, tn: fn / (tp + fn),
    "negative_predictive_value": lambda tp, fp, fn, tn: tn / (tn + fn),
    "accuracy": lambda tp, fp, fn, tn: (tp + tn) / (tp + fp + fn + tn),
    "balanced_accuracy": lambda tp, fp, fn, tn: (tp / (tp + fn) + tn / (tn + fp)) / 2,
    "informedness": lambda tp, fp, fn, tn: tp / (tp + fn) - fp / (tn + fp),
    "jaccard": lambda tp, fp, fn, tn: tp / (tp + fp + fn),
    "mcc": naive_points.matthews,
}


@pytest.mark.parametrize("name", NAMES)
def test_against_fractions(name):
    rng = np.random.default_rng(5)
    expected = BY_HAND[name.removesuffix("_at_threshold")]
    seen = 0
    for weights in ("none", "real", "whole"):
        for _ in range(30):
            y, s, w = random_data(rng, weights=weights)
            counts = naive_points.counts_at(y, s, 0.4, w)
            if not all(counts):
                continue
            metric = pr.METRICS[name](0.4)
            for data in (
                pr.Rows(y, s, sample_weight=w),
                pr.rank(y, s, sample_weight=w, thresholds=[0.4]),
            ):
                assert metric(data) == pytest.approx(
                    float(expected(*counts)), rel=TOLERANCE, abs=TOLERANCE
                )
            seen += 1
    assert seen > 20


def test_beside_scikit_learn():
    rng = np.random.default_rng(6)
    y = rng.random(500) < 0.2
    s = rng.normal(size=500) + y
    rows, said = pr.Rows(y, s), s >= 0.8
    theirs = {
        "precision": sklearn.metrics.precision_score,
        "recall": sklearn.metrics.recall_score,
        "f1": sklearn.metrics.f1_score,
        "accuracy": sklearn.metrics.accuracy_score,
        "balanced_accuracy": sklearn.metrics.balanced_accuracy_score,
        "jaccard": sklearn.metrics.jaccard_score,
        "mcc": sklearn.metrics.matthews_corrcoef,
    }
    for name, function in theirs.items():
        found = pr.METRICS[f"{name}_at_threshold"](0.8)(rows)
        assert found == pytest.approx(function(y, said), rel=TOLERANCE)


def test_the_table_of_a_threshold_says_the_same():
    rng = np.random.default_rng(7)
    y = rng.random(300) < 0.3
    ranking = pr.rank(y, rng.normal(size=300) + y, thresholds=[0.5])
    table = pr.confusion(ranking, 0.5)
    for name in NAMES:
        short = name.removesuffix("_at_threshold")
        if short == "f_beta":
            assert pr.metrics.f_beta_at_threshold(0.5, beta=2)(ranking) == table.f_beta(2)
            continue
        attribute = {"mcc": "matthews_correlation"}.get(short, short)
        assert pr.METRICS[name](0.5)(ranking) == getattr(table, attribute)
    assert set(table.to_dict()) == {"threshold", "tp", "fp", "fn", "tn", *MEASURES}


@pytest.mark.parametrize("name", MEASURES)
def test_slopes_are_derivatives(name):
    measure = MEASURES[name]
    counts = FourCounts(*(np.array([value, 2.0 * value]) for value in (30.0, 12.0, 9.0, 77.0)))
    step = 1e-4
    by_tp, by_fp = measure.slopes(counts)
    for slope, moves in ((by_tp, (1, 0, -1, 0)), (by_fp, (0, 1, 0, -1))):
        up, down = (
            measure.of(
                FourCounts(*(c + sign * step * m for c, m in zip(counts, moves, strict=True)))
            )
            for sign in (1, -1)
        )
        # A difference over 2e-4 is off by 1e-8 of curvature and 1e-12 of rounding.
        np.testing.assert_allclose(slope, (up - down) / (2 * step), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_metric_says_of_itself(name):
    kind = pr.METRICS[name]
    metric = kind(0.3)
    assert pr.metrics.parse(str(metric)) == metric
    assert getattr(pr.metrics, name) is kind
    assert pickle.loads(pickle.dumps(metric)) == metric
    low, high = metric.bounds
    assert metric.lower_is_better == (name.startswith("false"))
    rng = np.random.default_rng(3)
    y = rng.random(80) < 0.3
    for s in (rng.normal(size=80), y + 0.0, 1.0 - y):
        assert low - TOLERANCE <= metric(pr.Rows(y, s)) <= high + TOLERANCE


def test_a_share_knows_what_it_is_a_share_of():
    shares = {
        name: measure for name, measure in MEASURES.items() if isinstance(measure, CountShare)
    }
    counts = FourCounts(6, 4, 2, 88)
    assert shares["precision"].rows(counts) == (6, 10)
    assert shares["f1"].rows(counts) == (6, 12)
    assert shares["f1"].weights == (2.0, 1.0)
    assert {name for name, share in shares.items() if share.of_one_class} == {
        "recall",
        "specificity",
        "false_positive_rate",
        "false_negative_rate",
    }


def test_what_has_no_value_is_nan_in_the_table_and_zero_as_a_metric():
    ranking = pr.rank([1, 0, 1], [3, 2, 1], thresholds=[9])
    table = pr.confusion(ranking, 9)
    assert np.isnan(table.precision)
    assert pr.metrics.precision_at_threshold(9)(ranking) == 0.0
    assert table.matthews_correlation == pr.metrics.mcc_at_threshold(9)(ranking) == 0.0
    with pytest.warns(UndefinedMetricWarning, match="no negatives"):
        assert np.isnan(pr.metrics.specificity_at_threshold(1)(pr.rank([1, 1], [2, 1])))


def test_all_are_in_every_function():
    rng = np.random.default_rng(8)
    y = rng.random(200) < 0.3
    scores = {"a": rng.normal(size=200) + y, "b": rng.normal(size=200) + 2 * y}
    rows = pr.Rows(y, scores, columns={"part": np.repeat(["x", "y"], 100)})
    for kind in (*AT_THRESHOLDS, pr.metrics.f1_at_threshold):
        assert issubclass(kind, OfMeasure)
        metric = kind(0.5)
        found = pr.interval(rows, metric, model="a")
        assert found.low <= found.estimate <= found.high
        assert pr.compare(rows, metric).estimates["a"] == pytest.approx(found.estimate)
        values = pr.per_group(rows, metric, by="part", model="a").values
        halves = [
            metric(pr.Rows(y[part], scores["a"][part])) for part in (slice(100), slice(100, 200))
        ]
        np.testing.assert_allclose(values, halves, rtol=TOLERANCE)


def test_of_two_models_the_one_with_fewer_errors_is_the_best():
    rng = np.random.default_rng(8)
    y = rng.random(400) < 0.3
    scores = {"poor": rng.normal(size=400) + 0.3 * y, "good": rng.normal(size=400) + 3 * y}
    rows = pr.Rows(y, scores)
    for words in ("false_negative_rate_at_threshold(1)", "expected_cost(5, threshold=1)"):
        for method in ("influence", "bootstrap"):
            found = pr.compare(rows, words, method=method, rng=0, n_resamples=200)
            assert found.ranked == ["good", "poor"]
            assert found.probability_best["good"] > 0.99
        assert pr.chance_test(rows, words, model="good").p_value < 1e-6


class TestUtility:
    Y, S = [1, 0, 1, 0, 0], [0.9, 0.6, 0.4, 0.3, 0.1]

    def test_net_benefit_by_hand(self):
        rows = pr.Rows(self.Y, self.S)
        for q, tp, fp in ((Fraction(1, 5), 2, 2), (Fraction(1, 2), 1, 1)):
            expected = Fraction(tp, 5) - Fraction(fp, 5) * q / (1 - q)
            found = pr.metrics.net_benefit(float(q))(rows)
            assert found == pytest.approx(float(expected), rel=TOLERANCE)
        curve = pr.net_benefit_curve(rows, probabilities=[0.2, 0.5])
        values = [pr.metrics.net_benefit(q)(rows) for q in (0.2, 0.5)]
        np.testing.assert_allclose(curve.y, values, rtol=TOLERANCE, atol=TOLERANCE)
        assert pr.metrics.net_benefit(0.2, threshold=0.5)(rows) == pytest.approx(0.2 - 0.2 / 4)

    def test_expected_cost_by_hand(self):
        rows = pr.Rows(self.Y, self.S)
        # From 1 / (1 + 9) on: two false alarms and no miss; from 1/2 on: one of each.
        assert pr.metrics.expected_cost(9)(rows) == pytest.approx(3 / 5)
        assert pr.metrics.expected_cost(1)(rows) == pytest.approx(2 / 5)
        assert pr.metrics.expected_cost(1, threshold=0.95)(rows) == pytest.approx(2 / 5)
        ranking = pr.rank(self.Y, self.S)
        best = pr.best_threshold(ranking, "cost", cost_ratio=3)
        found = pr.metrics.expected_cost(3, threshold=best.threshold)(ranking)
        assert found == pytest.approx(best.value)

    def test_a_negative_that_is_no_probability_is_seen_too(self):
        """A ranking keeps the scores of positives; rows know all."""
        scores = {"a": [0.9, 0.6, 0.4, 0.3, 0.1], "b": [0.9, 8.0, 0.4, 0.3, 0.1]}
        rows = pr.Rows([1, 0, 1, 0, 1], scores, columns={"g": [0, 0, 0, 1, 1]})
        questions = (
            lambda metric: metric(rows.only("b")),
            lambda metric: pr.interval(rows, metric, model="b"),
            lambda metric: pr.compare(rows, metric),
            lambda metric: pr.per_group(rows, metric, by="g", model="b"),
            lambda metric: pr.slices(rows, by="g", metric=metric, model="b"),
        )
        for metric in (pr.metrics.net_benefit(0.2), pr.metrics.expected_cost(3)):
            for ask in questions:
                with pytest.raises(InputError, match=r"these go from 0\.1 to 8: calibrate them"):
                    ask(metric)
            assert pr.interval(rows, metric, model="a").low <= 1.0
        assert pr.metrics.net_benefit(0.2, threshold=0.35)(rows.only("b")) == 0.35

    def test_scores_that_are_no_probabilities_need_a_threshold(self):
        rows = pr.Rows(self.Y, [9, 6, 4, 3, 1])
        for words in ("net_benefit(0.2)", "expected_cost(3)"):
            with pytest.raises(InputError, match="go from 1 to 9: calibrate them first, or give"):
                pr.metrics.parse(words)(rows)
        assert pr.metrics.net_benefit(0.2, threshold=4)(rows) == pytest.approx(0.4 - 0.2 / 4)

    @pytest.mark.parametrize("words", ["net_benefit(0)", "net_benefit(1)", "net_benefit(-0.1)"])
    def test_a_probability_of_0_or_1_is_refused(self, words):
        with pytest.raises(InputError, match="probability must be"):
            pr.metrics.parse(words)

    @pytest.mark.parametrize("ratio", [0, -1, np.inf, np.nan, "much"])
    def test_a_cost_ratio_has_to_be_a_cost_ratio(self, ratio):
        with pytest.raises(InputError, match="cost_ratio must"):
            pr.metrics.expected_cost(ratio)

    def test_what_they_say_of_themselves(self):
        metric = pr.metrics.net_benefit(0.25)
        assert isinstance(metric, OfCounts)
        assert (metric.bounds, metric.cut) == ((-0.25 / 0.75, 1.0), 0.25)
        assert metric.title == "net benefit at probability 0.25"
        metric = pr.metrics.expected_cost(4, threshold=2)
        assert (metric.bounds, metric.cut) == ((0.0, 4.0), 2.0)
        assert metric.title == "expected cost at cost ratio 4, threshold 2"
        assert pr.metrics.parse(str(metric)) == metric
        assert pr.metrics.expected_cost(3).cut == 0.25
        with pytest.raises(InputError, match=r"needs cost_ratio, such as expected_cost\(20\)"):
            pr.metrics.parse("expected_cost")

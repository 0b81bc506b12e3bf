"""Confusion counts, F-measures, contours and best thresholds against fractions and loops."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import precall as pr
from precall.exceptions import (
    InputError,
    ReliabilityWarning,
    UndefinedMetricError,
    UndefinedMetricWarning,
)
from precall.points.contours import iso_f_contours
from precall.points.matrix import Confusion, confusion, f_beta
from precall.points.thresholds import CRITERIA, best_threshold
from tests import naive_points
from tests.datasets import random_data

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]

# Fractions against a few float operations each.
TOLERANCE = 1e-12
WEIGHTS = ("none", "real", "whole", "some_zero")


def cases(count, **options):
    for seed in range(count):
        rng = np.random.default_rng(seed)
        weights = WEIGHTS[seed % 4]
        yield random_data(rng, weights=weights, **options)


def close(value, expected):
    return value == pytest.approx(float(expected), rel=TOLERANCE, abs=TOLERANCE)


class TestConfusion:
    def test_the_example_of_a_highly_skewed_table(self):
        # Boyd 2014, Table 2.4: FPR .1 and TPR .9 at prevalence .01 give a precision of .08.
        table = Confusion(threshold=0.5, tp=9, fp=99, fn=1, tn=891)
        assert (table.n_pos, table.n_neg, table.selected) == (10, 990, 108)
        assert table.recall == 0.9
        assert table.false_positive_rate == 0.1
        assert table.specificity == 0.9
        assert table.precision == 9 / 108
        assert table.negative_predictive_value == 891 / 892
        assert table.accuracy == 0.9
        assert table.f1 == pytest.approx(2 * 9 / (2 * 9 + 99 + 1), rel=TOLERANCE)
        assert table.balanced_accuracy == 0.9
        assert table.prevalence == 0.01

    def test_counts_at_every_threshold_are_those_of_a_loop(self):
        for y, s, w in cases(60):
            ranking = pr.rank(y, s, sample_weight=w)
            for threshold in [*ranking.threshold.tolist(), math.inf, -math.inf]:
                found = confusion(ranking, threshold)
                expected = naive_points.counts_at(y, s, threshold, w)
                for value, exact in zip(
                    (found.tp, found.fp, found.fn, found.tn), expected, strict=True
                ):
                    assert close(value, exact)

    def test_measures_are_those_of_fractions(self):
        for y, s, w in cases(60):
            ranking = pr.rank(y, s, sample_weight=w)
            for threshold in ranking.threshold.tolist():
                found = confusion(ranking, threshold)
                tp, fp, fn, tn = naive_points.counts_at(y, s, threshold, w)
                total = tp + fp + fn + tn
                assert close(found.accuracy, (tp + tn) / total)
                assert close(found.recall, tp / (tp + fn))
                assert close(found.false_positive_rate, fp / (fp + tn))
                assert close(found.specificity, tn / (fp + tn))
                assert close(found.precision, tp / (tp + fp))
                assert close(found.balanced_accuracy, (tp / (tp + fn) + tn / (fp + tn)) / 2)
                assert close(found.f_beta(2.0), naive_points.f_measure(tp, fp, fn, tn, Fraction(2)))
                if tn + fn > 0:
                    assert close(found.negative_predictive_value, tn / (tn + fn))
                    assert close(found.matthews_correlation, naive_points.matthews(tp, fp, fn, tn))

    def test_scikit_learn_agrees(self):
        metrics = pytest.importorskip("sklearn.metrics")
        for y, s, w in cases(40):
            ranking = pr.rank(y, s, sample_weight=w)
            threshold = ranking.threshold[len(ranking) // 2].item()
            found = confusion(ranking, threshold)
            predicted = (s >= threshold).astype(int)
            assert close(found.f1, metrics.f1_score(y, predicted, sample_weight=w))
            expected = metrics.matthews_corrcoef(y, predicted, sample_weight=w)
            assert found.matthews_correlation == pytest.approx(expected, abs=1e-9)
            expected = metrics.fbeta_score(y, predicted, beta=0.5, sample_weight=w)
            assert close(found.f_beta(0.5), expected)

    def test_a_ratio_with_nothing_below_its_line_is_nan(self):
        nothing = Confusion(threshold=math.inf, tp=0, fp=0, fn=3, tn=4)
        assert math.isnan(nothing.precision)
        assert nothing.recall == 0.0
        assert nothing.f1 == 0.0
        assert nothing.matthews_correlation == 0.0
        everything = Confusion(threshold=-math.inf, tp=3, fp=4, fn=0, tn=0)
        assert math.isnan(everything.negative_predictive_value)
        assert everything.matthews_correlation == 0.0
        no_positives = Confusion(threshold=1, tp=0, fp=0, fn=0, tn=4)
        assert math.isnan(no_positives.recall)
        assert math.isnan(no_positives.f1)
        assert math.isnan(no_positives.balanced_accuracy)
        assert no_positives.accuracy == 1.0
        no_negatives = Confusion(threshold=1, tp=2, fp=0, fn=1, tn=0)
        assert math.isnan(no_negatives.specificity)
        assert math.isnan(no_negatives.false_positive_rate)

    def test_one_class_only(self):
        with pytest.warns(UndefinedMetricWarning):
            assert f_beta(pr.rank([0, 0], [2.0, 1.0])).shape == (0,)
        only_negatives = confusion(pr.rank([0, 0], [2.0, 1.0]), -math.inf)
        assert (only_negatives.tp, only_negatives.fp) == (0, 2)
        only_positives = confusion(pr.rank([1, 1], [2.0, 1.0]), 2.0)
        assert (only_positives.tp, only_positives.fn, only_positives.precision) == (1, 1, 1.0)

    def test_between_two_scores_of_positives_the_threshold_is_raised_and_says_so(self):
        ranking = pr.rank([1, 0, 0, 1, 0], [0.9, 0.8, 0.6, 0.5, 0.1])
        with pytest.warns(ReliabilityWarning, match=r"raised to 0\.9.*up to 2 false positives"):
            found = confusion(ranking, 0.7)
        assert (found.threshold, found.tp, found.fp) == (0.9, 1, 0)
        with pytest.warns(ReliabilityWarning, match="up to 1 false"):
            assert confusion(ranking, 0.3).threshold == 0.5

    def test_a_gap_without_negatives_needs_no_warning(self):
        ranking = pr.rank([1, 1, 0], [0.9, 0.5, 0.1])
        found = confusion(ranking, 0.7)
        assert (found.threshold, found.tp, found.fp) == (0.9, 1, 0)
        assert confusion(ranking, 2.0).threshold == math.inf

    def test_the_remedy_in_the_warning_works(self):
        y, s = np.array([1, 0, 0, 1, 0]), np.array([0.9, 0.8, 0.6, 0.5, 0.1])
        found = confusion(pr.rank(y, s >= 0.7), 1)
        assert (found.tp, found.fp, found.fn, found.tn) == (1, 1, 1, 2)

    @pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "uint64"])
    def test_the_ends_of_whole_numbers_are_thresholds_too(self, kind):
        lowest, highest = (int(end) for end in (np.iinfo(kind).min, np.iinfo(kind).max))
        ranking = pr.rank([1, 1, 1, 0], np.array([highest, 7, lowest, lowest], dtype=kind))
        thresholds = (lowest - 1, lowest, lowest + 1, highest, highest + 1)
        found = [confusion(ranking, threshold).tp for threshold in thresholds]
        assert found == [3, 3, 2, 1, 0]

    @pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int8])
    def test_whole_scores_are_compared_as_whole_numbers(self, dtype):
        top = int(np.iinfo(dtype).max)
        ranking = pr.rank([1, 1, 0], np.array([top, top - 1, top - 2], dtype=dtype))
        assert confusion(ranking, top).tp == 1
        assert confusion(ranking, top - 1).tp == 2
        assert confusion(ranking, top - 1).threshold == top - 1
        assert confusion(ranking, math.inf).tp == 0
        assert confusion(ranking, -math.inf).fp == 1

    def test_a_fractional_threshold_among_whole_scores_is_rounded_up(self):
        ranking = pr.rank([1, 1, 0], [3, 2, 1])
        assert confusion(ranking, 2.5).tp == 1
        assert confusion(ranking, 2.0).tp == 2
        assert confusion(ranking, 1e300).tp == 0

    def test_single_precision_scores_match_their_written_value(self):
        ranking = pr.rank([1, 1, 0], np.array([0.9, 0.7, 0.1], dtype=np.float32))
        assert confusion(ranking, 0.7).tp == 2

    def test_another_prevalence_leaves_recall_and_changes_precision(self):
        ranking = pr.rank([1, 0, 1, 0], [4, 3, 2, 1])
        here, there = confusion(ranking, 2), confusion(ranking.at_prevalence(0.1), 2)
        assert there.recall == here.recall
        assert there.false_positive_rate == pytest.approx(here.false_positive_rate, rel=TOLERANCE)
        assert there.precision == pytest.approx(0.1 / (0.1 + 0.9 * 0.5), rel=TOLERANCE)

    def test_to_dict_is_strict_json(self):
        plain = Confusion(threshold=math.inf, tp=0, fp=0, fn=3, tn=4).to_dict()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
        assert plain["precision"] is None
        assert plain["threshold"] == "inf"

    def test_nan_is_refused(self):
        with pytest.raises(InputError, match="threshold must be a number"):
            confusion(pr.rank([1, 0], [2, 1]), float("nan"))


class TestFBeta:
    @pytest.mark.parametrize("modified", [False, True])
    @pytest.mark.parametrize("beta", [Fraction(1), Fraction(2), Fraction(1, 2), Fraction(0)])
    def test_along_the_curve(self, beta, modified):
        for y, s, w in cases(40):
            ranking = pr.rank(y, s, sample_weight=w)
            expected = [
                naive_points.f_measure(*naive_points.counts_at(y, s, t, w), beta, modified)
                for t in ranking.threshold.tolist()
            ]
            found = f_beta(ranking, beta=float(beta), modified=modified)
            np.testing.assert_allclose(
                found, np.array(expected, dtype=float), rtol=TOLERANCE, atol=TOLERANCE
            )

    def test_the_extremes_of_beta_are_precision_and_recall(self):
        ranking = pr.rank([1, 0, 1, 0, 1], [5, 4, 3, 2, 1])
        np.testing.assert_allclose(f_beta(ranking, beta=0), ranking.tp / (ranking.tp + ranking.fp))
        np.testing.assert_allclose(f_beta(ranking, beta=math.inf), ranking.tp / ranking.n_pos)

    def test_two_points_of_equal_f1_are_told_apart_by_the_modified_form(self):
        # As in Boyd 2014, figure 3.4, at prevalence 1/3: F1 is .4 at both, one of them is chance.
        ranking = pr.rank([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1], range(12, 0, -1))
        np.testing.assert_allclose(f_beta(ranking)[:2], [0.4, 0.4], rtol=TOLERANCE)
        np.testing.assert_allclose(f_beta(ranking, modified=True)[:2], [0.4, 0.0], rtol=TOLERANCE)

    def test_no_negatives(self):
        ranking = pr.rank([1, 1], [2, 1])
        np.testing.assert_array_equal(f_beta(ranking), [2 / 3, 1.0])
        with pytest.warns(UndefinedMetricWarning):
            np.testing.assert_array_equal(f_beta(ranking, modified=True), [0.0, 0.0])

    def test_a_negative_beta_is_refused(self):
        with pytest.raises(InputError, match="beta must not be negative"):
            f_beta(pr.rank([1, 0], [2, 1]), beta=-1)


class TestContours:
    @given(
        value=st.floats(0.01, 0.99),
        beta=st.floats(0.1, 10.0),
        prevalence=st.one_of(st.none(), st.floats(0.001, 0.9)),
    )
    def test_every_point_has_the_value(self, value, beta, prevalence):
        (contour,) = iso_f_contours([value], beta=beta, prevalence=prevalence, n_points=17)
        p, r = contour.precision, contour.recall
        if prevalence is not None:
            p = (p - prevalence) / (1 - prevalence)
        measured = (1 + beta**2) * p * r / (beta**2 * p + r)
        # The change of variable loses as many digits as 1 - prevalence and F are small.
        np.testing.assert_allclose(measured, value, rtol=1e-9)
        assert r[-1] == 1.0
        assert contour.precision.max() <= 1.0
        assert contour.precision[0] == pytest.approx(1.0, rel=1e-9)

    def test_bad_arguments(self):
        with pytest.raises(InputError, match="values"):
            iso_f_contours([1.0])
        with pytest.raises(InputError, match="beta"):
            iso_f_contours(beta=0)
        with pytest.raises(InputError, match="beta"):
            iso_f_contours(beta=math.inf)
        assert json.dumps(iso_f_contours(n_points=2)[0].to_dict())
        assert repr(iso_f_contours()[0]) == "Contour(F1 = 0.2, 101 points)"


def naive_value(name, parameter, counts):
    tp, fp, fn, tn = counts
    total = tp + fp + fn + tn
    return {
        "f1": lambda: naive_points.f_measure(*counts),
        "f_beta": lambda: naive_points.f_measure(*counts, Fraction(parameter)),
        "modified_f1": lambda: naive_points.f_measure(*counts, modified=True),
        "modified_f_beta": lambda: naive_points.f_measure(*counts, Fraction(parameter), True),
        "matthews_correlation": lambda: naive_points.matthews(*counts),
        "balanced_accuracy": lambda: (tp / (tp + fn) + tn / (fp + tn)) / 2,
        "cost": lambda: -(Fraction(parameter) * fn + fp) / total,
        "precision": lambda: tp / (tp + fp) if tp / (tp + fn) >= parameter else -1,
        "recall": lambda: tp / (tp + fn) if tp / (tp + fp) >= parameter else -1,
    }[name]()


PARAMETERS = {
    "f_beta": {"beta": 2.0},
    "modified_f_beta": {"beta": 0.5},
    "cost": {"cost_ratio": 4.0},
    "precision": {"min_recall": 0.5},
    "recall": {"min_precision": 0.5},
}


class TestBestThreshold:
    @pytest.mark.parametrize("metric", CRITERIA)
    def test_nothing_is_better_by_brute_force(self, metric):
        keywords = PARAMETERS.get(metric, {})
        parameter = next(iter(keywords.values()), None)
        for y, s, w in cases(40):
            ranking = pr.rank(y, s, sample_weight=w)
            # Every distinct score of either class is a candidate for the reference.
            values = [
                float(naive_value(metric, parameter, counts))
                for t in sorted(set(s.tolist()))
                if (counts := naive_points.counts_at(y, s, t, w))[0] > 0
            ]
            if metric == "cost":
                everything = naive_points.counts_at(y, s, math.inf, w)
                values.append(float(naive_value(metric, parameter, everything)))
            if max(values) == -1.0:
                with pytest.raises(UndefinedMetricError, match="no threshold has a precision"):
                    best_threshold(ranking, metric, **keywords)
                continue
            best = best_threshold(ranking, metric, **keywords)
            sign = -1 if metric == "cost" else 1
            assert close(sign * best.value, max(values))
            there = naive_points.counts_at(y, s, best.threshold, w)
            assert close(float(naive_value(metric, parameter, there)), max(values))

    def test_ties_between_thresholds(self):
        ranking = pr.rank([1, 1, 0, 0], [4, 3, 2, 1])
        assert best_threshold(ranking, "precision", min_recall=0.5).threshold == 3
        ranking = pr.rank([1, 0, 1], [3, 2, 1])
        assert best_threshold(ranking, "balanced_accuracy").threshold == 3

    def test_selecting_nothing_may_be_cheapest(self):
        ranking = pr.rank([0, 0, 0, 1], [4, 3, 2, 1])
        best = best_threshold(ranking, "cost", cost_ratio=2.0)
        assert best.threshold == math.inf
        assert best.value == 0.5
        assert json.dumps(best.to_dict(), allow_nan=False)

    def test_short_name(self):
        ranking = pr.rank([1, 0, 1, 0], [4, 3, 2, 1])
        assert best_threshold(ranking, "mcc") == best_threshold(ranking, "matthews_correlation")

    def test_parameters_are_asked_for_and_refused(self):
        ranking = pr.rank([1, 0], [2, 1])
        with pytest.raises(InputError, match="needs beta="):
            best_threshold(ranking, "f_beta")
        with pytest.raises(InputError, match="beta is not used by metric='f1'"):
            best_threshold(ranking, "f1", beta=2)
        with pytest.raises(InputError, match="cost_ratio must be above zero"):
            best_threshold(ranking, "cost", cost_ratio=0)
        with pytest.raises(InputError, match=r"metric must be one of.*Did you mean 'f1'"):
            best_threshold(ranking, "f")

    def test_one_class_only(self):
        with pytest.raises(UndefinedMetricError, match="no positives"):
            best_threshold(pr.rank([0, 0], [2, 1]))
        only_positives = pr.rank([1, 1], [2, 1])
        assert best_threshold(only_positives).threshold == 1
        with pytest.raises(UndefinedMetricError, match="no negatives"):
            best_threshold(only_positives, "mcc")

    def test_whole_weights_are_repetitions(self):
        rng = np.random.default_rng(7)
        y, s, w = random_data(rng, weights="whole")
        repeat = w.astype(int)
        once = pr.rank(y, s, sample_weight=w)
        many = pr.rank(np.repeat(y, repeat), np.repeat(s, repeat))
        for metric in CRITERIA:
            keywords = PARAMETERS.get(metric, {})
            a, b = (best_threshold(r, metric, **keywords) for r in (once, many))
            assert a.threshold == b.threshold
            assert a.value == pytest.approx(b.value, rel=TOLERANCE)


@pytest.mark.parametrize("recall", [0.5, 0.6, 0.75, 0.9, 1.0])
def test_precision_inside_a_tie_follows_the_line_of_counts(recall):
    """Two positives, then two more tied with three negatives: (2, 0) to (4, 3)."""
    ranking = pr.rank([1, 1, 1, 1, 0, 0, 0, 0], [3, 3, 2, 2, 2, 2, 2, 1])
    tp = 4 * recall
    fp = 3 * (tp - 2) / 2
    found = pr.metrics.precision_at_recall(recall)(ranking)
    assert found == pytest.approx(tp / (tp + fp), rel=1e-12)
    assert found == pytest.approx(float(pr.pr_curve(ranking).at(recall)), rel=1e-12)


def test_a_precision_that_no_threshold_has_is_reached_at_recall_0():
    ranking = pr.rank([0, 1, 0, 1], [4, 3, 2, 1])
    assert pr.metrics.recall_at_precision(0.6)(ranking) == 0.0
    assert pr.metrics.recall_at_precision(0.5)(ranking) == 1.0

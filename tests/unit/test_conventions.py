"""What other tools print: against scikit-learn itself, published values and naive loops."""

import itertools
import json

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError, UndefinedMetricWarning
from precall.metrics._kernels import make_steps
from precall.metrics._tool_areas import KERAS_THRESHOLDS, THRESHOLDS, Seen
from precall.metrics._tools import _long_ties
from precall.metrics.conventions import conventions
from tests import naive_points
from tests.datasets import random_data

pytestmark = pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")

# The test curves of the R package prcbench (Saito & Rehmsmeier), scores and labels.
CURVES = {
    "C1": ([3, 2, 2, 1], [1, 0, 1, 0]),
    "C2": ([3, 3, 2, 1], [1, 0, 0, 1]),
    "C3": ([4, 3, 2, 1], [0, 0, 1, 1]),
    "C4": ([8, 7, 6, 5, 4, 3, 1, 1], [1, 1, 1, 0, 0, 0, 1, 0]),
}
# Points that the right curve goes through, as prcbench publishes them (C4 worked by hand).
BASE_POINTS = {
    "C1": ([0.25, 0.5, 0.75, 1.0], [1.0, 1.0, 0.75, 2 / 3]),
    "C2": ([0.25, 0.5, 0.75, 1.0], [0.5, 0.5, 3 / 7, 0.5]),
    "C3": ([0.25, 0.5, 0.75, 1.0], [0.2, 1 / 3, 3 / 7, 0.5]),
    "C4": ([0.25, 0.5, 0.75, 0.875, 1.0], [1.0, 1.0, 1.0, 0.5, 0.5]),
}
# Ten to the twelve rows of each class with the same score.
HUGE = {**pr.rank([1, 0], [1, 1]).to_dict(), "positives": [10**12], "tied": [10**12]}
# Sums of a few hundred terms, each right to the last digits.
TOLERANCE = 1e-12


def values(y, s, w=None):
    return {row.name: row.value for row in conventions(pr.rank(y, s, sample_weight=w))}


def test_scikit_learn_prints_this():
    metrics = pytest.importorskip("sklearn.metrics")
    for seed in range(80):
        rng = np.random.default_rng(seed)
        y, s, w = random_data(rng, weights=("none", "real")[seed % 2])
        found = values(y, s, w)
        expected = metrics.average_precision_score(y, s, sample_weight=w)
        assert found["sklearn_average_precision"] == pytest.approx(expected, rel=TOLERANCE)
        precision, recall, _ = metrics.precision_recall_curve(y, s, sample_weight=w)
        expected = metrics.auc(recall, precision)
        assert found["sklearn_trapezoid"] == pytest.approx(expected, rel=TOLERANCE)


@pytest.mark.parametrize("name", naive_points.CONVENTIONS)
def test_rules_are_those_of_loops_in_fractions(name):
    for seed in range(40):
        y, s, _ = random_data(np.random.default_rng(seed))
        expected = naive_points.CONVENTIONS[name](y.tolist(), s.tolist())
        found = conventions(pr.rank(y, s))[name]
        if not found.reason:
            assert found.value == pytest.approx(float(expected), rel=TOLERANCE)


@pytest.mark.parametrize("words", ["random", "ties of many", "three ties"])
def test_points_that_rocr_puts_in_the_wrong_place(words):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        y, s = rng.permutation(np.repeat([1, 0], [40, 25])), rng.integers(0, 8, 65)
        if words != "random":
            y, s = (
                np.repeat([1, 0, 1, 0, 1, 0], [5, 2, 4, 3, 6, 4]),
                np.repeat([6, 4, 2], [7, 7, 10]),
            )
            y = y if words == "three ties" else np.append(y, [1] * 5)
            s = s if words == "three ties" else np.append(s, [7, 3, 3, 3, 1])
        expected = naive_points.with_misplaced_points(y.tolist(), s.tolist())
        assert values(y, s)["rocr"] == pytest.approx(float(expected), rel=TOLERANCE)


def test_value_of_rocr_itself():
    # R 4.2.2 with ROCR 1.0-11: performance(prediction(s, y), "aucpr")@y.values[[1]]
    y = [1] * 15 + [0] * 9
    s = [6] * 5 + [4] * 4 + [2] * 6 + [6, 6, 5, 4, 4, 4, 2, 1, 1]
    assert values(y, s)["rocr"] == pytest.approx(0.67494408309882714, rel=TOLERANCE)


def test_keras_counts_between_its_own_thresholds():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        y = rng.random(60) < 0.3
        y[:2] = [True, False]
        s = np.round(rng.beta(1 + y, 2), 2 + seed % 2)
        found = conventions(pr.Rows(y, s))["keras_auc_pr"]
        expected = naive_points.between_200_thresholds(y.tolist(), s.tolist())
        assert found.value == pytest.approx(expected, rel=TOLERANCE)
        kept = pr.rank(y, s, thresholds=THRESHOLDS)
        assert conventions(kept)["keras_auc_pr"].value == found.value
    assert conventions(pr.rank(y, s))["keras_auc_pr"].reason.endswith(
        "pass Rows instead of a Ranking"
    )
    outside = conventions(pr.Rows([1, 0, 1], [1.5, 0.5, 0.25]))["keras_auc_pr"]
    assert (outside.value, outside.reason) == (None, "it takes scores from 0 to 1")
    assert conventions(pr.Rows([1, 0, 1], [1.0, -0.5, 0.0]))["keras_auc_pr"].value is None
    weighted = conventions(pr.Rows([1, 0, 1], [0.9, 0.5, 0.2], sample_weight=[2, 1, 1]))
    again = conventions(pr.Rows([1, 1, 0, 1], [0.9, 0.9, 0.5, 0.2]))
    assert weighted["keras_auc_pr"].value == pytest.approx(again["keras_auc_pr"].value)


def test_perfmeas_and_mleval_lose_the_area_before_the_first_point():
    # Recall 0 to 1/2 is lost; from (1/2, 1) over (1/2, 1/2) to (1, 2/3).
    found = values([1, 0, 1, 0], [4, 3, 2, 1])
    expected = pytest.approx((1 / 2 + 2 / 3) / 4)
    assert found["perfmeas"] == expected
    assert found["mleval"] == expected
    # With a negative first nothing is: from (0, 0).
    found = values([0, 1, 1], [3, 2, 1])
    expected = pytest.approx((1 / 2 + (1 / 2 + 2 / 3)) / 4)
    assert found["perfmeas"] == expected
    assert found["mleval"] == expected
    # Three positives tied with nobody are three rows to the one, one point to the other.
    found = values([0, 1, 1, 1], [2, 1, 1, 1])
    assert found["mleval"] == pytest.approx(3 / 8)
    assert found["perfmeas"] == pytest.approx((0 + 2 * 1 / 2 + 2 * 2 / 3 + 3 / 4) / 6)


def test_reasons_where_a_tool_has_no_number():
    infinite = conventions(pr.Rows([1, 0, 1, 0], [np.inf, 2, 1, 0]))
    for name in ("sklearn_average_precision", "sklearn_trapezoid"):
        assert infinite[name].value is None
        assert "infinite" in infinite[name].reason
    assert infinite["rocr"].reason == "it drops rows whose scores are infinite"
    assert infinite["torcheval_binary_auprc"].value == pytest.approx(5 / 6)
    twice = conventions(pr.rank([1, 1, 0], [np.inf, np.inf, 0]))
    assert twice["torcheval_binary_auprc"].value is None
    # A ranking keeps the scores of positives only; rows know those of negatives.
    assert conventions(pr.rank([1, 0], [1.0, -np.inf]))["sklearn_trapezoid"].value == 1.0
    assert conventions(pr.Rows([1, 0], [1.0, -np.inf]))["sklearn_trapezoid"].value is None
    same = conventions(pr.rank([1, 0, 1, 0], [2, 2, 1, 1]))
    assert same["prroc_davis_goadrich"].value is None
    assert "NA" in same["prroc_davis_goadrich"].reason
    assert same["prroc_integral"].value == pytest.approx(0.5)
    nearly = conventions(pr.rank([1, 0, 1, 0, 0], [2, 2, 1, 1, 0]))
    assert nearly["prroc_davis_goadrich"].value == pytest.approx(0.5)
    huge = conventions(pr.Ranking.from_dict(HUGE))
    assert (huge["rocr"].value, huge["precrec"].value) == (None, pytest.approx(0.5))
    assert "(it orders ties by the places of the rows)" in str(same)
    assert all(bool(row.reason) == (row.value is None) for row in (*infinite, *twice, *same))


def test_rows_and_rankings_give_the_same_table():
    y, s, w = random_data(np.random.default_rng(4), weights="real")
    one, other = conventions(pr.Rows(y, s, sample_weight=w)), values(y, s, w)
    assert {row.name: row.value for row in one if row.name != "keras_auc_pr"} == {
        name: value for name, value in other.items() if name != "keras_auc_pr"
    }


def test_precrec_adds_points_where_a_row_is_less_than_a_thousandth():
    # Each of 1,200 positives is less than a thousandth, and most thousandths lie between two.
    rng = np.random.default_rng(5)
    y = np.repeat([1, 0], [1200, 300])
    s = rng.normal(size=y.size) + y
    expected = naive_points.with_thousandths(y.tolist(), s.tolist())
    assert values(y, s)["precrec"] == pytest.approx(float(expected), rel=TOLERANCE)


def test_precrec_with_many_ties_among_a_thousand_positives():
    rng = np.random.default_rng(3)
    y = np.repeat([1, 0], [1200, 300])
    s = np.round(rng.normal(size=y.size) + y, 2)
    expected = naive_points.with_thousandths(y.tolist(), s.tolist())
    assert values(y, s)["precrec"] == pytest.approx(float(expected), rel=TOLERANCE)


def test_values_published_for_precrec():
    # The data set P10N10 of precrec, whose documentation prints an area of 0.7397716.
    scores = [20, 19, 18, 17, 16, 15, *[14] * 6, 8, 7, 6, *[5] * 5]
    labels = [1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0]
    assert round(values(labels, scores)["precrec"], 7) == 0.7397716


def test_values_published_for_auccalculator():
    # A unit test of the maintained fork of AUCCalculator.
    scores = [0.9, 0.8, 0.7, 0.6, 0.55, 0.54, 0.53, 0.52, 0.51, 0.505]
    labels = [1, 1, 0, 1, 1, 1, 0, 0, 1, 0]
    found = values(labels, scores)["auccalculator"]
    assert found == pytest.approx(0.8243055555555555, rel=TOLERANCE)


def test_values_published_for_prroc():
    # Unit tests of PRROC: the worst ranking at prevalence 1/2, a constant score, a perfect one.
    worst = values([0] * 100 + [1] * 100, range(200, 0, -1))["prroc_integral"]
    assert round(worst, 10) == 0.3068528194
    assert values([0, 1] * 250, [1] * 500)["prroc_integral"] == pytest.approx(0.5, rel=TOLERANCE)
    perfect = values([1] * 100 + [0] * 100, range(200, 0, -1))
    assert perfect["prroc_integral"] == pytest.approx(1.0, rel=TOLERANCE)
    assert perfect["prroc_davis_goadrich"] == pytest.approx(1.0, rel=TOLERANCE)


@pytest.mark.parametrize("name", CURVES)
def test_the_curve_goes_through_the_published_points(name):
    scores, labels = CURVES[name]
    recall, precision = BASE_POINTS[name]
    curve = pr.pr_curve(pr.rank(labels, scores))
    np.testing.assert_allclose(curve.at(recall), precision, rtol=1e-9)


# Worked by hand. C1 ties a positive with a negative, C2 does so at the top, C3 begins with two
# negatives, C4 ties at the end; the hyperbolas of C1 and C3 integrate to 1/2 + log(3/2 ...) forms.
HAND = {
    "C1": {
        "sklearn_average_precision": 5 / 6,
        "sklearn_trapezoid": 11 / 12,
        "spark_area_under_pr": 11 / 12,
        # from (TP 1, FP 0) to (2, 1): integral of (1 + x) / (1 + 2x) = 1/2 + log(3)/4
        "prroc_integral": (1 + 0.5 + np.log(3) / 4) / 2,
        "auccalculator": 11 / 12,
        "raucpr_upper_trapezoid": 11 / 12,
    },
    "C2": {
        "sklearn_average_precision": 1 / 2,
        "sklearn_trapezoid": (3 / 4 + 5 / 12) / 2,
        "spark_area_under_pr": (1 / 2 + 5 / 12) / 2,
        # from (1, 2) to (2, 2): integral of (1 + x) / (3 + x) = 1 - 2 log(4/3)
        "prroc_integral": (1 / 2 + 1 - 2 * np.log(4 / 3)) / 2,
        "auccalculator": (1 / 2 + 5 / 12) / 2,
        "raucpr_upper_trapezoid": (3 / 4 + 1 / 2) / 2,
    },
    "C3": {
        "sklearn_average_precision": (1 / 3 + 1 / 2) / 2,
        "sklearn_trapezoid": (1 / 6 + 5 / 12) / 2,
        "spark_area_under_pr": (1 / 6 + 5 / 12) / 2,
        # integral of x / (2 + x) from 0 to 2 = 2 - 2 log 2
        "prroc_integral": 1 - np.log(2),
        "auccalculator": (1 / 3 + 5 / 12) / 2,
        "raucpr_upper_trapezoid": (2 / 3 + 5 / 12) / 2,
    },
    "C4": {
        "sklearn_average_precision": 7 / 8,
        "sklearn_trapezoid": 7 / 8,
        "spark_area_under_pr": 7 / 8,
        "prroc_integral": 7 / 8,
        "auccalculator": 7 / 8,
        "raucpr_upper_trapezoid": 3 / 4 + 3 / 16,
    },
}


@pytest.mark.parametrize("name", CURVES)
def test_the_areas_of_the_test_curves(name):
    scores, labels = CURVES[name]
    found = values(labels, scores)
    for tool, expected in HAND[name].items():
        assert found[tool] == pytest.approx(expected, rel=TOLERANCE), tool
    # precrec draws straight lines over a hyperbola of second derivative under 10: it errs by at
    # most 10 / (12 * 1000**2) on the way.
    assert found["precrec"] == pytest.approx(found["prroc_integral"], abs=1e-6)


def test_the_estimator_named_has_the_same_value():
    for seed in range(20):
        y, s, _ = random_data(np.random.default_rng(seed))
        ranking = pr.rank(y, s)
        for row in conventions(ranking):
            if row.estimator:
                assert row.reason == ""
                assert row.value == pr.aucpr(ranking, estimator=row.estimator)


def test_where_trapezoids_from_one_differ_from_the_estimators():
    # On every data set of up to three rows with up to three scores.
    for size in (2, 3):
        for y in itertools.product([0, 1], repeat=size):
            if 0 < sum(y) < size:
                for s in itertools.product([1, 2, 3], repeat=size):
                    ranking = pr.rank(y, s)
                    found = conventions(ranking)
                    first = max(score for score, label in zip(s, y, strict=True) if label)
                    tied = (first, 0) in zip(s, y, strict=True)
                    upper = found["raucpr_upper_trapezoid"].value
                    lower = found["sklearn_trapezoid"].value
                    same = [
                        abs(value - pr.aucpr(ranking, estimator=estimator)) < TOLERANCE
                        for value, estimator in (
                            (upper, "upper_trapezoid"),
                            (lower, "lower_trapezoid"),
                        )
                    ]
                    assert same == [not tied, not (tied and first == max(s))], (y, s)


def test_untied_data_with_a_positive_first_leaves_fewer_answers():
    found = values([1, 0, 1, 1, 0, 0, 1, 0], range(8, 0, -1))
    same = ("sklearn_trapezoid", "spark_area_under_pr", "auccalculator", "prroc_davis_goadrich")
    assert len({round(found[name], 12) for name in same}) == 1


def test_weights_leave_out_the_tools_that_take_none():
    y, s, w = random_data(np.random.default_rng(1), weights="real")
    found = values(y, s, w)
    assert found["precrec"] is None
    assert found["auccalculator"] is None
    assert found["spark_area_under_pr"] == pr.aucpr(
        pr.rank(y, s, sample_weight=w), estimator="lower_trapezoid"
    )
    there = conventions(pr.rank([1, 0, 1, 0], [4, 3, 2, 1]).at_prevalence(0.1))
    assert there["sklearn_average_precision"].value == pytest.approx(
        pr.aucpr(pr.rank([1, 0, 1, 0], [4, 3, 2, 1]).at_prevalence(0.1)), rel=TOLERANCE
    )


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_only_has_no_values(label):
    ranking = pr.rank([label, label], [2, 1])
    with pytest.warns(UndefinedMetricWarning):
        table = conventions(ranking)
    assert all(row.value is None for row in table)
    assert repr(table) == "Conventions(18 rules, no values)"
    assert {row.reason for row in table} == {"a class is empty"}
    assert "none" in str(table)


def test_the_table_can_be_looked_up_printed_and_stored():
    table = conventions(pr.rank([1, 0, 0, 1], [3, 3, 2, 1]))
    assert table["precrec"].tool == "R precrec"
    assert len(table) == len(list(table)) == 18
    assert str(table).count("\n") == 2 * len(table) - 1
    assert json.loads(json.dumps(table.to_dict())) == table.to_dict()
    with pytest.raises(InputError, match="no convention is called 'excel'"):
        table["excel"]


def test_ties_of_more_than_ten_million_positives_have_no_room():
    """Counted over the ties of three and more: a smaller one adds no point between its ends."""
    for positives, crowded in (
        ([10_000_000], False),
        ([10_000_001], True),
        ([9_999_999, 2], False),
        ([9_999_998, 3], True),
    ):
        zeros = np.zeros(len(positives), dtype=np.int64)
        ranking = pr.Ranking(
            threshold=-np.arange(len(positives)),
            positives=np.array(positives),
            tied=zeros,
            above=zeros,
            below=1,
        )
        assert bool(_long_ties(Seen(ranking, make_steps(ranking.cells)))) == crowded


def test_keras_counts_at_every_interior_threshold_from_the_first():
    """199 steps from 0 to 1: 198 thresholds between them, the first and the last included."""
    assert len(KERAS_THRESHOLDS) == 198
    assert np.array(KERAS_THRESHOLDS) == pytest.approx(np.arange(1, 199) / 199, rel=1e-12)


def test_keras_cuts_the_unit_interval_into_199_parts():
    assert len(KERAS_THRESHOLDS) == 198
    np.testing.assert_allclose(KERAS_THRESHOLDS, np.arange(1, 199) / 199, rtol=1e-14)


def test_precrec_starts_at_precision_0_behind_one_negative():
    """From (TP 0, FP 1) to (1, 1): straight lines through r / (r + 1) at every thousandth."""
    recall = np.arange(1001) / 1000
    height = recall / (recall + 1)
    expected = np.sum(height[1:] + height[:-1]) / 2000
    values = {row.name: row.value for row in conventions(pr.rank([0, 1], [2, 1]))}
    assert values["precrec"] == pytest.approx(expected, rel=1e-9)

"""How many rows: expected samples, widths, power, and what fewer negatives cost."""

import json
import math
import warnings

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError, ReliabilityWarning
from precall.planning import case_control, power, size
from precall.planning import expected as shapes
from precall.simulate import Binormal

EXAMPLE = pr.load_example()
PILOT = pr.Rows(EXAMPLE.label, EXAMPLE.scores)
ONE = "gradient_boosting"
NOT_SMOOTH = "recall_at_precision(0.5)"


def two(labels, *, alike=False):
    return pr.Rows(labels, {"a": [1, 2], "b": [1, 2] if alike else [2, 1]})


@pytest.mark.parametrize("distance", [-1.0, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("prevalence", [0.5, 0.01])
def test_the_area_of_normal_scores_is_that_of_the_score_model(distance, prevalence):
    found = shapes.area(distance, prevalence)
    assert found == pytest.approx(Binormal(distance).aucpr(prevalence), abs=1e-10)
    assert shapes.distance_of_aucpr(found, prevalence) == pytest.approx(distance, abs=1e-6)


def test_the_distance_of_an_auroc():
    assert shapes.distance_of_auroc(0.5) == 0.0
    assert Binormal(shapes.distance_of_auroc(0.9)).auroc() == pytest.approx(0.9, abs=1e-12)


@pytest.mark.parametrize(("n", "m"), [(20, 80), (78, 3922), (7, 5), (1000, 99_000)])
def test_expected_samples_have_whole_rows_in_their_expected_places(n, m):
    shape = shapes.binormal(1.0, n, "")
    ranking = shape.ranking(n, m)
    assert (ranking.n_pos, ranking.n_neg) == (n, m)
    assert ranking.positives.dtype == np.int64
    # Negatives above a threshold: off by half a row at most.
    exact = m * np.cumsum(shape.shares.above)
    assert np.abs(ranking.fp - exact).max() <= 0.5 + 1e-9


def test_a_pilot_of_the_same_size_is_the_pilot():
    ranking = PILOT[ONE]
    shape, _ = shapes.of_pilot(PILOT, ONE, ())
    again = shape.ranking(ranking.n_pos, ranking.n_neg)
    for name in ("positives", "above", "tied", "below"):
        np.testing.assert_array_equal(getattr(again, name), getattr(ranking, name))
    width = pr.interval(ranking).width
    plan = size(width=width, pilot=ranking)
    assert plan.positives == pytest.approx(ranking.n_pos, abs=1)
    assert plan.rows == pytest.approx(4000, rel=0.01)


@pytest.mark.parametrize(
    "metric", ["aucpr", "auroc", "precision_at_recall(0.5)", "recall_at_threshold(0.3)", "auprg"]
)
def test_the_answer_is_the_smallest_size_that_is_enough(metric):
    plan = size(width=0.1, pilot=PILOT, model=ONE, metric=metric)
    assert plan.expected_width <= 0.1
    assert plan.rows == plan.positives + plan.negatives
    assert plan.positives == pytest.approx(plan.rows * 78 / 4000, abs=1)
    if plan.positives > 10:
        shape, _ = shapes.of_pilot(PILOT, ONE, pr.metrics.parse(metric).thresholds)
        fewer = 0.97 if plan.positives > 20 else 0.875  # positives are whole
        less = shape.ranking(fewer * plan.positives, fewer * plan.negatives)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReliabilityWarning)  # so few rows say little of AUPRG
            assert pr.interval(less, metric).width > 0.1
    assert np.all(np.diff(plan.sizes) > 0)
    assert plan.widths[0] >= plan.expected_width > plan.widths[-1]


def test_rows_that_belong_together_tell_less():
    y, s = EXAMPLE.label, EXAMPLE.scores[ONE]
    alone = size(width=0.1, pilot=pr.Rows(y, s))
    twice = pr.Rows(np.repeat(y, 2), np.repeat(s, 2), clusters=np.repeat(np.arange(y.size), 2))
    together = size(width=0.1, pilot=twice)
    assert together.rows == pytest.approx(2 * alone.rows, rel=0.1)


def test_planned_widths_are_those_of_samples():
    """Mean width of 60 samples of the planned size; the standard error is under 1 %."""
    rng = np.random.default_rng(12)
    for metric in ("aucpr", "auroc"):
        plan = size(width=0.15, prevalence=0.1, aucpr=0.5, metric=metric)
        distance = shapes.distance_of_aucpr(0.5, 0.1)
        widths = []
        for _ in range(60):
            y = rng.random(plan.rows) < 0.1
            widths.append(
                pr.interval(pr.rank(y, rng.normal(size=y.size) + distance * y), metric).width
            )
        assert plan.expected_width == pytest.approx(np.mean(widths), rel=0.1)


def test_what_a_wrong_guess_does_is_said():
    plan = size(width=0.1, prevalence=0.1, aucpr=0.5)
    assert len(plan.if_wrong) == 4
    for value, width in plan.if_wrong.items():
        assert 0.2 < value < 0.8
        other = size(width=width * 1.001, prevalence=0.1, aucpr=value)
        assert other.rows == pytest.approx(plan.rows, rel=0.03)
    assert "If the guess is wrong, the width is" in plan.message
    assert not size(width=0.1, pilot=PILOT, model=ONE).if_wrong


def test_fewer_negatives_cost_positives():
    plan = case_control(width=0.1, prevalence=0.01, aucpr=0.4)
    assert plan.ratios.tolist() == pytest.approx([1, 2, 5, 10, 20, 50, 99])
    assert np.all(np.diff(plan.positives) < 0)
    assert plan.rows.min() < plan.rows[-1]
    assert plan.rows[-1] == pytest.approx(
        size(width=0.1, prevalence=0.01, aucpr=0.4).rows, rel=0.02
    )
    n, ratio = plan.positives[3], plan.ratios[3]
    sample = shapes.binormal(shapes.distance_of_aucpr(0.4, 0.01), n, "").ranking(n, ratio * n)
    assert pr.interval(sample, prevalence=0.01).width == pytest.approx(0.1, rel=0.02)


def test_the_error_of_a_difference_is_that_of_the_comparison():
    for pilot in (PILOT, pr.Rows(EXAMPLE.label, EXAMPLE.scores, clusters=EXAMPLE.cluster)):
        plan = power(difference=0.1, rows=len(pilot), pilot=pilot)
        compared = pr.compare(pilot)
        i, j = compared.estimates
        own = np.asarray(compared.covariance)
        variance = own[0, 0] + own[1, 1] - 2 * own[0, 1]
        assert plan.standard_error == pytest.approx(math.sqrt(variance), rel=0.03), (i, j)


def test_two_of_three_give_the_third():
    plan = power(difference=0.05, power=0.9, pilot=PILOT)
    assert plan.power == pytest.approx(0.9, abs=0.005)
    assert power(difference=-0.05, rows=plan.rows, pilot=PILOT).power == plan.power
    shown = power(rows=plan.rows, power=0.9, pilot=PILOT).difference
    assert shown == pytest.approx(0.05, rel=0.01)
    assert power(difference=0.05, pilot=PILOT).power == pytest.approx(0.8, abs=0.005)
    assert np.all(np.diff(plan.powers) > 0)
    # The textbook's formula, which takes the normal for the t distribution.
    z = 1.959964 + 1.281552
    n = (z / 0.05) ** 2 * plan.standard_error**2 * plan.positives
    assert plan.positives == pytest.approx(n, rel=0.03)


def test_power_at_another_prevalence_and_of_one_of_several_models():
    three = pr.Rows(EXAMPLE.label, {**EXAMPLE.scores, "noise": np.arange(4000.0) % 97})
    asked = {"difference": 0.05, "candidate": ONE, "baseline": "scorecard"}
    assert power(pilot=three, **asked).rows == power(pilot=PILOT, difference=0.05).rows
    dense = power(pilot=PILOT, difference=0.05, prevalence=0.2)
    assert dense.prevalence == 0.2
    assert dense.rows < power(pilot=PILOT, difference=0.05).rows


def test_models_that_agree_differ_less_by_chance():
    rows = [
        power(difference=0.1, prevalence=0.1, aucpr=0.4, correlation=each).rows
        for each in (0.0, 0.5, 0.9)
    ]
    assert rows[0] > 1.3 * rows[1] > 1.3 * 2 * rows[2]


def test_planned_power_is_that_of_comparisons():
    """300 comparisons of the planned size: the share that rejects is within 4 standard errors."""
    rng = np.random.default_rng(8)
    plan = power(difference=0.15, prevalence=0.2, auroc=0.7, correlation=0.6, metric="auroc")
    distances = [shapes.distance_of_auroc(each) for each in (0.85, 0.7)]
    rejected = 0
    for _ in range(300):
        y = np.arange(plan.rows) < plan.positives
        first, other = rng.normal(size=(2, y.size))
        second = 0.6 * first + 0.8 * other
        scores = {"a": first + distances[0] * y, "b": second + distances[1] * y}
        [found] = pr.compare(y, scores, "auroc").intervals.values()
        rejected += found.low > 0 or found.high < 0
    assert abs(rejected / 300 - plan.power) < 4 * math.sqrt(0.8 * 0.2 / 300)


@pytest.mark.parametrize(
    ("ask", "given", "message"),
    [
        (size, {"width": 0}, "width must be between 0 and 1"),
        (size, {"width": 1}, "width must be between 0 and 1"),
        (size, {"width": "a"}, "width must be a number"),
        (size, {"width": 1e-9}, "more than 1,000,000,000 would be needed"),
        (size, {"aucpr": None}, "exactly one of pilot, aucpr and auroc, got none"),
        (size, {"auroc": 0.7}, "got aucpr and auroc"),
        (size, {"prevalence": None}, "aucpr needs prevalence="),
        (size, {"prevalence": 1.5}, "prevalence must be strictly between"),
        (size, {"aucpr": 0.001}, "cannot be had at prevalence 0.1"),
        (size, {"model": "a"}, "model= belongs to a pilot"),
        (size, {"metric": "precision_at_threshold(0.3)"}, "give a pilot"),
        (size, {"aucpr": None, "pilot": pr.rank([1, 1], [2, 1])}, "pilot has no negatives"),
        (size, {"aucpr": None, "pilot": pr.rank([0, 0], [2, 1])}, "pilot has no positives"),
        (size, {"aucpr": None, "pilot": [1, 0]}, "ranking must be a Ranking"),
        (size, {"aucpr": None, "pilot": PILOT}, "say which"),
        (case_control, {"ratios": [0]}, "ratios must hold positive numbers"),
        (case_control, {"ratios": None}, "ratios must be"),
        (case_control, {"ratios": ["a"]}, "ratios must hold real numbers"),
        (power, {}, "give two of difference, rows and power"),
        (power, {"difference": 0.1, "rows": 10, "power": 0.8}, "give two of difference"),
        (power, {"difference": 0}, "difference must not be 0"),
        (power, {"difference": 0.7}, "add up to 1.1"),
        (power, {"difference": 0.1, "power": 0.01}, "power must be above 0.05"),
        (power, {"difference": 0.1, "correlation": 1}, "correlation must be"),
        (power, {"difference": 0.1, "pilot": PILOT}, "exactly one of pilot"),
        (power, {"difference": 0.1, "aucpr": None}, "exactly one of pilot"),
        (power, {"difference": 0.1, "aucpr": None, "pilot": PILOT[ONE]}, "pilot must be Rows"),
        (
            power,
            {"difference": 0.1, "aucpr": None, "pilot": PILOT, "candidate": "z"},
            "two models of the pilot, which has 'gradient_boosting', 'scorecard'",
        ),
        (
            power,
            {
                "difference": 0.1,
                "aucpr": None,
                "pilot": pr.Rows([1, 1], {"a": [1, 2], "b": [2, 1]}),
            },
            "pilot has no negatives",
        ),
        (
            power,
            {
                "difference": 0.1,
                "aucpr": None,
                "pilot": pr.Rows([1, 0], {"a": [1, 2], "b": [1, 2]}),
            },
            "rank the rows alike",
        ),
        (
            power,
            {
                "difference": 0.1,
                "aucpr": None,
                "pilot": PILOT,
                "metric": "recall_at_precision(0.5)",
            },
            "no influence values",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::precall.exceptions.PrecallWarning")
def test_bad_questions_are_named(ask, given, message):
    usual = {"aucpr": 0.4, "prevalence": 0.1}
    if ask is not power:
        usual["width"] = 0.1
    with pytest.raises(InputError, match=message):
        ask(**(usual | given))


def test_no_plan_has_fewer_than_ten_of_a_class():
    assert size(width=0.9, prevalence=0.9, auroc=0.9).negatives >= 10
    assert size(width=0.9, prevalence=0.1, auroc=0.9).positives >= 10


def test_plans_are_shown_and_taken_elsewhere():
    plans = [
        size(width=0.1, prevalence=0.1, aucpr=0.5),
        power(difference=0.1, prevalence=0.1, aucpr=0.5),
        case_control(width=0.1, prevalence=0.1, aucpr=0.5),
    ]
    for plan in plans:
        json.dumps(plan.to_dict(), allow_nan=False)
        assert len(plan.to_frame()) > 3
        assert type(plan).__name__ in repr(plan)
        assert plan.message.endswith(".")
        axes = plan.plot()
        assert axes.get_xlabel() in ("rows", "negatives per positive")
        axes.figure.clear()

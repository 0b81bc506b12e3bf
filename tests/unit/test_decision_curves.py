"""Cost, net-benefit and Brier curves beside sums over rows, threshold by threshold."""

import json

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError, UndefinedMetricError

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]


def rows_of(seed, size=60, decimals=None):
    rng = np.random.default_rng(seed)
    y = rng.random(size) < 0.4
    y[:2] = True, False
    s = rng.beta(np.where(y, 3, 1.5), np.where(y, 1.5, 3))
    return y, s if decimals is None else np.round(s, decimals)


def rates(y, s, threshold, weight=None):
    """Share of each class at or above a threshold, row by row."""
    weight = np.ones(y.size) if weight is None else weight
    chosen = s >= threshold
    return (
        np.sum(weight[chosen & y]) / np.sum(weight[y]),
        np.sum(weight[chosen & ~y]) / np.sum(weight[~y]),
    )


DATA = [(seed, decimals) for seed in range(4) for decimals in (None, 1)]


class TestCost:
    @pytest.mark.parametrize(("seed", "decimals"), DATA)
    def test_is_the_lowest_over_all_thresholds(self, seed, decimals):
        y, s = rows_of(seed, decimals=decimals)
        curve = pr.cost_curve(pr.rank(y, s))
        for x in np.linspace(0, 1, 41):
            costs = [
                (1 - recall) * x + rate * (1 - x)
                for recall, rate in (rates(y, s, t) for t in [np.inf, *s])
            ]
            assert curve.at(x) == pytest.approx(min(costs), abs=1e-14)

    @pytest.mark.parametrize(("seed", "decimals"), DATA)
    def test_each_threshold_costs_what_the_curve_says_where_it_is_used(self, seed, decimals):
        y, s = rows_of(seed, decimals=decimals)
        curve = pr.cost_curve(pr.Rows(y, s))
        assert np.all(np.diff(curve.x) >= 0)
        for left, right, threshold in zip(
            curve.x[:-1], curve.x[1:], curve.threshold[:-1], strict=True
        ):
            middle = 0.5 * (left + right)
            recall, rate = rates(y, s, threshold)
            own = (1 - recall) * middle + rate * (1 - middle)
            assert curve.at(middle) == pytest.approx(own, abs=1e-14)

    def test_a_perfect_ranking_costs_nothing_and_a_useless_one_a_quarter(self):
        assert pr.cost_curve(pr.rank([1, 1, 0], [3, 2, 1])).area() == 0.0
        useless = pr.cost_curve(pr.rank([1, 0, 1, 0], [1, 1, 1, 1]))
        assert useless.area() == pytest.approx(0.25)
        assert useless.at(0.5) == pytest.approx(0.5)

    def test_the_prevalence_is_part_of_the_axis_and_not_of_the_curve(self):
        y, s = rows_of(5)
        ranking = pr.rank(y, s)
        other = pr.cost_curve(ranking.at_prevalence(0.01))
        x = np.linspace(0, 1, 21)
        np.testing.assert_allclose(other.at(x), pr.cost_curve(ranking).at(x), atol=1e-14)


class TestNetBenefit:
    @pytest.mark.parametrize(("seed", "decimals"), DATA)
    def test_is_counted_row_by_row(self, seed, decimals):
        y, s = rows_of(seed, decimals=decimals)
        curve = pr.net_benefit_curve(pr.Rows(y, s))
        assert curve.x.tolist() == [k / 100 for k in range(1, 100)]
        for q, benefit, everything in zip(
            curve.x, curve.y, curve.references["select everything"], strict=True
        ):
            chosen = s >= q
            odds = q / (1 - q)
            assert benefit == pytest.approx(np.mean(chosen & y) - np.mean(chosen & ~y) * odds)
            assert everything == pytest.approx(np.mean(y) - np.mean(~y) * odds)
        assert not curve.references["select nothing"].any()

    def test_a_ranking_that_kept_the_probabilities_gives_the_same(self):
        y, s = rows_of(2)
        grid = [0.1, 0.25, 0.5]
        kept = pr.rank(y, s, thresholds=grid)
        expected = pr.net_benefit_curve(pr.Rows(y, s), probabilities=grid)
        np.testing.assert_array_equal(pr.net_benefit_curve(kept, probabilities=grid).y, expected.y)
        with pytest.raises(InputError, match="did not keep it"):
            pr.net_benefit_curve(pr.rank(y, s), probabilities=[0.3141])

    def test_counts_of_a_trillion_rows(self):
        y, s = rows_of(2)
        few = pr.rank(y, s, thresholds=[0.25])
        many = sum((few for _ in range(3)), start=few)
        for _ in range(35):
            many = many + many
        assert many.n_pos + many.n_neg > 10**12
        found = pr.net_benefit_curve(many, probabilities=[0.25])
        expected = pr.net_benefit_curve(few, probabilities=[0.25])
        np.testing.assert_allclose(found.y, expected.y, rtol=1e-12)

    def test_at_another_prevalence_as_if_negatives_weighed_more(self):
        y, s = rows_of(3)
        curve = pr.net_benefit_curve(pr.Rows(y, s), probabilities=[0.2], prevalence=0.1)
        recall, rate = rates(y, s, 0.2)
        assert curve.at(0.2) == pytest.approx(0.1 * recall - 0.9 * rate / 4)
        moved = pr.net_benefit_curve(pr.Rows(y, s).at_prevalence(0.1), probabilities=[0.2])
        assert moved.at(0.2) == pytest.approx(float(curve.at(0.2)))
        assert curve.prevalence == 0.1

    def test_answers_only_where_it_was_made_and_has_no_area(self):
        y, s = rows_of(3)
        curve = pr.net_benefit_curve(pr.Rows(y, s), probabilities=[0.2, 0.3])
        with pytest.raises(InputError, match="made for other probabilities"):
            curve.at(0.25)
        with pytest.raises(InputError, match="no useful area"):
            curve.area()

    @pytest.mark.parametrize("wrong", [[0.0, 0.5], [1.0], [], [0.5, 0.2], [0.2, 0.2]])
    def test_probabilities_are_checked(self, wrong):
        y, s = rows_of(3)
        with pytest.raises(InputError, match="probabilities must be"):
            pr.net_benefit_curve(pr.Rows(y, s), probabilities=wrong)


class TestBrier:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize(("seed", "decimals"), DATA)
    def test_its_area_is_the_brier_score(self, seed, decimals, weighted):
        y, s = rows_of(seed, decimals=decimals)
        weight = np.random.default_rng(seed).integers(1, 5, y.size) if weighted else None
        curve = pr.brier_curve(pr.Rows(y, s, sample_weight=weight))
        assert curve.area() == pytest.approx(np.average((s - y) ** 2, weights=weight), rel=1e-12)

    @pytest.mark.parametrize(("seed", "decimals"), DATA)
    def test_is_the_cost_of_every_threshold(self, seed, decimals):
        y, s = rows_of(seed, decimals=decimals)
        curve = pr.brier_curve(pr.Rows(y, s))
        share = np.mean(y)
        for c in [0.0, 1.0, *np.random.default_rng(seed).random(20), *s]:
            recall, rate = rates(y, s, c)
            cost = 2 * ((1 - c) * share * (1 - recall) + c * (1 - share) * rate)
            assert curve.at(c) == pytest.approx(cost, abs=1e-14)

    def test_scores_of_0_and_1_are_at_the_ends(self):
        curve = pr.brier_curve(pr.Rows([1, 0, 1, 0], [1.0, 0.0, 0.0, 1.0]))
        assert curve.area() == pytest.approx(0.5)
        assert curve.at(0.0) == 0.0

    def test_a_ranking_does_not_know_enough(self):
        with pytest.raises(InputError, match=r"brier_curve needs every score.*pr\.Rows"):
            pr.brier_curve(pr.rank([1, 0], [0.9, 0.1]))


@pytest.mark.parametrize("make", [pr.brier_curve, pr.net_benefit_curve])
def test_scores_that_are_no_probabilities_are_refused_with_a_way_out(make):
    with pytest.raises(InputError, match="go from -1 to 2: calibrate them first, or take cost"):
        make(pr.Rows([1, 0, 1], [2.0, -1.0, 0.5]))


@pytest.mark.parametrize("make", [pr.brier_curve, pr.cost_curve, pr.net_benefit_curve])
class TestEveryKind:
    def test_needs_both_classes(self, make):
        with pytest.raises(UndefinedMetricError, match="needs both classes, got no negatives"):
            make(pr.Rows([1, 1], [0.5, 0.2]))

    def test_survives_json_draws_itself_and_is_frozen(self, make):
        y, s = rows_of(1)
        curve = make(pr.Rows(y, s))
        plain = json.loads(json.dumps(curve.to_dict()))
        assert plain["y"] == curve.y.tolist()
        assert len(curve.to_frame()) == len(curve)
        axes = curve.plot(label="mine")
        lines = {line.get_label(): line.get_ydata() for line in axes.lines}
        assert lines["mine"].tolist() == curve.y.tolist()
        assert {*curve.references} < {*lines}
        drawn = len(axes.lines)
        curve.plot(ax=axes)
        assert len(axes.lines) == drawn + 1
        with pytest.raises(ValueError, match="read-only"):
            curve.y[0] = 1.0
        assert "<svg" in curve._repr_html_()

    def test_one_of_several_models_is_named(self, make):
        y, s = rows_of(1)
        rows = pr.Rows(y, {"a": s, "b": s**2})
        with pytest.raises(InputError, match="say which"):
            make(rows)
        assert make(rows, model="b").y.tolist() != make(rows, model="a").y.tolist() or (
            make is pr.cost_curve
        )

    def test_the_ends_are_between_0_and_1(self, make):
        y, s = rows_of(1)
        with pytest.raises(InputError, match="must be between 0 and 1"):
            make(pr.Rows(y, s)).at(1.5)

"""Positives that no scorer ever saw: rankings, points, curves and certificates count them."""

import json

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError, UndefinedMetricWarning
from tests.datasets import random_data

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]

Y, S = [1, 0, 1, 0, 0], [5.0, 4.0, 3.0, 2.0, 1.0]


def naive_average_precision(y, s, w, missed):
    """Sum over the positives of the precision at their score, over all positives."""
    w = np.ones(len(y)) if w is None else w
    precision = [w[(y == 1) & (s >= t)].sum() / w[s >= t].sum() for t in s[y == 1]]
    return float(np.sum(w[y == 1] * precision) / (w[y == 1].sum() + missed))


@pytest.mark.parametrize("weights", ["none", "real"])
@pytest.mark.parametrize("missed", [1, 7])
def test_average_precision_counts_them_with_precision_zero(weights, missed):
    rng = np.random.default_rng(missed)
    for _ in range(100):
        y, s, w = random_data(rng, weights=weights)
        ranking = pr.rank(y, s, sample_weight=w, missed_positives=missed)
        expected = naive_average_precision(y, s, w, missed)
        assert pr.aucpr(ranking) == pytest.approx(expected, rel=1e-12)
        assert pr.metrics.aucpr()(ranking) == pr.aucpr(ranking)
        in_a_set = pr.per_group([ranking, pr.rank(y, s, sample_weight=w)], "aucpr").values
        assert in_a_set == pytest.approx([expected, naive_average_precision(y, s, w, 0)], rel=1e-12)
        bounds = pr.tie_bounds(ranking)
        assert bounds.low <= expected <= bounds.high


def test_bounds_over_ties_are_attained():
    """A positive and a negative tied: either may be first."""
    bounds = pr.tie_bounds(pr.rank([1, 0, 0], [2, 2, 1], missed_positives=1))
    assert (bounds.low, bounds.estimate, bounds.high) == pytest.approx((0.25, 0.25, 0.5), abs=1e-12)


def test_recall_is_a_share_of_all_positives():
    ranking = pr.rank(Y, S, missed_positives=2, thresholds=[2.5])
    at = pr.confusion(ranking, 3.0)
    assert (at.tp, at.fp, at.fn, at.tn) == (2, 1, 2, 2)
    assert (at.recall, at.precision) == (0.5, 2 / 3)
    assert pr.confusion(ranking, -np.inf).fn == 2
    assert pr.confusion(ranking, np.inf).fn == 4
    expected = {
        "precision_at_threshold(2.5)": 2 / 3,
        "recall_at_threshold(2.5)": 2 / 4,
        "f1_at_threshold(2.5)": 4 / 7,
        "recall_at_k(3)": 2 / 4,
        "precision_at_k(3)": 2 / 3,
        "reciprocal_rank": 1.0,
        "r_precision": 2 / 4,
        # Two of four found: the recalls 0 to 0.2 ask for one of them, 0.3 to 0.5 for two.
        "eleven_point_precision": (3 * 1 + 3 * 2 / 3) / 11,
        "ndcg": (1 + 1 / 2) / sum(1 / np.log2(rank + 1) for rank in range(1, 5)),
    }
    for words, value in expected.items():
        assert pr.metrics.parse(words)(ranking) == pytest.approx(value, rel=1e-12)
        assert pr.per_group([ranking], words).values == pytest.approx([value], rel=1e-12)
    np.testing.assert_allclose(pr.f_beta(ranking), [2 / 5, 4 / 7, 4 / 7], rtol=1e-12)


def test_the_curve_ends_at_the_recall_that_was_reached():
    ranking = pr.rank(Y, S, missed_positives=2)
    curve = pr.pr_curve(ranking)
    assert curve.recall.max() == 0.5
    assert float(curve.at(0.25)) == 1.0
    assert float(curve.at(0.5)) == 2 / 3
    assert curve.at([0.51, 1.0]).tolist() == [0.0, 0.0]
    # Precision is 0 beyond, so the area is that of the scored ones times their share.
    assert curve.area() == pytest.approx(pr.pr_curve(pr.rank(Y, S)).area() / 2, rel=1e-12)


@pytest.mark.parametrize("name", ["roc_curve", "hit_curve"])
def test_curves_of_what_is_selected_are_those_with_the_missed_ranked_last(name):
    """Up to where everything that was scored is selected; beyond, nothing more is found."""
    rng = np.random.default_rng(3)
    curve_of = getattr(pr, name)
    for _ in range(50):
        y, s, _ = random_data(rng)
        if not 0 < sum(y) < len(y):
            continue
        curve = curve_of(pr.rank(y, s, missed_positives=3))
        last = curve_of(pr.rank(np.append(y, [1] * 3), np.append(s, [-np.inf] * 3)))
        x = np.append(curve.x, np.linspace(0.0, curve.x[-1], 7)[:-1])
        x = x[x < curve.x[-1]]
        np.testing.assert_allclose(curve.at(x), last.at(x), rtol=1e-12, atol=1e-15)
        end = sum(y) / {"roc_curve": sum(y) + 3, "hit_curve": len(y) + 3}[name]
        assert curve.at([curve.x[-1], 1.0]) == pytest.approx([end, end], rel=1e-12)


def test_the_area_under_roc_is_the_least_with_missed_positives():
    area = pr.roc_curve(pr.rank(Y, S, missed_positives=2)).area()
    assert area == pytest.approx(pr.auroc(pr.rank([*Y, 1, 1], [*S, 0.0, 0.0])), rel=1e-12)


def test_what_a_ranking_does_with_them():
    ranking = pr.rank(Y, S, missed_positives=2)
    assert (ranking.n_pos, ranking.missed, ranking.all_positives) == (2, 2, 4)
    assert repr(ranking).endswith("tied=0 %, missed=2)")
    assert ranking != pr.rank(Y, S)
    assert pr.Ranking.from_dict(json.loads(json.dumps(ranking.to_dict()))) == ranking
    assert (ranking + pr.rank(Y, S, missed_positives=3)).missed == 5
    assert ranking.coarsen(1).missed == ranking.of_positives.missed == 2
    assert ranking.at_prevalence(0.1).overall_prevalence == pytest.approx(0.1, rel=1e-12)
    assert (ranking.prevalence, ranking.overall_prevalence) == (2 / 5, 4 / 7)
    assert ranking.scored == pr.rank(Y, S)
    assert pr.rank(Y, S, missed_positives=0) == pr.rank(Y, S)


def test_a_set_of_rankings_hands_them_on():
    rankings = pr.RankingSet.from_rankings([pr.rank(Y, S, missed_positives=2), pr.rank(Y, S)])
    assert rankings.missed.tolist() == [2, 0]
    assert rankings.all_positives.tolist() == [4, 2]
    assert [ranking.missed for ranking in rankings] == [2, 0]
    assert rankings.select([0]).missed.tolist() == [2]
    assert rankings.to_dict()["missed"] == [2, 0]
    with pytest.raises(InputError, match="summary_curve needs a score"):
        pr.summary_curve(rankings, prevalence=0.3)
    weighted = pr.aggregate(rankings, "aucpr", how="weighted").estimate
    assert weighted == pytest.approx((4 * (5 / 12) + 2 * (5 / 6)) / 6, rel=1e-12)


def test_nothing_but_missed_positives():
    ranking = pr.rank([0, 0], [2.0, 1.0], missed_positives=3, thresholds=[1.5])
    assert pr.aucpr(ranking) == 0.0
    assert pr.metrics.recall_at_threshold(1.5)(ranking) == 0.0
    assert pr.confusion(ranking, 1.5).fn == 3
    with pytest.warns(UndefinedMetricWarning):
        assert pr.aucpr(pr.rank([1, 1], [2.0, 1.0], missed_positives=2)) == 0.5


@pytest.mark.parametrize("missed", [-1, 0.5, np.nan, None, "2"])
def test_a_number_of_missed_positives_is_whole(missed):
    with pytest.raises(InputError, match="missed_positives must be a whole number"):
        pr.rank(Y, S, missed_positives=missed)


def test_intervals_at_a_threshold_count_them():
    """Recall as a share of all positives, those included that were never scored."""
    y, s = [1, 1, 0, 1, 0, 0], [6, 5, 4, 3, 2, 1]
    missed = pr.rank(y, s, thresholds=[3.5], missed_positives=4)
    last = pr.rank([*y, 1, 1, 1, 1], [*s, -1, -2, -3, -4], thresholds=[3.5])
    for name in ("recall", "f1", "mcc", "false_negative_rate", "precision", "accuracy"):
        for method in ("clopper_pearson", "wilson"):
            words = f"{name}_at_threshold(3.5)"
            ours, theirs = (pr.interval(r, words, method=method) for r in (missed, last))
            assert ours.estimate == pytest.approx(theirs.estimate)
            assert tuple(ours) == pytest.approx(tuple(theirs))


def test_points_of_the_curve_count_them():
    """As a curve that ends where the scored ones are all found, and is at precision 0 beyond."""
    rng = np.random.default_rng(4)
    for _ in range(50):
        y, s, _ = random_data(rng, weights="none")
        ranking = pr.rank(y, s, missed_positives=3)
        curve = pr.pr_curve(ranking)
        for recall in (0.2, 0.5, float(ranking.n_pos / ranking.all_positives), 0.99):
            metric = pr.metrics.precision_at_recall(recall)
            assert metric(ranking) == pytest.approx(float(curve.at(recall)), rel=1e-12)
            pair = pr.per_group([ranking, pr.rank(y, s)], metric).values
            assert pair == pytest.approx([metric(ranking), metric(pr.rank(y, s))], rel=1e-12)
        for precision in (0.3, 0.8):
            metric = pr.metrics.recall_at_precision(precision)
            share = ranking.n_pos / ranking.all_positives
            assert metric(ranking) == pytest.approx(share * metric(pr.rank(y, s)), rel=1e-12)
    assert pr.metrics.precision_at_recall(0.5)(pr.rank([0, 0], [2, 1], missed_positives=1)) == 0.0


def test_what_errors_cost_counts_them():
    probabilities, grid = [0.9, 0.8, 0.6, 0.4, 0.2, 0.1], [0.15, 0.5, 0.7]
    y = [1, 1, 0, 1, 0, 0]
    ranking = pr.rank(y, probabilities, thresholds=grid, missed_positives=2)
    worth = pr.net_benefit_curve(ranking, probabilities=grid)
    for place, q in enumerate(grid):
        assert worth.y[place] == pytest.approx(pr.metrics.net_benefit(q)(ranking), rel=1e-12)
    # Of eight, three can be found; selecting everything finds them, with three false alarms.
    everything = [3 / 8 - 3 / 8 * q / (1 - q) for q in grid]
    assert worth.references["select everything"] == pytest.approx(everything, rel=1e-12)
    assert worth.prevalence == pytest.approx(5 / 8)
    cost = pr.cost_curve(ranking)
    recall, rate = np.append(0.0, ranking.tp) / 5, np.append(0.0, ranking.fp) / 3
    recall, rate = np.append(recall, 3 / 5), np.append(rate, 1.0)
    for x in np.linspace(0.0, 1.0, 11):
        lowest = np.min((1.0 - recall) * x + rate * (1.0 - x))
        assert float(cost.at(x)) == pytest.approx(lowest, abs=1e-12)
    assert cost.references["select everything"][-1] == pytest.approx(2 / 5)


def test_random_orders_miss_them_too():
    from scipy.stats import hypergeom

    ranking = pr.rank(Y, S, thresholds=[2.5], missed_positives=3)
    found = pr.chance_test(ranking, "recall_at_threshold(2.5)")
    assert found.estimate == pytest.approx(2 / 5)
    assert found.expected == pytest.approx(3 * 2 / 5 / 5)
    assert found.p_value == pytest.approx(hypergeom.sf(1, 5, 2, 3))


def _ranked_last(y, s, missed):
    """The same with the missed positives as rows below all others."""
    labels, scores = np.append(y, np.ones(missed, dtype=bool)), np.append(s, np.full(missed, -1e9))
    return pr.rank(labels, scores)


def test_certificates_count_them_below_every_threshold():
    """What is about all positives is as if they came last; precision as if they did not exist."""
    rng = np.random.default_rng(0)
    certified = 0
    for _ in range(40):
        rows, missed = int(rng.integers(100, 800)), int(rng.integers(1, 30))
        y = rng.random(rows) < 0.3
        s = np.round(rng.normal(size=rows) + 1.8 * y, int(rng.integers(1, 4)))
        ours, last = pr.rank(y, s, missed_positives=missed), _ranked_last(y, s, missed)
        for asked in (
            {"min_recall": 0.6},
            {"min_recall": 0.9},
            {"min_net_benefit": 0.05, "probability": 0.2},
            {"min_precision": 0.5, "prevalence": 0.1},
        ):
            point, other = (pr.operating_point(each, **asked) for each in (ours, last))
            if other.certified and other.threshold > -1e9:
                certified += 1
                assert (point.threshold, point.recall) == (other.threshold, other.recall)
                assert point.recall_bound == other.recall_bound
            elif not other.certified:
                assert not point.certified
        for asked in ({"min_precision": 0.7}, {"max_selected": 0.3}):
            point, other = (pr.operating_point(each, **asked) for each in (ours, pr.rank(y, s)))
            assert (point.threshold, point.precision) == (other.threshold, other.precision)
            assert point.precision_bound == other.precision_bound
            if point.certified:
                assert point.confusion.fn == other.confusion.fn + missed
                assert point.recall.estimate < other.recall.estimate
        asked = {"min_precision": 0.7, "min_npv": 0.75}
        two, below, above = (pr.two_thresholds(r, **asked) for r in (ours, last, pr.rank(y, s)))
        assert two.upper == above.upper
        if two.upper == below.upper:
            assert two.lower == below.lower
        parts = two.true_positives + two.reviewed_positives + two.false_negatives
        assert parts == ours.all_positives
        assert two.false_negatives >= missed
    assert certified > 60


def test_a_recall_that_was_not_reached_is_not_promised():
    y = np.repeat([True, False], [50, 200])
    s = np.arange(250, 0, -1)
    point = pr.operating_point(pr.rank(y, s, missed_positives=50), min_recall=0.8)
    assert not point.certified
    assert point.positives_needed is None
    assert "on 100 positives: no threshold has clearly more on this data" in point.message
    # 50 of 52 is more than nine tenths, and 52 positives are too few to promise it.
    near = pr.operating_point(pr.rank(y, s, missed_positives=2), min_recall=0.9)
    assert near.positives_needed > 52
    grown = pr.rank(np.repeat(y, 10), np.repeat(s, 10), missed_positives=20)
    assert pr.operating_point(grown, min_recall=0.9).certified == (near.positives_needed <= 520)
    with pytest.raises(InputError, match="missed positives have no weights"):
        pr.operating_point(pr.rank(y, s, sample_weight=1.0 + y, missed_positives=2), min_recall=0.5)

"""Several promises about one threshold: each certified at its part of the error."""

import math
from fractions import Fraction

import numpy as np
import pytest

import precall as pr
from precall.points.certificates import uniform_share
from precall.points.operating import operating_point
from precall.points.share_bounds import ShareOfRows
from tests import naive_points

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]


@pytest.fixture(scope="module")
def ranking():
    rng = np.random.default_rng(3)
    y = rng.random(4000) < 0.2
    return pr.rank(y, rng.normal(size=4000) + 2 * y)


def thresholds(ranking, level, **asked):
    """Every threshold at which something alone is certified, by asking for both ends."""
    ends = [
        operating_point(ranking, confidence_level=level, prefer=prefer, **asked).threshold
        for prefer in ("fewest_selected", "most_recall")
    ]
    inside = (ranking.threshold <= ends[0]) & (ranking.threshold >= ends[1])
    return set(ranking.threshold[inside].tolist())


class TestTogether:
    def test_each_is_certified_at_half_of_the_error(self, ranking):
        asked = {"min_precision": 0.65, "min_recall": 0.6}
        alone = [thresholds(ranking, 0.975, **{name: value}) for name, value in asked.items()]
        both = sorted(alone[0] & alone[1])
        lowest = operating_point(ranking, **asked)
        highest = operating_point(ranking, prefer="fewest_selected", **asked)
        assert (lowest.threshold, highest.threshold) == (both[0], both[-1])
        assert lowest.threshold < highest.threshold
        assert [each.holds for each in lowest.constraints] == [True, True]
        assert lowest.other_bounds == ()
        assert lowest.joint_confidence_level == pytest.approx(0.95)

    def test_a_count_costs_no_confidence(self, ranking):
        alone = operating_point(ranking, min_recall=0.5)
        selected = int(alone.confusion.tp + alone.confusion.fp)
        with_room = operating_point(
            ranking, min_recall=0.5, max_selected=selected, prefer="fewest_selected"
        )
        assert with_room.threshold == alone.threshold
        assert operating_point(ranking, min_recall=0.5, max_selected=selected).certified
        assert not operating_point(ranking, min_recall=0.5, max_selected=selected - 1).certified

    def test_a_budget_alone_takes_as_many_rows_as_it_allows(self, ranking):
        point = operating_point(ranking, max_selected=100)
        [constraint] = point.constraints
        assert constraint.bound == point.confusion.tp + point.confusion.fp <= 100
        after = np.flatnonzero(ranking.threshold == point.threshold)[0] + 1
        assert ranking.tp[after] + ranking.fp[after] > 100
        assert (constraint.name, constraint.sign, constraint.observed) == ("selected", "<=", None)
        assert 0 < point.precision_bound < point.precision.low
        assert 0 < point.recall_bound < point.recall.estimate
        assert point.joint_confidence_level == pytest.approx(0.9)
        assert "at most 100 of these rows selected, and a precision of at least" in point.message

    def test_more_asked_is_never_easier(self, ranking):
        asked = {
            "min_precision": 0.6,
            "min_recall": 0.4,
            "max_selected": 0.25,
            "min_net_benefit": 0.01,
            "probability": 0.2,
        }
        point = operating_point(ranking, **asked)
        assert [each.name for each in point.constraints] == [
            "precision",
            "recall",
            "selected",
            "net_benefit",
        ]
        assert all(each.holds for each in point.constraints)
        assert point.of("net_benefit").bound >= 0.01
        for left_out in ("min_precision", "min_recall", "max_selected"):
            fewer = {name: value for name, value in asked.items() if name != left_out}
            assert operating_point(ranking, **fewer).threshold <= point.threshold
        together = "together with 95 % confidence"
        assert together in point.message
        assert "all)" in repr(point)

    def test_at_another_prevalence(self, ranking):
        point = operating_point(ranking, min_precision=0.3, min_recall=0.5, prevalence=0.05)
        assert point.certified
        assert point.precision_bound >= 0.3
        assert point.prevalence == 0.05
        benefit = {"min_net_benefit": 0.001, "probability": 0.1}
        there = operating_point(ranking, prevalence=0.05, **benefit)
        recall, rate = (
            uniform_share(ranking.tp, ranking.n_pos, 0.025),
            1 - uniform_share(ranking.n_neg - ranking.fp, ranking.n_neg, 0.025),
        )
        row = int(np.flatnonzero(ranking.threshold == there.threshold)[0])
        expected = 0.05 * recall[row] - 0.95 * rate[row] / 9
        assert there.of("net_benefit").bound == pytest.approx(expected, rel=1e-12)


class TestNetBenefit:
    def test_is_bounded_through_shares_of_all_rows(self, ranking):
        point = operating_point(ranking, min_net_benefit=0.05, probability=0.2)
        rows = ranking.n_pos + ranking.n_neg
        found = uniform_share(ranking.tp, rows, 0.025)
        wrong = 1 - uniform_share(rows - ranking.fp, rows, 0.025)
        bounds = found - wrong * 0.25
        expected = ranking.threshold[np.flatnonzero(bounds >= 0.05)]
        assert point.threshold == expected[-1]
        assert point.of("net_benefit").bound == pytest.approx(
            bounds[np.flatnonzero(bounds >= 0.05)[-1]], rel=1e-12
        )
        assert "a net benefit of at least 0.05 at a threshold probability of 0.2" in point.message

    def test_cannot_exceed_the_prevalence(self, ranking):
        point = operating_point(ranking, min_net_benefit=0.5, probability=0.2)
        assert not point.certified
        assert point.positives_needed is None
        assert "would not help" in point.message


def largest_rank(total, share):
    """Down to which rank at most `share` of the population lies above: as many are certified."""
    selected = ShareOfRows(np.arange(0.0, total + 1), float(total))
    return np.count_nonzero(selected.turned.certified(1.0 - share, 0.05))


class TestShareSelected:
    @pytest.mark.parametrize("share", [0.01, 0.2, 0.9])
    @pytest.mark.parametrize("total", [1, 9, 60])
    def test_the_rank_is_the_largest_that_binomials_allow(self, share, total):
        """More than `share` above the k-th highest: fewer than k of N rows in a set of `share`."""
        delta = Fraction(1, 20)
        allowed = [
            k
            for k in range(1, total + 1)
            if 1 - naive_points.binomial_tail(total, share, k) <= delta
        ]
        assert largest_rank(total, share) == max(allowed, default=0)

    def test_the_threshold_is_above_the_score_of_that_rank(self):
        rng = np.random.default_rng(8)
        y = rng.random(500) < 0.3
        s = np.round(rng.normal(size=500) + y, 1)
        point = operating_point(pr.rank(y, s), max_selected=0.2)
        rank = largest_rank(500, 0.2)
        limit = np.sort(s)[::-1][rank - 1]
        assert point.threshold == min(s[(s > limit) & y])
        assert point.of("selected").bound == 0.2
        assert point.of("selected").observed.estimate == np.mean(s >= point.threshold)

    def test_too_few_rows_say_how_many_positives_would_do(self):
        y = [1, 0, 1, 0, 0] * 4
        point = operating_point(pr.rank(y, range(20, 0, -1)), max_selected=0.1)
        assert not point.certified
        assert point.positives_needed > 8
        assert "at most 10 % of the rows selected" in point.message


class TestWhatIsInTheWay:
    def test_one_of_them_alone(self, ranking):
        point = operating_point(ranking, min_precision=0.99, min_recall=0.2)
        assert not point.certified
        assert "a precision of at least 0.99: " in point.message
        assert [each.holds for each in point.constraints] == [False, False]

    def test_each_by_itself_but_not_together(self, ranking):
        point = operating_point(ranking, min_recall=0.9, max_selected=100)
        assert not point.certified
        assert point.positives_needed is None
        recall = operating_point(ranking, min_recall=0.9).threshold
        selected = operating_point(ranking, max_selected=100).threshold
        assert "no threshold is certified for all of them" in point.message
        assert f"a recall of at least 0.9 holds for thresholds up to {recall:.6g}" in point.message
        assert f"selected holds for thresholds from {selected:.6g}" in point.message

    def test_more_of_the_same_may_bring_them_together(self):
        rng = np.random.default_rng(5)
        y = rng.random(400) < 0.3
        s = rng.normal(size=400) + 2 * y
        asked = {"min_precision": 0.75, "min_recall": 0.7}
        point = operating_point(pr.rank(y, s), **asked)
        assert not point.certified
        factor = math.ceil(point.positives_needed / y.sum())
        assert factor > 1
        more = pr.rank(np.repeat(y, factor), np.repeat(s, factor))
        assert operating_point(more, **asked).certified

    def test_a_budget_smaller_than_the_highest_tie(self):
        ranking = pr.rank([1, 0, 1, 0], [2, 2, 2, 1])
        point = operating_point(ranking, max_selected=2)
        assert "more rows than that are selected at the highest threshold" in point.message


def test_weights_select_rows_and_not_weight():
    ranking = pr.rank([1, 0, 1, 0], [4, 3, 2, 1], sample_weight=[5.0, 5.0, 5.0, 5.0])
    assert operating_point(ranking, max_selected=1).threshold == 4
    assert operating_point(ranking, max_selected=3).threshold == 2

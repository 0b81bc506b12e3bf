"""Certified operating points: exact pieces, the walk down the scores, and what is said."""

import json
import math
from fractions import Fraction
from itertools import count, pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.special
import scipy.stats

import precall as pr
from precall.exceptions import InputError, ReliabilityWarning, UndefinedMetricError
from precall.inference.bands.crossing import joint_probability
from precall.inference.limits import share_limits
from precall.points.certificates import (
    binomial_tail,
    first_rank,
    passing_run,
    sequences,
    smallest_rank,
    uniform_share,
)
from precall.points.operating import operating_point
from precall.points.shortfall import more_of_the_same
from tests import naive_points

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]


def separated(n_pos, n_neg):
    """A perfect ranking."""
    return pr.rank([1] * n_pos + [0] * n_neg, np.arange(n_pos + n_neg, 0, -1))


def normal(seed=0, rows=3000, prevalence=0.2, shift=2.0, decimals=None):
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < prevalence
    s = rng.normal(size=rows) + shift * y
    return y, s if decimals is None else np.round(s, decimals)


class TestPieces:
    @pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
    def test_binomial_tail_is_that_of_fractions(self, share):
        for size in (1, 7, 40):
            for successes in range(size + 1):
                exact = naive_points.binomial_tail(size, share, successes)
                found = binomial_tail(successes, size - successes, share)
                assert found == pytest.approx(float(exact), rel=1e-11)

    def test_limits_are_where_the_tails_reach_delta(self):
        delta = 0.03
        for size in (1, 9, 30):
            for successes in range(size + 1):
                low, high = share_limits(successes, size, delta)
                if successes:
                    tail = naive_points.binomial_tail(size, float(low), successes)
                    assert float(tail) == pytest.approx(delta, rel=1e-9)
                else:
                    assert low == 0.0
                if successes < size:
                    tail = 1 - naive_points.binomial_tail(size, float(high), successes + 1)
                    assert float(tail) == pytest.approx(delta, rel=1e-9)
                else:
                    assert high == 1.0

    def test_where_no_limit_is_found_nothing_is_known(self, monkeypatch):
        """As SciPy before 1.13 has it for some counts beyond 1e10."""
        monkeypatch.setattr(scipy.special, "betaincinv", lambda a, *_: np.full_like(a, np.nan))
        assert share_limits(3e10, 9e10, 0.05) == (0.0, 1.0)
        assert (uniform_share(np.array([0, 2, 5]), 10, 1e-9) == 0.0).all()

    @pytest.mark.parametrize("rows", [50, 1_000, 100_000])
    @pytest.mark.parametrize("precision", [0.3, 0.8, 0.99])
    def test_first_rank_can_pass_with_false_positives(self, precision, rows):
        rank = first_rank(precision, 0.05, rows)
        tolerated = max(f for f in range(rank) if binomial_tail(rank - f, f, precision) <= 0.05)
        assert 1 <= tolerated <= 8
        assert binomial_tail(rank - 1 - tolerated, tolerated, precision) > 0.05
        assert tolerated == 1 or rank <= rows / 50

    def test_testing_begins_within_a_fiftieth_of_the_rows(self):
        """At the rank that lets 1 to 8 false positives pass, as many as that leaves room for."""
        for precision, delta in ((0.8, 0.05), (0.3, 0.2), (0.05, 0.9), (0.9, 0.001)):
            ranks = [
                wrong + next(k for k in count(1) if binomial_tail(k, wrong, precision) <= delta)
                for wrong in range(1, 9)
            ]
            assert first_rank(precision, delta, 0.0) == ranks[0]
            for before, rank in pairwise(ranks):
                assert first_rank(precision, delta, 50 * rank) == rank
                assert first_rank(precision, delta, 50 * rank - 1) == before
            assert first_rank(precision, delta, 1e9) == ranks[-1]

    def test_smallest_rank(self):
        for total in (5, 13, 14, 60):
            rank = smallest_rank(total, 0.8, 0.05)
            tails = [naive_points.binomial_tail(total, 0.8, k) for k in range(1, total + 1)]
            passing = [k for k, tail in enumerate(tails, start=1) if tail <= Fraction(0.05)]
            assert rank == (passing[0] if passing else None)

    def test_uniform_bounds_lie_under_the_pointwise_ones(self):
        for total in (1, 2, 10, 333, 10_000):
            above = np.unique(np.linspace(0, total, 50).astype(int))
            bound = uniform_share(above, total, 0.05)
            pointwise, _ = share_limits(above, total, 0.05)
            assert (np.diff(bound) >= 0).all()
            assert (bound <= pointwise + 1e-12).all()
            assert bound[0] == 0.0

    @pytest.mark.parametrize("total", [3, 20, 400])
    @pytest.mark.parametrize("delta", [0.05, 0.4])
    def test_uniform_bounds_hold_together(self, total, delta):
        """The share above the k-th highest is a uniform order statistic, whatever the scores."""
        ranks = np.arange(1, total + 1)
        bound = uniform_share(ranks, total, delta)
        together = joint_probability(total, ranks, bound, np.ones(total))
        # At most delta by the promise; under a quarter of it, the bounds would be needlessly low.
        assert 1 - delta <= together <= 1 - delta / 4

    def test_uniform_bounds_are_the_larger_of_two_kinds(self):
        total, delta = 40, 0.1
        fixed = [1, 2, 3, 4, 6, 8, 12, 16, 25, 29, 33, 35, 37, 38, 39, 40]
        beta = {k: scipy.stats.beta.ppf(0.5 * delta / len(fixed), k, total - k + 1) for k in fixed}
        for above in range(total + 1):
            reached = [beta[k] for k in fixed if k <= above]
            everywhere = above / total - math.sqrt(math.log(2 / delta) / (2 * total))
            expected = max([0.0, everywhere, *reached])
            assert uniform_share(above, total, delta) == pytest.approx(expected, rel=1e-9)

    def test_a_run_ends_at_the_first_failure(self):
        tp = np.array([[1.0, 20.0, 20.0, 60.0], [1.0, 20.0, 40.0, 60.0], [0.0, 0.0, 1.0, 1.0]])
        fp = np.array([[0.0, 0.0, 20.0, 20.0], [0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0]])
        np.testing.assert_array_equal(passing_run(tp, fp, 1, 0.8, 0.05), [2, 4, 1])
        np.testing.assert_array_equal(passing_run(tp, fp, [0, 4, 4], 0.8, 0.05), [0, 4, 4])

    @pytest.mark.parametrize("share", [0.3, 0.45, 0.6])
    def test_a_long_run_of_one_data_set_ends_where_that_of_many_does(self, share):
        """One is tested in blocks, up to the first failure; many at once, everywhere."""
        rng = np.random.default_rng(4)
        hit = rng.random((12, 3_000)) < np.linspace(0.9, 0.3, 3_000)
        tp = np.cumsum(hit, axis=1).astype(float)
        fp = np.cumsum(~hit, axis=1).astype(float)
        for first in (0, 40, 255, 256, 2_999, 3_000, 5_000):
            many = passing_run(tp, fp, first, share, 0.05)
            one = [passing_run(*pair, first, share, 0.05) for pair in zip(tp, fp, strict=True)]
            np.testing.assert_array_equal(one, many)


class TestPrecision:
    def test_the_threshold_is_that_of_a_walk_down_the_scores(self):
        found = 0
        for seed in range(60):
            rng = np.random.default_rng(seed)
            y = rng.random(80) < 0.5
            s = rng.normal(size=80) + rng.uniform(1, 3) * y
            if seed % 2:
                s = np.round(s, 1)
                # Tied negatives at the first rank may only make the library more careful.
                s[~y] += np.where(np.isin(s[~y], s[y]), 0.0, rng.uniform(0, 0.04, (~y).sum()))
            rank = first_rank(0.6, 0.2, 80)
            expected = naive_points.certified_threshold(y, s, 0.6, 0.2, rank)
            point = operating_point(pr.rank(y, s), min_precision=0.6, confidence_level=0.8)
            assert point.threshold == expected
            assert point.certified == (expected is not None)
            found += point.certified
        assert 20 < found < 60  # both outcomes were seen

    def test_the_first_rank_inside_a_tie_starts_above_it(self):
        # p = .6, delta = .2: five rows with one false positive pass.
        assert first_rank(0.6, 0.2, 20) == 7
        # Rank 7 is inside the tie at score 5, whose upper edge (6 positives of 6) passes.
        y = [1] * 6 + [1, 1, 0, 0] + [0] * 10
        s = [11, 10, 9, 8, 7, 6, 5, 5, 5, 5, *range(4, -6, -1)]
        point = operating_point(pr.rank(y, s), min_precision=0.6, confidence_level=0.8)
        assert point.threshold == naive_points.certified_threshold(y, s, 0.6, 0.2, 7) == 5

    def test_a_tied_top_is_tested_whole(self):
        # 57 of 58 positives share the highest score with three negatives.
        y = [1] * 57 + [0] * 3 + [1] + [0] * 39
        s = [1.0] * 60 + [0.5] + [0.1] * 39
        point = operating_point(pr.rank(y, s), min_precision=0.8)
        rank = first_rank(0.8, 0.05, 100)
        assert rank < 60
        assert point.threshold == naive_points.certified_threshold(y, s, 0.8, 0.05, rank) == 0.5
        weighted = operating_point(pr.rank(y, s, sample_weight=[2.0] * 100), min_precision=0.8)
        assert weighted.threshold == 0.5
        unequal = pr.rank(y, s, sample_weight=np.linspace(0.9, 1.1, 100))
        with pytest.warns(ReliabilityWarning, match="approximate"):
            assert operating_point(unequal, min_precision=0.8).threshold == 0.5

    def test_a_tied_top_between_the_two_starts_is_found_by_the_early_one(self):
        (main, _), (early, _) = sequences(0.8, 0.05, 5000)
        size = (main + early) // 2
        assert early < size < main
        # Below the tie every other row is positive: after a few of them nothing passes.
        y = np.concatenate([np.ones(size), np.arange(5000 - size) % 2])
        s = np.concatenate([np.full(size, 9000), np.arange(5000 - size, 0, -1)])
        point = operating_point(pr.rank(y, s), min_precision=0.8)
        assert size <= point.confusion.tp < main

    def test_a_tied_top_that_is_too_small_or_not_the_top_is_not(self):
        rank = first_rank(0.8, 0.05, 100)
        for size, certified in ((rank, False), (rank + 1, True)):
            tied = pr.rank([1] * size + [0] * (100 - size), [1] * size + [0] * (100 - size))
            assert operating_point(tied, min_precision=0.8).certified == certified
        # One negative above the tie: the first set holds that row alone, and fails.
        y, s = [0] + [1] * 60 + [0] * 39, [2] + [1] * 60 + [0] * 39
        point = operating_point(pr.rank(y, s), min_precision=0.8)
        assert not point.certified
        assert "highest-scoring rows already fail" in point.message
        assert naive_points.certified_threshold(y, s, 0.8, 0.05, rank) is None

    @pytest.mark.parametrize("levels", [2, 3, 5, 10])
    def test_few_levels_are_walked_down_like_many(self, levels):
        outcomes = set()
        for seed in range(40):
            rng = np.random.default_rng(seed)
            y = rng.random(80) < 0.5
            s = np.clip(np.round(rng.normal(size=80) + 2 * y), 0, levels - 1)
            rank = first_rank(0.6, 0.2, 80)
            expected = naive_points.certified_threshold(y, s, 0.6, 0.2, rank)
            point = operating_point(pr.rank(y, s), min_precision=0.6, confidence_level=0.8)
            assert point.threshold == expected
            outcomes.add(expected)
        assert len(outcomes) > 1

    def test_the_top_of_float32_sigmoids(self):
        rng = np.random.default_rng(0)
        y = rng.random(2000) < 0.3
        logits = 10 * rng.normal(size=2000) + 30 * y
        with np.errstate(over="ignore"):
            s = np.float32(1) / (np.float32(1) + np.exp(-logits.astype(np.float32)))
        assert np.mean(s == 1) > 0.1
        assert operating_point(pr.rank(y, s), min_precision=0.8).certified

    def test_the_best_of_several_models_pays_for_the_choice(self):
        ranking = pr.rank(*normal())
        for target in (
            {"min_precision": 0.7},
            {"min_recall": 0.7},
            {"min_precision": 0.4, "prevalence": 0.1},
        ):
            one, best = (operating_point(ranking, n_candidates=k, **target) for k in (1, 4))
            strict = operating_point(ranking, confidence_level=1 - 0.05 / 4, **target)
            assert best.threshold == strict.threshold
            assert best.recall_bound == pytest.approx(strict.recall_bound, rel=1e-9)
            assert best.precision_bound == pytest.approx(strict.precision_bound, rel=1e-9)
            assert (best.confidence_level, best.n_candidates) == (0.95, 4)
            assert best.joint_confidence_level == one.joint_confidence_level
            assert "best of 4 models" in best.message
            assert "models" not in one.message
        with pytest.raises(InputError, match="n_candidates must be a whole number of at least 1"):
            operating_point(ranking, min_recall=0.5, n_candidates=0)

    def test_what_is_observed_there(self):
        y, s = normal()
        point = operating_point(pr.rank(y, s), min_precision=0.8)
        chosen = s >= point.threshold
        assert point.precision.estimate == pytest.approx(y[chosen].mean(), rel=1e-12)
        assert point.recall.estimate == pytest.approx(chosen[y].mean(), rel=1e-12)
        assert point.precision.estimate > point.precision_bound == 0.8
        assert point.recall.low > point.recall_bound
        assert point.joint_confidence_level == pytest.approx(0.9)
        assert point.confusion.tp == (chosen & y).sum()
        assert point.exact
        assert "precision of at least 0.8 with 95 % confidence" in point.message
        assert json.loads(json.dumps(point.to_dict(), allow_nan=False)) == point.to_dict()

    def test_more_confidence_or_precision_never_gives_more_recall(self):
        y, s = normal(seed=3)
        ranking = pr.rank(y, s)
        levels = [
            operating_point(ranking, min_precision=0.7, confidence_level=c)
            for c in (0.5, 0.9, 0.99)
        ]
        targets = [operating_point(ranking, min_precision=p) for p in (0.5, 0.7, 0.9)]
        for points in (levels, targets):
            thresholds = [p.threshold for p in points]
            assert thresholds == sorted(thresholds)

    def test_order_is_all_that_matters(self):
        y, s = normal(seed=4, decimals=1)
        plain = operating_point(pr.rank(y, s), min_precision=0.7)
        moved = operating_point(pr.rank(y[::-1], np.exp(s[::-1])), min_precision=0.7)
        assert moved.threshold == np.exp(plain.threshold)
        assert moved.recall_bound == plain.recall_bound


class TestNothingCertified:
    def test_too_few_positives(self):
        point = operating_point(separated(10, 90), min_precision=0.9)
        assert not point.certified
        assert point.threshold is None
        assert point.precision is None
        assert point.confusion is None
        # The first set tested has 46 rows and ends above the 47th, which must be a positive.
        assert first_rank(0.9, 0.05, 460) == 46
        assert point.positives_needed == 47
        assert operating_point(separated(47, 423), min_precision=0.9).certified
        assert not operating_point(separated(46, 414), min_precision=0.9).certified
        assert "about 47 would be needed" in repr(point)
        assert json.dumps(point.to_dict(), allow_nan=False)

    def test_more_of_the_same_would_be_enough(self):
        y, s = normal(seed=5, rows=120, shift=2.5)
        small = operating_point(pr.rank(y, s), min_precision=0.9)
        assert small.positives_needed is not None
        factor = math.ceil(small.positives_needed / y.sum())
        more = pr.rank(np.repeat(y, factor), np.repeat(s, factor))
        tails = binomial_tail(more.tp, more.fp, 0.9)
        assert tails.min() <= 0.05

    def test_more_of_the_same_would_not_help(self):
        rng = np.random.default_rng(6)
        point = operating_point(pr.rank(rng.random(500) < 0.1, rng.random(500)), min_precision=0.9)
        assert point.positives_needed is None
        assert "would not help" in point.message

    @pytest.mark.parametrize("n_pos", [10, 7.5])
    def test_the_fewest_positives_that_are_enough_are_found(self, n_pos):
        """Up to a million times as many: beyond, it is said that more would not help."""
        counts = SimpleNamespace(n_pos=n_pos)
        for enough in (n_pos + 1, 3.05 * n_pos, 2 * n_pos, 999.5 * n_pos, 2.0**19 * n_pos):
            found = more_of_the_same(counts, lambda scale, enough=enough: scale * n_pos >= enough)
            assert found.positives_needed == math.ceil(enough)
        beyond = 2.0**20 * n_pos + 1
        if n_pos == 10:
            found = more_of_the_same(counts, lambda scale: scale * n_pos >= beyond - 1)
            assert found.positives_needed == beyond - 1
        found = more_of_the_same(counts, lambda scale: scale * n_pos >= beyond)
        assert found.positives_needed is None
        assert "more of it would not help" in found.reason
        assert "already fail" in more_of_the_same(counts, lambda scale: True).reason

    def test_a_bad_start_blocks_what_comes_after_it(self):
        y = [0] * 30 + [1] * 200 + [0] * 100
        point = operating_point(pr.rank(y, range(330, 0, -1)), min_precision=0.8)
        assert not point.certified
        assert "highest-scoring rows already fail" in point.message

    def test_recall(self):
        point = operating_point(separated(20, 80), min_recall=0.9)
        assert point.positives_needed == math.ceil(math.log(0.05) / math.log(0.9)) == 29
        assert operating_point(separated(29, 10), min_recall=0.9).certified
        assert not operating_point(separated(28, 10), min_recall=0.9).certified


class TestRecall:
    def test_the_rank_among_positives_is_fixed_in_advance(self):
        for seed in range(5):
            y, s = normal(seed=seed)
            point = operating_point(pr.rank(y, s), min_recall=0.8)
            rank = smallest_rank(float(y.sum()), 0.8, 0.05)
            assert point.threshold == np.sort(s[y])[::-1][rank - 1]
            assert point.recall_bound == 0.8
            assert 0 < point.precision_bound < point.precision.estimate

    def test_ties_are_selected_whole(self):
        y, s = normal(seed=8, decimals=0)
        point = operating_point(pr.rank(y, s), min_recall=0.8)
        assert point.recall.estimate == (s[y] >= point.threshold).mean()

    def test_precision_at_another_prevalence(self):
        ranking = pr.rank(*normal())
        here, there = (operating_point(ranking, min_recall=0.8, prevalence=p) for p in (0.2, 0.02))
        assert here.threshold == there.threshold
        assert here.precision_bound > there.precision_bound

    @pytest.mark.parametrize("prevalence", [None, 0.02])
    def test_the_precision_that_comes_with_a_recall(self, prevalence):
        """Equal shares of delta for recall, false-positive rate and, if unknown, prevalence."""
        ranking = pr.rank(*normal())
        n, m, delta = ranking.n_pos, ranking.n_neg, 0.05
        point = operating_point(ranking, min_recall=0.8, prevalence=prevalence)
        rank = smallest_rank(n, 0.8, delta)
        row = int(np.flatnonzero(ranking.tp >= rank)[0])
        assert point.threshold == ranking.threshold[row]
        beta, part = scipy.stats.beta, delta / (3 if prevalence is None else 2)
        recall = beta.ppf(part, rank, n - rank + 1)
        alarms = beta.ppf(1 - part, ranking.fp[row] + 1, m - ranking.fp[row])
        share = beta.ppf(part, n, m + 1) if prevalence is None else prevalence
        expected = share * recall / (share * recall + (1 - share) * alarms)
        assert point.precision_bound == pytest.approx(expected, rel=1e-9)


class TestElsewhere:
    def test_bounds_follow_from_recall_and_false_positive_rate(self):
        ranking = pr.rank(*normal())
        point = operating_point(ranking, min_precision=0.5, prevalence=0.05)
        assert point.certified
        assert point.prevalence == 0.05
        assert point.precision_bound >= 0.5
        assert point.joint_confidence_level == 0.95
        at = pr.rank(*normal()).at_prevalence(0.05)
        observed = at.tp / (at.tp + at.fp)
        row = int(np.flatnonzero(at.threshold == point.threshold)[0])
        assert point.precision.estimate == pytest.approx(observed[row], rel=1e-9)
        assert point.precision_bound < point.precision.low

    def test_of_the_thresholds_whose_bound_is_enough_the_lowest_is_taken(self):
        """Half of delta for recall, half for the false-positive rate, at all thresholds at once."""
        share, delta = 0.05, 0.05
        for rows, required in ((3_000, 0.3), (20_000, 0.4), (20_000, 0.6)):
            ranking = pr.rank(*normal(rows=rows))
            n, m = ranking.n_pos, ranking.n_neg
            found = {}
            for threshold, tp, fp in zip(ranking.threshold, ranking.tp, ranking.fp, strict=True):
                recall = float(uniform_share(tp, n, delta / 2))
                alarms = 1 - float(uniform_share(m - fp, m, delta / 2))
                bound = share * recall / (share * recall + (1 - share) * alarms)
                if bound >= required:
                    found = {"threshold": threshold, "precision": bound, "recall": recall}
            point = operating_point(ranking, min_precision=required, prevalence=share)
            assert point.threshold == found["threshold"]
            assert point.precision_bound == pytest.approx(found["precision"], rel=1e-12)
            assert point.recall_bound == pytest.approx(found["recall"], rel=1e-12)

    def test_a_ranking_at_another_prevalence_brings_it_along(self):
        ranking = pr.rank(*normal(decimals=1))
        for target in ({"min_precision": 0.4}, {"min_recall": 0.7}):
            asked = operating_point(ranking, prevalence=0.05, **target)
            moved = operating_point(ranking.at_prevalence(0.05), **target)
            assert moved.threshold == asked.threshold
            assert moved.precision_bound == pytest.approx(asked.precision_bound, rel=1e-9)
            assert moved.exact

    def test_how_many_would_be_needed(self):
        point = operating_point(pr.rank(*normal(rows=400)), min_precision=0.9, prevalence=0.05)
        assert not point.certified
        assert point.positives_needed > 0


class TestWeights:
    def test_weights_that_differ_are_labelled_approximate(self):
        y, s = normal()
        w = np.random.default_rng(1).uniform(0.5, 1.5, y.size)
        ranking = pr.rank(y, s, sample_weight=w)
        for target in (
            {"min_precision": 0.7},
            {"min_recall": 0.7},
            {"min_precision": 0.5, "prevalence": 0.1},
        ):
            with pytest.warns(ReliabilityWarning, match="approximate"):
                point = operating_point(ranking, **target)
            assert point.certified
            assert not point.exact
            plain = operating_point(pr.rank(y, s), **target)
            # These weights have little to say: the answer moves by little.
            assert abs(point.recall.estimate - plain.recall.estimate) < 0.1

    @pytest.mark.parametrize("seed", range(20))
    def test_no_promise_exceeds_what_was_observed(self, seed):
        """Rows under the top that stand for many make a larger set worth fewer rows.

        A test that passes has observed more than it promises; so has every threshold before it.
        """
        rng = np.random.default_rng(seed)
        y = rng.random(20_000) < 0.05
        s = rng.normal(size=y.size) + 1.8 * y
        kept = (s > 1.5) | (rng.random(y.size) < 0.1)
        w = np.where(s > 1.5, 1.0, 10.0)
        ranking = pr.rank(y[kept], s[kept], sample_weight=w[kept])
        found = 0
        for least in (0.1, 0.2, 0.3, 0.5, 0.7, 0.9):
            with pytest.warns(ReliabilityWarning, match="approximate"):
                point = operating_point(ranking, min_precision=least)
            if point.certified:
                found += 1
                assert point.precision.estimate > least
        assert found >= 3

    def test_a_group_of_cuts_passes_only_if_each_of_them_does(self):
        """Also where counts fall, as those of weighted rows may."""
        rng = np.random.default_rng(3)
        tp, fp = rng.uniform(40, 90, (200, 130)), rng.uniform(0, 12, (200, 130))
        for first in (0, 17, 130):
            many = passing_run(tp, fp, np.full(200, first), 0.8, 0.05)
            one = [passing_run(*each, first, 0.8, 0.05) for each in zip(tp, fp, strict=True)]
            assert many.tolist() == one

    def test_equal_weights_are_no_weights(self):
        y, s = normal()
        plain = operating_point(pr.rank(y, s), min_precision=0.7)
        double = operating_point(
            pr.rank(y, s, sample_weight=np.full(y.size, 2.0)), min_precision=0.7
        )
        assert double.threshold == plain.threshold
        assert double.recall_bound == plain.recall_bound
        assert double.exact

    def test_a_weight_per_class_is_another_prevalence(self):
        y, s = normal()
        w = np.where(y, 1.0, 3.0)
        ranking = pr.rank(y, s, sample_weight=w)
        by_class = operating_point(ranking, min_precision=0.6)
        asked = operating_point(pr.rank(y, s), min_precision=0.6, prevalence=ranking.prevalence)
        assert by_class.threshold == asked.threshold
        assert by_class.exact


class TestConstraints:
    def test_what_was_asked_and_what_comes_with_it(self):
        y, s = normal()
        for target, asked, other in (
            ("min_precision", "precision", "recall"),
            ("min_recall", "recall", "precision"),
        ):
            point = operating_point(pr.rank(y, s), **{target: 0.8})
            [constraint] = point.constraints
            [beside] = point.other_bounds
            assert (constraint.name, beside.name) == (asked, other)
            assert (constraint.required, constraint.bound, constraint.holds) == (0.8, 0.8, True)
            assert constraint.observed == getattr(point, asked)
            assert beside.bound == getattr(point, f"{other}_bound")
            assert beside.observed == getattr(point, other)
            assert (point.of(asked), point.of(other)) == (constraint, beside)
            assert [each.name for each in point.bounds] == ["precision", "recall"]
            assert repr(constraint) == f"Constraint({asked} >= 0.8: holds)"
            assert repr(beside) == f"CertifiedBound({other} >= {beside.bound:.4g})"

    def test_a_constraint_that_cannot_be_promised(self):
        point = operating_point(separated(10, 90), min_precision=0.9)
        [constraint] = point.constraints
        assert not constraint.holds
        assert constraint.required == 0.9
        assert constraint.bound is constraint.observed is point.precision is point.recall is None
        assert repr(constraint) == "Constraint(precision >= 0.9: not certified)"
        assert repr(point.of("recall")) == "CertifiedBound(recall, no bound)"
        with pytest.raises(InputError, match="no bound for 'selected' here: take one of precision"):
            point.of("selected")

    def test_a_frame_has_one_row(self):
        point = operating_point(pr.rank(*normal()), min_recall=0.8)
        [row] = point.to_frame().to_dict("records")
        assert row["threshold"] == point.threshold
        assert (row["recall_required"], row["recall_holds"]) == (0.8, True)
        assert row["precision_bound"] == point.precision_bound
        assert row["precision_observed_low"] == point.precision.low
        assert row["confusion_tp"] == point.confusion.tp


class TestRows:
    def test_rows_are_ranked_here(self):
        y, s = normal()
        expected = operating_point(pr.rank(y, s), min_precision=0.8)
        assert operating_point(pr.Rows(y, s), min_precision=0.8) == expected
        two = pr.Rows(y, {"new": s, "old": -s})
        assert operating_point(two, model="new", min_precision=0.8) == expected
        with pytest.raises(InputError, match=r"the models 'new', 'old': say which \(model=\)"):
            operating_point(two, min_precision=0.8)

    def test_clusters_are_refused_with_a_way_out(self):
        y, s = normal()
        rows = pr.Rows(y, s, clusters=np.arange(y.size) // 2)
        with pytest.raises(InputError, match=r"have clusters.*or rows\.unclustered\(\)"):
            operating_point(rows, min_precision=0.8)
        expected = operating_point(pr.rank(y, s), min_precision=0.8)
        assert operating_point(rows.unclustered(), min_precision=0.8) == expected


class TestArguments:
    def test_what_is_asked_has_to_make_sense(self):
        ranking = separated(2, 2)
        with pytest.raises(InputError, match="nothing was asked: give min_precision, min_recall"):
            operating_point(ranking)
        for alone in ({"min_net_benefit": 0.1}, {"probability": 0.1}):
            with pytest.raises(InputError, match="min_net_benefit and probability go together"):
                operating_point(ranking, **alone)
        for most in (0, -3, 2.5, math.inf):
            with pytest.raises(InputError, match="max_selected must be a whole number of rows"):
                operating_point(ranking, max_selected=most)
        with pytest.raises(InputError, match="min_net_benefit must be finite"):
            operating_point(ranking, min_net_benefit=math.inf, probability=0.1)
        with pytest.raises(InputError, match="prefer"):
            operating_point(ranking, min_recall=0.5, prefer="lowest")
        with pytest.raises(InputError, match="min_precision must be strictly between 0 and 1"):
            operating_point(ranking, min_precision=1.0)
        with pytest.raises(InputError, match="confidence_level"):
            operating_point(ranking, min_recall=0.5, confidence_level=95)
        with pytest.raises(InputError, match="prevalence"):
            operating_point(ranking, min_recall=0.5, prevalence=0.0)

    @pytest.mark.parametrize("label", [0, 1])
    def test_one_class_only(self, label):
        missing = "negatives" if label else "positives"
        with pytest.raises(UndefinedMetricError, match=f"needs both classes, got no {missing}:"):
            operating_point(pr.rank([label, label], [2, 1]), min_recall=0.5)

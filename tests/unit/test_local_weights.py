"""Weights that vary along the ranking: what rows at both ends stand for."""

import numpy as np
import pytest

import precall as pr
from precall.inference.influence import deciding_rows
from precall.inference.local_weights import LocalWeights, heaviest
from precall.inference.rules.rule import closed_form
from precall.inference.rules.stabilised import GUARDED
from precall.simulate import HELD_OUT, UNSEEN, Binormal


def local(y, s, w):
    ranking = pr.rank(y, s, sample_weight=w)
    return LocalWeights.of(ranking.cells, ranking.rows, ranking.squares)


def test_rows_of_equal_weight_stand_for_themselves():
    y, s = Binormal(1.0).sample(30, 90, rng=1)
    found = local(y, s, np.where(y == 1, 2.5, 0.5))
    assert found.rows == (30, 90)
    assert np.array(found.top) == pytest.approx([2.5, 0.5], rel=1e-12)
    assert np.array(found.spread) == pytest.approx([30, 90], rel=1e-12)
    assert np.array(found.bottom) == pytest.approx([2.5, 0.5], rel=1e-12)
    assert found.excess == pytest.approx(0.0, abs=1e-12)
    assert found.deciding(30.0) == pytest.approx(30, rel=1e-12)
    assert found.correction(30.0) == pytest.approx(0.5, rel=1e-12)
    assert found.between == pytest.approx(np.zeros(30), abs=1e-12)
    ranking = pr.rank(y, s, sample_weight=np.where(y == 1, 2.5, 0.5))
    metric = pr.METRICS["aucpr"]().on(ranking)
    few, all_ = deciding_rows(metric, ranking.cells, ranking.squares, ranking.rows)
    assert few == pytest.approx(all_, rel=1e-12)
    assert found.stretch(30.0, (few, all_), 0.95) == pytest.approx(1.0, rel=1e-12)


def test_the_top_is_what_reaches_the_first_threshold_with_five_rows():
    # Of each run the last row is a positive: 1 | 3 | 1 2 3 2 5 | 4 6 1 | 1 | 9, and 7 below.
    y = [1, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 0]
    w = [1, 3, 1, 2, 3, 2, 5, 4, 6, 1, 1, 9, 7]
    found = local(y, -np.arange(13.0), w)
    # Beside negatives of 2 and 5 on average there are positives of 5 and 1.
    times = (2 + 5) / (5 + 1)
    either = (1 + 3 + 5 + (1 + 2 + 3 + 2) / times) / 7
    # Five positives are reached by the fifth, five negatives by the fourth.
    assert found.top[0] == pytest.approx(max((1 + 3 + 5 + 1 + 1) / 5, either))
    assert found.top[1] == pytest.approx(max((1 + 2 + 3 + 2 + 4 + 6) / 6, times * either))
    assert found.bottom == pytest.approx((7 / times, 7))
    squares = 1 + 9 + 25 + 1 + 1 + 81
    assert found.excess == pytest.approx(max(7 / times - squares / 20, 0.0))


def test_thresholds_without_positives_make_no_difference():
    y, s = Binormal(1.0).sample(10, 40, rng=1)
    w = np.random.default_rng(1).exponential(size=50)
    plain = local(y, s, w)
    more = pr.rank(y, s, sample_weight=w, thresholds=[-5.0, -1.0, 0.0, 0.5, 1.0, 3.0])
    found = LocalWeights.of(more.cells, more.rows, more.squares)
    for one, other in zip(found[:5], plain[:5], strict=True):
        assert np.array(one) == pytest.approx(np.array(other), rel=1e-12)
    assert found.between[more.positives > 0] == pytest.approx(plain.between, rel=1e-12)
    assert not found.between[more.positives == 0].any()


def test_a_ranking_without_negatives_beside_positives_knows_their_mean_weights_only():
    found = local([1, 1, 0], [3.0, 2.0, 1.0], [1, 5, 7])
    assert found.top == pytest.approx((3, 7))
    assert found.bottom == pytest.approx((3, 7))


def test_negatives_beside_separate_positives_are_taken_for_light_ones():
    """Weights of 1 and 9, half each: a mean of 5, and 100 / 164 of the rows in effect."""
    y, w = np.repeat([1, 0], [10, 20]), np.repeat([1.0, 1.0, 9.0], 10)
    light = 5 * 100 / 164
    found = local(y, -np.arange(30.0), w)
    assert found.bottom[1] == pytest.approx(820 / 100)
    assert found.bottom[0] == pytest.approx(820 / 100 / light)


def test_the_heavy_ones_of_two_kinds_of_rows_are_known_from_two_sums():
    weight, square = 30 * 2.0 + 4 * 7.0, 30 * 4.0 + 4 * 49.0
    assert heaviest(weight, square, 34, 2.0) == pytest.approx(7)
    assert heaviest(60.0, 120.0, 30, 2.0) == pytest.approx(2)
    assert heaviest(0.0, 0.0, 0, 2.0) == 0


def test_of_no_rows_rounding_errors_are_no_weights():
    """Sums of a gap are differences of running sums: here of about 30, in their last digit."""
    assert heaviest(3.6e-15, 5.0e-14, 0, 0.7) == 0


def test_heavy_positives_on_top_stand_in_for_negatives_that_were_not_seen_there():
    y = np.repeat([1, 0, 1], [10, 50, 10])
    w = np.repeat([9.0, 1.0, 1.0], [10, 50, 10])
    found = local(y, -np.arange(70.0), w)
    assert found.top == pytest.approx((9, 9))
    assert found.excess == 0


def test_heavy_rows_below_leave_room_for_a_positive_that_was_not_seen():
    """With three unseen positives of weight 40 among 20 of weight 1 recall is a seventh."""
    y = np.concatenate([np.tile([0, 1], 20), np.zeros(100)])
    w = np.repeat([1.0, 40.0], [40, 100])
    s = -np.arange(140.0)
    assert local(y, s, w).excess == pytest.approx(39)
    found = pr.interval(pr.rank(y, s, sample_weight=w))
    unseen = 20 * (1 - 0.05 ** (1 / 20)) * 39
    with_them = pr.rank(np.append(y, 1), np.append(s, -200.0), sample_weight=np.append(w, unseen))
    assert found.low == pytest.approx(pr.aucpr(with_them), rel=1e-12)
    # Where the other rows weigh nothing special, nothing is added.
    assert pr.interval(pr.rank(y, s)).low > 2 * found.low


def test_heavy_rows_between_positives_leave_room_for_one_that_was_not_seen():
    """As below: three unseen positives of weight 40 where only negatives were kept."""
    y = np.concatenate([np.tile([0, 1], 100), np.zeros(30), np.tile([1, 0], 100)])
    w, s = np.repeat([1.0, 40.0, 1.0], [200, 30, 200]), -np.arange(430.0)
    # Of 200 positives, all of weight 1, one is beside negatives of weight 40.
    weight = 40 / ((199 + 40) / 200)
    expected = np.zeros(200)
    expected[100] = weight - 1
    assert local(y, s, w).between == pytest.approx(expected)
    unseen = 200 * (1 - 0.05 ** (1 / 200)) * (weight - 1)
    with_them = pr.aucpr(
        pr.rank(np.append(y, 1), np.append(s, -229.5), sample_weight=np.append(w, unseen))
    )
    ranking = pr.rank(y, s, sample_weight=w)
    form = closed_form(
        pr.METRICS["aucpr"]().on(ranking),
        GUARDED,
        ranking.cells,
        ranking.squares,
        sizes=ranking.effective_sizes,
        varying=True,
        local=local(y, s, w),
    )
    # They share the threshold of the next positive, which has 1 of 300.
    assert form.guard(0.95) == pytest.approx(with_them, rel=0.005)
    assert pr.interval(ranking).low <= form.guard(0.95)


def test_few_heavy_rows_that_tell_the_variance_widen_both_limits():
    """Kish's number of the rows' contributions, row by row, and its quantile of t."""
    y, s = Binormal(1.0).sample(40, 160, rng=5)
    w = np.where(np.argsort(np.argsort(-s)) < 20, 10.0, 1.0)
    ranking = pr.rank(y, s, sample_weight=w)
    metric = pr.METRICS["aucpr"]().on(ranking)
    worth = deciding_rows(metric, ranking.cells, ranking.squares, ranking.rows)
    step = 1e-5
    slope = [
        (pr.aucpr(pr.rank(y, s, sample_weight=w + step * (place == np.arange(200)))) - ranked)
        / step
        for ranked in [pr.aucpr(ranking)]
        for place in range(200)
    ]
    centred = slope - np.where(y == 1, *(np.average(slope, weights=w * (y == k)) for k in (1, 0)))
    even = np.where(y == 1, *(np.mean(w[y == k]) for k in (1, 0)))
    for found, weight in zip(worth, (w, even), strict=True):
        part = (weight * centred) ** 2
        assert found == pytest.approx(part.sum() ** 2 / (part**2).sum(), rel=1e-3)
    assert worth[0] < 0.5 * worth[1]
    found = LocalWeights.of(ranking.cells, ranking.rows, ranking.squares)
    plain = found.stretch(40.0, (worth[1], worth[1]), 0.95)
    assert found.stretch(40.0, worth, 0.95) > plain


def test_many_rankings_at_once_are_the_same_as_one_by_one():
    rng = np.random.default_rng(3)
    rankings = [
        pr.rank(*Binormal(1.0).sample(n, 40, rng=rng), sample_weight=rng.exponential(size=n + 40))
        for n in (3, 6, 12)
    ]
    together = pr.RankingSet.from_rankings(rankings)
    for (groups, cells, squares), rows in zip(together.lines(), together.row_lines(), strict=True):
        found = LocalWeights.of(cells, rows, squares)
        for place, group in enumerate(groups):
            one = rankings[group]
            alone = LocalWeights.of(one.cells, one.rows, one.squares)
            for many, single in zip(found[:5], alone[:5], strict=True):
                assert np.array(many)[..., place] == pytest.approx(np.array(single), rel=1e-12)
            between = found.between[place]
            assert between[: len(one)] == pytest.approx(alone.between, rel=1e-12)
            assert not between[len(one) :].any()


@pytest.mark.parametrize("method", ["guarded", "influence"])
def test_equal_weights_leave_the_interval_as_it_is(method):
    y, s = Binormal(1.5).sample(25, 200, rng=2)
    plain = pr.interval(pr.rank(y, s), method=method)
    heavy = pr.interval(pr.rank(y, s, sample_weight=np.full(y.size, 3.0)), method=method)
    assert (heavy.low, heavy.high) == pytest.approx((plain.low, plain.high), rel=1e-9)


def sampled(inclusion, sets, rows, seed, model=UNSEEN["noisy_perfect"], prevalence=0.1):
    """Coverage and mean width, where a row is kept with a probability that its rank sets."""
    truth, rng = model.aucpr(prevalence), np.random.default_rng(seed)
    held, width = 0, 0.0
    for _ in range(sets):
        n = rng.binomial(rows, prevalence)
        y, s = model.sample(n, rows - n, rng=rng)
        chance = inclusion((np.argsort(np.argsort(-s)) + 1) / rows)
        kept = rng.random(rows) < chance
        found = pr.interval(pr.rank(y[kept], s[kept], sample_weight=1 / chance[kept]))
        held += found.low <= truth <= found.high
        width += (found.high - found.low) / sets
    return held, width


def test_a_top_that_was_sampled_densely_is_known_well():
    """With the average weight at the top the mean width was 0.91."""
    held, width = sampled(lambda share: np.clip(0.02 / share**0.7, 0, 1), 60, 5000, 1)
    assert width < 0.2
    assert held >= 51  # fewer once in 10,000 times if it covers with 0.95


def test_a_top_that_was_sampled_thinly_is_not_overrated():
    """With the average weight at the top it covered 0.69."""
    held, _ = sampled(lambda share: np.where(share < 0.05, 0.1, 1.0), 100, 3000, 2)
    assert held >= 87  # fewer once in 10,000 times if it covers with 0.95


def test_heavy_positives_that_were_not_seen_below_are_not_forgotten():
    """Without room for them it covered 0.57."""
    held, _ = sampled(
        lambda share: np.select([share < 0.05, share < 0.2], [1.0, 0.2], 1 / 80),
        *(100, 6000, 4, HELD_OUT["comb"], 0.01),
    )
    assert held >= 87  # fewer once in 10,000 times if it covers with 0.95


def test_heavy_positives_that_were_not_seen_in_the_middle_are_not_forgotten():
    """Without room for them it covered 0.82."""
    held, _ = sampled(
        lambda share: np.where((share > 0.03) & (share < 0.3), 0.05, 1.0),
        *(100, 6000, 6, UNSEEN["three_modes"], 0.01),
    )
    assert held >= 87  # fewer once in 10,000 times if it covers with 0.95

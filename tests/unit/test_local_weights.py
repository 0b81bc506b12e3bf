"""Weights that vary along the ranking: what rows at the top stand for."""

import numpy as np
import pytest

import precall as pr
from precall.inference.local_weights import LocalWeights
from precall.simulate import UNSEEN, Binormal


def local(y, s, w):
    ranking = pr.rank(y, s, sample_weight=w)
    return LocalWeights.of(ranking.cells, ranking.rows)


def test_rows_of_equal_weight_stand_for_themselves():
    y, s = Binormal(1.0).sample(30, 90, rng=1)
    found = local(y, s, np.where(y == 1, 2.5, 0.5))
    assert found.rows == (30, 90)
    assert np.array(found.top) == pytest.approx([2.5, 0.5], rel=1e-12)
    assert np.array(found.spread) == pytest.approx([30, 90], rel=1e-12)
    assert found.deciding(30.0) == pytest.approx(30, rel=1e-12)
    assert found.correction(30.0) == pytest.approx(0.5, rel=1e-12)
    assert found.stretch(30.0, 0.95) == pytest.approx(1.0, rel=1e-12)


def test_the_top_is_what_reaches_the_first_threshold_with_five_rows():
    # From the top: 1 3 | 0 0 0 0 | 1 | 0 0 | 1 1 1 | 0, a positive at the end of each run.
    y = [1, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 0]
    w = [1, 3, 1, 2, 3, 2, 5, 4, 6, 1, 1, 9, 7]
    found = local(y, -np.arange(13.0), w)
    # Five negatives are not reached by the third positive, but by the fourth, with six.
    assert found.top[1] == pytest.approx((1 + 2 + 3 + 2 + 4 + 6) / 6)
    assert found.top[0] == pytest.approx((1 + 3 + 5 + 1 + 1) / 5)
    # With fewer than five rows of a class all of them are the top.
    few = local([1, 0, 1], [3.0, 2.0, 1.0], [1, 7, 5])
    assert few.top[0] == pytest.approx(3)
    assert few.top[1] == pytest.approx(7)


def test_heavy_positives_on_top_stand_in_for_negatives_that_were_not_seen_there():
    y = np.repeat([1, 0, 1], [10, 50, 10])
    w = np.repeat([9.0, 1.0, 1.0], [10, 50, 10])
    assert local(y, -np.arange(70.0), w).top[1] == pytest.approx(9 / 5)


@pytest.mark.parametrize("method", ["guarded", "influence"])
def test_equal_weights_leave_the_interval_as_it_is(method):
    y, s = Binormal(1.5).sample(25, 200, rng=2)
    plain = pr.interval(pr.rank(y, s), method=method)
    heavy = pr.interval(pr.rank(y, s, sample_weight=np.full(y.size, 3.0)), method=method)
    assert (heavy.low, heavy.high) == pytest.approx((plain.low, plain.high), rel=1e-9)


def sampled(inclusion, sets, rows, seed):
    """Coverage and mean width, where a row is kept with a probability that its rank sets."""
    model = UNSEEN["noisy_perfect"]
    truth, rng = model.aucpr(0.1), np.random.default_rng(seed)
    held, width = 0, 0.0
    for _ in range(sets):
        n = rng.binomial(rows, 0.1)
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

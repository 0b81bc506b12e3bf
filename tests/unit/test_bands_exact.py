"""The band with a guarantee: its calibration and its mapping to the curve."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import precall as pr
from precall.exceptions import InputError
from precall.inference.bands import exact
from precall.inference.bands.crossing import (
    beta_limits,
    chosen_ranks,
    joint_probability,
    local_level,
)
from precall.inference.bands.exact import clopper_pearson, rate_limits
from precall.inference.bands.paths import positives_path
from precall.simulate import Binormal
from tests import naive_bands


@given(steps=st.lists(st.integers(0, 6), min_size=2, max_size=12).filter(lambda v: len(v) % 2 == 0))
def test_joint_probability_is_stecks_determinant(steps):
    """Any limits that do not fall, in exact fractions."""
    n = len(steps) // 2
    low = np.cumsum(steps[:n]) / 100.0
    high = 1.0 - np.cumsum(steps[n:])[::-1] / 100.0
    exact = naive_bands.joint_probability(
        [Fraction(v).limit_denominator(100) for v in low],
        [Fraction(v).limit_denominator(100) for v in high],
    )
    ours = joint_probability(n, np.arange(1, n + 1), low, high)
    assert ours == pytest.approx(float(exact), abs=1e-12)


def test_joint_probability_of_a_narrow_corridor():
    n = 20
    ranks = np.arange(1, n + 1)
    low, high = (ranks - 1.5).clip(0) / n, np.minimum(ranks + 1.5, n) / n
    exact = naive_bands.joint_probability(
        [Fraction(max(2 * r - 3, 0), 2 * n) for r in range(1, n + 1)],
        [Fraction(min(2 * r + 3, 2 * n), 2 * n) for r in range(1, n + 1)],
    )
    assert joint_probability(n, ranks, low, high) == pytest.approx(float(exact), rel=1e-9)


def test_joint_probability_of_some_ranks_by_simulation():
    n, ranks = 400, np.array([37, 80, 81, 200, 350])
    low, high = beta_limits(n, ranks, 0.1)
    uniforms = np.sort(np.random.default_rng(0).random((40_000, n)), axis=1)[:, ranks - 1]
    share = np.mean(np.all((low <= uniforms) & (uniforms <= high), axis=1))
    ours = joint_probability(n, ranks, low, high)
    # Four binomial standard errors: fails by chance once in 16,000.
    assert abs(share - ours) < 4 * np.sqrt(ours * (1 - ours) / 40_000)


@pytest.mark.parametrize("n", [1, 2, 7, 60, 1500])
@pytest.mark.parametrize("level", [0.8, 0.99])
def test_local_level_gives_the_joint_level_from_above(n, level):
    ranks = chosen_ranks(n)
    joint = joint_probability(n, ranks, *beta_limits(n, ranks, local_level(n, level)))
    assert 0.0 <= (1 - level) - (1 - joint) <= 1.1e-3 * (1 - level)


def test_all_ranks_are_chosen_while_they_are_few_and_never_too_many():
    np.testing.assert_array_equal(chosen_ranks(30), np.arange(1, 31))
    assert chosen_ranks(10**6).size <= 4002
    assert chosen_ranks(10**6)[[0, -1]].tolist() == [1, 10**6]
    assert chosen_ranks(1000, 90, 700)[[0, -1]].tolist() == [90, 700]


def test_limits_of_order_statistics_are_beta_quantiles():
    from scipy import stats

    ranks = np.array([1, 2, 7, 10])
    low, high = beta_limits(10, ranks, 0.04)
    np.testing.assert_allclose(low, stats.beta.ppf(0.02, ranks, 11 - ranks), rtol=1e-10)
    np.testing.assert_allclose(high, stats.beta.isf(0.02, ranks, 11 - ranks), rtol=1e-10)


def test_chosen_ranks_are_the_same_from_either_end():
    for n in range(1, 1000):
        ranks = chosen_ranks(n)
        np.testing.assert_array_equal(n + 1 - ranks[::-1], ranks)


@pytest.mark.parametrize("n", [100, 10_000, 1_000_000])
@pytest.mark.parametrize("rate", [0.001, 0.05, 0.5, 0.9])
def test_limits_go_to_order_statistics_that_could_be_in_the_range_and_few_more(n, rate):
    """U_(j) is above a rate if fewer than j of n uniforms are below it: binomial tails."""
    from scipy import stats

    rare, reach = stats.norm.sf(5.0), exact._margin(n, rate)
    lowest = stats.binom.ppf(rare, n, rate)
    highest = stats.binom.isf(rare, n, rate)
    assert n * rate - lowest <= reach
    assert highest - n * rate <= reach
    assert reach <= max(n * rate - lowest, highest - n * rate) + 15


def test_rate_limits_against_rows():
    rng = np.random.default_rng(2)
    positives = rng.integers(3, 14, 25).astype(float)
    negatives = rng.integers(0, 10, 60).astype(float)
    labels = np.repeat([1, 0], [25, 60])
    path = positives_path(pr.rank(labels, np.concatenate([positives, negatives])))
    grid = np.linspace(0.1, 0.9, 17)
    low, high, levels = rate_limits(path, grid, 0.9)
    own, other = (
        {int(r): (a, b) for r, a, b in zip(ranks, *beta_limits(n, ranks, local), strict=True)}
        for n, local in ((25, levels[0]), (60, levels[1]))
        for ranks in [np.arange(1, n + 1)]
    )
    expected = naive_bands.exact_rate_limits(positives, negatives, grid, own, other)
    np.testing.assert_allclose(low, expected[0], rtol=1e-12)
    np.testing.assert_allclose(high, expected[1], rtol=1e-12)


def test_band_is_deterministic_and_wider_with_random_prevalence():
    ranking = pr.rank(*Binormal(2.0).sample(60, 240, rng=0))
    fixed = pr.band(ranking, method="exact", sampling="classes")
    again = pr.band(ranking, method="exact", rng=5, sampling="classes")
    np.testing.assert_array_equal(fixed.low, again.low)
    random = pr.band(ranking, method="exact")
    assert np.all(random.low < fixed.low)
    assert np.all(random.high >= fixed.high)
    assert random.diagnostics["prevalence_limits"][0] < 0.2


def test_clopper_pearson_by_its_definition():
    from scipy import stats

    ranking = pr.rank([1] * 7 + [0] * 33, range(40, 0, -1))
    expected = stats.binomtest(7, 40).proportion_ci(0.9, method="exact")
    assert clopper_pearson(ranking, 0.9) == pytest.approx((expected.low, expected.high))


def test_roc_and_hit_bands_hold_the_observed_curve():
    ranking = pr.rank(*Binormal(1.0).sample(60, 140, rng=1))
    for band in (pr.band(ranking, "roc", method="exact"), pr.band(ranking, "hit", method="exact")):
        assert np.all(band.low <= band.y)
        assert np.all(band.y <= band.high)
        assert np.all(np.diff(band.low) >= 0.0)
        assert np.all(np.diff(band.high) >= 0.0)


def test_hit_band_is_read_off_at_the_recalls_around_each_share():
    """Lower: the last recall surely reached by then. Upper: the first that is surely not."""
    ranking = pr.rank(*Binormal(1.0).sample(20, 30, rng=3))
    band = pr.band(ranking, "hit", method="exact", confidence_level=0.8, n_points=13)
    recall = np.linspace(0.0, 1.0, 1001)
    level = 0.8 ** (0.5 * (1 - 0.2))
    rate_low, rate_high, _ = rate_limits(positives_path(ranking), recall, level)
    least, most = clopper_pearson(ranking, 0.8**0.2)
    for share, low, high in zip(band.x, band.low, band.high, strict=True):
        reached = [
            least * r
            for r, rate in zip(recall, rate_high, strict=True)
            if least * r + (1 - least) * rate <= share
        ]
        missed = [
            most * r
            for r, rate in zip(recall, rate_low, strict=True)
            if most * r + (1 - most) * rate > share
        ]
        assert low == pytest.approx(max(reached, default=0.0), abs=1e-15)
        assert high == pytest.approx(min([share, most, *missed]), abs=1e-15)


def test_weights_must_be_equal_within_a_class():
    y_true, y_score = Binormal(2.0).sample(30, 70, rng=0)
    ranking = pr.rank(y_true, y_score)
    plain = pr.band(ranking, method="exact", sampling="classes")
    moved = pr.band(ranking.at_prevalence(0.3), method="exact", sampling="classes")
    np.testing.assert_allclose(moved.low, plain.low, rtol=1e-9)
    uneven = pr.rank(y_true, y_score, sample_weight=np.arange(1.0, 101.0))
    with pytest.raises(InputError, match="equal weights"):
        pr.band(uneven, method="exact")
    with pytest.raises(InputError, match="draws nothing"):
        pr.band(ranking, method="exact", n_resamples=500)


def test_a_million_rows_of_a_class_calibrate():
    ranks = chosen_ranks(10**6)
    joint = joint_probability(10**6, ranks, *beta_limits(10**6, ranks, 2.0875e-4))
    # 0.9747 belongs to this level by the same recursion run to the end; the bounds are sanity.
    assert 0.974 < joint < 0.976

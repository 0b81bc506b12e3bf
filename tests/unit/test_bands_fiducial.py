"""The default band against its definition."""

import numpy as np
import pytest

import precall as pr
from precall.inference.bands.envelope import rank_envelope
from precall.inference.bands.fiducial import (
    _positions,
    draw_prevalence,
    draw_rates,
    prevalence_rows,
)
from precall.inference.bands.paths import positives_path
from precall.simulate import Binormal, OffsetUniform
from studies.bands import draw_ranking
from tests import naive_bands


def sample(n_pos=40, n_neg=160, seed=0, scenario=None, **options):
    y_true, y_score = (scenario or Binormal(2.0)).sample(n_pos, n_neg, rng=seed)
    return pr.rank(y_true, y_score, **options)


@pytest.mark.parametrize(("n_pos", "seed"), [(3, 1), (30, 2)])
def test_drawn_rates_have_the_distribution_of_the_definition(n_pos, seed):
    """Means, spreads and neighbours' products against draws of every order statistic."""
    y_true, y_score = Binormal().sample(n_pos, 100, rng=seed)
    positives, negatives = y_score[y_true == 1].tolist(), y_score[y_true == 0].tolist()
    grid = np.array([0.1, 0.35, 0.36, 0.8])
    path = positives_path(pr.rank(y_true, y_score))
    fast = draw_rates(path, grid, 40_000, np.random.default_rng(seed)).rate
    counts = naive_bands.others_above(positives, negatives)
    slow = naive_bands.fiducial_rates(counts, 100, grid, 4000, np.random.default_rng(seed + 9))
    for statistic in (lambda r: r, lambda r: r**2, lambda r: r[:, :-1] * r[:, 1:]):
        ours, theirs = statistic(fast), statistic(slow)
        error = np.sqrt(ours.var(axis=0) / len(ours) + theirs.var(axis=0) / len(theirs))
        # 22 comparisons in all: beyond 4.3 standard errors with probability 4e-4 in all.
        assert np.all(np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) < 4.3 * error)


@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_places_among_few_rows_are_those_of_sorted_uniforms(size):
    """How many of some uniforms are below a rate, and how far it is from the last to the next."""
    from scipy import stats

    grid = np.array([0.3, 0.7])
    rows, share = _positions(size, grid, 20_000, np.random.default_rng(size))
    uniforms = np.sort(np.random.default_rng(99).random((20_000, size)), axis=1)
    bounded = np.hstack([np.zeros((20_000, 1)), uniforms, np.ones((20_000, 1))])
    for k, rate in enumerate(grid):
        below = np.count_nonzero(uniforms <= rate, axis=1)
        last, following = (
            np.take_along_axis(bounded, below[:, None] + step, axis=1)[:, 0] for step in (0, 1)
        )
        expected = (rate - last) / (following - last)
        # Eight comparisons of two samples, each wrong once in 1,000 times.
        assert stats.ks_2samp(rows[:, k] + share[:, k], below + expected).pvalue > 1e-3


def test_one_recall_alone_is_drawn_as_it_is_among_others():
    from scipy import stats

    path = positives_path(sample(20, 60))
    alone = draw_rates(path, np.array([0.4]), 10_000, np.random.default_rng(0)).rate[:, 0]
    among = draw_rates(path, np.array([0.1, 0.4, 0.9]), 10_000, np.random.default_rng(1)).rate[:, 1]
    assert stats.ks_2samp(alone, among).pvalue > 1e-3


def test_rates_do_not_fall_and_stay_within_bounds():
    rates = draw_rates(
        positives_path(sample()), np.linspace(0.02, 1.0, 50), 500, np.random.default_rng(0)
    )
    for values in rates:
        assert np.all(np.diff(values, axis=1) >= 0.0)
        assert np.all((values >= 0.0) & (values <= 1.0))
    assert np.all(rates.low <= rates.rate)
    assert np.all(rates.rate <= rates.high)


def test_copies_are_extreme_where_the_data_end():
    # Six of eight positives lead; the last is below all negatives.
    ranking = pr.rank([1] * 6 + [0, 1, 0, 0, 1], range(11, 0, -1))
    rates = draw_rates(
        positives_path(ranking), np.array([0.02, 0.5, 0.99]), 400, np.random.default_rng(0)
    )
    assert np.all(rates.low[:, 0] == 0.0)
    assert np.mean(rates.low[:, 1] == 0.0) > 0.9
    # Six or fewer of eight uniforms below .99: probability .0027.
    assert np.mean(rates.low[:, 2] == 0.0) < 0.02
    assert np.mean(rates.high[:, 2] == 1.0) > 0.5
    assert not np.any(rates.high[:, 0] == 1.0)


def test_envelope_against_its_definition():
    rng = np.random.default_rng(4)
    curves = rng.beta(3, 2, (150, 7)) ** rng.uniform(0.5, 3, 7)
    upper = np.where(curves > np.quantile(curves, 0.8, axis=0), 1.0, curves)
    lower = np.where(curves < 0.1, 0.0, curves)
    # With almost all curves left out the limits meet in the middle.
    for alpha in (0.05, 0.2, 0.9, 0.98):
        expected = naive_bands.rank_envelope(curves, lower, upper, alpha)
        np.testing.assert_array_equal(rank_envelope(curves, lower, upper, alpha), expected)


def test_envelope_of_the_one_curve_that_is_left():
    """The middle one of 101, whose limits are one rank further out."""
    curves = np.arange(101.0)[:, None]
    low, high = rank_envelope(curves, curves, curves, 0.999)
    assert (low.tolist(), high.tolist()) == ([49.0], [51.0])


def test_envelope_leaves_out_the_share_asked_for():
    curves = np.random.default_rng(0).normal(size=(4000, 30)).cumsum(axis=1)
    low, high = rank_envelope(curves, curves, curves, 0.1)
    inside = np.mean(np.all((low <= curves) & (curves <= high), axis=1))
    # One rank further out than the cut, so a little over 90 %.
    assert 0.9 <= inside < 0.93


def test_same_seed_same_band_and_blocks_do_not_show():
    ranking = sample()
    first, again = pr.band(ranking, rng=7), pr.band(ranking, rng=7)
    np.testing.assert_array_equal(first.low, again.low)
    np.testing.assert_array_equal(first.high, again.high)
    other = pr.band(ranking, rng=8)
    assert not np.array_equal(first.low, other.low)
    np.testing.assert_allclose(first.low, other.low, atol=0.08)


def test_only_ranks_matter():
    y_true, y_score = Binormal(1.0).sample(30, 90, rng=3)
    plain = pr.band(pr.rank(y_true, y_score), rng=0)
    order = np.random.default_rng(0).permutation(120)
    other = pr.band(pr.rank(y_true[order], np.exp(3 * y_score[order])), rng=0)
    np.testing.assert_array_equal(plain.low, other.low)
    np.testing.assert_array_equal(plain.high, other.high)


def test_equal_weights_change_nothing_and_unequal_ones_widen():
    y_true, y_score = Binormal(1.5).sample(60, 240, rng=3)
    plain = pr.band(pr.rank(y_true, y_score), rng=0)
    equal = pr.band(pr.rank(y_true, y_score, sample_weight=np.full(300, 0.4)), rng=0)
    np.testing.assert_allclose(equal.low, plain.low, rtol=1e-9)
    np.testing.assert_allclose(equal.high, plain.high, rtol=1e-9)
    uneven = np.random.default_rng(1).gamma(0.5, size=300)
    wide = pr.band(pr.rank(y_true, y_score, sample_weight=uneven), rng=0)
    assert wide.width.mean() > 1.2 * plain.width.mean()


def test_prevalence_rows_of_weighted_data():
    assert prevalence_rows(sample(40, 160)) == pytest.approx(200.0)
    rng = np.random.default_rng(0)
    y_true, y_score = Binormal().sample(50, 150, rng=0)
    weights = rng.gamma(2.0, size=200)
    ranking = pr.rank(y_true, y_score, sample_weight=weights)
    p = ranking.prevalence
    variance = np.sum(weights**2 * (y_true - p) ** 2) / weights.sum() ** 2
    assert p * (1 - p) / prevalence_rows(ranking) == pytest.approx(variance)


def test_prevalence_is_drawn_only_if_random():
    ranking = sample(40, 160)
    rng = np.random.default_rng(0)
    assert np.all(draw_prevalence(ranking, 5, rng, varying=False) == 0.2)
    drawn = draw_prevalence(ranking, 100_000, rng, varying=True)
    # Beta(40.5, 160.5): mean .20149, standard deviation .02822; four standard errors of a mean.
    assert drawn.mean() == pytest.approx(40.5 / 201, abs=4 * 0.0283 / 100_000**0.5)


def test_fixed_prevalence_is_narrower_and_above_the_minimum_curve():
    ranking = sample(100, 100)
    # By the draws a mean width of 0.16 varies by 0.004 with 2,000 of them, as much as both differ.
    random, fixed = (
        pr.band(ranking, rng=0, sampling=sampling, n_resamples=40_000)
        for sampling in ("rows", "classes")
    )
    assert fixed.width.mean() < random.width.mean()
    assert np.all(fixed.low >= 0.5 * fixed.x / (0.5 * fixed.x + 0.5) - 1e-12)


def test_a_perfect_ranking_has_upper_limit_one():
    band = pr.band(pr.rank([1] * 20 + [0] * 80, range(100, 0, -1)), rng=0)
    assert np.all(band.high == 1.0)
    assert np.all(band.low < 1.0)
    assert np.all(band.y == 1.0)


def test_offset_uniform_keeps_precision_one():
    scenario = OffsetUniform()
    band = pr.band(sample(50, 450, seed=2, scenario=scenario), rng=0)
    assert np.all(band.high[band.x <= 0.4] == 1.0)


@pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")
def test_smallest_data_sets_have_a_band():
    for labels in ([1, 0], [0, 1], [1, 0, 0, 0], [1, 1, 1, 0]):
        band = pr.band(pr.rank(labels, range(len(labels), 0, -1)), rng=0)
        assert np.all((band.low >= 0.0) & (band.low <= band.high) & (band.high <= 1.0))


def test_all_scores_tied():
    band = pr.band(pr.rank([1] * 100 + [0] * 300, np.zeros(400)), rng=0)
    assert np.all((band.low < 0.25) & (band.high > 0.25))
    np.testing.assert_allclose(band.y, 0.25)


def test_bound_over_ties_contains_the_band_of_the_full_ranking():
    full = sample(400, 1600)
    coarse = full.coarsen(12)
    bound = pr.band(coarse, rng=0)
    np.testing.assert_array_equal(bound.low, pr.band(coarse, rng=0, ties="bound").low)
    plain = pr.band(full, rng=0)
    # Draws differ, so the comparison allows for their noise.
    assert np.all(bound.low <= plain.low + 0.02)
    assert np.all(bound.high >= plain.high - 0.02)
    inside = pr.band(coarse, rng=0, ties="interpolate")
    assert bound.width.mean() > inside.width.mean()


def test_interval_at_one_recall_is_inside_the_band():
    ranking = sample(100, 400)
    band = pr.band(ranking, rng=0)
    interval = pr.interval(ranking, pr.metrics.precision_at_recall(0.5), rng=0, method="fiducial")
    middle = int(np.argmin(np.abs(band.x - 0.5)))
    assert band.low[middle] < interval.low < interval.high < band.high[middle]
    assert interval.estimate == pytest.approx(band.y[middle])
    pointwise = pr.band(ranking, method="pointwise", rng=0)
    assert not pointwise.simultaneous
    assert pointwise.low[middle] == pytest.approx(interval.low, abs=0.02)
    assert np.all(pointwise.width <= band.width)


def test_interpolation_of_rows_is_that_of_numpy():
    from precall.inference.bands.interpolation import interpolate_rows

    rng = np.random.default_rng(0)
    knots = np.sort(rng.integers(0, 30, (7, 12)) / 3.0 + rng.random((7, 12)) * 1e-3, axis=1)
    values = np.sort(rng.random((7, 12)), axis=1)
    x = rng.uniform(-1.0, 12.0, (7, 50))
    expected = [np.interp(*rows) for rows in zip(x, knots, values, strict=True)]
    np.testing.assert_allclose(interpolate_rows(x, knots, values), expected, rtol=1e-9)
    expected = [np.interp(row, knots[0], v) for row, v in zip(x, values, strict=True)]
    np.testing.assert_allclose(interpolate_rows(x, knots[0], values), expected, rtol=1e-12)
    expected = [np.interp(row, k, values[0]) for row, k in zip(x, knots, strict=True)]
    np.testing.assert_allclose(interpolate_rows(x, knots, values[0]), expected, rtol=1e-9)


@pytest.mark.parametrize("sampling", ["rows", "classes"])
def test_large_samples_have_the_spread_of_the_limit_theorem(sampling):
    """The drawn curves' spread against the asymptotic variance with the true densities."""
    scenario, size, share = Binormal(1.0), 400_000, 0.25
    ranking = draw_ranking(scenario, 100_000, 300_000, np.random.default_rng(3))
    band = pr.band(
        ranking, method="pointwise", rng=0, n_resamples=8000, n_points=9, sampling=sampling
    )
    variance = scenario.asymptotic_variance(band.x, share, random_prevalence=sampling == "rows")
    # A 2.5 % quantile of 8,000 draws is good to 2.4 % of a standard deviation, and the local
    # slope of one sample's curve to several per cent.
    assert band.width / (2 * 1.96 * np.sqrt(variance / size)) == pytest.approx(1.0, abs=0.12)

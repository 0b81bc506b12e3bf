"""Smoothed distributions, Algorithm 1, its importance weights, and the smoothed curve."""

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError, ReliabilityWarning
from precall.inference.bands import smooth_pr_curve
from precall.inference.bands.request import inner_grid, make_request, observed_curve
from precall.inference.bands.smoothed import (
    SmoothedCurves,
    make_replicates,
    smoothed_rates,
    studentised_of,
    weighted_quantile,
)
from precall.inference.bands.smoothing import class_distributions, normal_scores, raw_scores
from precall.simulate import Binormal
from tests import naive_bands


def sample(n_pos=40, n_neg=160, seed=0, mean=1.5):
    y_true, y_score = Binormal(mean).sample(n_pos, n_neg, rng=seed)
    return pr.rank(y_true, y_score), y_true, y_score


def request(ranking, *, n_resamples=2000, prevalence="random", seed=0, n_points=9):
    return make_request(
        ranking,
        kind="pr",
        confidence_level=0.95,
        span=(0.1, 0.9),
        span_name="recall",
        n_points=n_points,
        n_resamples=n_resamples,
        varying=prevalence == "random",
        rng=seed,
    )


@pytest.mark.parametrize("kernel", ["gaussian", "uniform"])
def test_smoothed_survival_is_the_mean_of_kernels(kernel):
    from scipy import special

    ranking, y_true, y_score = sample()
    distribution = class_distributions(ranking, (y_true, y_score), (0.3, 0.4), kernel)[0]
    at = np.linspace(-1.0, 3.0, 41)
    distance = (y_score[y_true == 1] - at[:, None]) / 0.3
    if kernel == "gaussian":
        expected = special.ndtr(distance).mean(axis=1)
        density = (np.exp(-0.5 * distance**2) / np.sqrt(2 * np.pi)).mean(axis=1) / 0.3
    else:
        expected = np.clip(0.5 * (distance + 1.0), 0.0, 1.0).mean(axis=1)
        density = (0.5 * (np.abs(distance) <= 1.0)).mean(axis=1) / 0.3
    # A grid step of a tenth of the bandwidth moves no point by more than half of it.
    np.testing.assert_allclose(distribution.survival(at), expected, atol=2e-3)
    # The uniform kernel's density jumps by 1 / (2 * 0.3 * 40) at the edge of each row's kernel.
    tolerance = 5e-3 if kernel == "gaussian" else 0.042
    np.testing.assert_allclose(distribution.density(at), density, atol=tolerance)
    np.testing.assert_allclose(
        distribution.survival(distribution.upper_quantile([0.2, 0.7])), [0.2, 0.7], atol=1e-9
    )


def test_normal_scores_are_those_of_the_rows():
    from scipy import special, stats

    ranking, y_true, y_score = sample(80, 420)
    z = special.ndtri((stats.rankdata(y_score) - 0.5) / 500)
    for scores, chosen in zip(normal_scores(ranking), (y_true == 1, y_true == 0), strict=True):
        mean, variance = scores.mean_and_variance
        # Rows are spread over their rank, which moves the extreme ones a little.
        assert mean == pytest.approx(z[chosen].mean(), abs=5e-3)
        assert variance == pytest.approx(z[chosen].var(), abs=2e-2)
    raw = raw_scores(ranking, (y_true, y_score))
    for scores, chosen in zip(raw, (y_true == 1, y_true == 0), strict=True):
        mean, variance = scores.mean_and_variance
        assert mean == pytest.approx(y_score[chosen].mean())
        assert variance == pytest.approx(y_score[chosen].var())


def test_bandwidth_rules():
    ranking, y_true, y_score = sample(40, 160)
    scores = (y_true, y_score)
    deviations = y_score[y_true == 1].std(), y_score[y_true == 0].std()
    expected = {
        "per_class": (deviations[0] * 40**-0.2, deviations[1] * 160**-0.2),
        "pooled": (y_score.std() * 200**-0.2,) * 2,
        "undersmoothed": (y_score.std() * (200 * np.log(200) ** 3) ** -0.2,) * 2,
    }
    for rule, pair in expected.items():
        band = pr.band(
            ranking,
            method="clemencon_vayatis",
            scores=scores,
            bandwidth=rule,
            n_resamples=100,
            rng=0,
        )
        assert band.diagnostics["bandwidths"] == pytest.approx(pair)
    with pytest.raises(InputError, match="bandwidth must be positive"):
        smooth_pr_curve(ranking, bandwidth=-1.0)
    with pytest.raises(InputError, match="bandwidth must be one of"):
        smooth_pr_curve(ranking, bandwidth="silverman")


def test_the_logarithm_of_very_few_rows_counts_one_at_least():
    """σ (N log³ N)^(-1/5): log 5 is over 1, log 2 is not."""
    for y, s in (([1, 0, 0, 1, 0], [5.0, 1.0, 3.0, 2.0, 4.0]), ([1, 0], [2.0, 1.0])):
        band = pr.band(
            pr.rank(y, s),
            method="bootstrap",
            scores=(y, s),
            bandwidth="undersmoothed",
            n_resamples=100,
            rng=0,
        )
        factor = max(np.log(len(y)), 1.0)
        expected = np.std(s) * (len(y) * factor**3) ** -0.2
        assert band.diagnostics["bandwidths"] == pytest.approx((expected, expected))


def test_bandwidths_end_where_the_message_says():
    ranking, *_ = sample()
    for given in (1e-100, 1e100):
        assert np.all(np.isfinite(smooth_pr_curve(ranking, bandwidth=given, n_points=5).fp))
    for given in (0.9e-100, 1.1e100, (1.0, 1.1e100)):
        with pytest.raises(InputError, match=r"between 1e-100 and 1e\+100"):
            smooth_pr_curve(ranking, bandwidth=given)


@pytest.mark.parametrize("kernel", ["gaussian", "uniform"])
def test_replicates_have_the_distribution_of_the_long_way(kernel):
    """Order-statistic spacings and one multinomial against drawing, smoothing and sorting rows."""
    ranking, y_true, y_score = sample(25, 90)
    distributions = class_distributions(ranking, (y_true, y_score), (0.4, 0.3), kernel)
    grid = np.array([0.1, 0.4, 0.45, 0.9])
    fast = smoothed_rates(
        *distributions, grid, np.full(40_000, 25), np.full(40_000, 90), np.random.default_rng(1)
    )
    slow = naive_bands.smoothed_bootstrap_rates(
        y_score[y_true == 1],
        y_score[y_true == 0],
        (0.4, 0.3),
        grid,
        6000,
        np.random.default_rng(2),
        kernel,
    )
    for statistic in (lambda r: r, lambda r: r**2, lambda r: r[:, :-1] * r[:, 1:]):
        ours, theirs = statistic(fast), statistic(slow)
        error = np.sqrt(ours.var(axis=0) / len(ours) + theirs.var(axis=0) / len(theirs))
        # The grid of the smoothed distribution costs up to 2e-3 of a probability; 22 comparisons.
        assert np.all(np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) < 4.3 * error + 2e-3)


def test_importance_weights_undo_the_proposal():
    ranking, *_ = sample(40, 160)
    plain = make_replicates(request(ranking, n_resamples=20_000), None, "gaussian", None, None)
    tilted = make_replicates(request(ranking, n_resamples=20_000), None, "gaussian", None, 0.22)
    assert plain.diagnostics["effective_sample_size"] == pytest.approx(20_000)
    # B (1 + (p - q)² / (q (1 - q)))^-N, here 0.6 of all replicates.
    expected = 20_000 * (1 + 0.02**2 / (0.22 * 0.78)) ** -200.0
    assert tilted.diagnostics["effective_sample_size"] == pytest.approx(expected, rel=0.1)
    deviation = plain.curves.std(axis=0)
    error = deviation * np.sqrt(1 / 20_000 + 1 / expected)
    difference = tilted.weights @ tilted.curves - plain.weights @ plain.curves
    assert np.all(np.abs(difference) < 4 * error)
    # Without the weights the precision would be that of prevalence .22.
    assert np.mean(tilted.curves.mean(axis=0) - plain.curves.mean(axis=0)) > 0.01


def test_far_proposal_warns_with_the_effective_sample_size_and_falls_back():
    ranking, *_ = sample(40, 360)
    with pytest.warns(ReliabilityWarning, match="effective sample size of") as caught:
        band = pr.band(ranking, method="clemencon_vayatis", proposal_prevalence=0.5, rng=0)
    assert caught[0].filename == __file__
    assert band.diagnostics["proposal_effective_sample_size"] < 100
    assert band.diagnostics["proposal_prevalence"] == pytest.approx(0.1)
    with pytest.raises(InputError, match="proposal_prevalence"):
        pr.band(ranking, method="bootstrap", proposal_prevalence=0.5, sampling="classes")


def test_a_proposal_at_the_sample_prevalence_keeps_every_replicate(recwarn):
    """Equal weights leave all 100 replicates, just as many as are enough."""
    ranking, *_ = sample(40, 160)
    band = pr.band(
        ranking, method="clemencon_vayatis", proposal_prevalence=0.2, n_resamples=100, rng=0
    )
    assert not recwarn
    assert band.diagnostics["effective_sample_size"] == pytest.approx(100, rel=1e-12)
    assert "proposal_effective_sample_size" not in band.diagnostics


def test_a_fixed_prevalence_keeps_every_replicate():
    ranking, *_ = sample(40, 160)
    drawn = make_replicates(request(ranking, prevalence="fixed"), None, "gaussian", None, None)
    assert drawn.weights.sum() == pytest.approx(1, rel=1e-12)
    assert drawn.diagnostics["effective_sample_size"] == pytest.approx(2000, rel=1e-12)
    assert drawn.diagnostics["share_undefined"] == 0.0


def test_a_small_bandwidth_costs_no_more_than_a_million_points():
    """A grid that followed the bandwidth would need some 1e10 points here."""
    ranking, y_true, y_score = sample()
    for smooth in class_distributions(ranking, (y_true, y_score), 1e-9, "gaussian"):
        assert smooth.grid.size - 1 == 2**20
        assert smooth.survival(smooth.grid[[0, -1]]).tolist() == [1.0, 0.0]


def test_samples_without_positives_are_drawn_again_and_counted():
    ranking = pr.rank([1, *[0] * 30], range(31, 0, -1))
    band = pr.band(ranking, method="clemencon_vayatis", rng=0, n_resamples=4000)
    # (1 - 1/31)^31 of the samples have no positive.
    assert band.diagnostics["share_undefined"] == pytest.approx((30 / 31) ** 31, abs=0.04)


def test_ball_has_one_radius_and_studentised_band_does_not():
    ranking, *_ = sample(100, 300)
    ball = pr.band(ranking, method="clemencon_vayatis", rng=0)
    inside = (ball.low > 0.0) & (ball.high < 1.0)
    np.testing.assert_allclose(ball.width[inside], 2 * ball.diagnostics["radius"])
    student = pr.band(ranking, method="bootstrap", rng=0)
    assert np.ptp(student.width) > 0.05
    fixed = pr.band(ranking, method="clemencon_vayatis", rng=0, sampling="classes")
    assert np.all(fixed.low >= 0.25 * fixed.x / (0.25 * fixed.x + 0.75) - 1e-12)


def test_studentised_band_follows_the_spread_of_the_curves():
    """Half widths are a multiple of the standard deviation plus .02, which may be 0."""
    asked = request(sample()[0], n_points=3)
    step = np.array([0.0, 0.02, 0.03])
    times, weights = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0.1, 0.4, 0.4, 0.1])
    centre = observed_curve(asked)
    got = studentised_of(asked, SmoothedCurves(centre + np.outer(times, step), weights, {}))
    deviation = step * np.sqrt(0.2 * 2.0**2 + 0.8 * 1.0**2)
    # Four fifths of the weight are one step away, so the level of .95 is reached at two.
    half = (deviation + 0.02) * np.max(2 * step / (deviation + 0.02))
    np.testing.assert_allclose(got.low, centre - half, rtol=1e-12)
    np.testing.assert_allclose(got.high, np.minimum(centre + half, 1.0), rtol=1e-12)


def test_random_prevalence_is_not_clipped_at_the_sample_minimum():
    y_true = [0] * 30 + [1] * 30
    with pytest.warns(pr.exceptions.DirectionWarning):
        ranking = pr.rank(y_true, range(60, 0, -1))
    band = pr.band(ranking, method="clemencon_vayatis", rng=0)
    assert np.any(band.low < band.x / (1 + band.x) - 1e-9)


def test_weighted_quantile():
    values = np.array([3.0, 1.0, 2.0, 4.0])
    assert weighted_quantile(values, np.full(4, 0.25), 0.5) == 2.0
    assert weighted_quantile(values, np.full(4, 0.25), 0.51) == 3.0
    assert weighted_quantile(values, np.array([0.1, 0.6, 0.2, 0.1]), 0.6) == 1.0
    assert weighted_quantile(values, np.array([0.1, 0.6, 0.2, 0.1]), 0.95) == 4.0


def test_scores_must_be_those_of_the_ranking():
    ranking, y_true, y_score = sample()
    with pytest.raises(InputError, match="rows of the ranking"):
        pr.band(ranking, method="bootstrap", scores=(y_true[1:], y_score[1:]))
    with pytest.raises(InputError, match="pair"):
        pr.band(ranking, method="bootstrap", scores=y_score)
    with pytest.raises(InputError, match="finite"):
        pr.band(ranking, method="bootstrap", scores=(y_true, np.full(200, np.inf)))
    weighted = pr.rank(y_true, y_score, sample_weight=np.full(200, 2.0))
    with pytest.raises(InputError, match="weighted"):
        pr.band(weighted, method="bootstrap", scores=(y_true, y_score))


def test_smooth_curve_tends_to_the_observed_and_to_the_true_one():
    ranking, y_true, y_score = sample(60, 240)
    curve = smooth_pr_curve(ranking, scores=(y_true, y_score), bandwidth=1e-4)
    assert curve.area() == pytest.approx(pr.aucpr(ranking, estimator="davis_goadrich"), abs=5e-3)
    assert np.all(np.isfinite(curve.threshold))
    big, *_ = sample(20_000, 180_000, seed=3)
    smooth = smooth_pr_curve(big)
    recall = np.linspace(0.1, 0.9, 9)
    np.testing.assert_allclose(smooth.at(recall), Binormal(1.5).precision(recall, 0.1), atol=0.02)
    assert np.all(np.isnan(smooth.threshold))
    assert not smooth.observed.any()


def test_smoothing_on_normal_scores_does_not_see_the_scale():
    ranking, y_true, y_score = sample(60, 240)
    stretched = pr.rank(y_true, np.exp(5 * y_score))
    np.testing.assert_array_equal(smooth_pr_curve(ranking).fp, smooth_pr_curve(stretched).fp)


def test_equal_weights_change_nothing():
    ranking, y_true, y_score = sample(60, 240)
    weighted = pr.rank(y_true, y_score, sample_weight=np.full(300, 3.0))
    for method in ("clemencon_vayatis", "bootstrap", "asymptotic"):
        plain, other = (pr.band(r, method=method, rng=0) for r in (ranking, weighted))
        np.testing.assert_allclose(other.low, plain.low, atol=1e-9)
        np.testing.assert_allclose(other.high, plain.high, atol=1e-9)


def test_hit_curves_are_drawn_at_even_recalls():
    asked = make_request(
        sample()[0],
        kind="hit",
        confidence_level=0.95,
        span=(0.1, 0.9),
        span_name="selected",
        n_points=9,
        n_resamples=100,
        varying=True,
        rng=0,
    )
    # The ends, where nothing and everything is selected, need no draw.
    np.testing.assert_allclose(inner_grid(asked), np.arange(1, 200) / 200, rtol=1e-14)

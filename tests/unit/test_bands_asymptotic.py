"""The limit theorem: its variance, its processes, its band."""

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError
from precall.inference.bands.asymptotic import brownian_bridge
from precall.simulate import Binormal


def test_brownian_bridge_has_its_covariance():
    times = np.array([0.1, 0.1, 0.45, 0.9, 1.0])
    draws = brownian_bridge(times, 200_000, np.random.default_rng(0))
    expected = np.minimum.outer(times, times) - np.outer(times, times)
    # Each entry's error is at most sqrt(2) * variance / sqrt(draws), variance at most 1/4.
    np.testing.assert_allclose(np.cov(draws.T, ddof=0), expected, atol=4 * 0.25 * 2**0.5 / 447)
    np.testing.assert_array_equal(draws[:, 0], draws[:, 1])
    np.testing.assert_allclose(draws[:, -1], 0.0, atol=1e-12)


@pytest.mark.parametrize("sampling", ["rows", "classes"])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_standard_error_is_that_of_the_theorem(sampling, share):
    """Estimated from a large sample against the formula with the true densities."""
    scenario, size = Binormal(1.0), 100_000
    n_pos = round(size * share)
    y_true, y_score = scenario.sample(n_pos, size - n_pos, rng=0)
    band = pr.band(
        pr.rank(y_true, y_score),
        method="asymptotic",
        scores=(y_true, y_score),
        recall=(0.2, 0.8),
        rng=0,
        sampling=sampling,
    )
    variance = scenario.asymptotic_variance(band.x, share, random_prevalence=sampling == "rows")
    # Kernel estimates of the density ratio are good to some per cent at this size.
    expected = np.sqrt(variance / size)
    np.testing.assert_allclose(band.diagnostics["standard_error"], expected, rtol=0.08)


def test_roc_standard_error():
    y_true, y_score = Binormal(1.0).sample(50_000, 50_000, rng=0)
    band = pr.band(
        pr.rank(y_true, y_score), "roc", method="asymptotic", scores=(y_true, y_score), rng=0
    )
    from scipy import special

    threshold = -special.ndtri(band.x)
    rate = special.ndtr(1.0 - threshold)
    slope = np.exp(-0.5 * (threshold - 1) ** 2 + 0.5 * threshold**2)
    expected = np.sqrt((rate * (1 - rate) + slope**2 * band.x * (1 - band.x)) / 50_000)
    np.testing.assert_allclose(band.diagnostics["standard_error"], expected, rtol=0.08)


def test_ball_and_studentised_shape():
    ranking = pr.rank(*Binormal(1.0).sample(200, 800, rng=0))
    ball = pr.band(ranking, method="asymptotic", rng=0)
    inside = (ball.low > 0.0) & (ball.high < 1.0)
    np.testing.assert_allclose(ball.width[inside], 2 * ball.diagnostics["radius"])
    student = pr.band(ranking, method="asymptotic", shape="studentised", rng=0)
    assert student.width[-1] < ball.width[-1]
    # A multiple of the standard error, to which a tenth of its mean is added.
    error = student.diagnostics["standard_error"]
    half = student.diagnostics["radius"] * (error + 0.1 * error.mean())
    np.testing.assert_allclose(student.low, np.maximum(student.y - half, 0.0), rtol=1e-12)
    np.testing.assert_allclose(student.high, np.minimum(student.y + half, 1.0), rtol=1e-12)


def test_radius_agrees_with_the_ball_of_the_bootstrap_on_large_samples():
    """Two roads to the same limit: densities and bridges, or resampling."""
    ranking = pr.rank(*Binormal(1.0).sample(20_000, 20_000, rng=0))
    radii = [
        pr.band(ranking, method=method, rng=1).diagnostics["radius"]
        for method in ("asymptotic", "clemencon_vayatis")
    ]
    assert radii[0] == pytest.approx(radii[1], rel=0.15)


def test_hit_curve_has_no_such_band():
    with pytest.raises(InputError, match="hit band"):
        pr.band(pr.rank(*Binormal(1.0).sample(20, 20, rng=0)), "hit", method="asymptotic")

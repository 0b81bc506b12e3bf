"""Bands of rows whose weights differ inside a class."""

import numpy as np
import pytest

import precall as pr
from precall.inference.bands.fiducial import draw_rates
from precall.inference.bands.paths import negatives_path, positives_path
from precall.inference.bands.weighted_draws import draw_weighted, weights_vary
from precall.simulate import UNSEEN, Binormal

GRID = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
DRAWS = 4000


def data(scenario, seed=3):
    return scenario.sample(40, 160, rng=seed)


@pytest.mark.parametrize("ties", ["interpolate", "bound"])
@pytest.mark.parametrize("kind", ["pr", "roc"])
@pytest.mark.parametrize("scenario", [Binormal(1.5), UNSEEN["five_levels"]], ids=["untied", "tied"])
def test_rows_of_equal_weight_are_drawn_as_rows_without(scenario, kind, ties):
    """Two samples from one distribution: the largest distance of their distribution functions."""
    y, s = data(scenario)
    path = (positives_path if kind == "pr" else negatives_path)(pr.rank(y, s))
    heavy = pr.rank(y, s, sample_weight=np.where(y == 1, 2.0, 0.5))
    plain = draw_rates(path, GRID, DRAWS, np.random.default_rng(1), ties)
    found, _ = draw_weighted(heavy, kind, GRID, DRAWS, np.random.default_rng(2), ties)
    for one, other in zip(plain, found, strict=True):
        for first, second in zip(one.T, other.T, strict=True):
            both = np.sort(np.concatenate([first, second]))
            places = [
                np.searchsorted(np.sort(part), both, side="right") for part in (first, second)
            ]
            distance = np.abs(places[0] - places[1]).max() / DRAWS
            # 2 exp(-DRAWS d^2) = 4e-6 for each of 15 points in each of eight cases.
            assert distance < 0.0573


def test_the_prevalence_is_that_of_the_weights():
    y, s = data(Binormal(1.0))
    weight = np.where(y == 1, 2.0, 0.5)
    _, share = draw_weighted(
        pr.rank(y, s, sample_weight=weight), "pr", GRID, DRAWS, np.random.default_rng(1), "bound"
    )
    assert share.shape == (DRAWS, 1)
    assert share.mean() == pytest.approx(0.5, abs=0.01)


def test_only_weights_that_differ_inside_a_class_vary():
    y, s = data(Binormal(1.0))
    assert not weights_vary(pr.rank(y, s))
    assert not weights_vary(pr.rank(y, s, sample_weight=np.where(y == 1, 0.1, 0.7)))
    assert not weights_vary(pr.rank(y, s).at_prevalence(0.01))
    assert weights_vary(pr.rank(y, s, sample_weight=1.0 + (s > 0)))


@pytest.mark.parametrize("curve", ["pr", "roc", "hit"])
@pytest.mark.parametrize("method", ["fiducial", "pointwise"])
def test_every_curve_has_a_band_of_weighted_rows(curve, method):
    y, s = data(UNSEEN["five_levels"])
    ranking = pr.rank(y, s, sample_weight=np.random.default_rng(1).exponential(size=y.size))
    band = pr.band(ranking, curve, method=method, n_resamples=300, rng=0)
    assert np.all((band.low >= 0) & (band.low <= band.high) & (band.high <= 1))
    again = pr.band(ranking, curve, method=method, n_resamples=300, rng=0)
    assert np.array_equal(band.low, again.low)


def test_rows_that_weigh_twice_are_worth_less_than_two():
    y, s = Binormal(1.5).sample(60, 240, rng=5)
    weight = np.where(np.random.default_rng(5).random(300) < 0.2, 9.0, 1.0)
    plain, heavy = (
        np.mean(pr.band(pr.rank(y, s, sample_weight=each), rng=0).width) for each in (None, weight)
    )
    assert heavy > 1.2 * plain


def coverage(scenario, chance_of, sets, seed):
    """How many bands have the curve, where rows are kept with a chance that depends on the rank."""
    rng, recall, held, width = np.random.default_rng(seed), np.linspace(0.1, 0.9, 41), 0, 0.0
    truth = scenario.precision(recall, 0.1)
    for _ in range(sets):
        n = rng.binomial(3000, 0.1)
        y, s = scenario.sample(n, 3000 - n, rng=rng)
        chance = chance_of((np.argsort(np.argsort(-s)) + 1) / 3000)
        kept = rng.random(3000) < chance
        ranking = pr.rank(y[kept], s[kept], sample_weight=1 / chance[kept])
        band = pr.band(ranking, n_points=41, n_resamples=500, rng=rng)
        held += bool(np.all((band.low <= truth) & (truth <= band.high)))
        width += np.mean(band.width) / sets
    return held, width


def test_a_band_does_not_overrate_a_top_that_was_sampled_thinly():
    """With effective sizes it covered 0.68."""
    held, _ = coverage(UNSEEN["noisy"], lambda share: np.where(share < 0.05, 0.1, 1.0), 60, 1)
    assert held >= 49  # fewer once in 10,000 times if it covers with 0.95


def test_a_band_knows_a_top_that_was_sampled_densely():
    """With effective sizes the mean width was 0.66."""
    held, width = coverage(
        UNSEEN["cauchy"],
        lambda share: np.select([share < 0.05, share < 0.2], [1, 0.2], 1 / 80),
        60,
        2,
    )
    assert held >= 49
    assert width < 0.5


def thinned(share):
    """Chance to be kept: 1 in 20 in the middle."""
    return np.where((share > 0.03) & (share < 0.3), 0.05, 1.0)


def test_a_band_leaves_room_for_heavy_negatives_among_heavy_positives():
    """With half a row of the top's weight it covered 0.70."""
    held, _ = coverage(UNSEEN["noisy_perfect"], thinned, 60, 3)
    assert held >= 49  # fewer once in 10,000 times if it covers with 0.95


def test_a_band_leaves_room_for_heavy_positives_that_were_not_seen():
    """Five negatives of weight 20 on top, where no positive was: recall may be made there."""
    y = np.concatenate([np.zeros(5), np.tile([1, 0], 30), np.zeros(100)])
    reached = []
    for heavy in (1.001, 20.0):
        ranking = pr.rank(
            y, -np.arange(165.0), sample_weight=np.where(np.arange(165) < 5, heavy, 1)
        )
        band = pr.band(ranking, recall=(0.02, 0.6), n_points=59, n_resamples=500, rng=0)
        reached.append(np.max(band.x[band.high >= 1.0], initial=0.0))
    # The first spacing is a thirtieth of the positives, or may be nearly half of them.
    assert reached[0] < 0.2
    assert reached[1] > 0.35


@pytest.mark.parametrize("exponents", [(0, 9), (-9, 0, 9)])
def test_a_band_of_weights_of_very_different_size_has_limits(exponents):
    """Light negatives below every positive were lost to rounding, and limits were nan."""
    rng = np.random.default_rng(1)
    for _ in range(10):
        y = np.append(rng.random(38) < 0.4, [False, False])
        ranking = pr.rank(y, -np.arange(40.0), sample_weight=10.0 ** rng.choice(exponents, 40))
        band = pr.band(ranking, n_resamples=100, rng=0)
        assert np.all((band.low >= 0) & (band.low <= band.high) & (band.high <= 1))

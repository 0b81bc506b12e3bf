"""Noise: its distributions, its grid, its source, and that there is as much as the proofs need."""

import math
import sys
import warnings
from fractions import Fraction

import numpy as np
import pytest

from precall import privacy
from precall.exceptions import InputError
from precall.privacy._ledger import exact
from precall.privacy.mechanisms import (
    Noisy,
    SeededNoise,
    SeededReleaseWarning,
    SystemNoise,
    add_to_counts,
    add_to_real,
    grid_bits,
    grid_sensitivity,
    laplace_scale,
    noise_source,
)
from tests.noise import RARE, fit, seeded

NOTHING = np.zeros(4, np.int64)


@pytest.mark.parametrize(("source", "size"), [(seeded(1), 40_000), (SystemNoise(), 10_000)])
@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_laplace_noise_has_the_discrete_laplace_distribution(source, size, scale):
    support = np.arange(-round(4 * scale), round(4 * scale) + 1)
    ratio = math.exp(-1 / scale)
    probability = (1 - ratio) / (1 + ratio) * ratio ** np.abs(support)
    assert fit(source.add_laplace(np.zeros(size, np.int64), scale), support, probability) > RARE


@pytest.mark.parametrize("grid", [1.0, 2.0**-20])
@pytest.mark.parametrize("scale", [0.3, 2.0, 20.0])
@pytest.mark.parametrize("error", [0.2, 0.01])
def test_bounds_are_the_shortest_that_hold_as_often_as_they_say(grid, scale, error):
    noisy = Noisy(value=0.0, scale=scale, grid=grid)
    low, high = noisy.bounds(error)
    assert high == -low + (0.0 if grid == 1.0 else grid)
    steps, ratio = round(-low / grid), math.exp(-grid / scale)
    outside = [2 * ratio ** (k + 1) / (1 + ratio) for k in (steps, steps - 1)]
    assert outside[0] <= error * (1 + 1e-9)
    assert steps == 0 or outside[1] > error


def test_real_statistics_are_released_on_the_grid():
    for n_rows in (1, 1000, 2**24, 2**31):
        grid = 2.0 ** -grid_bits(n_rows)
        released = add_to_real(math.pi, sensitivity=1.0, epsilon=0.5, n_rows=n_rows, noise=seeded())
        assert released.grid == grid
        assert released.value / grid == math.floor(released.value / grid)
        assert released.scale == pytest.approx(2 * (1 + grid), rel=1e-12)
        # A row's share of the floating-point error of a sum stays well under half a step.
        assert n_rows * 2.0**-46 <= grid / 4


def test_rounding_down_never_moves_more_than_the_sensitivity_in_steps():
    generator = np.random.default_rng(6)
    for _ in range(2000):
        n_rows = int(2 ** generator.uniform(0, 31))
        unit = 2.0 ** grid_bits(n_rows)
        value, change = generator.uniform(0, 5), generator.uniform(-0.6, 0.6)
        error = generator.uniform(-0.25, 0.25, 2) / unit
        moved = math.floor((value + error[0]) * unit) - math.floor(
            (value + change + error[1]) * unit
        )
        assert abs(moved) <= grid_sensitivity(0.6, n_rows)


def test_counts_stay_whole():
    released = add_to_counts(np.array([5, 0]), sensitivity=2.0, epsilon=1.0, noise=SystemNoise())
    assert released.dtype == np.int64
    assert released.shape == (2,)


@pytest.mark.parametrize("source", [SystemNoise(), seeded(8)])
@pytest.mark.parametrize("scale", [1e19, 1e25, 1e300])
def test_noise_larger_than_64_bits_hides_what_it_is_added_to(source, scale):
    """Sums are cut off, noise is not: the ends are the same whatever the counts are."""
    ends = set()
    for count in (0, 12_345, 2**40):
        noisy = source.add_laplace(np.full(400, count, np.int64), scale)
        low, high = int(noisy.min()), int(noisy.max())
        ends.add((low, high))
        # Two sided: P(beyond the end) is nearly one half each, or 0.2 at the smallest scale.
        assert min(np.count_nonzero(noisy == low), np.count_nonzero(noisy == high)) > 30
    assert len(ends) == 1


@pytest.mark.filterwarnings("ignore::precall.exceptions.ReliabilityWarning")
def test_releases_at_a_tiny_epsilon_do_not_show_the_counts():
    """Noise that was cut off before it was added left sums that told the counts apart."""
    score = np.linspace(0, 1, 50)
    counts, positives = [], []
    for y in (np.arange(50) % 2, np.arange(50) % 5 == 0):
        options = {"epsilon": 1e-25, "budget": privacy.Budget(epsilon=1.0)}
        curves = [privacy.pr_curve(y, score, **options) for _ in range(20)]
        counts.append({int(n) for curve in curves for n in curve.noisy_positives})
        released = [privacy.auroc(y, score, **options).noisy[1] for _ in range(40)]
        positives.append({noisy.value for noisy in released})
    assert counts[0] == counts[1]
    assert len(counts[0]) == 2
    assert positives[0] == positives[1]


def test_shares_of_epsilon_are_exact_and_scales_are_rounded_up():
    for epsilon in (0.1, 0.3, 0.7, 1e-3, 1.1):
        for parts in (Fraction(85, 100), Fraction(6, 10)):
            spent = [parts * exact(epsilon), (1 - parts) * exact(epsilon)]
            scales = [laplace_scale(1.0, part) for part in spent]
            assert sum(1 / Fraction(scale) for scale in scales) <= exact(epsilon)
            for scale, part in zip(scales, spent, strict=True):
                assert Fraction(math.nextafter(scale, 0)) < 1 / part
    with pytest.raises(InputError, match="no finite scale"):
        laplace_scale(2.0, 1e-310)


def test_only_a_seed_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(noise_source(None), SystemNoise)
    with pytest.warns(SeededReleaseWarning, match="not private"):
        assert isinstance(noise_source(0), SeededNoise)
    with pytest.warns(SeededReleaseWarning):
        noise_source(np.random.default_rng(0))


def test_a_seed_repeats_and_the_system_does_not():
    first, second = (seeded(7).add_laplace(NOTHING, 1e6) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert (
        SystemNoise().add_laplace(NOTHING, 1e12) != SystemNoise().add_laplace(NOTHING, 1e12)
    ).all()


def test_opendp_is_left_as_it_was_found():
    from opendp import mod

    before = set(mod.GLOBAL_FEATURES)
    SystemNoise().add_laplace(NOTHING, 1.0)
    assert set(mod.GLOBAL_FEATURES) == before


def test_without_opendp_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp", None)
    with pytest.raises(ImportError, match=r"OpenDP.*\.\[privacy\]"):
        SystemNoise().add_laplace(NOTHING, 1.0)

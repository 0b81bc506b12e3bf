"""Noise: its distributions, its grid, its source, and that there is as much as the proofs need."""

import math
import sys
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from precall import privacy
from precall.exceptions import InputError
from precall.privacy import mechanisms, sensitivity, smooth
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
    heavy_tailed,
    laplace_scale,
    noise_source,
)

# System noise cannot be seeded, so its tests fail once in a billion runs when nothing is wrong.
RARE = 1e-9
NOTHING = np.zeros(4, np.int64)


def seeded(seed=0):
    return SeededNoise(np.random.default_rng(seed))


def fit(draws, support, probability):
    """p-value of a chi-square test, everything outside the support in one cell."""
    observed = np.array([np.count_nonzero(draws == value) for value in support])
    observed = np.append(observed, draws.size - observed.sum())
    expected = draws.size * np.append(probability, 1 - probability.sum())
    return stats.chisquare(observed, expected).pvalue


@pytest.mark.parametrize(("source", "size"), [(seeded(1), 40_000), (SystemNoise(), 10_000)])
@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_laplace_noise_has_the_discrete_laplace_distribution(source, size, scale):
    support = np.arange(-round(4 * scale), round(4 * scale) + 1)
    ratio = math.exp(-1 / scale)
    probability = (1 - ratio) / (1 + ratio) * ratio ** np.abs(support)
    assert fit(source.add_laplace(np.zeros(size, np.int64), scale), support, probability) > RARE


@pytest.mark.parametrize(("source", "size"), [(seeded(2), 20_000), (SystemNoise(), 5_000)])
@pytest.mark.parametrize("degree", [2, 4])
@pytest.mark.parametrize("scale", [1, 4])
def test_heavy_tailed_noise_has_its_distribution(source, size, degree, scale):
    everywhere = np.arange(1, 2_000_000, dtype=np.float64)
    total = 1 + 2 * np.sum(1 / (1 + (everywhere / scale) ** degree))
    total += (
        2 * scale**degree / (degree - 1) / everywhere[-1] ** (degree - 1)
    )  # the rest of the tail
    support = np.arange(-3 * scale, 3 * scale + 1)
    probability = 1 / (1 + np.abs(support / scale) ** degree) / total
    draws = np.array([heavy_tailed(scale, degree=degree, noise=source) for _ in range(size)])
    assert fit(draws, support, probability) > RARE


@pytest.mark.parametrize("scale", [1, 2, 3, 1000, 2**40])
def test_heavy_tailed_acceptance_is_a_probability(scale):
    size = np.unique(
        np.concatenate([np.arange(50), np.geomspace(1, 100, 500) * scale / 10]).astype(object)
    )
    for value in (int(v) for v in size):
        reach = (scale + value) * (scale + value + 1)
        assert reach <= 4 * (scale**2 + value**2)
        assert reach * scale**2 <= 5 * (scale**4 + value**4)


def test_the_proposal_asks_for_more_bits_until_it_is_decided():
    words = [1, 2**63, 12345, 6789]  # so small a uniform leaves its reciprocal open for long
    asked = []

    def bits(count):
        asked.append(words[len(asked)])
        return asked[-1]

    size = mechanisms._pareto(5, bits)
    assert len(asked) > 1
    drawn = 0
    for word in asked:
        drawn = drawn << 64 | word
    whole = 5 << 64 * len(asked)
    assert size + 5 == whole // drawn == whole // (drawn + 1)


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


LOCAL = {
    "average_precision": lambda n, _: sensitivity.local_average_precision(n),
    "auroc": lambda n, n_rows: sensitivity.local_auroc(n, n_rows - n),
}


def pairs(metric, mechanism, epsilon, delta, n_rows):
    """Scales and the largest shift, in steps, for all neighbouring numbers of positives."""
    calibration = smooth.calibrate(mechanism, epsilon=epsilon, delta=delta)
    unit = 2 ** (smooth.GRID_BITS + n_rows.bit_length())
    smoothed = [
        sensitivity.smooth(
            lambda n: LOCAL[metric](n, n_rows), n_pos=n, n_rows=n_rows, beta=calibration.beta
        )
        for n in range(n_rows + 1)
    ]
    local = LOCAL[metric](np.arange(n_rows + 1), n_rows)
    assert (np.array(smoothed) >= local).all()
    for n in range(n_rows + 1):
        for other in {n, min(n + 1, n_rows), max(n - 1, 0)}:
            shift = math.ceil(min(local[n], local[other]) * unit) + 2
            scales = [math.ceil(calibration.factor * smoothed[k] * unit) for k in (n, other)]
            yield *scales, shift


@pytest.mark.parametrize("metric", LOCAL)
@pytest.mark.parametrize("mechanism", ["printed_cauchy", "smooth_cauchy", "smooth_quartic"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_heavy_tailed_noise_costs_at_most_epsilon_for_every_number_of_positives(
    metric, mechanism, epsilon
):
    """The worst ratio of probabilities, from the distributions and not from the proof."""
    degree = 4 if mechanism.endswith("quartic") else 2
    constant = math.pi if degree == 2 else math.pi / math.sqrt(2)
    worst = 0.0
    for scale, other, shift in set(pairs(metric, mechanism, epsilon, 0.0, 40)):
        z = np.concatenate([[0.0], np.geomspace(1e-3, 1e6, 4000)])
        k = np.concatenate([-z[::-1], z]) * max(scale, other, shift)

        def log_probability(at, width):
            return -np.log1p(np.abs(at / width) ** degree) - math.log(constant * width)

        loss = log_probability(k, scale) - log_probability(k - shift, other)
        worst = max(worst, float(np.abs(loss).max()))
    assert worst <= epsilon
    if mechanism == "smooth_cauchy" and epsilon == 0.1:  # and little is wasted
        assert worst > 0.8 * epsilon


@pytest.mark.parametrize("metric", LOCAL)
@pytest.mark.parametrize("mechanism", ["printed_laplace", "smooth_laplace"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-3), (1.0, 1e-6), (1.0, 0.01), (8.0, 1e-3)])
def test_laplace_noise_costs_at_most_epsilon_and_delta(metric, mechanism, epsilon, delta):
    """Hockey-stick divergence of the two distributions, summed over 10,000 cells."""
    for scale, other, shift in set(pairs(metric, mechanism, epsilon, delta, 30)):
        cells = np.linspace(-40.0, 41.0, 10_001) * max(scale, other)
        ours, theirs = (
            np.diff(
                np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2)
            )
            for z in (cells / scale, (cells - shift) / other)
        )
        assert np.maximum(ours - math.exp(epsilon) * theirs, 0).sum() + math.exp(-40) <= delta


def test_printed_calibrations_are_those_of_the_dissertation():
    cauchy = smooth.calibrate("printed_cauchy", epsilon=0.6, delta=0.0)
    assert (cauchy.beta, cauchy.factor) == (
        pytest.approx(0.1, rel=1e-3),
        pytest.approx(10, rel=1e-3),
    )
    laplace = smooth.calibrate("printed_laplace", epsilon=0.6, delta=1e-2)
    assert laplace.beta == pytest.approx(0.3 / math.log(200), rel=1e-3)
    assert laplace.factor == pytest.approx(2 / 0.6, rel=1e-3)


def test_smooth_mechanisms_refuse_what_their_proofs_do_not_cover():
    with pytest.raises(InputError, match="epsilon must be at most 64"):
        smooth.check_epsilon(65.0)
    with pytest.raises(InputError, match="rows"):
        smooth.check_rows(2**28)


def test_tighter_calibrations_are_those_of_the_proofs():
    """All of them leave what rounding costs, and use the rest of epsilon up."""
    epsilon, delta = 0.6, 1e-3
    left = epsilon * (1 - smooth.ROUNDING_SHARE)
    for name, share, steepest, turns in (
        ("smooth_cauchy", 6, 1.0, 1),
        ("smooth_quartic", 12, 3**0.75, 3),
    ):
        found = smooth.calibrate(name, epsilon=epsilon, delta=0.0)
        assert found.beta == pytest.approx(left / share, rel=1e-12)
        assert steepest / found.factor + turns * found.beta == pytest.approx(left, rel=1e-12)
    found = smooth.calibrate("smooth_laplace", epsilon=epsilon, delta=delta)
    assert found.factor == pytest.approx(2 / left, rel=1e-12)
    # The largest smoothness: of twice the rounding more, a change of scale costs too much.
    rounding = left * 2.0**-16

    def quantile(change):
        return (left / 2 + change) / math.expm1(change)

    needed = math.log(1 / delta) + rounding
    assert quantile(found.beta + rounding * (1 - 1e-6)) >= needed
    assert quantile(found.beta + rounding * (1 + 1e-6)) < needed


@pytest.mark.parametrize("degree", [2, 4])
def test_what_is_set_aside_for_rounding_covers_it(degree):
    """The steepest slope of log(1 + z^degree), found on a grid, bounds what two steps cost."""
    z = np.linspace(0, 10, 1_000_001)
    steepest = float(np.max(degree * z ** (degree - 1) / (1 + z**degree)))
    assert smooth._STEEPEST[degree] == pytest.approx(steepest, rel=1e-9)
    assert (2 * steepest + degree) * 2.0**-smooth.GRID_BITS <= smooth.ROUNDING_SHARE


def test_smooth_mechanisms_take_all_that_their_proofs_cover():
    smooth.check_epsilon(64.0)
    smooth.check_rows(2**27)


@pytest.mark.parametrize("mechanism", smooth.CALIBRATIONS)
def test_smooth_releases_add_noise_of_their_own_law_and_scale(mechanism):
    """On a grid of 2^(16 + bits of the rows), rounded down; the scale is rounded up."""
    calibration = smooth.calibrate(mechanism, epsilon=1.5, delta=1e-3)
    unit = 2 ** (16 + 10)  # 1000 rows have 10 bits
    value, sensitivity_here = 0.3, 0.002
    exact_value = math.floor(Fraction(value) * unit)
    scale = math.ceil(Fraction(calibration.factor * sensitivity_here) * unit)
    for seed in range(5):
        found = smooth.release(
            value,
            sensitivity=sensitivity_here,
            calibration=calibration,
            n_rows=1000,
            noise=seeded(seed),
        )
        if mechanism.endswith("laplace"):
            steps = int(seeded(seed).add_laplace(np.array([exact_value]), float(scale))[0])
        else:
            degree = 4 if mechanism.endswith("quartic") else 2
            steps = exact_value + heavy_tailed(scale, degree=degree, noise=seeded(seed))
        assert found == min(max(steps, 0), unit) / unit


@pytest.mark.parametrize("noise", [-(2**40), 2**40])
def test_smooth_releases_are_cut_off_at_0_and_1(noise):
    class Far:
        def add_laplace(self, values, scale):
            return values + noise

    calibration = smooth.calibrate("smooth_laplace", epsilon=1.0, delta=1e-3)
    options = {"sensitivity": 0.1, "calibration": calibration, "n_rows": 100, "noise": Far()}
    assert smooth.release(0.5, **options) == float(noise > 0)

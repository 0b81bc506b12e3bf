"""Noise on smooth sensitivity, with which the studies reproduce the dissertation."""

import math
from fractions import Fraction

import numpy as np
import pytest

from precall import privacy
from precall.exceptions import InputError
from precall.privacy import sensitivity
from precall.privacy.mechanisms import SystemNoise
from studies import _smooth_sensitivity as smooth
from studies._smooth_sensitivity import heavy_tailed
from tests.noise import RARE, fit, seeded


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

    size = smooth._pareto(5, bits)
    assert len(asked) > 1
    drawn = 0
    for word in asked:
        drawn = drawn << 64 | word
    whole = 5 << 64 * len(asked)
    assert size + 5 == whole // drawn == whole // (drawn + 1)


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


@pytest.mark.parametrize("mechanism", smooth.CALIBRATIONS)
@pytest.mark.parametrize("metric", ["average_precision", "auroc"])
def test_whoever_names_a_mechanism_that_moved_learns_where_it_is(mechanism, metric):
    budget = privacy.Budget(epsilon=1.0, delta=0.1)
    options = {"epsilon": 0.5, "delta": 1e-3, "budget": budget, "mechanism": mechanism}
    with pytest.raises(InputError, match=r"Use 'rescaled'.*studies/_smooth_sensitivity\.py"):
        getattr(privacy, metric)([1, 0], [1, 0], **options)
    assert budget.spent == (0.0, 0.0)
    assert mechanism not in privacy.MECHANISMS


def test_several_releases_are_those_of_one_after_the_other():
    options = {"n_pos": 20, "n_rows": 100, "epsilon": 1.0, "delta": 1e-3}
    for mechanism in smooth.CALIBRATIONS:
        local = smooth.local_sensitivity("average_precision", mechanism, 100)
        many = smooth.releases(
            0.5, local=local, mechanism=mechanism, times=3, noise=seeded(1), **options
        )
        noise = seeded(1)
        calibration = smooth.calibrate(mechanism, epsilon=1.0, delta=1e-3)
        one = [
            smooth.release(
                0.5,
                sensitivity=sensitivity.smooth(local, n_pos=20, n_rows=100, beta=calibration.beta),
                calibration=calibration,
                n_rows=100,
                noise=noise,
            )
            for _ in range(3)
        ]
        assert many.tolist() == one


def test_the_printed_bound_is_used_where_the_dissertation_is_printed():
    printed = smooth.local_sensitivity("average_precision", "printed_cauchy", 100)
    assert printed(50) == sensitivity.local_average_precision_printed(50, logarithmic=True)
    tight = smooth.local_sensitivity("average_precision", "smooth_cauchy", 100)
    assert tight(50) == sensitivity.local_average_precision(50)
    for mechanism in ("printed_cauchy", "smooth_cauchy"):
        assert smooth.local_sensitivity("auroc", mechanism, 100)(30) == 1 / 30


def test_laplace_noise_needs_a_delta():
    local = smooth.local_sensitivity("auroc", "smooth_laplace", 100)
    with pytest.raises(InputError, match="delta must be above 0"):
        smooth.releases(
            0.5,
            local=local,
            mechanism="smooth_laplace",
            n_pos=50,
            n_rows=100,
            epsilon=1.0,
            delta=0.0,
            times=1,
            noise=seeded(),
        )

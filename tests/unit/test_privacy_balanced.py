"""Noise that adds up to 0: its distribution, its cost on every small matrix, and its limits."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import precall as pr
from precall import privacy
from precall.exceptions import InputError
from precall.privacy import balanced
from precall.privacy.balanced import BalancedNoisy, Marginal, add_balanced, balanced_offset
from precall.privacy.mechanisms import SystemNoise
from tests.noise import RARE, seeded


def rows_behind(most):
    """The fewest replaced rows that turn one matrix into another, by search, for each offset."""
    moves = [
        tuple((i == up) - (i == down) for i in range(4))
        for up, down in itertools.permutations(range(4), 2)
    ]
    front = {(0, 0, 0, 0)}
    found = dict.fromkeys(front, 0)
    for steps in range(1, most + 1):
        front = {
            tuple(a + b for a, b in zip(z, move, strict=True)) for z in front for move in moves
        } - found.keys()
        found |= dict.fromkeys(front, steps)
    return found


def offsets(most):
    """All offsets that add up to 0, with entries of this size at most."""
    entries = range(-most, most + 1)
    for three in itertools.product(entries, repeat=3):
        if abs(sum(three)) <= most:
            yield (*three, -sum(three))


def radius(offset):
    return sum(part for part in offset if part > 0)


def test_the_sum_of_positive_parts_counts_the_rows_behind_an_offset():
    found = rows_behind(6)
    for offset in offsets(3):
        assert radius(offset) == found[offset]


def test_as_many_offsets_as_the_sampler_counts():
    found = Counter(radius(offset) for offset in offsets(8))
    assert found[0] == 1
    for size in range(1, 9):
        assert found[size] == 10 * size**2 + 2


@pytest.mark.parametrize("source", [seeded(3), SystemNoise()])
@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(7, 5), Fraction(4)])
def test_offsets_have_their_distribution(source, epsilon):
    """Every offset of up to three rows on its own, the others together."""
    size = 1_500 if source.seeded is False else 4_000
    draws = Counter(tuple(balanced_offset(epsilon, source)) for _ in range(size))
    assert all(sum(offset) == 0 for offset in draws)
    ratio = math.exp(-epsilon)
    total = 1 + sum((10 * r**2 + 2) * ratio**r for r in range(1, 2000))
    cells = [z for z in offsets(3) if radius(z) <= 3]
    expected = np.array([size * ratio ** radius(z) / total for z in cells])
    observed = np.array([draws[z] for z in cells])
    common = expected >= 5  # rare ones together, for the chi-square approximation
    parts = [np.append(x[common], [x[~common].sum(), size - x.sum()]) for x in (observed, expected)]
    kept = parts[1] >= 5
    observed, expected = (np.append(part[kept], part[~kept].sum()) for part in parts)
    if expected[-1] < 5:
        observed, expected = observed[:-1], expected[:-1] * observed[:-1].sum() / size
        expected *= observed.sum() / expected.sum()
    assert stats.chisquare(observed, expected).pvalue > RARE


def test_a_replaced_row_costs_epsilon_on_every_small_matrix():
    """All matrices of up to three rows, all neighbours, all that may be released: exact ratios.

    The probability of an output is ``q^r`` but for a constant that is the same for all matrices,
    so the loss is a difference of radii, in units of epsilon. It is 1, and no more.
    """
    worst = 0
    for n_rows in range(1, 4):
        matrices = [
            cells
            for cells in itertools.product(range(n_rows + 1), repeat=4)
            if sum(cells) == n_rows
        ]
        outputs = [tuple(a + b for a, b in zip(matrices[0], z, strict=True)) for z in offsets(4)]
        for cells, other in itertools.permutations(matrices, 2):
            gap = [a - b for a, b in zip(cells, other, strict=True)]
            if radius(gap) != 1:
                continue
            for output in outputs:
                loss = radius([a - b for a, b in zip(output, other, strict=True)])
                loss -= radius([a - b for a, b in zip(output, cells, strict=True)])
                worst = max(worst, abs(loss))
    assert worst == 1


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_one_count_has_the_distribution_that_its_limits_use(epsilon):
    """Summed over the other three counts, far out."""
    ratio, far = math.exp(-epsilon), round(44 / epsilon)
    entries = np.arange(-far, far + 1)
    one, other = np.meshgrid(entries, entries)
    weights = []
    for here in range(far // 2):
        last = -here - one - other
        positive = here + np.maximum(one, 0) + np.maximum(other, 0) + np.maximum(last, 0)
        weights.append(float(np.sum(ratio**positive)))
    total = 1 + sum((10 * r**2 + 2) * ratio**r for r in range(1, 20 * far))
    probability = np.array(weights) / total
    marginal = Marginal(epsilon)
    for steps in (1, 2, 5, far // 5):
        inside = probability[0] + 2 * probability[1:steps].sum()
        assert marginal.beyond(steps) == pytest.approx(1 - inside, abs=1e-9)
    for error in (0.3, 0.05, 0.001):
        reach = marginal.reach(error)
        assert marginal.beyond(reach + 1) <= error
        assert reach == 0 or marginal.beyond(reach) > error
    places = np.arange(probability.size)
    variance = 2 * np.sum(probability * places**2)
    assert marginal.deviation == pytest.approx(math.sqrt(variance), rel=1e-3)


def test_the_error_is_that_of_the_theory():
    """For a small epsilon 2.05 over it; independent noise made to add up has 2.45."""
    assert 1e-4 * Marginal(1e-4).deviation == pytest.approx(math.sqrt(4.2), rel=1e-6)


def test_weighted_sums_have_the_deviation_of_noise_that_adds_up():
    noise = seeded(5)
    draws = np.array([balanced_offset(Fraction(1, 2), noise) for _ in range(10_000)])
    noisy = BalancedNoisy(value=0.0, scale=4.0, grid=1.0)
    for weights in ([1, 0, 0, 0], [1, -1, 0, 0], [2.0, 0.5, -1.0, 0.0]):
        assert noisy.spread(weights) == pytest.approx(np.std(draws @ weights), rel=0.05)
    assert noisy.spread([1, 1, 1, 1]) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("epsilon", [1e-299, 1e-25, 1e-3, 1.0, 50.0, 1e6])
def test_any_epsilon_has_noise_and_limits(epsilon):
    counts = np.array([5, 0, 2**40, 3])
    noisy = add_balanced(counts, epsilon=epsilon, noise=SystemNoise())
    assert all(math.isfinite(count.value) and math.isfinite(count.deviation) for count in noisy)
    low, high = noisy[0].bounds(0.01)
    assert low <= noisy[0].value <= high


def test_an_epsilon_without_noise_is_refused_before_anything_is_spent():
    budget = privacy.Budget(epsilon=1.0)
    with pytest.raises(InputError, match="so small"):
        privacy.confusion([1, 0], [1, 0], threshold=0.5, epsilon=1e-302, budget=budget)
    assert budget.spent.epsilon == 0.0


@pytest.mark.filterwarnings("ignore::precall.privacy.SeededReleaseWarning")
def test_matrices_hold_the_counts_as_often_as_they_say_and_closer_than_independent_noise():
    """The interval for the noise, over 400 releases of both mechanisms."""
    generator = np.random.default_rng(6)
    y = np.arange(400) % 4 == 0
    score = generator.normal(size=400) + 2 * y
    exact = pr.confusion(pr.rank(y, score >= 1.0), 1).precision
    budget, widths = privacy.Budget(epsilon=1e9), {}
    options = {"threshold": 1.0, "epsilon": 0.5, "budget": budget, "rng": generator}
    for mechanism in privacy.CONFUSION_MECHANISMS:
        hits, sizes = 0, []
        for _ in range(400):
            matrix = privacy.confusion(y, score, mechanism=mechanism, **options)
            assert matrix.mechanism == mechanism
            low, high = matrix.measure("precision").interval(confidence_level=0.9)
            hits += low <= exact <= high
            sizes.append(high - low)
        assert stats.binom.cdf(hits, 400, 0.9) > 1e-4
        widths[mechanism] = np.mean(sizes)
    assert widths["k_norm"] < 0.8 * widths["laplace"]


def test_all_orders_come_up():
    noise = seeded(7)
    found = Counter(tuple(balanced._shuffled([1, 2, 3, 4], noise)) for _ in range(2400))
    assert len(found) == 24
    assert stats.chisquare(list(found.values())).pvalue > 1e-6

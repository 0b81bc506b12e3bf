"""Size and power of the paired tests."""

import numpy as np
import pytest
from scipy.stats import binom

import precall as pr
from precall.simulate import REGULAR, UNSEEN, Binormal

N_POS, N_NEG = 50, 450
TRIALS = 4000


def p_value(rng, shift=0.0, seed=None, **options):
    """Two binormal models that share half of their noise."""
    y = np.arange(N_POS + N_NEG) < N_POS
    noise = rng.normal(size=(3, y.size))
    scores = {
        "a": (noise[0] + noise[1]) / np.sqrt(2) + 1.5 * y,
        "b": (noise[0] + noise[2]) / np.sqrt(2) + (1.5 + shift) * y,
    }
    return pr.compare(y, scores, rng=seed, sampling="classes", **options).p_values["a", "b"]


@pytest.mark.slow
def test_size_of_the_influence_test():
    rng = np.random.default_rng(1)
    rejected = np.mean([p_value(rng) < 0.05 for _ in range(TRIALS)])
    # The models' own limits make it a little careful.
    assert 0.03 <= rejected <= 0.055


@pytest.mark.slow
def test_size_when_the_curves_cross():
    """Equal areas, different shapes: the null hypothesis of the influence test, no more."""
    target = Binormal(1.0, 2.0).aucpr(0.1)
    low, high = 0.5, 3.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if Binormal(middle).aucpr(0.1) < target else (low, middle)
    rng = np.random.default_rng(2)
    y = np.arange(N_POS + N_NEG) < N_POS
    rejected = 0
    trials = 1000
    for _ in range(trials):
        noise = rng.normal(size=(2, y.size))
        wide = 0.6 * noise[0] + 0.8 * noise[1]
        scores = {"a": noise[0] + low * y, "b": np.where(y, 2 * wide + 1, wide)}
        rejected += pr.compare(y, scores, sampling="classes").p_values["a", "b"] < 0.05
    # Not proved outside [.025, .055], at an error rate of 1e-3 to each side.
    assert binom.ppf(1e-3, trials, 0.025) <= rejected <= binom.ppf(1 - 1e-3, trials, 0.055)


@pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")
@pytest.mark.parametrize(
    ("first", "second", "prevalence", "n_pos"),
    [("offset_uniform", "student_t3", 0.5, 20), ("narrow_top", "cauchy", 0.01, 20)],
)
def test_a_difference_is_held_where_standard_errors_are_not_enough(
    first, second, prevalence, n_pos
):
    """Near the end of the range, and where a few positives on top decide."""
    models = {**REGULAR, **UNSEEN}
    truth = models[first].aucpr(prevalence) - models[second].aucpr(prevalence)
    n_neg = round(n_pos * (1 - prevalence) / prevalence)
    rng, trials, held, plain = np.random.default_rng(4), 300, 0, 0
    y = np.arange(n_pos + n_neg) < n_pos

    def drawn(name):
        label, score = models[name].sample(n_pos, n_neg, rng)
        return np.concatenate([score[label == 1], score[label == 0]])

    for _ in range(trials):
        scores = {"a": drawn(first), "b": drawn(second)}
        both = [
            pr.compare(y, scores, distribution=kind).intervals["a", "b"] for kind in ("t", "normal")
        ]
        held, plain = (
            count + (each.low <= truth <= each.high)
            for count, each in zip((held, plain), both, strict=True)
        )
    assert held >= binom.ppf(1e-4, trials, 0.94)
    assert plain < held - 0.03 * trials


def test_power_and_the_other_methods():
    """A real difference is found; bootstrap and permutation hold their size roughly."""
    rng = np.random.default_rng(3)
    found = np.mean([p_value(rng, shift=0.6) < 0.05 for _ in range(100)])
    assert found > 0.7
    for method in ("bootstrap", "permutation"):
        trials = 120
        rejected = sum(
            p_value(rng, method=method, n_resamples=199, seed=seed) < 0.05 for seed in range(trials)
        )
        assert rejected <= binom.ppf(1 - 1e-4, trials, 0.07)


def test_simultaneous_intervals_hold_for_all_pairs_together():
    """Five models that are alike: ten differences, all 0."""
    rng = np.random.default_rng(5)
    y = np.arange(400) < 100
    trials, one_by_one, together = 300, 0, 0
    for _ in range(trials):
        common = rng.normal(size=y.size)
        scores = {
            str(model): 1.5 * y + 0.6 * common + 0.8 * rng.normal(size=y.size) for model in range(5)
        }
        found = pr.compare(y, scores, sampling="classes")
        one_by_one += all(0.0 in interval for interval in found.intervals.values())
        together += all(0.0 in interval for interval in found.simultaneous.values())
    assert one_by_one < 0.9 * trials
    assert together >= binom.ppf(1e-4, trials, 0.94)

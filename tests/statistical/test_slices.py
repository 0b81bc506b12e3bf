"""Limits of all slices hold at once, and no slice is called worse by chance alone.

Each claim is a hypothesis; it is rejected when the count observed would be seen with probability
under one in 1,000 if the claim held.
"""

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

import precall as pr

DATA_SETS = 150
SHIFT, PREVALENCE = 1.5, 0.1


def true_area():
    """Mean precision over the positives, with normal scores a shift apart."""
    t = np.linspace(-8, 10, 20_001)
    found, wrong = PREVALENCE * ndtr(SHIFT - t), (1 - PREVALENCE) * ndtr(-t)
    density = np.exp(-0.5 * (t - SHIFT) ** 2) / np.sqrt(2 * np.pi)
    return np.trapezoid(density * found / (found + wrong), t)


@pytest.fixture(scope="module")
def simulated():
    """Two columns and their crossings, equally good, of unequal prevalence: 11 slices."""
    rng = np.random.default_rng(23)
    truth = true_area()
    held = claimed = 0
    for _ in range(DATA_SETS):
        a, b = rng.integers(0, 3, 1200), rng.integers(0, 2, 1200)
        y = rng.random(1200) < np.array([0.05, 0.1, 0.3])[a]
        score = rng.normal(size=1200) + SHIFT * y
        found = pr.slices(
            pr.Rows(y, score, columns={"a": a, "b": b}),
            ["a", "b"],
            "aucpr",
            prevalence=PREVALENCE,
        )
        held += all(one.interval.low <= truth <= one.interval.high for one in found)
        claimed += bool(found.below or found.above)
    return held, claimed


def test_the_limits_of_all_slices_hold_at_once(simulated):
    held, _ = simulated
    assert stats.binomtest(held, DATA_SETS, 0.95, alternative="less").pvalue > 1e-3


def test_equally_good_slices_are_rarely_called_worse_or_better(simulated):
    _, claimed = simulated
    assert stats.binomtest(claimed, DATA_SETS, 0.05, alternative="greater").pvalue > 1e-3

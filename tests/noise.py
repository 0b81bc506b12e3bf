"""What the tests of random noise share."""

import numpy as np
from scipy import stats

from precall.privacy.mechanisms import SeededNoise

# System noise cannot be seeded, so its tests fail once in a billion runs when nothing is wrong.
RARE = 1e-9


def seeded(seed=0):
    return SeededNoise(np.random.default_rng(seed))


def fit(draws, support, probability):
    """p-value of a chi-square test, everything outside the support in one cell."""
    observed = np.array([np.count_nonzero(draws == value) for value in support])
    observed = np.append(observed, draws.size - observed.sum())
    expected = draws.size * np.append(probability, 1 - probability.sum())
    return stats.chisquare(observed, expected).pvalue

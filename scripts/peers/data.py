"""The data sets that all tools are asked about: seeded, with ties, weights and edge cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

N_RANDOM = 300


@dataclass(frozen=True)
class DataSet:
    """Labels, scores whose ties single precision keeps, and weights for those who take them."""

    name: str
    y: Any
    s: Any
    w: Any


# How scores are made coarse, so that ties get larger along the list; exact in single precision.
_GRIDS = (2.0**18, 64.0, 8.0, 2.0, 1.0)

# Edge cases: what decides about each tool's convention.
_CASES = {
    "perfect": ([1, 1, 0, 0], [4, 3, 2, 1]),
    "worst": ([0, 0, 1, 1], [4, 3, 2, 1]),
    "all tied": ([1, 0, 0, 1, 0], [2, 2, 2, 2, 2]),
    "same scores in both classes": ([1, 0, 1, 0], [2, 2, 1, 1]),
    "tie at the top": ([1, 0, 0, 1], [3, 3, 2, 1]),
    "tie in the middle": ([1, 0, 1, 0], [3, 2, 2, 1]),
    "negatives first": ([0, 0, 1, 1], [4, 3, 2, 1]),
    "negative before a tie": ([0, 1, 0], [3, 2, 2]),
    "negatives tied below": ([1, 0, 0, 0], [2, 1, 1, 1]),
    "one positive": ([0, 1, 0, 0, 0], [5, 4, 3, 2, 1]),
    "one negative": ([1, 1, 0, 1], [4, 3, 2, 1]),
    "two long ties": ([1] * 9 + [0] * 6, [5] * 4 + [2] * 5 + [5, 5, 3, 2, 2, 1]),
    "three long ties": (
        [1] * 15 + [0] * 9,
        [6] * 5 + [4] * 4 + [2] * 6 + [6, 6, 5, 4, 4, 4, 2, 1, 1],
    ),
    "infinite": ([1, 0, 1, 0], [np.inf, 2, 1, 0]),
    "infinite below": ([1, 0, 1, 0], [3, 2, 1, -np.inf]),
    "infinite twice": ([1, 0, 1, 0, 0], [np.inf, np.inf, 1, 2, 0]),
    "probabilities at the ends": ([1, 0, 1, 0, 1], [1, 1, 0.5, 0, 0]),
    "probabilities": ([1, 0, 1, 1, 0, 0, 1, 0], [0.9, 0.8, 0.75, 0.6, 0.5, 0.4, 0.3, 0.1]),
    "recall in thousandths": ([1] * 3 + [0] * 7, [9, 5, 5, 8, 7, 5, 5, 4, 3, 2]),
    "fifty tied among fifty": ([1] * 50 + [0] * 50, [1] * 100),
}


def data_sets() -> list[DataSet]:
    """Return the random sets and the edge cases, the same each time."""
    found = []
    for seed in range(N_RANDOM):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 250))
        prevalence = (0.5, 0.2, 0.05)[seed % 3]
        y = (rng.random(n) < prevalence).astype(np.int64)
        y[:2] = [1, 0]
        s = rng.normal(size=n) + rng.choice([-0.5, 0.5, 1.0, 2.0]) * y
        if seed % 2:  # probabilities, which some tools insist on
            s = 1.0 / (1.0 + np.exp(-s))
            s = np.round(s * min(_GRIDS[seed % 5] * 4.0, 2.0**18)) / min(
                _GRIDS[seed % 5] * 4.0, 2.0**18
            )
        else:
            s = np.round(s * _GRIDS[seed % 5]) / _GRIDS[seed % 5]
        # Halves and quarters: exact in any order of summing.
        w = rng.integers(1, 9, n) / 4.0
        found.append(DataSet(f"random {seed}", y, s + 0.0, w))
    for name, (y, s) in _CASES.items():
        labels = np.array(y)
        weights = np.where(np.arange(labels.size) % 2, 0.5, 2.0)
        found.append(DataSet(name, labels, np.array(s, dtype=np.float64), weights))
    return found

"""Random data with the shapes that break things: ties, weights, few rows, extreme scores."""

from __future__ import annotations

import numpy as np


def random_data(rng, max_rows=30, weights="none", both_classes=True):
    """Labels, scores and weights ("none", "real", "whole" or "some_zero")."""
    while True:
        size = int(rng.integers(1, max_rows + 1))
        y = (rng.random(size) < rng.uniform(0.1, 0.9)).astype(int)
        if not both_classes or 0 < y.sum() < size:
            break
    levels = int(rng.integers(1, 12))
    kind = rng.integers(3)
    s = rng.integers(0, levels, size).astype(float) if kind == 0 else rng.normal(size=size) + y
    if kind == 2:
        s = np.round(s, 1)
    w = {
        "none": lambda: None,
        "real": lambda: rng.integers(1, 40, size) / 8,
        "whole": lambda: rng.integers(1, 5, size).astype(float),
        "some_zero": lambda: rng.integers(0, 4, size) / 2,
    }[weights]()
    if w is not None and both_classes and not ((w[y == 1].sum() > 0) and (w[y == 0].sum() > 0)):
        return random_data(rng, max_rows, weights, both_classes)
    return y, s, w


def tasks(rng, prevalences, size=400, shift=0.0, signal=1.5):
    """Tasks of given prevalences; the scores of task g are shifted by g times `shift`."""
    group = np.repeat(np.arange(len(prevalences)), size)
    y = rng.random(group.size) < np.asarray(prevalences)[group]
    return y, rng.normal(size=group.size) + signal * y + shift * group, group

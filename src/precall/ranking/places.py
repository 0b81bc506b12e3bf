"""Where scores lie among the thresholds of a ranking."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]


def locate(threshold: Array, scores: Array) -> IntArray:
    """Return the place of every score among descending thresholds.

    ``2 k`` is above threshold k and under the one before, ``2 k + 1`` at it; ``2 K`` is below all.
    """
    ascending = threshold[::-1]
    after = np.searchsorted(ascending, scores, side="right")
    at = ascending[np.maximum(after - 1, 0)] == scores
    return np.asarray(2 * (threshold.size - after) + (at & (after > 0)), dtype=np.int64)

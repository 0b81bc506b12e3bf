"""The moments of raw scores, computed when they are first asked for where the data are few.

One estimator needs them; on few rows they would take a fifth of the time of ranking.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from . import counting
from .number_layout import Moments

Array = npt.NDArray[Any]

# Where a ranking keeps the sorted scores of its classes until then.
CLASSES = "_classes"
# From here on the scores would take more memory than the counts are worth.
FEW_ROWS = 8192


class MomentsWhenAsked:
    """The moments of a ranking: its own, or those of the classes that it keeps for them."""

    def __get__(self, ranking: Any, owner: type | None = None) -> Moments | None:
        """Return them, and forget the scores; the default of the field is None."""
        if ranking is None:
            return None
        held = vars(ranking)
        if (classes := held.get(CLASSES)) is not None:
            parts = [counting.mean_and_deviation(part) for part in classes]
            held["moments"] = combined(parts, [part.size for part in classes[1:]])
            held.pop(CLASSES, None)
        found: Moments | None = held.get("moments")
        return found


def combined(parts: list[tuple[float, float]], sizes: list[Any]) -> Moments | None:
    """Return the moments of the positives and of all shards of the negatives; None with none."""
    negatives, weight = (np.nan, np.nan), 0.0
    for size, part in zip(sizes, parts[1:], strict=True):
        if size:
            negatives = counting.combine_moments(weight, negatives, size, part)
            weight += size
    moments = Moments(parts[0], negatives)
    return None if any(math.isnan(mean) for mean, _ in moments) else moments

"""Whether a scorer ranks positives above negatives, and a warning where it does the opposite."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np

from .exceptions import DirectionWarning

if TYPE_CHECKING:
    from .ranking import Ranking

# One-sided 5 % point of the normal distribution: beyond it a scorer is called worse than random.
_WORSE_THAN_RANDOM = -1.6448536269514722


def warn_if_worse_than_random(ranking: Ranking) -> None:
    """Warn if positives rank below negatives more often than chance explains."""
    if not (ranking.n_pos and ranking.n_neg):
        return
    ours, theirs = ranking.effective_sizes
    # Standard deviation of the Mann-Whitney statistic under chance, ties aside (they shrink it).
    chance = math.sqrt((ours + theirs + 1) / (12 * ours * theirs))
    share = concordance(ranking)
    if share - 0.5 < _WORSE_THAN_RANDOM * chance:
        warnings.warn(
            f"the scores rank positives below negatives more often than chance explains "
            f"(AUROC {share:.3f}); nothing was flipped: if low scores mean positive pass -y_score.",
            DirectionWarning,
            stacklevel=3,
        )


def concordance(ranking: Ranking) -> float:
    """Share of (positive, negative) pairs in the right order, ties counting one half: the AUROC."""
    # As floats: the number of pairs outgrows int64 from six billion rows on.
    misplaced_twice = float(
        np.sum(ranking.positives.astype(np.float64) * (2.0 * ranking.fp - ranking.tied))
    )
    return 1.0 - misplaced_twice / (2.0 * float(ranking.n_pos) * float(ranking.n_neg))

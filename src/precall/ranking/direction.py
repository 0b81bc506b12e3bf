"""Whether a scorer ranks positives above negatives, and a warning where it does the opposite."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._numerics import ratio
from ..exceptions import DirectionWarning

if TYPE_CHECKING:
    from . import Ranking

# One-sided 5 % point of the normal distribution: beyond it a scorer is called worse than random.
_WORSE_THAN_RANDOM = -1.6448536269514722
# Their sums fit 64 bits.
_MOST_PAIRS = 2**62


def warn_if_worse_than_random(ranking: Ranking) -> None:
    """Warn if positives rank below negatives more often than chance explains."""
    n, m = ranking.n_pos, ranking.n_neg
    if not (n and m):
        return
    # Whole numbers of pairs say it at once where half are in order, ties counted against it.
    whole = ranking.fp.dtype.kind == "i" and n * m < _MOST_PAIRS
    if whole and 2 * int(ranking.positives.dot(ranking.fp)) <= n * m:
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
    pairs = 2.0 * float(ranking.n_pos) * float(ranking.n_neg)
    if not pairs:
        return 1.0
    misplaced = twice_misplaced(ranking.positives, ranking.tied, ranking.fp)
    return 1.0 - float(np.add.reduce(misplaced)) / pairs


def share_in_order(
    positives: Any,
    tied: Any,
    fp: Any,
    n: Any,
    m: Any,
    add: Callable[[Any], Any] | None = None,
    *,
    missed: Any = 0,
) -> Any:
    """Share of pairs in the right order, of one ranking or of many.

    `add` sums over the rows of each ranking, along the last axis if it is not given. Of the `n`
    positives `missed` have no score, and are below every negative.
    """
    twice = twice_misplaced(positives, tied, fp)
    misplaced = np.sum(twice, axis=-1) if add is None else add(twice)
    misplaced = misplaced + 2.0 * np.asarray(missed, dtype=np.float64) * m
    # As floats: the number of pairs outgrows int64 from six billion rows on.
    return 1.0 - ratio(misplaced, 2.0 * np.asarray(n, dtype=np.float64) * m)


def twice_misplaced(positives: Any, tied: Any, fp: Any) -> Any:
    """Twice the pairs in the wrong order at each threshold, ties counting one half."""
    return np.asarray(positives, dtype=np.float64) * (2.0 * np.asarray(fp) - tied)

"""One scale for the scores of all folds of a cross-validation.

Rows are ranked together, but every fold was scored by a model of its own. There are three ways to
one scale; none changes the ranking within a fold, or depends on how the scores are spread:

- **As they are.** The models learned from nearly the same rows, so this is mostly right.
- **By negatives.** All scores become normal scores of their ranks, ``Phi^-1((r - 1/2) / N)``. In
  every fold the median of the negatives' scores is subtracted, and all is divided by the median of
  their distances from it. Where a model tells the classes apart, the positives lie far from what
  the scale is found by, and its noise moves them past negatives of other folds.
- **By recall.** A score becomes the recall that it reaches in its own fold, so that the curves of
  the folds are averaged at equal recall. Folds have few positives, so recall is coarse.

On a wrong scale rows of one fold pass those of another, which makes the ranking worse. So of the
last two the one is taken with the higher average precision, if that is higher than that of the
scores as they are. Where nothing else says that scales differ it has to be so by a standard error
of the difference or more: the highest of three is too high by chance where all are right. What says
so is a test of equal scores in all folds, among the rows of the larger class (Kruskal & Wallis
1952).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._rounding import at_least, first_highest, settled, tied
from ..exceptions import InputError
from ..metrics import aucpr
from ..ranking.from_rows import rank_checked
from ..ranking.places import locate
from ..rows import Rows
from .units import contributions, covariance_of

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# How often folds on one scale are taken for folds on several.
_BY_CHANCE = 0.01


class OneScale(NamedTuple):
    """The scores of all folds on one scale, and whether they were on several."""

    scores: Array
    several: bool


def on_one_scale(rows: Rows, model: str, fold: IntArray) -> OneScale:
    """Bring the scores of all folds to one scale."""
    scores = rows.scores[model]
    several = scores_differ(scores, rows.positive, fold)
    scales = [scores, by_negatives(scores, rows.positive, fold)]
    if all(rows.positive[inside].any() for inside in _folds(fold)):
        scales.append(by_recall(scores, rows.positive, fold, rows.weight))
    metric = aucpr()
    rankings = [rank_checked(rows.positive, scale, rows.weight) for scale in scales]
    areas = [float(metric.value(ranking.cells)) for ranking in rankings]
    best = 1 + first_highest(areas[1:])
    gain = float(settled(areas[best] - areas[0], 1.0))
    if gain <= 0.0:
        return OneScale(scores, several)
    if several:
        return OneScale(scales[best], several)
    moved = [
        contributions(rows, locate(ranking.threshold, scale), metric.gradient(ranking.cells), 0.0)
        for ranking, scale in ((rankings[0], scores), (rankings[best], scales[best]))
    ]
    difference = (moved[0] - moved[1])[:, np.newaxis]
    error = math.sqrt(covariance_of(rows, difference, rows.effective_sizes)[0, 0])
    better = bool(at_least(gain, error))
    return OneScale(scales[best] if better else scores, better)


def scores_differ(scores: Array, positive: Mask, fold: IntArray) -> bool:
    """Whether the larger class scores differently in different folds, more than chance explains.

    The statistic of Kruskal and Wallis, corrected for ties, beyond what chance reaches once in a
    hundred times.
    """
    from scipy.special import chdtri

    class_ = positive if 2 * np.count_nonzero(positive) > positive.size else ~positive
    part, group = scores[class_], fold[class_]
    _, place, counts = np.unique(part, return_inverse=True, return_counts=True)
    size, groups = part.size, int(fold.max()) + 1
    ties = np.sum(counts.astype(np.float64) ** 3 - counts)
    if size < 2 or ties == float(size) ** 3 - size:
        return False
    rank = (np.cumsum(counts) - 0.5 * (counts - 1.0))[place]
    held = np.bincount(group, minlength=groups)
    away = np.bincount(group, rank - 0.5 * (size + 1.0), groups)
    between = np.sum(away**2 / np.maximum(held, 1)) * 12.0 / (size * (size + 1.0))
    statistic = between / (1.0 - ties / (float(size) ** 3 - size))
    return bool(at_least(statistic, chdtri(groups - 1.0, _BY_CHANCE)))


def by_negatives(scores: Array, positive: Mask, fold: IntArray) -> FloatArray:
    """Bring the scores of all folds to the place and the spread of their negatives."""
    from scipy.special import ndtri

    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - 0.5 * (counts - 1.0)
    normal = ndtri((rank - 0.5) / scores.size)[place]
    result = np.empty(scores.size)
    for k, inside in enumerate(_folds(fold)):
        negatives = normal[inside & ~positive]
        if negatives.size < 2:
            raise InputError(
                f"fold {k} has {negatives.size} negatives, and two are needed to find its scale: "
                "use larger folds, or method='pooled'."
            )
        middle = np.median(negatives)
        away = np.abs(negatives - middle)
        # More than half of the negatives tied: their mean distance; all tied: no scale at all.
        spread = np.median(away) or np.mean(away) or 1.0
        result[inside] = (normal[inside] - middle) / spread
    return tied(result, 1.0)


def by_recall(
    scores: Array, positive: Mask, fold: IntArray, weights: FloatArray | None = None
) -> FloatArray:
    """Bring each score to the recall that it reaches in its fold, the highest first.

    A score that no positive has lies half-way between the recalls above and below it.
    """
    result = np.empty(scores.size)
    for inside in _folds(fold):
        ours = inside & positive
        order = np.argsort(scores[ours], kind="stable")
        rising = scores[ours][order]
        own = np.ones(rising.size) if weights is None else weights[ours][order]
        above = np.cumsum(np.append(0.0, own[::-1]))[::-1]  # of the positives from each on
        reached = above / above[0]
        under = np.searchsorted(rising, scores[inside], side="left")
        next_under = np.searchsorted(rising, rising[np.maximum(under - 1, 0)], side="left")
        further = np.where(under > 0, reached[next_under], 2.0)
        between = under == np.searchsorted(rising, scores[inside], side="right")
        recall = reached[under]
        result[inside] = -np.where(between, 0.5 * (recall + further), recall)
    return tied(result, 1.0)


def _folds(fold: IntArray) -> Iterator[Mask]:
    """The rows of each fold."""
    return (fold == k for k in range(int(fold.max()) + 1))

"""The sample that is to be expected: any number of rows whose scores are like those of a pilot.

A shape holds the share of each class in every cell of a ranking. Times the numbers of positives and
negatives, cumulated and rounded to whole rows, that is a sample of that size in which every row
stands where it is to be expected; an interval asked of it has the width that is to be expected.
(Whole rows matter: a tenth of a negative above everything would count as one that was seen there.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import InputError
from ..ranking import Cells, Ranking, as_ranked

FloatArray = npt.NDArray[np.float64]

# Thresholds of a score model at most: with more the widths are the same to three digits.
_MOST_CELLS = 2000
#: Two normal distributions further apart than this have no value in common.
FURTHEST = 60.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Shape:
    """Shares of each class in the cells of a ranking, and what is known of where they come from.

    Attributes
    ----------
    threshold : array
    shares : Cells
        Those of the positives and those of the negatives each add up to 1.
    words : str
        Where the shape comes from, for a sentence.
    """

    threshold: FloatArray
    shares: Cells
    words: str

    def ranking(self, positives: float, negatives: float) -> Ranking:
        """Return the sample of so many rows that is to be expected."""
        cells = self.shares.scaled(round(positives), round(negatives))
        places = np.append(np.stack([cells.above, cells.tied], axis=-1).ravel(), cells.below)
        rows, theirs = _whole(cells.positives), _whole(places)
        return Ranking(
            threshold=self.threshold,
            positives=rows,
            above=theirs[:-1:2],
            tied=theirs[1:-1:2],
            below=theirs[-1],
            missed=round(cells.missed),
        )


def _whole(counts: FloatArray) -> npt.NDArray[np.int64]:
    """Round counts so that no sum from the first on is off by more than a half."""
    return np.diff(np.rint(np.cumsum(counts)), prepend=0.0).astype(np.int64)


def of_pilot(pilot: Any, model: str | None, thresholds: tuple[float, ...]) -> tuple[Shape, Ranking]:
    """Return the shape of a pilot, and the pilot ranked."""
    ranking = as_ranked(pilot, model, thresholds, missed=True).ranking
    if not (ranking.n_pos and ranking.n_neg):
        missing = "negatives" if ranking.n_pos else "positives"
        raise InputError(
            f"pilot has no {missing}: nothing can be learned from one class; check the labels and "
            "pos_label."
        )
    shares = ranking.cells.scaled(1.0 / ranking.all_positives, 1.0 / ranking.n_neg)
    rows = int(np.sum((ranking.rows or ranking.cells).positives))
    words = f"new rows score like those of the pilot, which had {rows} positives"
    return Shape(threshold=ranking.threshold, shares=shares, words=words), ranking


def binormal(distance: float, cells: float, words: str) -> Shape:
    """Return the shape of normal scores of equal spread, the positives' mean `distance` higher."""
    from scipy.special import ndtr, ndtri

    count = int(np.clip(math.ceil(cells), 1, _MOST_CELLS))
    threshold = distance - ndtri((np.arange(count) + 0.5) / count)
    above = np.diff(ndtr(-threshold), prepend=0.0)
    shares = Cells(np.full(count, 1.0 / count), np.zeros(count), above, float(ndtr(threshold[-1])))
    return Shape(threshold=threshold, shares=shares, words=words)


def distance_of_auroc(auroc: float) -> float:
    """Return the distance at which normal scores of equal spread have this AUROC."""
    from scipy.special import ndtri

    return float(math.sqrt(2.0) * ndtri(auroc))


def distance_of_aucpr(aucpr: float, prevalence: float) -> float:
    """Return the distance at which they have this area under the precision-recall curve."""
    lowest = -FURTHEST
    if not area(lowest, prevalence) < aucpr < area(FURTHEST, prevalence):
        raise InputError(
            f"aucpr={aucpr:g} cannot be had at prevalence {prevalence:g}: no ranking has less "
            f"than {area(lowest, prevalence):.3g} or more than 1 there."
        )
    return bisected(lambda d: area(d, prevalence) >= aucpr, lowest, FURTHEST)


def area(distance: float, prevalence: float) -> float:
    """Return the area under the precision-recall curve of normal scores of equal spread.

    Integrated over ``z = Phi^-1(recall)``: precision is ``1 / (1 + odds FPR / recall)``.
    """
    from scipy.special import log_ndtr

    edges = np.unique(
        np.concatenate([np.linspace(-10, 10, 41), np.linspace(-10, 10, 41) + distance])
    )
    edges = edges[(edges >= -10.0) & (edges <= 10.0)]
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = np.diff(edges)[:, np.newaxis] / 2.0
    z = edges[:-1, np.newaxis] + half * (nodes + 1.0)
    odds = (1.0 - prevalence) / prevalence
    with np.errstate(over="ignore"):
        precision = 1.0 / (1.0 + odds * np.exp(log_ndtr(z - distance) - log_ndtr(z)))
    density = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return float(np.sum(half * weights * density * precision))


def bisected(reached: Callable[[float], bool], low: float, high: float, steps: int = 60) -> float:
    """Return the smallest value at which a condition is met, up to halving the range so often."""
    for _ in range(steps):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high

"""What the statistics of a data set would be with one more row, for every place of that row.

For the adversary of :mod:`precall.privacy.attack`. Places are whole numbers: the distinct known
scores are 2, 4, 6, ..., and the odd numbers lie between them and beyond.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .sensitivity import auroc_weight, lost_precision_bound

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Known:
    """The rows that an adversary knows, by their places.

    Attributes
    ----------
    levels : array
        Distinct scores, increasing.
    ours, theirs : array of int
        Places of the positives and of the negatives, increasing.
    """

    levels: Array
    ours: IntArray
    theirs: IntArray

    @classmethod
    def of(cls, positive: Array, scores: Array) -> Known:
        """Find the places of known rows."""
        levels, index = np.unique(scores, return_inverse=True)
        places = 2 * index.astype(np.int64) + 2
        return cls(levels, np.sort(places[positive]), np.sort(places[~positive]))

    @property
    def everywhere(self) -> IntArray:
        """All places: tied with a known score, between two, or beyond."""
        return np.arange(1, 2 * self.levels.size + 2)

    @property
    def n_rows(self) -> int:
        """Number of rows with the missing one."""
        return self.ours.size + self.theirs.size + 1

    def auroc(self, places: IntArray, positive: bool) -> FloatArray:
        """AUROC with one more row of this class, at each place."""
        wins = int(np.sum(_twice_below(self.theirs, self.ours)))
        if positive:
            twice, pairs = _twice_below(self.theirs, places), (self.ours.size + 1, self.theirs.size)
        else:
            twice = 2 * self.ours.size - _twice_below(self.ours, places)
            pairs = (self.ours.size, self.theirs.size + 1)
        return np.asarray((wins + twice) / (2 * pairs[0] * pairs[1]))

    def lost_precision(self, places: IntArray, positive: bool) -> FloatArray:
        """``n (1 - AP)`` with one more row of this class, at each place.

        The new row counts for every positive at or below it, and for none above.
        """
        falling = self.ours[::-1]
        a, f = _at_least(self.ours, falling), _at_least(self.theirs, falling)
        before = f / (a + f)
        after = f / (a + 1 + f) if positive else (f + 1) / (a + f + 1)
        above = self.ours.size - np.searchsorted(self.ours, places, side="right")
        untouched, touched = _sums(before), _sums(after)
        lost = untouched[above] + touched[-1] - touched[above]
        if positive:
            found, alarms = _at_least(self.ours, places), _at_least(self.theirs, places)
            lost = lost + alarms / (found + 1 + alarms)
        return np.asarray(lost)

    def average_precision(self, places: IntArray, positive: bool) -> FloatArray:
        """Average precision with one more row of this class, at each place."""
        return 1.0 - self.lost_precision(places, positive) / (self.ours.size + positive)

    def cells(self, places: IntArray, positive: bool, threshold: float) -> list[IntArray]:
        """Confusion matrix with one more row, at places of known scores: tp, fp, fn, tn."""
        first = 2 * int(np.searchsorted(self.levels, threshold)) + 2
        called = places >= first
        tp, fp = (int(np.count_nonzero(known >= first)) for known in (self.ours, self.theirs))
        hits = [called & positive, called & (not positive), ~called & positive]
        counts = [tp, fp, self.ours.size - tp, self.theirs.size - fp]
        return [
            count + hit.astype(np.int64)
            for count, hit in zip(counts, [*hits, ~called & (not positive)], strict=True)
        ]


Statistics = Callable[[Known, IntArray, bool, float], list[Array]]


def _auroc(known: Known, places: IntArray, positive: bool, threshold: float) -> list[Array]:
    n_pos = np.full(places.size, known.ours.size + positive)
    weight = float(auroc_weight(int(n_pos[0]), known.n_rows))
    return [weight * (known.auroc(places, positive) - 0.5), n_pos]


def _average_precision(
    known: Known, places: IntArray, positive: bool, threshold: float
) -> list[Array]:
    n_pos = np.full(places.size, known.ours.size + positive)
    bound = float(lost_precision_bound(int(n_pos[0])))
    return [known.lost_precision(places, positive) / bound, n_pos]


#: What each release adds noise to, in the order of its ``noisy``.
STATISTICS: dict[str, Statistics] = {
    "auroc": _auroc,
    "average_precision": _average_precision,
    "confusion": Known.cells,
}


def _twice_below(ordered: IntArray, places: IntArray) -> IntArray:
    """Twice the number of rows below each place; a tie counts half."""
    left, right = (np.searchsorted(ordered, places, side=side) for side in ("left", "right"))
    return np.asarray(left + right)


def _at_least(ordered: IntArray, places: IntArray) -> IntArray:
    return np.asarray(ordered.size - np.searchsorted(ordered, places))


def _sums(values: FloatArray) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(values)])

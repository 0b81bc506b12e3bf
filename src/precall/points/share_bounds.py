"""Shares of rows at every threshold, counted or weighted, and what is sure of them.

The same questions have two answers. Rows that count alike have exact ones (:mod:`.certificates`).
Where weights differ within a class they are approximate: a row that was not seen may stand for many
(:mod:`..inference.weighted_shares`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._interval import Interval
from .._rounding import at_least
from ..inference.limits import greatest_share, least_share, share_limits
from ..inference.weighted_shares import WeightedShare
from ..metrics.four_counts import SHARES, CountShare
from .certificates import fixed_ranks, smallest_rank, uniform_share

FloatArray = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

RECALL = SHARES["recall"]
FALSE_POSITIVE_RATE = SHARES["false_positive_rate"]
PRECISION = SHARES["precision"]
PREVALENCE = SHARES["prevalence"]
#: Shares of all rows, by what is selected or left of each class.
FOUND = CountShare((1, 0, 0, 0), (0, 1, 1, 1))
ALARMS = CountShare((0, 1, 0, 0), (1, 0, 1, 1))
OVERLOOKED = CountShare((0, 0, 1, 0), (1, 1, 0, 1))
REJECTED = CountShare((0, 0, 0, 1), (1, 1, 1, 0))
SELECTED = CountShare((1, 1, 0, 0), (0, 0, 1, 1))


class ShareOfRows(NamedTuple):
    """A share of rows that all count alike: a number of them at each threshold, of so many."""

    part: FloatArray
    total: float

    @property
    def turned(self) -> ShareOfRows:
        """The share of the others."""
        return ShareOfRows(self.total - self.part, self.total)

    def times(self, scale: float) -> ShareOfRows:
        """Return the same of every row so many times."""
        return ShareOfRows(scale * self.part, scale * self.total)

    def everywhere(self, delta: float) -> FloatArray:
        """Return lower bounds that hold at all thresholds at once."""
        return uniform_share(self.part, self.total, delta)

    def anywhere(self, row: int, delta: float) -> float:
        """Return the one of these bounds at a threshold that may follow from the data."""
        return float(uniform_share(self.part[row], self.total, delta))

    def certified(self, required: float, delta: float) -> Mask:
        """Return where the share is at least so much: from a rank that was fixed beforehand."""
        rank = smallest_rank(self.total, required, delta)
        return np.asarray(self.part >= (np.inf if rank is None else rank))

    def lower_where_certified(self, required: float, delta: float, row: int, error: float) -> float:
        """Bound the share at the highest threshold that is certified, and so at all lower ones."""
        rank = smallest_rank(self.total, required, delta)
        return float(least_share(rank, self.total, error))

    def upper(self, row: int, error: float) -> float:
        """Bound the share at a threshold that was fixed in advance."""
        return float(greatest_share(self.part[row], self.total, error))

    def lower(self, row: int, error: float) -> float:
        """Bound the share at a threshold that was fixed in advance from below."""
        return float(least_share(self.part[row], self.total, error))


class ShareOfWeight(NamedTuple):
    """A share of rows that do not all weigh the same."""

    share: WeightedShare

    @property
    def turned(self) -> ShareOfWeight:
        """The share of the others."""
        return ShareOfWeight(self.share.turned)

    def times(self, scale: float) -> ShareOfWeight:
        """Return the same of every row so many times."""
        return ShareOfWeight(self.share.times(scale))

    def everywhere(self, delta: float) -> FloatArray:
        """Return lower bounds that hold at all thresholds at once.

        Each rank of a fixed set has its part of delta; between two of them the share only grows.
        """
        rows, others = (np.asarray(mass.rows, dtype=np.float64) for mass in self.share)
        turned = rows[0] > rows[-1]  # the share shrinks down the thresholds
        rising = rows[::-1] if turned else rows
        ranks = fixed_ranks(float(rows[0] + others[0]))
        reached = np.searchsorted(ranks, rising, side="right")
        first = np.searchsorted(rising, ranks)
        there = first < rising.size
        place = rising.size - 1 - first[there] if turned else first[there]
        bounds = np.zeros(ranks.size + 1)
        bounds[1:][there] = self._at(place).lower(delta / ranks.size)
        found = np.maximum.accumulate(bounds)[reached]
        return found[::-1] if turned else found

    def anywhere(self, row: int, delta: float) -> float:
        """Return the one of these bounds at a threshold that may follow from the data."""
        return float(self.everywhere(delta)[row])

    def certified(self, required: float, delta: float) -> Mask:
        """Return where the share is at least so much: tested from where it is all, to a failure."""
        passed = at_least(delta, self.share.chance_under(required))
        rows = np.asarray(self.share.part.rows)
        if rows[0] > rows[-1]:
            return np.asarray(np.logical_and.accumulate(passed))
        return np.asarray(np.logical_and.accumulate(passed[::-1])[::-1])

    def lower_where_certified(self, required: float, delta: float, row: int, error: float) -> float:
        """Bound the share at a certified threshold."""
        return self.lower(row, error)

    def upper(self, row: int, error: float) -> float:
        """Bound the share at a threshold that was fixed in advance."""
        return float(self._at(row).upper(error))

    def lower(self, row: int, error: float) -> float:
        """Bound the share at a threshold that was fixed in advance from below."""
        return float(self._at(row).lower(error))

    def _at(self, row: Any) -> WeightedShare:
        return WeightedShare(*(type(mass)(*(field[row] for field in mass)) for mass in self.share))


Share = ShareOfRows | ShareOfWeight


def observed_weight(share: WeightedShare, level: float) -> Interval:
    """Return one share of weight with the limits that Clopper and Pearson's become."""
    low, high = share.limits(level)
    return Interval(
        low=float(low),
        high=float(high),
        estimate=float(share.value),
        confidence_level=level,
        method="clopper_pearson",
    )


def observed_share(successes: float, total: float, level: float) -> Interval:
    """Return a share with its Clopper-Pearson limits."""
    low, high = share_limits(successes, total, (1.0 - level) / 2.0)
    return Interval(
        low=float(low),
        high=float(high),
        estimate=float(successes / total),
        confidence_level=level,
        method="clopper_pearson",
    )

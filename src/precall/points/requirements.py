"""What can be asked of a threshold, and at which thresholds of a ranking it can be promised.

A requirement answers with the rows of the ranking (thresholds at scores of positives) at which it
is certified: with probability ``1 - delta`` no certified row falls short, whichever is taken. Rows
that several requirements certify, each at its part of delta, have all of them together.

- **Precision** certifies a run of rows by fixed-sequence testing (:mod:`.certificates`), or, at
  another prevalence, every row whose bound through both classes is high enough.
- **Recall** certifies every row from one whose rank among the positives was fixed beforehand.
- **The number selected** is counted in these rows and costs nothing. **The share selected** of the
  population above the ``k``-th highest score is Beta(k, N-k+1), or less if scores are tied; the
  largest ``k`` with ``P(Beta > share) <= delta`` depends on ``N`` only, and every threshold above
  that score is certified.
- **Net benefit** is a difference of two shares of all rows: positives selected, and negatives
  selected times the odds of the threshold probability. Each share is bounded at all thresholds at
  once, at half of delta.

**Weights that differ within a class.** Precision is tested on effective numbers of rows. Recall,
the share selected and the shares of a net benefit are shares of weight: those sums are independent
gamma numbers, one row that was not seen weighs what the heavy ones on its side do
(:mod:`..inference.weighted_shares`), and thresholds are tested from where the share is largest to
the first failure. The levels are approximate.

**Missed positives.** Give every positive that the scorer never saw a score of its own, below all
others, at which nothing is ever selected. Then the rows, those included, are independent draws from
one distribution, ties included, and everything above holds as it stands: recall is a share of all
positives (its ranks are among ``n + missed``; a rank beyond the scored ones certifies nothing), net
benefit one of all rows. Precision and the share selected are about rows that have a score. Given
how many those are, they are independent draws too, so both are tested on them alone, as if nothing
had been missed. What is certified together has errors that add up, whatever each was conditioned
on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .._interval import Interval
from .._numerics import ratio
from .._rounding import at_least
from .certificates import (
    binomial_tail,
    passing_run,
    sequences,
)
from .independent import IndependentCounts
from .share_bounds import ALARMS, FALSE_POSITIVE_RATE, FOUND, PRECISION, RECALL, SELECTED

FloatArray = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Requirement:
    """One thing that is asked of a threshold; a subclass says where it is certified."""

    required: float

    name: ClassVar[str]
    #: Whether at least, or at most, `required` is asked.
    sign: ClassVar[str] = ">="
    #: Whether it can be wrong, and needs a part of delta.
    uncertain: ClassVar[bool] = True

    def certified(self, counts: IndependentCounts, delta: float) -> Mask:
        """Return which rows are certified."""
        raise NotImplementedError

    def possible(self, counts: IndependentCounts, delta: float, scale: float) -> Mask:
        """Return which rows would pass, alone, if all counts were `scale` times as large."""
        raise NotImplementedError

    def bound(self, counts: IndependentCounts, row: int, delta: float) -> float:
        """Return what is promised at a certified row: here what was asked."""
        return self.required

    def observed(self, counts: IndependentCounts, row: int, level: float) -> Interval | None:
        """Return what was observed there, with limits for a threshold fixed in advance."""
        raise NotImplementedError

    def enough(self, delta: float) -> int | None:
        """Return how many positives are needed whatever the data; None if no number is known."""
        return None

    def words(self) -> str:
        """Return what is asked, as part of a sentence."""
        return f"a {self.name} of at least {self.required:g}"


@dataclass(frozen=True)
class MinPrecision(Requirement):
    """At least so much precision."""

    name = "precision"

    def certified(self, counts: IndependentCounts, delta: float) -> Mask:
        """Fixed-sequence testing; what any of the sequences certifies is certified."""
        if counts.prevalence is not None:
            return self.possible(counts, delta, 1.0)
        tp, fp, selected = counts.cut_tp, counts.cut_fp, counts.cut_rows
        found = np.zeros(counts.selected_rows.shape, dtype=np.bool_)
        for rank, share in sequences(self.required, delta, counts.n_rows):
            first = _first_cut(counts, rank)
            end = int(passing_run(tp, fp, first, self.required, share))
            # Rows whose lower edge passed, of more than `rank` rows: never one that was not tested.
            tested = slice(first // 2, end // 2)
            found[tested] |= selected[1::2][tested] > rank
        return found

    def possible(self, counts: IndependentCounts, delta: float, scale: float) -> Mask:
        """Every row by itself, without the sequence."""
        if counts.prevalence is not None:
            recall, rate = class_bounds(counts, delta, scale)
            return np.asarray(precision_at(recall, rate, counts.prevalence) >= self.required)
        found, wrong = scale * counts.cut_tp[1::2], scale * counts.cut_fp[1::2]
        tail = binomial_tail(found, wrong, self.required)
        passed = [
            (found + wrong > rank) & (tail <= share)
            for rank, share in sequences(self.required, delta, scale * counts.n_rows)
        ]
        return np.asarray(np.logical_or.reduce(passed))

    def bound(self, counts: IndependentCounts, row: int, delta: float) -> float:
        """What was asked; at another prevalence the bound itself, which may be higher."""
        if counts.prevalence is None:
            return self.required
        recall, rate = class_bounds(counts, delta)
        return float(precision_at(recall[row], rate[row], counts.prevalence))

    def observed(self, counts: IndependentCounts, row: int, level: float) -> Interval:
        """Return the precision observed."""
        return observed_precision(counts, row, level)


@dataclass(frozen=True)
class MinRecall(Requirement):
    """At least so much recall."""

    name = "recall"

    def certified(self, counts: IndependentCounts, delta: float) -> Mask:
        """From the positive whose rank was fixed beforehand."""
        return counts.share(RECALL).certified(self.required, delta)

    def possible(self, counts: IndependentCounts, delta: float, scale: float) -> Mask:
        """As if the same positives came so many times."""
        return counts.share(RECALL).times(scale).certified(self.required, delta)

    def observed(self, counts: IndependentCounts, row: int, level: float) -> Interval:
        """Return the recall observed."""
        return counts.observed(RECALL, row, level)

    def enough(self, delta: float) -> int:
        """Enough that all of them found would show it."""
        return math.ceil(math.log(delta) / math.log(self.required))


@dataclass(frozen=True)
class MaxSelectedCount(Requirement):
    """At most so many of these rows selected."""

    name = "selected"
    sign = "<="
    uncertain = False

    def certified(self, counts: IndependentCounts, delta: float) -> Mask:
        """Counted."""
        return np.asarray(counts.selected_rows <= self.required)

    def possible(self, counts: IndependentCounts, delta: float, scale: float) -> Mask:
        """Counted: the number of rows to choose from does not change it."""
        return self.certified(counts, delta)

    def bound(self, counts: IndependentCounts, row: int, delta: float) -> float:
        """Return how many are selected."""
        return float(counts.selected_rows[row])

    def observed(self, counts: IndependentCounts, row: int, level: float) -> None:
        """Nothing is estimated."""
        return

    def words(self) -> str:
        """Return what is asked."""
        return f"at most {self.required:g} of these rows selected"


@dataclass(frozen=True)
class MaxSelectedShare(Requirement):
    """At most such a share of all rows to come selected."""

    name = "selected"
    sign = "<="

    def certified(self, counts: IndependentCounts, delta: float) -> Mask:
        """Thresholds above a score whose rank was fixed beforehand."""
        return self.possible(counts, delta, 1.0)

    def possible(self, counts: IndependentCounts, delta: float, scale: float) -> Mask:
        """As if the same rows came so many times."""
        left = counts.share(SELECTED, missed=False).times(scale).turned
        return left.certified(1.0 - self.required, delta)

    def observed(self, counts: IndependentCounts, row: int, level: float) -> Interval:
        """Return the share selected of these rows."""
        return counts.observed(SELECTED, row, level, missed=False)

    def words(self) -> str:
        """Return what is asked."""
        return f"at most {100 * self.required:g} % of the rows selected"


@dataclass(frozen=True)
class MinNetBenefit(Requirement):
    """At least so much net benefit at a threshold probability."""

    probability: float

    name = "net_benefit"

    def certified(self, counts: IndependentCounts, delta: float) -> Mask:
        """Both shares bounded at all thresholds at once."""
        return self.possible(counts, delta, 1.0)

    def possible(self, counts: IndependentCounts, delta: float, scale: float) -> Mask:
        """As if the same rows came so many times."""
        return np.asarray(at_least(self._bounds(counts, delta, scale), self.required))

    def bound(self, counts: IndependentCounts, row: int, delta: float) -> float:
        """Return the bound, which may be higher than what was asked."""
        return float(self._bounds(counts, delta, 1.0)[row])

    def observed(self, counts: IndependentCounts, row: int, level: float) -> None:
        """A net benefit is not a share: ask `pr.interval` for its interval."""
        return

    def words(self) -> str:
        """Return what is asked."""
        at = f"at a threshold probability of {self.probability:g}"
        return f"a net benefit of at least {self.required:g} {at}"

    def _bounds(self, counts: IndependentCounts, delta: float, scale: float) -> FloatArray:
        odds = self.probability / (1.0 - self.probability)
        if counts.prevalence is not None:
            recall, rate = class_bounds(counts, delta, scale)
            return counts.prevalence * recall - odds * (1.0 - counts.prevalence) * rate
        found, wrong = row_bounds(counts, delta, scale, missed=True)
        return found - odds * wrong


def class_bounds(
    counts: IndependentCounts, delta: float, scale: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Return the lowest recall and the highest false-positive rate, at all thresholds at once."""
    recall, rate = (counts.share(each).times(scale) for each in (RECALL, FALSE_POSITIVE_RATE))
    return recall.everywhere(delta / 2.0), 1.0 - rate.turned.everywhere(delta / 2.0)


def row_bounds(
    counts: IndependentCounts, delta: float, scale: float = 1.0, *, missed: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return the same for positives and for negatives selected, as shares of all rows.

    Of those that have a score, or with `missed` of all.
    """
    found, wrong = (counts.share(each, missed=missed).times(scale) for each in (FOUND, ALARMS))
    return found.everywhere(delta / 2.0), 1.0 - wrong.turned.everywhere(delta / 2.0)


def precision_at(recall: Any, false_positive_rate: Any, prevalence: float) -> Any:
    """Return the precision at a point of ROC space."""
    found = prevalence * recall
    return ratio(found, found + (1.0 - prevalence) * false_positive_rate)


def observed_precision(counts: IndependentCounts, row: int, level: float) -> Interval:
    """Return the precision at a row with limits that hold for a threshold fixed in advance."""
    if counts.prevalence is None:
        return counts.observed(PRECISION, row, level)
    # Both classes' limits at once, then the precision of their corners.
    recall, fpr = (
        counts.observed(each, row, 0.5 * (1.0 + level)) for each in (RECALL, FALSE_POSITIVE_RATE)
    )
    low, estimate, high = (
        float(precision_at(r, f, counts.prevalence))
        for r, f in (
            (recall.low, fpr.high),
            (recall.estimate, fpr.estimate),
            (recall.high, fpr.low),
        )
    )
    return Interval(
        low=low, high=high, estimate=estimate, confidence_level=level, method="clopper_pearson"
    )


def _first_cut(counts: IndependentCounts, rank: int) -> int:
    """Index of the cut ``{score > s}``, or of ``{score >= s}`` if no row scores above s.

    s is the score of rank `rank` + 1. Inside a tie the first cut is the tie's upper edge (even
    index), or its lower edge if the tie is the highest of all. Inside a gap of negatives, which
    may be tied too, it is the end of the gap: whoever passes there passes before. In the gap above
    the first positive nothing passes, tied or not, because every set there is without positives.
    """
    # Rows that weigh more can make a larger set worth fewer rows: the first that is large enough.
    selected, first = counts.cut_rows, int(np.searchsorted(counts.most_rows, rank))
    inside_tie = first < selected.size and selected[first] > rank and first % 2 == 1
    return first - 1 if inside_tie and selected[first - 1] > 0 else first

"""Metrics that count rows by their rank.

Ties are never ordered by luck: every value is the expected one over all orders of the tied rows
(McSherry & Najork 2008), in closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._numerics import ratio, reciprocal_sum
from ..exceptions import InputError
from ..ranking import Ranking
from ..ranking.number_layout import Cells
from .base import FloatArray, Metric

Array = npt.NDArray[Any]
# Elements of a matrix of places inside ties.
_BLOCK = 2**17


class RowLayout(NamedTuple):
    """How the rows of rankings lie: how to sum over those of each, and to give each its value."""

    add: Callable[[Any], Any]
    spread: Callable[[Any], Any]


def _along_rows(values: Any) -> Any:
    return np.sum(values, axis=-1)


def _for_rows(values: Any) -> Any:
    return np.asarray(values)[..., np.newaxis]


LINES = RowLayout(_along_rows, _for_rows)


@dataclass(frozen=True)
class ByRank(Metric):
    """What is counted by rank: rows of weight 1, and some of them at or before a place."""

    needs_negatives = False
    poolable = False
    counts_missed = True

    def on(self, data: Any) -> Metric:
        """Refuse weights: a rank counts rows."""
        if data.weighted:
            raise InputError(
                f"{self} counts rows by their rank, and these rows carry weights, given or from "
                "another prevalence: rank without them, or take an area."
            )
        return self

    def from_counts(self, cells: Cells, tp: Array, fp: Array, n: Any, layout: RowLayout) -> Any:
        """Return the metric from cumulated counts and the number of positives."""
        raise NotImplementedError(f"{type(self).__name__} needs from_counts.")

    def value(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the metric."""
        counts = cells, cells.tp, cells.fp, cells.all_positives
        return np.asarray(self.from_counts(*counts, LINES))[()]

    def per_group(self, rankings: Any) -> FloatArray:
        """One sum per group; positives that had no score count in denominators."""
        self.on(rankings)
        positives = rankings.all_positives
        sizes = np.diff(rankings.offsets)
        layout = RowLayout(rankings.sums, lambda values: np.repeat(values, sizes))
        found = self.from_counts(rankings.cells, rankings.tp, rankings.fp, positives, layout)
        return np.asarray(found, dtype=np.float64)

    def of_ranking(self, ranking: Ranking) -> float:
        """Return the metric of one ranking; positives that had no score count in denominators."""
        counts = ranking.cells, ranking.tp, ranking.fp, ranking.all_positives
        return float(self.from_counts(*counts, LINES))

    def convention(self, ranking: Ranking) -> float:
        """With no positives 0, with no negatives what the definition gives."""
        return self.of_ranking(ranking) if ranking.n_pos else 0.0


def as_places(k: object) -> int:
    """Check a number of rows."""
    return _validation.as_count(k, "k", minimum=1)


@dataclass(frozen=True)
class DiscountedGain(ByRank):
    """Discounted cumulative gain over that of the perfect ranking.

    ``1 / log2(rank + 1)`` per positive.

    Parameters
    ----------
    k : int, optional
        Only the first k rows count.
    """

    k: int | None = None

    name = "ndcg"
    summary = "discounted cumulative gain over that of the perfect ranking"
    with_prevalence = "ndcg rises with it: groups of high prevalence weigh more."

    def __post_init__(self) -> None:
        """Check the number of rows."""
        object.__setattr__(self, "k", None if self.k is None else as_places(self.k))

    @property
    def title(self) -> str:
        """What it is called in tables."""
        return "nDCG" if self.k is None else f"nDCG@{self.k}"

    def from_counts(self, cells: Cells, tp: Array, fp: Array, n: Any, layout: RowLayout) -> Any:
        """Return the gain; a tie's positives share the discounts of its places."""
        size = np.asarray(cells.positives + cells.tied, dtype=np.int64)
        before = np.asarray(tp + fp, dtype=np.int64) - size
        positives = np.asarray(n, dtype=np.int64)
        length = int(max(np.max(before + size, initial=0), np.max(positives, initial=0)))
        k = length if self.k is None else self.k
        discount = np.where(np.arange(length) < k, 1.0 / np.log2(np.arange(length) + 2.0), 0.0)
        summed = np.concatenate([[0.0], np.cumsum(discount)])
        alone = size == 1
        mean = np.where(
            alone,
            discount[np.where(alone, before, 0)] if length else 0.0,
            ratio(summed[before + size] - summed[before], size),
        )
        return ratio(layout.add(cells.positives * mean), summed[positives])


@dataclass(frozen=True)
class ReciprocalRank(ByRank):
    """One over the rank of the first positive; 0 if it is not among the first k.

    Parameters
    ----------
    k : int, optional
    """

    k: int | None = None

    name = "reciprocal_rank"
    summary = "one over the rank of the first positive"
    with_prevalence = "reciprocal_rank rises with it: groups of high prevalence weigh more."

    def __post_init__(self) -> None:
        """Check the number of rows."""
        object.__setattr__(self, "k", None if self.k is None else as_places(self.k))

    @property
    def title(self) -> str:
        """What it is called in tables."""
        return "reciprocal rank" if self.k is None else f"reciprocal rank@{self.k}"

    def from_counts(self, cells: Cells, tp: Array, fp: Array, n: Any, layout: RowLayout) -> Any:
        """Return the expected value in the first row that has positives; other rows add nothing."""
        weight = np.asarray(cells.positives)
        tied = np.broadcast_to(np.asarray(cells.tied), weight.shape)
        above = np.broadcast_to(fp, weight.shape) - tied
        first = (tp == weight) & (weight > 0)
        values = np.zeros(weight.shape)
        k = np.inf if self.k is None else float(self.k)
        alone = first & (tied == 0)
        values[alone] = np.where(above[alone] < k, 1.0 / (above[alone] + 1.0), 0.0)
        mixed = first & (tied > 0)
        if mixed.any():
            values[mixed] = _expected_reciprocal(above[mixed], weight[mixed], tied[mixed], k)
        return layout.add(values)


def _expected_reciprocal(above: Array, positives: Array, tied: Array, k: float) -> FloatArray:
    """Mean of ``1 / rank`` of the first positive over all orders of a tie that holds it.

    The first of `p` positives among ``p + q`` tied rows is at place `j` with probability
    ``prod_{i<j} (q - i + 1) / (p + q - i + 1) * p / (p + q - j + 1)``, uniform if ``p = 1``.
    """
    result = np.empty(above.size)
    single = (positives == 1) & np.isinf(k)
    result[single] = reciprocal_sum(above[single], tied[single] + 1) / (tied[single] + 1)
    rest = np.flatnonzero(~single)
    # Lines of about equal length together, so that the matrices waste little.
    for bit in np.unique(np.ceil(np.log2(tied[rest] + 1))):
        members = rest[np.ceil(np.log2(tied[rest] + 1)) == bit]
        width = 1 << int(bit)
        step = max(1, _BLOCK // width)
        place = np.arange(1.0, width + 1.0)
        for begin in range(0, members.size, step):
            chosen = members[begin : begin + step]
            a, p, q = (
                part[chosen][:, np.newaxis].astype(np.float64) for part in (above, positives, tied)
            )
            left = np.maximum(p + q - place + 1.0, p)
            missed = np.cumprod(np.maximum(q - place + 1.0, 0.0) / left, axis=1)
            reached = np.concatenate([np.ones_like(p), missed[:, :-1]], axis=1)
            found = reached * p / left
            result[chosen] = np.sum(np.where(a + place <= k, found / (a + place), 0.0), axis=1)
    return result

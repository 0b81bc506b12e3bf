"""Counts of independent rows, as tests and bounds need them, from a ranking."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._cached import cached_property
from .._interval import Interval
from .._numerics import ratio
from ..exceptions import InputError, ReliabilityWarning
from ..inference.local_weights import weights_vary
from ..inference.weighted_shares import WeightedCounts
from ..metrics.four_counts import CountShare, FourCounts
from ..ranking import Cells, Ranking
from .share_bounds import Share, ShareOfRows, ShareOfWeight, observed_share, observed_weight

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class IndependentCounts:
    """Counts in units of independent rows.

    The cuts are the two edges of each row, just above its score and just under it, in turn.
    From one row to the next only negatives are passed, so whoever passes the tests at the edges
    passes them at every score.

    Missed positives are positives in `n_pos`, and rows in `n_all`; `n_rows` are those with a score.
    """

    n_pos: float
    n_neg: float
    cut_tp: FloatArray  # at each cut, two per row
    cut_fp: FloatArray
    n_rows: float
    n_all: float  # the same, and the positives that were never scored
    selected_rows: FloatArray  # at each row, how many rows of the data, whatever they weigh
    prevalence: float | None  # that precision refers to, if it is not that of the rows
    exact: bool
    weighted: WeightedCounts | None  # where weights differ within a class

    @cached_property
    def cut_rows(self) -> FloatArray:
        """Rows selected at each cut."""
        return self.cut_tp + self.cut_fp

    def share(self, share: CountShare, *, missed: bool = True) -> Share:
        """Return a share of rows at each threshold, with positives that have no score or not."""
        if self.weighted is not None:
            return ShareOfWeight(self.weighted.share(share, slice(1, -1)))
        part, whole = share.rows(self._four_counts(slice(None), missed=missed))
        return ShareOfRows(part, float(whole[0]))

    def _four_counts(self, row: Any, *, missed: bool) -> FourCounts:
        unseen = 0.0 if missed else self.n_all - self.n_rows
        tp, fp = self.cut_tp[1::2][row], self.cut_fp[1::2][row]
        return FourCounts(tp, fp, self.n_pos - unseen - tp, self.n_neg - fp)

    def observed(
        self, share: CountShare, row: int, level: float, *, missed: bool = True
    ) -> Interval:
        """Return a share of these rows, with limits for a threshold fixed in advance."""
        if self.weighted is not None:
            return observed_weight(self.weighted.share(share, row + 1), level)
        part, whole = share.rows(self._four_counts(row, missed=missed))
        return observed_share(float(part), float(whole), level)

    @cached_property
    def most_rows(self) -> FloatArray:
        """The most rows selected at each cut or above: they never become fewer."""
        return np.maximum.accumulate(self.cut_rows)


def independent_counts(ranking: Ranking, prevalence: float | None) -> IndependentCounts:
    """Turn a ranking into counts of independent rows; weights into what they allow.

    Weights that are constant within each class only change the prevalence: the rows are counted
    as they are. With other weights the rows selected count as ``(sum w)**2 / sum w**2`` (Kish)
    where precision is tested, and shares are those of the weights. Missed positives have no
    weights, so with weights they are refused.
    """
    if ranking.missed and ranking.rows is not None:
        raise InputError(
            "missed positives have no weights, so nothing can be promised for them beside rows "
            "that have some: rank the rows without weights."
        )
    rows, own, weighted = ranking.rows or ranking.cells, None, None
    sizes = float(np.sum(rows.positives)), float(_negatives(rows))
    exact = not weights_vary(ranking)
    if exact and not math.isclose(sizes[0] / sum(sizes), ranking.prevalence, rel_tol=1e-9):
        own = ranking.prevalence
    cut_tp, cut_fp = counted = _cuts(rows)
    selected_rows = counted[0][1::2] + counted[1][1::2]
    if not exact:
        cut_tp, cut_fp = _cuts(ranking.cells)
    n_rows = sum(sizes)
    if not exact and ranking.squares is not None:
        warnings.warn(
            "the weights differ within a class: effective sample sizes stand in for counts, so "
            "the confidence level is approximate and not guaranteed.",
            ReliabilityWarning,
            stacklevel=4,
        )
        weighted = WeightedCounts.of(ranking)
        sizes = ranking.effective_sizes
        total = float(ranking.n_pos + ranking.n_neg)
        squared = np.sum(_cuts(ranking.squares), axis=0)
        shrink = ratio(cut_tp + cut_fp, squared)
        cut_tp, cut_fp = cut_tp * shrink, cut_fp * shrink
        n_rows = (
            total * total / float(np.sum(ranking.squares.positives) + _negatives(ranking.squares))
        )
    return IndependentCounts(
        n_pos=sizes[0] + ranking.missed,
        n_neg=sizes[1],
        cut_tp=cut_tp,
        cut_fp=cut_fp,
        n_rows=n_rows,
        n_all=n_rows + ranking.missed,
        selected_rows=selected_rows,
        prevalence=own if prevalence is None else prevalence,
        exact=exact,
        weighted=weighted,
    )


def _negatives(cells: Cells) -> Any:
    return np.sum(cells.tied) + np.sum(cells.above) + cells.below


def _cuts(cells: Cells) -> tuple[FloatArray, FloatArray]:
    """Cumulate positives and negatives from edge to edge."""
    steps = np.zeros((2, len(cells.positives), 2))
    steps[0, :, 1] = cells.positives
    steps[1, :, 0], steps[1, :, 1] = cells.above, cells.tied
    tp, fp = np.cumsum(steps.reshape(2, -1), axis=1)
    return tp, fp

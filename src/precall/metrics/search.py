"""Metrics of searches whose cut depends on how many relevant documents a query has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._numerics import ratio
from ..ranking import Ranking
from ..ranking.number_layout import Cells
from .base import FloatArray
from .by_rank import ByRank
from .top_k import hits_at

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ByPositives(ByRank):
    """What is counted at ranks that follow from the number of positives."""

    def of_lines(self, cells: Cells, n: IntArray) -> Any:
        """Return the metric; `n` counts the positives of each line, the missed ones included."""
        raise NotImplementedError(f"{type(self).__name__} needs of_lines.")

    def value(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the metric."""
        return np.asarray(self.of_lines(cells, np.asarray(cells.all_positives)))[()]

    def of_ranking(self, ranking: Ranking) -> float:
        """Return the metric of one ranking."""
        return float(self.of_lines(ranking.cells, np.asarray(ranking.all_positives)))

    def per_group(self, rankings: Any) -> FloatArray:
        """Return the metric of every ranking of a set; 0 where no positive was scored."""
        self.on(rankings)
        positives, values = rankings.all_positives, np.zeros(len(rankings))
        for groups, cells, _ in rankings.lines():
            values[groups] = self.of_lines(cells, positives[groups])
        return values


@dataclass(frozen=True)
class RPrecision(ByPositives):
    """The precision among the R highest scores, R being the number of positives.

    Precision and recall are equal there. A tie at the cut gives its share.

    Examples
    --------
    >>> import precall as pr
    >>> pr.metrics.r_precision()(pr.rank([1, 0, 1, 0], [4, 3, 2, 1]))
    0.5
    """

    name = "r_precision"
    title = "R-precision"
    summary = "precision among as many of the highest scores as there are positives"
    with_prevalence = "r_precision rises with it: groups of high prevalence weigh more."

    def of_lines(self, cells: Cells, n: IntArray) -> Any:
        """Return hits over positives."""
        return ratio(hits_at(cells, n), n)


def _at_least(n: IntArray) -> IntArray:
    """Number of positives that reach each tenth of them, by whole numbers."""
    return -(-np.arange(11) * n[..., np.newaxis] // 10)


def _trec_eval_9(n: IntArray) -> IntArray:
    return np.asarray(_TENTHS * n[..., np.newaxis] + 0.9).astype(np.int64)


def _trec_eval_10(n: IntArray) -> IntArray:
    exact = _TENTHS * n[..., np.newaxis]
    whole = np.trunc(exact)
    return np.asarray(whole + (exact - whole >= 0.5)).astype(np.int64)


# Products of these with the number of relevant documents are rounded as in that program.
_TENTHS = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
#: How many positives a recall of 0, 0.1, ..., 1 asks for.
POINTS = {"exact": _at_least, "trec_eval": _trec_eval_9, "trec_eval_10": _trec_eval_10}


@dataclass(frozen=True)
class ElevenPointPrecision(ByPositives):
    """The mean of the interpolated precision at the recalls 0, 0.1, ..., 1.

    The interpolated precision at a recall is the highest precision of all thresholds that reach
    it; 0 if none does.

    Parameters
    ----------
    points : {"exact", "trec_eval", "trec_eval_10"}
        How many positives a recall asks for. ``"exact"``: the smallest number that reaches it.
        ``"trec_eval"``: what that program did up to release 9, ``recall * positives + 0.9`` cut to
        a whole number; the same, but for numbers where rounding takes one away.
        ``"trec_eval_10"``: what it does since release 10, the nearest whole number.

    Examples
    --------
    >>> import precall as pr
    >>> pr.metrics.eleven_point_precision()(pr.rank([1, 0, 1, 0], [4, 3, 2, 1]))
    0.848484...
    """

    points: str = "exact"

    name = "eleven_point_precision"
    title = "11-point precision"
    summary = "mean interpolated precision at the recalls 0, 0.1, ..., 1"
    with_prevalence = "eleven_point_precision rises with it: groups of high prevalence weigh more."

    def __post_init__(self) -> None:
        """Check the rule."""
        _validation.as_choice(self.points, "points", POINTS)

    def of_lines(self, cells: Cells, n: IntArray) -> Any:
        """Return the mean of eleven highest precisions."""
        tp = cells.tp
        precision = ratio(tp, tp + cells.fp)
        wanted = POINTS[self.points](np.asarray(n, dtype=np.int64))
        highest = [
            np.max(np.where(tp >= wanted[..., [point]], precision, 0.0), axis=-1, initial=0.0)
            for point in range(11)
        ]
        return np.sum(highest, axis=0) / 11.0

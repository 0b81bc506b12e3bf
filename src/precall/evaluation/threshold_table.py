"""Counts, precision and recall with limits at thresholds along the curve, and between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..inference.limits import greatest_share, least_share
from ..inference.weighted_shares import WeightedCounts, WeightedShare
from ..points.independent import IndependentCounts, independent_counts
from ..points.share_bounds import FALSE_POSITIVE_RATE, PRECISION, RECALL
from ..ranking import Ranking
from .quiet import quietly

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]

# Thresholds of one model, of all models of a page together, and of each of very many models.
_MOST_POINTS, _TOGETHER, _FEWEST_POINTS = 600, 1_800, 150


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ThresholdLimits:
    """Clopper-Pearson limits: they hold for a threshold that was chosen beforehand.

    Attributes
    ----------
    precision_low, precision_high, recall_low, recall_high : array
    wide_recall_low, wide_recall_high, wide_rate_low, wide_rate_high : array
        The same for recall and for the false-positive rate with half the error to each, from
        which the limits of precision at any other prevalence follow.
    """

    precision_low: FloatArray
    precision_high: FloatArray
    recall_low: FloatArray
    recall_high: FloatArray
    wide_recall_low: FloatArray
    wide_recall_high: FloatArray
    wide_rate_low: FloatArray
    wide_rate_high: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Between(ThresholdLimits):
    """What is known between two tabulated thresholds, where negatives' scores are not kept.

    Element i is about scores strictly between thresholds i - 1 and i; the first one is about
    scores above all of them, the last one about scores below all. The limits hold for every count
    that is possible there.

    Attributes
    ----------
    tp_low, tp_high, fp_low, fp_high : array
        The smallest and the largest possible count. Where every positive's score is tabulated,
        no positive lies between, and the two ends of `tp` are equal.
    """

    tp_low: Array
    tp_high: Array
    fp_low: Array
    fp_high: Array


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ThresholdTable(ThresholdLimits):
    """What happens at some thresholds of a ranking, from the highest to the lowest.

    Attributes
    ----------
    threshold, tp, fp : array
        Scores of positives, and the counts (weights) of rows at or above them.
    between : Between
        What is known of the thresholds between these.
    confidence_level : float
    exact : bool
        False for weighted rows: effective sample sizes stand in for counts.
    """

    threshold: Array
    tp: Array
    fp: Array
    between: Between
    confidence_level: float
    exact: bool

    def __len__(self) -> int:
        """Return the number of thresholds."""
        return int(self.threshold.size)


class _Cuts(NamedTuple):
    """Counts at or above some cuts, and with how many thresholds there are as many or more."""

    tp: Array
    fp: Array
    tp_at: npt.NDArray[np.int64]
    fp_at: npt.NDArray[np.int64]

    def rows(self, ranking: Ranking, counts: IndependentCounts) -> tuple[FloatArray, FloatArray]:
        """Rows of either class, all of which weigh the same."""
        scored = counts.n_pos - (counts.n_all - counts.n_rows)
        return (
            self.tp * (scored / float(ranking.n_pos)),
            self.fp * (counts.n_neg / float(ranking.n_neg)),
        )

    def after_nothing(self) -> _Cuts:
        """Put the cut above all rows before the others."""
        return _Cuts(*(np.append(np.zeros(1, each.dtype), each) for each in self))

    def before(self, all_rows: tuple[Any, ...]) -> _Cuts:
        """Put the cut below all rows behind the others."""
        return _Cuts(*(np.append(each, last) for each, last in zip(self, all_rows, strict=True)))


def threshold_table(
    ranking: Ranking, confidence_level: float, kept: Sequence[Any] = (), *, n_models: int = 1
) -> ThresholdTable:
    """Tabulate at most 600 thresholds: evenly along recall, and evenly along log(selected).

    The thresholds in `kept`, which are scores of positives, are among them. Where more than three
    models stand beside each other they share what three have, so that their page stays small.
    """
    with quietly():
        counts = independent_counts(ranking, None)
    most = min(max(_TOGETHER // n_models, _FEWEST_POINTS), _MOST_POINTS)
    rows = _chosen(ranking, kept, most)
    tail = 0.5 * (1.0 - confidence_level)
    at = _Cuts(ranking.tp[rows], ranking.fp[rows], rows + 1, rows + 1)
    above = _Cuts(
        ranking.tp[rows] - ranking.positives[rows],
        ranking.fp[rows] - ranking.tied[rows],
        rows,
        rows + 1,
    )
    strict = at.after_nothing()
    generous = above.before((ranking.n_pos, ranking.n_neg, -1, -1))
    return ThresholdTable(
        threshold=ranking.threshold[rows],
        tp=at.tp,
        fp=at.fp,
        between=Between(
            tp_low=strict.tp,
            tp_high=np.maximum(strict.tp, generous.tp),
            fp_low=strict.fp,
            fp_high=np.maximum(strict.fp, generous.fp),
            **_limits(strict, generous, ranking, counts, tail),
        ),
        **_limits(at, at, ranking, counts, tail),
        confidence_level=confidence_level,
        exact=counts.exact,
    )


def _limits(
    strict: _Cuts, generous: _Cuts, ranking: Ranking, counts: IndependentCounts, tail: float
) -> dict[str, FloatArray]:
    """The limits of whatever lies between two cuts: the lowest and the highest of them.

    A lower limit rises with the positives selected and falls with the negatives, and so does an
    upper one.
    """
    if counts.weighted is not None:
        return _weighted_limits(strict, generous, counts.weighted, tail)
    n, m = counts.n_pos, counts.n_neg
    (tp, fp), (most_tp, most_fp) = (cuts.rows(ranking, counts) for cuts in (strict, generous))
    return {
        "precision_low": least_share(tp, tp + most_fp, tail),
        "precision_high": greatest_share(most_tp, most_tp + fp, tail),
        "recall_low": least_share(tp, n, tail),
        "recall_high": greatest_share(most_tp, n, tail),
        "wide_recall_low": least_share(tp, n, 0.5 * tail),
        "wide_recall_high": greatest_share(most_tp, n, 0.5 * tail),
        "wide_rate_low": least_share(fp, m, 0.5 * tail),
        "wide_rate_high": greatest_share(most_fp, m, 0.5 * tail),
    }


def _weighted_limits(
    strict: _Cuts, generous: _Cuts, counts: WeightedCounts, tail: float
) -> dict[str, FloatArray]:
    """The same of rows that do not all weigh the same.

    A row more may make a sum less sure, so both ends are looked at.
    """
    ends = (strict, generous)
    precision = [
        WeightedShare(
            counts.share(PRECISION, positives.tp_at).part,
            counts.share(PRECISION, negatives.fp_at).rest,
        )
        for positives in ends
        for negatives in ends
    ]
    recall = [counts.share(RECALL, cuts.tp_at) for cuts in ends]
    rate = [counts.share(FALSE_POSITIVE_RATE, cuts.fp_at) for cuts in ends]
    return {
        f"{name}_{end}": most([getattr(each, side)(error) for each in shares], axis=0)
        for name, shares, error in (
            ("precision", precision, tail),
            ("recall", recall, tail),
            ("wide_recall", recall, 0.5 * tail),
            ("wide_rate", rate, 0.5 * tail),
        )
        for end, side, most in (("low", "lower", np.min), ("high", "upper", np.max))
    }


def _chosen(ranking: Ranking, kept: Sequence[Any], most: int) -> npt.NDArray[np.int64]:
    size = len(ranking)
    if size <= most:
        return np.arange(size)
    wanted = np.flatnonzero(np.isin(ranking.threshold, np.asarray(kept)))
    half = (most - wanted.size) // 2
    along_recall = np.searchsorted(ranking.tp, np.linspace(0, float(ranking.n_pos), half))
    selected = (ranking.tp + ranking.fp).astype(np.float64)
    spread = np.geomspace(selected[0], selected[-1], half)
    along_selected = np.searchsorted(selected, spread)
    rows = np.concatenate([[0, size - 1], wanted, along_recall, along_selected])
    return np.unique(np.clip(rows, 0, size - 1))

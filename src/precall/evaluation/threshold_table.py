"""Counts, precision and recall with limits at thresholds along the curve, and between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..inference.limits import share_limits
from ..points.independent import IndependentCounts, independent_counts
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
    """Counts at or above some cuts, in the three units that are needed."""

    tp: Array  # as they are shown
    fp: Array
    selected_tp: FloatArray  # independent rows among the selected
    selected_fp: FloatArray
    class_tp: FloatArray  # independent rows of each class
    class_fp: FloatArray

    def with_end(self, end: tuple[float, ...], *, first: bool) -> _Cuts:
        """Put one more cut before the others or after them."""
        parts = zip(self, end, strict=True)
        return _Cuts(
            *(np.append(np.array([x], a.dtype), a) if first else np.append(a, x) for a, x in parts)
        )


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
    at = _cuts(ranking, counts, ranking.tp[rows], ranking.fp[rows], 2 * rows + 1)
    above = _cuts(
        ranking,
        counts,
        ranking.tp[rows] - ranking.positives[rows],
        ranking.fp[rows] - ranking.tied[rows],
        2 * rows,
    )
    strict = at.with_end((0.0,) * 6, first=True)
    generous = above.with_end(_everything(ranking, counts), first=False)
    return ThresholdTable(
        threshold=ranking.threshold[rows],
        tp=at.tp,
        fp=at.fp,
        between=Between(
            tp_low=strict.tp,
            tp_high=np.maximum(strict.tp, generous.tp),
            fp_low=strict.fp,
            fp_high=np.maximum(strict.fp, generous.fp),
            **_limits(strict, generous, counts, tail),
        ),
        **_limits(at, at, counts, tail),
        confidence_level=confidence_level,
        exact=counts.exact,
    )


def _cuts(ranking: Ranking, counts: IndependentCounts, tp: Array, fp: Array, cut: Any) -> _Cuts:
    return _Cuts(
        tp=tp,
        fp=fp,
        selected_tp=counts.cut_tp[cut],
        selected_fp=counts.cut_fp[cut],
        class_tp=tp * (counts.n_pos / float(ranking.n_pos)),
        class_fp=fp * (counts.n_neg / float(ranking.n_neg)),
    )


def _everything(ranking: Ranking, counts: IndependentCounts) -> tuple[float, ...]:
    """The cut below all rows."""
    n, m = float(ranking.n_pos), float(ranking.n_neg)
    worth = counts.n_rows / (n + m)
    selected = (counts.n_pos, counts.n_neg) if counts.exact else (n * worth, m * worth)
    return (n, m, *selected, counts.n_pos, counts.n_neg)


def _limits(
    strict: _Cuts, generous: _Cuts, counts: IndependentCounts, tail: float
) -> dict[str, FloatArray]:
    """The limits of whatever lies between two cuts: the lowest and the highest of them.

    A lower limit rises with the positives selected and falls with the negatives, and so does an
    upper one.
    """
    n, m = counts.n_pos, counts.n_neg
    worst = strict.selected_tp + generous.selected_fp
    best = generous.selected_tp + strict.selected_fp
    return {
        "precision_low": share_limits(strict.selected_tp, worst, tail)[0],
        "precision_high": share_limits(generous.selected_tp, best, tail)[1],
        "recall_low": share_limits(strict.class_tp, n, tail)[0],
        "recall_high": share_limits(generous.class_tp, n, tail)[1],
        "wide_recall_low": share_limits(strict.class_tp, n, 0.5 * tail)[0],
        "wide_recall_high": share_limits(generous.class_tp, n, 0.5 * tail)[1],
        "wide_rate_low": share_limits(strict.class_fp, m, 0.5 * tail)[0],
        "wide_rate_high": share_limits(generous.class_fp, m, 0.5 * tail)[1],
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

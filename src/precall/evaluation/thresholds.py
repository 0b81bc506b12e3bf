"""Counts, precision and recall with limits at thresholds along the curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..points.certificates import share_limits
from ..points.independent import independent_counts
from ..ranking import Ranking
from .quiet import quietly

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]

_MOST_POINTS = 600


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ThresholdTable:
    """What happens at some thresholds of a ranking, from the highest to the lowest.

    Attributes
    ----------
    threshold, tp, fp : array
        Scores of positives, and the counts (weights) of rows at or above them.
    precision_low, precision_high, recall_low, recall_high : array
        Clopper-Pearson limits: they hold for a threshold that was chosen beforehand.
    wide_recall_low, wide_recall_high, wide_rate_low, wide_rate_high : array
        The same for recall and for the false-positive rate with half the error to each, from
        which the limits of precision at any other prevalence follow.
    confidence_level : float
    exact : bool
        False for weighted rows: effective sample sizes stand in for counts.
    """

    threshold: Array
    tp: Array
    fp: Array
    precision_low: FloatArray
    precision_high: FloatArray
    recall_low: FloatArray
    recall_high: FloatArray
    wide_recall_low: FloatArray
    wide_recall_high: FloatArray
    wide_rate_low: FloatArray
    wide_rate_high: FloatArray
    confidence_level: float
    exact: bool

    def __len__(self) -> int:
        """Return the number of thresholds."""
        return int(self.threshold.size)


def threshold_table(ranking: Ranking, confidence_level: float) -> ThresholdTable:
    """Tabulate at most 600 thresholds: evenly along recall, and evenly along log(selected)."""
    with quietly():
        counts = independent_counts(ranking, None)
    rows = _chosen(ranking)
    tail = 0.5 * (1.0 - confidence_level)
    cut_tp, cut_fp = counts.cut_tp[2 * rows + 1], counts.cut_fp[2 * rows + 1]
    tp, fp = counts.tp[rows], counts.fp[rows]
    precision = share_limits(cut_tp, cut_tp + cut_fp, tail)
    recall = share_limits(tp, counts.n_pos, tail)
    wide_recall = share_limits(tp, counts.n_pos, 0.5 * tail)
    wide_rate = share_limits(fp, counts.n_neg, 0.5 * tail)
    return ThresholdTable(
        threshold=ranking.threshold[rows],
        tp=ranking.tp[rows],
        fp=ranking.fp[rows],
        precision_low=precision[0],
        precision_high=precision[1],
        recall_low=recall[0],
        recall_high=recall[1],
        wide_recall_low=wide_recall[0],
        wide_recall_high=wide_recall[1],
        wide_rate_low=wide_rate[0],
        wide_rate_high=wide_rate[1],
        confidence_level=confidence_level,
        exact=counts.exact,
    )


def _chosen(ranking: Ranking) -> npt.NDArray[np.int64]:
    size = len(ranking)
    if size <= _MOST_POINTS:
        return np.arange(size)
    half = _MOST_POINTS // 2
    along_recall = np.searchsorted(ranking.tp, np.linspace(0, float(ranking.n_pos), half))
    selected = (ranking.tp + ranking.fp).astype(np.float64)
    spread = np.geomspace(selected[0], selected[-1], half)
    along_selected = np.searchsorted(selected, spread)
    rows = np.concatenate([[0, size - 1], along_recall, along_selected])
    return np.unique(np.clip(rows, 0, size - 1))

"""Points: what one threshold does, and F-measures along the curve."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._notebook import Rich
from .._numerics import ratio
from ..exceptions import ReliabilityWarning
from ..metrics import four_counts
from ..metrics.base import warn_undefined
from ..metrics.four_counts import MEASURES, FourCounts, recall_share
from ..ranking import Ranking
from ..ranking.checks import require_ranking
from ..ranking.reflex import takes_one_ranking

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, repr=False)
class Confusion(Rich):
    """The four counts at a threshold, and every measure made of them.

    A ratio with nothing below its line has no value: it is NaN, and None in :meth:`to_dict`. So
    ``precision`` and ``negative_predictive_value`` are NaN when nothing is selected or rejected,
    what needs a class that is empty is NaN, and ``f1`` is NaN only when there is neither a
    positive nor a selected row. The one convention is ``matthews_correlation``: 0 when a row or
    a column of the table is empty.

    Attributes
    ----------
    threshold : number
        ``score >= threshold`` is selected; ``inf`` selects nothing.
    tp, fp, fn, tn : number
        True positives, false positives, false negatives, true negatives (sums of weights if the
        ranking is weighted).

    References
    ----------
    Boyd, *Mitigating the risks of thresholdless metrics in machine learning evaluation*, 2014,
    Table 2.3.
    """

    threshold: Any
    tp: Any
    fp: Any
    fn: Any
    tn: Any

    @property
    def n_pos(self) -> Any:
        """Positives: ``tp + fn``."""
        return self.tp + self.fn

    @property
    def n_neg(self) -> Any:
        """Negatives: ``fp + tn``."""
        return self.fp + self.tn

    @property
    def selected(self) -> Any:
        """Rows at or above the threshold: ``tp + fp``."""
        return self.tp + self.fp

    @property
    def prevalence(self) -> float:
        """Share of positives among all."""
        return self._measured("prevalence")

    @property
    def accuracy(self) -> float:
        """Share of all rows that are on the right side."""
        return self._measured("accuracy")

    @property
    def recall(self) -> float:
        """Share of the positives selected: sensitivity, true-positive rate."""
        return self._measured("recall")

    @property
    def false_negative_rate(self) -> float:
        """Share of the positives rejected: 1 - recall."""
        return self._measured("false_negative_rate")

    @property
    def false_positive_rate(self) -> float:
        """Share of the negatives selected: 1 - specificity."""
        return self._measured("false_positive_rate")

    @property
    def specificity(self) -> float:
        """Share of the negatives rejected."""
        return self._measured("specificity")

    @property
    def precision(self) -> float:
        """Share of positives among the selected: positive predictive value."""
        return self._measured("precision")

    @property
    def negative_predictive_value(self) -> float:
        """Share of negatives among the rejected."""
        return self._measured("negative_predictive_value")

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return self._measured("f1")

    @property
    def jaccard(self) -> float:
        """True positives over all rows that are positive or selected: threat score."""
        return self._measured("jaccard")

    @property
    def informedness(self) -> float:
        """Recall plus specificity less 1: Youden's index."""
        return self._measured("informedness")

    @property
    def balanced_accuracy(self) -> float:
        """Mean of recall and specificity."""
        return self._measured("balanced_accuracy")

    @property
    def matthews_correlation(self) -> float:
        """Correlation between being positive and being selected; 0 if either is constant."""
        return self._measured("matthews_correlation")

    def f_beta(self, beta: float) -> float:
        """Weighted harmonic mean of precision and recall, recall counting ``beta**2`` times."""
        return float(four_counts.f_beta(recall_share(beta)).of(self._counts))

    @property
    def _counts(self) -> FourCounts:
        return FourCounts(self.tp, self.fp, self.fn, self.tn)

    def _measured(self, name: str) -> float:
        return float(MEASURES[name].of(self._counts))

    def __repr__(self) -> str:
        """Return one line with the counts and the two ratios of the curve."""
        return (
            f"Confusion(threshold={self.threshold:.6g}, tp={self.tp:.12g}, fp={self.fp:.12g}, "
            f"fn={self.fn:.12g}, tn={self.tn:.12g}, precision={self.precision:.4g}, "
            f"recall={self.recall:.4g})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return counts and measures as plain numbers that survive JSON."""
        counts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: plain_number(value) for name, value in counts.items()} | {
            name: plain_number(getattr(self, name)) for name in MEASURES
        }


def plain_number(value: Any) -> Any:
    """Strict JSON has neither NaN nor infinity."""
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else str(value)


def confusion(ranking: Ranking, threshold: float) -> Confusion:
    """Count both classes on both sides of a threshold.

    A ranking knows the counts exactly at each score of a positive and at each threshold that it
    was asked to keep (``ranking.threshold``), at ``inf`` (nothing selected) and at ``-inf``
    (everything selected). Between two of them it knows how many negatives there are but not where,
    so any other threshold is raised to the next one: the same true positives, and the false
    positives that can be avoided avoided. The result's ``threshold`` is the one that was counted.

    Parameters
    ----------
    ranking : Ranking
        From :func:`precall.rank`.
    threshold : number
        Rows with ``score >= threshold`` are selected.

    Returns
    -------
    Confusion

    Warns
    -----
    ReliabilityWarning
        If negatives may lie between `threshold` and the score it was raised to. For the exact
        counts at a threshold of your own, keep it: ``rank(y_true, y_score, thresholds=[t])``.

    Notes
    -----
    In a coarsened ranking the scores inside a cell are gone too, so true positives between two
    cells are lost by raising the threshold.

    Examples
    --------
    >>> import precall as pr
    >>> ranking = pr.rank([1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.3, 0.1])
    >>> at = pr.confusion(ranking, 0.7)
    >>> at
    Confusion(threshold=0.7, tp=2, fp=1, fn=0, tn=2, precision=0.6667, recall=1)
    >>> round(at.f1, 6), round(at.matthews_correlation, 6), at.accuracy
    (0.8, 0.666667, 0.8)
    >>> kept = pr.rank([1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.3, 0.1], thresholds=[0.2])
    >>> pr.confusion(kept, 0.2)
    Confusion(threshold=0.2, tp=2, fp=2, fn=0, tn=1, precision=0.5, recall=1)
    """
    require_ranking(ranking, missed=True)
    _validation.as_number(threshold, "threshold")
    if threshold == -math.inf:
        return _confusion_of(ranking, -math.inf, ranking.n_pos, ranking.n_neg)
    rows, _, hidden = ranking.reached(threshold)
    found = at_row(ranking, rows - 1)
    if hidden > 0 and threshold < found.threshold:
        asked = threshold.item() if isinstance(threshold, np.generic) else threshold
        warnings.warn(
            f"threshold {asked!r} is not the score of a positive: raised to {found.threshold!r}, "
            f"which keeps the true positives; up to {hidden:.12g} false positives may lie between. "
            f"For the exact counts, use rank(y_true, y_score, thresholds=[{asked!r}]).",
            ReliabilityWarning,
            stacklevel=2,
        )
    return found


def at_row(ranking: Ranking, row: int) -> Confusion:
    """FourCounts on arrival at a row; before the first row nothing is selected."""
    if row < 0:
        return _confusion_of(ranking, math.inf, 0, 0)
    return _confusion_of(
        ranking, ranking.threshold[row].item(), ranking.tp[row].item(), ranking.fp[row].item()
    )


def _confusion_of(ranking: Ranking, threshold: Any, tp: Any, fp: Any) -> Confusion:
    # Cumulated weights may pass their total by a rounding error.
    return Confusion(
        threshold=threshold,
        tp=tp,
        fp=fp,
        fn=max(ranking.all_positives - tp, 0),
        tn=max(ranking.n_neg - fp, 0),
    )


@takes_one_ranking
def f_beta(ranking: Ranking, *, beta: float = 1, modified: bool = False) -> FloatArray:
    """F-measure at every threshold of the ranking.

    ``F = (1 + b^2) p r / (b^2 p + r)``, computed from counts. The modified form takes the
    unachievable region into account: 0 if ``p <= pi``, else the same mean of recall and the
    precision above chance ``(p - pi) / (1 - pi)``.

    Parameters
    ----------
    ranking : Ranking
        From :func:`precall.rank`.
    beta : float, default 1
        How many times recall counts as much as precision; 0 is precision, ``inf`` is recall.
    modified : bool, default False
        The modified F-measure of Boyd (2014, section 3.4).

    Returns
    -------
    array
        One value per ``ranking.threshold``, highest threshold first. Empty, with an
        :class:`~precall.exceptions.UndefinedMetricWarning`, with no positives. The modified
        form with no negatives is 0 (no precision is above chance), with the same warning.

    Examples
    --------
    >>> import precall as pr
    >>> ranking = pr.rank([1, 0, 1, 0], [4, 3, 2, 1])
    >>> pr.f_beta(ranking).round(6)
    array([0.666667, 0.8     ])
    >>> pr.f_beta(ranking, modified=True).round(6)
    array([0.666667, 0.5     ])
    """
    modified = _validation.as_flag(modified, "modified")
    require_ranking(ranking, missed=True)
    share = recall_share(beta)
    if not ranking.all_positives or (modified and not ranking.n_neg):
        warn_undefined(ranking, "F-measure" if not modified else "modified F-measure", 4)
    tp, fp, n = float_counts(ranking)
    if not modified:
        found = four_counts.f_beta(share).of(FourCounts(tp, fp, n - tp, float(ranking.n_neg) - fp))
        return np.asarray(np.where(np.isnan(found), 0.0, found))
    recall, fpr = ratio(tp, n), ratio(fp, float(ranking.n_neg))
    # (p - pi) / (1 - pi) = (TP - n FPR) / (TP + FP), chance being a choice among rows with a score.
    luck = tp - float(ranking.n_pos) * fpr
    above_chance = ratio(luck, tp + fp) if ranking.n_neg else np.zeros_like(tp)
    better = above_chance > 0
    mean = share / np.where(better, recall, 1.0)
    mean += (1.0 - share) / np.where(better, above_chance, 1.0)
    return np.where(better, 1.0 / mean, 0.0)


def float_counts(ranking: Ranking) -> tuple[FloatArray, FloatArray, float]:
    """TP, FP and the number of positives as floats."""
    return (
        ranking.tp.astype(np.float64),
        ranking.fp.astype(np.float64),
        float(ranking.all_positives),
    )

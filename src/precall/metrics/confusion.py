"""Metrics of one threshold: the rows with ``score >= threshold`` are selected."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .. import _validation
from ..exceptions import InputError
from ..ranking import Ranking
from ..ranking.number_layout import Cells
from .base import Metric, OnData, totals
from .four_counts import MEASURES, CountMeasure, CountShare, FourCounts, f_beta, recall_share


@dataclass(frozen=True)
class OfCounts(Metric):
    """A function of the true and the false positives at one threshold, its `cut`.

    A subclass defines :attr:`cut`, :meth:`of` and :meth:`slopes`. It takes Rows, or a Ranking that
    kept the threshold: ``rank(..., thresholds=[t])``.
    """

    needs_negatives = False
    rules: ClassVar[Any] = (
        "clopper_pearson",
        "wilson",
        "influence",
        "bootstrap_percentile",
        "bootstrap_bca",
        "bootstrap_t",
    )
    smooth = True
    of_ranks = False
    only_counts: ClassVar[Any] = True
    counts_missed = True

    @property
    def cut(self) -> float:
        """The threshold."""
        raise NotImplementedError(f"{type(self).__name__} needs a cut.")

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Its threshold."""
        return (self.cut,)

    @property
    def title(self) -> str:
        """What it is called in tables."""
        return f"{self.summary} at threshold {self.cut:g}"

    @property
    def explanation(self) -> str:  # type: ignore[override]
        """What is done at the threshold; the title says what is measured."""
        return f"Rows with scores of {self.cut:g} and above are selected."

    @property
    def plain_share(self) -> CountShare | None:
        """The share of rows that it is a function of, where it is one."""
        return None

    def of(self, tp: Any, fp: Any, n: Any, m: Any) -> Any:
        """Return the metric of counts: true and false positives, all positives and negatives."""
        raise NotImplementedError(f"{type(self).__name__} needs of(tp, fp, n, m).")

    def slopes(self, tp: Any, fp: Any, n: Any, m: Any) -> tuple[Any, Any]:
        """Return its derivatives by the true and by the false positives."""
        raise NotImplementedError(f"{type(self).__name__} needs slopes(tp, fp, n, m).")

    def on(self, data: Any) -> Metric:
        """Return the metric with the number of rows at or above the threshold."""
        selected = data.rows_reaching(self.cut)
        return OnRows(at=self, selected=selected)

    def value(self, cells: Cells, squares: Cells | None = None) -> Any:
        """A threshold has no place among cells alone."""
        raise InputError(f"{self} needs the thresholds of a ranking: use its on(ranking).")

    def floor(self, ranking: Ranking) -> float | None:
        """Return 0 where that is the worst value."""
        return 0.0 if self.bounds[0] == 0.0 and not self.lower_is_better else None


@dataclass(frozen=True)
class AtThreshold(OfCounts):
    """A function of the true and the false positives at a threshold.

    A subclass defines :meth:`of` and :meth:`slopes`.

    Parameters
    ----------
    threshold : float
    """

    threshold: float

    def __post_init__(self) -> None:
        """Check the threshold."""
        checked = _validation.as_number(self.threshold, "threshold")
        object.__setattr__(self, "threshold", checked)

    @property
    def cut(self) -> float:
        """The threshold."""
        return self.threshold


@dataclass(frozen=True)
class OnRows(OnData):
    """A metric of a threshold whose place is known: after the first `selected` rows."""

    at: OfCounts = field(repr=False)
    selected: Any

    needs_negatives = False
    smooth = True
    of_ranks = False

    def take(self, groups: npt.NDArray[np.int64]) -> Metric:
        """Return the metric on some of the groups."""
        return OnRows(at=self.at, selected=self.selected[groups])

    def of_ranking(self, ranking: Ranking) -> float:
        """Return the metric of the ranking that it was put on."""
        return float(self.at.of(*self.counts(ranking)))

    def counts(self, ranking: Ranking) -> tuple[Any, Any, Any, Any]:
        """Return true and false positives, all positives and all negatives of one ranking."""
        last = self.selected - 1
        tp, fp = (ranking.tp[last], ranking.fp[last]) if self.selected else (0, 0)
        return tp, fp, ranking.all_positives, ranking.n_neg

    def _counts(self, cells: Cells) -> tuple[Any, Any, Any, Any, Any]:
        chosen = np.arange(cells.positives.shape[-1]) < np.asarray(self.selected)[..., np.newaxis]
        tp = np.sum(np.where(chosen, cells.positives, 0), axis=-1)
        fp = np.sum(np.where(chosen, cells.above + cells.tied, 0), axis=-1)
        return chosen, tp, fp, *totals(cells)

    def value(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the metric."""
        return np.asarray(self.at.of(*self._counts(cells)[1:]))[()]

    def gradient(self, cells: Cells) -> Cells:
        """Return the derivative by the weight of each cell, up to one constant per class."""
        chosen, *counts = self._counts(cells)
        by_tp, by_fp = (np.asarray(slope)[..., np.newaxis] for slope in self.at.slopes(*counts))
        negative = np.where(chosen, by_fp, 0.0)
        return Cells(
            np.where(chosen, by_tp, 0.0), negative, negative, np.zeros(np.shape(counts[0]))
        )


@dataclass(frozen=True)
class OfMeasure(AtThreshold):
    """A measure of the four counts at a threshold; 0 where it has no value."""

    @property
    def measure(self) -> CountMeasure:
        """The measure."""
        raise NotImplementedError(f"{type(self).__name__} needs a measure.")

    @property
    def plain_share(self) -> CountShare | None:
        """The share of rows that it is a function of, where it is one."""
        share = self.measure
        return share if isinstance(share, CountShare) and share.weights is not None else None

    def of(self, tp: Any, fp: Any, n: Any, m: Any) -> Any:
        """Return the measure."""
        found = self.measure.of(_four(tp, fp, n, m))
        return np.where(np.isnan(found), 0.0, found)

    def slopes(self, tp: Any, fp: Any, n: Any, m: Any) -> tuple[Any, Any]:
        """Return the derivatives."""
        return self.measure.slopes(_four(tp, fp, n, m))


def _four(tp: Any, fp: Any, n: Any, m: Any) -> FourCounts:
    # Cumulated weights may pass their total by a rounding error.
    return FourCounts(tp, fp, np.maximum(n - tp, 0), np.maximum(m - fp, 0))


@dataclass(frozen=True)
class FBeta(OfMeasure):
    """The weighted harmonic mean of precision and recall at a threshold.

    Parameters
    ----------
    threshold : float
    beta : float, default 1
        Recall counts ``beta**2`` times as much as precision.
    """

    beta: float = 1.0

    name = "f_beta_at_threshold"
    summary = "F-measure"

    def __post_init__(self) -> None:
        """Check beta too."""
        super().__post_init__()
        if not 0.0 <= _validation.as_number(self.beta, "beta") < np.inf:
            raise InputError(f"beta must not be negative, and finite, got {self.beta!r}.")

    @property
    def measure(self) -> CountMeasure:
        """``(1 + b^2) TP / (TP + FP + b^2 n)``."""
        return f_beta(recall_share(self.beta))


def _at_threshold(
    class_name: str, measure: str, summary: str, what: str, *, name: str = ""
) -> type[OfMeasure]:
    """Make the metric of a measure."""
    chosen = MEASURES[measure]
    kind = type(
        class_name,
        (OfMeasure,),
        {
            "__doc__": f"{what}\n\n    Parameters\n    ----------\n    threshold : float\n    ",
            "__module__": __name__,
            "name": name or f"{measure}_at_threshold",
            "summary": summary,
            "bounds": chosen.bounds,
            "lower_is_better": chosen.lower_is_better,
            "unit": chosen.bounds,
            "measure": chosen,
        },
    )
    return dataclass(frozen=True)(kind)


PrecisionAtThreshold = _at_threshold(
    "PrecisionAtThreshold",
    "precision",
    "precision",
    "The share of positives among the rows at or above a threshold.",
)
RecallAtThreshold = _at_threshold(
    "RecallAtThreshold",
    "recall",
    "recall",
    "The share of the positives that are at or above a threshold.",
)
F1 = _at_threshold("F1", "f1", "F1", "The harmonic mean of precision and recall at a threshold.")
Specificity = _at_threshold(
    "Specificity",
    "specificity",
    "specificity",
    "The share of the negatives that are under a threshold.",
)
FalsePositiveRate = _at_threshold(
    "FalsePositiveRate",
    "false_positive_rate",
    "false-positive rate",
    "The share of the negatives that are at or above a threshold.",
)
FalseNegativeRate = _at_threshold(
    "FalseNegativeRate",
    "false_negative_rate",
    "false-negative rate",
    "The share of the positives that are under a threshold.",
)
NegativePredictiveValue = _at_threshold(
    "NegativePredictiveValue",
    "negative_predictive_value",
    "negative predictive value",
    "The share of negatives among the rows under a threshold.",
)
Accuracy = _at_threshold(
    "Accuracy",
    "accuracy",
    "accuracy",
    "The share of all rows that a threshold puts on the right side.",
)
BalancedAccuracy = _at_threshold(
    "BalancedAccuracy",
    "balanced_accuracy",
    "balanced accuracy",
    "The mean of recall and specificity at a threshold.",
)
Informedness = _at_threshold(
    "Informedness",
    "informedness",
    "informedness",
    "Recall plus specificity less 1 at a threshold (Youden's index).",
)
Jaccard = _at_threshold(
    "Jaccard",
    "jaccard",
    "Jaccard index",
    "True positives over all rows that are positive or selected (threat score).",
)
MatthewsCorrelation = _at_threshold(
    "MatthewsCorrelation",
    "matthews_correlation",
    "Matthews correlation",
    "The correlation between being positive and being selected at a threshold.",
    name="mcc_at_threshold",
)

#: Those that nothing else names.
AT_THRESHOLDS: tuple[type[OfMeasure], ...] = (
    Specificity,
    FalsePositiveRate,
    FalseNegativeRate,
    NegativePredictiveValue,
    Accuracy,
    BalancedAccuracy,
    Informedness,
    Jaccard,
    MatthewsCorrelation,
)

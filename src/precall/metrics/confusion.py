"""Metrics of one threshold: the rows with ``score >= threshold`` are selected."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._numerics import ratio
from ..exceptions import InputError
from ..ranking.number_layout import Cells
from .base import Metric, totals


@dataclass(frozen=True)
class AtThreshold(Metric):
    """A function of the true and the false positives at a threshold.

    A subclass defines :meth:`of` and :meth:`slopes`. It takes Rows, or a Ranking that kept the
    threshold: ``rank(..., thresholds=[t])``.
    """

    threshold: float

    needs_negatives = False
    rules = ("influence", "bootstrap_percentile", "bootstrap_bca", "bootstrap_t")
    smooth = True
    of_ranks = False
    counts_missed = True

    def __post_init__(self) -> None:
        """Check the threshold."""
        checked = _validation.as_number(self.threshold, "threshold")
        object.__setattr__(self, "threshold", checked)

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Its threshold."""
        return (self.threshold,)

    @property
    def title(self) -> str:
        """What it is called in tables."""
        return f"{self.summary} at threshold {self.threshold:g}"

    def of(self, tp: Any, fp: Any, n: Any, m: Any) -> Any:
        """Return the metric of counts: true and false positives, all positives and negatives."""
        raise NotImplementedError(f"{type(self).__name__} needs of(tp, fp, n, m).")

    def slopes(self, tp: Any, fp: Any, n: Any, m: Any) -> tuple[Any, Any]:
        """Return its derivatives by the true and by the false positives."""
        raise NotImplementedError(f"{type(self).__name__} needs slopes(tp, fp, n, m).")

    def on(self, data: Any) -> Metric:
        """Return the metric with the number of rows at or above the threshold."""
        selected = data.rows_reaching(self.threshold)
        return _OnRows(at=self, selected=selected, missed=data.missed)

    def value(self, cells: Cells, squares: Cells | None = None) -> Any:
        """A threshold has no place among cells alone."""
        raise InputError(f"{self} needs the thresholds of a ranking: use its on(ranking).")


@dataclass(frozen=True)
class _OnRows(Metric):
    """A metric of a threshold whose place is known: after the first `selected` rows."""

    at: AtThreshold = field(repr=False)
    selected: Any
    missed: Any

    needs_negatives = False
    smooth = True
    of_ranks = False

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the metric that was put on the data."""
        return self.at.name

    @property
    def title(self) -> str:
        """Its title."""
        return self.at.title

    @property
    def rules(self) -> tuple[str, ...]:
        """Its interval rules."""
        rules: tuple[str, ...] = self.at.rules
        return rules

    def __str__(self) -> str:
        """Return its words."""
        return str(self.at)

    def take(self, groups: npt.NDArray[np.int64]) -> Metric:
        """Return the metric on some of the groups."""
        return _OnRows(at=self.at, selected=self.selected[groups], missed=self.missed[groups])

    def _counts(self, cells: Cells) -> tuple[Any, Any, Any, Any, Any]:
        chosen = np.arange(cells.positives.shape[-1]) < np.asarray(self.selected)[..., np.newaxis]
        tp = np.sum(np.where(chosen, cells.positives, 0), axis=-1)
        fp = np.sum(np.where(chosen, cells.above + cells.tied, 0), axis=-1)
        n, m = totals(cells)
        return chosen, tp, fp, n + self.missed, m

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
class FBeta(AtThreshold):
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

    def of(self, tp: Any, fp: Any, n: Any, m: Any) -> Any:
        """``(1 + b^2) TP / (TP + FP + b^2 n)``."""
        square = self.beta**2
        return ratio((1.0 + square) * tp, tp + fp + square * n)

    def slopes(self, tp: Any, fp: Any, n: Any, m: Any) -> tuple[Any, Any]:
        """Return the derivatives."""
        square = self.beta**2
        whole = tp + fp + square * n
        by_tp = ratio((1.0 + square) * (whole - tp), whole**2)
        return by_tp, -ratio((1.0 + square) * tp, whole**2)


@dataclass(frozen=True)
class F1(AtThreshold):
    """The harmonic mean of precision and recall at a threshold."""

    name = "f1_at_threshold"
    summary = "F1"

    def of(self, tp: Any, fp: Any, n: Any, m: Any) -> Any:
        """``2 TP / (TP + FP + n)``."""
        return FBeta(self.threshold).of(tp, fp, n, m)

    def slopes(self, tp: Any, fp: Any, n: Any, m: Any) -> tuple[Any, Any]:
        """Return the derivatives."""
        return FBeta(self.threshold).slopes(tp, fp, n, m)


@dataclass(frozen=True)
class PrecisionAtThreshold(AtThreshold):
    """The share of positives among the rows at or above a threshold."""

    name = "precision_at_threshold"
    summary = "precision"

    def of(self, tp: Any, fp: Any, n: Any, m: Any) -> Any:
        """``TP / (TP + FP)``."""
        return ratio(tp, tp + fp)

    def slopes(self, tp: Any, fp: Any, n: Any, m: Any) -> tuple[Any, Any]:
        """Return the derivatives."""
        whole = tp + fp
        return ratio(fp, whole**2), -ratio(tp, whole**2)


@dataclass(frozen=True)
class RecallAtThreshold(AtThreshold):
    """The share of the positives that are at or above a threshold."""

    name = "recall_at_threshold"
    summary = "recall"

    def of(self, tp: Any, fp: Any, n: Any, m: Any) -> Any:
        """``TP / n``."""
        return ratio(tp, n)

    def slopes(self, tp: Any, fp: Any, n: Any, m: Any) -> tuple[Any, Any]:
        """Return the derivatives."""
        return ratio(1.0, n), 0.0 * np.asarray(n)

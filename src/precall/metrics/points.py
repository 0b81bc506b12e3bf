"""Points of the curve: precision at a recall, and recall at a precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._numerics import ratio
from .._rounding import at_least
from ..exceptions import InputError
from ..ranking import Ranking
from ..ranking.number_layout import Cells
from .base import FloatArray, Metric


def as_share(value: object, name: str) -> float:
    """Check a number above 0 and at most 1."""
    number = _validation.as_number(value, name)
    if not 0.0 < number <= 1.0:
        raise InputError(f"{name} must be above 0 and at most 1, got {value!r}.")
    return number


class Point(NamedTuple):
    """Where a path of counts reaches a number of true positives.

    `row` is the row that it lies in, `share` how far inside that row.
    """

    row: npt.NDArray[np.int64]
    share: FloatArray
    fp: FloatArray


def reach(cells: Cells, tp: Any) -> Point:
    """Find the point of the curve with `tp` true positives (one per leading axis)."""
    weight = np.asarray(cells.positives, dtype=np.float64)
    tied = np.asarray(cells.tied, dtype=np.float64)
    arrival, fp = cells.tp, cells.fp
    target = np.asarray(tp)[..., np.newaxis]
    # A target that rounding put just over an observed recall is that recall.
    passed = np.count_nonzero(arrival < target * (1.0 - 1e-12), axis=-1)[..., np.newaxis]
    row = np.minimum(passed, weight.shape[-1] - 1)

    def at(values: FloatArray) -> FloatArray:
        return np.take_along_axis(values, row, axis=-1)

    share = np.clip(1.0 - ratio(at(arrival) - target, at(weight)), 0.0, 1.0)
    tied = np.broadcast_to(tied, weight.shape)
    return Point(row, share, (at(fp) - (1.0 - share) * at(tied))[..., 0])


class CurvePoint(Metric):
    """A point of the curve; positives that were never scored lie beyond its end."""

    counts_missed = True

    def of_ranking(self, ranking: Ranking) -> float:
        """Return the metric of one ranking; 0 where no positive was scored."""
        return float(self.value(ranking.cells)) if ranking.n_pos else 0.0


@dataclass(frozen=True)
class PrecisionAtRecall(CurvePoint):
    """The precision of the curve at one recall.

    Parameters
    ----------
    recall : float
        Above 0 and at most 1.

    Examples
    --------
    >>> import precall as pr
    >>> pr.metrics.precision_at_recall(0.5)(pr.rank([1, 0, 1, 0], [4, 3, 2, 1]))
    1.0
    """

    recall: float

    name = "precision_at_recall"
    summary = "precision of the curve at a recall"
    explanation = (
        "Of the rows selected to find this share of the positives, the share that is positive."
    )
    rules = (
        "mover",
        "fiducial",
        "influence",
        "bootstrap_percentile",
        "bootstrap_bca",
        "bootstrap_t",
    )
    shown = True
    merges_runs = True
    smooth = True

    def __post_init__(self) -> None:
        """Check the recall."""
        object.__setattr__(self, "recall", as_share(self.recall, "recall"))

    @property
    def title(self) -> str:
        """What it is called in tables."""
        return f"precision at recall {self.recall:g}"

    @classmethod
    def shown_with(cls, recall: float) -> Metric:
        """A report shows it at the recall of interest."""
        return cls(recall)

    def value(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the precision; 0 at a recall beyond the end of the curve."""
        tp = self.recall * np.asarray(cells.all_positives)
        reached = at_least(np.sum(cells.positives, axis=-1), tp)
        return np.where(reached, ratio(tp, tp + reach(cells, tp).fp), 0.0)[()]

    def gradient(self, cells: Cells) -> Cells:
        """Precision at recall r moves by its own FP and by the threshold, which positives set.

        The second part needs the slope dFP/dTP there: a difference over one standard deviation of
        the recall at a threshold, to both sides, as far as the sample itself may be off.
        """
        recall = self.recall
        weight = np.asarray(cells.positives, dtype=np.float64)
        n = np.asarray(cells.all_positives, dtype=np.float64)
        width = np.maximum(np.sqrt(recall * (1.0 - recall) / n), 1.0 / n)
        low = np.maximum(recall - width, 0.0) * n
        high = np.minimum((recall + width) * n, np.sum(weight, axis=-1))
        slope = ratio(reach(cells, high).fp - reach(cells, low).fp, high - low)[..., np.newaxis]
        tp = recall * n
        point = reach(cells, tp)
        reached = at_least(np.sum(weight, axis=-1), tp)
        by_fp = np.where(reached, -ratio(tp, (tp + point.fp) ** 2), 0.0)[..., np.newaxis]
        rows = np.arange(weight.shape[-1])
        passed = np.where(rows < point.row, 1.0, np.where(rows == point.row, point.share, 0.0))
        above = np.where(rows <= point.row, by_fp, 0.0)
        return Cells(-by_fp * slope * passed, by_fp * passed, above, np.zeros(n.shape))

    def prevalence_slope(self, cells: Cells) -> Any:
        """Return ``P (1 - P)``: the odds of a selected row are in proportion to those of any."""
        precision = self.value(cells)
        return precision * (1.0 - precision)

    def floor(self, ranking: Ranking) -> float:
        """Return the precision of the worst ranking: that of the minimum curve."""
        tp = self.recall * ranking.all_positives
        return float(tp / (tp + ranking.n_neg)) if self._reached_by(ranking) else 0.0

    def random(self, ranking: Ranking) -> float:
        """Return the prevalence of the rows that have a score; 0 beyond the end of the curve."""
        return ranking.prevalence if self._reached_by(ranking) else 0.0

    def counted(self, ranking: Ranking) -> tuple[float, float] | None:
        """Return the positives and all rows of the first threshold that reaches the recall."""
        if not self._reached_by(ranking):
            return None
        row = int(reach(ranking.cells, self.recall * ranking.all_positives).row.item())
        found = float(ranking.tp[row])
        return found, found + float(ranking.fp[row])

    def _reached_by(self, ranking: Ranking) -> bool:
        return bool(at_least(ranking.n_pos, self.recall * ranking.all_positives))


@dataclass(frozen=True)
class RecallAtPrecision(CurvePoint):
    """The largest recall of a threshold whose precision is at least so much.

    Parameters
    ----------
    precision : float
        Above 0 and at most 1.

    Examples
    --------
    >>> import precall as pr
    >>> pr.metrics.recall_at_precision(0.9)(pr.rank([1, 0, 1, 0], [4, 3, 2, 1]))
    0.5
    """

    precision: float

    name = "recall_at_precision"
    summary = "largest recall of a threshold with at least a precision"
    rules = ("inverted_mover", "bootstrap_percentile")
    merges_runs = True

    def __post_init__(self) -> None:
        """Check the precision."""
        object.__setattr__(self, "precision", as_share(self.precision, "precision"))

    @property
    def title(self) -> str:
        """What it is called in tables."""
        return f"recall at precision {self.precision:g}"

    def value(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the recall; 0 if no threshold is precise enough."""
        tp = cells.tp
        precise = at_least(ratio(tp, tp + cells.fp), self.precision)
        return np.max(np.where(precise, tp, 0), axis=-1) / cells.all_positives

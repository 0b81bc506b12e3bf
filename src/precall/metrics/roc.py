"""The area under the ROC curve, whole or over a range of the false-positive rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _validation
from .._numerics import ratio
from ..ranking import Ranking
from ..ranking.direction import share_in_order
from ..ranking.number_layout import Cells
from .base import FloatArray, Metric, totals
from .gradients import from_here

_WHOLE = (0.0, 1.0)


@dataclass(frozen=True)
class RocArea(Metric):
    """The area under the ROC curve, or the part of it over a range of false-positive rate.

    A positive that was never scored is below every negative: the curve ends at the recall of the
    others.

    Parameters
    ----------
    false_positive_rate : (float, float), default (0.0, 1.0)
        The range.

    Examples
    --------
    >>> import precall as pr
    >>> ranking = pr.rank([1, 0, 1, 0], [4, 3, 2, 1])
    >>> pr.metrics.auroc()(ranking), pr.metrics.auroc(false_positive_rate=(0.0, 0.5))(ranking)
    (0.75, 0.25)
    """

    false_positive_rate: tuple[float, float] = _WHOLE

    name = "auroc"
    title = "AUROC"
    summary = "area under the ROC curve: the share of (positive, negative) pairs in the right order"
    explanation = "Probability that a positive outranks a negative. It does not see the prevalence."
    shown = True
    merges_runs = True
    counts_top = False
    counts_missed = True

    def __post_init__(self) -> None:
        """Check the range."""
        checked = _validation.as_range(self.false_positive_rate, "false_positive_rate")
        object.__setattr__(self, "false_positive_rate", checked)

    @property
    def rules(self) -> tuple[str, ...]:
        """DeLong's variance is that of the whole area."""
        if not self.smooth:
            return ("bootstrap_percentile",)
        formulas = ("delong_beta", "delong_logit", "delong")
        return (*formulas, "bootstrap_percentile", "bootstrap_bca", "bootstrap_t")

    @property
    def smooth(self) -> bool:
        """Whether it is the whole area."""
        return self.false_positive_rate == _WHOLE

    @property
    def unit(self) -> tuple[float, float]:
        """On the unit scale an area is divided by the length of its range."""
        low, high = self.false_positive_rate
        return 0.0, high - low

    @property
    def bounds(self) -> tuple[float, float]:
        """From 0 to the length of the range."""
        return self.unit

    def trials(self, n: Any, m: Any) -> Any:
        """Return the number k of pairs without a common row.

        All are in order with probability ``AUROC**k`` at most, so that the limit at an estimate of
        1 is exact.
        """
        return np.minimum(n, m)

    def value(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the area."""
        fp = cells.fp
        if not self.smooth:
            return self._part(cells, fp)
        n, m = totals(cells)
        return share_in_order(cells.positives, cells.tied, fp, n, m, missed=cells.missed)

    def _part(self, cells: Cells, fp: Any) -> Any:
        """Integrate along the corners: every row begins at its negatives above and ends at fp."""
        low, high = self.false_positive_rate
        n, m = (np.asarray(total)[..., np.newaxis] for total in totals(cells))
        weight = np.asarray(cells.positives, dtype=np.float64)
        arrival, fp = cells.tp / n, np.asarray(fp, dtype=np.float64) / m
        reached = np.sum(weight, axis=-1, keepdims=True) / n
        across = np.stack(np.broadcast_arrays(fp - cells.tied / m, fp), axis=-1)
        up = np.stack(np.broadcast_arrays(arrival - weight / n, arrival), axis=-1)
        flat = (*arrival.shape[:-1], 2 * arrival.shape[-1])
        nothing, everything = np.zeros_like(n), np.ones_like(n)
        across = np.concatenate([nothing, across.reshape(flat), everything], axis=-1)
        up = np.concatenate([nothing, up.reshape(flat), reached], axis=-1)
        left, right = across[..., :-1], across[..., 1:]
        start, stop = np.clip(left, low, high), np.clip(right, low, high)
        slope = ratio(np.diff(up, axis=-1), right - left)
        return np.sum((stop - start) * (up[..., :-1] + slope * (0.5 * (start + stop) - left)), -1)

    def prevalence_slope(self, cells: Cells) -> Any:
        """It does not see the prevalence."""
        return np.zeros(np.shape(cells.below))[()]

    def gradient(self, cells: Cells) -> Cells:
        """Return the structural components of DeLong, DeLong & Clarke-Pearson (1988)."""
        if not self.smooth:
            raise self.no_gradient()
        weight = np.asarray(cells.positives, dtype=np.float64)
        n, m = (np.asarray(total)[..., np.newaxis] for total in totals(cells))
        misplaced = cells.fp - 0.5 * cells.tied
        # A missed positive is below every negative.
        missed = np.asarray(cells.missed, dtype=np.float64)[..., np.newaxis]
        lower = from_here(weight) + missed
        return Cells(
            -misplaced / (n * m),
            -(lower - 0.5 * weight) / (n * m),
            -lower / (n * m),
            np.broadcast_to(-missed / (n * m), n.shape)[..., 0],
            -1.0 / n[..., 0],
        )

    def random(self, ranking: Ranking) -> float:
        """Return the area under the diagonal."""
        low, high = self.false_positive_rate
        return 0.5 * (high**2 - low**2)

    def per_group(self, rankings: Any) -> FloatArray:
        """The whole area needs one sum per group."""
        if not self.smooth:
            return super().per_group(rankings)
        share: FloatArray = share_in_order(
            rankings.cells.positives,
            rankings.cells.tied,
            rankings.fp,
            rankings.all_positives,
            rankings.n_neg,
            add=rankings.sums,
            missed=rankings.missed,
        )
        return share

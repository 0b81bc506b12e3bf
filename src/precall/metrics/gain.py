"""The area under the precision-recall-gain curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._numerics import in_blocks, ratio
from ..exceptions import InputError
from ..ranking import Ranking
from ..ranking.number_layout import Cells
from ._kernels import make_steps
from .base import FloatArray, Metric, totals
from .gradients import after_here
from .points import reach

# How near to a point its two sides are looked at.
_NEAR = 1e-9


@dataclass(frozen=True)
class GainArea(Metric):
    """The area under the precision-recall-gain curve.

    ``precG = 1 - (pi/(1-pi)) FP/TP`` over ``recG = 1 - (pi/(1-pi)) FN/TP`` from 0 to 1, linear
    between points. Negative precision gain counts as it is: a constant scorer has area 0, a
    perfect one 1, and there is no lowest value.

    References
    ----------
    Flach & Kull, *Precision-recall-gain curves: PR analysis done right*, 2015.
    """

    name = "auprg"
    title = "AUPRG"
    summary = "area under the precision-recall-gain curve"
    explanation = "Area under the precision-recall-gain curve: 0 is random, 1 perfect."
    rules = ("gain_guarded", "gain_influence", "bootstrap_percentile", "bootstrap_bca")
    shown = True
    bounds = (-np.inf, 1.0)
    merges_runs = True
    smooth = True

    def require_all_scored(self, rankings: Any) -> None:
        """Raise where positives were missed, and say why nothing else can be done."""
        if np.any(rankings.missed):
            raise InputError(
                f"{self} has no value with missed positives: at their recalls precision is 0, and "
                "a precision of 0 is a gain of minus infinity; take aucpr or aucnpr."
            )

    def value(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the area."""
        steps = make_steps(cells)
        counts = (steps.tp0, steps.fp0, steps.tp1, steps.fp1, steps.weight)
        return np.sum(_gained(*counts, steps.n_pos, steps.n_neg), axis=-1)

    def prevalence_slope(self, cells: Cells) -> Any:
        """Return the area less the precision gain where the recall gain is 0.

        With the negatives ``c`` times as many, precision gains over recall gains stay, but recall
        gains become ``1/c`` times as dense and begin at a recall ``1/c`` times as high, if small.
        """
        n, m = (np.asarray(total, dtype=np.float64) for total in totals(cells))
        begin = n * n / (n + m)
        # From both sides: negatives may lie just there.
        passed = sum(reach(cells, begin * (1.0 + side)).fp for side in (-_NEAR, _NEAR)) / 2.0
        return self.value(cells) - (1.0 - n / m * ratio(passed, begin))

    def gradient(self, cells: Cells) -> Cells:
        """The gain area is ``const - (n^3/m^2)`` times the integral of ``FP(t)/t^3`` over TP t.

        It runs from ``t = n^2/N``. A negative raises FP(t) from its place on; a positive moves
        FP(t) down to ``FP(t - 1)`` there.
        """
        weight = np.asarray(cells.positives, dtype=np.float64)
        tied = np.broadcast_to(np.asarray(cells.tied, dtype=np.float64), weight.shape)
        n, m = (np.asarray(total)[..., np.newaxis] for total in totals(cells))
        tp1 = np.asarray(cells.tp, dtype=np.float64)
        begin = n * n / (n + m)
        start, stop = np.maximum(tp1 - weight, begin), np.maximum(tp1, begin)
        scale = n**3 / m**2
        rest = 0.5 * (1.0 / stop**2 - 1.0 / n**2)
        inside = 0.5 * (1.0 / start**2 - 1.0 / stop**2)
        # Mean over the row of (t - tp0)/w, the share of its negatives passed, over t^3.
        ramp = ratio((1.0 / start - 1.0 / stop) - (tp1 - weight) * inside, weight)
        slope = ratio(tied, weight)
        # In a row without positives the tied negatives are passed at once, like those above.
        passed = cells.above + np.where(weight > 0, 0.0, tied)
        by_jump = after_here(np.where(tp1 - weight >= begin, passed / start**3, 0.0))
        return Cells(
            scale * (by_jump + after_here(slope * inside) + slope * ramp),
            -scale * (rest + ramp),
            -scale * (rest + inside),
            np.zeros(weight.shape[:-1]),
        )

    def blind_spot(self, ranking: Ranking) -> str:
        """The gain area weighs recalls near the prevalence most; with n pi < 1 none was seen."""
        seen = ranking.effective_sizes[0] * ranking.prevalence
        if seen >= 1.0:
            return ""
        return (
            "the precision-recall-gain area depends most on recalls near the prevalence, where "
            f"{seen:.2g} positives are expected: it is too low on average and its interval wide; "
            "use aucpr or aucnpr."
        )

    def convention(self, ranking: Ranking) -> float:
        """With no positives 0, with no negatives 1."""
        return float(ranking.n_pos > 0)

    def floor(self, ranking: Ranking) -> None:
        """There is no lowest value."""
        return

    def random(self, ranking: Ranking) -> float:
        """A constant scorer has 0."""
        return 0.0


@in_blocks
def _gained(tp0: Any, fp0: Any, tp1: Any, fp1: Any, weight: Any, n: Any, m: Any) -> FloatArray:
    """The area over each row."""
    odds = n / m
    # recG = 0 where TP = n^2 / N.
    start = np.maximum(tp0, n**2 / (n + m))
    stop = np.maximum(tp1, start)
    share = ratio(start - tp0, weight)
    fp_start = fp0 + share * (fp1 - fp0)
    gain = 1 - 0.5 * odds * (fp_start / start + fp1 / stop)
    # recG rises by odds n (1/start - 1/stop) over the row.
    rise = odds * n * (stop - start) / (start * stop)
    return np.where(stop > start, rise * gain, 0.0)

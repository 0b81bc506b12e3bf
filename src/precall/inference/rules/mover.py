"""Precision at a recall, from the limits of its parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...metrics.points import reach
from .. import limits
from .rule import ClosedForm, Counts, Formula, total_negatives


@dataclass(frozen=True, kw_only=True)
class Mover(Formula):
    """Limits recovered from those of the recall and of the number of negatives above.

    Where the threshold of that recall lies: the recall may be off by z standard deviations to both
    sides. With few positives it may lie below them all: the largest of n uniform numbers is under
    ``(alpha/2)**(1/n)`` with probability alpha/2, and the curve goes straight from there to the
    last row. How many negatives rank above it: a Poisson number. The distances of the limits add in
    squares (Zou & Donner 2008), so the steps of the curve need no slope. Where positives were
    missed the curve ends before recall 1, and precision is 0 beyond: the lower limit is 0 where it
    may have ended, the upper one where it surely has.
    """

    # The parts know clusters by their effective sizes.
    takes_variance: ClassVar[bool] = False

    def variance(self, counts: Counts) -> Any:
        """Return only what the prevalence adds: the parts come later."""
        slope = (
            counts.metric.prevalence_slope(counts.cells)
            if counts.varying
            else 0.0 * counts.estimate
        )
        return slope**2 * (1.0 / counts.sizes[0] + 1.0 / counts.sizes[1])

    def error(self, form: ClosedForm) -> float:
        """Return half of what an interval of plus and minus one has."""
        low, high = self.limits(form, math.erf(math.sqrt(0.5)))
        return float(high - low) / 2.0

    def limits(self, form: ClosedForm, level: float) -> tuple[Any, Any]:
        """Return the limits."""
        recall = form.metric.recall  # type: ignore[attr-defined]
        n = form.sizes[0]
        z = limits.normal_quantile(level)
        total = form.cells.all_positives
        tp = recall * total
        off = z * np.sqrt(recall * (1.0 - recall) / n)
        near, far = (
            reach(form.cells, np.clip(recall + sign * off, 0.5 / n, 1.0) * total).fp
            for sign in (-1.0, 1.0)
        )
        # The last positive may have a recall under this one: the threshold is then below them all.
        last = (0.5 * (1.0 - level)) ** (1.0 / n)
        beyond = np.maximum(recall - last, 0.0) / (1.0 - last)
        far = far + beyond * (total_negatives(form.cells) - far)
        weight = form.negative_weight
        passed = reach(form.cells, tp).fp
        few, many = limits.poisson_limits(passed / weight, level)
        missed = np.any(form.cells.missed)
        # Beyond the end of the curve the estimate is 0: what precision would be if it went on.
        middle = tp / (tp + passed) if missed else np.asarray(form.estimate)
        own = z * np.sqrt(form.variance)
        low, high = (
            np.sqrt((middle - tp / (tp + by)) ** 2 + (middle - tp / (tp + count)) ** 2 + own**2)
            for by, count in ((far, many * weight), (near, few * weight))
        )
        low, high = np.clip(middle - low, 0.0, 1.0), np.clip(middle + high, 0.0, 1.0)
        if not missed:
            return low, high
        # Where the curve ends is a share of the positives, with limits of its own.
        scored = n * np.sum(form.cells.positives, axis=-1) / total
        earliest, latest = limits.share_limits(scored, n, 0.5 * (1.0 - level))
        return np.where(recall > earliest, 0.0, low), np.where(recall > latest, 0.0, high)


MOVER = Mover(
    key="mover",
    name="mover",
    clustered=True,
    summary="limits recovered from those of the recall and of the negatives above",
    source="Zou & Donner 2008",
    caution="short with 20 positives at high recall and low prevalence",
)

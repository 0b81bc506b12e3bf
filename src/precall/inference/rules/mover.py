"""Precision at a recall, from the limits of its parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
    squares (Zou & Donner 2008), so the steps of the curve need no slope. At a cliff of the curve
    the two do more together than that: the limits are not inside of what they do if each takes a
    part of the error. Where positives were
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
        total = form.cells.all_positives
        tp = recall * total
        shared = [*limits.two_errors(level)]
        passed, (near, far), *others = _passed(form, recall, [level, *(one for one, _ in shared)])
        weight = form.negative_weight
        few, many = limits.poisson_limits(passed / weight, level)
        missed = np.any(form.cells.missed)
        # Beyond the end of the curve the estimate is 0: what precision would be if it went on.
        middle = tp / (tp + passed) if missed else np.asarray(form.estimate)
        own = limits.normal_quantile(level) * np.sqrt(form.variance)
        low, high = (
            np.sqrt((middle - tp / (tp + by)) ** 2 + (middle - tp / (tp + count)) ** 2 + own**2)
            for by, count in ((far, many * weight), (near, few * weight))
        )
        for (near, far), (_, of_count) in zip(others, shared, strict=True):
            low = np.maximum(low, middle - _counted(form, tp, far, of_count)[0])
            high = np.maximum(high, _counted(form, tp, near, of_count)[1] - middle)
        low, high = np.clip(middle - low, 0.0, 1.0), np.clip(middle + high, 0.0, 1.0)
        if not missed:
            return low, high
        # Where the curve ends is a share of the positives, with limits of its own.
        scored = n * np.sum(form.cells.positives, axis=-1) / total
        earliest, latest = limits.share_limits(scored, n, 0.5 * (1.0 - level))
        return np.where(recall > earliest, 0.0, low), np.where(recall > latest, 0.0, high)


def _passed(form: ClosedForm, recall: Any, levels: Sequence[float]) -> list[Any]:
    """Negatives above the threshold, then above its nearest and farthest place at each level.

    The number of positives above it is binomial: nearly normal, and skewed where nearly all or
    nearly none are (the first term of Cornish and Fisher), which moves one of the two outwards.
    """
    n, total = form.sizes[0], form.cells.all_positives
    deviation = np.sqrt(recall * (1.0 - recall) / n)
    places = [recall + 0.0 * deviation]
    for level in levels:
        z = limits.normal_quantile(level)
        skew = (1.0 - 2.0 * recall) * max(z**2 - 1.0, 0.0) / (6.0 * n)
        near = recall - z * deviation + np.minimum(skew, 0.0)
        far = recall + z * deviation + np.maximum(skew, 0.0)
        places += [np.clip(place, 0.5 / n, 1.0) for place in (near, far)]
    # All places are looked up at once.
    cells = form.cells._replace(
        positives=np.asarray(form.cells.positives)[np.newaxis],
        tied=np.asarray(form.cells.tied)[np.newaxis],
        above=np.asarray(form.cells.above)[np.newaxis],
    )
    found = reach(cells, np.stack(places) * total).fp
    pairs = []
    for place, level in enumerate(levels):
        # The last positive may have a recall under this one: the threshold is then below them all.
        last = (0.5 * (1.0 - level)) ** (1.0 / n)
        beyond = np.maximum(recall - last, 0.0) / (1.0 - last)
        near, far = found[2 * place + 1 : 2 * place + 3]
        pairs.append((near, far + beyond * (total_negatives(form.cells) - far)))
    return [found[0], *pairs]


def _counted(form: ClosedForm, tp: Any, passed: Any, level: float) -> tuple[Any, Any]:
    """Limits of precision where so many negatives are above the threshold, wherever that is."""
    n, m = form.sizes
    precision, weight = tp / (tp + passed), form.negative_weight
    share = 1.0 / n + 1.0 / m if form.varying else 0.0
    own = limits.normal_quantile(level) * precision * (1.0 - precision) * np.sqrt(share)
    few, many = limits.poisson_limits(passed / weight, level)
    return (
        precision - np.hypot(precision - tp / (tp + many * weight), own),
        precision + np.hypot(tp / (tp + few * weight) - precision, own),
    )


MOVER = Mover(
    key="mover",
    name="mover",
    clustered=True,
    summary="limits recovered from those of the recall and of the negatives above",
    source="Zou & Donner 2008",
    caution="a little short just beside a cliff of the curve: .92 to .96 instead of .95",
)

"""The metric's own influence variance, stabilised at small n, with or without a guard."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from .. import limits
from ..influence import deciding_rows, linearise, total_variance
from .rule import ClosedForm, Counts, Formula


@dataclass(frozen=True, kw_only=True)
class Stabilised(Formula):
    """Influence variance, drawn towards the binomial one; with `guarded` room for unseen rows.

    That room is the rule of three and, because a sample that shows no negative on top may be too
    good by chance besides, :func:`limits.unseen_levels`.
    """

    guarded: bool
    takes_unbiased: ClassVar[bool] = True
    takes_design_effect: ClassVar[bool] = True

    def variance(self, counts: Counts) -> Any:
        """Return the influence variance, the top-ranked negative counted once more."""
        linear = linearise(counts.metric, counts.cells, counts.squares, slope=counts.varying)
        top = None if counts.local is None else counts.local.top[1]
        return total_variance(counts.metric, linear, counts.cells, counts.sizes, top)

    def limits(self, form: ClosedForm, level: float) -> tuple[Any, Any]:
        """Return the limits."""
        return self._limits(form, level, level, one_sided=False)

    def one_sided(self, form: ClosedForm, level: float) -> tuple[Any, Any]:
        """Return limits that hold each by itself.

        Rows of a kind that was not seen move one limit only: that one may make all of its error
        by them.
        """
        return self._limits(form, level, 0.5 * (1.0 + level), one_sided=True)

    def _limits(
        self, form: ClosedForm, level: float, unseen_level: float, *, one_sided: bool
    ) -> tuple[Any, Any]:
        n, local = form.sizes[0], form.local
        few = {}
        if local is not None:
            worth = deciding_rows(form.metric, form.cells, local.squares, local.counts)
            few = {"correction": local.correction(n), "stretch": local.stretch(n, worth, level)}
            n = local.deciding(n)
        low, high = limits.influence_limits(
            form.estimate,
            form.variance,
            n,
            level,
            **few,
            share=form.metric.share_of_positives,
            unbiased=form.unbiased,
            guard=form.guard(unseen_level) if self.guarded else None,
            ceiling=form.ceiling(unseen_level) if self.guarded else None,
            one_sided=one_sided,
            unseen=_with_unseen(form, level, one_sided=one_sided) if self.guarded else (),
        )
        if self.guarded and form.metric.share_of_positives < 1.0:
            lowest, highest = form.moved(level)
            low, high = np.minimum(low, lowest), np.maximum(high, highest)
        return low, high


def _with_unseen(
    form: ClosedForm, level: float, *, one_sided: bool
) -> Iterator[tuple[Callable[[], Any], float]]:
    """The metric with some unseen negatives above everything, and the level of its limit."""
    for number, allowed in limits.unseen_levels(level, one_sided=one_sided):
        yield partial(form.topped, 1.0 - math.exp(-number)), allowed


INFLUENCE = Stabilised(
    key="influence",
    name="influence",
    guarded=False,
    clustered=True,
    summary="the estimator's own variance, stabilised at small n",
    source="this library",
    caution="blind to negatives that could outrank everything and have not been seen yet",
)
GUARDED = Stabilised(
    key="guarded",
    name="guarded",
    guarded=True,
    clustered=True,
    summary="influence, with room for unseen rows of either class at the top; the default",
    source="this library",
    caution="wider than need be for nearly perfect rankings at prevalence 1/2",
)

"""Limits of a metric that is bounded by 1 only: the PR-gain area."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import gain_limits
from .rule import ClosedForm
from .stabilised import Stabilised


@dataclass(frozen=True, kw_only=True)
class GainInfluence(Stabilised):
    """Influence variance on the scale of ``log(1 - t)``."""

    takes_unbiased: ClassVar[bool] = False

    def limits(self, form: ClosedForm, level: float) -> tuple[Any, Any]:
        """Return the limits."""
        ends = gain_limits.log_limits(form.estimate, form.variance, level)
        return gain_limits.gain_ends(form.estimate, *ends, *form.sizes, level)

    def one_sided(self, form: ClosedForm, level: float) -> tuple[Any, Any]:
        """Return the same limits: they err about as often to either side."""
        return self.limits(form, level)


@dataclass(frozen=True, kw_only=True)
class GainGuarded(GainInfluence):
    """The distance from 1 as a gamma number, with room for what a sample does not show.

    The area weighs recalls near the prevalence most, where few positives are: how far the curve
    falls there hangs on where the first positives lie. So neither limit is inside of the area that
    rows of a kind that was not seen would make, above everything, or recalls that are all off to
    one side, with the prevalence, where it is unknown, off to either.
    """

    def limits(self, form: ClosedForm, level: float) -> tuple[Any, Any]:
        """Return the limits."""
        return self._limits_with(form, level, level)

    def one_sided(self, form: ClosedForm, level: float) -> tuple[Any, Any]:
        """Return limits that hold each by itself: rows that were not seen move one of them."""
        return self._limits_with(form, level, 0.5 * (1.0 + level))

    def _limits_with(self, form: ClosedForm, level: float, unseen_level: float) -> tuple[Any, Any]:
        low, high = gain_limits.gamma_limits(form.estimate, form.variance, level)
        low, high = gain_limits.gain_ends(form.estimate, low, high, *form.sizes, level)
        low = np.minimum(low, form.guard(unseen_level))
        high = np.maximum(high, form.ceiling(unseen_level))
        # More positives among the rows may raise the area or lower it.
        lowest, highest = form.shifted(level, -1.0, 1.0)
        low, high = np.minimum(low, lowest), np.maximum(high, highest)
        return np.minimum(low, form.estimate), np.maximum(high, form.estimate)


GAIN_GUARDED = GainGuarded(
    key="gain_guarded",
    name="guarded",
    guarded=True,
    clustered=True,
    summary="influence, the distance from 1 as a gamma number, with room for what was not seen",
    source="this library",
    caution="wide where the number of positives times the prevalence is under 1",
)
GAIN_INFLUENCE = GainInfluence(
    key="gain_influence",
    name="influence",
    guarded=False,
    clustered=True,
    summary="the estimator's own variance, on the scale of log(1 - t)",
    source="this library",
    caution="useless where the number of positives times the prevalence is under 1",
)

"""Limits of a metric that is bounded by 1 only: the PR-gain area."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .. import limits
from .rule import ClosedForm
from .stabilised import Stabilised


@dataclass(frozen=True, kw_only=True)
class Gain(Stabilised):
    """Influence variance on the scale of ``log(1 - t)``."""

    takes_unbiased: ClassVar[bool] = False

    def limits(self, form: ClosedForm, level: float) -> tuple[Any, Any]:
        """Return the limits."""
        ends = limits.log_limits(form.estimate, form.variance, level)
        return limits.gain_ends(form.estimate, *ends, *form.sizes, level)


GAIN_INFLUENCE = Gain(
    key="gain_influence",
    name="influence",
    guarded=False,
    clustered=True,
    summary="the estimator's own variance, on the scale of log(1 - t)",
    source="this library",
    caution="useless where the number of positives times the prevalence is under 1",
)

"""DeLong's variance of the area under the ROC curve, on three scales."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import limits
from ..influence import linearise, sample_factor
from .rule import ClosedForm, Counts, Formula, wald


@dataclass(frozen=True, kw_only=True)
class DeLong(Formula):
    """Limits on one scale, the ends exact for an estimate of 0 or 1."""

    scale: str

    def variance(self, counts: Counts) -> Any:
        """Return the variance of the structural components of both classes."""
        linear = linearise(counts.metric, counts.cells, counts.squares, slope=False)
        n, m = counts.sizes
        return linear.positives * sample_factor(n) + linear.negatives * sample_factor(m)

    def limits(self, form: ClosedForm, level: float) -> tuple[Any, Any]:
        """Return the limits."""
        if self.scale == "logit":
            return limits.logit_limits(form.estimate, form.variance, form.trials, level)
        if self.scale == "beta":
            return _guarded_beta(form, level)
        return limits.one_sided_ends(form.estimate, *wald(form, level), form.trials, level)


def _guarded_beta(form: ClosedForm, level: float) -> tuple[Any, Any]:
    """Exact limits, with room for a kind of rows that was not seen.

    With k rows of the smaller class, a kind that is ``1 - alpha**(1/k)`` of the class is missing
    from the sample with probability alpha. If it were ranked below everything, the area would be
    ``estimate * alpha**(1/k)``; the lower limit is not above that, and the upper limit not below
    its mirror.
    """
    low, high = limits.beta_limits(form.estimate, form.variance, form.trials, level)
    seen = limits.certain_limit(form.trials, level)
    return (
        np.minimum(low, form.estimate * seen),
        np.maximum(high, 1.0 - (1.0 - form.estimate) * seen),
    )


_SOURCE = "DeLong, DeLong & Clarke-Pearson 1988; with clusters Obuchowski 1997"
DELONG_LOGIT = DeLong(
    key="delong_logit",
    name="logit",
    scale="logit",
    clustered=True,
    summary="DeLong's variance on the logit scale",
    source=_SOURCE,
    caution="short with few positives and an area near 1: .36 where one label in 100 is wrong",
)
DELONG = DeLong(
    key="delong",
    name="delong",
    scale="plain",
    clustered=True,
    summary="DeLong's variance on the plain scale, as most tools print it",
    source=_SOURCE,
    caution="shorter still with few positives and an area near 1",
)
DELONG_BETA = DeLong(
    key="delong_beta",
    name="beta",
    scale="beta",
    clustered=True,
    summary="exact binomial limits of as many trials as DeLong's variance is worth, with room for "
    "a kind of rows that was not seen; the default",
    source="Korn & Graubard 1998, with DeLong's variance; the guard is this library's",
    caution="wider where the others already hold: by 12 % in the median",
)

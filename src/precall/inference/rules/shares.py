"""The area as a share of n positives (Boyd 2014, section 4.3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import limits
from .rule import ClosedForm, Counts, Formula, wald


@dataclass(frozen=True, kw_only=True)
class Share(Formula):
    """The standard error of a share of n positives, on the plain or the logit scale."""

    logit: bool

    def variance(self, counts: Counts) -> Any:
        """Return that of a share."""
        return counts.estimate * (1.0 - counts.estimate) / counts.sizes[0]

    def limits(self, form: ClosedForm, level: float) -> tuple[Any, Any]:
        """Return the limits."""
        n = form.sizes[0]
        if self.logit:
            return limits.logit_limits(form.estimate, form.variance, n, level)
        return limits.one_sided_ends(form.estimate, *wald(form, level), n, level)


BINOMIAL = Share(
    key="binomial",
    name="binomial",
    logit=False,
    summary="the area as a share of n positives, symmetric",
    source="Boyd 2014, section 4.3.3",
    caution="symmetric where the truth is not: .73 instead of .95 on the worst regular model",
)
LOGIT = Share(
    key="logit",
    name="logit",
    logit=True,
    summary="the area as a share of n positives, on the logit scale",
    source="Boyd 2014, section 4.3.3",
    caution="knows nothing of the negatives: .85 instead of .95 with a few outlying ones",
)

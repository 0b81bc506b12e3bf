"""The interval that all the functions of this room return."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from .. import _validation
from .._interval import Interval
from ..metrics import Metric


class Evidence(Protocol):
    """Anything that has limits at every level, on the metric's own scale."""

    def limits(self, confidence_level: float) -> tuple[Any, Any]:
        """Return the lower and the upper limit."""


@dataclass(frozen=True, kw_only=True, repr=False)
class MetricInterval(Interval):
    """An interval that can be asked for another level.

    Attributes
    ----------
    metric : str
        What the interval is about, in the words of :func:`precall.metrics.parse`.
    standard_error : float
        Of the estimate: from the influence values, or the standard deviation of the replicates;
        NaN where the limits are found without one.
    evidence : object
        What the limits are computed from; a bootstrap keeps its replicates here.
    """

    metric: str
    standard_error: float
    evidence: Evidence = field(compare=False)

    def at_level(self, confidence_level: float) -> MetricInterval:
        """Return the interval at another level, without another look at the data.

        Examples
        --------
        >>> import precall as pr
        >>> example = pr.load_example()
        >>> ranking = pr.rank(example.label, example.scores["gradient_boosting"])
        >>> interval = pr.interval(ranking, method="bootstrap_percentile", rng=0)
        >>> narrow = interval.at_level(0.5)
        >>> interval.low < narrow.low < narrow.high < interval.high
        True
        """
        level = _validation.as_fraction(confidence_level, "confidence_level")
        low, high = _limits(self.evidence, self.estimate, level)
        return replace(self, low=low, high=high, confidence_level=level)

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary, without the evidence."""
        names = (
            "metric",
            "estimate",
            "low",
            "high",
            "standard_error",
            "confidence_level",
            "method",
        )
        return {name: getattr(self, name) for name in names}


def one_sided_limits(interval: MetricInterval, confidence_level: float) -> tuple[float, float]:
    """Return two limits each of which is wrong with at most half of ``1 - confidence_level``.

    Those of the interval at that level, unless its evidence knows that it errs more to one side.
    """
    own = getattr(interval.evidence, "one_sided", interval.evidence.limits)
    return _around(interval.estimate, *own(confidence_level))


# Limits and estimate may come from sums in another order.
_ROUNDING = 1e-12


def _limits(evidence: Evidence, estimate: float, level: float) -> tuple[float, float]:
    return _around(estimate, *evidence.limits(level))


def _around(estimate: float, *limits: Any) -> tuple[float, float]:
    low, high = (float(limit) for limit in limits)
    return (
        estimate if 0 < low - estimate < _ROUNDING else low,
        estimate if 0 < estimate - high < _ROUNDING else high,
    )


def from_evidence(
    metric: Metric, method: str, estimate: float, error: float, evidence: Evidence, level: object
) -> MetricInterval:
    """Put an interval together."""
    confidence_level = _validation.as_fraction(level, "confidence_level")
    low, high = _limits(evidence, estimate, confidence_level)
    return MetricInterval(
        metric=str(metric),
        method=method,
        estimate=estimate,
        standard_error=error,
        low=low,
        high=high,
        confidence_level=confidence_level,
        evidence=evidence,
    )

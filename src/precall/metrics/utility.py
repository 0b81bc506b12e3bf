"""What decisions at a threshold are worth: net benefit and expected cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _validation
from ..exceptions import InputError
from .base import Metric
from .confusion import OfCounts

# Squares of costs, summed over rows, stay far from what a float can hold.
_LARGEST_RATIO = 1e12


@dataclass(frozen=True)
class OfDecisions(OfCounts):
    """Gains and losses per row at a threshold, which follows from them for probabilities."""

    # Probabilities are needed where the threshold follows from what errors cost.
    needs_negatives = True
    rules = ("clopper_pearson", "wilson", "bootstrap_percentile", "bootstrap_bca")

    def _set(self, threshold: float | None, **checked: float) -> None:
        if threshold is not None:
            checked["threshold"] = _validation.as_number(threshold, "threshold")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def unit(self) -> tuple[float, float]:
        """Its bounds."""
        low, high = self.bounds
        return float(low), float(high)

    @property
    def of_probabilities(self) -> bool:
        """Whether the scores are taken for probabilities."""
        return self.threshold is None  # type: ignore[attr-defined]

    @property
    def only_counts(self) -> bool:
        """Not where the scores have to be probabilities: those of the positives are looked at."""
        return not self.of_probabilities

    @property
    def title(self) -> str:
        """What it is called in tables."""
        at = "" if self.of_probabilities else f", threshold {self.cut:g}"
        return f"{self.summary} at {self._what}{at}"

    @property
    def _what(self) -> str:
        raise NotImplementedError

    def on(self, data: Any) -> Metric:
        """Refuse scores that are no probabilities where they have to be; those of positives."""
        self._check(data.threshold)
        return super().on(data)

    def check_scores(self, rows: Any, model: str | None = None) -> None:
        """Refuse scores that are no probabilities where they have to be, negatives' too."""
        if rows is not None:
            self._check(rows.scores[rows.model_named(model)])

    def _check(self, scores: Any) -> None:
        if self.of_probabilities:
            require_probabilities(scores, str(self), "give it a threshold of their own")


@dataclass(frozen=True)
class NetBenefit(OfDecisions):
    """Positives found, less false alarms in units of a positive, per row (Vickers & Elkin 2006).

    ``TP/N - FP/N q / (1 - q)``. Selecting nothing has 0, selecting everything
    ``p - (1 - p) q / (1 - q)``.

    Parameters
    ----------
    probability : float
        ``q``, strictly between 0 and 1: the probability from which on acting is worth it.
    threshold : float, optional
        Rows with ``score >= threshold`` are selected; by default the probability itself, which
        takes calibrated probabilities.

    Examples
    --------
    >>> import precall as pr
    >>> pr.metrics.net_benefit(0.2)(pr.Rows([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]))
    0.4375
    """

    probability: float
    threshold: float | None = None

    name = "net_benefit"
    summary = "net benefit"
    explanation = "Positives found, less false alarms in units of a positive, per row."
    with_prevalence = "net_benefit rises with it: groups of high prevalence weigh more."

    def __post_init__(self) -> None:
        """Check both."""
        self._set(
            self.threshold, probability=_validation.as_fraction(self.probability, "probability")
        )

    @property
    def cut(self) -> float:
        """The threshold."""
        return self.probability if self.threshold is None else self.threshold

    @property
    def _odds(self) -> float:
        return self.probability / (1.0 - self.probability)

    @property
    def _what(self) -> str:
        return f"probability {self.probability:g}"

    @property
    def bounds(self) -> tuple[float, float]:
        """Only false alarms, and nothing but positives that are found."""
        return -self._odds, 1.0

    def ceiling(self, ranking: Any) -> float:
        """Return what finding every positive without a false alarm is worth."""
        return float(self.of(ranking.all_positives, 0.0, ranking.all_positives, ranking.n_neg))

    def of(self, tp: Any, fp: Any, n: Any, m: Any) -> Any:
        """``(TP - FP q / (1 - q)) / N``."""
        return (tp - self._odds * fp) / (n + m)

    def slopes(self, tp: Any, fp: Any, n: Any, m: Any) -> tuple[Any, Any]:
        """Return the derivatives."""
        per_row = 1.0 / np.asarray(n + m)
        return per_row, -self._odds * per_row


@dataclass(frozen=True)
class ExpectedCost(OfDecisions):
    """What errors cost per row, in false alarms.

    ``(C FN + FP) / N``, a miss costing as much as ``C`` false alarms.

    Parameters
    ----------
    cost_ratio : float
        ``C``, above 0: the cost of a miss over that of a false alarm.
    threshold : float, optional
        Rows with ``score >= threshold`` are selected; by default ``1 / (1 + C)``, the optimal one
        of calibrated probabilities.

    Examples
    --------
    >>> import precall as pr
    >>> pr.metrics.expected_cost(3)(pr.Rows([1, 0, 1, 0], [0.9, 0.6, 0.2, 0.1]))
    1.0
    """

    cost_ratio: float
    threshold: float | None = None

    name = "expected_cost"
    summary = "expected cost"
    explanation = "What errors cost per row, in units of a false alarm."
    lower_is_better = True

    def __post_init__(self) -> None:
        """Check both."""
        self._set(self.threshold, cost_ratio=as_cost_ratio(self.cost_ratio))

    @property
    def cut(self) -> float:
        """The threshold."""
        return 1.0 / (1.0 + self.cost_ratio) if self.threshold is None else self.threshold

    @property
    def _what(self) -> str:
        return f"cost ratio {self.cost_ratio:g}"

    @property
    def bounds(self) -> tuple[float, float]:
        """Nothing wrong, and everything that costs most."""
        return 0.0, max(1.0, self.cost_ratio)

    def ceiling(self, ranking: Any) -> float:
        """Return what it costs to select every negative and no positive."""
        return float(self.of(0.0, ranking.n_neg, ranking.all_positives, ranking.n_neg))

    def of(self, tp: Any, fp: Any, n: Any, m: Any) -> Any:
        """``(C (n - TP) + FP) / N``."""
        return (self.cost_ratio * np.maximum(n - tp, 0.0) + fp) / (n + m)

    def slopes(self, tp: Any, fp: Any, n: Any, m: Any) -> tuple[Any, Any]:
        """Return the derivatives."""
        per_row = 1.0 / np.asarray(n + m)
        return -self.cost_ratio * per_row, per_row


def as_cost_ratio(value: object) -> float:
    """Check what a miss costs, in false alarms."""
    number = _validation.as_number(value, "cost_ratio")
    if not 0.0 < number < math.inf:
        raise InputError(f"cost_ratio must be above zero and finite, got {value!r}.")
    if not 1.0 / _LARGEST_RATIO <= number <= _LARGEST_RATIO:
        raise InputError(
            f"cost_ratio must be between {1.0 / _LARGEST_RATIO:g} and {_LARGEST_RATIO:g}, got "
            f"{number:g}."
        )
    return number


def require_probabilities(scores: Any, what: str, otherwise: str) -> None:
    """Refuse scores outside [0, 1], as far as they are known."""
    if not np.size(scores):
        return
    low, high = np.min(scores), np.max(scores)
    if low < 0 or high > 1:
        raise InputError(
            f"{what} takes the scores for probabilities, and these go from {low:.6g} to "
            f"{high:.6g}: calibrate them first, or {otherwise}."
        )

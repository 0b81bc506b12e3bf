"""What a comparison of models found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._interval import Interval
from .._notebook import Rich
from .._options import as_flag
from .._rounding import falling

FloatArray = npt.NDArray[np.float64]
Pair = tuple[str, str]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Comparison(Rich):
    """Models compared on the same rows.

    Attributes
    ----------
    metric, method : str
    estimates : dict
        Metric of each model, by name.
    differences : dict
        First minus second, by pair of names, in the order in which the models were given.
    intervals : dict
        An interval for each difference, each at `confidence_level` by itself. With ``permutation``
        they are those of ``influence`` (of ``bootstrap`` where that is not defined): permutations
        test, they do not estimate.
    simultaneous : dict
        Intervals that hold for all differences together: as many standard errors wide as the
        largest of all deviations is with probability `confidence_level` (max-t). Two models have
        one difference, and there they are those of `intervals` (of ``bootstrap``: symmetric).
    p_values : dict
        Two-sided, adjusted over all pairs by Holm's method.
    unadjusted_p_values : dict
    covariance : array
        Of the estimates, in the order of `estimates`.
    probability_best : dict
        Probability that each model is the best of them: from the joint normal distribution of
        the estimates, or the share of replicates in which it is, ties shared.
    confidence_level : float
    lower_is_better : bool
        Whether the best model is the one with the lowest estimate: rates of errors, costs.
    """

    metric: str
    method: str
    estimates: dict[str, float]
    differences: dict[Pair, float]
    intervals: dict[Pair, Interval]
    simultaneous: dict[Pair, Interval]
    p_values: dict[Pair, float]
    unadjusted_p_values: dict[Pair, float]
    covariance: FloatArray
    probability_best: dict[str, float]
    confidence_level: float
    lower_is_better: bool = False

    @property
    def ranked(self) -> list[str]:
        """Names of the models, best estimate first; of equal ones, the one given first."""
        names = list(self.estimates)
        sign = -1.0 if self.lower_is_better else 1.0
        return [names[index] for index in falling([sign * v for v in self.estimates.values()])]

    @property
    def standard_errors(self) -> dict[str, float]:
        """Standard error of each estimate."""
        errors = np.sqrt(np.diag(self.covariance))
        return dict(zip(self.estimates, errors.tolist(), strict=True))

    def __repr__(self) -> str:
        """Return one line: the estimates, then the pair of the two best."""
        shown = ", ".join(f"{name}={self.estimates[name]:.4g}" for name in self.ranked)
        first, second = self.ranked[:2]
        pair = (first, second) if (first, second) in self.differences else (second, first)
        interval = self.intervals[pair]
        return (
            f"Comparison({self.metric}: {shown}; {pair[0]} - {pair[1]} = {interval.estimate:.4g} "
            f"[{interval.low:.4g}, {interval.high:.4g}], p={self.p_values[pair]:.3g}, "
            f"{self.method})"
        )

    def plot(self, ax: Any = None, *, simultaneous: bool = False) -> Any:
        """Draw every difference with its interval beside zero, and return the Axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; new ones if not given.
        simultaneous : bool, default False
            Draw the intervals that hold for all differences together.
        """
        from ..display.result_plots import plot_comparison

        return plot_comparison(self, ax, simultaneous=as_flag(simultaneous, "simultaneous"))

    def _facts(self) -> dict[str, Any]:
        """A line for each model, the best first, and for each difference."""
        errors = self.standard_errors
        return {
            "metric": self.metric,
            "models": {
                name: f"{self.estimates[name]:.4g} (standard error {errors[name]:.2g}, the best "
                f"with probability {_probability(self.probability_best[name])})"
                for name in self.ranked
            },
            "differences": {
                f"{first} − {second}": f"{one.estimate:.4g} ({one.low:.4g} to {one.high:.4g}), "
                f"p {_p_value(self.p_values[first, second])}"
                for (first, second), one in self.intervals.items()
            },
            "confidence_level": self.confidence_level,
            "method": self.method,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary; pairs become a list."""
        return {
            "metric": self.metric,
            "method": self.method,
            "confidence_level": self.confidence_level,
            "estimates": dict(self.estimates),
            "standard_errors": self.standard_errors,
            "probability_best": dict(self.probability_best),
            "covariance": self.covariance.tolist(),
            "pairs": [
                {
                    "first": pair[0],
                    "second": pair[1],
                    "difference": self.differences[pair],
                    "low": self.intervals[pair].low,
                    "high": self.intervals[pair].high,
                    "simultaneous_low": self.simultaneous[pair].low,
                    "simultaneous_high": self.simultaneous[pair].high,
                    "p_value": self.p_values[pair],
                    "unadjusted_p_value": self.unadjusted_p_values[pair],
                }
                for pair in self.differences
            ],
        }


def _probability(share: float) -> str:
    """A probability that says neither 0 nor 1 where it is not."""
    if 0.0 < share < 0.001:
        return "under 0.001"
    return "over 0.999" if 0.999 < share < 1.0 else f"{share:.3f}"


def _p_value(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.2g}"

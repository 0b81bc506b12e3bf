"""A scenario in which many rows share the lowest score, as where a rule gives most rows nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from precall._numerics import segment_area
from precall._validation import as_fraction
from precall.exceptions import InputError, UndefinedMetricError

from .distributions import FloatArray
from .scenarios import ContinuousScenario, Scenario


@dataclass(frozen=True)
class ZeroInflated(Scenario):
    """A share of each class scores 0, the others as in `base`, whose scores are over 0.

    Above 0 scores are continuous; the rows at 0 are one threshold, and the curve up to it is a
    straight line in ROC space.

    Parameters
    ----------
    positives, negatives : float
        The share of each class that scores 0.
    base : ContinuousScenario
        The scores of the others.

    Examples
    --------
    >>> from precall.simulate import Gamma, Pair, ZeroInflated
    >>> model = ZeroInflated(0.4, 0.8, Pair(Gamma(2.0), Gamma(1.0)))
    >>> model.aucpr(0.1), model.auroc()
    (0.3256886793, 0.73)
    """

    positives: float
    negatives: float
    base: ContinuousScenario

    def __post_init__(self) -> None:
        """Check the parameters."""
        as_fraction(self.positives, "positives")
        as_fraction(self.negatives, "negatives")
        if not isinstance(self.base, ContinuousScenario):
            raise InputError(f"base must be a scenario with continuous scores, got {self.base!r}.")
        lowest = min(float(scores.upper_quantile(1.0)) for scores in self.base.distributions())
        if lowest < 0.0:
            raise InputError(f"base must have scores over 0 only, but they go down to {lowest:g}.")

    def auroc(self) -> float:
        """Probability that a positive outranks a negative, a tie counting one half."""
        ours, theirs = 1.0 - self.positives, 1.0 - self.negatives
        ahead = ours * (theirs * self.base.auroc() + self.negatives)
        return float(ahead + 0.5 * self.positives * self.negatives)

    def asymptotic_variance(
        self, recall: npt.ArrayLike, prevalence: float, *, random_prevalence: bool = True
    ) -> Any:
        """Not defined at the tied rows, and so not given."""
        raise UndefinedMetricError(
            "the asymptotic variance of precision needs continuous scores, and some are tied: "
            "use a continuous scenario, or simulate."
        )

    def _draw(
        self, positive: bool, rng: np.random.Generator, shape: tuple[int, int]
    ) -> npt.NDArray[Any]:
        share = self.positives if positive else self.negatives
        scores = self.base._draw(positive, rng, shape)
        return np.where(rng.random(shape) < share, 0.0, scores)

    def _false_positive_rate(self, recall: FloatArray) -> FloatArray:
        reached = 1.0 - self.positives
        inside = (1.0 - self.negatives) * self.base._false_positive_rate(
            np.minimum(recall / reached, 1.0)
        )
        beyond = 1.0 - self.negatives * (1.0 - recall) / self.positives
        return np.where(recall <= reached, inside, beyond)

    def _aucpr(self, prevalence: float, low: float, high: float, estimator: str) -> float:
        reached = 1.0 - self.positives
        area = 0.0
        if low < reached:
            # The curve of the base at the prevalence among the rows over 0.
            ours = prevalence * reached
            share = ours / (ours + (1.0 - prevalence) * (1.0 - self.negatives))
            ends = low / reached, min(high / reached, 1.0)
            area = reached * self.base._aucpr(share, *ends, estimator)
        if high <= reached:
            return area
        start = max(low, reached)
        if estimator == "average_precision":
            return area + (high - start) * prevalence
        rates = self._false_positive_rate(np.nextafter([start, high], 2.0))
        tp, fp = prevalence * np.array([start, high]), (1.0 - prevalence) * rates
        return area + float(segment_area(tp[0], fp[0], tp[1], fp[1])) / prevalence

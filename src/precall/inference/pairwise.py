"""From estimates and their covariance to a comparison of every pair of models."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._interval import Interval
from .._rounding import settled
from ..metrics import Metric
from .comparison import Comparison
from .reach import stretches
from .significance import holm, largest_deviation, probability_best, student_test

FloatArray = npt.NDArray[np.float64]
Test = tuple[float, float, float]  # low, high, p-value

#: Distributions that the statistic of the influence test can be referred to.
DISTRIBUTIONS = ("t", "normal")


def as_distribution(distribution: object) -> str:
    """Return what the statistic of the influence test is referred to, checked."""
    return _validation.as_choice(distribution, "distribution", DISTRIBUTIONS)


def difference(first: FloatArray, second: FloatArray) -> FloatArray:
    """First minus second; 0 where they differ by rounding only."""
    return settled(first - second, np.maximum(np.abs(first), np.abs(second)))


class PairwiseEvidence(NamedTuple):
    """How sure the estimates are: their covariance, the variances of all differences, and tests.

    `degrees` are degrees of freedom, None for the normal distribution; `best` has the probability
    that each model is the best; `stretch` has factors of the distances to the lower and the upper
    limit of every pair, where they are not 1.
    """

    covariance: FloatArray
    variances: FloatArray
    degrees: float | None
    tests: list[Test]
    best: FloatArray
    stretch: FloatArray | None = None

    @property
    def scales(self) -> FloatArray:
        """Sums of the variances of the two estimates of every pair."""
        own = np.diag(self.covariance)
        return np.asarray(own[:, np.newaxis] + own)


def by_influence(
    metric: Metric,
    estimates: FloatArray,
    covariance: FloatArray,
    variances: FloatArray,
    degrees: float,
    level: float,
    distribution: str,
    distances: Callable[[], FloatArray | None],
) -> PairwiseEvidence:
    """Test every pair by the variance that influence values give.

    `distances` has those to the limits of each model by itself, which the normal distribution, the
    plain test of other tools, does not ask for.
    """
    freedom = degrees if distribution == "t" else None
    limits = distances() if distribution == "t" else None
    stretch = stretches(limits, covariance, variances, degrees)
    found = PairwiseEvidence(covariance, variances, freedom, [], estimates, stretch)
    apart, scales = difference(estimates[:, np.newaxis], estimates), found.scales
    tests = [
        student_test(
            float(apart[i, j]),
            float(variances[i, j]),
            float(scales[i, j]),
            level,
            freedom,
            stretch[i, j].tolist(),
        )
        for i, j in combinations(range(estimates.size), 2)
    ]
    better = -apart if metric.lower_is_better else apart
    return found._replace(tests=tests, best=probability_best(better, variances, scales))


def assembled(
    metric: Metric,
    names: list[str],
    estimates: FloatArray,
    evidence: PairwiseEvidence,
    *,
    level: float,
    method: str,
    interval_method: str,
) -> Comparison:
    """Put a comparison together, with intervals by themselves and for all pairs together."""
    pairs = list(combinations(range(len(names)), 2))
    apart = difference(estimates[:, np.newaxis], estimates)
    variances, tests = evidence.variances, evidence.tests
    reach = largest_deviation(variances, evidence.scales, evidence.degrees, level)
    halves = [reach * float(np.sqrt(variances[i, j])) for i, j in pairs]
    keys = [(names[i], names[j]) for i, j in pairs]
    differences = [float(apart[i, j]) for i, j in pairs]
    raw = [p for _, _, p in tests]
    # A difference with nothing to say how sure it is has the widest interval either way.
    stretch = evidence.stretch
    factors = [(1.0, 1.0) if stretch is None else stretch[i, j].tolist() for i, j in pairs]
    together = [
        (low, high)
        if half == 0.0
        else (max(middle - half * down, -1.0), min(middle + half * up, 1.0))
        for middle, half, (down, up), (low, high, _) in zip(
            differences, halves, factors, tests, strict=True
        )
    ]

    def shown(ends: list[tuple[float, float]]) -> dict[tuple[str, str], Interval]:
        return {
            key: Interval(
                low=low,
                high=high,
                estimate=middle,
                confidence_level=level,
                method=interval_method,
            )
            for key, middle, (low, high) in zip(keys, differences, ends, strict=True)
        }

    return Comparison(
        metric=str(metric),
        method=method,
        estimates=dict(zip(names, estimates.tolist(), strict=True)),
        differences=dict(zip(keys, differences, strict=True)),
        intervals=shown([(low, high) for low, high, _ in tests]),
        simultaneous=shown(together),
        p_values=dict(zip(keys, holm(raw), strict=True)),
        unadjusted_p_values=dict(zip(keys, raw, strict=True)),
        covariance=evidence.covariance,
        probability_best=dict(zip(names, evidence.best.tolist(), strict=True)),
        confidence_level=level,
        lower_is_better=metric.lower_is_better,
    )

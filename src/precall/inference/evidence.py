"""What an interval is computed from, kept so that other levels need no second look at the data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .._estimators import KERNELS, make_steps
from .._rounding import settled
from ..ranking import Cells, Ranking
from . import limits
from .functionals import AREAS, Functional, reach
from .influence import Linearisation, linearise, prevalence_slope
from .resampling import Progress, Resampler, replicate

FloatArray = npt.NDArray[np.float64]


class Evidence(Protocol):
    """Anything that has limits at every level, on the metric's own scale."""

    def limits(self, confidence_level: float) -> tuple[Any, Any]:
        """Return the lower and the upper limit."""


@dataclass(frozen=True, kw_only=True)
class ClosedForm:
    """An estimate with its variance; arrays along the leading axes of the cells."""

    functional: Functional
    method: str
    cells: Cells = field(repr=False)
    estimate: Any
    variance: Any
    sizes: tuple[Any, Any]
    unbiased: Any = None

    def limits(self, confidence_level: float) -> tuple[Any, Any]:
        """Return the lower and the upper limit."""
        low, high = self._unit_limits(confidence_level)
        return self.functional.from_unit(low), self.functional.from_unit(high)

    @property
    def error(self) -> float:
        """Standard error of a single estimate, on the unit scale."""
        if self.method == "mover":  # half of what an interval of plus and minus one has
            low, high = self._recovered(math.erf(math.sqrt(0.5)))
            return float(high - low) / 2.0
        return math.sqrt(float(self.variance))

    def _unit_limits(self, level: float) -> tuple[Any, Any]:
        n, m = self.sizes
        if self.method == "binomial":
            return limits.binomial_limits(self.estimate, n, level)
        if self.functional.metric.name == "auroc":
            # k = min(n, m) pairs without a common row are all in order with probability at most
            # AUROC**k: so the limit at an estimate of 1 is exact.
            pairs = np.minimum(n, m)
            if self.method == "logit":
                return limits.logit_limits(self.estimate, self.variance, pairs, level)
            if self.method == "beta":
                return limits.beta_limits(self.estimate, self.variance, pairs, level)
            half = limits.normal_quantile(level) * np.sqrt(self.variance)
            ends = self.estimate - half, self.estimate + half
            return limits.one_sided_ends(self.estimate, *ends, pairs, level)
        if self.method == "logit":
            return limits.logit_limits(self.estimate, self.variance, n, level)
        if self.functional.metric.name == "auprg":
            ends = limits.log_limits(self.estimate, self.variance, level)
            return limits.gain_ends(self.estimate, *ends, n, m, level)
        if self.method == "mover":
            return self._recovered(level)
        rule = limits.beta_limits if self.method == "beta" else limits.influence_limits
        return rule(
            self.estimate,
            self.variance,
            n,
            level,
            unbiased=self.unbiased,
            guard=None if self.method == "influence" else self._guard(level),
        )

    def _recovered(self, level: float) -> tuple[Any, Any]:
        """Limits of precision at a recall from those of its parts.

        Where the threshold of that recall lies: the recall may be off by z standard deviations to
        both sides. How many negatives rank above it: a Poisson number. The distances of the limits
        add in squares (MOVER; Zou & Donner 2008), so the steps of the curve need no slope.
        """
        recall = self.functional.metric.recall
        n, m = self.sizes
        z = limits.normal_quantile(level)
        total = np.sum(self.cells.positives, axis=-1)
        tp = recall * total
        off = z * np.sqrt(recall * (1.0 - recall) / n)
        near, far = (
            reach(self.cells, np.clip(recall + sign * off, 0.5 / n, 1.0) * total).fp
            for sign in (-1.0, 1.0)
        )
        weight = _total_negatives(self.cells) / m
        few, many = limits.poisson_limits(reach(self.cells, tp).fp / weight, level)
        estimate = np.asarray(self.estimate)
        own = z * np.sqrt(self.variance)
        low, high = (
            np.sqrt((estimate - tp / (tp + by)) ** 2 + (estimate - tp / (tp + count)) ** 2 + own**2)
            for by, count in ((far, many * weight), (near, few * weight))
        )
        return np.clip(estimate - low, 0.0, 1.0), np.clip(estimate + high, 0.0, 1.0)

    def _guard(self, level: float) -> Any:
        """The metric with -ln(alpha) more negatives above everything (the rule of three)."""
        weight = _total_negatives(self.cells) / self.sizes[1]
        above = np.array(self.cells.above, dtype=np.float64)
        above[..., 0] += -math.log(1.0 - level) * weight
        return self.functional.unit_value(self.cells._replace(above=above))


def _total_negatives(cells: Cells) -> Any:
    return np.sum(cells.tied, axis=-1) + np.sum(cells.above, axis=-1) + cells.below


def closed_form(
    functional: Functional,
    method: str,
    cells: Cells,
    squares: Cells | None = None,
    *,
    sizes: tuple[Any, Any],
    prevalence: str,
    estimate: Any = None,
    variance: Any = None,
) -> ClosedForm:
    """Gather what a formula interval needs, for one ranking or for many along the leading axes.

    `sizes` are the effective numbers of positives and negatives; `estimate` and `variance`, both on
    the unit scale, are computed where they are not given.
    """
    if estimate is None:
        estimate = functional.unit_value(cells, squares)
    if variance is None and functional.metric.name == "auroc":
        variance = _delong_variance(functional, cells, squares, sizes)
    elif variance is None and method in ("binomial", "logit"):
        # The standard error of a share of n positives (Boyd 2014, section 4.3.3).
        variance = estimate * (1.0 - estimate) / sizes[0]
    elif variance is None and method == "mover":
        # Its parts come later; here is only what the prevalence adds.
        slope = prevalence_slope(functional, cells) if prevalence == "random" else 0.0 * estimate
        variance = slope**2 * (1.0 / sizes[0] + 1.0 / sizes[1])
    elif variance is None:
        variance = influence_variance(functional, cells, squares, sizes, prevalence)
    unbiased = None
    if functional.metric.name in AREAS and method not in ("binomial", "logit"):
        low, high = functional.metric.recall
        kernel = KERNELS["leave_one_out"]
        unbiased = kernel(make_steps(cells, squares), low, high) / (high - low)
    return ClosedForm(
        functional=functional,
        method=method,
        cells=cells,
        estimate=estimate,
        variance=variance,
        sizes=sizes,
        unbiased=unbiased,
    )


def _delong_variance(
    functional: Functional, cells: Cells, squares: Cells | None, sizes: tuple[Any, Any]
) -> Any:
    linear = linearise(functional, cells, squares, slope=False)
    n, m = sizes
    return linear.positives * _sample_factor(n) + linear.negatives * _sample_factor(m)


def _sample_factor(size: Any) -> Any:
    """Return ``size / (size - 1)``; a single row shows no variance, so there it is no matter."""
    return size / np.maximum(np.asarray(size) - 1.0, 1e-9)


def influence_variance(
    functional: Functional,
    cells: Cells,
    squares: Cells | None,
    sizes: tuple[Any, Any],
    prevalence: str,
) -> Any:
    """Influence variance on the unit scale, the top-ranked negative counted once more."""
    linear = linearise(functional, cells, squares, slope=prevalence == "random")
    return _combine(functional, linear, cells, sizes)


def _combine(
    functional: Functional, linear: Linearisation, cells: Cells, sizes: tuple[Any, Any]
) -> Any:
    n, m = sizes
    weight = _total_negatives(cells) / m
    variance = (
        linear.positives
        + linear.negatives * _sample_factor(m)
        + (linear.top * weight) ** 2
        + linear.slope**2 * (1.0 / n + 1.0 / m)
    )
    zero, one = functional.unit
    return variance / (one - zero) ** 2


@dataclass(frozen=True, kw_only=True)
class Replicates:
    """An estimate with bootstrap replicates, all on the unit scale."""

    functional: Functional
    method: str
    estimate: float
    values: FloatArray = field(repr=False)
    sizes: tuple[float, float]
    error: float = math.nan
    errors: FloatArray | None = field(default=None, repr=False)
    acceleration: float = math.nan

    @property
    def at_the_ends(self) -> bool:
        """Whether the estimate is 0 or 1, where the limits do not come from the replicates."""
        return bool(np.any(limits.at_the_ends(self.estimate)))

    def limits(self, confidence_level: float) -> tuple[Any, Any]:
        """Return the lower and the upper limit."""
        if self.method == "bootstrap_percentile":
            ends = limits.percentile_limits(self.values, confidence_level)
        elif self.errors is None:
            ends = limits.bca_limits(
                self.estimate, self.values, self.acceleration, confidence_level
            )
        else:
            ends = limits.studentised_limits(
                self.estimate, self.error, self.values, self.errors, self.sizes[0], confidence_level
            )
        n, m = self.sizes
        if self.functional.metric.name == "auprg":
            ends = limits.gain_ends(self.estimate, *ends, n, m, confidence_level)
        else:
            trials = min(n, m) if self.functional.metric.name == "auroc" else n
            ends = limits.one_sided_ends(self.estimate, *ends, trials, confidence_level)
        low, high = (self.functional.from_unit(end) for end in ends)
        # The worst ranking there is: every replicate is better, and none says how bad it could be.
        worst, best = self.functional.bounds
        at_worst = settled(self.functional.from_unit(self.estimate) - worst, best) == 0.0
        return (worst if at_worst else low), high


def resampled(
    functional: Functional,
    method: str,
    ranking: Ranking,
    resampler: Resampler,
    *,
    n_resamples: int,
    prevalence: str,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Replicates:
    """Draw the replicates that a bootstrap interval needs."""
    sizes = ranking.effective_sizes
    estimate = float(functional.to_unit(functional.estimate(ranking)))
    error, acceleration = math.nan, math.nan
    if method != "bootstrap_percentile":
        linear = linearise(functional, ranking.cells, ranking.squares, slope=prevalence == "random")
        error = _error(functional, linear, ranking.cells, sizes, estimate)
        total = float(linear.positives + linear.negatives)
        acceleration = float(linear.skewness) / (6.0 * total**1.5) if total > 0 else 0.0

    def statistic(cells: Cells, squares: Cells | None) -> Any:
        values = functional.to_unit(functional.value(cells, squares))
        if method != "bootstrap_t":
            return values
        linear = linearise(functional, cells, squares, slope=prevalence == "random")
        return np.stack([values, _error(functional, linear, cells, sizes, values)])

    drawn = replicate(resampler, statistic, n_resamples, rng=rng, progress=progress)
    values, errors = drawn if method == "bootstrap_t" else (drawn, None)
    return Replicates(
        functional=functional,
        method=method,
        estimate=estimate,
        values=values,
        sizes=sizes,
        error=error,
        errors=errors,
        acceleration=acceleration,
    )


def _error(
    functional: Functional, linear: Linearisation, cells: Cells, sizes: tuple[Any, Any], value: Any
) -> Any:
    variance = _combine(functional, linear, cells, sizes)
    return np.sqrt(limits.stabilised_variance(value, variance, sizes[0]))


@dataclass(frozen=True, kw_only=True)
class Folds:
    """Estimates of the folds of a cross-validation."""

    values: FloatArray
    bounds: tuple[float, float]

    def limits(self, confidence_level: float) -> tuple[Any, Any]:
        """Return the mean -+ t s/sqrt(k), within the bounds of the metric."""
        from scipy.special import stdtrit

        count = self.values.size
        t = float(stdtrit(count - 1, 0.5 + 0.5 * confidence_level))
        half = t * self.error
        low, high = np.clip([self.values.mean() - half, self.values.mean() + half], *self.bounds)
        return low, high

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return float(self.values.std(ddof=1) / math.sqrt(self.values.size))

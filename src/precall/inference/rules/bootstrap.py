"""Limits from replicates: quantiles, plain, corrected, or in units of standard errors."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ... import _validation
from ..._rounding import TOLERANCE, settled
from ...exceptions import ReliabilityWarning
from ...metrics import Metric
from ...ranking import Cells, Ranking
from .. import limits
from ..clusters import draw_cells
from ..gain_limits import gain_ends
from ..influence import Linearisation, linearise, summed_cubes, total_variance
from ..resampling import Progress, Resampler, replicate, resampler_for
from ..units import Units
from .rule import Case, Rule

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Replicates:
    """An estimate with bootstrap replicates, all on the unit scale."""

    metric: Metric
    rule: Bootstrap
    estimate: float
    values: FloatArray = field(repr=False)
    sizes: tuple[float, float]
    own_error: float = math.nan
    errors: FloatArray | None = field(default=None, repr=False)
    acceleration: float = math.nan

    @property
    def error(self) -> float:
        """Standard deviation of the replicates."""
        return float(np.std(self.values, ddof=1))

    @property
    def at_the_ends(self) -> bool:
        """Whether the estimate is 0 or 1, where the limits do not come from the replicates."""
        return bool(np.any(limits.at_the_ends(self.estimate)))

    def limits(self, confidence_level: float) -> tuple[Any, Any]:
        """Return the lower and the upper limit."""
        ends = self.rule.limits(self, confidence_level)
        lowest, highest = self.metric.bounds
        if lowest == -math.inf:
            ends = gain_ends(self.estimate, *ends, *self.sizes, confidence_level)
        else:
            trials = self.metric.trials(*self.sizes)
            ends = limits.one_sided_ends(self.estimate, *ends, trials, confidence_level)
        low, high = (self.metric.from_unit(end) for end in ends)
        # The worst ranking there is: every replicate is better, and none says how bad it could be.
        at_worst = settled(self.metric.from_unit(self.estimate) - lowest, highest) == 0.0
        return (lowest if at_worst else low), high


@dataclass(frozen=True, kw_only=True)
class Bootstrap(Rule):
    """A rule that needs replicates.

    A subclass defines :meth:`limits`. `linear` asks for the influence values of the sample,
    `with_errors` for the standard error of every replicate.
    """

    linear: ClassVar[bool] = False
    with_errors: ClassVar[bool] = False

    def evidence(self, case: Case) -> Replicates:
        """Draw rows, or whole clusters where rows belong together."""
        rng = _validation.as_generator(case.rng)
        if case.clustered:
            return self._of_clusters(case, rng)
        drawn = resampled(
            case.metric,
            self,
            case.ranking,
            resampler_for(case.metric, case.ranking, together=case.varying),
            n_resamples=case.n_resamples,
            varying=case.varying,
            rng=rng,
            progress=case.progress,
        )
        _warn_if_alike(drawn)
        return drawn

    def _of_clusters(self, case: Case, rng: np.random.Generator) -> Replicates:
        """Draw clusters.

        With sampling by classes, clusters of one class are drawn class by class; clusters of both
        classes are drawn together and each replicate's negatives weighted to the sample's
        prevalence.
        """
        ranking, place = case.ranking, case.sample.place
        drawn = draw_cells(
            Units(case.sample.rows, [place], [len(ranking)], together=case.varying),
            [case.metric],
            odds=None if case.varying else ranking.n_pos / ranking.n_neg,
            n_resamples=case.n_resamples,
            rng=rng,
            progress=case.progress,
        )
        replicates = Replicates(
            metric=case.metric,
            rule=self,
            estimate=case.estimate,
            values=case.metric.to_unit(drawn[0]),
            sizes=case.sizes,
        )
        _warn_if_alike(replicates)
        return replicates

    def limits(self, drawn: Replicates, level: float) -> tuple[Any, Any]:
        """Return the lower and the upper limit on the unit scale."""
        raise NotImplementedError(f"{type(self).__name__} needs limits(drawn, level).")


@dataclass(frozen=True, kw_only=True)
class Percentile(Bootstrap):
    """Quantiles."""

    def limits(self, drawn: Replicates, level: float) -> tuple[Any, Any]:
        """Return the quantiles."""
        return limits.percentile_limits(drawn.values, level)


@dataclass(frozen=True, kw_only=True)
class Corrected(Bootstrap):
    """Quantiles, corrected for bias and skewness."""

    linear: ClassVar[bool] = True

    def limits(self, drawn: Replicates, level: float) -> tuple[Any, Any]:
        """Return the corrected quantiles."""
        return limits.bca_limits(drawn.estimate, drawn.values, drawn.acceleration, level)


@dataclass(frozen=True, kw_only=True)
class Studentised(Bootstrap):
    """Replicates in units of their own standard errors."""

    linear: ClassVar[bool] = True
    with_errors: ClassVar[bool] = True

    def limits(self, drawn: Replicates, level: float) -> tuple[Any, Any]:
        """Return the limits."""
        errors: Any = drawn.errors
        return limits.studentised_limits(
            drawn.estimate, drawn.own_error, drawn.values, errors, drawn.sizes[0], level
        )


PERCENTILE = Percentile(
    key="bootstrap_percentile",
    name="bootstrap_percentile",
    clustered=True,
    summary="quantiles of replicates",
    source="Efron 1979; Boyd 2014, section 4.3.3",
    caution="centred at the doubled bias of the estimator: .73 to .94 with 20 positives",
)
BCA = Corrected(
    key="bootstrap_bca",
    name="bootstrap_bca",
    summary="quantiles of replicates, corrected for bias and skewness",
    source="Efron 1987",
    caution="better than percentile, still short with few positives: .80 to .97 with 20",
)
STUDENTISED = Studentised(
    key="bootstrap_t",
    name="bootstrap_t",
    summary="replicates in units of their own standard errors, on the logit scale",
    source="Hall 1988, with influence standard errors",
    caution="short with few positives (.72 to .96 with 20), right with 100; slow",
)


def resampled(
    metric: Metric,
    rule: Bootstrap,
    ranking: Ranking,
    resampler: Resampler,
    *,
    n_resamples: int,
    varying: bool,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Replicates:
    """Draw the replicates that a bootstrap interval needs."""
    sizes = ranking.effective_sizes
    estimate = float(metric.to_unit(metric.estimate(ranking)))
    error, acceleration = math.nan, math.nan
    if rule.linear:
        linear = linearise(metric, ranking.cells, ranking.squares, slope=varying)
        error = _error(metric, linear, ranking.cells, sizes, estimate)
        total = float(linear.positives + linear.negatives)
        cubes = float(summed_cubes(metric, ranking.cells, ranking.squares))
        acceleration = cubes / (6.0 * total**1.5) if total > 0 else 0.0

    def statistic(cells: Cells, squares: Cells | None) -> Any:
        values = metric.to_unit(metric.value(cells, squares))
        if not rule.with_errors:
            return values
        linear = linearise(metric, cells, squares, slope=varying)
        return np.stack([values, _error(metric, linear, cells, sizes, values)])

    drawn = replicate(resampler, statistic, n_resamples, rng=rng, progress=progress)
    values, errors = drawn if rule.with_errors else (drawn, None)
    return Replicates(
        metric=metric,
        rule=rule,
        estimate=estimate,
        values=values,
        sizes=sizes,
        own_error=error,
        errors=errors,
        acceleration=acceleration,
    )


def _error(
    metric: Metric, linear: Linearisation, cells: Cells, sizes: tuple[Any, Any], value: Any
) -> Any:
    variance = total_variance(metric, linear, cells, sizes)
    return np.sqrt(limits.stabilised_variance(value, variance, sizes[0]))


def _warn_if_alike(drawn: Replicates) -> None:
    """A bootstrap that always draws the same value says nothing of how sure it is."""
    if np.ptp(drawn.values) <= TOLERANCE and not drawn.at_the_ends:
        warnings.warn(
            "every bootstrap replicate has the same value, so the interval has no width: that is "
            "not evidence of certainty; use the default method.",
            ReliabilityWarning,
            stacklevel=5,
        )

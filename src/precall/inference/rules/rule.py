"""What an interval rule is: from an estimate and what is known of its variance to two limits.

A rule is an object with a name. Metrics list the keys of the rules that fit them; nothing falls
back to another rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..._cached import cached_property
from ...metrics import Metric
from ...ranking import Cells, Ranked, Ranking
from .. import limits
from ..clusters import cluster_sizes, cluster_variance
from ..influence import centred_values, scaled_by_class
from ..local_weights import LocalWeights, weights_vary
from ..resampling import Progress


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What a rule does, where it comes from and where it fails.

    Attributes
    ----------
    key : str
        Its place in :data:`RULES`, the name that metrics use.
    name : str
        What callers give as ``method=``; two rules may share it if no metric has both.
    summary, source, caution : str
    clustered : bool
        Whether it holds for rows that belong together.
    serves : tuple of str
        Names of metrics that it serves although they do not name it.
    only_counts : bool
        Whether it needs no more than a metric of counts does: the counts at its thresholds.
    """

    key: str
    name: str
    summary: str
    source: str
    caution: str
    clustered: bool = False
    serves: tuple[str, ...] = ()
    only_counts: ClassVar[bool] = False

    def evidence(self, case: Case) -> Any:
        """Return what limits at every level come from: with `limits(level)` and `error`."""
        raise NotImplementedError(f"{type(self).__name__} needs evidence(case).")


@dataclass(frozen=True, kw_only=True)
class Case:
    """What a rule is asked: a metric on a sample.

    Attributes
    ----------
    sample : Ranked
        The ranking and, where rows belong together, the rows.
    metric : Metric
        Put on the ranking.
    varying : bool
        Whether another sample would have other numbers of each class.
    n_resamples, rng, progress
        For rules that draw.
    """

    sample: Ranked
    metric: Metric
    varying: bool
    n_resamples: int
    rng: Any
    progress: Progress | None

    @property
    def ranking(self) -> Ranking:
        """The ranking."""
        return self.sample.ranking

    @property
    def clustered(self) -> bool:
        """Whether rows belong together."""
        return self.sample.place is not None

    @property
    def sizes(self) -> tuple[float, float]:
        """Effective numbers of positives and negatives."""
        return self.sample.rows.effective_sizes if self.clustered else self.ranking.effective_sizes

    @property
    def local(self) -> LocalWeights | None:
        """What weights do near the top; None where they do nothing, or clusters count instead."""
        ranking = self.ranking
        if self.clustered or ranking.rows is None or not weights_vary(ranking):
            return None
        return LocalWeights.of(ranking.cells, ranking.rows, ranking.squares)

    @cached_property
    def value(self) -> float:
        """The estimate."""
        return self.metric.estimate(self.ranking)

    @property
    def estimate(self) -> float:
        """The estimate on the unit scale."""
        return float(self.metric.to_unit(self.value))


@dataclass(frozen=True, kw_only=True)
class Formula(Rule):
    """A rule that needs an estimate and its variance; no replicates.

    A subclass defines :meth:`limits`, and :meth:`variance` where it is not the influence variance.
    """

    def variance(self, counts: Counts) -> Any:
        """Return the variance of the estimate on the unit scale."""
        raise NotImplementedError(f"{type(self).__name__} needs variance(counts).")

    def limits(self, form: ClosedForm, level: float) -> tuple[Any, Any]:
        """Return the lower and the upper limit on the unit scale."""
        raise NotImplementedError(f"{type(self).__name__} needs limits(form, level).")

    def one_sided(self, form: ClosedForm, level: float) -> tuple[Any, Any]:
        """Return limits each of which is wrong with at most half of ``1 - level``.

        The same as :meth:`limits`, where those err as often to either side.
        """
        return self.limits(form, level)

    def error(self, form: ClosedForm) -> float:
        """Return the standard error of a single estimate on the unit scale."""
        return math.sqrt(float(form.variance))

    def evidence(self, case: Case) -> ClosedForm:
        """Return the estimate with its variance; that of clusters where there are some."""
        variance, sizes = None, case.sizes
        if case.clustered and self.takes_variance:
            variance = cluster_variance(case.metric, case.sample, sizes, varying=case.varying)
        if case.clustered and self.takes_design_effect:
            sizes = cluster_sizes(case.metric, case.sample)
        return closed_form(
            case.metric,
            self,
            case.ranking.cells,
            case.ranking.squares,
            sizes=sizes,
            varying=case.varying,
            estimate=case.estimate,
            variance=variance,
            local=case.local,
        )

    #: Whether clusters change its variance; if not, they change its sizes only.
    takes_variance: ClassVar[bool] = True
    #: Whether clusters count by their design effect, not each as one.
    takes_design_effect: ClassVar[bool] = False
    #: Whether it asks for the metric's less biased estimate.
    takes_unbiased: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What a formula sees: a metric on its data, cells, and effective numbers of each class.

    `varying` says whether another sample would have other numbers of each class, `local` what
    weights do near the top. Everything may have leading axes.
    """

    metric: Metric
    cells: Cells = field(repr=False)
    squares: Cells | None = field(repr=False)
    sizes: tuple[Any, Any]
    varying: bool
    estimate: Any
    local: LocalWeights | None = None


@dataclass(frozen=True, kw_only=True)
class ClosedForm:
    """An estimate with its variance; arrays along the leading axes of the cells."""

    metric: Metric
    rule: Formula
    cells: Cells = field(repr=False)
    estimate: Any
    variance: Any
    sizes: tuple[Any, Any]
    varying: bool
    unbiased: Any = None
    local: LocalWeights | None = None

    def limits(self, confidence_level: float) -> tuple[Any, Any]:
        """Return the lower and the upper limit."""
        low, high = self.rule.limits(self, confidence_level)
        return self.metric.from_unit(low), self.metric.from_unit(high)

    def one_sided(self, confidence_level: float) -> tuple[Any, Any]:
        """Return limits each of which holds by itself, with half of the error."""
        low, high = self.rule.one_sided(self, confidence_level)
        return self.metric.from_unit(low), self.metric.from_unit(high)

    @property
    def error(self) -> float:
        """Standard error of a single estimate, on the unit scale."""
        return self.rule.error(self)

    @property
    def trials(self) -> Any:
        """How many independent trials an estimate of exactly 0 or 1 has passed."""
        return self.metric.trials(*self.sizes)

    @property
    def negative_weight(self) -> Any:
        """The average weight of an effective negative."""
        return total_negatives(self.cells) / self.sizes[1]

    def unseen(self, level: float) -> tuple[Any, Any]:
        """Shares of positives and of negatives at the top that a sample may have missed.

        Of m rows a kind with the share ``1 - alpha**(1/m)`` shows none with probability alpha:
        about the three of the rule of three. With weights they weigh what rows at the top do.
        """
        if self.local is None:
            n, m = (1.0 - limits.certain_limit(size, level) for size in self.sizes)
            return n, m
        n, m = (
            np.minimum((1.0 - limits.certain_limit(rows, level)) * rows / spread, 1.0)
            for rows, spread in zip(self.local.rows, self.local.spread, strict=True)
        )
        return n, m

    def guard(self, level: float) -> Any:
        """What the lower limit is not above, because of rows that were not seen.

        The metric with negatives above everything or, where rows below every positive are heavy,
        with positives there, if that is less.
        """
        topped = self.topped(level)
        return topped if self.local is None else np.minimum(topped, self._sunk(self.local, level))

    def topped(self, level: float) -> Any:
        """The metric if a kind of negatives that was not seen ranked above everything."""
        share = self.unseen(level)[1]
        cells = scaled_by_class(self.cells, 1.0, 1.0 - share)
        above = np.array(np.broadcast_to(cells.above, np.shape(cells.positives)), dtype=np.float64)
        unseen = share * total_negatives(self.cells)
        above[..., 0] += unseen
        fp = self.cells.fp * _last(1.0 - share) + _last(unseen)
        return self.metric.unit_value(cells._replace(above=above).with_sums(self.cells.tp, fp))

    def _sunk(self, local: LocalWeights, level: float) -> Any:
        """The metric if heavy positives that were not seen ranked below everything, or between.

        They weigh what rows there do, less what an effective positive weighs: so much room the
        variance leaves where all weigh the same.
        """
        rows = local.rows[0]
        number = (1.0 - limits.certain_limit(rows, level)) * rows
        unseen = number * local.excess
        cells, shape = self.cells, np.shape(self.cells.positives)
        nothing = np.zeros_like(unseen)
        below = self.metric.unit_value(
            Cells(
                _followed_by(cells.positives, unseen),
                _followed_by(np.broadcast_to(cells.tied, shape), nothing),
                _followed_by(np.broadcast_to(cells.above, shape), cells.below),
                nothing,
                cells.missed,
            )
        )
        # Between positives, where it costs most to first order (without a slope, where they are
        # heaviest); of equal ones, the last.
        slope = np.full(shape, -1.0)
        if self.metric.smooth:
            slope = centred_values(self.metric.gradient(cells), cells).positives
        cost = slope * local.between
        most = np.min(cost, axis=-1, keepdims=True)
        place = shape[-1] - 1 - np.argmax((cost <= most * (1.0 - 1e-9))[..., ::-1], axis=-1)
        chosen = np.arange(shape[-1]) == place[..., np.newaxis]
        more = np.where(chosen, number[..., np.newaxis] * local.between, 0.0)
        between = self.metric.unit_value(cells._replace(positives=cells.positives + more))
        return np.minimum(below, between)

    def ceiling(self, level: float) -> Any:
        """The metric if a kind of positives that was not seen ranked above everything.

        The mirror of `topped`.
        """
        share = self.unseen(level)[0]
        unseen = share * self.cells.all_positives
        cells = scaled_by_class(self.cells, 1.0 - share, 1.0)
        nothing, shape = np.zeros_like(unseen), np.shape(cells.positives)
        found = Cells(
            _led_by(unseen, cells.positives),
            _led_by(nothing, np.broadcast_to(cells.tied, shape)),
            _led_by(nothing, np.broadcast_to(cells.above, shape)),
            cells.below,
            cells.missed,
        )
        tp = _led_by(unseen, self.cells.tp * _last(1.0 - share) + _last(unseen))
        fp = _led_by(nothing, np.broadcast_to(self.cells.fp, shape))
        return self.metric.unit_value(found.with_sums(tp, fp))

    def moved(self, level: float) -> tuple[Any, Any]:
        """The metric if every recall were off to one side as far as chance moves one.

        And the prevalence by one standard deviation, where it is unknown; or the prevalence
        further and the recalls less far. A range of recall may end at a cliff of the curve: the
        influence of a row, a slope, does not see it.
        """
        low, high = self.shifted(level, 1.0)
        if not self.varying:
            return low, high
        for of_recall, of_prevalence in limits.two_errors(level):
            lower, upper = self.shifted(of_recall, limits.normal_quantile(of_prevalence))
            low, high = np.minimum(low, lower), np.maximum(high, upper)
        return low, high

    def shifted(self, level: float, *offs: float) -> tuple[Any, Any]:
        """The metric with all recalls at their lower, and at their upper limits.

        The prevalence, where it is unknown, is so many standard deviations lower, and higher. Of
        several such numbers the lowest and the highest values are returned.
        """
        n, m = self.sizes
        trials, total = (
            np.asarray(size, dtype=np.float64)[..., np.newaxis]
            for size in (n, self.cells.all_positives)
        )
        recall, fp = self.cells.tp / total, self.cells.fp
        held = np.asarray(self.cells.positives) > 0
        deviation = np.sqrt(1.0 / n + 1.0 / m) if self.varying else np.zeros(np.shape(n))
        found: list[list[Any]] = [[], []]
        for end, sign in enumerate((-1.0, 1.0)):
            # Half a positive further: a number of positives goes by steps.
            counted = np.clip(recall * trials + 0.5 * sign, 0.0, trials)
            there = limits.wilson_limits(counted, trials, level)[end]
            # Nothing is known of a curve beyond the last positive; rows without one move nothing.
            there = np.where(recall < 1.0 - 1e-12, there, 1.0)
            tp = np.maximum.accumulate(np.where(held, there, 0.0), axis=-1) * total
            positives = np.diff(tp, axis=-1, prepend=0.0)
            for off in offs if self.varying else (0.0,):
                factor = np.exp(-sign * off * deviation)
                cells = scaled_by_class(self.cells._replace(positives=positives), 1.0, factor)
                cells = cells.with_sums(tp, fp * _last(factor))
                found[end].append(self.metric.unit_value(cells))
        return np.minimum.reduce(found[0]), np.maximum.reduce(found[1])


def _last(value: Any) -> Any:
    """A number per ranking beside its rows."""
    return np.asarray(value)[..., np.newaxis]


def _led_by(first: Any, rest: Any) -> Any:
    """Put one more row on top of each ranking."""
    return np.concatenate([np.asarray(first)[..., np.newaxis], rest], axis=-1)


def _followed_by(rest: Any, last: Any) -> Any:
    """Put one more row at the end of each ranking."""
    return np.concatenate([rest, np.asarray(last)[..., np.newaxis]], axis=-1)


def total_negatives(cells: Cells) -> Any:
    """Weight of all negatives."""
    return np.sum(cells.tied, axis=-1) + np.sum(cells.above, axis=-1) + cells.below


def closed_form(
    metric: Metric,
    rule: Formula,
    cells: Cells,
    squares: Cells | None = None,
    *,
    sizes: tuple[Any, Any],
    varying: bool,
    estimate: Any = None,
    variance: Any = None,
    local: LocalWeights | None = None,
) -> ClosedForm:
    """Gather what a formula needs, for one ranking or for many along the leading axes.

    `sizes` are the effective numbers of positives and negatives; `estimate` and `variance`, both on
    the unit scale, are computed where they are not given. `local` says what weights do near the
    top.
    """
    if estimate is None:
        estimate = metric.unit_value(cells, squares)
    if variance is None:
        variance = rule.variance(
            Counts(
                metric=metric,
                cells=cells,
                squares=squares,
                sizes=sizes,
                varying=varying,
                estimate=estimate,
                local=local,
            )
        )
    return ClosedForm(
        metric=metric,
        rule=rule,
        cells=cells,
        estimate=estimate,
        variance=variance,
        sizes=sizes,
        varying=varying,
        unbiased=metric.unbiased(cells, squares) if rule.takes_unbiased else None,
        local=local,
    )


def wald(form: ClosedForm, level: float) -> tuple[Any, Any]:
    """Return the estimate minus and plus z standard errors."""
    half = limits.normal_quantile(level) * np.sqrt(form.variance)
    return form.estimate - half, form.estimate + half

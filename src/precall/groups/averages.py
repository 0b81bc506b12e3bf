"""One number for many groups: the mean over tasks, the weighted mean, or everything pooled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._interval import Interval
from .._notebook import Rich
from .._rounding import settled
from ..exceptions import InputError, UndefinedMetricError
from ..metrics import METRICS, Metric, as_metric
from ..ranking.pooling import Comparability, comparability
from ..ranking.ranking_set import RankingSet
from .class_averages import average_interval, pooled_interval
from .group_limits import LeftOut, mean_limits
from .group_values import concordant_pairs, per_group
from .jackknife import leave_one_group_out
from .ranking_by_group import ranking_set_of
from .words import Situation, describe

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]

HOW = ("mean", "pooled", "weighted")
DESIGNS = ("independent", "folds", "classes")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Aggregate(Rich):
    """A metric summed up over groups.

    Attributes
    ----------
    estimate : float
    interval : Interval or None
        What another set of such groups would give; with the design ``"classes"`` what another
        sample of rows would give for these classes. None with a single group, and for classes
        where the metric has no influence values.
    per_group : array
        The metric in each group, in the order of `labels`; NaN where it is undefined and skipped.
    warnings : tuple of str
        What to know before believing the number, in words; empty if nothing stands out.
    labels : array
    metric, how : str
    design : str or None
        What the groups are, if that is known.
    n : int
        Number of groups that count.
    n_undefined : int
        Groups in which the metric has no value; `undefined` says what was done with them.
    prevalence : array
        Share of positives in each group.
    beside : dict
        Other numbers to compare with: the mean AUCPR beside AUCNPR, the other ways to aggregate.
    comparability : Comparability or None
        Whether scores mean the same in all groups, where the groups were pooled.
    """

    estimate: float
    interval: Interval | None
    per_group: FloatArray
    warnings: tuple[str, ...]
    labels: Array
    metric: str
    how: str
    n: int
    n_undefined: int
    undefined: str
    prevalence: FloatArray
    beside: Mapping[str, float] = field(default_factory=dict)
    comparability: Comparability | None = None
    design: str | None = None

    def __repr__(self) -> str:
        """Return one line."""
        spread = (
            ""
            if self.interval is None
            else f", {self.interval.low:.4g} to {self.interval.high:.4g}"
        )
        count = len(self.warnings)
        noted = f", {count} warning{'s' * (count != 1)}" if count else ""
        return f"Aggregate({self.how} {self.metric}={self.estimate:.6g}{spread}, n={self.n}{noted})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers; undefined values are None."""
        return {
            "estimate": self.estimate,
            "interval": self.interval and self.interval.to_dict(),
            "metric": self.metric,
            "how": self.how,
            "design": self.design,
            "n": self.n,
            "n_undefined": self.n_undefined,
            "undefined": self.undefined,
            "labels": self.labels.tolist(),
            "per_group": _plain(self.per_group),
            "prevalence": _plain(self.prevalence),
            "beside": dict(self.beside),
            "comparability": self.comparability and self.comparability.to_dict(),
            "warnings": list(self.warnings),
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw every group with what they come to, and return the Axes."""
        from ..display.set_plots import plot_aggregate

        return plot_aggregate(self, ax)

    def _table(self) -> dict[str, Any]:
        return {"label": self.labels, "value": self.per_group, "prevalence": self.prevalence}


def _plain(values: FloatArray) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]


def aggregate(
    data: object,
    metric: Metric | type[Metric] | str = "aucnpr",
    *,
    by: str | None = None,
    model: str | None = None,
    how: str = "mean",
    undefined: str = "skip",
    design: str | None = None,
    confidence_level: float = 0.95,
) -> Aggregate:
    """Sum a metric up over folds, tasks, queries or classes, and say what to know about it.

    Parameters
    ----------
    data : RankingSet or Rows
        From :func:`precall.rank_groups` or :func:`precall.rank_classes`; a list or mapping of
        rankings will do, except for ``how="pooled"``. Rows are grouped by their column `by`.
    metric : Metric or str, default "aucnpr"
        As in :func:`precall.per_group`. Averaging AUCNPR instead of AUCPR keeps groups of high
        prevalence, whose AUCPR cannot be low, from dominating the mean (Boyd et al. 2012,
        sections 4.1 and 4.2); the mean AUCPR stands beside it.
    by, model : str, optional
        As in :func:`precall.per_group`.
    how : {"mean", "pooled", "weighted"}
        The plain mean over groups (macro average), the metric of all rows together (micro
        average; not for metrics of ranks within a group), or the mean weighted by the groups'
        positives.
    undefined
        As in :func:`precall.per_group`.
    design : {"independent", "folds", "classes"}, optional
        What the groups are. Folds of a cross-validation share their training data, so the
        interval over them promises too much; if it is not said, a result over few groups says so
        in the conditional. ``"classes"``, the default for what :func:`precall.rank_classes` made,
        are these very classes, whose rankings share the rows: the interval is about another
        sample of rows. Where the question is about other classes, say ``"independent"``.
    confidence_level : float, default 0.95

    Returns
    -------
    Aggregate

    Notes
    -----
    Groups are the unit of every interval, rows within a group may depend on each other as they
    like: Student's t with ``G - 1`` degrees of freedom for the mean, on the scale of log odds,
    where leaving out a group in turn says how much it varies; the limit on the side of the longer
    tail of the groups is farther. A group that holds a share w of all positives draws the
    weighted mean to itself, so there its residual counts as ``w (v - mean) / (1 - w)``: what the
    mean moves when the group is left out (HC3 of MacKinnon & White 1985). For the pooled value each
    group is really left out. Both refer to t with ``K - 1`` degrees of freedom, K being Kish's
    effective number of groups, ``1 / sum w^2``. Where larger groups have higher values (or lower
    ones), few groups give too low (too high) a value, because they rarely have the largest among
    them: the upper (lower) limit is then at least that of a regression of the values on the
    logarithm of the sizes, which are taken as lognormal. Limits are kept within the metric's range.

    With the design ``"classes"`` rows are the unit. Each class has its own default interval; the
    distances of its limits from its value add up with the correlations of the classes' influence
    values (MOVER of Zou & Donner 2008), about the mean of the less biased values for the lower
    limit. The pooled value has the interval of rows in clusters, each row's entries being one.

    The jackknife works on at most 512 cells of the score axis, the pooled value itself is exact.

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> rng = np.random.default_rng(7)
    >>> task = np.repeat(["a", "b", "c", "d"], 500)
    >>> y = rng.random(2000) < np.repeat([0.5, 0.2, 0.1, 0.05], 500)
    >>> result = pr.aggregate(pr.rank_groups(y, rng.normal(size=2000) + 2 * y, task))
    >>> result
    Aggregate(mean aucnpr=0.70, 0.40 to 0.89, n=4, 2 warnings)
    >>> print(result.warnings[0])
    Prevalence differs between groups, from 0.05 to 0.47 (9.4-fold). AUCNPR takes out the floor ...
    """
    what = as_metric(metric)
    group_set = ranking_set_of(data, by, model, what.thresholds)
    _validation.as_choice(how, "how", HOW)
    if design is not None:
        _validation.as_choice(design, "design", DESIGNS)
    level = _validation.as_fraction(confidence_level, "confidence_level")
    if design is None and group_set.shared is not None:
        design = "classes"
    if design == "classes" and group_set.shared is None:
        raise InputError(
            "design='classes' needs the rows that the classes share: give aggregate what "
            "rank_classes returns, or say design='independent'."
        )
    found = per_group(group_set, what, undefined=undefined)
    counted = ~np.isnan(found.values)
    if how != "pooled" and not counted.any():
        raise UndefinedMetricError(
            f"{what} is undefined in all {len(group_set)} groups: each of them lacks a class."
        )
    n = int(np.count_nonzero(counted))
    limits, left_out = None, None
    if how == "pooled":
        n = len(group_set)
        estimate, left_out = _pooled_estimate(group_set, what)
    elif how == "weighted":
        estimate, left_out = weighted_mean(found.values[counted], group_set.all_positives[counted])
    else:
        estimate = float(np.mean(found.values[counted]))
        limits = mean_limits(found.values[counted], level, _range(group_set, what))
    if design == "classes":
        interval, left_out = _of_these_classes(group_set, what, how, found.values, level), None
    else:
        if left_out is not None:
            left_out = replace(left_out, bounds=_range(group_set, what))
            limits = left_out.limits(level)
        interval = _interval(estimate, limits, level, how, what.bounds)
    verdict = None
    if group_set.pooled is not None:
        verdict = comparability(
            group_set.pooled, group_set.n_pos, group_set.n_neg, concordant_pairs(group_set)
        )
    area = what.unnormalised
    aucpr = found.values if area == what else per_group(group_set, area, undefined=undefined).values
    return Aggregate(
        estimate=estimate,
        interval=interval,
        per_group=found.values,
        warnings=describe(
            Situation(
                metric=what,
                how=how,
                design=design,
                labels=group_set.labels,
                values=found.values,
                aucpr=aucpr,
                prevalence=group_set.prevalence,
                n_undefined=found.n_undefined,
                undefined=undefined,
                comparability=verdict,
                interval=interval,
                trend=left_out.trend if left_out and left_out.makes_room(level) else None,
            )
        ),
        labels=group_set.labels,
        metric=found.metric,
        how=how,
        n=n,
        n_undefined=found.n_undefined,
        undefined=undefined,
        prevalence=group_set.prevalence,
        beside=_beside(group_set, what, how, found.values, aucpr),
        comparability=verdict,
        design=design,
    )


def _range(rankings: RankingSet, metric: Metric) -> tuple[float, float]:
    """Between which values averages can lie: the floor is that of the lowest prevalence."""
    low, high = metric.bounds
    both = np.flatnonzero((rankings.n_pos > 0) & (rankings.n_neg > 0))
    if metric.lower_is_better or not both.size:
        return low, high
    floor = metric.floor(rankings[int(both[np.argmin(rankings.prevalence[both])])])
    return low if floor is None else max(low, floor), high


def _of_these_classes(
    rankings: RankingSet, metric: Metric, how: str, values: FloatArray, level: float
) -> Interval | None:
    """What another sample of rows would give; None if the metric has no influence values."""
    if rankings.shared is None or not metric.smooth:
        return None
    if how == "pooled":
        return pooled_interval(rankings.shared, metric, level)
    counted = ~np.isnan(values)
    weight = rankings.n_pos if how == "weighted" else np.ones(len(rankings))
    shares = np.where(counted, weight, 0.0) / np.sum(weight[counted])
    return average_interval(
        rankings, rankings.shared, metric, values, shares, level, random_shares=how == "weighted"
    )


def weighted_mean(values: FloatArray, weights: Array) -> tuple[float, LeftOut | None]:
    """Weighted mean of groups, and what it owes to each of them.

    The latter is None where one group holds all the weight.
    """
    share = weights / np.sum(weights)
    mean = float(np.sum(share * values))
    if np.count_nonzero(share) < 2:
        return mean, None
    moved = share * settled(values - mean, mean) / (1.0 - share)
    return mean, LeftOut(estimate=mean, moved=moved, positives=weights)


_METHODS = {
    "mean": "t over groups",
    "weighted": "t over groups, weighted by positives",
    "pooled": "jackknife over groups",
}


def _interval(
    estimate: float,
    limits: tuple[float, float] | None,
    level: float,
    how: str,
    bounds: tuple[float, float],
) -> Interval | None:
    if limits is None:
        return None
    return Interval(
        low=max(bounds[0], limits[0]),
        high=min(bounds[1], limits[1]),
        estimate=estimate,
        confidence_level=level,
        method=_METHODS[how],
    )


def _pooled_estimate(rankings: RankingSet, metric: Metric) -> tuple[float, LeftOut | None]:
    if not metric.poolable:
        poolable = ", ".join(name for name, kind in METRICS.items() if kind.poolable)
        raise InputError(
            f"{metric} is made of ranks within a group and cannot be pooled: "
            f"take how='mean', or one of {poolable}."
        )
    if metric.thresholds:
        raise InputError(
            f"{metric} of all rows together is that of one ranking: use interval(rows, metric) "
            "with clusters= the groups."
        )
    if rankings.pooled is None:
        raise InputError(
            "how='pooled' needs all rows ranked together, which this RankingSet does not have: "
            "build it with rank_groups(..., pooled=True); separate rankings cannot be pooled "
            "exactly, because they no longer know the scores of their negatives."
        )
    whole = _together(rankings)
    if not (whole.n_pos[0] and whole.n_neg[0]):
        raise UndefinedMetricError(f"pooled {metric} needs positives and negatives in the data.")
    estimate = float(metric.per_group(whole)[0])
    without = leave_one_group_out(rankings.pooled)
    if without is None:
        return estimate, None
    without = replace(without, missed=rankings.missed.sum() - rankings.missed)
    values = metric.per_group(without)
    # All of it, not (G - 1)/G in the variance: with groups of unequal size the plain jackknife is
    # short (HC3 of MacKinnon & White 1985).
    moved = values.mean() - values
    return estimate, LeftOut(estimate=estimate, moved=moved, positives=rankings.all_positives)


def _together(rankings: RankingSet) -> RankingSet:
    """Return all groups as one, with what each of them missed."""
    pooled: Any = rankings.pooled
    return RankingSet.from_rankings([replace(pooled.ranking, missed=int(rankings.missed.sum()))])


def _beside(
    rankings: RankingSet, metric: Metric, how: str, values: FloatArray, aucpr: FloatArray
) -> dict[str, float]:
    """The mean AUCPR, and the same metric aggregated in the other ways."""
    counted = ~np.isnan(values)
    beside = {}
    both = counted & ~np.isnan(aucpr)
    if metric != metric.unnormalised and both.any():
        beside["mean aucpr"] = float(np.mean(aucpr[both]))
    if how != "mean" and counted.any():
        beside[f"mean {metric}"] = float(np.mean(values[counted]))
    if how != "weighted":
        weights = rankings.all_positives[counted]
        if np.sum(weights) > 0:
            beside[f"weighted {metric}"] = weighted_mean(values[counted], weights)[0]
    together = metric.poolable and not metric.thresholds
    if how != "pooled" and rankings.pooled is not None and together:
        whole = _together(rankings)
        if whole.n_pos[0] and whole.n_neg[0]:
            beside[f"pooled {metric}"] = float(metric.per_group(whole)[0])
    return beside

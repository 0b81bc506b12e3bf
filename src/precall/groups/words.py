"""What to know before believing an aggregate, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._interval import Interval
from ..metrics import Metric
from ..ranking.pooling import Comparability
from .group_limits import Trend

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]

# Prevalences within this factor of each other are taken as alike.
_ALIKE = 2.0
# Scores are called incomparable if the test says so and pairs across groups are worse by this much.
_SIGNIFICANT, _VISIBLE = 0.01, 0.01
# Sizes and values are said to go together if the test of their correlation says so.
_TOGETHER = 0.05
# With more groups than this nobody thinks of folds.
_MOST_FOLDS = 20
# Coverage of mean +- t s / sqrt(k) over the folds of a cross-validation, nominal .95: extremes over
# sample sizes and prevalences in simulations on known score models.
_FOLD_COVERAGE = ("0.60", "0.95")
_SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class Situation:
    """Everything the sentences are built from."""

    metric: Metric
    how: str
    design: str | None
    labels: Array
    values: FloatArray
    aucpr: FloatArray
    prevalence: FloatArray
    n_undefined: int
    undefined: str
    comparability: Comparability | None
    interval: Interval | None
    trend: Trend | None = None


def describe(situation: Situation) -> tuple[str, ...]:
    """Return the sentences that apply."""
    return tuple(_sentences(situation))


def _sentences(now: Situation) -> Iterator[str]:
    if now.n_undefined:
        yield _undefined(now)
    if now.how != "pooled":
        yield from _prevalence(now)
    if now.how == "pooled" and now.comparability is not None:
        yield from _comparability(now.comparability)
    if now.trend is not None and now.trend.p_value < _TOGETHER:
        yield _sizes(now.trend)
    if now.interval is None and now.design == "classes":
        yield (
            f"There is no interval for these classes: {now.metric} has no influence values. "
            "Resample the rows, or ask about other classes with design='independent'."
        )
    elif now.interval is None:
        yield (
            "There is no interval: it needs at least two groups with a value, and both classes in "
            "what is left when one of them is taken out."
        )
    else:
        yield from _interval(now, now.interval)


def _undefined(now: Situation) -> str:
    done = "were left out" if now.undefined == "skip" else "count as 0"
    return (
        f"{now.n_undefined} of {now.values.size} groups have no value of {now.metric}, because a "
        f"class is empty there: they {done}."
    )


def _prevalence(now: Situation) -> Iterator[str]:
    counted = ~np.isnan(now.values) & (now.prevalence > 0)
    if not counted.any():
        return
    prevalence = now.prevalence[counted]
    low, high = float(prevalence.min()), float(prevalence.max())
    if high <= _ALIKE * low:
        return
    opening = (
        f"Prevalence differs between groups, from {low:.3g} to {high:.3g} ({high / low:.2g}-fold)."
    )
    if now.metric.with_prevalence:
        yield f"{opening} {now.metric.with_prevalence.format(dominated=_dominated(now, counted))}"


def _dominated(now: Situation, counted: npt.NDArray[np.bool_]) -> str:
    """Name the groups of prevalence above the (geometric) middle, and their share of AUCPR."""
    area, prevalence = np.nan_to_num(now.aucpr[counted]), now.prevalence[counted]
    high = np.flatnonzero(prevalence >= np.sqrt(prevalence.min() * prevalence.max()))
    high = high[np.argsort(-prevalence[high], kind="stable")]
    names = [repr(label) for label in now.labels[counted][high[:_SHOWN]].tolist()]
    shown = ", ".join(names) + (", ..." if high.size > _SHOWN else "")
    share = float(area[high].sum() / area.sum()) if area.sum() else 0.0
    return (
        f"the {high.size} of {area.size} groups with the highest prevalence ({shown}) make "
        f"{100 * share:.2g} % of the sum of AUCPR"
    )


def _comparability(verdict: Comparability) -> Iterator[str]:
    if verdict.p_value < _SIGNIFICANT and verdict.within - verdict.between > _VISIBLE:
        chance = f"p = {verdict.p_value:.1g}" if verdict.p_value > 1e-99 else "p < 1e-99"
        yield (
            "Pooled scores look incomparable: a positive outranks a negative of its own group "
            f"{100 * verdict.within:.3g} % of the time, one of another group only "
            f"{100 * verdict.between:.3g} % (test of equal score distributions, {chance}). "
            "Calibrate the scores per group, or take how='mean'."
        )


def _sizes(trend: Trend) -> str:
    higher, upper = ("higher", "upper") if trend.slope > 0 else ("lower", "lower")
    return (
        f"Larger groups have {higher} values here (p = {trend.p_value:.1g}), and few groups rarely "
        f"have the largest among them: the {upper} limit makes room for larger ones. If groups are "
        "what you care about, take how='mean', which does not depend on their sizes."
    )


def _interval(now: Situation, interval: Interval) -> Iterator[str]:
    low, high = _FOLD_COVERAGE
    covers = (
        f"in simulations a 95 % interval over folds covered the truth only {low} to {high} of the "
        "time, because areas of small folds are biased upwards (Boyd 2014, section 4.4); models "
        "that share training data depend on each other on top of that"
    )
    if now.design == "folds":
        yield f"Intervals over the folds of a cross-validation cover too rarely: {covers}."
    elif now.design is None and now.values.size <= _MOST_FOLDS:
        yield (
            f"If these {now.values.size} groups are folds of a cross-validation, the interval "
            f"covers too rarely: {covers}. Pass design='folds' or 'independent' to say what they "
            "are."
        )
    if interval.width == 0:
        yield (
            "Every group has the same value, so the interval has no width: that is not evidence of "
            "certainty."
        )

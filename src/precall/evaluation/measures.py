"""The metrics that are shown, each with what the worst, a random and the best ranking have."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..exceptions import UndefinedMetricError
from ..inference.intervals import interval
from ..inference.result import MetricInterval
from ..metrics import METRICS, Metric, aucnpr, aucpr
from ..metrics.registry import full_title
from ..ranking import Ranking
from .few import NO_INTERVAL, too_few
from .model_result import Measure
from .settings import Settings

Intervals = Callable[[Metric], MetricInterval]

#: What is shown of every group.
GROUP_METRICS: tuple[Metric, ...] = (aucpr(), aucnpr())


def shown_metrics(recall: float) -> list[Metric]:
    """Return the metrics that are shown unasked, `recall` being the recall of interest."""
    return [kind.shown_with(recall) for kind in METRICS.values() if kind.shown]


def intervals_of(data: Any, settings: Settings, model: str | None = None) -> Intervals:
    """Return what gives the default interval of a metric on these data."""

    def found(metric: Metric) -> MetricInterval:
        return interval(
            data,
            metric,
            model=model,
            confidence_level=settings.confidence_level,
            prevalence=settings.prevalence,
        )

    return found


def measure(metric: Metric, ranking: Ranking, intervals: Intervals) -> Measure:
    """Compute a metric; with one class missing it has a convention's value and a note.

    With too few positives it has counts, where it is a share of rows, and no interval.
    """
    if not (ranking.n_pos and ranking.n_neg):
        return _one_class(metric, ranking)
    found: MetricInterval | None = None
    counts, note = None, ""
    if metric.rules:
        try:
            found = intervals(metric)
        except UndefinedMetricError as error:
            note = f"no interval: {error}"
    estimate = metric(ranking) if found is None else found.estimate
    if found is not None and too_few(ranking):
        found, note = None, NO_INTERVAL
        counts = None if ranking.weighted else metric.counted(ranking)
    return Measure(
        name=metric.name,
        title=full_title(metric),
        explanation=explained(metric),
        estimate=estimate,
        interval=found,
        floor=metric.floor(ranking),
        random=metric.random(ranking),
        ceiling=metric.ceiling(ranking),
        lowest=_finite(metric.bounds[0]),
        lower_is_better=metric.lower_is_better,
        note=note,
        counts=counts,
    )


def explained(metric: Metric) -> str:
    """What a metric is, in a sentence."""
    return metric.explanation or f"{metric.summary[:1].upper()}{metric.summary[1:]}."


def _one_class(metric: Metric, ranking: Ranking) -> Measure:
    missing = "negatives" if ranking.n_pos else "positives"
    value = metric.convention(ranking)
    known = value == value
    return Measure(
        name=metric.name,
        title=full_title(metric),
        explanation=explained(metric),
        estimate=value,
        interval=None,
        floor=None,
        random=None,
        ceiling=metric.bounds[1],
        lowest=_finite(metric.bounds[0]),
        lower_is_better=metric.lower_is_better,
        note=f"there are no {missing}" + (", so this is a convention" if known else ""),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

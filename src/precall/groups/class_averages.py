"""Averages over classes that are these very ones: what another sample of rows would give.

Every class ranks the same rows, so the classes' values vary together. Each class has its own
interval. The distances of its limits from its value add up as standard deviations do, with the
correlations of the classes' influence values (Zou & Donner 2008 call it MOVER).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._interval import Interval
from ..inference.intervals import interval
from ..inference.limits import normal_quantile
from ..inference.units import contributions
from ..metrics import Metric
from ..ranking import Ranking
from ..ranking.places import locate
from ..ranking.ranking_set import RankingSet
from ..ranking.shared_rows import SharedRows
from ..rows import Rows

FloatArray = npt.NDArray[np.float64]

# A class whose rows move its value less than this varies by what was not seen, on its own.
_NO_INFLUENCE = 1e-9


class _Class(NamedTuple):
    """One class: its share of the average, the value below which it is not biased, distances."""

    share: float
    centre: float
    down: float
    up: float
    influence: FloatArray


class _OneClass(NamedTuple):
    """What `contributions` asks of rows."""

    positive: npt.NDArray[np.bool_]
    weight: FloatArray | None


def average_interval(
    rankings: RankingSet,
    shared: SharedRows,
    metric: Metric,
    values: FloatArray,
    shares: FloatArray,
    level: float,
    *,
    random_shares: bool,
) -> Interval:
    """Return the interval of a weighted average over classes.

    `values` and `shares` are NaN and 0 for classes that do not count. `random_shares` says that the
    shares are those of the classes' positives, which another sample would change.

    Notes
    -----
    Average precision is biased upwards, and what few positives do to every class does not average
    out. So the lower limit is taken from the average of the less biased values where they are
    smaller.
    """
    estimate = float(np.sum(shares * np.nan_to_num(values)))
    counted = np.flatnonzero((shares > 0) & ~np.isnan(values))
    classes = [_one(rankings[c], shared, c, metric, shares[c], level) for c in counted.tolist()]
    z = normal_quantile(level)
    moved = np.zeros(shared.positive.shape[1])
    if random_shares:
        weight = 1.0 if shared.weight is None else shared.weight
        total = np.sum(rankings.n_pos[counted])
        away = np.where(np.isin(np.arange(values.size), counted), values - estimate, 0.0)
        moved = z * weight * (away @ shared.positive) / total
    down, up = (
        _together([(one.share * getattr(one, side), one.influence) for one in classes], moved)
        for side in ("down", "up")
    )
    lower = sum(one.share * one.centre for one in classes)
    low, high = metric.bounds
    return Interval(
        low=max(low, min(lower - down, estimate)),
        high=min(high, estimate + up),
        estimate=estimate,
        confidence_level=level,
        method="mover over classes",
    )


def pooled_interval(shared: SharedRows, metric: Metric, level: float) -> Interval:
    """Return the interval of all classes' rows ranked together: a row's entries are a cluster."""
    n_classes, n_rows = shared.positive.shape
    rows = Rows(
        shared.positive.ravel(),
        shared.scores.ravel(),
        sample_weight=None if shared.weight is None else np.tile(shared.weight, n_classes),
        clusters=np.tile(np.arange(n_rows), n_classes),
    )
    found = interval(rows, metric, confidence_level=level)
    return Interval(
        low=found.low,
        high=found.high,
        estimate=found.estimate,
        confidence_level=level,
        method=f"{found.method}, rows as clusters",
    )


def _one(
    ranking: Ranking, shared: SharedRows, number: int, metric: Metric, share: float, level: float
) -> _Class:
    found = interval(ranking, metric, confidence_level=level)
    bound, cells = metric.on(ranking), ranking.cells
    unbiased = bound.unbiased(cells, ranking.squares)
    centre = found.estimate
    if unbiased is not None:
        centre = min(centre, float(bound.from_unit(unbiased)))
    influence = contributions(
        _OneClass(shared.positive[number], shared.weight),  # type: ignore[arg-type]
        locate(ranking.threshold, shared.scores[number]),
        bound.gradient(cells),
        float(bound.prevalence_slope(cells)),
    )
    distances = found.estimate - found.low, found.high - found.estimate
    return _Class(float(share), centre, *distances, influence)


def _together(parts: list[tuple[float, FloatArray]], moved: FloatArray) -> float:
    """Add distances with the correlations of their influence values; `moved` is one more part."""
    summed, alone = moved.copy(), 0.0
    for distance, influence in parts:
        size = float(np.sqrt(np.sum(influence**2)))
        if size > _NO_INFLUENCE:
            summed += distance / size * influence
        else:
            alone += distance**2
    return float(np.sqrt(np.sum(summed**2) + alone))

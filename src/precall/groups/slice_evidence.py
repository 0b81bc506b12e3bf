"""The metric of parts of the rows at one prevalence, with what its limits come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .._rounding import settled
from ..inference.result import Evidence
from ..inference.rules import Rule
from ..inference.rules.rule import Case
from ..inference.units import contributions
from ..metrics import Metric
from ..ranking import Ranked, rank_checked
from ..rows import Rows, locate

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class SliceQuestion:
    """What is asked of every part of the rows."""

    rows: Rows
    model: str
    metric: Metric
    rule: Rule
    prevalence: float
    n_resamples: int
    rng: Any


@dataclass(frozen=True, kw_only=True, eq=False)
class SlicePart:
    """The metric of some of the rows.

    Attributes
    ----------
    estimate : float
    evidence : Evidence
        Limits at every level.
    unit : array of int
        The unit of each row: its cluster, or the row itself.
    moved : array of float, or None
        First-order contribution of each row; None if the metric has no gradient.
    """

    estimate: float
    evidence: Evidence
    unit: IntArray = field(repr=False)
    moved: FloatArray | None = field(repr=False)

    def limits(self, level: float) -> tuple[float, float]:
        """Return the lower and the upper limit; both contain the estimate."""
        low, high = (float(limit) for limit in self.evidence.limits(level))
        return min(low, self.estimate), max(high, self.estimate)


def part_of(question: SliceQuestion, chosen: Mask) -> SlicePart:
    """Return the metric of the rows that a mask chooses, at the prevalence that was asked for."""
    rows, metric = question.rows, question.metric
    part = rows.select(chosen)
    scores = part.scores[question.model]
    ranking = rank_checked(part.positive, scores, part.weight, metric.thresholds)
    place = locate(ranking.threshold, scores)
    ranking = ranking.at_prevalence(question.prevalence)
    part = part.at_prevalence(question.prevalence)
    bound = metric.on_both_classes(ranking)
    case = Case(
        sample=Ranked(ranking, part, None if rows.cluster is None else place),
        metric=bound,
        varying=False,
        n_resamples=question.n_resamples,
        rng=question.rng,
        progress=None,
    )
    moved = contributions(part, place, bound.gradient(ranking.cells), 0.0) if bound.smooth else None
    return SlicePart(
        estimate=bound.estimate(ranking),
        evidence=question.rule.evidence(case),
        unit=np.flatnonzero(chosen) if rows.cluster is None else rows.cluster[chosen],
        moved=moved,
    )


def covariance_between(parts: list[SlicePart], n_units: int) -> FloatArray | None:
    """Covariance of the estimates of parts that may share units; None without gradients."""
    from scipy.sparse import csr_array

    data, indices, ends = [], [], [0]
    for part in parts:
        if part.moved is None:
            return None
        data.append(part.moved)
        indices.append(part.unit)
        ends.append(ends[-1] + part.unit.size)
    shape = (len(parts), n_units)
    matrix = csr_array((np.concatenate(data), np.concatenate(indices), ends), shape=shape)
    matrix.sum_duplicates()
    return np.asarray((matrix @ matrix.T).toarray(), dtype=np.float64)


def difference_limits(
    first: float, second: float, ends: tuple[Any, Any], others: tuple[Any, Any], correlation: float
) -> tuple[float, float, float]:
    """First minus second with limits, recovered from the limits of both (Zou & Donner 2008).

    Returns the difference, its lower and its upper limit.
    """
    (low, high), (other_low, other_high) = ends, others
    difference = float(settled(first - second, max(abs(first), abs(second))))
    down = _distance(first - low, other_high - second, correlation)
    up = _distance(high - first, second - other_low, correlation)
    return difference, difference - down, difference + up


def _distance(own: float, other: float, correlation: float) -> float:
    return float(np.sqrt(max(own**2 + other**2 - 2.0 * correlation * own * other, 0.0)))

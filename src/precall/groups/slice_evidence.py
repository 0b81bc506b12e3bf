"""The metric of slices and of their rests at one prevalence, one slice after the other.

It serves every metric and every interval rule; :mod:`.slices_at_once` does the same for all slices
at once where a formula allows it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from .._cached import cached_property
from ..inference.result import Evidence
from ..inference.rules import Rule
from ..inference.rules.rule import Case
from ..inference.units import contributions
from ..metrics import Metric
from ..ranking import Ranked, rank_checked
from ..ranking.places import locate
from ..rows import Rows
from .levels import Cut

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class SliceQuestion:
    """What is asked of every slice.

    `tested` has the positions of the slices of each cut that are large enough.
    """

    rows: Rows
    model: str
    metric: Metric
    rule: Rule
    prevalence: float
    n_resamples: int
    rng: Any
    cuts: list[Cut]
    tested: list[IntArray]

    @property
    def count(self) -> int:
        """Number of slices."""
        return sum(levels.size for levels in self.tested)


class Rests(NamedTuple):
    """The metric outside of each slice; NaN where the rest is too small.

    `correlation` is that of the estimates of slice and rest, which clusters may share.
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    correlation: FloatArray


class SliceEvidence(Protocol):
    """What slices are judged by."""

    @property
    def estimate(self) -> FloatArray:
        """The metric of every slice."""

    @property
    def covariance(self) -> FloatArray | None:
        """Of the estimates; None where slices share nothing, or it is not known what."""

    def limits(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the limits of every slice."""

    def rests(self, level: float, known: Mask) -> Rests:
        """Return the metric outside of each slice with its limits."""


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


@dataclass(frozen=True)
class OneByOne:
    """Slices ranked one after the other."""

    question: SliceQuestion

    @cached_property
    def members(self) -> list[tuple[int, int]]:
        """The cut and the level of every slice."""
        return [
            (number, level)
            for number, levels in enumerate(self.question.tested)
            for level in levels.tolist()
        ]

    def rows_of(self, member: tuple[int, int]) -> Mask:
        """Return which rows are in a slice."""
        return np.asarray(self.question.cuts[member[0]].code == member[1])

    @cached_property
    def parts(self) -> list[SlicePart]:
        """The metric of every slice."""
        return [self._part(self.rows_of(member)) for member in self.members]

    @property
    def estimate(self) -> FloatArray:
        """The metric of every slice."""
        return np.array([part.estimate for part in self.parts])

    def limits(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the limits of every slice."""
        found = [[float(end) for end in part.evidence.limits(level)] for part in self.parts]
        low, high = np.array(found).T
        return low, high

    @property
    def covariance(self) -> FloatArray | None:
        """Of the estimates, from the rows or clusters that slices share; None if unknown."""
        return self._between(self.parts)

    def rests(self, level: float, known: Mask) -> Rests:
        """Return the metric outside of each slice with its limits."""
        found = np.full((4, known.size), np.nan)
        clustered = self.question.rows.cluster is not None
        for index in np.flatnonzero(known).tolist():
            rest = self._part(~self.rows_of(self.members[index]))
            correlation = self._correlation(self.parts[index], rest) if clustered else 0.0
            found[:, index] = rest.estimate, *rest.evidence.limits(level), correlation
        return Rests(*found)

    def _correlation(self, part: SlicePart, rest: SlicePart) -> float:
        covariance = self._between([part, rest])
        if covariance is None:
            return 0.0
        scale = float(np.sqrt(covariance[0, 0] * covariance[1, 1]))
        return float(covariance[0, 1]) / scale if scale > 0 else 0.0

    def _part(self, chosen: Mask) -> SlicePart:
        question = self.question
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
        moved = None
        if bound.smooth:
            moved = contributions(part, place, bound.gradient(ranking.cells), 0.0)
        return SlicePart(
            estimate=bound.estimate(ranking),
            evidence=question.rule.evidence(case),
            unit=np.flatnonzero(chosen) if rows.cluster is None else rows.cluster[chosen],
            moved=moved,
        )

    def _between(self, parts: list[SlicePart]) -> FloatArray | None:
        """Covariance of the estimates of parts that may share units; None without gradients."""
        from scipy.sparse import csr_array

        moved = [part.moved for part in parts if part.moved is not None]
        if len(moved) < len(parts):
            return None
        rows = self.question.rows
        shape = (len(parts), len(rows) if rows.cluster is None else rows.n_clusters)
        ends = np.concatenate([[0], np.cumsum([values.size for values in moved])])
        units = np.concatenate([part.unit for part in parts])
        matrix = csr_array((np.concatenate(moved), units, ends), shape=shape)
        matrix.sum_duplicates()
        return np.asarray((matrix @ matrix.T).toarray(), dtype=np.float64)

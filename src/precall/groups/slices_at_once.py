"""The metric of all slices and of their rests at once: one sort, then passes over the rows.

Rows are sorted by score once. The rankings of all the slices of a cut follow from their order, the
rests by subtraction from the ranking of all rows, and what clusters change from sums over pairs of
a slice and a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from .._cached import cached_property
from ..inference.rules.rule import Formula
from ..inference.simultaneous import MOST_DRAWN
from ..ranking import Cells
from ..ranking.ranking_set import RankingSet
from .slice_clusters import Counting, OutsideClusters, SliceClusters
from .slice_evidence import Rests, SliceQuestion
from .slice_rests import WholeRanking
from .slice_values import Clustered, Gradient, SliceMetric, SliceValues
from .sorted_slices import SortedSlices

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def fits(question: SliceQuestion) -> bool:
    """Return whether all slices can be computed at once."""
    metric = question.metric
    return isinstance(question.rule, Formula) and metric.smooth and not metric.thresholds


@dataclass(frozen=True)
class AtOnce:
    """All slices, cut by cut."""

    question: SliceQuestion

    @property
    def _metric(self) -> SliceMetric:
        return SliceMetric(self.question.metric, self.question.rule, self.question.prevalence)

    @cached_property
    def _sorted(self) -> list[SortedSlices]:
        question = self.question
        return [
            SortedSlices.of(question.rows, question.model, cut.code, levels)
            for cut, levels in zip(question.cuts, question.tested, strict=True)
        ]

    @cached_property
    def _clusters(self) -> list[SliceClusters] | None:
        rows = self.question.rows
        return None if rows.cluster is None else [SliceClusters(rows, one) for one in self._sorted]

    @cached_property
    def _moved(self) -> list[FloatArray]:
        """First-order contribution of every row of the slices of each cut, in their order."""
        return [self._contributions(one) for one in self._sorted]

    @cached_property
    def _values(self) -> list[SliceValues]:
        if self._clusters is None:
            return [self._metric.measured(one.rankings) for one in self._sorted]
        return [
            self._metric.measured(
                one.rankings,
                clusters.clustered(moved, self._metric.gradient(one.rankings), self._counting),
            )
            for one, clusters, moved in zip(self._sorted, self._clusters, self._moved, strict=True)
        ]

    @property
    def _counting(self) -> Counting:
        rule: Any = self.question.rule
        return Counting(bool(self.question.metric.counts_top), bool(rule.takes_design_effect))

    @property
    def estimate(self) -> FloatArray:
        """The metric of every slice."""
        return np.concatenate([values.estimate for values in self._values])

    def limits(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the limits of every slice."""
        found = [values.limits(level) for values in self._values]
        low, high = (np.concatenate(ends) for ends in zip(*found, strict=True))
        return low, high

    # What slices of different cuts share.

    @property
    def covariance(self) -> FloatArray | None:
        """Of the estimates, from the rows or clusters they share; None where it is not needed."""
        count = self.question.count
        if count > MOST_DRAWN:
            return None
        if self._clusters is not None:
            return self._between_clusters(self._clusters, count)
        if sum(levels.size > 0 for levels in self.question.tested) == 1:
            return None
        return self._between_rows(count)

    def _between_clusters(self, found: list[SliceClusters], count: int) -> FloatArray:
        from scipy.sparse import csr_array

        first = np.cumsum([0, *(clusters.one.n_slices for clusters in found)])
        sums = [clusters.summed(moved) for clusters, moved in zip(found, self._moved, strict=True)]
        own = [clusters.slice_of_pair + at for clusters, at in zip(found, first, strict=False)]
        where = np.concatenate(own), np.concatenate([one.cluster_of_pair for one in found])
        shape = count, self.question.rows.n_clusters
        matrix = csr_array((np.concatenate(sums), where), shape=shape)
        return np.asarray((matrix @ matrix.T).toarray(), dtype=np.float64)

    def _between_rows(self, count: int) -> FloatArray:
        sizes = [levels.size for levels in self.question.tested]
        first = np.append(0, np.cumsum(sizes))
        slots, moved = [], []
        for one, values in zip(self._sorted, self._moved, strict=True):
            # One more slot for rows in none of the tested slices.
            slots.append(np.full(len(self.question.rows), one.n_slices, dtype=np.int64))
            moved.append(np.zeros(len(self.question.rows)))
            slots[-1][one.rows], moved[-1][one.rows] = one.slice_of_row, values
        covariance = np.zeros((count, count))
        for number, size in enumerate(sizes):
            own = np.bincount(slots[number], moved[number] ** 2, size + 1)[:-1]
            place = np.arange(first[number], first[number + 1])
            covariance[place, place] = own
        for a, b in combinations(range(len(sizes)), 2):
            joint = slots[a] * (sizes[b] + 1) + slots[b]
            shape = (sizes[a] + 1, sizes[b] + 1)
            shared = np.bincount(joint, moved[a] * moved[b], shape[0] * shape[1]).reshape(shape)
            inside = slice(first[a], first[a + 1]), slice(first[b], first[b + 1])
            covariance[inside] = shared[:-1, :-1]
            covariance[inside[::-1]] = shared[:-1, :-1].T
        return covariance

    def _contributions(self, one: SortedSlices) -> FloatArray:
        gradient = self._metric.gradient(one.rankings)
        segment = one.segment_of_row
        rows = self.question.rows
        found = np.where(
            rows.positive[one.rows],
            one.of_positives(gradient.centred)[segment],
            one.of_negatives(gradient.centred, gradient.factor)[segment],
        )
        return found if rows.weight is None else found * rows.weight[one.rows]

    # The rests.

    def rests(self, level: float, known: Mask) -> Rests:
        """Return the metric outside of each slice with its limits."""
        whole = WholeRanking.of(self.question, known.size)
        outside = None
        if self._clusters is not None:
            outside = OutsideClusters(self.question.rows, self.question.model, whole)
        found = np.full((4, known.size), np.nan)
        begin = 0
        for number, one in enumerate(self._sorted):
            wanted = np.flatnonzero(known[begin : begin + one.n_slices])
            for block, rankings in whole.without(one, wanted):
                clustered, correlation = None, np.zeros(block.size)
                if outside is not None:
                    clustered, correlation = self._outside(outside, number, block, rankings)
                values = self._metric.measured(rankings, clustered)
                low, high = values.limits(level)
                found[:, begin + block] = values.estimate, low, high, correlation
            begin += one.n_slices
        # What coarsening took from the ranking of all rows, it took from the rests.
        found[:3] += self._metric.coarsened_away(whole.exact, whole.coarse)
        return Rests(*found)

    def _outside(
        self, outside: OutsideClusters, cut: int, block: IntArray, rankings: RankingSet
    ) -> tuple[Clustered, FloatArray]:
        """Return what clusters change about some rests, and how they correlate with the slices."""
        clusters = self._clusters[cut]  # type: ignore[index]
        own = clusters.summed(self._moved[cut])
        gradient = self._metric.gradient(rankings)
        counted: Cells = rankings.rows or rankings.cells
        found, correlation = np.empty((3, block.size)), np.zeros(block.size)
        for line, number in enumerate(block.tolist()):
            cells = slice(*rankings.offsets[line : line + 2])

            def part(values: Cells, cells: slice = cells, line: int = line) -> Cells:
                positives, tied, above = (each[cells] for each in values[:3])
                return Cells(positives, tied, above, values.below[line])

            at = Gradient(part(gradient.values), part(gradient.centred), gradient.factor[line])
            rest = outside.of(clusters, number, part(counted), at, self._counting)
            found[:, line] = rest[:3]
            pairs = clusters.slice_of_pair == number
            sums = own[pairs], rest.sums[clusters.cluster_of_pair[pairs]]
            scale = np.sqrt(np.sum(sums[0] ** 2) * np.sum(rest.sums**2))
            if scale > 0:
                correlation[line] = np.sum(sums[0] * sums[1]) / scale
        return Clustered((found[0], found[1]), found[2]), correlation

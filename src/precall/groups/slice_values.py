"""The metric of many rankings at one prevalence, with limits at every level and derivatives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..inference.local_weights import LocalWeights
from ..inference.rules import Rule
from ..inference.rules.rule import ClosedForm, closed_form
from ..metrics import Metric
from ..ranking import Cells, Ranking
from ..ranking.ranking_set import RankingSet

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Clustered(NamedTuple):
    """Effective numbers of both classes, and the variance of the metric on its own scale."""

    sizes: tuple[FloatArray, FloatArray]
    variance: FloatArray


class Gradient(NamedTuple):
    """Derivatives of the metric of every ranking of a set, and the same centred in each class.

    `factor` is what the negatives of each ranking are weighted with.
    """

    values: Cells
    centred: Cells
    factor: FloatArray


@dataclass(frozen=True, eq=False)
class SliceValues:
    """The metric of every ranking of a set, with its limits at every level."""

    estimate: FloatArray
    pieces: list[tuple[IntArray, ClosedForm]] = field(repr=False)

    def limits(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the limits of every ranking."""
        low, high = np.empty_like(self.estimate), np.empty_like(self.estimate)
        for groups, form in self.pieces:
            low[groups], high[groups] = form.limits(level)
        return low, high


@dataclass(frozen=True)
class SliceMetric:
    """A metric with a formula for its limits, at one prevalence."""

    metric: Metric
    rule: Rule
    prevalence: float

    def measured(self, rankings: RankingSet, clustered: Clustered | None = None) -> SliceValues:
        """Return the metric of rankings at the common prevalence."""
        metric, rule = self.metric, self.rule
        moved = rankings.at_prevalence(self.prevalence)
        bound = metric.on(moved)
        sizes = moved.effective_sizes if clustered is None else clustered.sizes
        estimate, pieces = np.empty(len(rankings)), []
        for (groups, cells, squares), counts in zip(moved.lines(), moved.row_lines(), strict=True):
            own = bound.take(groups)
            local = None
            if clustered is None and rankings.weighted and counts is not None:
                local = LocalWeights.of(cells, counts, squares)
            estimate[groups] = np.clip(own.value(cells, squares), *own.bounds)
            variance = None
            if clustered is not None and rule.takes_variance:  # type: ignore[attr-defined]
                zero, one = own.unit
                variance = clustered.variance[groups] / (one - zero) ** 2
            pieces.append(
                (
                    groups,
                    closed_form(
                        own,
                        rule,  # type: ignore[arg-type]
                        cells,
                        squares,
                        sizes=(sizes[0][groups], sizes[1][groups]),
                        varying=False,
                        variance=variance,
                        local=local,
                    ),
                )
            )
        return SliceValues(estimate, pieces)

    def gradient(self, rankings: RankingSet) -> Gradient:
        """Return the derivatives of the metric of rankings at the common prevalence."""
        moved = rankings.at_prevalence(self.prevalence)
        bound = self.metric.on(moved)
        first, second, third = (np.zeros(moved.threshold.size) for _ in range(3))
        flat = Cells(first, second, third, np.zeros(len(moved)))
        for (groups, index, real), (_, cells, _) in zip(moved.blocks(), moved.lines(), strict=True):
            values = bound.take(groups).gradient(cells)
            for field_, found in zip(flat[:3], values[:3], strict=True):
                field_[index[real]] = np.broadcast_to(found, real.shape)[real]
            flat.below[groups] = values.below
        return Gradient(flat, _centred(moved, flat), np.divide(moved.n_neg, rankings.n_neg))

    def coarsened_away(self, exact: Ranking, coarse: Ranking) -> float:
        """Return what coarsening took from the metric of a ranking."""
        if coarse is exact:
            return 0.0
        before, after = (
            self.metric.on(ranking).estimate(ranking)
            for ranking in (each.at_prevalence(self.prevalence) for each in (exact, coarse))
        )
        return before - after


def _centred(moved: RankingSet, values: Cells) -> Cells:
    """Take the mean of each class in each group from values of cells."""
    cells, group = moved.cells, moved.group_of_row
    ours = moved.sums(values.positives * cells.positives) / moved.n_pos
    theirs = moved.sums(values.tied * cells.tied + values.above * cells.above)
    theirs = (theirs + values.below * cells.below) / moved.n_neg
    return Cells(
        values.positives - ours[group],
        values.tied - theirs[group],
        values.above - theirs[group],
        values.below - theirs,
    )

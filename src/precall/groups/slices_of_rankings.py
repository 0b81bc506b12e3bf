"""Slices of rows that are not at hand: from the rankings of groups, such as those of an engine.

The rows outside of a group are all rows less the group. Counts can be subtracted on equal
thresholds only, so the groups have to be counted at thresholds of the ranking of all rows too:
:func:`rest_thresholds` says at which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._cached import cached_property
from ..exceptions import InputError
from ..inference.rules import rule_for
from ..inference.rules.rule import Formula
from ..metrics import Metric, as_metric
from ..ranking import Cells, Ranking
from ..ranking.checks import require_scored
from ..ranking.ranking_set import RankingSet
from .slice_evidence import Rests
from .slice_rests import RestCells, without_rounding
from .slice_values import SliceMetric, SliceValues
from .slices import MIN_POSITIVES, SliceRequest, result_of, tested_slices
from .slices_result import Slice, Slices

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def rest_thresholds(ranking: Ranking) -> Array:
    """Return the thresholds at which groups have to be counted to be compared with their rests."""
    return RestCells.of(ranking, 1).edges


def slices_of_rankings(
    ranking: Ranking,
    groups: Mapping[str, RankingSet] | Mapping[tuple[str, ...], RankingSet],
    metric: Metric | type[Metric] | str = "aucnpr",
    *,
    model: str = "score",
    prevalence: float | None = None,
    min_positives: int = MIN_POSITIVES,
    confidence_level: float = 0.95,
    shown: IntArray | None = None,
    depth: int = 1,
) -> Slices:
    """Return the slices of rows of which there are rankings only.

    Parameters
    ----------
    ranking : Ranking
        Of all rows.
    groups : mapping from a column, or a tuple of columns, to RankingSet
        The same rows ranked by the values of a column, or of several at once, whose labels are
        tuples then. Sets that were also counted at :func:`rest_thresholds` are compared with their
        rests; others have intervals only.
    metric, prevalence, min_positives, confidence_level
        As in :func:`precall.slices`; the metric must have a formula for its limits.
    model : str
        What the model is called.
    shown : array of int, optional
        Positions of the groups that are slices; the others are in the rests only.
    depth : int, default 1
        How many columns were crossed at most.

    Notes
    -----
    What slices of different columns and crossings share is not known, so several columns have the
    critical value of independent slices, which is never too small (Sidak 1967).

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> rng = np.random.default_rng(0)
    >>> y, device = rng.random(4000) < 0.1, rng.choice(["phone", "tablet"], 4000)
    >>> score = rng.normal(size=4000) + np.where(device == "phone", 2.5, 0.5) * y
    >>> rankings = pr.rank_groups(y, score, device)
    >>> slices_of_rankings(pr.rank(y, score), {"device": rankings})
    Slices(aucnpr at prevalence 0.104: 2 slices by device, lowest device=tablet 0.146 (...))
    """
    what = as_metric(metric)
    for each in (ranking, *groups.values()):
        require_scored(each, "a comparison of slices with the rows outside")
    rule = rule_for(what, None)
    if not isinstance(rule, Formula) or not what.smooth or what.thresholds:
        raise InputError(f"{what} has no formula for its limits: slices of it need all rows.")
    request = SliceRequest(
        metric=what,
        model=model,
        rule=rule,
        prevalence=float(ranking.prevalence) if prevalence is None else prevalence,
        min_positives=min_positives,
        level=confidence_level,
        n_resamples=2,
        rng=None,
    )
    cuts = {_columns(named): rankings for named, rankings in groups.items()}
    parts = [
        _ColumnGroups.of(columns, rankings, ranking, min_positives, shown)
        for columns, rankings in cuts.items()
    ]
    counted = [one for part in parts for one in part.counted if not one.too_small]
    tested: list[Slice] = []
    critical = None
    if counted:
        known = np.concatenate([part.known for part in parts])
        evidence = _CountedSlices(SliceMetric(what, rule, request.prevalence), ranking, parts)
        tested, critical = tested_slices(evidence, counted, known, request)
    small = [one for part in parts for one in part.counted if one.too_small]
    by = tuple(dict.fromkeys(column for columns in cuts for column in columns))
    return result_of(request, tested, small, critical, by=by, depth=depth)


@dataclass(frozen=True, kw_only=True, eq=False)
class _ColumnGroups:
    """The groups of one cut: what was counted in each, and those that are large enough.

    `known` says which of these have enough rows of both classes outside of them, and can be
    subtracted from all rows.
    """

    counted: list[Slice]
    rankings: RankingSet
    known: Mask

    @classmethod
    def of(
        cls,
        columns: tuple[str, ...],
        rankings: RankingSet,
        whole: Ranking,
        least: int,
        shown: IntArray | None,
    ) -> _ColumnGroups:
        every = whole.rows or whole.cells
        totals = int(np.sum(every.positives)), _negatives(every)
        ours, theirs = _rows_of(rankings)
        if (int(ours.sum()), int(theirs.sum())) != totals:
            named = ", ".join(map(repr, columns))
            raise InputError(
                f"groups[{named}] has {int(ours.sum())} positives and {int(theirs.sum())} "
                f"negatives, and the ranking of all rows {totals[0]} and {totals[1]}: both must be "
                "of the same rows."
            )
        chosen = np.arange(len(rankings)) if shown is None else shown
        small = np.minimum(ours, theirs) < least
        counted = [
            Slice(
                levels=_levels(columns, rankings.labels[index]),
                n_rows=int(ours[index] + theirs[index]),
                n_pos=int(ours[index]),
                n_neg=int(theirs[index]),
                prevalence=float(rankings.prevalence[index]),
                too_small=bool(small[index]),
            )
            for index in chosen.tolist()
        ]
        large = chosen[~small[chosen]]
        tested = rankings.select(large)
        outside = np.minimum(totals[0] - ours, totals[1] - theirs)[large] >= least
        return cls(
            counted=counted, rankings=tested, known=outside & _can_be_subtracted(tested, whole)
        )


def _columns(named: str | tuple[str, ...]) -> tuple[str, ...]:
    return (named,) if isinstance(named, str) else named


def _levels(columns: tuple[str, ...], label: Any) -> dict[str, str]:
    parts = label if len(columns) > 1 else (label,)
    return dict(zip(columns, map(str, parts), strict=True))


def _rows_of(rankings: RankingSet) -> tuple[Array, Array]:
    """Numbers of positive and of negative rows of each group."""
    counts: Any = rankings.rows or rankings.cells
    return (
        rankings.sums(counts.positives),
        rankings.sums(counts.above + counts.tied) + counts.below,
    )


def _negatives(cells: Cells) -> int:
    return int(np.sum(cells.above) + np.sum(cells.tied) + cells.below)


def _can_be_subtracted(rankings: RankingSet, whole: Ranking) -> Mask:
    """Whether each group was counted at the edges of the cells that rests are made of."""
    edges = rest_thresholds(whole)
    inside = rankings.sums(np.isin(rankings.threshold, edges).astype(np.int64)) == edges.size
    known = rankings.sums((~np.isin(rankings.threshold, whole.threshold)).astype(np.int64)) == 0
    return np.asarray(inside & known & (not whole.coarsened))


@dataclass(frozen=True)
class _CountedSlices:
    """Evidence from counts alone."""

    metric: SliceMetric
    whole: Ranking
    parts: list[_ColumnGroups]

    @cached_property
    def _values(self) -> list[SliceValues]:
        return [
            self.metric.measured(of_positives(part.rankings))
            for part in self.parts
            if len(part.rankings)
        ]

    @property
    def estimate(self) -> FloatArray:
        """The metric of every slice."""
        return np.concatenate([values.estimate for values in self._values])

    def limits(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the limits of every slice."""
        found = [values.limits(level) for values in self._values]
        low, high = (np.concatenate(ends) for ends in zip(*found, strict=True))
        return low, high

    @property
    def covariance(self) -> None:
        """Slices of one column share no rows; what those of several share is not known."""
        return

    def rests(self, level: float, known: Mask) -> Rests:
        """Return the metric outside of each slice with its limits."""
        found = np.full((4, known.size), np.nan)
        cells = RestCells.of(self.whole, 1)
        begin = 0
        for part in self.parts:
            for index in np.flatnonzero(known[begin : begin + len(part.rankings)]).tolist():
                rest = self.metric.measured(_rest(cells, part.rankings[index]))
                low, high = rest.limits(level)
                found[:, begin + index] = rest.estimate[0], low[0], high[0], 0.0
            begin += len(part.rankings)
        found[:3] += self.metric.coarsened_away(cells.exact, cells.coarse)
        return Rests(*found)


def of_positives(rankings: RankingSet) -> RankingSet:
    """Return the same rankings without rows that have no positives."""
    counts: Any = rankings.rows or rankings.cells
    if np.all(counts.positives > 0):
        return rankings
    return RankingSet.from_rankings(
        [each.of_positives for each in rankings], labels=rankings.labels
    )


def _rest(cells: RestCells, part: Ranking) -> RankingSet:
    """Subtract a part from all rows, cell by cell."""
    row = len(cells.exact) - 1 - np.searchsorted(cells.exact.threshold[::-1], part.threshold)
    cell, first = cells.cell[row], cells.first[row]
    size = len(cells.coarse)

    def less(every: Cells, own: Cells) -> Cells:
        def added(values: Any, where: Mask | slice = slice(None)) -> Array:
            found = np.bincount(cell[where], np.asarray(values)[where], size)
            return found.astype(np.asarray(values).dtype)

        return Cells(
            every.positives - added(own.positives),
            # What lies above a row that is not the first of its cell lies in the cell.
            every.tied - added(own.tied) - added(own.above, ~first),
            every.above - added(own.above, first),
            np.atleast_1d(every.below - own.below),
        )

    coarse = cells.coarse
    rows = less(coarse.rows or coarse.cells, part.rows or part.cells)
    weighted: list[Cells] = []
    if coarse.squares is not None and part.squares is not None:
        kinds = (coarse.cells, part.cells), (coarse.squares, part.squares)
        weighted = [without_rounding(rows, less(*kind)) for kind in kinds]
    return RankingSet(
        labels=np.zeros(1),
        offsets=np.array([0, size]),
        threshold=coarse.threshold,
        cells=weighted[0] if weighted else rows,
        squares=weighted[1] if weighted else None,
        rows=rows if weighted else None,
        divisible=np.array([cells.exact.divisible]),
    )

"""Metrics of the k rows with the highest scores, k being a number of rows or a share of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from .. import _validation
from .._numerics import ratio
from ..exceptions import InputError
from ..ranking.number_layout import Cells
from .base import FloatArray, Metric, OnData, totals
from .by_rank import LINES, Array, ByRank, RowLayout, as_places


@dataclass(frozen=True)
class TopK(ByRank):
    """What is counted among the k highest scores; a tie at the cut gives its share.

    A subclass defines :meth:`over`. The gradient takes the cut as a quantile of all scores: a row
    above it moves the number of positives there by ``y - rho``, where ``rho`` is the share of
    positives about the cut, because it pushes one row out.

    Parameters
    ----------
    k : int or float
        A number of rows, or a share of them: above 0 and at most 1, written with a decimal point.
    """

    k: float

    smooth = True
    rules = ("clopper_pearson_of_ranks", "wilson_of_ranks", "bootstrap_percentile")
    #: Whether the hits are counted in rows selected, not in positives.
    per_row: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the number or the share of rows."""
        object.__setattr__(self, "k", _as_k(self.k))

    @property
    def is_share(self) -> bool:
        """Whether k is a share of the rows."""
        return isinstance(self.k, float)

    @property
    def places(self) -> tuple[int, ...]:
        """Its rank, where k is one."""
        return () if self.is_share else (int(self.k),)

    @property
    def shown_k(self) -> str:
        """What stands for k in titles."""
        return f"{100.0 * self.k:g} %" if self.is_share else str(self.k)

    def __str__(self) -> str:
        """Return the words; a share of 1.0 is not a count of 1."""
        return f"{self.name}({self.k!r})"

    def bounds_with(self, total: Any) -> tuple[float, float]:
        """Return the lowest and the highest value among so many rows."""
        return 0.0, 1.0

    def over(self, k: Any, n: Any, total: Any) -> Any:
        """Return what the number of positives above the cut is divided by.

        `n` and `total` count positives and rows, those that were missed included.
        """
        raise NotImplementedError(f"{type(self).__name__} needs over(k, n, total).")

    def on(self, data: Any) -> Metric:
        """Refuse weights where rows are counted, and more rows than one ranking has."""
        if not self.is_share:
            super().on(data)
        if np.ndim(data.n_pos):
            return self
        total = data.n_pos + data.n_neg
        if not self.is_share and self.k > total:
            raise InputError(
                f"{self} asks for more rows than there are: {total:,.0f}; give a smaller k, or a "
                "share of the rows such as 0.1."
            )
        return TopOfRanking(at=self, total=total + data.missed)

    def from_counts(self, cells: Cells, tp: Array, fp: Array, n: Any, layout: RowLayout) -> Any:
        """Return the positives above the cut over what they are counted in."""
        rows = cells.positives + cells.tied + cells.above
        total = layout.add(np.asarray(rows)) + cells.below
        k = self.k * total if self.is_share else self.k
        hits = _hits(cells, tp, fp, layout.spread(k) if self.is_share else k, layout)
        return ratio(hits, self.over(k, n, total + cells.missed))

    def gradient(self, cells: Cells) -> Cells:
        """Return the derivative by the weight of each cell, up to one constant per class."""
        k, total = self._cut(cells)
        local = _share_about(cells, k)[..., np.newaxis]
        n, _ = totals(cells)
        scale = ratio(1.0, self.over(k, n, total + cells.missed))[..., np.newaxis]
        before, size = _places(cells)
        above = np.broadcast_to(cells.above, size.shape)
        cut = np.asarray(k)[..., np.newaxis]
        inside = np.clip(ratio(cut - before, size), 0.0, 1.0)
        gap = np.clip(ratio(cut - (before - above), above), 0.0, 1.0)
        last = np.clip(ratio(k - (total - cells.below), cells.below), 0.0, 1.0)
        return Cells(
            scale * inside * (1.0 - local),
            -scale * inside * local,
            -scale * gap * local,
            -(scale * local)[..., 0] * last,
        )

    def prevalence_slope(self, cells: Cells) -> Any:
        """Return the derivative by the log odds of the prevalence, the share of rows as it is."""
        k, total = self._cut(cells)
        n, m = totals(cells)
        part = k / total
        local, hits = _share_about(cells, k), hits_at(cells, k)
        # With fewer negatives fewer of them are above the cut, and the cut itself rises.
        moved = local * (k - hits) - part * local * m
        if self.per_row:
            moved = moved + hits * m / total
        return ratio(moved, self.over(k, n, total + cells.missed))

    def _cut(self, cells: Cells) -> tuple[Any, Any]:
        total = _scored_rows(cells)
        return (self.k * total if self.is_share else np.full(np.shape(total), float(self.k))), total

    def cut_place(self, cells: Cells) -> Any:
        """Return what the rows above the cut weigh."""
        return self._cut(cells)[0]

    def moved_cut(self, cells: Cells, by: Any) -> tuple[Any, Any]:
        """Return the metric with the cut `by` standard deviations of its place further, and trials.

        The row that is the last one above the cut in the population may lie there in a sample: how
        many rows are above it is binomial. The trials are the rows that the hits are counted in.
        Where those are the positives, how many of them are above is the share's own error.
        """
        k, scored = self._cut(cells)
        n, m = totals(cells)
        variance = k * (1.0 - k / (n + m))
        if not self.per_row:
            hits = hits_at(cells, k)
            variance = np.maximum(variance - hits * (1.0 - hits / n), 0.0)
        place = np.clip(k + by * np.sqrt(variance), np.minimum(k, 1.0), n + m)
        # Positives that were never scored come last.
        hits = hits_at(cells, place) + np.clip(place - scored, 0.0, cells.missed)
        if self.per_row:
            return ratio(hits, place), place
        return ratio(hits, self.over(k, n, n + m)), n

    def random(self, ranking: Any) -> float | None:
        """Return what a random order is expected to have: positives in proportion."""
        return self._with_share(ranking, ranking.n_pos / (ranking.n_pos + ranking.n_neg))

    def ceiling(self, ranking: Any) -> float:
        """Return what the perfect order has: nothing but positives above the cut, or all of them.

        By weighted rows the highest value is that of any ranking.
        """
        found = self._with_share(ranking, 1.0)
        return float(self.bounds[1]) if found is None else found

    def _with_share(self, ranking: Any, share: float) -> float | None:
        """The value if that share of the k highest scores were positive, as far as they go."""
        if ranking.weighted and not self.is_share:
            return None
        total = ranking.n_pos + ranking.n_neg
        k = self.k * total if self.is_share else min(self.k, total)
        hits = min(k * share, ranking.n_pos)
        everything = total + ranking.missed
        return float(ratio(hits, self.over(k, ranking.all_positives, everything)))


@dataclass(frozen=True)
class PrecisionAtK(TopK):
    """The share of positives among the k highest scores.

    Parameters
    ----------
    k : int or float
        A number of rows, or a share of them: above 0 and at most 1, written with a decimal point.

    Examples
    --------
    >>> import precall as pr
    >>> ranking = pr.rank([1, 0, 1, 0], [4, 3, 2, 1])
    >>> pr.metrics.precision_at_k(1)(ranking), pr.metrics.precision_at_k(1.0)(ranking)
    (1.0, 0.5)
    """

    name = "precision_at_k"
    summary = "share of positives among the k highest scores"
    with_prevalence = "precision_at_k rises with it: groups of high prevalence weigh more."
    per_row = True

    @property
    def title(self) -> str:
        """What it is called in tables."""
        return f"precision@{self.shown_k}"

    def over(self, k: Any, n: Any, total: Any) -> Any:
        """The rows above the cut."""
        return k

    def trials(self, n: Any, m: Any) -> Any:
        """The rows above the cut."""
        return self.k * (n + m) if self.is_share else self.k


@dataclass(frozen=True)
class RecallAtK(TopK):
    """The share of the positives that are among the k highest scores.

    Parameters
    ----------
    k : int or float
        A number of rows, or a share of them: above 0 and at most 1, written with a decimal point.
    """

    name = "recall_at_k"
    summary = "share of the positives that are among the k highest scores"

    @property
    def title(self) -> str:
        """What it is called in tables."""
        return f"recall@{self.shown_k}"

    def over(self, k: Any, n: Any, total: Any) -> Any:
        """All positives."""
        return n


@dataclass(frozen=True)
class LiftAtK(TopK):
    """How many times as many positives the k highest scores have as k rows taken at random.

    Recall at k over the share of the rows that k is.

    Parameters
    ----------
    k : int or float
        A number of rows, or a share of them: above 0 and at most 1, written with a decimal point.

    Examples
    --------
    >>> import precall as pr
    >>> pr.metrics.lift_at_k(0.25)(pr.rank([1, 0, 1, 0], [4, 3, 2, 1]))
    2.0
    """

    name = "lift_at_k"
    summary = "positives among the k highest scores over those expected among k rows at random"

    @property
    def bounds(self) -> tuple[float, float]:
        """From none to all positives above the cut; of a count, that depends on the rows."""
        return 0.0, 1.0 / self.k if self.is_share else float("inf")

    @property
    def unit(self) -> tuple[float, float]:
        """The same for a share."""
        return self.bounds if self.is_share else (0.0, 1.0)

    @property
    def title(self) -> str:
        """What it is called in tables."""
        return f"lift@{self.shown_k}"

    def over(self, k: Any, n: Any, total: Any) -> Any:
        """Positives expected above the cut."""
        return n * ratio(k, total)

    def bounds_with(self, total: Any) -> tuple[float, float]:
        """Return 0, and all positives above the cut."""
        return 0.0, 1.0 / self.k if self.is_share else float(total) / self.k


def _as_k(k: Any) -> float:
    if isinstance(k, (bool, np.bool_, Integral)):
        return as_places(k)
    number = _validation.as_number(k, "k")
    if not 0.0 < number <= 1.0:
        raise InputError(
            "k must be a whole number of rows, or a share of them above 0 and at most 1, "
            f"got {k!r}."
        )
    return number


def _scored_rows(cells: Cells) -> Any:
    """Return how many rows have a score, and so a rank."""
    return np.add(*totals(cells)) - cells.missed


def _places(cells: Cells) -> tuple[Any, Any]:
    """Return how many rows come before each tie of rows, and how many are in it."""
    size = np.asarray(cells.positives + cells.tied)
    return np.cumsum(size + cells.above, axis=-1) - size, size


def _hits(cells: Cells, tp: Array, fp: Array, k: Any, layout: RowLayout) -> Any:
    """Expected number of positives among the first `k` rows."""
    size = cells.positives + cells.tied
    before = tp + fp - size
    return layout.add(cells.positives * np.clip(ratio(k - before, size), 0.0, 1.0))


def hits_at(cells: Cells, k: Any) -> Any:
    """Return the same, `k` rows of each line."""
    before, size = _places(cells)
    inside = np.clip(ratio(np.asarray(k)[..., np.newaxis] - before, size), 0.0, 1.0)
    return LINES.add(cells.positives * inside)


def _share_about(cells: Cells, k: Any) -> FloatArray:
    """Share of positives among the rows about the cut, as far as the cut itself may be off."""
    total = _scored_rows(cells)
    width = np.sqrt(k)
    low, high = np.maximum(k - width, 0.0), np.minimum(k + width, total)
    return ratio(hits_at(cells, high) - hits_at(cells, low), high - low)


@dataclass(frozen=True)
class TopOfRanking(OnData):
    """A metric of the first k rows, on one ranking of so many rows."""

    at: TopK = field(repr=False)
    total: Any

    needs_negatives = False
    smooth = True

    @property
    def bounds(self) -> tuple[float, float]:
        """From no positive above the cut to as many as fit."""
        low, high = self.at.bounds_with(self.total)
        return low, high

    @property
    def unit(self) -> tuple[float, float]:
        """The same."""
        return self.bounds

    def trials(self, n: Any, m: Any) -> Any:
        """Return how many trials an estimate of exactly 0 or 1 has passed."""
        return self.at.trials(n, m)

    def value(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the metric."""
        return self.at.value(cells, squares)

    def of_ranking(self, ranking: Any) -> float:
        """Return the metric of the ranking."""
        return self.at.of_ranking(ranking)

    def gradient(self, cells: Cells) -> Cells:
        """Return its gradient."""
        return self.at.gradient(cells)

    def prevalence_slope(self, cells: Cells) -> Any:
        """Return its derivative by the log odds of the prevalence."""
        return self.at.prevalence_slope(cells)

    def moved_cut(self, cells: Cells, by: Any) -> tuple[Any, Any]:
        """Return what it would be with the cut elsewhere, and trials."""
        return self.at.moved_cut(cells, by)

    def cut_place(self, cells: Cells) -> Any:
        """Return what the rows above the cut weigh."""
        return self.at.cut_place(cells)

    @property
    def per_row(self) -> bool:
        """Whether the hits are counted in rows selected, not in positives."""
        return self.at.per_row

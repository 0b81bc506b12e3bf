"""Many rankings in one table: folds, tasks, queries or classes.

:class:`RankingSet` is to :class:`~precall.Ranking` what a column of tables is to one table: the
rows of all groups lie below each other, and `offsets` says where each group begins. Its size is
that of the positives and the groups, however many negatives there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._cached import cached_property
from .._notebook import Rich
from .._numerics import ratio
from ..exceptions import InputError, UndefinedMetricError
from . import Cells, Moments, Ranking, kept_thresholds
from . import grouping as _grouping
from .checks import as_rankings
from .pooling import Pooled
from .shared_rows import SharedRows

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RankingSet(Rich):
    """The rankings of many groups; iterate over it to get each as a :class:`~precall.Ranking`.

    Build one with :func:`rank_groups` or :func:`rank_classes`, or from rankings that exist with
    :meth:`from_rankings`. Rows ``offsets[g]:offsets[g + 1]`` belong to group ``g``.

    Parameters
    ----------
    labels : array
        The groups' labels, one per group.
    offsets : array of int
        Where each group's rows begin, and the end.
    threshold : array
        The distinct scores of positives in each group, descending within a group.
    cells : Cells
        Counts (or weights) as in a ranking: positives, tied and above per row, below per group.
    squares, rows : Cells, optional
        Sums of squared weights and numbers of rows per cell; None when every weight is 1.
    missed : array of int, optional
        Positives of each group that were never scored, such as relevant documents that a search
        did not return. They count in what is divided by the number of positives, with precision 0.
    pooled : Pooled, optional
        All rows as if they were one group; see :func:`rank_groups`.
    shared : SharedRows, optional
        The rows, where all rankings have the same ones: classes. They say how the classes' values
        vary together.
    coarsened, divisible : array of bool, optional
        What :class:`~precall.Ranking` says of each group under these names.
    moments : tuple, optional
        Moments of each group's raw scores (None where they are not known), as in a ranking.

    Examples
    --------
    >>> import precall as pr
    >>> rankings = pr.rank_groups([1, 0, 1, 0, 1], [4, 3, 2, 9, 8], ["a", "a", "a", "b", "b"])
    >>> rankings
    RankingSet(groups=2, n_pos=3, n_neg=2, prevalence=0.5 to 0.667)
    >>> [pr.aucpr(ranking) for ranking in rankings]
    [0.8333333333333333, 0.5]
    >>> rankings.of("b").n_pos
    1
    """

    labels: Array
    offsets: IntArray
    threshold: Array
    cells: Cells
    squares: Cells | None = None
    rows: Cells | None = None
    missed: IntArray = None  # type: ignore[assignment]
    pooled: Pooled | None = None
    shared: SharedRows | None = None
    coarsened: Mask = None  # type: ignore[assignment]
    divisible: Mask = None  # type: ignore[assignment]
    moments: tuple[Moments | None, ...] | None = None

    def __post_init__(self) -> None:
        """Freeze the arrays and check that the table fits together."""
        n_rows = self.threshold.size
        sizes_fit = self.offsets.size == self.labels.size + 1 == np.size(self.cells.below) + 1
        rows_fit = self.offsets[-1] == n_rows == self.cells.positives.size
        if not (sizes_fit and rows_fit):
            raise InputError(
                "labels, offsets, threshold and cells do not fit together: use rank_groups or "
                "RankingSet.from_rankings to build a RankingSet."
            )
        for name, kind in (("coarsened", np.bool_), ("divisible", np.bool_), ("missed", np.int64)):
            given = getattr(self, name)
            marks = np.zeros(len(self), dtype=kind) if given is None else np.asarray(given)
            object.__setattr__(self, name, marks)
        if self.cells.positives.dtype.kind == "f":
            parts = self.sums((self.cells.positives % 1 != 0).astype(np.int64)) > 0
            object.__setattr__(self, "divisible", self.divisible | parts)
        for name in ("cells", "squares", "rows"):  # a missed positive is a row of weight 1
            cells = getattr(self, name)
            if cells is not None:
                object.__setattr__(self, name, cells._replace(missed=self.missed))
        for name in ("labels", "offsets", "threshold", "missed", "coarsened", "divisible"):
            array = getattr(self, name)
            if array is not None and array.flags.writeable:
                array = array.view()
                array.flags.writeable = False
                object.__setattr__(self, name, array)

    @classmethod
    def from_rankings(
        cls, rankings: Iterable[Ranking] | Mapping[Any, Ranking], *, labels: object = None
    ) -> RankingSet:
        """Put rankings that exist below each other.

        Parameters
        ----------
        rankings : iterable of Ranking, or mapping from label to Ranking
        labels : array-like, optional
            One per ranking; 0, 1, 2, ... by default, or the keys of a mapping.

        Examples
        --------
        >>> import precall as pr
        >>> first, second = pr.rank([1, 0], [2, 1]), pr.rank([1, 0, 0], [3, 2, 1])
        >>> pr.RankingSet.from_rankings({"first": first, "second": second}).labels.tolist()
        ['first', 'second']
        """
        if isinstance(rankings, Mapping):
            labels = list(rankings) if labels is None else labels
            rankings = rankings.values()
        members = as_rankings(rankings, "rankings", missed=True)
        names = np.arange(len(members)) if labels is None else _grouping.as_group_labels(labels)
        if names.size != len(members):
            raise InputError(
                f"labels must be one per ranking, got {names.size} for {len(members)}."
            )
        weighted = any(member.weighted for member in members)
        return cls(
            labels=names,
            offsets=np.concatenate([[0], np.cumsum([len(member) for member in members])]),
            threshold=np.concatenate([member.threshold for member in members]),
            cells=_stacked(member.cells for member in members),
            squares=_stacked(m.squares or m.cells for m in members) if weighted else None,
            rows=_stacked(m.rows or m.cells for m in members) if weighted else None,
            coarsened=np.array([member.coarsened for member in members]),
            divisible=np.array([member.divisible for member in members]),
            moments=tuple(member.moments for member in members),
            missed=np.array([member.missed for member in members], dtype=np.int64),
        )

    def __len__(self) -> int:
        """Return the number of groups."""
        return int(self.labels.size)

    def __getitem__(self, index: int) -> Ranking:
        """Return the ranking at a position; :meth:`of` looks one up by its label."""
        position = range(len(self))[index]
        inside = slice(self.offsets[position], self.offsets[position + 1])
        return Ranking(
            threshold=self.threshold[inside],
            **_part(self.cells, inside, position)._asdict(),
            squares=self.squares and _part(self.squares, inside, position),
            rows=self.rows and _part(self.rows, inside, position),
            coarsened=bool(self.coarsened[position]),
            divisible=bool(self.divisible[position]),
            moments=None if self.moments is None else self.moments[position],
        )

    def __iter__(self) -> Iterator[Ranking]:
        """Yield the ranking of every group, in the order of `labels`."""
        return (self[position] for position in range(len(self)))

    def of(self, label: Any) -> Ranking:
        """Return the ranking of the group with this label."""
        position = self._positions.get(label)
        if position is None:
            raise InputError(
                f"there is no group {label!r}: see .labels for the {len(self)} there are."
            )
        return self[position]

    @cached_property
    def _positions(self) -> dict[Any, int]:
        return {label: position for position, label in enumerate(self.labels.tolist())}

    @property
    def weighted(self) -> bool:
        """Whether rows carry weights other than 1."""
        return self.squares is not None

    @cached_property
    def n_pos(self) -> Array:
        """Weight of positives in each group, the missed ones not counted."""
        return self.sums(self.cells.positives)

    @cached_property
    def n_neg(self) -> Array:
        """Weight of negatives in each group."""
        total: Array = self.sums(self.cells.above + self.cells.tied) + self.cells.below
        return total

    @property
    def all_positives(self) -> Array:
        """Weight of positives in each group, those that were never scored included."""
        return np.asarray(self.n_pos + self.missed)

    @cached_property
    def prevalence(self) -> FloatArray:
        """Share of positives in each group; NaN in an empty one."""
        total = np.asarray(self.n_pos + self.n_neg, dtype=np.float64)
        share = np.full(len(self), np.nan)
        np.divide(self.n_pos, total, out=share, where=total > 0)
        return share

    @cached_property
    def effective_sizes(self) -> tuple[FloatArray, FloatArray]:
        """Kish effective numbers of positives and negatives of each group, missed ones among."""
        n, m = (np.asarray(size, dtype=np.float64) for size in (self.all_positives, self.n_neg))
        if self.squares is None:
            return n, m
        ours = self.sums(self.squares.positives) + self.missed
        theirs = self.sums(self.squares.above + self.squares.tied) + self.squares.below
        return ratio(n * n, ours), ratio(m * m, theirs)

    def at_prevalence(self, prevalence: float) -> RankingSet:
        """Return every group as it would be at one prevalence, as :meth:`Ranking.at_prevalence`.

        Examples
        --------
        >>> import precall as pr
        >>> rankings = pr.rank_groups([1, 0, 1, 0, 0], [4, 3, 2, 9, 8], ["a", "a", "b", "b", "b"])
        >>> rankings.at_prevalence(0.1).prevalence
        array([0.1, 0.1])
        """
        target = _validation.as_prevalence(prevalence)
        n, m = (np.asarray(size, dtype=np.float64) for size in (self.all_positives, self.n_neg))
        if not (np.all(n > 0) and np.all(m > 0)):
            raise UndefinedMetricError(
                "at_prevalence needs positives and negatives in every group: select those first."
            )
        factor = n / m * (1.0 - target) / target
        inside = factor[self.group_of_row]

        def scaled(cells: Cells, by_row: FloatArray, by_group: FloatArray) -> Cells:
            tied, above = cells.tied * by_row, cells.above * by_row
            return Cells(cells.positives, tied, above, cells.below * by_group, cells.missed)

        return replace(
            self,
            cells=scaled(self.cells, inside, factor),
            squares=scaled(self.squares or self.cells, inside * inside, factor * factor),
            rows=self.rows or self.cells,
            pooled=None,
            shared=None,
            moments=None,
        )

    @cached_property
    def tp(self) -> Array:
        """True positives of the row's own group at each threshold."""
        return self.cumulated(self.cells.positives)

    @cached_property
    def fp(self) -> Array:
        """False positives of the row's own group at each threshold, those tied included."""
        return self.cumulated(self.cells.above + self.cells.tied)

    @cached_property
    def group_of_row(self) -> IntArray:
        """Position of the group that each row of the table belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def sums(self, values: Array) -> Array:
        """Sum one value per row over each group; a group without rows sums to zero."""
        total = np.zeros(len(self), dtype=values.dtype)
        filled = np.flatnonzero(self.offsets[:-1] < self.offsets[1:])
        if filled.size:
            total[filled] = np.add.reduceat(values, self.offsets[:-1][filled])
        return total

    def cumulated(self, values: Array) -> Array:
        """Cumulate one value per row within each group."""
        if values.dtype.kind in "iu":  # exact: the other groups can be subtracted again
            total = np.zeros(values.size + 1, dtype=np.cumsum(values[:0]).dtype)
            np.cumsum(values, out=total[1:])
            found = np.repeat(total[self.offsets[:-1]], np.diff(self.offsets))
            return np.asarray(np.subtract(total[1:], found, out=found))
        out = np.empty_like(values)
        for _, index, real in self.blocks():
            out[index[real]] = np.cumsum(np.where(real, values[index], 0.0), axis=1)[real]
        return out

    def blocks(self) -> Iterator[tuple[IntArray, IntArray, npt.NDArray[np.bool_]]]:
        """Cut the groups into matrices of about equally many rows each.

        Yields the groups, the row numbers (one line per group, the width a power of two) and which
        of them are real: the others repeat a row of the table and must get weight zero.
        """
        sizes = np.diff(self.offsets)
        bits = np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64)
        for bit in np.unique(bits[sizes > 0]):
            width = 1 << int(bit)
            members = np.flatnonzero((bits == bit) & (sizes > 0))
            step = max(1, _grouping.BLOCK_ROWS // width)
            for begin in range(0, members.size, step):
                chosen = members[begin : begin + step]
                real = np.arange(width) < sizes[chosen][:, np.newaxis]
                index = self.offsets[chosen][:, np.newaxis] + np.arange(width)
                yield chosen, np.minimum(index, self.threshold.size - 1), real

    def lines(self) -> Iterator[tuple[IntArray, Cells, Cells | None]]:
        """Yield groups with their cells (and squares) as matrices, one group per line."""
        for groups, index, real in self.blocks():
            squares = self.squares and _lines(self.squares, groups, index, real)
            yield groups, _lines(self.cells, groups, index, real), squares

    def row_lines(self) -> Iterator[Cells | None]:
        """Yield the numbers of rows beside `lines`; None when every weight is 1."""
        for groups, index, real in self.blocks():
            yield self.rows and _lines(self.rows, groups, index, real)

    def rows_reaching(self, threshold: float) -> IntArray:
        """Return how many rows of each group are at or above a threshold; raise if not kept."""
        at = kept_thresholds.as_score(threshold, self.threshold.dtype)
        if at is None or not len(self.threshold):
            found = np.zeros(len(self), dtype=np.int64)
        else:
            found = self.sums((self.threshold >= at).astype(np.int64))
        if at is None:
            return found
        # What Ranking.reached says, for every group.
        inside = np.flatnonzero(found < np.diff(self.offsets))
        following = self.offsets[inside] + found[inside]
        hidden = np.array(self.cells.below)
        hidden[inside] = self.cells.above[following]
        cell = self.cells.positives[following] + self.cells.tied[following]
        hidden[inside] += np.where(self.coarsened[inside], cell, 0)
        hidden[self.sums((self.threshold == at).astype(np.int64)) > 0] = 0
        if hidden.any():
            raise kept_thresholds.not_kept(threshold, hidden.max())
        return found

    def select(self, groups: object) -> RankingSet:
        """Return the set of some groups only, given as positions or as one boolean per group.

        The pooled ranking is of all groups, so the result has none.

        Examples
        --------
        >>> import precall as pr
        >>> rankings = pr.rank_groups([1, 0, 0, 0], [4, 3, 9, 8], [1, 1, 2, 2])
        >>> len(rankings.select(rankings.n_pos > 0))
        1
        """
        if isinstance(groups, slice) and groups.step in (None, 1):
            first, last, _ = groups.indices(len(self))
            return self._between(first, max(first, last))
        chosen = np.arange(len(self))[groups if isinstance(groups, slice) else np.asarray(groups)]
        sizes = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.repeat(self.offsets[chosen] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return self._picked(chosen, rows, offsets)

    def _between(self, first: int, last: int) -> RankingSet:
        """Return consecutive groups, without a copy of their rows."""
        offsets = self.offsets[first : last + 1]
        rows = slice(offsets[0], offsets[-1])
        return self._picked(slice(first, last), rows, offsets - offsets[0])

    def _picked(self, groups: Any, rows: Any, offsets: IntArray) -> RankingSet:
        """Return the set of some groups, which have these rows and begin there."""

        def picked(cells: Cells) -> Cells:
            positives, tied, above = (part[rows] for part in cells[:3])
            return Cells(positives, tied, above, cells.below[groups], cells.missed[groups])

        chosen = np.arange(len(self))[groups]
        return RankingSet(
            labels=self.labels[groups],
            offsets=offsets,
            threshold=self.threshold[rows],
            cells=picked(self.cells),
            squares=self.squares and picked(self.squares),
            rows=self.rows and picked(self.rows),
            missed=self.missed[groups],
            coarsened=self.coarsened[groups],
            divisible=self.divisible[groups],
            moments=self.moments and tuple(self.moments[group] for group in chosen.tolist()),
        )

    def parts(self) -> list[RankingSet]:
        """Cut the set into consecutive groups of about equally many rows, which fit a cache."""
        edges = _grouping.blocks(self.offsets)
        if edges.size <= 2:  # what is known of the groups stays known
            return [self]
        return [self._between(int(first), int(last)) for first, last in pairwise(edges)]

    def __repr__(self) -> str:
        """Return one line."""
        known = self.prevalence[~np.isnan(self.prevalence)]
        spread = f"{known.min():.3g} to {known.max():.3g}" if known.size else "none"
        weighted = ", weighted" if self.weighted else ""
        return (
            f"RankingSet(groups={len(self)}, n_pos={self.n_pos.sum():.12g}, "
            f"n_neg={self.n_neg.sum():.12g}, prevalence={spread}{weighted})"
        )

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw precision over recall of every group, and return the Axes.

        Groups with one class only are left out. `style` goes to ``Axes.plot``.
        """
        from ..display.set_plots import plot_ranking_set

        return plot_ranking_set(self, ax, **style)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists: the labels, and each ranking's own dictionary."""
        return {
            "labels": self.labels.tolist(),
            "missed": self.missed.tolist(),
            "rankings": [ranking.to_dict() for ranking in self],
        }

    def _table(self) -> dict[str, Any]:
        return {
            "label": self.labels,
            "n_pos": self.n_pos,
            "n_neg": self.n_neg,
            "prevalence": self.prevalence,
        }

    def _facts(self) -> dict[str, Any]:
        known = self.prevalence[~np.isnan(self.prevalence)]
        return {
            "groups": len(self),
            "positives": self.n_pos.sum(),
            "negatives": self.n_neg.sum(),
            "prevalence": [known.min(), known.max()] if known.size else None,
            "weighted": self.weighted,
        }


def _part(cells: Cells, inside: slice, group: int) -> Cells:
    positives, tied, above = (part[inside] for part in cells[:3])
    missed = int(cells.missed[group])
    return Cells(positives, tied, above, cells.below[group].item(), missed)


def _lines(cells: Cells, groups: IntArray, index: IntArray, real: Mask) -> Cells:
    positives, tied, above = (np.where(real, part[index], 0) for part in cells[:3])
    return Cells(positives, tied, above, cells.below[groups], cells.missed[groups])


def _stacked(cells: Iterable[Cells]) -> Cells:
    *by_row, below, missed = zip(*cells, strict=True)
    positives, tied, above = map(np.concatenate, by_row)
    return Cells(positives, tied, above, np.asarray(below), np.asarray(missed))


def as_ranking_set(rankings: object) -> RankingSet:
    """Accept a RankingSet, a list of rankings or a mapping from label to ranking."""
    if isinstance(rankings, RankingSet):
        return rankings
    if isinstance(rankings, Ranking) or not isinstance(rankings, Iterable):
        raise InputError(
            "rankings must be a RankingSet from rank_groups, or a list or mapping of Ranking, "
            f"got {type(rankings).__name__}."
        )
    return RankingSet.from_rankings(rankings)

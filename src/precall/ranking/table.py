"""The small table of counts that all the rest is computed from.

A precision-recall curve changes only where a positive sits, and between two neighbouring
positive scores only the *number* of negatives matters. :class:`Ranking` keeps just that: one
row per distinct score of a positive, highest first, however many negatives there are. Thresholds
that somebody asked for are rows without positives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._cached import cached_property
from .._notebook import Rich
from ..exceptions import InputError, UndefinedMetricError
from . import counting, kept_thresholds
from .later_moments import MomentsWhenAsked
from .number_layout import Cells, Moments, SummedCells, even_cuts
from .plain_ranking import as_plain, from_plain
from .ranked import Ranked

Array = npt.NDArray[Any]
# For the type checker it is what it gives.
_WHEN_ASKED: Any = MomentsWhenAsked()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Ranking(Rich):
    """Counts of positives and negatives between the distinct scores of positives.

    Build one with :func:`rank`. Counts are ``int64``; with weights they are sums of weights and
    ``float64``. All arrays are read-only.

    Parameters
    ----------
    threshold : array
        The distinct scores of positives, and those that :func:`rank` was asked to keep, strictly
        descending. "At a threshold" always means ``score >= threshold``.
    positives : array
        Weight of positives at each threshold; zero at a threshold that was kept, and where a part
        of the data was counted on the thresholds of the whole, so that the parts add.
    tied : array
        Weight of negatives at exactly that score (in a coarsened ranking: in that cell).
    above : array
        Weight of negatives strictly between the previous, higher threshold and this one; the
        first row counts those above every positive.
    below : number
        Weight of negatives under the last threshold.
    squares : Cells, optional
        Sums of squared weights per cell; None when every weight is 1.
    rows : Cells, optional
        Number of rows per cell; None when every weight is 1.
    moments : Moments, optional
        Mean and squared deviations of the raw scores per class, where raw scores were seen.
    coarsened : bool
        Whether neighbouring scores were merged: a row may then hold several scores of positives.
    divisible : bool
        Whether some positive's weight is not a whole number. Whole weights count as repetitions of
        the row; others can be divided further and further.
    missed : int
        Positives that were never scored, such as objects that a detector did not propose. They are
        not in `n_pos`, but in `all_positives`: they count in recall, with precision 0. What cannot
        count them refuses the ranking.

    Examples
    --------
    >>> import precall as pr
    >>> ranking = pr.rank([1, 0, 1, 0, 0], [0.9, 0.8, 0.8, 0.3, 0.1])
    >>> ranking
    Ranking(n_pos=2, n_neg=3, prevalence=0.4, thresholds=2, tied=40 %)
    >>> ranking.threshold, ranking.tp, ranking.fp
    (array([0.9, 0.8]), array([1, 2]), array([0, 1]))
    """

    threshold: Array
    positives: Array
    tied: Array
    above: Array
    below: Any
    squares: Cells | None = None
    rows: Cells | None = None
    moments: Moments | None = _WHEN_ASKED
    coarsened: bool = False
    divisible: bool = False
    missed: int = 0

    def __post_init__(self) -> None:
        """Freeze the arrays and check the table's own rules."""
        size = np.asarray(self.threshold).shape
        for name in ("threshold", "positives", "tied", "above"):
            array = np.asarray(getattr(self, name))
            if array.ndim != 1 or array.shape != size:
                raise InputError(
                    f"{name} must have one value per threshold in one dimension, got {array.shape}."
                )
            if name != "threshold":
                array = _as_counts(array, name)
            if array.flags.writeable:
                array = array.view()
                array.flags.writeable = False
            object.__setattr__(self, name, array)
        if len(self) and not (self.threshold[:-1] > self.threshold[1:]).all():
            raise InputError("threshold must be strictly descending, without NaN.")
        below = _as_counts(np.asarray(self.below), "below").item()
        object.__setattr__(self, "below", below)
        counts = (self.positives, self.tied, self.above)
        if not self.below >= 0 or (len(self) and not min(c.min() for c in counts) >= 0):
            raise InputError("positives, tied, above and below must not be negative or NaN.")
        object.__setattr__(self, "missed", _validation.as_count(self.missed, "missed"))
        for name in ("squares", "rows"):  # a missed positive is a row of weight 1
            cells = getattr(self, name)
            if cells is not None and cells.missed != self.missed:
                object.__setattr__(self, name, cells._replace(missed=self.missed))
        if not self.divisible and self.positives.dtype.kind == "f":
            # Sums of whole numbers are whole; sums of others may be, so the converse does not hold.
            divisible = bool(np.any(self.positives != np.rint(self.positives)))
            object.__setattr__(self, "divisible", divisible)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is stored or sent: no scores, but the moments that they are kept for."""
        return {"moments": self.moments, **vars(self)}

    @cached_property
    def cells(self) -> Cells:
        """The count fields as one object."""
        cells = SummedCells(self.positives, self.tied, self.above, self.below, self.missed)
        counted = vars(self)  # sums that came with the counts
        vars(cells).update({name: counted[name] for name in ("tp", "fp") if name in counted})
        return cells

    @cached_property
    def tp(self) -> Array:
        """True positives at each threshold (``score >= threshold``)."""
        return self.cells.tp

    @cached_property
    def fp(self) -> Array:
        """False positives at each threshold, those tied with it included."""
        return self.cells.fp

    @cached_property
    def n_pos(self) -> Any:
        """Total weight of positives, those that were missed not counted."""
        return self.tp[-1].item() if self.tp.size else 0

    @property
    def all_positives(self) -> Any:
        """Total weight of positives, those that were missed included."""
        return self.n_pos + self.missed

    @cached_property
    def n_neg(self) -> Any:
        """Total weight of negatives."""
        below = self.below.item() if isinstance(self.below, np.generic) else self.below
        return (self.fp[-1].item() if self.fp.size else 0) + below

    @property
    def prevalence(self) -> float:
        """Share of positives among the rows that have a score; NaN in an empty ranking.

        It is the precision of a random order, whatever was missed.
        """
        total = self.n_pos + self.n_neg
        return float(self.n_pos / total) if total else float("nan")

    @property
    def overall_prevalence(self) -> float:
        """Share of positives in all, those that were missed included; NaN if there is nothing."""
        total = self.all_positives + self.n_neg
        return float(self.all_positives / total) if total else float("nan")

    @property
    def weighted(self) -> bool:
        """Whether rows carry weights other than 1."""
        return self.squares is not None

    @property
    def effective_sizes(self) -> tuple[float, float]:
        """Kish effective numbers of positives and negatives; the plain counts when unweighted.

        Missed positives are among them, each with weight 1.
        """
        if self.squares is None:
            return float(self.all_positives), float(self.n_neg)
        return self._kish_sizes

    @cached_property
    def _kish_sizes(self) -> tuple[float, float]:
        squares = self.squares or self.cells
        positive = float(squares.all_positives)
        negative = float(np.sum(squares.tied) + np.sum(squares.above) + squares.below)
        return (
            float(self.all_positives) ** 2 / positive if positive else 0.0,
            float(self.n_neg) ** 2 / negative if negative else 0.0,
        )

    @property
    def scored(self) -> Ranking:
        """The same without the positives that were missed."""
        return replace(self, missed=0) if self.missed else self

    @property
    def of_positives(self) -> Ranking:
        """The same without rows that have no positives: what areas and curves are made of."""
        return self._reduced if self._without_positives else self

    @cached_property
    def _reduced(self) -> Ranking:
        return self._only(self.positives > 0)

    @cached_property
    def _without_positives(self) -> list[int]:
        """The rows that are there for a kept threshold only."""
        if np.count_nonzero(self.positives) == len(self):
            return []
        return list(np.flatnonzero(self.positives == 0).tolist())

    def _only(self, kept: npt.NDArray[np.bool_]) -> Ranking:
        index = np.flatnonzero(kept)
        return replace(
            self,
            threshold=self.threshold[index],
            **self.cells.only(index)._asdict(),
            squares=self.squares and self.squares.only(index),
            rows=self.rows and self.rows.only(index),
        )

    def ranked(self, model: str | None = None, thresholds: tuple[float, ...] = ()) -> Ranked:
        """Return itself without rows, for who takes a ranking or rows.

        Of the rows without positives, only those of `thresholds` stay; it is an error if the
        counts at one of them are not known.
        """
        if model is not None:
            raise InputError("model= is for Rows with several models: a Ranking is of one.")
        if not thresholds:
            return Ranked(self.of_positives)
        asked = {self.rows_reaching(threshold) - 1 for threshold in thresholds} - {-1}
        if asked.issuperset(self._without_positives):
            return Ranked(self)
        kept = self.positives > 0
        kept[list(asked)] = True
        return Ranked(self._only(kept))

    def rows_reaching(self, threshold: float) -> int:
        """Return how many rows are at or above a threshold; raise if it was not kept."""
        rows, *hidden = self.reached(threshold)
        if any(hidden):
            raise kept_thresholds.not_kept(threshold, sum(hidden))
        return rows

    def reached(self, threshold: float) -> tuple[int, Any, Any]:
        """Return how many rows are at or above a threshold, and what else may be.

        That is the weight of positives and of negatives between the threshold and the next higher
        one: nothing at a threshold of the ranking.
        """
        rows = kept_thresholds.rows_at_or_above(self.threshold, threshold)
        at = kept_thresholds.as_score(threshold, self.threshold.dtype)
        if at is None or (rows and self.threshold[rows - 1] == at):
            return rows, 0, 0
        if rows == len(self):
            return rows, 0, self.below
        # A cell of a coarsened ranking reaches up to the one before, with all that is in it.
        inside = (self.positives[rows], self.tied[rows]) if self.coarsened else (0, 0)
        return rows, inside[0], self.above[rows] + inside[1]

    @property
    def tied_share(self) -> float:
        """Share of rows that share their score with another row, at the scores of positives."""
        cells = self.rows or self.cells
        at = cells.positives + cells.tied
        total = np.sum(at) + np.sum(cells.above) + cells.below
        shared = np.sum(at[(at > 1) & (cells.positives > 0)])
        return float(shared / total) if total else 0.0

    def __len__(self) -> int:
        """Return the number of distinct thresholds."""
        return int(self.threshold.size)

    def __repr__(self) -> str:
        """Return one line with the sizes, the prevalence and the share of tied rows."""
        said = (", weighted" if self.weighted else "") + (", coarsened" if self.coarsened else "")
        said += f", missed={self.missed}" if self.missed else ""
        return (
            f"Ranking(n_pos={self.n_pos:.12g}, n_neg={self.n_neg:.12g}, "
            f"prevalence={self.prevalence:.4g}, thresholds={len(self)}, "
            f"tied={100 * self.tied_share:.3g} %{said})"
        )

    def _facts(self) -> dict[str, Any]:
        return {
            "positives": self.n_pos,
            "negatives": self.n_neg,
            "prevalence": self.prevalence,
            "thresholds": len(self),
            "share of tied rows": self.tied_share,
            "weighted": self.weighted,
            "coarsened": self.coarsened,
            "missed positives": self.missed,
        }

    def _table(self) -> dict[str, Array]:
        names = ("threshold", "positives", "tied", "above", "tp", "fp")
        return {name: getattr(self, name) for name in names}

    def __eq__(self, other: object) -> bool:
        """Return whether two rankings hold the same thresholds and counts, to the last bit."""
        if not isinstance(other, Ranking):
            return NotImplemented
        if (self.squares is None) != (other.squares is None) or self.missed != other.missed:
            return False
        mine, theirs = [self.cells], [other.cells]
        if self.squares is not None and other.squares is not None:
            mine.append(self.squares)
            theirs.append(other.squares)
        return np.array_equal(self.threshold, other.threshold) and all(
            np.array_equal(a, b)
            for cells_a, cells_b in zip(mine, theirs, strict=True)
            for a, b in zip(cells_a, cells_b, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: object) -> Ranking:
        """Add the counts of two rankings on equal thresholds."""
        if not isinstance(other, Ranking):
            return NotImplemented
        if not np.array_equal(self.threshold, other.threshold):
            raise InputError(
                f"only rankings on the same thresholds add, and these {len(self)} and {len(other)} "
                "differ: count both parts on the union of their positive scores first."
            )
        either = self.weighted or other.weighted
        return Ranking(
            threshold=self.threshold,
            **(self.cells + other.cells)._asdict(),
            squares=(self.squares or self.cells) + (other.squares or other.cells)
            if either
            else None,
            rows=(self.rows or self.cells) + (other.rows or other.cells) if either else None,
            moments=self._combined_moments(other),
            coarsened=self.coarsened or other.coarsened,
            divisible=self.divisible or other.divisible,
        )

    def _combined_moments(self, other: Ranking) -> Moments | None:
        if self.moments is None or other.moments is None:
            return None
        return Moments(
            *(
                counting.combine_moments(*pair)
                for pair in (
                    (self.n_pos, self.moments.positives, other.n_pos, other.moments.positives),
                    (self.n_neg, self.moments.negatives, other.n_neg, other.moments.negatives),
                )
            )
        )

    def coarsen(self, max_rows: int) -> Ranking:
        """Merge neighbouring rows into at most `max_rows` cells.

        A cell is a tie: its threshold is the lowest of the merged ones, so every point kept is
        an observed point of the full curve, and only what lies between them is unknown.
        :func:`precall.tie_bounds` of the result contains the exact value. Thresholds without
        positives are dropped where there are more than `max_rows` rows.

        The cuts even out ``sqrt(p (p FP + q TP)) / (TP + FP)``, the square root of a cell's
        share of the width of those bounds (`p` positives and `q` negatives in it), which makes
        the sum of the widths about as small as that many cells allow.

        Examples
        --------
        >>> import numpy as np, precall as pr
        >>> rng = np.random.default_rng(0)
        >>> y = rng.random(10_000) < 0.2
        >>> ranking = pr.rank(y, rng.normal(size=10_000) + y)
        >>> coarse = ranking.coarsen(200)
        >>> len(coarse), coarse.n_pos == ranking.n_pos
        (200, True)
        >>> bounds = pr.tie_bounds(coarse)
        >>> bounds.low <= pr.aucpr(ranking) <= bounds.high
        True
        """
        max_rows = _validation.as_count(max_rows, "max_rows", minimum=1)
        if len(self) <= max_rows:
            return self
        fine = self.of_positives
        if len(fine) <= max_rows:
            return fine
        last = even_cuts(fine.cells, fine.tp, fine.fp, max_rows)
        return replace(
            fine,
            threshold=fine.threshold[last],
            **fine.cells.merged(last)._asdict(),
            squares=fine.squares and fine.squares.merged(last),
            rows=fine.rows and fine.rows.merged(last),
            coarsened=True,
        )

    def at_prevalence(self, prevalence: float) -> Ranking:
        """Return the ranking that the same scorer would have at another prevalence.

        Every negative is weighted by ``c = pi (1 - pi') / (pi' (1 - pi))``: recall and the
        false-positive rate stay, precision becomes ``TP / (TP + c FP)``. Effective sample
        sizes stay what they were. Missed positives are among the positives that `prevalence`
        counts.

        Examples
        --------
        >>> import precall as pr
        >>> ranking = pr.rank([1, 0, 1, 0], [4, 3, 2, 1])
        >>> ranking.at_prevalence(0.01).prevalence
        0.01
        """
        target = _validation.as_prevalence(prevalence)
        if not (self.all_positives and self.n_neg):
            raise UndefinedMetricError(
                "at_prevalence needs positives and negatives: one class is empty here."
            )
        odds = self.all_positives / self.n_neg
        factor = odds * (1.0 - target) / target
        count = self.rows or self.cells
        return replace(
            self,
            **self.cells.scaled(1.0, factor)._replace(missed=self.missed)._asdict(),
            squares=(self.squares or self.cells).scaled(1.0, factor * factor),
            rows=count,
            moments=self.moments and self.moments.scaled(factor),
        )

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw precision over recall, and return the Axes.

        `options` are those of :func:`precall.display.mpl.plot_pr`.
        """
        from ..display.mpl import plot_pr

        return plot_pr(self, ax=ax, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers that survive JSON; see :meth:`from_dict`."""
        return as_plain(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Ranking:
        """Rebuild a ranking from :meth:`to_dict`.

        Examples
        --------
        >>> import json, precall as pr
        >>> ranking = pr.rank([1, 0, 1], [3, 2, 1])
        >>> pr.Ranking.from_dict(json.loads(json.dumps(ranking.to_dict()))) == ranking
        True
        """
        return cls(**from_plain(plain, [field.name for field in fields(cls)]))


def _as_counts(array: Array, name: str) -> Array:
    """Counts as int64 and weights as float64: sums of narrower numbers would overflow."""
    if array.dtype.kind in "iu" or (array.dtype.kind == "O" and array.size == 0):
        return array.astype(np.int64, copy=False)
    if array.dtype.kind != "f":
        raise InputError(f"{name} must hold counts or weights, got dtype {array.dtype}.")
    return array.astype(np.float64, copy=False)

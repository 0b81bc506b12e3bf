"""A ranking from batches that are seen once: training loops, streams, hand-made map-reduce."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from ..exceptions import InputError
from . import Ranking
from .adaptive_cells import AdaptiveCells
from .direction import warn_if_worse_than_random
from .segments import SegmentCounts

Array = npt.NDArray[Any]

# Cells kept while building, for each row of the result: room for cells of negatives only, and for
# a choice when cells are merged.
_CELLS_PER_ROW = 4


class RankingBuilder:
    """Collect batches of labels and scores into one ranking of bounded size.

    With `thresholds`, rows are counted between fixed thresholds: builders on the same thresholds
    merge without loss, and where the thresholds hold every score of a positive the result is
    exact. With `max_rows`, the builder finds its own cells: it keeps every distinct score until
    they are too many and then merges neighbouring ones where that costs least.

    Either way :func:`precall.tie_bounds` of the result contains the exact value: within a cell
    no order is assumed, and between cells it is certain. A builder can be pickled.

    Parameters
    ----------
    thresholds : array-like, optional
        Scores to count between, in any order. The ranking knows the exact counts at each of them.
    max_rows : int, optional
        Largest number of rows of the result; about 100 to 200 bytes of memory for each. Give
        either this or `thresholds`.
    pos_label : label, default 1
        The label of the positive class.

    Notes
    -----
    Cells are never split, so a builder with `max_rows` that first sees scores in one region and
    later in another keeps a coarse view of what it has merged. When builders with `max_rows` are
    merged, the coarser of two overlapping views is kept. Both only widen the bounds. For many
    shards, counting twice is tighter: collect the positive scores first, and give them as
    `thresholds`.

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(30_000) < 0.1
    >>> s = rng.normal(size=30_000) + y
    >>> builder = pr.RankingBuilder(max_rows=500)
    >>> for batch in np.split(np.arange(30_000), 100):
    ...     _ = builder.update(y[batch], s[batch])
    >>> bounds = pr.tie_bounds(builder.ranking())
    >>> bounds.low <= pr.aucpr(pr.rank(y, s)) <= bounds.high
    True
    >>> bounds.high - bounds.low < 0.01
    True
    """

    def __init__(
        self,
        thresholds: object = None,
        *,
        max_rows: int | None = None,
        pos_label: object = 1,
    ) -> None:
        if (thresholds is None) == (max_rows is None):
            raise InputError(
                "RankingBuilder needs either thresholds or max_rows, got "
                f"{'neither' if thresholds is None else 'both'}: pass the positive scores as "
                "thresholds, or the largest number of rows as max_rows."
            )
        self._pos_label = pos_label
        self._negative_label: Any = None
        self._thresholds: Array | None = None
        self._counts: SegmentCounts | None = None
        self._cells: AdaptiveCells | None = None
        self._max_rows = 0
        if thresholds is not None:
            values = _validation.as_scores(thresholds, "thresholds")
            _validation.reject_missing(values, "thresholds")
            self._thresholds = np.unique(values)
            self._counts = SegmentCounts.empty(self._thresholds.size, weighted=False)
        else:
            self._max_rows = _validation.as_count(max_rows, "max_rows", minimum=1)

    def update(
        self, y_true: object, y_score: object, *, sample_weight: object = None
    ) -> RankingBuilder:
        """Add a batch of rows; checks and arguments are those of :func:`precall.rank`.

        An empty batch adds nothing. A batch that breaks a rule raises and adds nothing either.

        Returns
        -------
        RankingBuilder
            The builder itself.
        """
        labels = _validation.as_vector(y_true, "y_true")
        scores = _validation.as_scores(y_score)
        if labels.size == 0 and scores.size == 0:
            return self
        positive = _validation.as_positive_mask(labels, self._pos_label)
        arrays: dict[str, Array] = {"y_true": positive, "y_score": scores}
        weights = None
        if sample_weight is not None:
            arrays["sample_weight"] = weights = _validation.as_weights(sample_weight)
        _validation.require_same_length(**arrays)
        _validation.reject_missing(scores, "y_score")
        negative = labels[~positive][:1].tolist()
        self._check_negative_label(negative[0] if negative else None)

        if self._counts is not None:
            scores = self._in_common_dtype(scores)
            self._counts.update(self._fixed, positive, scores, weights)
        else:
            rows = AdaptiveCells.of_rows(
                _CELLS_PER_ROW * self._max_rows, positive, _widest(scores), weights
            )
            self._join(rows)
        if negative:
            self._negative_label = negative[0]
        return self

    def merge(self, other: RankingBuilder) -> RankingBuilder:
        """Add everything that `other` has seen; `other` stays as it is.

        Returns
        -------
        RankingBuilder
            The builder itself.
        """
        if not isinstance(other, RankingBuilder):
            raise InputError(f"only a RankingBuilder can be merged, got {type(other).__name__}.")
        if other._pos_label != self._pos_label:
            raise InputError(
                f"the builders have different positive labels ({self._pos_label!r} and "
                f"{other._pos_label!r}): build both with the same pos_label."
            )
        if (self._counts is None) != (other._counts is None):
            raise InputError(
                "a builder with thresholds and one with max_rows cannot be merged: "
                "build both in the same way."
            )
        self._check_negative_label(other._negative_label)
        if self._counts is not None and other._counts is not None:
            if not np.array_equal(self._fixed, other._fixed):
                raise InputError(
                    f"only builders on the same thresholds can be merged, got {self._fixed.size} "
                    f"and {other._fixed.size} thresholds that differ: build both on their union."
                )
            self._counts = self._counts + other._counts
        elif other._cells is not None:
            self._join(other._cells)
        if self._negative_label is None:
            self._negative_label = other._negative_label
        self._max_rows = min(self._max_rows, other._max_rows)
        return self

    def ranking(self) -> Ranking:
        """Return the ranking of all rows so far; the builder can go on afterwards."""
        if self._counts is not None:
            ranking = self._counts.ranking(self._fixed, keep=True)
        elif self._cells is not None:
            ranking = self._cells.ranking().coarsen(self._max_rows)
        else:
            raise InputError("the builder has no rows yet: call update first.")
        if not (ranking.n_pos or ranking.n_neg):
            raise InputError("the builder has no rows of positive weight yet: call update first.")
        warn_if_worse_than_random(ranking)
        return ranking

    def __repr__(self) -> str:
        """Return one line that says how the builder counts."""
        how = (
            f"max_rows={self._max_rows}"
            if self._counts is None
            else f"thresholds={self._fixed.size}"
        )
        return f"RankingBuilder({how})"

    @property
    def _fixed(self) -> Array:
        if self._thresholds is None:
            raise InputError("this builder has no fixed thresholds.")
        return self._thresholds

    def _check_negative_label(self, label: Any) -> None:
        if None not in (label, self._negative_label) and label != self._negative_label:
            raise InputError(
                f"y_true must have at most two labels, got {self._negative_label!r} in earlier "
                f"batches and {label!r} now, beside {self._pos_label!r}: pass y_true == label for "
                "one class against the rest."
            )

    def _in_common_dtype(self, scores: Array) -> Array:
        """Bring scores and thresholds to one dtype; rounding keeps the order, so bounds hold."""
        common = np.result_type(self._fixed, scores)
        if common != self._fixed.dtype:
            wider = self._fixed.astype(common)
            if not (wider[1:] > wider[:-1]).all():
                raise InputError(
                    f"the thresholds are {self._fixed.dtype} and the scores {scores.dtype}: some "
                    f"thresholds become equal as {common}; pass both in one type."
                )
            self._thresholds = wider
        return scores.astype(common, copy=False)

    def _join(self, cells: AdaptiveCells) -> None:
        if self._cells is None:
            self._cells = AdaptiveCells.empty(cells.capacity, cells.kind)
        if cells.kind != self._cells.kind:
            names = {"f": "floating-point numbers", "i": "integers", "u": "unsigned integers"}
            raise InputError(
                f"y_score must keep its kind: earlier batches held {names[self._cells.kind]}, this "
                f"one {names[cells.kind]}; convert all of them to one dtype."
            )
        self._cells = self._cells.joined(cells)


def _widest(scores: Array) -> Array:
    """Small integers of either kind are one kind; only 64 unsigned bits need their own."""
    if scores.dtype.kind == "u" and scores.dtype.itemsize < 8:
        return scores.astype(np.int64)
    return scores

"""Rank once: from labels, scores and weights to the table of counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _threads, _validation
from .._memory import keep_freed_memory
from . import kept_thresholds, sorting
from .direction import warn_if_worse_than_random
from .table import Ranking

Array = npt.NDArray[Any]


def rank_checked(
    positive: npt.NDArray[np.bool_],
    scores: Array,
    weights: npt.NDArray[np.float64] | None,
    thresholds: object = (),
    order: npt.NDArray[np.int64] | None = None,
) -> Ranking:
    """Rank rows that have passed validation; `order` are those rows by rising score, if known."""
    if scores.size >= _threads.THREADING_PAYS:
        keep_freed_memory()
    kept = _kept(thresholds, scores.dtype)
    if weights is not None:
        return Ranking(**sorting.weigh_rows(positive, scores, weights, kept, order))
    return _frozen(sorting.count_rows(positive, scores, kept, order), kept)


def rank_classes(positives: Array, negatives: Sequence[Array], thresholds: object = ()) -> Ranking:
    """Rank the checked scores of each class, those of the negatives in parts; they are sorted."""
    kept = _kept(thresholds, positives.dtype)
    return _frozen(sorting.count_classes([positives, *negatives], kept), kept)


def _kept(thresholds: object, dtype: np.dtype[Any]) -> Array | None:
    """The scores at which counts are asked for, if any."""
    if isinstance(thresholds, tuple) and not thresholds:
        return None
    return kept_thresholds.as_thresholds(thresholds, dtype)


def _frozen(counted: dict[str, Any], kept: Array | None) -> Ranking:
    """Fresh arrays that were counted here obey the rules of the table: they are only frozen."""
    for name in ("threshold", "positives", "tied", "above", "tp", "fp"):
        counted[name].setflags(write=False)
    if kept is None:
        counted["_without_positives"] = []
    ranking = object.__new__(Ranking)
    ranking.__dict__.update(counted)
    return ranking


def rank(
    y_true: object,
    y_score: object,
    *,
    pos_label: object = 1,
    sample_weight: object = None,
    thresholds: object = (),
    missed_positives: int = 0,
) -> Ranking:
    """Sort the rows once and keep what every curve, area and interval needs.

    Parameters
    ----------
    y_true : array-like
        Labels: ``{0, 1}``, ``{-1, 1}``, booleans, or any two labels with `pos_label`. NumPy,
        pandas, Polars, PyArrow, torch and lists are read alike; nothing is modified.
    y_score : array-like
        Scores, higher for rows that look more positive. Integers are compared as integers;
        infinite scores rank first or last.
    pos_label : label, default 1
        The label of the positive class.
    sample_weight : array-like, optional
        Non-negative importance weights. Rows of weight zero are left out.
    thresholds : iterable of float, optional
        Scores at which the counts are kept exactly, whether a positive has them or not: a ranking
        does not keep the scores of other negatives. They change no curve, area or interval, and
        let :func:`precall.confusion` and the metrics at a threshold answer there.
    missed_positives : int, default 0
        Positives that no scorer ever saw, such as objects that a detector did not propose and
        documents that a search did not return. Each counts as a positive of weight 1 below
        everything that was scored, which no threshold selects: recall is a share of all positives,
        and precision is 0 at recalls that only they would reach. Metrics, curves, intervals, bands
        and certificates count them; what cannot raises, and says why.

    Returns
    -------
    Ranking

    Raises
    ------
    InputError
        For NaN, for more than two labels, for unequal lengths, for empty input and for negative
        weights, with the argument, the count and the first position.

    Warns
    -----
    DirectionWarning
        If positives rank below negatives more often than chance explains (one-sided 5 %).
        Scores are never flipped.

    Notes
    -----
    Each class is sorted by itself (two threads on large data) and the two are merged:
    ``O(N log N)`` with the constant of ``numpy.sort``, never an ``argsort`` unless weighted.

    Examples
    --------
    >>> import precall as pr
    >>> ranking = pr.rank(["ham", "spam", "ham"], [0.2, 0.9, 0.4], pos_label="spam")
    >>> ranking.n_pos, ranking.n_neg
    (1, 2)
    >>> kept = pr.rank([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.2], thresholds=[0.5])
    >>> kept.threshold, kept.tp, kept.fp
    (array([0.9, 0.5, 0.4]), array([1, 1, 2]), array([0, 1, 1]))
    """
    positive = _validation.as_positive_mask(y_true, pos_label)
    scores = _validation.as_scores(y_score)
    weights = None
    if sample_weight is None:
        _validation.require_same_length(y_true=positive, y_score=scores)
    else:
        weights = _validation.as_weights(sample_weight)
        _validation.require_same_length(y_true=positive, y_score=scores, sample_weight=weights)
    missed = _validation.as_count(missed_positives, "missed_positives")
    ranking = rank_checked(positive, scores, weights, thresholds)
    warn_if_worse_than_random(ranking)
    return replace(ranking, missed=missed) if missed else ranking

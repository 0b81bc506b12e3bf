"""Rank every group by itself, all of them at once: folds, tasks, queries and classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from ..exceptions import InputError
from ..ranking import Ranking, rank_checked
from ..ranking import grouping as _grouping
from ..ranking.pooling import pool
from ..ranking.ranking_set import RankingSet as RankingSet
from ..ranking.ranking_set import as_ranking_set
from ..ranking.shared_rows import SharedRows
from ..rows import Rows

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Folds, tasks and classes are pooled without being asked; a hundred thousand queries are not.
_POOLED_GROUPS = 1000


def rank_groups(
    y_true: object,
    y_score: object,
    groups: object,
    *,
    sample_weight: object = None,
    pos_label: object = 1,
    pooled: bool | None = None,
) -> RankingSet:
    """Rank the rows of every group by itself, all groups in one pass.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`precall.rank`.
    groups : array-like
        The fold, task or query of each row: integers, strings or anything hashable, in any order;
        rows that already lie together group by group are fastest.
    pooled : bool, optional
        Whether to rank all rows together as well, which ``how="pooled"`` of
        :func:`precall.aggregate` needs. It takes another sort of everything. By default it is
        done for up to 1,000 groups.

    Returns
    -------
    RankingSet
        Groups in ascending order of their labels; in order of first appearance if the labels do
        not sort (strings beside numbers). Every group has its place, with no positives too.

    Raises
    ------
    InputError
        As :func:`precall.rank`, and for missing group labels.

    Notes
    -----
    Groups of one size are sorted as the rows of a matrix, so there is one sort per distinct size
    and no loop over groups. No warning about the direction of the scores is given per group.

    Examples
    --------
    >>> import precall as pr
    >>> queries = ["jam", "jam", "tea", "tea", "tea"]
    >>> rankings = pr.rank_groups([0, 1, 1, 0, 1], [0.2, 0.9, 0.7, 0.8, 0.1], queries)
    >>> rankings.labels.tolist(), rankings.n_pos.tolist()
    (['jam', 'tea'], [1, 2])
    """
    positive = _validation.as_positive_mask(y_true, pos_label)
    scores = _validation.as_scores(y_score)
    column = _grouping.as_group_labels(groups)
    arrays = {"y_true": positive, "y_score": scores, "groups": column}
    weights = None
    if sample_weight is not None:
        weights = _validation.as_weights(sample_weight)
        arrays["sample_weight"] = weights
    _validation.require_same_length(**arrays)
    if weights is not None:  # also where the weight is zero; the others show it when packed
        _validation.reject_missing(scores, "y_score")
    grouping = _grouping.group_rows(column)
    return ranked(positive, scores, weights, grouping, pooled)


def ranked(
    positive: npt.NDArray[np.bool_],
    scores: Array,
    weights: FloatArray | None,
    grouping: _grouping.Grouping,
    pooled: bool | None,
    whole: Ranking | None = None,
) -> RankingSet:
    """Rank checked arrays whose groups are known; `whole` is their ranking, if there is one."""
    starts, order = grouping.starts, grouping.order
    if weights is not None:
        starts, order = _without_weightless(weights, starts, order)
    tables = _grouping.tabulate(positive, scores, weights, starts, order)
    n_groups = grouping.labels.size
    together = (
        n_groups <= _POOLED_GROUPS if pooled is None else _validation.as_flag(pooled, "pooled")
    )
    return RankingSet(
        labels=grouping.labels,
        **tables._asdict(),
        pooled=pool(positive, scores, weights, starts, order, tables, whole) if together else None,
        divisible=divisible_groups(positive, weights, starts, order),
    )


def ranking_set_of(
    data: object,
    by: str | None = None,
    model: str | None = None,
    thresholds: tuple[float, ...] = (),
) -> RankingSet:
    """Return a set of rankings as it is, or that of rows grouped by one of their columns.

    Rows are ranked with `thresholds` kept; a set is what it is.
    """
    if not isinstance(data, Rows):
        if by is not None or model is not None:
            raise InputError("by= and model= are for Rows: a RankingSet is grouped already.")
        return as_ranking_set(data)
    if by is None:
        listed = ", ".join(map(repr, data.columns)) or "none: give Rows columns="
        raise InputError(f"by= must name the column of the groups; the columns are {listed}.")
    name, column = data.model_named(model), data.column(by)
    if not thresholds:
        return rank_rows_by(data, name, column)
    labels, codes = _grouping.factorise(_grouping.as_group_labels(column))
    members = [codes == code for code in range(labels.size)]
    weight = data.weight
    rankings = [
        rank_checked(
            data.positive[own],
            data.scores[name][own],
            None if weight is None else weight[own],
            thresholds,
        )
        for own in members
    ]
    return RankingSet.from_rankings(rankings, labels=labels)


def rank_rows_by(rows: Rows, model: str, groups: Array) -> RankingSet:
    """Rank checked rows group by group."""
    column = _grouping.as_group_labels(groups)
    grouping = _grouping.group_rows(column)
    return ranked(rows.positive, rows.scores[model], rows.weight, grouping, None, whole=rows[model])


class OrderedGroups(NamedTuple):
    """Rows by group and then by falling score, where each group begins, and their rankings."""

    rows: IntArray
    starts: IntArray
    rankings: RankingSet


def groups_in_order(rows: Rows, model: str, code: IntArray, labels: Array) -> OrderedGroups:
    """Rank groups without sorting their scores: from the order of all rows.

    `code` has the position of each row's label; rows with a position that is negative are left out.
    """
    falling = rows.order(model)[::-1]
    group = code[falling]
    kept = group >= 0
    if not kept.all():
        group, falling = group[kept], falling[kept]
    chosen = falling[_grouping.stable_order(group, labels.size)]
    starts = np.append(0, np.cumsum(np.bincount(group, minlength=labels.size)))
    weight = None if rows.weight is None else rows.weight[chosen]
    tables = _grouping.cut_sorted(rows.positive[chosen], rows.scores[model][chosen], weight, starts)
    rankings = RankingSet(
        labels=labels,
        **tables._asdict(),
        divisible=divisible_groups(rows.positive, rows.weight, starts, chosen),
    )
    return OrderedGroups(chosen, starts, rankings)


def divisible_groups(
    positive: npt.NDArray[np.bool_],
    weights: FloatArray | None,
    starts: IntArray,
    order: IntArray | None,
) -> npt.NDArray[np.bool_]:
    """Return in which groups some positive's weight is not a whole number."""
    if weights is None:
        return np.zeros(starts.size - 1, dtype=np.bool_)
    parts = positive & (weights != np.rint(weights))
    before = np.append(0, np.cumsum(parts if order is None else parts[order]))
    return np.asarray(before[starts[1:]] > before[starts[:-1]])


def _without_weightless(
    weights: FloatArray, starts: IntArray, order: IntArray | None
) -> tuple[IntArray, IntArray | None]:
    """Leave rows of weight zero out, as rank() does; their group keeps its place."""
    used = weights > 0 if order is None else weights[order] > 0
    if used.all():
        return starts, order
    kept = np.flatnonzero(used)
    return np.searchsorted(kept, starts), kept if order is None else order[kept]


def rank_classes(
    y_true: object,
    scores_matrix: object,
    *,
    classes: object = None,
    sample_weight: object = None,
    pooled: bool | None = None,
) -> RankingSet:
    """Rank every class against the rest: multi-class and multi-label data as a set of rankings.

    Parameters
    ----------
    y_true : array-like
        One class label per row (multi-class), or a matrix of zeros and ones with a column per
        class (multi-label).
    scores_matrix : array-like of shape (rows, classes)
        One column of scores per class.
    classes : array-like, optional
        The label of each column. By default the distinct labels in ascending order, which must
        then be as many as there are columns; 0, 1, 2, ... for a matrix `y_true`.
    sample_weight : array-like, optional
        One per row.
    pooled : bool, optional
        As in :func:`rank_groups`.

    Returns
    -------
    RankingSet
        One group per class, in the order of the columns. :func:`precall.aggregate` with
        ``how="mean"`` gives the macro average, ``"pooled"`` the micro average and ``"weighted"``
        the average weighted by the positives of each class. It keeps the rows (as `shared`),
        because they say how the classes vary together.

    Examples
    --------
    >>> import precall as pr
    >>> scores = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.4, 0.3], [0.2, 0.2, 0.6]]
    >>> rankings = pr.rank_classes(["ant", "bee", "ant", "fly"], scores)
    >>> rankings.labels.tolist(), rankings.n_pos.tolist()
    (['ant', 'bee', 'fly'], [2, 1, 1])
    """
    matrix = _validation.as_array(scores_matrix, "scores_matrix")
    if matrix.ndim != 2:
        raise InputError(
            "scores_matrix must have one row per case and one column per class, got shape "
            f"{matrix.shape}."
        )
    n_rows, n_classes = matrix.shape
    labels, members = _class_members(y_true, classes, n_classes)
    weights = None
    if sample_weight is not None:
        weights = _validation.as_weights(sample_weight)
        _validation.require_same_length(scores_matrix=matrix, sample_weight=weights)
    _validation.require_same_length(y_true=members, scores_matrix=matrix)
    # Column by column, so that a class is a group whose rows lie together.
    scores = _validation.as_scores(matrix.T.ravel(), "scores_matrix")
    _validation.reject_missing(scores, "scores_matrix")
    starts = np.arange(n_classes + 1) * n_rows
    grouping = _grouping.Grouping(labels, starts, None)
    positive = members.T.ravel()
    tiled = None if weights is None else np.tile(weights, n_classes)
    shape = n_classes, n_rows
    return replace(
        ranked(positive, scores, tiled, grouping, pooled),
        shared=SharedRows.of(positive.reshape(shape), scores.reshape(shape), weights),
    )


def _class_members(
    y_true: object, classes: object, n_classes: int
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Label of each column, and which rows belong to it."""
    labels = _validation.as_array(y_true, "y_true")
    names = None if classes is None else _grouping.as_group_labels(classes)
    if labels.ndim == 2:
        if not np.isin(labels, (0, 1)).all():
            raise InputError("y_true as a matrix must hold zeros and ones only.")
        names = np.arange(labels.shape[1]) if names is None else names
        members = labels.astype(np.bool_)
    else:
        labels = _grouping.as_group_labels(y_true)
        found, codes = _grouping.factorise(labels) if labels.size else (labels, labels)
        _validation.reject_missing(found, "y_true")
        names = found if names is None else names
        position = {name: column for column, name in enumerate(names.tolist())}
        unknown = [label for label in found.tolist() if label not in position]
        if unknown:
            raise InputError(
                f"y_true has labels that are not in classes ({', '.join(map(repr, unknown[:5]))}): "
                "name every class, in the order of the columns of scores_matrix."
            )
        columns = np.array([position[label] for label in found.tolist()], dtype=np.int64)
        members = columns[codes.astype(np.int64)][:, np.newaxis] == np.arange(n_classes)
    if names.size != n_classes or len(set(names.tolist())) != n_classes:
        raise InputError(
            f"classes must name the {n_classes} columns of scores_matrix, each once, got "
            f"{names.size}: pass classes= where some class does not occur in y_true."
        )
    return names, members

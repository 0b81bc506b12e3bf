"""One number per group, for all groups at once.

Areas, AUROC and the metrics of ranked retrieval at a cut-off. Nothing here loops over groups: sums
run over segments of one long table, and estimators that need more than a sum see the groups as the
rows of matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._estimators import ESTIMATORS, KERNELS, make_steps, ratio
from .._extremes import worst_and_perfect
from .._numerics import reciprocal_sum
from ..areas import minimum_aucpr
from ..exceptions import InputError, UndefinedMetricError
from ..ranking import Cells
from .grouping import BLOCK_ROWS
from .ranking_set import RankingSet, as_ranking_set

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

UNDEFINED = ("skip", "zero", "raise")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GroupValues:
    """A metric in every group.

    Attributes
    ----------
    metric : str
        Its name, with the cut-off where there is one.
    labels : array
        The groups' labels.
    values : array
        One number per group; NaN where the metric is undefined and ``undefined="skip"``.
    n_undefined : int
        In how many groups the metric is undefined (no positives, mostly).
    undefined : str
        What was done with them.
    """

    metric: str
    labels: Array
    values: FloatArray
    n_undefined: int
    undefined: str

    def mean(self) -> float:
        """Return the mean over the groups that count; NaN if there are none."""
        kept = self.values[~np.isnan(self.values)]
        return float(np.mean(kept)) if kept.size else float("nan")

    def __len__(self) -> int:
        """Return the number of groups."""
        return int(self.values.size)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Let NumPy read the values."""
        return np.array(self.values, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        """Return one line."""
        return (
            f"GroupValues({self.metric}, mean={self.mean():.6g}, groups={len(self)}, "
            f"undefined={self.n_undefined} ({self.undefined}))"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers; undefined values are None."""
        return {
            "metric": self.metric,
            "labels": self.labels.tolist(),
            "values": [None if value != value else value for value in self.values.tolist()],
            "n_undefined": self.n_undefined,
            "undefined": self.undefined,
        }


@dataclass(frozen=True, kw_only=True)
class GroupOptions:
    """What a metric needs beside the rankings."""

    estimator: str
    recall: tuple[float, float]
    k: int | None

    @classmethod
    def checked(cls, *, estimator: object, recall: object, k: object) -> GroupOptions:
        """Check what the caller gave."""
        return cls(
            estimator=_validation.as_choice(estimator, "estimator", ESTIMATORS),
            recall=_validation.as_range(recall, "recall"),
            k=None if k is None else _validation.as_count(k, "k", minimum=1),
        )


def per_group(
    rankings: object,
    metric: str = "aucnpr",
    *,
    estimator: str = "average_precision",
    recall: tuple[float, float] = (0.0, 1.0),
    k: int | None = None,
    undefined: str = "skip",
) -> GroupValues:
    """Compute a metric in every group.

    Parameters
    ----------
    rankings : RankingSet
        From :func:`precall.rank_groups`; a list or mapping of rankings will do.
    metric : str
        - ``"aucpr"``, ``"aucnpr"``: the area under the precision-recall curve and the same
          normalised to what is achievable, with any `estimator` and `recall` range.
        - ``"auroc"``.
        - ``"precision_at_k"``, ``"recall_at_k"``: of the `k` highest scores.
        - ``"reciprocal_rank"``: of the first positive; 0 if it is not among the first `k`.
        - ``"ndcg"``: discounted cumulative gain, ``1 / log2(rank + 1)`` per positive, over that of
          the perfect ranking; of the first `k` if given.
    estimator, recall
        As in :func:`precall.aucpr`; for areas only.
    k : int, optional
        The cut-off.
    undefined : {"skip", "zero", "raise"}
        What to do with groups in which the metric has no value: no positives for every metric, no
        negatives either for ``"auroc"`` and ``"aucnpr"``. Skip them (NaN), count them as 0 (as
        search evaluation often does), or raise.

    Returns
    -------
    GroupValues
        It says how many groups were undefined.

    Notes
    -----
    Ties are never ordered by luck. Areas treat a tie as one threshold; the metrics at a rank take
    the *expected* value over all orders of the tied rows (McSherry & Najork 2008), in closed form.
    To evaluate as ``trec_eval`` does, see :func:`precall.read_trec`.

    Positives that were never scored (``RankingSet.unscored``) count in the denominators of
    ``"aucpr"`` by average precision, ``"recall_at_k"`` and ``"ndcg"``; the other areas need every
    positive to be ranked.

    Examples
    --------
    >>> import precall as pr
    >>> rankings = pr.rank_groups([1, 0, 1, 0, 0], [4, 3, 2, 9, 8], ["a", "a", "a", "b", "b"])
    >>> pr.per_group(rankings, "aucpr")
    GroupValues(aucpr, mean=0.833333, groups=2, undefined=1 (skip))
    >>> pr.per_group(rankings, "precision_at_k", k=2, undefined="zero").values
    array([0.5, 0. ])
    """
    group_set = as_ranking_set(rankings)
    _validation.as_choice(metric, "metric", METRICS)
    _validation.as_choice(undefined, "undefined", UNDEFINED)
    options = GroupOptions.checked(estimator=estimator, recall=recall, k=k)
    defined = all_positives(group_set) > 0
    if metric in ("auroc", "aucnpr"):
        defined &= np.asarray(group_set.n_neg > 0)
    n_undefined = int(np.count_nonzero(~defined))
    if n_undefined and undefined == "raise":
        first = int(np.argmin(defined))
        raise UndefinedMetricError(
            f"{metric} is undefined in {n_undefined} of {len(group_set)} groups, the first of them "
            f"{group_set.labels[first]!r}: a class is empty there; pass undefined='skip' or 'zero'."
        )
    values = METRICS[metric](group_set, options)
    values = np.where(defined, values, np.nan if undefined == "skip" else 0.0)
    return GroupValues(
        metric=metric if options.k is None else f"{metric.removesuffix('_at_k')}@{options.k}",
        labels=group_set.labels,
        values=values,
        n_undefined=n_undefined,
        undefined=undefined,
    )


def all_positives(rankings: RankingSet) -> Array:
    """Positives of each group, those that were never scored included."""
    return rankings.n_pos if rankings.unscored is None else rankings.n_pos + rankings.unscored


def _require_all_scored(rankings: RankingSet, what: str) -> None:
    if rankings.unscored is not None and rankings.unscored.any():
        raise InputError(
            f"{what} needs a score for every positive, and {int(rankings.unscored.sum())} have "
            "none: rank the missing ones last, or take average precision, recall_at_k or ndcg."
        )


def _aucpr(rankings: RankingSet, options: GroupOptions) -> FloatArray:
    if options.estimator == "average_precision" and options.recall == (0.0, 1.0):
        precision = ratio(rankings.tp, rankings.tp + rankings.fp)
        total = rankings.sums(rankings.cells.positives * precision)
        return ratio(total, all_positives(rankings))
    _require_all_scored(rankings, f"the {options.estimator} area over recall {options.recall}")
    if options.estimator == "binormal":
        raise InputError(
            "the binormal estimator needs the raw scores' means and standard deviations, which a "
            "RankingSet does not keep: use precall.rank and precall.aucpr group by group."
        )
    return _by_kernel(rankings, options)


def _by_kernel(rankings: RankingSet, options: GroupOptions) -> FloatArray:
    """Run an estimator on matrices with one group per line."""
    kernel = KERNELS[options.estimator]
    values = np.zeros(len(rankings))
    for groups, index, real in rankings.blocks():
        cells = _lines(rankings.cells, groups, index, real)
        squares = rankings.squares and _lines(rankings.squares, groups, index, real)
        values[groups] = kernel(make_steps(cells, squares), *options.recall)
    return values


def _lines(cells: Cells, groups: IntArray, index: IntArray, real: Mask) -> Cells:
    positives, tied, above = (np.where(real, part[index], 0) for part in cells[:3])
    return Cells(positives, tied, above, cells.below[groups])


def _aucnpr(rankings: RankingSet, options: GroupOptions) -> FloatArray:
    _require_all_scored(rankings, "AUCNPR")
    low, high = area_limits(rankings, options)
    return ratio(_aucpr(rankings, options) - low, high - low)


def area_limits(rankings: RankingSet, options: GroupOptions) -> tuple[FloatArray, FloatArray]:
    """The estimator's value on the worst and on the perfect ranking of each group's sizes."""
    low, high = options.recall
    n, m = (np.asarray(size, dtype=np.float64) for size in (rankings.n_pos, rankings.n_neg))
    full = np.full(len(rankings), high - low)
    prevalence = np.nan_to_num(rankings.prevalence)
    if options.estimator == "interpolated_convex":  # the hull of the worst ranking is the diagonal
        return prevalence * (high - low), full
    divisible = np.asarray(minimum_aucpr(prevalence, options.recall))
    if options.estimator == "davis_goadrich":
        return divisible, full
    counted = ~rankings.divisible & (n > 0) & (m > 0)
    worst, perfect = worst_and_perfect(
        options.estimator, np.where(counted, n, 1.0), np.where(counted, m, 1.0), options.recall
    )
    return np.where(counted, worst, divisible), np.where(counted, perfect, full)


def _auroc(rankings: RankingSet, options: GroupOptions) -> FloatArray:
    _require_all_scored(rankings, "AUROC")
    pairs = np.asarray(rankings.n_pos, dtype=np.float64) * rankings.n_neg
    return np.asarray(1.0 - ratio(_misplaced(rankings), pairs))


def concordant_pairs(rankings: RankingSet) -> FloatArray:
    """Number of (positive, negative) pairs in the right order in each group, ties one half."""
    pairs = np.asarray(rankings.n_pos, dtype=np.float64) * rankings.n_neg
    return np.asarray(pairs - _misplaced(rankings))


def _misplaced(rankings: RankingSet) -> FloatArray:
    return rankings.sums(rankings.cells.positives * (rankings.fp - 0.5 * rankings.cells.tied))


def _ranks(rankings: RankingSet, what: str) -> tuple[IntArray, IntArray]:
    """Rows of the group before each tie, and in it."""
    if rankings.weighted:
        raise InputError(
            f"{what} counts rows by their rank, and these rows carry weights: rank without "
            "sample_weight, or take an area."
        )
    size = rankings.cells.positives + rankings.cells.tied
    return rankings.tp + rankings.fp - size, size


def _cut_off(options: GroupOptions, what: str) -> int:
    if options.k is None:
        raise InputError(f"{what} needs a cut-off: pass k, for example k=10.")
    return options.k


def _hits(rankings: RankingSet, k: int, what: str) -> FloatArray:
    """Expected number of positives among the first `k` rows: a tie at the cut gives its share."""
    before, size = _ranks(rankings, what)
    share = np.clip((k - before) / size, 0.0, 1.0)
    return rankings.sums(rankings.cells.positives * share)


def _precision_at_k(rankings: RankingSet, options: GroupOptions) -> FloatArray:
    k = _cut_off(options, "precision_at_k")
    return _hits(rankings, k, "precision_at_k") / k


def _recall_at_k(rankings: RankingSet, options: GroupOptions) -> FloatArray:
    k = _cut_off(options, "recall_at_k")
    return ratio(_hits(rankings, k, "recall_at_k"), all_positives(rankings))


def _ndcg(rankings: RankingSet, options: GroupOptions) -> FloatArray:
    before, size = _ranks(rankings, "ndcg")
    positives = all_positives(rankings)
    length = int(max(np.max(before + size, initial=0), np.max(positives, initial=0)))
    k = length if options.k is None else options.k
    discount = np.where(np.arange(length) < k, 1.0 / np.log2(np.arange(length) + 2.0), 0.0)
    summed = np.concatenate([[0.0], np.cumsum(discount)])
    # A tie's positives share the discounts of its places.
    alone = size == 1
    mean = np.where(
        alone,
        discount[np.where(alone, before, 0)] if length else 0.0,
        (summed[before + size] - summed[before]) / size,
    )
    return ratio(rankings.sums(rankings.cells.positives * mean), summed[positives])


def _reciprocal_rank(rankings: RankingSet, options: GroupOptions) -> FloatArray:
    _ranks(rankings, "reciprocal_rank")
    values = np.zeros(len(rankings))
    filled = np.flatnonzero(rankings.offsets[:-1] < rankings.offsets[1:])
    first = rankings.offsets[:-1][filled]
    above, positives, tied = (
        part[first]
        for part in (rankings.cells.above, rankings.cells.positives, rankings.cells.tied)
    )
    k = np.inf if options.k is None else options.k
    values[filled] = np.where((tied == 0) & (above < k), 1.0 / (above + 1.0), 0.0)
    mixed = np.flatnonzero(tied > 0)
    if mixed.size:
        values[filled[mixed]] = _expected_reciprocal(above[mixed], positives[mixed], tied[mixed], k)
    return values


def _expected_reciprocal(above: Array, positives: Array, tied: Array, k: float) -> FloatArray:
    """Mean of ``1 / rank`` of the first positive over all orders of a tie that holds it.

    The first of `p` positives among ``p + q`` tied rows is at place `j` with probability
    ``prod_{i<j} (q - i + 1) / (p + q - i + 1) * p / (p + q - j + 1)``, uniform if ``p = 1``.
    """
    result = np.empty(above.size)
    single = (positives == 1) & np.isinf(k)
    result[single] = reciprocal_sum(above[single], tied[single] + 1) / (tied[single] + 1)
    rest = np.flatnonzero(~single)
    # Lines of about equal length together, so that the matrices waste little.
    for bit in np.unique(np.ceil(np.log2(tied[rest] + 1))):
        members = rest[np.ceil(np.log2(tied[rest] + 1)) == bit]
        width = 1 << int(bit)
        step = max(1, BLOCK_ROWS // width)
        place = np.arange(1.0, width + 1.0)
        for begin in range(0, members.size, step):
            chosen = members[begin : begin + step]
            a, p, q = (
                part[chosen][:, np.newaxis].astype(np.float64) for part in (above, positives, tied)
            )
            left = np.maximum(p + q - place + 1.0, p)
            missed = np.cumprod(np.maximum(q - place + 1.0, 0.0) / left, axis=1)
            reached = np.concatenate([np.ones_like(p), missed[:, :-1]], axis=1)
            found = reached * p / left
            result[chosen] = np.sum(np.where(a + place <= k, found / (a + place), 0.0), axis=1)
    return result


METRICS: dict[str, Callable[[RankingSet, GroupOptions], FloatArray]] = {
    "aucpr": _aucpr,
    "aucnpr": _aucnpr,
    "auroc": _auroc,
    "precision_at_k": _precision_at_k,
    "recall_at_k": _recall_at_k,
    "reciprocal_rank": _reciprocal_rank,
    "ndcg": _ndcg,
}

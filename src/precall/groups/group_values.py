"""One number per group, for all groups at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._notebook import Rich
from ..exceptions import UndefinedMetricError
from ..metrics import Metric, as_metric
from ..ranking.direction import share_in_order
from ..ranking.ranking_set import RankingSet
from ..rows import Rows
from .ranking_by_group import ranking_set_of

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]

UNDEFINED = ("skip", "zero", "raise")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GroupValues(Rich):
    """A metric in every group.

    Attributes
    ----------
    metric : str
        What was computed, in the words of :func:`precall.metrics.parse`.
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

    def _table(self) -> dict[str, Any]:
        return {"label": self.labels, "value": self.values}

    def plot(self, ax: Any = None) -> Any:
        """Draw the metric of every group, lowest first, and return the Axes."""
        from ..display.result_plots import plot_values

        return plot_values(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers; undefined values are None."""
        return {
            "metric": self.metric,
            "labels": self.labels.tolist(),
            "values": [None if value != value else value for value in self.values.tolist()],
            "n_undefined": self.n_undefined,
            "undefined": self.undefined,
        }


def per_group(
    data: object,
    metric: Metric | type[Metric] | str = "aucnpr",
    *,
    by: str | None = None,
    model: str | None = None,
    undefined: str = "skip",
) -> GroupValues:
    """Compute a metric in every group.

    Parameters
    ----------
    data : RankingSet or Rows
        From :func:`precall.rank_groups`; a list or mapping of rankings will do. Rows are grouped by
        one of their columns, `by`.
    metric : Metric or str
        Any of :mod:`precall.metrics`, such as ``"aucpr"``, ``"precision_at_k(10)"``, ``"ndcg"``.
    by, model : str, optional
        For Rows: the column that names the groups, and which model if there are several.
    undefined : {"skip", "zero", "raise"}
        What to do with groups in which the metric has no value: no positives for every metric, no
        negatives either for those that need them, such as ``"auroc"`` and ``"aucnpr"``. Skip them
        (NaN), count them as 0 (as search evaluation often does), or raise.

    Returns
    -------
    GroupValues
        It says how many groups were undefined.

    Notes
    -----
    Ties are never ordered by luck. Areas treat a tie as one threshold; the metrics at a rank take
    the *expected* value over all orders of the tied rows (McSherry & Najork 2008), in closed form.
    To evaluate as ``trec_eval`` does, see :func:`precall.read_trec`.

    Positives that were never scored (``RankingSet.missed``) count in the denominators of
    ``"aucpr"`` by average precision, ``"recall_at_k"`` and ``"ndcg"``; the other areas need every
    positive to be ranked.

    Examples
    --------
    >>> import precall as pr
    >>> rankings = pr.rank_groups([1, 0, 1, 0, 0], [4, 3, 2, 9, 8], ["a", "a", "a", "b", "b"])
    >>> pr.per_group(rankings, "aucpr")
    GroupValues(aucpr, mean=0.833333, groups=2, undefined=1 (skip))
    >>> pr.per_group(rankings, pr.metrics.precision_at_k(2), undefined="zero").values
    array([0.5, 0. ])
    """
    what = as_metric(metric)
    group_set = ranking_set_of(data, by, model, what.thresholds)
    what.check_scores(data if isinstance(data, Rows) else None, model)
    _validation.as_choice(undefined, "undefined", UNDEFINED)
    defined = group_set.all_positives > 0
    if what.needs_negatives:
        defined &= np.asarray(group_set.n_neg > 0)
    n_undefined = int(np.count_nonzero(~defined))
    if n_undefined and undefined == "raise":
        first = int(np.argmin(defined))
        raise UndefinedMetricError(
            f"{what} is undefined in {n_undefined} of {len(group_set)} groups, the first of them "
            f"{group_set.labels[first]!r}: a class is empty there; pass undefined='skip' or 'zero'."
        )
    values = np.where(defined, what.per_group(group_set), np.nan if undefined == "skip" else 0.0)
    return GroupValues(
        metric=str(what),
        labels=group_set.labels,
        values=values,
        n_undefined=n_undefined,
        undefined=undefined,
    )


def concordant_pairs(rankings: RankingSet) -> FloatArray:
    """Number of (positive, negative) pairs in the right order in each group, ties one half."""
    cells, n, m = rankings.cells, rankings.n_pos, rankings.n_neg
    share = share_in_order(cells.positives, cells.tied, rankings.fp, n, m, add=rankings.sums)
    return np.asarray(share * np.asarray(n, dtype=np.float64) * m)

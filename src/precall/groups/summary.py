"""One precision-recall curve for many tasks of different prevalence.

Precision depends on prevalence, the false-positive rate at a given recall does not. So the tasks
are averaged in that coordinate, ``alpha(r) = mean of FPR_g(r)``, and the mean is mapped to one
reference prevalence: ``precision(r) = pi r / (pi r + (1 - pi) alpha(r))``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._numerics import ratio
from ..curves import Curve, pr_curve
from ..curves.curve import drawable
from ..exceptions import InputError, UndefinedMetricError
from ..inference.bands.band import Band
from ..metrics import aucpr
from ..ranking.checks import require_scored
from ..ranking.ranking_set import RankingSet, as_ranking_set
from ..ranking.reflex import takes_one
from .group_values import per_group
from .summary_bands import GRID, pooled_band, precision_on_grid, reference_band, vertical_band

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]

METHODS = ("reference", "vertical", "pooled")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SummaryCurve(Curve):
    """One precision-recall curve for many tasks, with a band over tasks.

    It is a :class:`~precall.Curve`: :meth:`~precall.Curve.at` gives its precision at any recall,
    `recall` and `precision` its points.

    Attributes
    ----------
    kind, tp, fp, n_pos, n_neg, threshold, observed
        As in :class:`~precall.Curve`. The counts are those of all tasks together, at the reference
        prevalence; only with ``method="pooled"`` do points have a threshold.
    reference : float
        The reference prevalence.
    band : Band
        On a grid of recalls: between which limits another set of such tasks would be, at each
        recall by itself (not for the whole curve at once). NaN with a single task.
    method : {"reference", "vertical", "pooled"}
    n : int
        Tasks in the summary.
    n_undefined : int
        Tasks left out, because one class is empty.
    areas : mapping
        The area by each method that these tasks admit, to compare.
    """

    reference: float
    band: Band
    method: str
    n: int
    n_undefined: int
    areas: Mapping[str, float]

    @property
    def prevalence(self) -> float:
        """The reference prevalence."""
        return self.reference

    @property
    def beside(self) -> dict[str, float]:
        """Areas of the other methods."""
        return {name: area for name, area in self.areas.items() if name != self.method}

    def area(self) -> float:
        """Return the exact area under the curve.

        With ``method="vertical"`` it is the mean of the tasks' areas, which the curve, known on a
        grid, has only nearly.
        """
        return self.areas[self.method]

    def __repr__(self) -> str:
        """Return one line."""
        left_out = f", {self.n_undefined} left out" if self.n_undefined else ""
        return (
            f"SummaryCurve({self.method}, area={self.area():.6g}, "
            f"prevalence={self.prevalence:.4g}, n={self.n}{left_out})"
        )

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw the curve and its band with matplotlib and return the Axes."""
        axes = super().plot(ax, **style)
        band = self.band
        axes.fill_between(band.x, band.low, band.high, alpha=0.2, linewidth=0)
        return axes

    def _drawing(self) -> str:
        known = np.isfinite(self.band.width).all()
        return self.band._drawing() if known else super()._drawing()

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers."""
        band = {name: values.tolist() for name, values in self._table().items()}
        return {
            "method": self.method,
            "area": self.area(),
            "prevalence": self.prevalence,
            "confidence_level": self.band.confidence_level,
            "n": self.n,
            "n_undefined": self.n_undefined,
            "beside": self.beside,
            "band": {name: _without_nan(values) for name, values in band.items()},
            "curve": super().to_dict(),
        }

    def _table(self) -> dict[str, Any]:
        return self.band._table()


def _without_nan(values: list[float]) -> list[float | None]:
    return [None if value != value else value for value in values]


@takes_one("pr.rank_groups(y_true, y_score, groups)")
def summary_curve(
    rankings: object,
    *,
    prevalence: float | None = None,
    method: str = "reference",
    confidence_level: float = 0.95,
) -> SummaryCurve:
    """Return one precision-recall curve for tasks of different prevalence.

    Parameters
    ----------
    rankings : RankingSet
        From :func:`precall.rank_groups`; a list or mapping of rankings will do, except for
        ``method="pooled"``.
    prevalence : float, optional
        The reference prevalence; that of all rows together by default.
    method : {"reference", "vertical", "pooled"}
        - ``"reference"``: average the false-positive rate at every recall, then map to the
          reference prevalence.
        - ``"vertical"``: average precision at every recall, each task at its own prevalence. It
          mixes quantities of different range (Boyd et al. 2012, section 4.1); for comparison.
        - ``"pooled"``: all rows as one task, which compares scores between tasks.
    confidence_level : float, default 0.95
        Of the band, at each recall by itself.

    Returns
    -------
    SummaryCurve
        A :class:`~precall.Curve` with a band.

    Notes
    -----
    The average is exact at every recall, not on a grid. Its area behaves as one would hope: tasks
    with the same curve give that curve, the order of the tasks does not matter, and tasks drawn
    from one score distribution at any mixture of prevalences give the curve of that distribution at
    the reference prevalence, up to sampling error. Each task counts the same.

    The band is ``log alpha(r) +- t s / (sqrt(G) alpha(r))`` over the tasks, mapped to precision,
    which decreases in alpha; where no task has a false positive yet, the upper limit of alpha is
    that of no event among all negatives. Its rates are corrected for the bias that tasks with few
    positives have (the k-th of n positives stands at recall ``k / (n + 1)`` on average, not at
    ``k / n``); at recalls beyond the last positive of most tasks it includes what the last
    positives of all tasks say. In simulations with 5 to 20 tasks of 20 or 100 positives, a 95 %
    band covered the mean curve at recalls from .1 to .98 in .94 or more of the data sets, whether
    all tasks had one score distribution or differed much. For
    ``"vertical"`` the band is ``mean +- t s / sqrt(G)`` of precision, for ``"pooled"`` the
    jackknife over tasks.

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> rng = np.random.default_rng(3)
    >>> task = np.repeat(np.arange(8), 1000)
    >>> y = rng.random(8000) < np.repeat(np.geomspace(0.02, 0.5, 8), 1000)
    >>> rankings = pr.rank_groups(y, rng.normal(size=8000) + 2 * y, task)
    >>> summary = pr.summary_curve(rankings, prevalence=0.1)
    >>> summary
    SummaryCurve(reference, area=0.6, prevalence=0.1, n=8)
    >>> round(float(summary.at(0.5)), 3)
    0.702
    >>> sorted(summary.beside)
    ['pooled', 'vertical']
    """
    group_set = as_ranking_set(rankings)
    require_scored(group_set, "summary_curve")
    _validation.as_choice(method, "method", METHODS)
    level = _validation.as_fraction(confidence_level, "confidence_level")
    complete = (group_set.n_pos > 0) & (group_set.n_neg > 0)
    n_undefined = int(np.count_nonzero(~complete))
    if n_undefined == len(group_set):
        raise UndefinedMetricError(
            "summary_curve needs a task with positives and negatives, and every task lacks a class."
        )
    tasks = group_set.select(complete) if n_undefined else group_set
    positives, negatives = float(np.sum(tasks.n_pos)), float(np.sum(tasks.n_neg))
    reference = (
        positives / (positives + negatives)
        if prevalence is None
        else _validation.as_prevalence(prevalence)
    )
    sizes = (reference * (positives + negatives), (1 - reference) * (positives + negatives))
    pooled = group_set.pooled
    if method == "pooled":
        if pooled is None:
            raise InputError(
                "method='pooled' needs all rows ranked together: build the set with "
                "rank_groups(..., pooled=True), or take method='reference'."
            )
        curve = pr_curve(pooled.ranking.at_prevalence(reference))
        band = pooled_band(pooled, curve, reference, level)
    elif method == "vertical":
        curve = _vertical_curve(tasks, sizes)
        band = vertical_band(tasks, level)
    else:
        curve = _mean_curve(tasks, sizes)
        band = reference_band(tasks, curve, reference, level)
    areas = {
        "reference": curve.area() if method == "reference" else _mean_curve(tasks, sizes).area(),
        # The area under a mean is the mean of the areas.
        "vertical": per_group(tasks, aucpr("davis_goadrich")).mean(),
    }
    if pooled is not None:
        areas["pooled"] = pr_curve(pooled.ranking.at_prevalence(reference)).area()
    return SummaryCurve(
        **{field.name: getattr(curve, field.name) for field in fields(Curve)},
        reference=reference,
        band=Band(
            x=GRID,
            low=band.low,
            y=band.precision,
            high=band.high,
            confidence_level=level,
            method=method,
            simultaneous=False,
        ),
        method=method,
        n=len(tasks),
        n_undefined=n_undefined,
        areas=MappingProxyType(areas),
    )


def _mean_curve(tasks: RankingSet, sizes: tuple[float, float]) -> Curve:
    """Average the false-positive rate at every recall where any task has a positive.

    Every task's rate is a sum of jumps (negatives between two positives) and ramps (negatives tied
    with positives), so the mean is one too: sort all of them by recall and add up.
    """
    group, n_tasks = tasks.group_of_row, len(tasks)
    n, m = tasks.n_pos[group], tasks.n_neg[group]
    stop = np.minimum(tasks.tp / n, 1.0)
    stop[tasks.offsets[1:] - 1] = 1.0
    start = (tasks.tp - tasks.cells.positives) / n
    start[tasks.offsets[:-1]] = 0.0
    jump = tasks.cells.above / m / n_tasks
    ramp = tasks.cells.tied / m / n_tasks
    slope = ratio(ramp, stop - start)
    recall = np.unique(np.concatenate([[0.0, 1.0], start, stop]))
    jumps = _sum_at(recall, start, jump)
    slopes = np.cumsum(_sum_at(recall, start, slope) - _sum_at(recall, stop, slope))
    rise = np.maximum(slopes[:-1], 0.0) * np.diff(recall)
    if not ramp.any():
        rise = np.zeros_like(rise)
    # Before and after the jump at each recall.
    after = np.cumsum(jumps) + np.concatenate([[0.0], np.cumsum(rise)])
    before = np.maximum(after - jumps, 0.0)
    alpha = np.minimum(np.maximum.accumulate(np.stack([before, after], axis=1).ravel()), 1.0)
    return _path(np.repeat(recall, 2), alpha, sizes)


def _sum_at(places: FloatArray, at: FloatArray, values: FloatArray) -> FloatArray:
    """Sum values by place, smallest first: the sum does not depend on the order of the tasks."""
    order = np.lexsort((values, at))
    index = np.searchsorted(places, at[order])
    return np.bincount(index, weights=values[order], minlength=places.size).astype(np.float64)


def _path(recall: FloatArray, alpha: FloatArray, sizes: tuple[float, float]) -> Curve:
    """The curve of counts through (recall, false-positive rate)."""
    n_pos, n_neg = sizes
    recall, alpha = np.append(recall, 1.0), np.append(alpha, 1.0)
    moved = np.append(True, (np.diff(recall) > 0) | (np.diff(alpha) > 0))
    # With leading negatives the curve rises from precision 0; the empty selection is not needed.
    start = int(np.flatnonzero(recall == 0)[-1])
    moved[:start] = False
    moved[start] = True
    tp, fp = recall[moved] * n_pos, alpha[moved] * n_neg
    return drawable(
        Curve(
            kind="pr",
            tp=tp,
            fp=fp,
            n_pos=n_pos,
            n_neg=n_neg,
            threshold=np.full(tp.size, np.nan),
            observed=np.zeros(tp.size, dtype=np.bool_),
        )
    )


def _vertical_curve(tasks: RankingSet, sizes: tuple[float, float]) -> Curve:
    """The mean precision on the grid, as counts that give it."""
    precision = precision_on_grid(tasks).mean(axis=0)
    tp = GRID * sizes[0]
    return Curve(
        kind="pr",
        tp=tp,
        fp=tp * (1 - precision) / precision,
        n_pos=sizes[0],
        n_neg=sizes[1],
        threshold=np.full(tp.size, np.nan),
        observed=np.zeros(tp.size, dtype=np.bool_),
    )

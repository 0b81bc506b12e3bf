"""Intervals from the folds of a cross-validation.

The interval that papers print, mean -+ t s / sqrt(k) over folds, is often far from its level: every
fold is small, so every fold's area is biased upwards, and the mean of the folds is as biased as one
of them. All rows together have no such bias, but the folds' models need not score on one scale.

**Standardised.** (1) The scores of all folds are brought to one scale, see
:mod:`~precall.inference.fold_scales`. (2) All rows are ranked together, and
:func:`precall.interval` is asked. (3) The rows that a model is tested on decided, by their absence,
what it learned: the estimate varies more than on new rows. The limits are made at the level at
which z is ``sqrt(k / (k - 1))`` times as large, the square root of all rows over those that a model
was trained on. (4) Folds that were on several scales are brought to one with errors, which make all
rows rank worse, while the mean over folds is too high. The truth is between: the limit on that side
goes further by half of the way from one to the other.

The last two steps are choices made by simulation, not theorems; see the page on folds and tasks for
the coverage of all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from ..exceptions import InputError
from ..metrics import Metric, as_metric
from ..ranking import Ranking
from ..ranking.checks import as_rankings
from ..rows import Rows
from .fold_scales import on_one_scale
from .folds import Folds
from .intervals import interval
from .limits import normal_quantile
from .result import Evidence, MetricInterval, from_evidence

IntArray = npt.NDArray[np.int64]

#: Ways to put folds together, the default first.
FOLD_METHODS = ("standardised", "pooled", "crossval")
# Above it a level is 1 to the last digit.
_HIGHEST = 1.0 - 1e-15


def crossval_interval(
    folds: Iterable[Ranking] | Rows,
    metric: Metric | type[Metric] | str = "aucpr",
    *,
    by: str | Sequence[str] | None = None,
    model: str | Sequence[str] | None = None,
    method: str | None = None,
    confidence_level: float = 0.95,
) -> MetricInterval:
    """Return an interval from the folds of a cross-validation.

    Parameters
    ----------
    folds : Rows, or iterable of Ranking
        All rows, each with the score of the model that was trained without it, and in a column the
        fold that it was in. Or the rankings of the folds, at least two, which is enough for
        ``crossval`` only.
    metric, confidence_level
        As in :func:`precall.interval`.
    by : str or list of str
        The column of folds; one per repetition of a repeated cross-validation.
    model : str or list of str, optional
        Which scores; one per repetition.
    method : {"standardised", "pooled", "crossval"}, optional
        - ``standardised``: the folds' scores brought to one scale, then all rows together; the
          default with Rows. The scores stay as they are, unless average precision of all rows is
          higher where scores are taken by the negatives of their fold, or by the recall that they
          reach in it: where folds do not fit together, the ranking is worse. It has to be higher by
          a standard error, if scores are distributed alike in all folds. If folds were on several
          scales, the limit towards the mean over folds is further, by half of the way to it.
        - ``pooled``: all rows together with their scores as they are; the default for a metric of
          a threshold, where the scores mean what they are.
        - ``crossval``: ``mean -+ t s / sqrt(k)`` with the t quantile of k - 1 degrees of freedom,
          what many papers print; the default with rankings. It is often far from its level.

    Notes
    -----
    What it is about: the metric that models trained on so many rows have on new rows, in the mean
    over the folds' models. A model trained on all rows is a little better. Repetitions are
    averaged, estimates and limits alike; they take out the noise of how rows were dealt to folds,
    which is small beside that of the rows.

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> rng = np.random.default_rng(0)
    >>> y, fold = rng.random(500) < 0.2, np.arange(500) % 5
    >>> score = rng.normal(size=500) + 1.5 * y + fold  # every fold on a scale of its own
    >>> rows = pr.Rows(y, score, columns={"fold": fold})
    >>> found = pr.crossval_interval(rows, by="fold")
    >>> print(f"{found.estimate:.2f}, {found.low:.2f} to {found.high:.2f}, {found.method}")
    0.65, 0.53 to 0.76, standardised
    """
    what = as_metric(metric)
    if isinstance(folds, Rows):
        return _of_rows(folds, what, by, model, method, confidence_level)
    for name, value in {"by": by, "model": model}.items():
        if value is not None:
            raise InputError(
                f"{name}= belongs to Rows: pass pr.Rows(..., columns={{'fold': ...}})."
            )
    chosen = _validation.as_choice("crossval" if method is None else method, "method", FOLD_METHODS)
    if chosen != "crossval":
        raise InputError(
            f"method={chosen!r} needs the rows of all folds: pass pr.Rows(y_true, scores, "
            "columns={'fold': fold}) and by='fold'."
        )
    members = as_rankings(folds, "folds", minimum=2, missed=True)
    return _over_folds(members, what, confidence_level)


def _over_folds(members: list[Ranking], metric: Metric, level: object) -> MetricInterval:
    for fold in members:
        metric.require_all_scored(fold)
    bound = [metric.on_both_classes(fold) for fold in members]
    values = np.array([each.estimate(fold) for each, fold in zip(bound, members, strict=True)])
    evidence = Folds(values=values, bounds=bound[0].bounds)
    estimate = float(values.mean())
    return from_evidence(metric, "crossval", estimate, evidence.error, evidence, level)


@dataclass(frozen=True, kw_only=True)
class _Repeated:
    """Evidence of repetitions: the mean of their limits, with z `stretch` times as large.

    One of them lies further out, if the folds were on several scales: `towards_folds`, the way from
    the estimate half-way to the mean over folds.
    """

    parts: tuple[Evidence, ...]
    stretch: float
    towards_folds: float
    bounds: tuple[float, float]

    def limits(self, confidence_level: float) -> tuple[Any, Any]:
        from scipy.special import ndtr

        level = confidence_level
        if self.stretch > 1.0:
            level = 2.0 * float(ndtr(self.stretch * normal_quantile(confidence_level))) - 1.0
        low, high = np.mean([part.limits(min(level, _HIGHEST)) for part in self.parts], axis=0)
        low, high = low + min(self.towards_folds, 0.0), high + max(self.towards_folds, 0.0)
        return np.clip(low, *self.bounds), np.clip(high, *self.bounds)


def _of_rows(
    rows: Rows, metric: Metric, by: object, model: object, method: object, level: object
) -> MetricInterval:
    default = "standardised" if metric.of_ranks else "pooled"
    chosen = _validation.as_choice(default if method is None else method, "method", FOLD_METHODS)
    if chosen == "standardised" and not metric.of_ranks:
        raise InputError(
            f"{metric} depends on the scores themselves, and method='standardised' changes them: "
            "use method='pooled'."
        )
    found, counts, ways = [], [], []
    for column, name in _repetitions(rows, by, model):
        fold = _fold_codes(rows, column)
        counts.append(int(fold.max()) + 1)
        if chosen == "crossval":
            parts = [rows.select(fold == k) for k in range(counts[-1])]
            rankings = [part.ranking(name, metric.thresholds) for part in parts]
            found.append(_over_folds(rankings, metric, level))
        else:
            scores = rows.scores[name]
            several = False
            if chosen == "standardised":
                scores, several = on_one_scale(rows, name, fold)
            together = Rows(rows.positive, scores, sample_weight=rows.weight, clusters=rows.cluster)
            found.append(interval(together, metric))
            ways.append(_half_way(rows, name, fold, metric, found[-1].estimate) if several else 0.0)
    # The t quantile over folds knows of them already.
    stretch = 1.0 if chosen == "crossval" else math.sqrt(min(counts) / (min(counts) - 1.0))
    return from_evidence(
        metric,
        chosen,
        float(np.mean([each.estimate for each in found])),
        stretch * float(np.mean([each.standard_error for each in found])),
        _Repeated(
            parts=tuple(each.evidence for each in found),
            stretch=stretch,
            towards_folds=float(np.mean(ways)) if ways else 0.0,
            bounds=metric.bounds,
        ),
        level,
    )


def _half_way(rows: Rows, name: str, fold: IntArray, metric: Metric, estimate: float) -> float:
    """Half of what the mean over folds is above the estimate; 0 where a fold lacks a class."""
    parts = [rows.select(fold == k) for k in range(int(fold.max()) + 1)]
    if not all(part.positive.any() and not part.positive.all() for part in parts):
        return 0.0
    rankings = [part.ranking(name) for part in parts]
    values = [metric.on_both_classes(ranking).estimate(ranking) for ranking in rankings]
    return 0.5 * (float(np.mean(values)) - estimate)


def _repetitions(rows: Rows, by: object, model: object) -> list[tuple[str, str]]:
    """Columns of folds with the scores that go with them."""
    columns = [by] if isinstance(by, str) else by
    if not isinstance(columns, Sequence) or not columns:
        raise InputError(
            f"by must name the column of folds, or one for each repetition, got {by!r}."
        )
    names = [model] * len(columns) if model is None or isinstance(model, str) else model
    if not isinstance(names, Sequence) or len(names) != len(columns):
        raise InputError(
            f"by and model must go together, one column of folds for each column of scores, got "
            f"{by!r} and {model!r}."
        )
    return [
        (str(column), rows.model_named(name)) for column, name in zip(columns, names, strict=True)
    ]


def _fold_codes(rows: Rows, column: str) -> IntArray:
    values = rows.column(column)
    _validation.reject_missing(values, f"column {column!r}")
    codes = np.unique(_validation.as_names(values, f"column {column!r}"), return_inverse=True)[1]
    if codes.max() == 0:
        raise InputError(f"column {column!r} must name at least two folds, got one.")
    return np.asarray(codes, dtype=np.int64)

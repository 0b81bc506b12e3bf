"""The threshold that is best on this data, by one of several criteria."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._notebook import Rich
from .._rounding import at_least, first_highest
from .._words import plural
from ..exceptions import InputError, UndefinedMetricError
from ..metrics.confusion import AtThreshold
from ..metrics.four_counts import MEASURES, FourCounts, recall_share
from ..metrics.utility import as_cost_ratio
from ..ranking import Ranking
from ..ranking.checks import as_ranking
from .matrix import Confusion, at_row, f_beta, float_counts, plain_number

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, repr=False)
class BestThreshold(Rich):
    """The threshold that is best on this data, and how good it is there.

    Attributes
    ----------
    threshold : number
        ``score >= threshold`` is selected.
    value : float
        The metric there. Chosen on the same data, so optimistic.
    metric : str
        Its name, with its parameter if it has one.
    confusion : Confusion
        The counts there.
    """

    threshold: Any
    value: float
    metric: str
    confusion: Confusion

    def __repr__(self) -> str:
        """Return one line."""
        return (
            f"BestThreshold({self.metric}={self.value:.6g} at threshold={self.threshold:.6g}, "
            f"precision={self.confusion.precision:.4g}, recall={self.confusion.recall:.4g})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers that survive JSON."""
        return {
            "threshold": plain_number(self.threshold),
            "value": self.value,
            "metric": self.metric,
            "confusion": self.confusion.to_dict(),
        }


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """A criterion: what it is, the parameter it needs, and how to choose a row by it."""

    summary: str
    parameter: str | None
    choose: Callable[[Ranking, Any], tuple[int, float]]
    needs_negatives: bool = False


def _highest(values: FloatArray) -> tuple[int, float]:
    row = first_highest(values)
    return row, float(values[row])


def _by_measure(name: str) -> Callable[[Ranking, Any], tuple[int, float]]:
    def choose(ranking: Ranking, _: Any) -> tuple[int, float]:
        tp, fp, n = float_counts(ranking)
        counts = FourCounts(tp, fp, np.maximum(n - tp, 0.0), np.maximum(ranking.n_neg - fp, 0.0))
        return _highest(MEASURES[name].of(counts))

    return choose


def _choose_cost(ranking: Ranking, cost_ratio: float) -> tuple[int, float]:
    tp, fp, n = float_counts(ranking)
    # Row -1 selects nothing, which may be cheapest.
    costs = np.concatenate([[cost_ratio * n], cost_ratio * (n - tp) + fp])
    row = first_highest(-costs)
    return row - 1, float(costs[row] / (n + float(ranking.n_neg)))


def _choose_precision(ranking: Ranking, min_recall: float) -> tuple[int, float]:
    tp, fp, n = float_counts(ranking)
    # Without missed positives the last row's recall is 1, whatever the rounding of weights.
    reached = at_least(tp / n, min_recall)
    allowed = np.append(reached[:-1], reached[-1] or not ranking.missed)
    if not allowed[-1]:
        raise UndefinedMetricError(
            f"no threshold has a recall of at least min_recall={min_recall:g}: "
            f"{plural(ranking.missed, 'positive')} of {n:.12g} were never scored; ask for less."
        )
    precision = np.where(allowed, tp / (tp + fp), -1.0)
    # Of equal precision, more recall.
    row = int(np.flatnonzero(at_least(precision, precision.max()))[-1])
    return row, float(precision[row])


def _choose_recall(ranking: Ranking, min_precision: float) -> tuple[int, float]:
    tp, fp, n = float_counts(ranking)
    precision = tp / (tp + fp)
    rows = np.flatnonzero(at_least(precision, min_precision))
    if not rows.size:
        row, highest = _highest(precision)
        raise UndefinedMetricError(
            f"no threshold has a precision of at least min_precision={min_precision:g}: the "
            f"highest is {highest:.6g} at {ranking.threshold[row].item()!r}; ask for less."
        )
    return int(rows[-1]), float(tp[rows[-1]] / n)


CRITERIA: dict[str, Criterion] = {
    "f1": Criterion(
        summary="harmonic mean of precision and recall",
        parameter=None,
        choose=_by_measure("f1"),
    ),
    "f_beta": Criterion(
        summary="the same with recall counting beta times as much",
        parameter="beta",
        choose=lambda ranking, beta: _highest(f_beta(ranking, beta=beta)),
    ),
    "modified_f1": Criterion(
        summary="harmonic mean of recall and precision above chance",
        parameter=None,
        choose=lambda ranking, _: _highest(f_beta(ranking, modified=True)),
        needs_negatives=True,
    ),
    "modified_f_beta": Criterion(
        summary="the same with recall counting beta times as much",
        parameter="beta",
        choose=lambda ranking, beta: _highest(f_beta(ranking, beta=beta, modified=True)),
        needs_negatives=True,
    ),
    "matthews_correlation": Criterion(
        summary="correlation between being positive and being selected",
        parameter=None,
        choose=_by_measure("matthews_correlation"),
        needs_negatives=True,
    ),
    "balanced_accuracy": Criterion(
        summary="mean of recall and specificity (Youden's index)",
        parameter=None,
        choose=_by_measure("balanced_accuracy"),
        needs_negatives=True,
    ),
    "cost": Criterion(
        summary="lowest cost per row, in false positives, if a missed positive costs cost_ratio",
        parameter="cost_ratio",
        choose=_choose_cost,
    ),
    "precision": Criterion(
        summary="highest precision with recall of at least min_recall",
        parameter="min_recall",
        choose=_choose_precision,
    ),
    "recall": Criterion(
        summary="highest recall with precision of at least min_precision",
        parameter="min_precision",
        choose=_choose_recall,
    ),
}


def best_threshold(
    ranking: Ranking,
    metric: str | type[AtThreshold] = "f1",
    *,
    beta: float | None = None,
    cost_ratio: float | None = None,
    min_recall: float | None = None,
    min_precision: float | None = None,
) -> BestThreshold:
    """Find the threshold that is best on this data.

    Only scores of positives are candidates: any other threshold has the same true positives as
    the next score of a positive above it, and at least as many false positives.

    Parameters
    ----------
    ranking : Ranking
        From :func:`precall.rank`.
    metric : str, default "f1"
        A name, also with ``_at_threshold`` behind it, or the metric of that name:

        - ``f1``, ``f_beta`` (needs `beta`), ``modified_f1``, ``modified_f_beta`` (needs `beta`):
          see :func:`f_beta`;
        - ``matthews_correlation`` (or ``mcc``), ``balanced_accuracy``;
        - ``cost`` (needs `cost_ratio`): the lowest cost per row, counted in false positives,
          when a missed positive costs `cost_ratio` of them; selecting nothing is a candidate;
        - ``precision`` (needs `min_recall`), ``recall`` (needs `min_precision`): the best of one
          where the other is at least so much.
    beta, cost_ratio, min_recall, min_precision : float, optional
        The parameter of the metric that needs it.

    Returns
    -------
    BestThreshold
        Of several equally good thresholds the highest (for ``precision`` the one with most recall).

    Raises
    ------
    UndefinedMetricError
        With no positives; with no negatives, if the metric compares with chance; and if no
        threshold has the precision asked for, or too many positives were missed for the recall.

    See Also
    --------
    operating_point : a threshold whose precision or recall is guaranteed, not just observed.

    Examples
    --------
    >>> import precall as pr
    >>> ranking = pr.rank([1, 1, 0, 1, 0, 0], [6, 5, 4, 3, 2, 1])
    >>> pr.best_threshold(ranking)
    BestThreshold(f1=0.857143 at threshold=3, precision=0.75, recall=1)
    >>> pr.best_threshold(ranking, "recall", min_precision=0.9).threshold
    5
    """
    ranking = as_ranking(ranking, missed=True)
    if isinstance(metric, type) and issubclass(metric, AtThreshold):
        metric = metric.name
    if isinstance(metric, str):
        metric = metric.removesuffix("_at_threshold")
    name = _validation.as_choice(metric, "metric", (*CRITERIA, "mcc"))
    name = "matthews_correlation" if name == "mcc" else name
    criterion = CRITERIA[name]
    given = {
        "beta": beta,
        "cost_ratio": cost_ratio,
        "min_recall": min_recall,
        "min_precision": min_precision,
    }
    value = _parameter(name, criterion.parameter, given)
    missing = "positives" if not ranking.n_pos else "negatives"
    if not ranking.n_pos or (criterion.needs_negatives and not ranking.n_neg):
        raise UndefinedMetricError(
            f"metric={name!r} has no best threshold with no {missing}: "
            "check the labels and pos_label."
        )
    row, best = criterion.choose(ranking, value)
    at = at_row(ranking, row)
    shown = name if criterion.parameter is None else f"{name}({criterion.parameter}={value:g})"
    return BestThreshold(threshold=at.threshold, value=best, metric=shown, confusion=at)


def _parameter(metric: str, needed: str | None, given: dict[str, float | None]) -> Any:
    """Return the value of the metric's own parameter; refuse one it would not use."""
    for name, value in given.items():
        if value is not None and name != needed:
            raise InputError(f"{name} is not used by metric={metric!r}: leave it out.")
    if needed is None:
        return None
    value = given[needed]
    if value is None:
        raise InputError(f"metric={metric!r} needs {needed}=: give it a number.")
    if needed == "beta":
        recall_share(value)
        return float(value)
    if needed == "cost_ratio":
        return as_cost_ratio(value)
    return _validation.as_fraction(value, needed, open_ends=False)

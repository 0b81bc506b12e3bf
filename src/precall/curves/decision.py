"""Curves over what an error costs: expected cost, net benefit, and the Brier curve.

A precision-recall curve asks what a threshold finds. These ask what a decision is worth, over all
costs at once: at which share of the cost is the scorer better than treating everybody alike?
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._notebook import Rich, drawing
from .._numerics import ratio
from ..exceptions import InputError, UndefinedMetricError
from ..metrics._kernels import roc_hull
from ..metrics.utility import require_probabilities
from ..ranking import Ranking, as_ranked
from ..ranking.reflex import takes_one

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]

_HUNDREDTHS = np.arange(1, 100) / 100.0


class _Axes(NamedTuple):
    x_label: str
    y_label: str


_KINDS = {
    "cost": _Axes("share of the cost that misses have", "expected cost (share of the worst)"),
    "net_benefit": _Axes("threshold probability", "net benefit per row"),
    "brier": _Axes("threshold probability", "cost (area: Brier score)"),
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DecisionCurve(Rich):
    """What decisions are worth, over all costs of the two errors.

    Attributes
    ----------
    kind : {"cost", "net_benefit", "brier"}
    x : array
        The share of the cost, or the threshold probability, ascending; twice where `y` jumps.
    y : array
        Expected cost or net benefit there. Between two points of a cost or a Brier curve the line
        is straight.
    threshold : array
        The threshold that is used there.
    references : mapping of str to array
        What selecting everything and selecting nothing have, at the same `x`.
    prevalence : float
        That the curve is drawn for.

    Examples
    --------
    >>> import precall as pr
    >>> curve = pr.cost_curve(pr.rank([1, 0, 1, 0], [4, 3, 2, 1]))
    >>> curve
    DecisionCurve(cost, 5 points, prevalence=0.5)
    >>> float(curve.at(0.5)), curve.area()
    (0.25, 0.125)
    """

    kind: str
    x: FloatArray
    y: FloatArray
    threshold: FloatArray
    references: Mapping[str, FloatArray]
    prevalence: float

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        frozen = {name: _frozen(values) for name, values in self.references.items()}
        object.__setattr__(self, "references", frozen)
        for name in ("x", "y", "threshold"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))

    @property
    def labels(self) -> tuple[str, str]:
        """Names of the two coordinates."""
        return _KINDS[self.kind].x_label, _KINDS[self.kind].y_label

    def __len__(self) -> int:
        """Return the number of points."""
        return int(self.x.size)

    def __repr__(self) -> str:
        """Return one line."""
        return f"DecisionCurve({self.kind}, {len(self)} points, prevalence={self.prevalence:.4g})"

    def at(self, x: Any) -> FloatArray:
        """Return the height at `x`; a net-benefit curve answers at the points it was made for."""
        values = np.asarray(x, dtype=np.float64)
        if not np.all((values >= 0) & (values <= 1)):
            raise InputError(f"{self.labels[0]} must be between 0 and 1, got {x!r}.")
        after = np.minimum(np.searchsorted(self.x, values), len(self) - 1)
        if self.kind == "net_benefit":
            if not np.all(self.x[after] == values):
                raise InputError(
                    "this net-benefit curve was made for other probabilities: pass those that you "
                    "want to net_benefit_curve(..., probabilities=[...])."
                )
            return np.asarray(self.y[after])
        # From the last of several points at one x to the first at the next.
        before = np.maximum(after - 1, 0)
        share = ratio(values - self.x[before], self.x[after] - self.x[before])
        share = np.where(self.x[after] == values, 1.0, share)
        return np.asarray(self.y[before] + share * (self.y[after] - self.y[before]))

    def area(self) -> float:
        """Return the exact area under a cost or a Brier curve; that of the latter is the score."""
        if self.kind == "net_benefit":
            raise InputError("a net-benefit curve has no useful area: read it where you act.")
        return float(np.trapezoid(self.y, self.x))

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw the curve and its references with matplotlib and return the Axes."""
        from ..display.mpl import plot_decision_curve

        return plot_decision_curve(self, ax=ax, **style)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers."""
        return {
            "kind": self.kind,
            "x": self.x.tolist(),
            "y": self.y.tolist(),
            "threshold": [v if np.isfinite(v) else str(v) for v in self.threshold.tolist()],
            "references": {name: values.tolist() for name, values in self.references.items()},
            "prevalence": self.prevalence,
        }

    def _table(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("x", "y", "threshold")}
        return {**own, **self.references}

    def _drawing(self) -> str:
        return drawing(self.x, self.y, labels=self.labels)


@takes_one("pr.rank(y_true, y_score)")
def cost_curve(data: Any, *, model: str | None = None) -> DecisionCurve:
    """Return the lowest expected cost over all shares of the cost (Drummond & Holte 2006).

    ``x`` is the share of the cost that misses have: ``p C_miss / (p C_miss + (1 - p) C_false)``.
    ``y`` is ``FNR x + FPR (1 - x)``, the expected cost as a share of the worst, at the best
    threshold for that ``x``: the lower envelope of one line per threshold, whose corners are those
    of the ROC convex hull. It needs no probabilities, and holds at any prevalence, which is part
    of ``x``. Missed positives are misses at every threshold, also where everything is selected.

    Parameters
    ----------
    data : Ranking or Rows
    model : str, optional
        Which model, where the rows have several.

    Examples
    --------
    >>> import precall as pr
    >>> ranking = pr.rank([1, 1, 0, 0], [4, 3, 2, 1])
    >>> pr.cost_curve(ranking).area()
    0.0
    """
    ranking = as_ranked(data, model, missed=True).ranking.of_positives
    ranking = _both_classes(ranking, "cost_curve")
    tp = np.concatenate([[0.0], ranking.tp, [float(ranking.n_pos)]])
    fp = np.concatenate([[0.0], ranking.fp, [float(ranking.n_neg)]])
    threshold = np.concatenate([[np.inf], ranking.threshold.astype(np.float64), [-np.inf]])
    corners = roc_hull(tp, fp)
    n_pos, n_neg = float(ranking.all_positives), float(ranking.n_neg)
    recall, rate = tp[corners] / n_pos, fp[corners] / n_neg
    # From one corner to the next it pays to move where both cost the same.
    rise, run = np.diff(recall), np.diff(rate)
    x = np.concatenate([[0.0], run / (rise + run), [1.0]])
    corner = np.append(np.arange(corners.size), corners.size - 1)
    return DecisionCurve(
        kind="cost",
        x=x,
        y=(1.0 - recall[corner]) * x + rate[corner] * (1.0 - x),
        threshold=threshold[corners][corner],
        references={
            "select everything": (1.0 - recall[-1]) * x + 1.0 - x,
            "select nothing": x,
        },
        prevalence=ranking.overall_prevalence,
    )


@takes_one("pr.Rows(y_true, y_score)")
def net_benefit_curve(
    data: Any,
    *,
    model: str | None = None,
    probabilities: Any = None,
    prevalence: float | None = None,
) -> DecisionCurve:
    """Return the net benefit of acting on ``score >= q`` over threshold probabilities ``q``.

    ``TP/N - FP/N q / (1 - q)`` (Vickers & Elkin 2006): positives found, less the false alarms in
    units of a positive, per row. The scores have to be calibrated probabilities.

    Parameters
    ----------
    data : Rows or Ranking
        A ranking has to keep the probabilities: ``pr.rank(..., thresholds=probabilities)``. Its
        missed positives are rows that are never selected.
    model : str, optional
        Which model, where the rows have several.
    probabilities : array-like, optional
        Ascending, between 0 and 1; by default .01, .02, ..., .99.
    prevalence : float, optional
        Another prevalence: ``p TPR - (1 - p) FPR q / (1 - q)``.

    Examples
    --------
    >>> import precall as pr
    >>> rows = pr.Rows([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])
    >>> curve = pr.net_benefit_curve(rows, probabilities=[0.2, 0.5])
    >>> curve.y, curve.references["select everything"]
    (array([0.4375, 0.    ]), array([0.375, 0.   ]))
    """
    grid = _as_probabilities(probabilities)
    ranking = _both_classes(
        as_ranked(data, model, tuple(grid.tolist()), missed=True).ranking, "net_benefit_curve"
    )
    _require_probabilities(data, model, ranking, "net_benefit_curve")
    n_pos, n_neg = float(ranking.all_positives), float(ranking.n_neg)
    own = ranking.overall_prevalence
    share = own if prevalence is None else _validation.as_fraction(prevalence, "prevalence")
    rows = np.array([ranking.rows_reaching(q) for q in grid.tolist()], dtype=np.int64)
    recall = np.append(0.0, ranking.tp)[rows] / n_pos
    rate = np.append(0.0, ranking.fp)[rows] / n_neg
    odds = grid / (1.0 - grid)
    return DecisionCurve(
        kind="net_benefit",
        x=grid,
        y=share * recall - (1.0 - share) * rate * odds,
        threshold=grid,
        references={
            "select everything": share * (ranking.n_pos / n_pos) - (1.0 - share) * odds,
            "select nothing": np.zeros(grid.size),
        },
        prevalence=share,
    )


@takes_one("pr.Rows(y_true, y_score)")
def brier_curve(rows: Any, *, model: str | None = None) -> DecisionCurve:
    """Return the cost of acting on ``score >= c`` over cost shares ``c`` (Ferri et al. 2011).

    ``2 [(1 - c) p FNR(c) + c (1 - p) FPR(c)]``: what it costs to take the scores for
    probabilities and act where they say. The area under it is the Brier score.

    Parameters
    ----------
    rows : Rows
        With scores between 0 and 1. A ranking does not keep the scores of negatives.
    model : str, optional
        Which model, where the rows have several.

    Examples
    --------
    >>> import precall as pr
    >>> pr.brier_curve(pr.Rows([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])).area()
    0.185
    """
    found = as_ranked(rows, model)
    if found.rows is None:
        raise InputError(
            "brier_curve needs every score, and a ranking does not keep those of negatives: pass "
            "pr.Rows(y_true, y_score)."
        )
    ranking = _both_classes(found.ranking, "brier_curve")
    _require_probabilities(rows, model, ranking, "brier_curve")
    score, column = np.unique(
        found.rows.scores[found.rows.model_named(model)].astype(np.float64), return_inverse=True
    )
    weight = np.ones(column.size) if found.rows.weight is None else found.rows.weight
    positive = found.rows.positive
    ours, theirs = (
        np.bincount(column[mask], weights=weight[mask], minlength=score.size)
        for mask in (positive, ~positive)
    )
    total = float(np.sum(weight))
    # Just at a score its rows are selected, just above it they are not.
    missed = np.concatenate([[0.0], np.cumsum(ours)]) / total
    wrong = np.concatenate([np.cumsum(theirs[::-1])[::-1], [0.0]]) / total
    x = np.concatenate([[0.0], np.repeat(score, 2), [1.0]])
    part = np.repeat(np.arange(score.size + 1), 2)
    prevalence = float(np.sum(ours)) / total
    return DecisionCurve(
        kind="brier",
        x=x,
        y=2.0 * ((1.0 - x) * missed[part] + x * wrong[part]),
        threshold=x,
        references={
            "select everything": 2.0 * x * (1.0 - prevalence),
            "select nothing": 2.0 * (1.0 - x) * prevalence,
        },
        prevalence=prevalence,
    )


def _both_classes(ranking: Ranking, what: str) -> Ranking:
    if not (ranking.n_pos and ranking.n_neg):
        missing = "negatives" if ranking.n_pos else "positives"
        raise UndefinedMetricError(
            f"{what} needs both classes, got no {missing}: check the labels and pos_label."
        )
    return ranking


def _as_probabilities(given: object) -> FloatArray:
    if given is None:
        return _HUNDREDTHS
    grid = np.atleast_1d(_validation.as_numbers(given, "probabilities")).astype(np.float64)
    if not (grid.ndim == 1 and grid.size and np.all((grid > 0) & (grid < 1))):
        raise InputError("probabilities must be strictly between 0 and 1, and at least one.")
    if np.any(np.diff(grid) <= 0):
        raise InputError("probabilities must be ascending, each once: sort them.")
    return grid


def _require_probabilities(data: Any, model: str | None, ranking: Ranking, what: str) -> None:
    """Refuse scores outside [0, 1], as far as they are known."""
    rows = as_ranked(data, model, missed=True).rows
    known = ranking.threshold if rows is None else rows.scores[rows.model_named(model)]
    require_probabilities(known, what, "take cost_curve, which needs no probabilities")


def _frozen(values: Any) -> FloatArray:
    array: FloatArray = np.asarray(values, dtype=np.float64).view()
    array.flags.writeable = False
    return array

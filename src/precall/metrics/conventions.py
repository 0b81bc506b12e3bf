"""Conventions: what well-known tools print for the same data, each under its own rule.

"The area under the precision-recall curve" has as many values as there are answers to four
questions: what happens between two points, where the curve begins, what a tie is, and where
negatives rank first. Each rule below was read in the tool's own source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._notebook import Rich
from .._numerics import ratio, reciprocal_sum
from ..exceptions import InputError
from ..ranking import Ranking
from ._kernels import Steps, make_steps
from .base import warn_undefined
from .precision_recall import PrecisionRecallArea

FloatArray = npt.NDArray[np.float64]

# precrec puts a point at every multiple of this recall (its x_bins = 1000).
_PRECREC_STEPS = 1000


@dataclass(frozen=True, kw_only=True, repr=False)
class Convention(Rich):
    """One tool, its rule, and the number it prints.

    Attributes
    ----------
    name : str
        Short name, the key in :class:`Conventions`.
    tool, call : str
        The program and what is called in it.
    value : float or None
        None where the tool takes no weights, or where a class is empty.
    rule : str
        Why it prints this number.
    estimator : str or None
        The name in :data:`precall.ESTIMATORS` that has the same rule, if there is one.
    """

    name: str
    tool: str
    call: str
    value: float | None
    rule: str
    estimator: str | None

    def __repr__(self) -> str:
        """Return one line."""
        value = "none" if self.value is None else f"{self.value:.6g}"
        return f"Convention({self.name}: {value})"

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, kw_only=True, repr=False)
class Conventions(Rich):
    """The table of what tools print; iterate over its rows or look one up by name."""

    rows: tuple[Convention, ...]

    def __iter__(self) -> Iterator[Convention]:
        """Go through the rows."""
        return iter(self.rows)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __getitem__(self, name: str) -> Convention:
        """Look a row up by its name."""
        for row in self.rows:
            if row.name == name:
                return row
        known = ", ".join(row.name for row in self.rows)
        raise InputError(f"no convention is called {name!r}: there are {known}.")

    def __repr__(self) -> str:
        """Return one line with the range of the values."""
        values = [row.value for row in self.rows if row.value is not None]
        if not values:
            return f"Conventions({len(self)} rules, no values)"
        return f"Conventions({len(self)} rules, from {min(values):.6g} to {max(values):.6g})"

    def __str__(self) -> str:
        """Return a table with one line per tool."""
        lines = []
        for row in self.rows:
            value = "none" if row.value is None else f"{row.value:.6f}"
            lines.append(f"{value:>8}  {row.tool}: {row.call}\n{'':10}{row.rule}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the rows as plain dictionaries under their names."""
        return {row.name: row.to_dict() for row in self.rows}


def conventions(ranking: Ranking) -> Conventions:
    """Return what well-known tools print as the area under the curve of this data.

    Parameters
    ----------
    ranking : Ranking
        From :func:`precall.rank`, not coarsened.

    Returns
    -------
    Conventions
        One row per rule with its number, the rule in a line, and the estimator here with the
        same rule. Values are None, with an
        :class:`~precall.exceptions.UndefinedMetricWarning`, when a class is empty: the tools
        then print 0, 0.5, NaN or an error.

    Notes
    -----
    The numbers are those of the rules in exact arithmetic. Rules that also depend on the
    negatives' own scores are given for the setting that does not bin them (Spark bins from 2,000
    distinct scores on unless ``numBins=0``).

    References
    ----------
    scikit-learn ``metrics/_ranking.py``; Spark ``BinaryClassificationMetrics``; PRROC
    ``compute.pr``; precrec ``create_prc_curve``; AUCCalculator ``Confusion``; yardstick
    ``pr_curve``; raucpr ``precision_recall.r``.

    Examples
    --------
    >>> import precall as pr
    >>> table = pr.conventions(pr.rank([1, 0, 0, 1], [3, 3, 2, 1]))
    >>> table
    Conventions(12 rules, from 0.458333 to 0.625)
    >>> table["sklearn_average_precision"].value, table["spark_area_under_pr"].value
    (0.5, 0.458333...)
    """
    ranking = _validation.as_ranking(ranking)
    if ranking.coarsened:
        raise InputError(
            "other tools see every score, and this ranking was coarsened: rank all the rows."
        )
    defined = bool(ranking.n_pos and ranking.n_neg)
    if not defined:
        warn_undefined(ranking, "AUCPR")
    steps = make_steps(ranking.cells) if defined else None
    return Conventions(
        rows=tuple(
            Convention(
                name=rule.name,
                tool=rule.tool,
                call=rule.call,
                value=_value(rule, steps, ranking.weighted),
                rule=rule.text,
                estimator=rule.estimator,
            )
            for rule in _RULES
        )
    )


@dataclass(frozen=True, kw_only=True)
class _Rule:
    name: str
    tool: str
    call: str
    text: str
    area: Callable[[Steps], float]
    weights: bool
    estimator: str | None = None


def _value(rule: _Rule, steps: Steps | None, weighted: bool) -> float | None:
    if steps is None or (weighted and not rule.weights):
        return None
    return rule.area(steps)


def _kernel(name: str) -> Callable[[Steps], float]:
    kernel = PrecisionRecallArea(name).kernel
    return lambda steps: float(kernel(steps, 0.0, 1.0))


def _precisions(steps: Steps) -> tuple[FloatArray, FloatArray]:
    """Precision just before each row and on arrival."""
    return ratio(steps.tp0, steps.tp0 + steps.fp0), ratio(steps.tp1, steps.tp1 + steps.fp1)


def _trapezoids(steps: Steps, left: FloatArray, right: FloatArray) -> float:
    return float(0.5 * np.sum(steps.weight * (left + right)) / steps.n_pos[0])


def _from_one(steps: Steps) -> float:
    """Straight lines through all points, the first of them (0, 1)."""
    before, arrival = _precisions(steps)
    before[0] = 0.0 if steps.fp0[0] > 0 else 1.0
    return _trapezoids(steps, before, arrival)


def _highest_from_one(steps: Steps) -> float:
    """Straight lines through the highest precision at each recall, from (0, 1)."""
    _, arrival = _precisions(steps)
    return _trapezoids(steps, np.concatenate([[1.0], arrival[:-1]]), arrival)


def _whole_positives(steps: Steps, *, drop_leading: bool) -> float:
    """Straight lines through all points and one more per positive inside a tie.

    A row of p positives and q negatives after (TP, FP) has the precisions
    ``(TP + j) / (TP + FP + j s)``, ``s = 1 + q/p``, ``j = 0..p``; their sum is a sum of
    reciprocals.
    """
    p, start = steps.weight, steps.tp0 + steps.fp0
    before, arrival = _precisions(steps)
    pace = 1.0 + (steps.fp1 - steps.fp0) / p
    inner = (p + (steps.tp0 - start / pace) * reciprocal_sum(start / pace, p)) / pace
    areas = inner + 0.5 * (before - arrival)
    if drop_leading or start[0] == 0:
        areas[0] = p[0] * arrival[0]
    return float(np.sum(areas) / steps.n_pos[0])


def _precrec(steps: Steps) -> float:
    """Straight lines through a point per row of the data and per thousandth of recall.

    The rows of a tie of p positives and q negatives are spread evenly: each is p/(p+q) of a
    positive and the rest of a negative. Thousandths are added where one row is more than that.
    """
    n = float(steps.n_pos[0])
    rows = steps.weight + steps.fp1 - steps.fp0
    part = steps.weight / rows  # of a positive, in each row of the tie
    start = steps.tp0 + steps.fp0
    before, arrival = _precisions(steps)
    before[0] = before[0] if start[0] > 0 else arrival[0]
    # Sum of (TP + i part) / (start + i) over i = 1..rows, then trapezoids of width part / n.
    inner = part * rows + (steps.tp0 - part * start) * reciprocal_sum(start, rows)
    areas = part * (inner + 0.5 * (before - arrival)) / n
    coarse = part / n > 1.0 / _PRECREC_STEPS
    areas[coarse] = _with_thousandths(steps, part, rows, n, np.flatnonzero(coarse))
    return float(np.sum(areas))


def _with_thousandths(
    steps: Steps, part: FloatArray, rows: FloatArray, n: float, coarse: npt.NDArray[np.int64]
) -> FloatArray:
    """Areas of the rows in which precrec adds points; they have about 1,000 points in all."""
    counts = rows[coarse].astype(np.int64) + 1
    owner = np.repeat(np.arange(coarse.size), counts)
    place = np.arange(owner.size) - np.repeat(np.cumsum(counts) - counts, counts)
    tp = steps.tp0[coarse][owner] + place * part[coarse][owner]
    grid = n * np.arange(1, _PRECREC_STEPS) / _PRECREC_STEPS
    # Each grid point belongs to the row whose positives it falls among; others are dropped.
    row = np.searchsorted(steps.tp1, grid, side="left")
    inside = np.isin(row, coarse) & (grid > steps.tp0[row]) & (grid < steps.tp1[row])
    tp = np.concatenate([tp, grid[inside]])
    owner = np.concatenate([owner, np.searchsorted(coarse, row[inside])])
    order = np.lexsort([tp, owner])
    tp, owner = tp[order], owner[order]
    own = coarse[owner]
    pace = (steps.fp1 - steps.fp0)[own] / steps.weight[own]
    fp = steps.fp0[own] + (tp - steps.tp0[own]) * pace
    origin = tp + fp == 0
    precision = np.where(origin, 1.0 / (1.0 + pace), ratio(tp, tp + fp))
    same = owner[1:] == owner[:-1]
    pieces = 0.5 * np.diff(tp) * (precision[1:] + precision[:-1]) / n
    areas = np.zeros(coarse.size)
    np.add.at(areas, owner[1:][same], pieces[same])
    return areas


_RULES: tuple[_Rule, ...] = (
    _Rule(
        name="sklearn_average_precision",
        tool="scikit-learn",
        call="average_precision_score(y_true, y_score)",
        text="steps: each positive counts with the precision at its own score, ties included",
        area=_kernel("average_precision"),
        weights=True,
        estimator="average_precision",
    ),
    _Rule(
        name="sklearn_trapezoid",
        tool="scikit-learn",
        call="auc(recall, precision) of precision_recall_curve",
        text="straight lines through all points, and an added point (0, 1) at the start",
        area=_from_one,
        weights=True,
    ),
    _Rule(
        name="spark_area_under_pr",
        tool="Apache Spark",
        call="BinaryClassificationMetrics.areaUnderPR, numBins=0",
        text="straight lines, starting flat at the precision of the highest score (0 if negative)",
        area=_kernel("lower_trapezoid"),
        weights=True,
        estimator="lower_trapezoid",
    ),
    _Rule(
        name="prroc_integral",
        tool="R PRROC",
        call="pr.curve(...)$auc.integral",
        text="the exact hyperbolas between all points, also inside ties and from recall 0",
        area=_kernel("davis_goadrich"),
        weights=True,
        estimator="davis_goadrich",
    ),
    _Rule(
        name="prroc_davis_goadrich",
        tool="R PRROC",
        call="pr.curve(...)$auc.davis.goadrich",
        text="straight lines, one point per positive inside ties; rises from 0 after negatives",
        area=lambda steps: _whole_positives(steps, drop_leading=False),
        weights=False,
    ),
    _Rule(
        name="precrec",
        tool="R precrec",
        call="auc(evalmod(scores, labels))",
        text="straight lines over hyperbolas sampled at each thousandth of recall",
        area=_precrec,
        weights=False,
    ),
    _Rule(
        name="auccalculator",
        tool="AUCCalculator (Davis & Goadrich)",
        call="java -jar auc.jar file list",
        text="straight lines, one point per positive inside ties; flat up to the first positive",
        area=lambda steps: _whole_positives(steps, drop_leading=True),
        weights=False,
    ),
    _Rule(
        name="yardstick_pr_auc",
        tool="R yardstick",
        call="pr_auc(data, truth, estimate)",
        text="straight lines through all points, and an added point (0, 1) at the start",
        area=_from_one,
        weights=True,
    ),
    _Rule(
        name="raucpr_lower_trapezoid",
        tool="raucpr (Boyd's R code)",
        call="prcurve.lowertrap(pos, neg)",
        text="lowest precision at each recall to the highest at the next, from (0, 1)",
        area=_from_one,
        weights=False,
    ),
    _Rule(
        name="raucpr_upper_trapezoid",
        tool="raucpr (Boyd's R code)",
        call="prcurve.uppertrap(pos, neg)",
        text="straight lines through the highest precision at each recall, from (0, 1)",
        area=_highest_from_one,
        weights=False,
    ),
    _Rule(
        name="raucpr_average_precision",
        tool="raucpr (Boyd's R code)",
        call="prcurve.ap(pos, neg)",
        text="steps: each positive counts with the precision at its own score, ties included",
        area=_kernel("average_precision"),
        weights=False,
        estimator="average_precision",
    ),
    _Rule(
        name="raucpr_interpolated",
        tool="raucpr (Boyd's R code)",
        call="prcurve.interpolate(pos, neg)",
        text="hyperbolas through the highest precision at each recall; flat up to the first",
        area=_kernel("interpolated_max"),
        weights=False,
        estimator="interpolated_max",
    ),
)

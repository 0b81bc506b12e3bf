"""Conventions: what well-known tools print for the same data, each under its own rule.

"The area under the precision-recall curve" has as many values as there are answers to four
questions: what happens between two points, where the curve begins, what a tie is, and where
negatives rank first. The rules are in :mod:`precall.metrics._tools`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .._notebook import Rich
from ..exceptions import InputError
from ..ranking import Ranking, as_ranked
from ..ranking.reflex import takes_one
from ._kernels import make_steps
from ._tool_areas import THRESHOLDS, Seen
from ._tools import RULES, ToolRule
from .base import warn_undefined


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
        None where the tool has none for these data.
    reason : str
        Why it has none; empty where there is a value.
    rule : str
        Why it prints this number.
    estimator : str or None
        The name in :data:`precall.ESTIMATORS` that has the same rule, if there is one.
    """

    name: str
    tool: str
    call: str
    value: float | None
    reason: str
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
            why = f" ({row.reason})" if row.reason else ""
            lines.append(f"{value:>8}  {row.tool}: {row.call}{why}\n{'':10}{row.rule}")
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """Draw what every tool prints, lowest first, and return the Axes."""
        from ..display.result_plots import plot_conventions

        return plot_conventions(self, ax)

    def _facts(self) -> dict[str, str]:
        """What each tool prints, and its rule; or why it prints nothing."""
        return {
            row.name: f"{'none' if row.value is None else f'{row.value:.6f}'}: "
            f"{row.tool} {row.call}; {row.reason or row.rule}"
            for row in self.rows
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the rows as plain dictionaries under their names."""
        return {row.name: row.to_dict() for row in self.rows}


@takes_one("pr.rank(y_true, y_score)")
def conventions(data: Any, *, model: str | None = None) -> Conventions:
    """Return what well-known tools print as the area under the curve of this data.

    Parameters
    ----------
    data : Ranking or Rows
        From :func:`precall.rank`, not coarsened; or :class:`precall.Rows`. Keras counts at
        thresholds of its own, which a ranking knows only if it kept them and rows always do.
    model : str, optional
        Which model, for Rows with several.

    Returns
    -------
    Conventions
        One row per rule with its number, the rule in a line, and the estimator here with the
        same rule. Where a tool has no number, `reason` says why: it takes no weights, it raises on
        infinite scores, it orders ties by luck. Values are None, with an
        :class:`~precall.exceptions.UndefinedMetricWarning`, when a class is empty: the tools
        then print 0, 0.5, NaN or an error.

    Notes
    -----
    The numbers are those of the rules in exact arithmetic; Keras and TorchEval work in single
    precision. Rules that also depend on the negatives' own scores are given for the setting that
    does not bin them (Spark bins from 2,000 distinct scores on unless ``numBins=0``).

    References
    ----------
    scikit-learn ``metrics/_ranking.py``; Spark ``BinaryClassificationMetrics``; PRROC
    ``compute.pr``; precrec ``create_prc_curve``; AUCCalculator ``Confusion``; yardstick
    ``pr_curve``; raucpr ``precision_recall.r``; ROCR ``.performance.aucpr``; Keras
    ``AUC.interpolate_pr_auc``; TorchEval ``_binary_auprc_compute``; Weka ``ThresholdCurve``;
    PerfMeas ``prec_recall``; MLeval ``AUCc``. The last six are the tools of Chen, Miao, Yuan &
    Gao (2024) that the first do not cover.

    Examples
    --------
    >>> import precall as pr
    >>> table = pr.conventions(pr.rank([1, 0, 0, 1], [3, 3, 2, 1]))
    >>> table
    Conventions(18 rules, from 0.208333 to 0.625)
    >>> table["sklearn_average_precision"].value, table["spark_area_under_pr"].value
    (0.5, 0.458333...)
    >>> table["perfmeas"].reason
    'it orders ties by the places of the rows'
    """
    ranking = as_ranked(data, model).ranking
    # A ranking has the thresholds that it kept; rows are ranked with those that are needed.
    ranking = data if isinstance(data, Ranking) else as_ranked(data, model, THRESHOLDS).ranking
    if ranking.coarsened:
        raise InputError(
            "other tools see every score, and this ranking was coarsened: rank all the rows."
        )
    seen = None
    if ranking.n_pos and ranking.n_neg:
        seen = Seen(ranking, make_steps(ranking.of_positives.cells))
    else:
        warn_undefined(ranking, "AUCPR", 4)
    return Conventions(rows=tuple(_row(rule, seen) for rule in RULES))


def _row(rule: ToolRule, seen: Seen | None) -> Convention:
    reason = "a class is empty"
    if seen is not None:
        reason = next(filter(None, (refuse(seen) for refuse in rule.refuses)), "")
    return Convention(
        name=rule.name,
        tool=rule.tool,
        call=rule.call,
        value=None if reason or seen is None else rule.area(seen),
        reason=reason,
        rule=rule.text,
        estimator=rule.estimator,
    )

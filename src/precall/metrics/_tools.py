"""Rules by which other tools compute an area under the precision-recall curve.

Each was read in the tool's own source, named beside it, and tried against the tool where it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import _tool_areas
from ._tool_areas import FINITE_RANGE, KERAS_THRESHOLDS, UNIT_RANGE, Seen

# Points of ROCR's list; its time grows with their square.
_MOST_POINTS = 1e7


@dataclass(frozen=True, kw_only=True)
class ToolRule:
    """One tool, how it is called, and its area of the data."""

    name: str
    tool: str
    call: str
    text: str
    area: Callable[[Seen], float]
    #: Each gives the reason why there is no value, or nothing.
    refuses: tuple[Callable[[Seen], str], ...] = ()
    estimator: str | None = None


def _no_weights(seen: Seen) -> str:
    return "it takes no weights" if seen.ranking.weighted else ""


def _finite(seen: Seen) -> str:
    return "it raises where scores are infinite" if seen.outside(*FINITE_RANGE) else ""


def _one_infinity(seen: Seen) -> str:
    """Infinity minus infinity is not zero, so equal infinite scores are not tied there."""
    repeated = seen.outside(*FINITE_RANGE) > 1
    return "it orders equal infinite scores by luck" if repeated else ""


def _drops_infinite(seen: Seen) -> str:
    return "it drops rows whose scores are infinite" if seen.outside(*FINITE_RANGE) else ""


def _long_ties(seen: Seen) -> str:
    """It makes a point of each positive in a tie; so does the rule here."""
    many = float(np.sum(seen.steps.weight[seen.steps.weight > 2])) > _MOST_POINTS
    return "it has no room for a point per positive in ties as large as these" if many else ""


def _same_scores(seen: Seen) -> str:
    cells = seen.ranking.of_positives.cells
    same = np.array_equal(cells.positives, cells.tied) and not (np.any(cells.above) or cells.below)
    return "it prints NA where both classes have the same scores" if same else ""


def _mixed_ties(seen: Seen) -> str:
    steps = seen.steps
    tied = np.any((steps.fp1 > steps.fp0) & (steps.weight > 0))
    return "it orders ties by the places of the rows" if tied else ""


def _unit_scores(seen: Seen) -> str:
    if any(seen.counts(threshold) is None for threshold in (*KERAS_THRESHOLDS, *UNIT_RANGE)):
        return "it needs the counts at its 200 thresholds: pass Rows instead of a Ranking"
    return "it takes scores from 0 to 1" if seen.outside(*UNIT_RANGE) else ""


#: Every tool, in the order of the table.
RULES: tuple[ToolRule, ...] = (
    ToolRule(
        name="sklearn_average_precision",
        tool="scikit-learn",
        call="average_precision_score(y_true, y_score)",
        text="steps: each positive counts with the precision at its own score, ties included",
        area=_tool_areas.kernel("average_precision"),
        refuses=(_finite,),
        estimator="average_precision",
    ),
    ToolRule(
        name="sklearn_trapezoid",
        tool="scikit-learn",
        call="auc(recall, precision) of precision_recall_curve",
        text="straight lines through all points, and an added point (0, 1) at the start",
        area=_tool_areas.from_one,
        refuses=(_finite,),
    ),
    ToolRule(
        name="spark_area_under_pr",
        tool="Apache Spark",
        call="BinaryClassificationMetrics.areaUnderPR, numBins=0",
        text="straight lines, starting flat at the precision of the highest score (0 if negative)",
        area=_tool_areas.kernel("lower_trapezoid"),
        estimator="lower_trapezoid",
    ),
    ToolRule(
        name="prroc_integral",
        tool="R PRROC",
        call="pr.curve(...)$auc.integral",
        text="the exact hyperbolas between all points, also inside ties and from recall 0",
        area=_tool_areas.kernel("davis_goadrich"),
        estimator="davis_goadrich",
    ),
    ToolRule(
        name="prroc_davis_goadrich",
        tool="R PRROC",
        call="pr.curve(...)$auc.davis.goadrich",
        text="straight lines, one point per positive inside ties; rises from 0 after negatives",
        area=lambda seen: _tool_areas.whole_positives(seen.steps, drop_leading=False),
        refuses=(_no_weights, _same_scores),
    ),
    ToolRule(
        name="precrec",
        tool="R precrec",
        call="auc(evalmod(scores, labels))",
        text="straight lines through a point per row and per thousandth of recall",
        area=_tool_areas.precrec,
        refuses=(_no_weights,),
    ),
    ToolRule(
        name="auccalculator",
        tool="AUCCalculator (Davis & Goadrich)",
        call="java -jar auc.jar file list",
        text="straight lines, one point per positive inside ties; flat up to the first positive",
        area=lambda seen: _tool_areas.whole_positives(seen.steps, drop_leading=True),
        refuses=(_no_weights,),
    ),
    ToolRule(
        name="yardstick_pr_auc",
        tool="R yardstick",
        call="pr_auc(data, truth, estimate)",
        text="straight lines through all points, and an added point (0, 1) at the start",
        area=_tool_areas.from_one,
    ),
    ToolRule(
        name="raucpr_lower_trapezoid",
        tool="raucpr (Boyd's R code)",
        call="prcurve.lowertrap(pos, neg)",
        text="lowest precision at each recall to the highest at the next, from (0, 1)",
        area=_tool_areas.from_one,
        refuses=(_no_weights,),
    ),
    ToolRule(
        name="raucpr_upper_trapezoid",
        tool="raucpr (Boyd's R code)",
        call="prcurve.uppertrap(pos, neg)",
        text="straight lines through the highest precision at each recall, from (0, 1)",
        area=_tool_areas.highest_from_one,
        refuses=(_no_weights,),
    ),
    ToolRule(
        name="raucpr_average_precision",
        tool="raucpr (Boyd's R code)",
        call="prcurve.ap(pos, neg)",
        text="steps: each positive counts with the precision at its own score, ties included",
        area=_tool_areas.kernel("average_precision"),
        refuses=(_no_weights,),
        estimator="average_precision",
    ),
    ToolRule(
        name="raucpr_interpolated",
        tool="raucpr (Boyd's R code)",
        call="prcurve.interpolate(pos, neg)",
        text="hyperbolas through the highest precision at each recall; flat up to the first",
        area=_tool_areas.kernel("interpolated_max"),
        refuses=(_no_weights,),
        estimator="interpolated_max",
    ),
    # ROCR 1.0-11, R/performance_measures.R, .performance.aucpr
    ToolRule(
        name="rocr",
        tool="R ROCR",
        call='performance(prediction(scores, labels), "aucpr")',
        text="straight lines through the highest precisions; misplaces points in larger ties",
        area=_tool_areas.rocr,
        refuses=(_no_weights, _drops_infinite, _long_ties),
    ),
    # keras 3.15.1, src/metrics/confusion_metrics.py, AUC.interpolate_pr_auc; TensorFlow has it too
    ToolRule(
        name="keras_auc_pr",
        tool="Keras, TensorFlow",
        call='keras.metrics.AUC(curve="PR")',
        text="the exact hyperbolas between 200 thresholds from 0 to 1, ties between them",
        area=_tool_areas.keras,
        refuses=(_unit_scores,),
    ),
    # torcheval 0.0.7, metrics/functional/classification/auprc.py, _binary_auprc_compute
    ToolRule(
        name="torcheval_binary_auprc",
        tool="TorchEval",
        call="binary_auprc(input, target)",
        text="steps: each positive counts with the precision at its own score, ties included",
        area=_tool_areas.kernel("average_precision"),
        refuses=(_no_weights, _one_infinity),
        estimator="average_precision",
    ),
    # Weka 3.8, classifiers/evaluation/ThresholdCurve.java, getPRCArea
    ToolRule(
        name="weka_prc_area",
        tool="Weka",
        call="ThresholdCurve.getPRCArea(curve)",
        text="steps: each positive counts with the precision at its own score, ties included",
        area=_tool_areas.kernel("average_precision"),
        estimator="average_precision",
    ),
    # PerfMeas 1.2.5, R/PerfMeas.1.2.5.R, AUPRC, and src/PerfMeas.c, prec_recall and trap_rule
    ToolRule(
        name="perfmeas",
        tool="R PerfMeas",
        call="AUPRC(list(precision.at.all.recall.levels(scores, labels)))",
        text="straight lines from row to row, without what comes before the first row",
        area=_tool_areas.row_by_row,
        refuses=(_no_weights, _mixed_ties),
    ),
    # MLeval 0.3, R/evalm.R, mlmetrics and AUCc
    ToolRule(
        name="mleval",
        tool="R MLeval",
        call="evalm(...)",
        text="straight lines without what comes before the first point; printed to two digits",
        area=_tool_areas.after_first,
        refuses=(_no_weights,),
    ),
)

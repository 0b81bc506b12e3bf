"""The tables of the page, as plain values for the template."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .._interval import Interval
from .._rounding import TOLERANCE
from ..evaluation import Evaluation, Measure, ModelEvaluation, coverage, wording
from ..evaluation.answer import judge
from ..evaluation.decisions import DecisionValue
from ..evaluation.few import few_in_words
from ..evaluation.promises import choice
from ..metrics import ESTIMATORS, parse
from ..metrics.areas import tie_bounds
from .chart_tables import chart_tables
from .group_section import compared_groups
from .time_section import time_section

_MOST_PAIRS = 10
# Bounds over ties that are closer than this say nothing to a reader.
_VISIBLE = 0.001
# Of an area that has no interval.
_PLAIN_DECIMALS = 3
# Instead of what intervals know, where there are none.
_NOT_SURE = (
    "The numbers are those of these rows: other rows of the same kind may give quite other ones. A "
    "model that has seen these rows before looks better than it is."
)


def sections(evaluation: Evaluation) -> dict[str, Any]:
    """Return the parts of the page that are tables and bars."""
    return {
        "strip": _strip(evaluation) if evaluation.models[0].has_both_classes else [],
        "pairs": _pairs(evaluation),
        "compared_groups": compared_groups(evaluation),
        "times": time_section(evaluation),
        "chart_tables": chart_tables(evaluation),
        "facts": (facts := _every_fact(evaluation)),
        "same_facts": "" if evaluation.ranking.weighted else _same_facts(facts),
        "estimators": _estimators(evaluation),
        "conventions": (tools := _conventions(evaluation)),
        "tools_say": _tools_say(evaluation, tools),
        "dominance": _dominance(evaluation),
        "decisions": [_decision(one) for one in evaluation.decisions],
        "decisions_cost": _cost_title(evaluation),
        "trust": _trust(evaluation),
        "methods": _methods(evaluation),
    }


def _strip(evaluation: Evaluation) -> list[dict[str, Any]]:
    """For each measure, a bar per model from the floor to the ceiling."""
    strip = []
    for name in evaluation.models[0].measures:
        measures = [model.measures[name] for model in evaluation.models]
        first = measures[0]
        strip.append(
            {
                "title": first.title,
                "explanation": first.explanation,
                "start": first.start,
                "end": first.end,
                "random": first.random,
                "random_at": None
                if first.floor is None or first.random is None
                else _place(first, first.random),
                "bars": [
                    _bar(model, measure)
                    for model, measure in zip(evaluation.models, measures, strict=True)
                ],
            }
        )
    return strip


def _place(measure: Measure, value: float) -> float:
    """Where a value stands on its bar, in percent."""
    return round(100 * measure.place(value), 3)


def _bar(model: ModelEvaluation, measure: Measure) -> dict[str, Any]:
    interval = measure.interval
    low, high = (interval.low, interval.high) if interval else (measure.estimate, measure.estimate)
    return {
        "model": model.title,
        "text": measure.text,
        "note": measure.note,
        "at": _place(measure, measure.estimate),
        "low": _place(measure, low),
        "width": None
        if interval is None
        else round(_place(measure, high) - _place(measure, low), 3),
    }


def _pairs(evaluation: Evaluation) -> list[dict[str, Any]]:
    comparison = evaluation.comparison
    if comparison is None:
        return []
    titles = {model.name: model.title for model in evaluation.models}
    rows = []
    for pair, interval in shown_pairs(evaluation).items():
        verdict = judge(evaluation, *pair)
        words = "is better" if verdict.shown else f"is not shown to be better than {verdict.worse}"
        if verdict.alike:
            words = f"and {verdict.worse} rank these rows alike"
        rows.append(
            {
                "first": titles[pair[0]],
                "second": titles[pair[1]],
                "difference": wording.interval(
                    interval.estimate, interval.low, interval.high, signed=True
                ),
                "p_value": wording.p_value(verdict.p_value),
                "verdict": f"{verdict.better} {words}",
            }
        )
    return rows


def shown_pairs(evaluation: Evaluation) -> dict[tuple[str, str], Interval]:
    """Every pair of models, or with many models those with the best one, which comes first."""
    comparison = evaluation.comparison
    if comparison is None:
        return {}
    best = evaluation.best.name
    few = len(comparison.intervals) <= _MOST_PAIRS
    return dict(
        (pair[::-1], _turned(interval)) if pair[1] == best else (pair, interval)
        for pair, interval in comparison.intervals.items()
        if few or best in pair
    )


def _turned(interval: Interval) -> Interval:
    """The interval of the second minus the first."""
    return replace(interval, estimate=-interval.estimate, low=-interval.high, high=-interval.low)


def _alike(first: str, second: str) -> str:
    return f"{first} and {second} cannot be distinguished"


def _dominance(evaluation: Evaluation) -> list[str]:
    """Where the best model's curve is surely higher than each other one, in words."""
    titles = {model.name: model.title for model in evaluation.models}
    best, level = evaluation.best.title, wording.percent(evaluation.settings.confidence_level)
    models = evaluation.settings.candidates
    chosen = f" about this pair, which was chosen among {models} models" if models > 2 else ""
    chosen += ", if rows are independent" if evaluation.settings.clustered else ""
    sentences = []
    for name, band in evaluation.difference_bands.items():
        other, said = titles[name], band.diagnostics
        span = f"from {band.x[0]:g} to {band.x[-1]:g}"
        if said["verdict"] == "candidate dominates":
            text = f"{best} is at least as precise as {other} at every recall {span}"
        elif said["verdict"] == "baseline dominates":
            text = f"{other} is at least as precise as {best} at every recall {span}"
        elif said["candidate_better"] or said["baseline_better"]:
            whole = f"{band.x[0]:.2g} to {band.x[-1]:.2g}"
            shown = [
                (model, _spans(said[key]))
                for model, key in ((best, "candidate_better"), (other, "baseline_better"))
                if said[key]
            ]
            parts = [f"{model} is more precise at recall {where}" for model, where in shown]
            text = f"{wording.listing(parts)}; at other recalls {span} {_alike(best, other)}"
            if len(shown) == 1 and shown[0][1] == whole:  # but for gaps too small to name
                text = f"{shown[0][0]} is more precise at nearly every recall {span}"
        else:
            text = f"{_alike(best, other)} at any recall {span}"
        sentences.append(f"{text} ({level} for the whole statement{chosen}).")
    return sentences


# Ranges of recall that are this close are shown as one, and more of them than this by their ends.
_GAP = 0.025
_MOST_RANGES = 3


def _spans(ranges: Any) -> str:
    """Ranges in words, those with hardly a gap between them as one."""
    joined: list[list[float]] = []
    for low, high in ranges:
        if joined and low - joined[-1][1] <= _GAP:
            joined[-1][1] = high
        else:
            joined.append([low, high])
    if len(joined) > _MOST_RANGES:
        return f"{joined[0][0]:.2g} to {joined[-1][1]:.2g}, with gaps"
    ends = [(f"{low:.2g}", f"{high:.2g}") for low, high in joined]
    return wording.listing([low if low == high else f"{low} to {high}" for low, high in ends])


def _every_fact(evaluation: Evaluation) -> list[dict[str, Any]]:
    return [_facts(model) for model in evaluation.models if model.has_both_classes]


def _same_facts(facts: list[dict[str, Any]]) -> str:
    """A sentence instead of a table of equal lines; nothing where a model has ties."""
    if len(facts) < 2 or any(one["tied"] > 0 for one in facts):
        return ""
    models = "both models" if len(facts) == 2 else f"all {len(facts)} models"
    return f"Under {models} no row shares its score with a positive: ties change nothing."


def _facts(model: ModelEvaluation) -> dict[str, Any]:
    ranking = model.ranking
    bounds = ""
    if model.has_both_classes and ranking.tied_share > 0:
        limits = tie_bounds(model.there)
        if limits.width > _VISIBLE:
            bounds = wording.bounds(limits.low, limits.high)
        elif limits.width > TOLERANCE:  # what is left without ties is rounding
            bounds = f"less than {_VISIBLE:g} apart"
    return {
        "title": model.title,
        "thresholds": len(ranking),
        "tied": ranking.tied_share,
        "bounds": bounds or "no effect",
        "effective": ranking.effective_sizes,
    }


def _conventions(evaluation: Evaluation) -> list[dict[str, Any]]:
    """What other tools print, for every model, with the digits that make the difference visible."""
    if not evaluation.models[0].has_both_classes:
        return []
    if any(model.ranking.coarsened for model in evaluation.models):  # other tools see every score
        return []
    tables = [model.conventions for model in evaluation.models]
    return [
        {
            "tool": rows[0].tool,
            "call": rows[0].call,
            "rule": rows[0].rule,
            "numbers": [wording.number(row.value, 4) for row in rows],
        }
        for rows in zip(*tables, strict=True)
        if any(row.value is not None for row in rows)
    ]


def _tools_say(evaluation: Evaluation, tools: list[dict[str, Any]]) -> str:
    """How far the tools are apart, for the best model."""
    if not tools:
        return ""
    calls = f"{len(tools)} functions of other tools"
    where = "" if evaluation.settings.prevalence is None else ", at the prevalence of these rows"
    if all(row["numbers"] == tools[0]["numbers"] for row in tools):
        return f"All {calls} print the same numbers here{where}"
    best = evaluation.models.index(evaluation.best)
    printed = sorted(row["numbers"][best] for row in tools if row["numbers"][best][:1].isdigit())
    return f"{calls} print {printed[0]} to {printed[-1]} for {evaluation.best.title}{where}"


def _decision(value: DecisionValue) -> dict[str, Any]:
    cost = value.cost
    return {
        "title": value.title,
        "cost": _cost(cost, value.few_positives) if cost else "–",
        "said": value.calibration or value.note or "not checked: rows have weights",
    }


def _cost(cost: Interval, few_positives: bool) -> str:
    if few_positives:
        return wording.number(cost.estimate, 2)
    return wording.interval(cost.estimate, cost.low, cost.high)


def _cost_title(evaluation: Evaluation) -> str:
    """What the column of costs is about; empty without one."""
    costs = [one.cost for one in evaluation.decisions if one.cost is not None]
    return parse(costs[0].metric).title if costs else ""


def _trust(evaluation: Evaluation) -> list[str]:
    """How far the methods can be believed at this size."""
    if not evaluation.models[0].has_both_classes:
        return []
    if evaluation.few_positives:
        return [_NOT_SURE]
    scope = (
        "The intervals are about what other rows of the same kind would have given. They know "
        "nothing of rows of another kind, of labels that are wrong, or of a model that has seen "
        "these rows before."
    )
    return [*_simulated(evaluation), scope]


def _simulated(evaluation: Evaluation) -> list[str]:
    """What simulations say about the methods at a size like this one."""
    first, sentences = evaluation.models[0], []
    interval = first.measures["aucpr"].interval
    methods = [
        ("interval", interval and interval.method, "the interval of AUCPR held the true value"),
        ("band", first.band and first.band.method, "the band held the whole true curve"),
    ]
    if evaluation.settings.confidence_level != coverage.LEVEL or evaluation.settings.clustered:
        return []
    n_pos = evaluation.ranking.effective_sizes[0]
    for kind, method, held in methods:
        near = method and coverage.nearest(kind, method, n_pos, evaluation.prevalence)
        if near:
            low, high = (wording.percent(share, 0) for share in (near.lowest, near.highest))
            span = low if low == high else f"{low.removesuffix(' %')} to {high}"
            size = wording.plural(near.n_pos, "positive")
            place = f"prevalence {wording.percent(near.prevalence)}"
            if near.like(n_pos):
                where = f"In simulations of about this size ({size}, {place})"
            else:
                here = wording.plural(round(n_pos), "positive")
                where = f"In the largest simulations ({size}, {place}; here {here})"
            sentences.append(
                f"{where} {held} in {span} of the data sets, over {near.models} score models; it "
                f"promises {wording.percent(coverage.LEVEL)}."
            )
    return sentences


def _methods(evaluation: Evaluation) -> list[tuple[str, str]]:
    """How each part was computed, in a line."""
    settings = evaluation.settings
    level = wording.percent(settings.confidence_level)
    methods = [("Area", "average precision; ties between classes count as one threshold")]
    first = evaluation.models[0]
    if first.has_both_classes:
        interval = first.measures["aucpr"].interval
        if interval is not None:
            clustered = ", rows of a cluster taken together" if settings.clustered else ""
            methods.append(("Intervals", f"{level}, {interval.method} method{clustered}"))
        elif evaluation.few_positives:
            methods.append(("Intervals", f"none, with {few_in_words(evaluation.n_positive_rows)}"))
        if first.band is not None:
            span = f"between recall {first.band.x[0]:g} and {first.band.x[-1]:g}"
            text = f"{level} for the whole curve {span} at once, {first.band.method} method"
            methods.append(("Bands", text))
        methods.append(("Thresholds", _threshold_methods(evaluation)))
    if evaluation.comparison is not None:
        text = f"paired, {evaluation.comparison.method} method, p-values adjusted by Holm's method"
        methods.append(("Comparison", text))
    if evaluation.ranking.weighted:
        methods.append(("Weights", "importance weights: squared in every variance"))
    return methods


def _threshold_methods(evaluation: Evaluation) -> str:
    """How the limits at a threshold and the promises were made."""
    chosen = choice(evaluation.settings.candidates)
    text = f"promises hold for a threshold chosen on the same data, {chosen}"
    parts = "they are"
    if not evaluation.few_positives:
        text = f"Clopper-Pearson limits, for a threshold chosen beforehand; the {text}"
        parts = "both are"
    exact = evaluation.models[0].thresholds.exact
    return text if exact else f"{text}; {parts} approximate, because rows have weights"


def _estimators(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Every estimator of the area, for every model."""
    if not evaluation.models[0].has_both_classes:
        return []
    return [
        {
            "name": name.replace("_", " "),
            "numbers": [_value(model, name) for model in evaluation.models],
        }
        for name in ESTIMATORS
    ]


def _value(model: ModelEvaluation, estimator: str) -> str:
    interval = model.measures["aucpr"].interval
    decimals = wording.decimals_for(0.1 * interval.width) if interval else _PLAIN_DECIMALS
    return wording.number(model.estimators.get(estimator), decimals)

"""What to know about the results, in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from ..inference.local_weights import LocalWeights
from ..metrics.areas import tie_bounds
from ..ranking.ranking_set import RankingSet
from . import wording
from .answer import HINT_POSITIVES
from .decisions import DecisionValue
from .group_table import worse_groups
from .model_result import Measure, ModelEvaluation
from .over_time import best_windows, time_sentences
from .results import Evaluation, Finding

_FEW_POSITIVES = 50
_VERY_FEW_POSITIVES = 20
_MANY_TIES = 0.05
_FEW_THRESHOLDS = 10
_PREVALENCE_SPREAD = 2.0
_MANY_MODELS = 3
# Rows at the top that weigh this many times the average, or that part of it, deserve a word.
_HEAVY_TOP = 2.0
# A single unseen positive that would weigh this share of all positives is worth a word.
_HEAVY_BELOW = 0.05
# Clusters that widen an interval by less than this hardly matter.
_WIDER = 1.05
# A normalised area under this is little.
_LITTLE = 0.15
# Tools that disagree by less than this share of the interval do not deserve a word.
_DISAGREEMENT = 0.25


def find(evaluation: Evaluation, per_group: list[RankingSet]) -> tuple[Finding, ...]:
    """Collect what changes a decision: warnings first, then notes."""
    found = [*_sizes(evaluation)]
    if evaluation.models[0].has_both_classes:
        for model in evaluation.models:
            found += _model(model, evaluation)
        found += [*_clusters(evaluation), *_comparisons(evaluation)]
        found += [*_groups(evaluation, per_group), *_over_time(evaluation)]
    return _warnings_first(found)


def _warnings_first(found: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(found, key=lambda finding: finding.level != "warning"))


def _warning(text: str) -> Finding:
    return Finding(level="warning", text=_sentence(text))


def _note(text: str) -> Finding:
    return Finding(level="note", text=_sentence(text))


def _sentence(text: str) -> str:
    """Begin our own words with a capital; a model's name stays as it is."""
    return f"T{text[1:]}" if text.startswith("the model ") else text


def _sizes(evaluation: Evaluation) -> Iterator[Finding]:
    rows, positives = evaluation.n_rows, evaluation.n_positive_rows
    if positives in (0, rows):
        missing = "positive" if positives == 0 else "negative"
        yield _warning(
            f"Check the label column and which label is the positive one: without {missing}s there "
            "is no curve, and AUCPR is a convention."
        )
        return
    negatives = rows - positives
    if positives < _FEW_POSITIVES:
        said = evaluation.models[0].has_both_classes and _unbiased(evaluation.best) is not None
        rough = [] if said else ["average precision is biased upwards at this size"]
        if not evaluation.few_positives:  # then there are none, and the answer says why
            hint = positives < HINT_POSITIVES
            rough.insert(0, "intervals are wide and rough" if hint else "intervals are wide")
        if rough:
            text = ", and ".join(rough)
            yield _warning(f"Only {wording.plural(positives, 'positive')}: {text}.")
    if negatives < min(_FEW_POSITIVES, positives):
        yield _warning(
            f"Only {wording.plural(negatives, 'negative')}: precision hardly depends on the scores."
        )
    if evaluation.settings.prevalence is not None:
        yield _note(
            f"Precision and areas are for a prevalence of "
            f"{wording.percent(evaluation.settings.prevalence)}, taken as known; these rows have "
            f"{wording.percent(evaluation.prevalence)}."
        )
    if evaluation.ranking.weighted:
        yield from _weights(evaluation)


def _weights(evaluation: Evaluation) -> Iterator[Finding]:
    effective, _ = evaluation.ranking.effective_sizes
    positives = evaluation.n_positive_rows
    share = effective / positives
    if share < 0.999:
        text = (
            f"The weights make {wording.plural(positives, 'positive')} worth about "
            f"{effective:,.0f} equally weighted ones; intervals count with that."
        )
        yield _warning(text) if share < 0.5 else _note(text)
    ranking = evaluation.ranking
    if ranking.rows is not None and evaluation.models[0].has_both_classes:
        local = LocalWeights.of(ranking.cells, ranking.rows, ranking.squares)
        yield from _top_weights(float(local.rows[1] / local.spread[1]))
        if local.excess > _HEAVY_BELOW * ranking.n_pos:
            yield _below(float(local.bottom[0] / ranking.n_pos))
        between = float(np.max(local.between))
        if between > _HEAVY_BELOW * ranking.n_pos:
            yield _between(between / ranking.n_pos)


def _top_weights(times: float) -> Iterator[Finding]:
    """Say what a negative at the top stands for, in average ones."""
    if times > _HEAVY_TOP:
        yield _warning(
            f"A negative at the top of the ranking weighs {times:.1f} times the average one: few "
            "rows decide how good the top is, and intervals leave room for what they missed."
        )
    elif times < 1.0 / _HEAVY_TOP:
        yield _note(
            f"A negative at the top of the ranking weighs {wording.percent(times)} of the average "
            "one: the top is known best, and intervals count with that."
        )


def _below(share: float) -> Finding:
    """Say what a positive below all others would weigh, in all positives."""
    return _warning(
        f"A positive ranked below all others would weigh {wording.percent(share)} of all "
        "positives seen: rows there were kept so sparsely that some may be missing, and the "
        "lower limit leaves room for them."
    )


def _between(share: float) -> Finding:
    """Say what a positive among the heaviest rows between two others would weigh more."""
    return _warning(
        f"Among rows between two positives one more positive would add {wording.percent(share)} of "
        "all positives seen: rows there were kept so sparsely that some may be missing, and the "
        "lower limit leaves room for them."
    )


def _model(model: ModelEvaluation, evaluation: Evaluation) -> Iterator[Finding]:
    name = _subject(model, evaluation)
    yield from _level(model, name, evaluation)
    yield from _ties(model, name)
    if model is evaluation.best:
        yield from _estimators(model, name)


def _subject(model: ModelEvaluation, evaluation: Evaluation) -> str:
    return model.title if len(evaluation.models) > 1 else "the model"


def _level(model: ModelEvaluation, name: str, evaluation: Evaluation) -> Iterator[Finding]:
    """What is near chance or below; said of one of several models, it holds for all at once."""
    ranking = model.ranking
    area, roc = model.measures["aucpr"], model.measures["auroc"]
    if len(ranking) == 1 and ranking.above[0] == 0 and ranking.below == 0:
        yield _warning(f"{name} gives every row the same score: it cannot tell rows apart.")
        return
    if not (ranking.above.any() or ranking.tied.any()):
        yield _warning(
            f"{name} ranks every positive above every negative. If that is too good to be true, "
            "look for the label among its inputs."
        )
        return
    if evaluation.few_positives:
        yield from _beside_chance(model, name)
    if area.interval is None or area.random is None or roc.interval is None:
        return
    level = evaluation.settings.choice_level
    area_low, roc_high = area.interval.at_level(level).low, roc.interval.at_level(level).high
    alone = len(evaluation.models) == 1
    shown = area.text if alone else _estimate(area)
    text = f"{name} has an AUCPR of {shown}"
    chance = f"a random order has {wording.number(area.random)}"
    if roc_high < 0.5:
        direction = roc.text if alone else _estimate(roc)
        # Fraud as 0 and the rest as 1: then most rows are positive.
        other = " If the rarer label is the one to find, name it as the positive label."
        yield _warning(
            f"{name} ranks positives below negatives (AUROC {direction}). Nothing was flipped: if "
            "low scores mean positive, change the sign of the scores."
            f"{other if evaluation.prevalence > 0.5 else ''}"
        )
    elif area_low <= area.random:
        yield _warning(f"{text}, which is not clearly above chance: {chance}.")
    elif model.measures["aucnpr"].estimate < _LITTLE:
        if model is not evaluation.best and len(evaluation.models) > _MANY_MODELS:
            return  # the strip shows it
        yield _note(
            f"{text}: little, where the worst order of these rows has "
            f"{wording.number(area.floor)} and {chance}."
        )


def _beside_chance(model: ModelEvaluation, name: str) -> Iterator[Finding]:
    """With too few positives for intervals, whether random orders of the rows do as well."""
    from ..inference.chance import chance_test

    if model.ranking.weighted or model.rows is not None:  # the test takes free and equal rows
        return
    p_value = chance_test(model.ranking, rng=model.settings.seed).p_value
    if p_value < 1.0 - model.settings.choice_level:
        return
    area = model.measures["aucpr"]
    p = wording.p_value(p_value)
    yield _warning(
        f"{name} has an AUCPR of {area.text}, which is not clearly above chance: a random order "
        f"has {wording.number(area.random)} on average, and as much or more with probability {p}."
    )


def _estimate(measure: Measure) -> str:
    """The number as the table prints it, without its interval."""
    return measure.text.partition(" (")[0]


def _ties(model: ModelEvaluation, name: str) -> Iterator[Finding]:
    ranking = model.ranking
    if ranking.coarsened:
        bounds = tie_bounds(model.there)
        cells = wording.plural(len(ranking), "cell")
        yield _warning(
            f"The scores of {name} were merged into {cells} to fit into memory: AUCPR lies within "
            f"{wording.bounds(bounds.low, bounds.high)}, and no threshold is promised."
        )
        return
    if ranking.tied_share <= _MANY_TIES or len(ranking) == 1:
        return
    bounds = tie_bounds(model.there)
    text = (
        f"{wording.percent(ranking.tied_share)} of the rows share their score with a positive "
        f"({name}, {wording.plural(len(ranking), 'distinct score')} among the positives)"
    )
    interval = model.measures["aucpr"].interval
    width = interval.width if interval else 1.0
    if bounds.width > 0.1 * width:
        text += (
            ": depending on the order inside ties, AUCPR could be "
            f"{wording.bounds(bounds.low, bounds.high)}."
        )
        if model.settings.prevalence is None:  # other tools know of no other prevalence
            text += " Tools that break ties in the order of the file print any of these."
        yield _note(text)
    elif len(ranking) < _FEW_THRESHOLDS:
        yield _note(f"{text}: there are only that many operating points.")


def _estimators(model: ModelEvaluation, name: str) -> Iterator[Finding]:
    unbiased = _unbiased(model)
    if unbiased is not None:
        yield _note(
            f"Average precision is probably too high for {name}: with the bias removed it is "
            f"about {wording.number(unbiased, _decimals(model))}."
        )
    interval = model.measures["aucpr"].interval
    if interval is None:
        return
    low, high = model.estimator_bounds
    if high - low <= _DISAGREEMENT * interval.width:
        return
    values = dict(model.estimators)
    values.pop("binormal", None)  # a model of the scores, not another way to add them up
    lowest, highest = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    spread = values[highest] - values[lowest]
    if spread > _DISAGREEMENT * interval.width:
        decimals = wording.decimals_for(spread)
        yield _note(
            f"Estimators of the area disagree on {name}: from "
            f"{wording.number(values[lowest], decimals)} ({lowest.replace('_', ' ')}) to "
            f"{wording.number(values[highest], decimals)} ({highest.replace('_', ' ')}). Compare "
            "numbers only if they come from the same one."
        )


def _unbiased(model: ModelEvaluation) -> float | None:
    """The area with its bias removed, where that makes a difference."""
    area = model.measures["aucpr"]
    if area.interval is None and not area.few_positives:
        return None
    unbiased = model.unbiased
    much = area.estimate - unbiased > 0.1 * area.estimate
    return unbiased if much and math.isfinite(unbiased) else None


def _decimals(model: ModelEvaluation) -> int:
    """The decimals that the area is shown with."""
    interval = model.measures["aucpr"].interval
    return 2 if interval is None else wording.decimals_for(0.5 * interval.width)


def _clusters(evaluation: Evaluation) -> Iterator[Finding]:
    effects = [m.cluster_effect for m in evaluation.models if m.cluster_effect is not None]
    if not effects:
        return
    clusters = evaluation.models[0].positive_clusters
    if clusters is not None and clusters < HINT_POSITIVES:
        yield _warning(
            f"The positives come from only {wording.plural(clusters, 'cluster')}: intervals are "
            "rough."
        )
    ends = [f"{effect:.2g}" for effect in (min(effects), max(effects))]
    wide = f"makes the interval of AUCPR {' to '.join(dict.fromkeys(ends))} times as wide as that"
    if 1.0 / _WIDER < min(effects) <= max(effects) < _WIDER:
        wide = "gives the interval of AUCPR about the width"
    others = ", and may be too narrow" if max(effects) < _WIDER else ": read them as too narrow"
    yield _note(
        f"Rows of one cluster belong together, which {wide} of independent rows. Bands "
        f"and limits at a threshold take the rows as independent{others}."
    )


def _comparisons(evaluation: Evaluation) -> Iterator[Finding]:
    if evaluation.few_positives:  # the answer leaves open which one is better
        return
    if evaluation.comparison is None and len(evaluation.models) > 1:
        yield _note(
            "The models were not compared row by row, because the rows were not in memory together."
        )


def _groups(evaluation: Evaluation, per_group: list[RankingSet]) -> Iterator[Finding]:
    if not per_group:
        return
    first = per_group[0]
    empty = int(np.count_nonzero((first.n_pos == 0) | (first.n_neg == 0)))
    small = int(np.count_nonzero((first.n_pos > 0) & (first.n_pos < _VERY_FEW_POSITIVES)))
    if empty:
        yield _note(f"{_some_groups(empty, len(first))} rows of one class only: no curve there.")
    if small:
        yield _note(
            f"{_some_groups(small, len(first))} fewer than {_VERY_FEW_POSITIVES} positives: "
            "differences there are mostly chance."
        )
    known = first.prevalence[first.n_pos > 0]
    if known.size > 1 and known.max() > _PREVALENCE_SPREAD * known.min():
        yield _note(
            f"Prevalence differs between groups, from {wording.percent(float(known.min()))} to "
            f"{wording.percent(float(known.max()))}. AUCPR of all rows rewards groups with many "
            "positives: an improvement there counts more (McDermott et al. 2024). "
            + (
                "The table compares groups at one prevalence."
                if evaluation.slices
                else "Compare groups by AUCNPR, which takes the floor out."
            )
        )
    if worse := worse_groups(evaluation, _subject(evaluation.best, evaluation)):
        yield _warning(worse)
    if evaluation.left_out:
        yield _note(f"{wording.plural(evaluation.left_out, 'small group')} left out of the tables.")


def _some_groups(number: int, groups: int) -> str:
    """Begin a sentence on some of the groups, or on all of them."""
    if number == groups:
        if groups == 1:
            return "The only group has"
        return "Both groups have" if groups == 2 else f"All {wording.count(groups)} groups have"
    return f"{wording.count(number)} of {wording.count(groups)} groups {_HAVE[number > 1]}"


_HAVE = ("has", "have")


def _over_time(evaluation: Evaluation) -> Iterator[Finding]:
    """What has changed; that nothing has is said in its section."""
    found = best_windows(evaluation)
    for sentence in (
        [] if found is None else time_sentences(evaluation, found, evaluation.best.title)
    ):
        if " than in the first window" in sentence:
            yield (_warning if "ranking is worse" in sentence else _note)(sentence)


def with_decisions(evaluation: Evaluation, values: tuple[DecisionValue, ...]) -> Evaluation:
    """Return the evaluation with what decisions are worth, and a word on scores that mislead."""
    wrong = [one.title for one in values if one.calibrated is False]
    found = [*evaluation.findings]
    if wrong:
        text = (
            f"Net benefit and costs take scores for probabilities, and those of "
            f"{wording.listing(wrong)} do not agree with what was observed: calibrate them first."
        )
        found.append(_warning(text))
    return replace(evaluation, decisions=values, findings=_warnings_first(found))

"""The answer first: two or three sentences made from the results, fit to be quoted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._rounding import TOLERANCE
from ..exceptions import InputError
from ..points.constraints import OperatingPoint
from . import wording
from .few import few_in_words
from .model_result import ModelEvaluation
from .promises import choice, kept_precision
from .results import Evaluation

# Under so many positives the first-order approximation of a comparison is rough.
HINT_POSITIVES = 20
# A promise that finds less than this share of the positives is of little use.
_USEFUL_RECALL = 0.2
# A share of a count that is whole may come out a rounding error off.
_ROUNDING = 1e-9


class Verdict(NamedTuple):
    """Which of two models is ahead, by how much, and whether that is shown."""

    better: str
    worse: str
    difference: str
    p_value: float
    shown: bool
    alike: bool = False

    @property
    def text(self) -> str:
        """The verdict as a sentence, without the difference, whose interval is for one pair."""
        if self.alike:
            return f"{self.better} and {self.worse} rank these rows alike."
        words = "is" if self.shown else "is not shown to be"
        return f"{self.better} {words} better than {self.worse}."


def judge(evaluation: Evaluation, first: str, second: str) -> Verdict:
    """Judge two models, given by name, by the comparison of their areas.

    A difference is shown if its p-value, adjusted for all pairs, is below 1 - confidence level.
    """
    comparison = evaluation.comparison
    if comparison is None:
        raise InputError("there is no comparison: give at least two models on the same rows.")
    titles = {model.name: model.title for model in evaluation.models}
    pair = (first, second) if (first, second) in comparison.intervals else (second, first)
    interval, p_value = comparison.intervals[pair], comparison.p_values[pair]
    estimate, low, high = interval.estimate, interval.low, interval.high
    if estimate < 0:
        pair, estimate, low, high = pair[::-1], -estimate, -high, -low
    return Verdict(
        better=titles[pair[0]],
        worse=titles[pair[1]],
        difference=wording.interval(estimate, low, high, signed=True),
        p_value=p_value,
        shown=p_value < 1.0 - evaluation.settings.confidence_level,
        alike=max(abs(low), abs(high)) <= TOLERANCE,  # no resample could tell them apart
    )


def answer(evaluation: Evaluation) -> tuple[str, ...]:
    """Put the results into sentences; with one class missing, say that there is no answer."""
    if not evaluation.models[0].has_both_classes:
        missing = "positives" if evaluation.n_positive_rows == 0 else "negatives"
        rows = wording.plural(evaluation.n_rows, "row")
        reason = f"There are no {missing} among the {rows}"
        return (f"{reason}, so nothing can be said about the ranking.",)
    best = evaluation.best
    if evaluation.few_positives:
        sentences = [_counts(best, evaluation), _only_estimates(best, evaluation)]
    else:
        sentences = [_precision(best, evaluation), _standing(best, evaluation)]
    return tuple(sentence for sentence in [*sentences, _promise(best)] if sentence)


def _counts(best: ModelEvaluation, evaluation: Evaluation) -> str:
    """With few positives, what is known is what was counted."""
    reach, found, selected = _reached(best, evaluation)
    positives = wording.plural(evaluation.n_positive_rows, "positive")
    return (
        f"{best.title} finds {wording.count(found)} of the {positives} in the "
        f"{wording.plural(selected, 'row')} with scores of {reach} and above."
    )


def _only_estimates(best: ModelEvaluation, evaluation: Evaluation) -> str:
    """Say why there is no interval, and what stands without one."""
    few = few_in_words(evaluation.n_positive_rows)
    why = f"With {few}, an interval would hold the truth too rarely to be quoted"
    if evaluation.settings.candidates > 1:
        return f"{why}, and which of the models is better is left open."
    area = best.measures["aucpr"]
    return (
        f"{why}; here its AUCPR is {area.text}, where the worst order of "
        f"the same rows has {wording.number(area.floor)} and a random one "
        f"{wording.number(area.random)}."
    )


def _precision(best: ModelEvaluation, evaluation: Evaluation) -> str:
    measure = best.measures["precision_at_recall"]
    recall = wording.percent(evaluation.settings.recall)
    if measure.interval is None:
        return ""
    interval = measure.interval.at_level(evaluation.settings.choice_level)
    shown = wording.percent_interval(interval.estimate, interval.low, interval.high)
    models = evaluation.settings.candidates
    allowed = f" The interval allows for the choice among {models} models." if models > 1 else ""
    few = _few(evaluation)
    if few:
        allowed += f" Take it as a hint, with so few {few}."
    return (
        f"{best.title} finds {recall} of the positives at a precision of {shown}"
        f"{_where(best)}: {_alarms(best, evaluation, shown)}.{allowed}"
    )


def _where(best: ModelEvaluation) -> str:
    """The prevalence, where it is not that of the data."""
    prevalence = best.settings.prevalence
    return "" if prevalence is None else f" where the prevalence is {wording.percent(prevalence)}"


def _alarms(best: ModelEvaluation, evaluation: Evaluation, shown: str) -> str:
    """What that takes here: the threshold, the rows that it selects, and how many rightly.

    `shown` is the precision as it is printed: where these counts give another one, it is said why.
    """
    reach, found, selected = _reached(best, evaluation)
    alarms = wording.plural(selected, "alarm")
    right = wording.count(found)
    elsewhere = best.settings.prevalence
    here = "" if elsewhere is None else _here(evaluation.prevalence, elsewhere)
    text = (
        f"scores of {reach} and above, {alarms} in these {wording.count(evaluation.n_rows)} rows,"
        f"{here} {right} of them right"
    )
    printed = shown.partition(" (")[0]
    decimals = len(printed.removesuffix(" %").partition(".")[2])
    if elsewhere is not None or wording.percent(found / selected, decimals) == printed:
        return text
    if best.ranking.weighted:
        return f"{text} (shares are of weights)"
    share = wording.percent(found / evaluation.n_positive_rows, 0)
    if share == wording.percent(evaluation.settings.recall, 0):  # said already
        return text
    return f"{text}, {share} of the positives"


def _here(prevalence: float, elsewhere: float) -> str:
    """Why alarms that were counted here do not give the precision elsewhere."""
    if wording.percent(prevalence) == wording.percent(elsewhere):
        return ""
    return f" where positives are {'rarer' if prevalence < elsewhere else 'more frequent'},"


def _reached(best: ModelEvaluation, evaluation: Evaluation) -> tuple[str, float, float]:
    """The threshold that reaches the recall, with the positives and all rows that it selects."""
    ranking = best.ranking
    wanted = evaluation.settings.recall * ranking.n_pos * (1.0 - _ROUNDING)
    row = int(np.searchsorted(np.cumsum(ranking.positives), wanted))
    rows = ranking.rows or ranking.cells
    found = float(np.sum(rows.positives[: row + 1]))
    negatives = float(np.sum((rows.above + rows.tied)[: row + 1]))
    return wording.threshold(ranking.threshold[row].item()), found, found + negatives


def _standing(best: ModelEvaluation, evaluation: Evaluation) -> str:
    comparison = evaluation.comparison
    if comparison is None:
        area = best.measures["aucpr"]
        several = evaluation.settings.candidates > 1
        area_shown = wording.number(area.estimate) if several else area.text
        return (
            f"Its AUCPR is {area_shown}, where the worst order of the same rows has "
            f"{wording.number(area.floor)} and a random one {wording.number(area.random)}."
        )
    verdicts = [
        judge(evaluation, best.name, name) for name in comparison.ranked if name != best.name
    ]
    if len(verdicts) == 1:
        (only,) = verdicts
        if only.alike:
            return f"It ranks these rows as {only.worse} does, so neither is better."
        words = "is" if only.shown else "is not shown to be"
        few = _few(evaluation)
        hint = f", a hint with so few {few}" if few else ""
        return f"It {words} better than {only.worse}: {only.difference} AUCPR{hint}."
    # The interval of a difference is for a pair that was not chosen: those are left to the table.
    shown, others = ([v.worse for v in verdicts if v.shown is said] for said in (True, False))
    sentences = []
    few = _few(evaluation)
    hint = f" (a hint with so few {few})" if few else ""
    if shown:
        sentences.append(f"It is better than {wording.listing(shown)}{hint}.")
    if others:
        sentences.append(f"It is not shown to be better than {wording.listing(others)}.")
    return " ".join(sentences)


def _few(evaluation: Evaluation) -> str:
    """What there is so little of that intervals are no more than a hint; empty if of nothing."""
    if evaluation.n_positive_rows < HINT_POSITIVES:
        return "positives"
    clusters = evaluation.models[0].positive_clusters
    return "clusters" if clusters is not None and clusters < HINT_POSITIVES else ""


def promised(best: ModelEvaluation) -> OperatingPoint | None:
    """The promise that is quoted: the highest precision that still finds a useful share."""
    points = best.certificates
    useful = [point for point in points if point.recall and point.recall.estimate >= _USEFUL_RECALL]
    return (useful or points or (None,))[-1]


def _promise(best: ModelEvaluation) -> str:
    if best.ranking.coarsened:
        return ""
    point = promised(best)
    if point is None:
        return "No threshold can be promised a precision clearly above the prevalence."
    settings = best.settings
    assumed = " if rows are independent" if settings.clustered else ""
    assumed += f", {choice(settings.candidates)}"
    found = point.recall.estimate if point.recall else 0.0
    level = wording.percent(settings.confidence_level)
    kept = wording.percent(kept_precision(point))
    return (
        f"Selecting scores of {wording.threshold(point.threshold)} and above keeps precision at or "
        f"above {kept} with {level} confidence{_where(best)}{assumed}; here that finds "
        f"{wording.percent(found, 0)} of the positives."
    )

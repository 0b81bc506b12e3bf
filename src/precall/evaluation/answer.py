"""The answer first: two or three sentences made from the results, fit to be quoted."""

from __future__ import annotations

from typing import NamedTuple

from ..exceptions import InputError
from . import wording
from .results import Evaluation, ModelEvaluation

# A promise that finds less than this share of the positives is of little use.
_USEFUL_RECALL = 0.2
# With more other models than this, differences are left to the table.
_FEW = 2


class Verdict(NamedTuple):
    """Which of two models is ahead, by how much, and whether that is shown."""

    better: str
    worse: str
    difference: str
    p_value: float
    shown: bool

    @property
    def text(self) -> str:
        """The verdict as a sentence."""
        if self.shown:
            return f"{self.better} is better than {self.worse}: {self.difference} AUCPR."
        told = f"{self.better} is not shown to be better than {self.worse}"
        return f"{told}: {self.difference} AUCPR."


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
    )


def answer(evaluation: Evaluation) -> tuple[str, ...]:
    """Put the results into sentences; with one class missing, say that there is no answer."""
    if not evaluation.models[0].has_both_classes:
        missing = "positives" if evaluation.n_positive_rows == 0 else "negatives"
        rows = wording.plural(evaluation.n_rows, "row")
        told = f"There are no {missing} among the {rows}, so nothing can be said about the ranking."
        return (told,)
    best = evaluation.best
    sentences = [_precision(best, evaluation), _standing(best, evaluation), _promise(best)]
    return tuple(sentence for sentence in sentences if sentence)


def _precision(best: ModelEvaluation, evaluation: Evaluation) -> str:
    measure = best.measures["precision_at_recall"]
    recall = wording.percent(evaluation.settings.recall)
    if measure.interval is None:
        return ""
    told = wording.percent_interval(
        measure.interval.estimate, measure.interval.low, measure.interval.high
    )
    return f"{best.title} finds {recall} of the positives at a precision of {told}."


def _standing(best: ModelEvaluation, evaluation: Evaluation) -> str:
    comparison = evaluation.comparison
    if comparison is None:
        area = best.measures["aucpr"]
        return (
            f"Its AUCPR is {area.text}, where the worst order of the same rows has "
            f"{wording.number(area.floor)} and a random one {wording.number(area.random)}."
        )
    verdicts = [
        judge(evaluation, best.name, name) for name in comparison.ranked if name != best.name
    ]
    few = len(verdicts) <= _FEW
    shown, others = (
        [
            f"{v.worse}: {v.difference} AUCPR" if few else v.worse
            for v in verdicts
            if v.shown is said
        ]
        for said in (True, False)
    )
    sentences = []
    if shown:
        sentences.append(f"It is better than {_together(shown, few)}.")
    if others:
        also = "also " if shown else ""
        sentences.append(f"It is not shown to be {also}better than {_together(others, few)}.")
    return " ".join(sentences)


def _together(models: list[str], differences: bool) -> str:
    """Names as a list, or, with their differences, one after the other."""
    return "; than ".join(models) if differences else wording.listing(models)


def _promise(best: ModelEvaluation) -> str:
    points = best.certificates
    if not points:
        return "No threshold can be promised a precision clearly above the prevalence."
    useful = [point for point in points if point.recall and point.recall.estimate >= _USEFUL_RECALL]
    point = useful[-1] if useful else points[-1]
    assumed = " if rows are independent" if best.settings.clustered else ""
    found = point.recall.estimate if point.recall else 0.0
    return (
        f"Selecting scores of {wording.threshold(point.threshold)} and above keeps precision at or "
        f"above {wording.percent(point.required)} with {wording.percent(point.confidence_level)} "
        f"confidence{assumed}; here that finds {wording.percent(found, 0)} of the positives."
    )

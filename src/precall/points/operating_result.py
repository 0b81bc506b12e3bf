"""The answer to a question about thresholds: what is promised, in numbers and in words."""

from __future__ import annotations

from typing import NamedTuple

from .._numerics import ratio
from .._words import listed
from ..ranking import Ranking
from .constraints import CertifiedBound, Constraint, OperatingPoint
from .independent import IndependentCounts
from .matrix import Confusion, at_row
from .requirements import (
    MinPrecision,
    MinRecall,
    Requirement,
    class_bounds,
    precision_at,
    row_bounds,
)
from .share_bounds import FALSE_POSITIVE_RATE, PREVALENCE, RECALL
from .shortfall import Shortfall

#: What is bounded at every threshold, asked for or not.
_ALWAYS: dict[str, Requirement] = {"precision": MinPrecision(0.5), "recall": MinRecall(0.5)}


class Question(NamedTuple):
    """What was asked of which data, and the error that may be made."""

    ranking: Ranking
    counts: IndependentCounts
    asked: list[Requirement]
    level: float
    delta: float
    n_candidates: int

    @property
    def names(self) -> list[str]:
        """What was asked, by name."""
        return [each.name for each in self.asked]

    @property
    def part(self) -> float:
        """Each uncertain requirement's part of delta."""
        return self.delta / max(sum(each.uncertain for each in self.asked), 1)

    @property
    def others(self) -> list[str]:
        """What is bounded beside what was asked."""
        return [name for name in _ALWAYS if name not in self.names]

    @property
    def one_event(self) -> bool:
        """Whether one event holds all bounds: precision at another prevalence brings recall."""
        return self.counts.prevalence is not None and self.names == ["precision"]

    @property
    def joint_level(self) -> float:
        """Probability with which all bounds are true together."""
        asked = any(each.uncertain for each in self.asked)
        missed = asked + (0 if self.one_event else len(self.others))
        return max(1.0 - missed * (1.0 - self.level), 0.0)


def certified_at(question: Question, row: int) -> OperatingPoint:
    """Return the operating point at a row that is certified."""
    counts, level = question.counts, question.level
    bounds = {name: float(_other_bound(question, name, row)) for name in question.others}
    at = at_row(question.ranking, row)
    constraints = tuple(
        Constraint(
            name=each.name,
            bound=each.bound(counts, row, question.part),
            observed=each.observed(counts, row, level),
            required=each.required,
            sign=each.sign,
            holds=True,
        )
        for each in question.asked
    )
    beside = tuple(
        CertifiedBound(name=name, bound=bound, observed=_ALWAYS[name].observed(counts, row, level))
        for name, bound in bounds.items()
    )
    return _point(question, constraints, beside, _promise(question, at, bounds), at=at)


def not_certified(question: Question, shortfall: Shortfall) -> OperatingPoint:
    """Return the operating point that there is none."""
    constraints = tuple(
        Constraint(
            name=each.name,
            bound=None,
            observed=None,
            required=each.required,
            sign=each.sign,
            holds=False,
        )
        for each in question.asked
    )
    beside = tuple(CertifiedBound(name=name, bound=None, observed=None) for name in question.others)
    message = _refusal(question, shortfall)
    return _point(question, constraints, beside, message, needed=shortfall.positives_needed)


def _point(
    question: Question,
    constraints: tuple[Constraint, ...],
    beside: tuple[CertifiedBound, ...],
    message: str,
    *,
    at: Confusion | None = None,
    needed: int | None = None,
) -> OperatingPoint:
    return OperatingPoint(
        certified=at is not None,
        threshold=None if at is None else at.threshold,
        constraints=constraints,
        other_bounds=beside,
        confidence_level=question.level,
        joint_confidence_level=question.joint_level,
        confusion=at,
        prevalence=question.counts.prevalence,
        positives_needed=needed,
        n_candidates=question.n_candidates,
        exact=question.counts.exact,
        message=message,
    )


def _other_bound(question: Question, name: str, row: int) -> float:
    """Bound precision or recall where it was not asked for, with error delta."""
    counts, delta = question.counts, question.delta
    if name == "recall":
        if question.one_event:
            return float(class_bounds(counts, delta)[0][row])
        return counts.share(RECALL).anywhere(row, delta)
    if question.names == ["recall"]:
        return _precision_beside_recall(counts, question.asked[0].required, row, delta)
    if counts.prevalence is not None:
        recall, rate = class_bounds(counts, delta)
        return float(precision_at(recall[row], rate[row], counts.prevalence))
    right, wrong = row_bounds(counts, delta)
    return float(ratio(right[row], right[row] + wrong[row]))


def _precision_beside_recall(
    counts: IndependentCounts, required: float, row: int, delta: float
) -> float:
    """Given a threshold that the positives chose, false positives are binomial."""
    part = delta / (3.0 if counts.prevalence is None else 2.0)
    recall = counts.share(RECALL).lower_where_certified(required, delta, row, part)
    false_positive_rate = counts.share(FALSE_POSITIVE_RATE).upper(row, part)
    share = counts.prevalence
    if share is None:
        share = counts.share(PREVALENCE).lower(row, part)
    return float(precision_at(recall, false_positive_rate, share))


def _promise(question: Question, at: Confusion, beside: dict[str, float]) -> str:
    sure = f"{100 * question.level:.6g} % confidence"
    models = question.n_candidates
    chosen = f" This holds for the best of {models} models." if models > 1 else ""
    what = listed([each.words() for each in question.asked], "and")
    if any(each.uncertain for each in question.asked):
        what += f" together with {sure}" if len(question.asked) > 1 else f" with {sure}"
    others = [f"a {name} of at least {bound:.3g} with {sure}" for name, bound in beside.items()]
    tail = f", and {listed(others, 'and')}" if others else ""
    return f"score >= {at.threshold:.6g} has {what}{tail}.{chosen}"


def _refusal(question: Question, shortfall: Shortfall) -> str:
    models = question.n_candidates
    choice = f", as the best of {models} models," if models > 1 else ""
    what = listed([each.words().replace(" at least", "") for each in question.asked], "and")
    together = " together" if len(question.asked) > 1 else ""
    text = (
        f"no threshold can be promised {what}{together} with {100 * question.level:.6g} % "
        f"confidence{choice} on {question.ranking.all_positives:.12g} positives: {shortfall.reason}"
    )
    if shortfall.positives_needed is None:
        return f"{text}."
    return f"{text}; about {shortfall.positives_needed} would be needed."

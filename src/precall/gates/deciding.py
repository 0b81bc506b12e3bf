"""From limits to verdicts, and what would decide where they do not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .._rounding import settled
from .._text import visible
from ..evaluation import wording
from ..inference.differences import LimitsAtEveryLevel
from .rule_words import AskedRule
from .verdicts import FAILED, PASSED, UNDECIDED, GateRule, rule_title

# The chance with which the stated number of positives decides.
_POWER = 0.8
# More positives than this are as good as never.
_MOST_POSITIVES = 10**9


class Judged(NamedTuple):
    """A rule with what it is judged by."""

    asked: AskedRule
    slice: str | None
    evidence: LimitsAtEveryLevel
    value: float
    baseline: float | None
    positives: float

    @property
    def title(self) -> str:
        """The rule with the rows that it is about."""
        return rule_title(str(self.asked), self.slice)


def decided(judged: Sequence[Judged], alpha: float, candidate: str) -> list[GateRule]:
    """Return every rule with its verdict: passed at `alpha`, failed at its share of it."""
    together = alpha / len(judged)
    return [_decide(each, alpha, together, candidate) for each in judged]


def verdict_of(rules: Sequence[GateRule]) -> str:
    """Return passed if all rules are, failed if one is, undecided otherwise."""
    verdicts = {rule.verdict for rule in rules}
    if FAILED in verdicts:
        return FAILED
    return UNDECIDED if UNDECIDED in verdicts else PASSED


def _decide(judged: Judged, alpha: float, together: float, candidate: str) -> GateRule:
    asked, evidence = judged.asked, judged.evidence
    least = asked.sign == ">="
    ours, theirs = evidence.limits(1.0 - 2.0 * alpha), evidence.limits(1.0 - 2.0 * together)
    low, high = (ours[0], theirs[1]) if least else (theirs[0], ours[1])
    # The limit that a pass needs and the one that a fail needs, on the side where more is better.
    side = 1.0 if least else -1.0
    needed, opposite = (low, high) if least else (high, low)
    scale = max(abs(judged.value), abs(judged.baseline or 0.0), abs(asked.target))
    verdict = UNDECIDED
    if side * settled(needed - asked.target, scale) >= 0.0:
        verdict = PASSED
    elif side * settled(opposite - asked.target, scale) < 0.0:
        verdict = FAILED
    more = None
    if verdict == UNDECIDED:
        gap = float(side * settled(evidence.estimate - asked.target, scale))
        limit, error = (needed, alpha) if gap > 0.0 else (opposite, together)
        half = abs(limit - evidence.estimate)
        more = _more_positives(judged.positives, half, abs(gap), error)
    limits = (low, high)
    return GateRule(
        rule=str(asked),
        slice=judged.slice,
        verdict=verdict,
        metric=str(asked.metric),
        candidate=judged.value,
        baseline=judged.baseline,
        estimate=evidence.estimate,
        low=low,
        high=high,
        sign=asked.sign,
        target=asked.target,
        more_positives=more,
        method=evidence.method,
        message=_message(judged, candidate, verdict, limits, (alpha, together), more),
    )


def _more_positives(positives: float, half: float, gap: float, alpha: float) -> int | None:
    """Rows that shrink the limit's distance, with room for chance, to that of the target.

    The distance goes with one over the square root of the rows; the estimate of the larger sample
    has to be no further off than ``z_power`` of its standard errors.
    """
    from scipy.special import ndtri

    if gap <= 0.0:
        return None
    room = 1.0 + float(ndtri(_POWER)) / float(ndtri(1.0 - alpha))
    factor = (half * room / gap) ** 2
    more = positives * (factor - 1.0)
    return math.ceil(more) if 0.0 < more < _MOST_POSITIVES else None


def _message(
    judged: Judged,
    candidate: str,
    verdict: str,
    limits: tuple[float, float],
    errors: tuple[float, float],
    more: int | None,
) -> str:
    asked, estimate = judged.asked, judged.evidence.estimate
    target, signed = asked.target, asked.relative
    decimals = wording.decimals_for(0.5 * (limits[1] - limits[0]))

    def shown(value: float) -> str:
        digits = decimals
        # What is not the target is not shown as if it were.
        while digits < 12 and value != target and _fixed(value, digits) == _fixed(target, digits):
            digits += 1
        return _fixed(value, digits)

    def _fixed(value: float, digits: int) -> str:
        return wording.fixed(value, digits, signed=signed, digits=1)

    who = wording.clean_name(visible(candidate))
    where = "" if judged.slice is None else f" where {judged.slice}"
    subject = f"{asked.metric} of {who}{where}"
    if asked.relative:
        subject += " less that of the baseline"
    least = asked.sign == ">="
    wanted = f"{'at least' if least else 'at most'} {_target(target, signed)}"
    low, high = map(shown, limits)
    if verdict == UNDECIDED:
        said = (
            f"{subject} is {shown(estimate)}, between {low} and {high}; {wanted} is asked, and "
            "these rows do not decide it."
        )
        if more is None:
            return said
        positives = wording.plural(more, "more positive")
        return f"{said} About {positives} would, four times out of five, were it as estimated."
    up = least == (verdict == PASSED)
    error = errors[0] if verdict == PASSED else errors[1]
    bound = f"{'at least' if up else 'at most'} {low if up else high}"
    level = wording.percent(1.0 - error)
    return f"{subject} is {shown(estimate)}, {bound} with {level} confidence; {wanted} is asked."


def _target(value: float, signed: bool) -> str:
    text = f"{value:+g}" if signed and value else f"{value:g}"
    return text.replace("-", "\N{MINUS SIGN}")

"""A rule in words: ``precision_at_recall(0.8) >= 0.3``, ``auroc >= baseline - 0.01``."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from .. import _validation
from ..exceptions import InputError
from ..metrics import Metric, as_metric

# What stands between metric and target; those that are not allowed are found to say so.
_PARTS = re.compile(r"(?s)(?P<metric>.*?)(?P<sign>>=|<=|≥|≤|==|=>|=<|[<>])(?P<target>.*)")
_SIGNS = {">=": ">=", "≥": ">=", "<=": "<=", "≤": "<="}
_BASELINE = re.compile(r"baseline\s*(?:(?P<sign>[-+−])\s*(?P<offset>.+))?")
_HOW = (
    "write it as in 'precision_at_recall(0.8) >= 0.3', or 'auroc >= baseline - 0.01' where there "
    "is a baseline"
)


@dataclass(frozen=True, kw_only=True)
class AskedRule:
    """What is asked of a metric of the candidate.

    Attributes
    ----------
    metric : Metric
    sign : {">=", "<="}
    target : float
        The least (or largest) value; relative to the baseline's if `relative`.
    relative : bool
    """

    metric: Metric
    sign: str
    target: float
    relative: bool

    def __str__(self) -> str:
        """Return the words that :func:`parse_rule` reads."""
        if not self.relative:
            return f"{self.metric} {self.sign} {_number(self.target)}"
        if self.target == 0.0:
            return f"{self.metric} {self.sign} baseline"
        side = "-" if self.target < 0 else "+"
        return f"{self.metric} {self.sign} baseline {side} {_number(abs(self.target))}"


def _number(value: float) -> str:
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def not_worse(metric: object, margin: object) -> AskedRule:
    """Return the rule that a candidate is not worse than the baseline by more than a margin."""
    allowed = _validation.as_number(margin, "margin")
    if not 0.0 <= allowed < math.inf:
        raise InputError(
            f"margin must be a finite number of at least 0, got {margin!r}: it is how much worse "
            "than the baseline the candidate may be."
        )
    what = as_metric(metric)
    if what.lower_is_better:
        return AskedRule(metric=what, sign="<=", target=allowed, relative=True)
    return AskedRule(metric=what, sign=">=", target=0.0 - allowed, relative=True)


def parse_rule(words: object) -> AskedRule:
    """Return the rule that words say.

    Examples
    --------
    >>> rule = parse_rule("precision_at_recall(0.8) >= 0.3")
    >>> rule.metric.name, rule.sign, rule.target
    ('precision_at_recall', '>=', 0.3)
    >>> print(parse_rule("auroc>=baseline-0.01"))
    auroc >= baseline - 0.01
    """
    if not isinstance(words, str):
        raise InputError(f"a rule must be a text, got {type(words).__name__}: {_HOW}.")
    parts = _PARTS.fullmatch(words)
    if parts is None:
        raise InputError(f"rule {words!r} compares nothing: {_HOW}.")
    if parts["sign"] not in _SIGNS:
        raise InputError(f"rule {words!r} must use >= or <=, not {parts['sign']}: {_HOW}.")
    metric, target = parts["metric"].strip(), parts["target"].strip()
    if not metric:
        raise InputError(f"rule {words!r} names no metric: {_HOW}.")
    try:
        what = as_metric(metric)
    except InputError as error:
        raise InputError(f"rule {words!r}: {error}") from None
    relative = _BASELINE.fullmatch(target)
    offset = target if relative is None else relative["offset"]
    value = 0.0 if offset is None else _as_target(offset, words)
    if relative is not None and (relative["sign"] or "+") != "+":
        value = 0.0 - value
    sign = _SIGNS[parts["sign"]]
    return AskedRule(metric=what, sign=sign, target=value, relative=relative is not None)


def _as_target(text: str, words: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"rule {words!r} compares with {text!r}, which is no number: {_HOW}.")
    return value


def parse_rules(rules: object) -> list[AskedRule]:
    """Return the rules that a text or several texts say, each once."""
    if isinstance(rules, str):
        rules = [rules]
    try:
        given = list(rules)  # type: ignore[call-overload]
    except TypeError:
        raise InputError(f"rules must be a list of texts, got {type(rules).__name__}.") from None
    return list({str(rule): rule for rule in map(parse_rule, given)}.values())

"""Interval rules, each an object; a new one is a file here and a line in :data:`RULES`."""

from __future__ import annotations

from ... import _validation
from ...exceptions import InputError
from ...metrics import Metric
from ...metrics.precision_recall import PrecisionRecallArea
from .bootstrap import BCA, PERCENTILE, STUDENTISED
from .counted import CLOPPER_PEARSON, CLOPPER_PEARSON_OF_RANKS, WILSON, WILSON_OF_RANKS
from .delong import DELONG, DELONG_BETA, DELONG_LOGIT
from .drawn_curves import FIDUCIAL
from .gain_area import GAIN_GUARDED, GAIN_INFLUENCE
from .inverted import INVERTED
from .mover import MOVER
from .rule import Rule
from .shares import BINOMIAL, LOGIT
from .stabilised import GUARDED, INFLUENCE

#: Every interval rule by its key.
RULES: dict[str, Rule] = {
    rule.key: rule
    for rule in (
        CLOPPER_PEARSON,
        WILSON,
        CLOPPER_PEARSON_OF_RANKS,
        WILSON_OF_RANKS,
        BINOMIAL,
        LOGIT,
        INFLUENCE,
        GUARDED,
        PERCENTILE,
        BCA,
        STUDENTISED,
        MOVER,
        INVERTED,
        FIDUCIAL,
        DELONG_LOGIT,
        DELONG,
        DELONG_BETA,
        GAIN_GUARDED,
        GAIN_INFLUENCE,
    )
}
#: The rules of the area under the precision-recall curve, by the name of the method.
INTERVALS: dict[str, Rule] = {
    rule.name: rule for key, rule in RULES.items() if key in PrecisionRecallArea.rules
}


def rules_of(metric: Metric, *, clustered: bool = False) -> dict[str, Rule]:
    """Return the rules of a metric by the name of the method, the default first."""
    rules = [RULES[key] for key in metric.rules]
    rules += [rule for rule in RULES.values() if metric.name in rule.serves]
    return {rule.name: rule for rule in rules if rule.clustered or not clustered}


def rule_for(metric: Metric, method: object, *, clustered: bool = False) -> Rule:
    """Return the rule that a caller asked for, the default if none was."""
    rules = rules_of(metric, clustered=clustered)
    if not rules:
        raise InputError(f"{metric} has no interval: there is no rule for it.")
    name = next(iter(rules)) if method is None else _validation.as_choice(method, "method", rules)
    return rules[name]


__all__ = ["INTERVALS", "RULES", "Rule", "rule_for", "rules_of"]

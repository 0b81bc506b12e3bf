"""What an estimator of the area gives of a whole population, where scores may be tied.

With continuous scores all estimators have one limit. Where many rows share a score it depends on
what an estimator makes of the piece of the curve that they are: average precision and its version
that leaves one out give every positive the precision at the end of the piece, trapezoids are
straight lines, and the others follow the curve.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from precall.metrics import aucpr
from precall.ranking import Cells
from precall.simulate import Scenario, ZeroInflated
from precall.simulate.scenarios import precision_at
from precall.simulate.steps import TiedScenario

# Positives of a population: so many that what depends on their number has no digit left.
_POSITIVES = 1e9
_STEPS = ("average_precision", "leave_one_out")


def true_area(scenario: Scenario, prevalence: float, estimator: str) -> float:
    """Return the limit of an estimator of the area."""
    if isinstance(scenario, TiedScenario):
        return float(aucpr(estimator).value(_cells(scenario, prevalence)))
    if not isinstance(scenario, ZeroInflated) or estimator in _STEPS:
        return scenario.aucpr(prevalence)
    if estimator == "davis_goadrich":
        return scenario.aucpr(prevalence, estimator=estimator)
    if not estimator.endswith("trapezoid"):
        raise ValueError(f"the limit of {estimator} with tied scores is not known here")
    # From the last score above 0 a straight line leads to all rows.
    before = np.array([1.0 - scenario.positives])
    rate = np.array([1.0 - scenario.negatives])
    fall = float(precision_at(before, rate, prevalence)[0]) - prevalence
    return scenario.aucpr(prevalence) + 0.5 * scenario.positives * fall


def _cells(scenario: TiedScenario, prevalence: float) -> Cells:
    """The population as the counts of its scores."""
    groups: Any = scenario.groups
    n, m = _POSITIVES, _POSITIVES * (1.0 - prevalence) / prevalence
    passed = np.append(0.0, groups.rate[:-1])
    return Cells(
        (groups.recall - groups.recall_before) * n,
        (groups.rate - groups.rate_before) * m,
        np.maximum(groups.rate_before - passed, 0.0) * m,
        max(1.0 - float(groups.rate[-1]), 0.0) * m,
    )

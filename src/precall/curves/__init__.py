"""Curves of a ranking: what a threshold finds, and what its decisions are worth."""

from .curve import Curve
from .decision import DecisionCurve, brier_curve, cost_curve, net_benefit_curve
from .of_ranking import (
    gain_curve,
    hit_curve,
    is_achievable,
    lift_curve,
    minimum_pr_curve,
    pr_curve,
    roc_curve,
)

__all__ = [
    "Curve",
    "DecisionCurve",
    "brier_curve",
    "cost_curve",
    "gain_curve",
    "hit_curve",
    "is_achievable",
    "lift_curve",
    "minimum_pr_curve",
    "net_benefit_curve",
    "pr_curve",
    "roc_curve",
]

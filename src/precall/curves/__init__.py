"""Curves of a ranking: precision-recall, ROC, hits, lift and gain, and the lowest possible one."""

from .curve import Curve
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
    "gain_curve",
    "hit_curve",
    "is_achievable",
    "lift_curve",
    "minimum_pr_curve",
    "pr_curve",
    "roc_curve",
]

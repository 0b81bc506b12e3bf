"""Single thresholds: confusion metrics, the best threshold, and one that can be promised."""

from .abstention import TwoThresholds, two_thresholds
from .constraints import CertifiedBound, Constraint, OperatingPoint
from .contours import iso_f_contours
from .matrix import Confusion, confusion, f_beta
from .operating import operating_point
from .thresholds import CRITERIA, BestThreshold, best_threshold

__all__ = [
    "CRITERIA",
    "BestThreshold",
    "CertifiedBound",
    "Confusion",
    "Constraint",
    "OperatingPoint",
    "TwoThresholds",
    "best_threshold",
    "confusion",
    "f_beta",
    "iso_f_contours",
    "operating_point",
    "two_thresholds",
]

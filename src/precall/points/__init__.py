"""Single thresholds: confusion metrics, the best threshold, and one that can be promised."""

from .matrix import Confusion, confusion, f_beta, iso_f_contours
from .operating import OperatingPoint, operating_point
from .thresholds import CRITERIA, BestThreshold, best_threshold

__all__ = [
    "CRITERIA",
    "BestThreshold",
    "Confusion",
    "OperatingPoint",
    "best_threshold",
    "confusion",
    "f_beta",
    "iso_f_contours",
    "operating_point",
]

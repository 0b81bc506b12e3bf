"""Confidence bands for whole curves, and what follows from them."""

from .api import BANDS, hit_band, pr_band, roc_band
from .band import Band
from .difference import difference_band
from .pointwise import curve_interval_at
from .smoothed import smooth_pr_curve

__all__ = [
    "BANDS",
    "Band",
    "pr_band",
    "roc_band",
    "hit_band",
    "curve_interval_at",
    "smooth_pr_curve",
    "difference_band",
]

"""Confidence bands for whole curves, and what follows from them."""

from .api import BANDS, band
from .band import Band
from .difference import difference_band
from .smoothed import smooth_pr_curve

__all__ = ["BANDS", "Band", "band", "difference_band", "smooth_pr_curve"]

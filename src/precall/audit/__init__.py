"""Partly labelled data: bounds, which rows to label, and what few labels say about all rows."""

from .in_pieces import PlannedRows, plan_of, sample_of
from .label_bounds import LabelBounds, bounds
from .label_plan import LabelPlan, plan
from .sample import Sample

__all__ = [
    "LabelBounds",
    "LabelPlan",
    "PlannedRows",
    "Sample",
    "bounds",
    "plan",
    "plan_of",
    "sample_of",
]

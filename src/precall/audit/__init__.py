"""Partly labelled data: bounds, which rows to label, and what few labels say about all rows."""

from .label_bounds import LabelBounds, bounds

__all__ = ["LabelBounds", "bounds"]

"""Rules that a model has to keep before it is let through: passed, failed or undecided."""

from .gating import gate
from .verdicts import FAILED, PASSED, UNDECIDED, Gate, GateRule

__all__ = ["FAILED", "PASSED", "UNDECIDED", "Gate", "GateRule", "gate"]

"""How many rows? Sample sizes for intervals and for comparisons."""

from .powers import Power, power
from .sizes import CaseControl, SampleSize, case_control, size

__all__ = ["CaseControl", "Power", "SampleSize", "case_control", "power", "size"]

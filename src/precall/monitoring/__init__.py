"""Is it still true? Evidence that stays valid while data arrive."""

from .monitors import PrecisionMonitor, RecallMonitor
from .watching import Watch, watch
from .windows import Window, Windows, windows

__all__ = [
    "PrecisionMonitor",
    "RecallMonitor",
    "Watch",
    "Window",
    "Windows",
    "watch",
    "windows",
]

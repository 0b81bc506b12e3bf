"""The interval that many rooms give: a number with its lower and upper limit."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ._notebook import Rich


class Span:
    """What has a lower and an upper limit."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """Distance between the limits."""
        return self.high - self.low

    def __contains__(self, value: float) -> bool:
        """Return whether a value lies within the limits, ends included."""
        return self.low <= value <= self.high

    def __iter__(self) -> Any:
        """Unpack as ``low, high = interval``."""
        return iter((self.low, self.high))


@dataclass(frozen=True, kw_only=True, repr=False)
class Interval(Span, Rich):
    """A number with its lower and upper limit.

    Attributes
    ----------
    low, high : float
        The limits.
    estimate : float
        The number itself.
    confidence_level : float
        Probability with which the method covers the truth; 1.0 for a certain bound.
    method : str
        How the limits were made.
    """

    low: float
    high: float
    estimate: float
    confidence_level: float
    method: str

    def __repr__(self) -> str:
        """Return one line."""
        level = f"{100 * self.confidence_level:.6g} %"
        return (
            f"Interval({self.estimate:.6g}, low={self.low:.6g}, high={self.high:.6g}, "
            f"{level}, {self.method})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary."""
        return asdict(self)

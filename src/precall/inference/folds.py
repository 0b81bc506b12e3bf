"""What an interval over the folds of a cross-validation is computed from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, kw_only=True)
class Folds:
    """Estimates of the folds."""

    values: npt.NDArray[np.float64]
    bounds: tuple[float, float]

    def limits(self, confidence_level: float) -> tuple[Any, Any]:
        """Return the mean -+ t s/sqrt(k), within the bounds of the metric."""
        from scipy.special import stdtrit

        count = self.values.size
        t = float(stdtrit(count - 1, 0.5 + 0.5 * confidence_level))
        half = t * self.error
        low, high = np.clip([self.values.mean() - half, self.values.mean() + half], *self.bounds)
        return low, high

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return float(self.values.std(ddof=1) / math.sqrt(self.values.size))

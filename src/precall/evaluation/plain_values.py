"""Values that survive JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..ranking import Ranking


def plain(value: Any) -> Any:
    """Turn a value into what strict JSON has: no NaN (None), no infinity (text), no arrays."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def share_of_positives(ranking: Ranking) -> float:
    """Return the prevalence of a ranking; NaN without rows."""
    total = ranking.n_pos + ranking.n_neg
    return float(ranking.n_pos / total) if total else float("nan")

"""Linear interpolation in many rows at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def interpolate_rows(x: FloatArray, knots: FloatArray, values: FloatArray) -> FloatArray:
    """Interpolate like ``numpy.interp(x[i], knots[i], values[i])`` for every row i, or all.

    `knots` (not decreasing) and `values` may be one row for all; `x` must have all rows.
    """
    if knots.ndim == 1:
        after = np.searchsorted(knots, x, side="right")
    else:
        # One search for all rows: each row is brought to [0, 1] and set two apart from the last.
        first = knots[:, :1]
        span = knots[:, -1:] - first
        row = 2.0 * np.arange(len(knots))[:, None]
        flat = ((knots - first) / span + row).ravel()
        found = np.searchsorted(flat, ((x - first) / span).clip(0.0, 1.0) + row, side="right")
        after = found - knots.shape[1] * np.arange(len(knots))[:, None]
    after = np.clip(after, 1, knots.shape[-1] - 1)
    left, right = _pick(knots, after - 1), _pick(knots, after)
    low, high = _pick(values, after - 1), _pick(values, after)
    width = np.where(right > left, right - left, 1.0)
    share = np.clip((x - left) / width, 0.0, 1.0)
    return np.asarray(low + share * (high - low))


def _pick(rows: FloatArray, index: npt.NDArray[np.int64]) -> FloatArray:
    return rows[index] if rows.ndim == 1 else np.take_along_axis(rows, index, axis=1)

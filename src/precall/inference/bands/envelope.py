"""A simultaneous band cut from many drawn curves: the weighted rank envelope."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

# Tail in which the drawn curves' spread is measured to weigh the two sides of every grid point.
_SPREAD_TAIL = 0.02
_SMALLEST_SPREAD = 1e-3


def rank_envelope(
    curves: FloatArray, lower: FloatArray, upper: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Limits that at most a share `alpha` of the drawn curves leave anywhere.

    A curve's extremeness is the smallest of its tail ranks over all grid points and both sides,
    each divided by a weight. Equal weights would give every point the same local level and so
    wide limits where the curves spread; weights proportional to the spread (median to the 2 %
    and 98 % quantiles) spend the error where it buys most width.

    Parameters
    ----------
    curves : array (draws, points)
        Drawn curves.
    lower, upper : array (draws, points)
        The same curves as they count for the lower and for the upper limit: where the data cannot
        tell a value from its extreme, the extreme. Tied extremes count in full.
    alpha : float
        Share of curves that may be left out.
    """
    draws = curves.shape[0]
    low_sorted, low_rank = _ranks(lower)
    high_sorted, high_rank = _ranks(-upper)
    ranked = np.sort(curves.T, axis=1)
    middle = ranked[:, draws // 2]
    tail = round(_SPREAD_TAIL * (draws - 1))
    spread = np.stack([middle - ranked[:, tail], ranked[:, -1 - tail] - middle])
    weights = np.maximum(spread, _SMALLEST_SPREAD)
    weights /= weights.mean()

    low_rank *= (1.0 / weights[0])[:, None]
    high_rank *= (1.0 / weights[1])[:, None]
    extremeness = np.minimum(low_rank, high_rank, out=low_rank).min(axis=0)
    left_out = min(math.floor(alpha * draws), draws - 1)
    cut = np.partition(extremeness, left_out)[left_out]
    return (
        _order_statistic(low_sorted, cut * weights[0]),
        -_order_statistic(high_sorted, cut * weights[1]),
    )


def _ranks(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sort along the draws; rank from 1, all values tied with the smallest counting in full."""
    columns = np.ascontiguousarray(values.T)
    points, draws = columns.shape
    order = np.argsort(columns, axis=1)
    order += draws * np.arange(points)[:, None]
    ranked = columns.ravel()[order]
    rank = np.empty(columns.size)
    rank[order.ravel()] = np.tile(np.arange(1.0, draws + 1.0), points)
    tied = np.count_nonzero(ranked == ranked[:, :1], axis=1)
    return ranked, np.maximum(rank.reshape(columns.shape), tied[:, None])


def _order_statistic(ranked: FloatArray, rank: FloatArray) -> FloatArray:
    """Value at rank ceil(rank) - 1: one further out, for the cut was made on the same draws."""
    last = (ranked.shape[1] + 1) // 2
    position = np.clip(np.ceil(rank).astype(np.int64) - 1, 1, last) - 1
    return ranked[np.arange(ranked.shape[0]), position]

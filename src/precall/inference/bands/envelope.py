"""A simultaneous band cut from many drawn curves: the weighted rank envelope."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from precall._rounding import TOLERANCE, first_highest

FloatArray = npt.NDArray[np.float64]

# Tail in which the drawn curves' spread is measured to weigh the two sides of every grid point.
_SPREAD_TAIL = 0.02
_SMALLEST_SPREAD = 1e-3
# No side of a point counts more than so many times the median one, whichever makes the band
# narrowest: error that is spent on the few points of a cliff buys little of its width, and on the
# beginning of a curve of few positives much.
_MOST_WEIGHTS = (2.0, 3.0, 5.0, math.inf)
# The share of curves left out at which that is found: the same for all levels, or a band would not
# lie in one of a higher level.
_NARROWEST_AT = 0.05
# Heights are dense in a part of their spread: in this share of it lie three quarters of them, or in
# more (normal ones: in half of it, a limit at 1: in a quarter), unless the curve falls off a cliff
# there. At half of this share it surely does. Chosen on curves with one to three cliffs.
_DENSE = 0.2
_PARTS, _DENSEST = 48, 36


def rank_envelope(
    curves: FloatArray, lower: FloatArray, upper: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Limits that at most a share `alpha` of the drawn curves leave anywhere.

    A curve's extremeness is the smallest of its tail ranks over all grid points and both sides,
    each divided by a weight. Equal weights would give every point the same local level and so
    wide limits where the curves spread; weights proportional to the spread (median to the 2 %
    and 98 % quantiles) spend the error where it buys most width. Weights are cut where that makes
    the band narrower.

    Where the curve falls off a cliff, a drawn one is before it or behind it by chance, and at some
    height there by another chance. The truth is on one side, so what its limit leaves out is
    decided by the product u v of two uniform numbers: it is under a level c with probability
    ``c + c log(1/c)``, although a share c of the drawn curves is left out. So little error is spent
    there, and the rest of it is taken from `alpha`, once for each cliff.

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
    low_sorted, low_rank = _ranks(lower)
    high_sorted, high_rank = _ranks(-upper)
    ranked = np.sort(curves.T, axis=1)
    density, spread = _density(ranked), _spread(ranked)

    def limits(most_weight: float, alpha: float) -> tuple[FloatArray, FloatArray]:
        weights = _weights(spread, density, most_weight, curves.shape[0])
        low, high = (1.0 / weights)[..., None]
        extremeness = np.minimum(low_rank * low, high_rank * high).min(axis=0)
        cut = _cut(extremeness, weights, density, alpha)
        return (
            _order_statistic(low_sorted, cut * weights[0]),
            -_order_statistic(high_sorted, cut * weights[1]),
        )

    def narrowness(most_weight: float) -> float:
        low, high = limits(most_weight, _NARROWEST_AT)
        return float(np.sum(low - high))

    narrowest = first_highest([narrowness(each) for each in _MOST_WEIGHTS])
    return limits(_MOST_WEIGHTS[narrowest], alpha)


def _cut(extremeness: FloatArray, weights: FloatArray, density: FloatArray, alpha: float) -> float:
    """The largest extremeness that a curve may have and be left out."""
    draws = extremeness.size
    most = min(math.floor(alpha * draws), draws - 1)
    first = np.sort(np.partition(extremeness, most)[: most + 1])
    spent = np.arange(most + 1) / draws + _missed_at_cliffs(first, weights, density, draws)
    affordable = int(np.count_nonzero(spent <= alpha + TOLERANCE))
    return float(first[max(affordable - 1, 0)])


def _density(ranked: FloatArray) -> FloatArray:
    """Share of the spread that holds the densest three quarters of the heights, for every point."""
    draws = ranked.shape[1]
    tail = round(_SPREAD_TAIL * (draws - 1))
    places = np.linspace(tail, draws - 1 - tail, _PARTS + 1).round().astype(np.int64)
    parts = np.sort(np.diff(ranked[:, places], axis=1), axis=1)
    whole = parts.sum(axis=1)
    dense = parts[:, :_DENSEST].sum(axis=1)
    return np.asarray(np.divide(dense, whole, out=np.ones_like(whole), where=whole > 0))


def _spread(ranked: FloatArray) -> FloatArray:
    """How far the heights lie below and above the median of every point."""
    draws = ranked.shape[1]
    middle, tail = ranked[:, draws // 2], round(_SPREAD_TAIL * (draws - 1))
    spread = np.stack([middle - ranked[:, tail], ranked[:, -1 - tail] - middle])
    return np.maximum(spread, _SMALLEST_SPREAD)


def _weights(spread: FloatArray, density: FloatArray, most_weight: float, draws: int) -> FloatArray:
    """How much error is spent below and above the median of every point, 1 on average."""
    weights = np.minimum(spread, most_weight * np.median(spread))
    weights *= np.clip(density / _DENSE, 1.0 / draws, 1.0)
    return np.asarray(weights / weights.mean())


def _missed_at_cliffs(
    cuts: FloatArray, weights: FloatArray, density: FloatArray, draws: int
) -> FloatArray:
    """What is missed at cliffs beyond the share of curves that is left out, for every cut.

    Neighbouring points of one cliff miss together, so what counts is how much it rises.
    """
    cliff = np.clip(2.0 - 2.0 * density / _DENSE, 0.0, 1.0)
    level = np.clip(cuts[:, None] * weights.max(axis=0) / draws, 1.0 / draws, 1.0 / math.e)
    missed = -cliff * level * np.log(level)
    return np.asarray(np.maximum(np.diff(missed, axis=1, prepend=0.0), 0.0).sum(axis=1))


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
    """Value at rank ceil(rank) - 1: one further out, for the cut was made on the same draws.

    Where the cut was made, the rank is a whole number but for rounding.
    """
    last = (ranked.shape[1] + 1) // 2
    position = np.clip(np.ceil(rank * (1.0 - TOLERANCE)).astype(np.int64) - 1, 1, last) - 1
    return ranked[np.arange(ranked.shape[0]), position]

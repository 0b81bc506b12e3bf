"""Limits that hold for what noise, binning and sampling do together (``PROOFS.md``, section 14).

Nothing here looks at the data: all of it is computed from what has been released.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ._persons import MOST_ROWS
from .mechanisms import IntArray, SeededNoise

FloatArray = npt.NDArray[np.float64]

# What an interval can be about, with what it then contains.
OF_VALUES = {"rows": "noise only", "population": "noise and sampling"}
OF_CURVES = {
    "noise": "noise only, without binning error",
    "rows": "noise and binning",
    "population": "noise, binning and sampling",
}
OF_CURVE_VALUES = {of: OF_CURVES[of] for of in OF_VALUES}
# Share of an interval's error for noise and binning; the rest is for sampling.
NOISE_SHARE = 0.5
# Simulated noise that the simultaneous limits of the counts come from.
_DRAWS = 3999
# Standard deviations by which the rank among them is raised.
_MARGIN = 3.1
# Numbers of positives that limits are computed for; more are taken together.
_MOST_COUNTS = 512
# Shares that a sampling error is looked for at: it is smooth, and largest near one half.
_SHARES = 65
# What the floating-point error of an area stays below; limits are moved outwards by it.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class CountLimits:
    """Limits of cumulated counts at the edges, from 0 to all, which hold together.

    Attributes
    ----------
    tp_low, tp_high, fp_low, fp_high : array of int
        True and false positives, at each edge from the highest score down, the start left out.
    n_low, n_high : int
        Number of positives.
    n_rows : int or None
        Public number of rows, if it is public.
    """

    tp_low: IntArray
    tp_high: IntArray
    fp_low: IntArray
    fp_high: IntArray
    n_low: int
    n_high: int
    n_rows: int | None

    def negatives(self, positives: IntArray) -> tuple[IntArray, IntArray]:
        """Fewest and most negatives beside so many positives."""
        if self.n_rows is not None:
            rest = self.n_rows - positives
            return rest, rest
        few, many = self.fp_low[-1:], self.fp_high[-1:]
        return np.broadcast_to(few, positives.shape), np.broadcast_to(many, positives.shape)

    @property
    def fewest(self) -> tuple[int, int]:
        """Fewest positives and negatives."""
        if self.n_rows is not None:
            return self.n_low, self.n_rows - self.n_high
        return self.n_low, int(self.fp_low[-1])


def count_limits(
    positives: IntArray,
    negatives: IntArray,
    *,
    n_rows: int | None,
    scale: float,
    error: float,
    terms: int = 1,
) -> CountLimits:
    """Limits of all cumulated counts at once, wrong with probability `error` at most.

    Parameters
    ----------
    positives, negatives : array of int
        Noisy counts per bin, from the highest scores down.
    n_rows : int or None
        Public number of rows; None if it is private, and then the noise in the sum of all counts is
        not known.
    scale : float
        Scale of the noise in each count.
    error : float
        Probability that any limit fails.
    terms : int, default 1
        Independent noises of that scale in each count.
    """
    known = n_rows is not None
    most = MOST_ROWS if n_rows is None else n_rows
    excess = int(positives.sum()) + int(negatives.sum()) - most if known else 0
    found = _centred(np.stack([positives, negatives]).astype(np.float64), float(excess))
    reach = _reach(positives.size, scale, terms, error, known)
    low = np.clip(np.ceil(found - reach - _ROUNDING), 0, most).astype(np.int64)
    high = np.clip(np.floor(found + reach + _ROUNDING), 0, most).astype(np.int64)
    # Counts do not fall, and both classes together are all rows.
    low = np.maximum.accumulate(low, axis=1)
    high = np.minimum.accumulate(high[:, ::-1], axis=1)[:, ::-1]
    n_low, n_high = int(low[0, -1]), int(high[0, -1])
    return CountLimits(
        tp_low=low[0],
        tp_high=high[0],
        fp_low=low[1],
        fp_high=high[1],
        n_low=max(n_low, most - int(high[1, -1])) if known else n_low,
        n_high=min(n_high, most - int(low[1, -1])) if known else n_high,
        n_rows=n_rows,
    )


def _centred(counts: FloatArray, excess: float | FloatArray) -> FloatArray:
    """Cumulated counts, with what noise has added in all taken off evenly."""
    bins = counts.shape[-1]
    share = np.arange(1, bins + 1) / (2.0 * bins)
    return np.asarray(np.cumsum(counts, axis=-1) - np.multiply.outer(excess, share))


@lru_cache(maxsize=64)
def _reach(bins: int, scale: float, terms: int, error: float, known: bool = True) -> FloatArray:
    """How far noise moves each cumulated count, for all of them at once.

    The noise is simulated, its distribution being known; a fixed seed decides nothing about any
    data. Of so many draws the one of this rank is exceeded by the true noise with probability
    `error` at most, but for the chance of one in a thousand that these draws are small. What all
    noise adds up to is known if the number of rows is.
    """
    noise = SeededNoise(np.random.default_rng(0))
    drawn = noise.laplace_sums(_DRAWS * 2 * bins, scale, terms).reshape(_DRAWS, 2, bins)
    edge = np.arange(1, bins + 1)
    if known:
        moved = _centred(drawn, drawn.sum(axis=(1, 2))[:, None])
        spread = np.sqrt(edge * (2.0 * bins - edge) / (2.0 * bins))
    else:
        moved, spread = np.cumsum(drawn, axis=2), np.sqrt(edge)
    worst = np.sort(np.max(np.abs(moved) / spread, axis=(1, 2)))
    margin = _MARGIN * math.sqrt(_DRAWS * error * (1.0 - error))
    rank = math.ceil((1.0 - error) * (_DRAWS + 1) + margin)
    if rank > _DRAWS:  # an error this small takes a bound of each noise instead
        each = -scale * math.log(error / (4.0 * bins * terms)) + 1.0
        return np.full(bins, 2.0 * bins * terms * each)
    return np.asarray(worst[rank - 1] * spread)


def area_limits(limits: CountLimits, *, roc: bool) -> tuple[float, float]:
    """Least and largest area of any rows whose counts are within these limits, ties included."""
    if limits.n_low > limits.n_high or (roc and limits.n_rows == 1):
        return 0.0, 1.0
    first, last = _intervals(limits.n_low, limits.n_high)
    compute = _auroc_limits if roc else _precision_limits
    low, high = compute(limits, first, last)
    return max(float(low.min()) - _ROUNDING, 0.0), min(float(high.max()) + _ROUNDING, 1.0)


def _intervals(low: int, high: int) -> tuple[IntArray, IntArray]:
    """Whole numbers from low to high, in intervals if they are many."""
    cuts = np.unique(np.linspace(low, high + 1, min(high - low + 1, _MOST_COUNTS) + 1).round())
    return cuts[:-1].astype(np.int64), (cuts[1:] - 1).astype(np.int64)


def _precision_limits(
    limits: CountLimits, first: IntArray, last: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Limits of the average precision for every interval of numbers of positives."""
    from scipy.special import digamma

    one, other = first[:, None], last[:, None]
    # Worst: as few positives and as many negatives by every edge, negatives first in every bin.
    ends = np.concatenate([np.minimum(limits.tp_low[:-1], one), one], axis=1)
    begins = np.concatenate([np.zeros_like(one), ends[:, :-1]], axis=1)
    most = limits.negatives(one)[1]
    alarms = np.minimum(limits.fp_high, most)
    alarms[:, -1:] = most
    # The sum of i / (i + f) over i from begin + 1 to end.
    lost = alarms * (digamma(ends + alarms + 1.0) - digamma(begins + alarms + 1.0))
    low = np.sum(ends - begins - lost, axis=1) / np.maximum(last, 1)
    # Best: as many positives as early as possible, all of a bin tied above its negatives.
    ends = np.concatenate([np.minimum(limits.tp_high[:-1], other), other], axis=1)
    begins = np.concatenate([np.zeros_like(other), ends[:, :-1]], axis=1)
    before = np.concatenate([np.zeros(1, dtype=np.int64), limits.fp_low[:-1]])
    share = ends / np.maximum(ends + before, 1)
    share = _largest_until(share, np.searchsorted(limits.tp_low[:-1], ends))
    high = np.sum((ends - begins) * share, axis=1) / np.maximum(first, 1)
    # Without positives the metric is 0 by convention.
    return np.where(first < 1, 0.0, low), np.where(last < 1, 0.0, high)


def _largest_until(values: FloatArray, last: IntArray) -> FloatArray:
    """Largest value from each column to the column `last`.

    A positive may lie lower than in the best case, where more positives are above it too.
    """
    largest = values.copy()
    columns = np.arange(values.shape[1])
    for ahead in range(1, int(np.max(last - columns, initial=0)) + 1):
        reachable = columns[:-ahead] + ahead <= last[:, :-ahead]
        here = largest[:, :-ahead]
        here[reachable] = np.maximum(here, values[:, ahead:])[reachable]
    return largest


def _auroc_limits(
    limits: CountLimits, first: IntArray, last: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Limits of the AUROC for every interval of numbers of positives; both classes are presumed."""
    n_rows = limits.n_rows
    largest = MOST_ROWS if n_rows is None else n_rows - 1
    first, last = np.clip(first, 1, largest), np.clip(last, 1, largest)
    one, other = first[:, None], last[:, None]
    # With a private number of rows the worst case has few negatives, the best one many.
    few = [np.maximum(limits.negatives(number)[0], 1) for number in (first, last)]
    many = [np.maximum(limits.negatives(number)[1], 1) for number in (first, last)]
    pairs = np.minimum(first * few[0], last * few[1]).astype(np.float64)
    most = np.maximum(first * many[0], last * many[1]).astype(np.float64)
    if n_rows is not None and first[0] <= n_rows / 2 <= last[-1]:
        most = np.maximum(most, n_rows**2 / 4.0)
    ends = np.concatenate([np.minimum(limits.tp_low[:-1], one), other], axis=1)
    begins = np.concatenate([np.zeros_like(one), ends[:, :-1]], axis=1)
    alarms = np.minimum(limits.fp_high, few[0][:, None])
    alarms[:, -1:] = few[0][:, None]
    low = 1.0 - np.sum((ends - begins) * alarms, axis=1) / pairs
    ends = np.concatenate([np.minimum(limits.tp_high[:-1], one), one], axis=1)
    begins = np.concatenate([np.zeros_like(one), ends[:, :-1]], axis=1)
    before = np.concatenate([np.zeros(1, dtype=np.int64), limits.fp_low[:-1]])
    high = 1.0 - np.sum((ends - begins) * before, axis=1) / most
    return low, high


def with_sampling(low: float, high: float, rows: float, error: float) -> tuple[float, float]:
    """Limits of a population's share, from limits of the share among so many rows.

    The score interval of a binomial share (Wilson 1927) at both limits, which grows with its share.
    """
    from scipy.special import ndtri

    if rows <= 0:
        return 0.0, 1.0
    z2 = float(ndtri(error / 2.0)) ** 2
    ends: list[Any] = []
    for share, sign in ((low, -1.0), (high, 1.0)):
        spread = math.sqrt(max(share * (1.0 - share), 0.0) * z2 / rows + (z2 / (2 * rows)) ** 2)
        ends.append((share + z2 / (2 * rows) + sign * spread) / (1.0 + z2 / rows))
    return max(ends[0], 0.0), min(ends[1], 1.0)


def largest_sampling_error(low: float, high: float, rows: float, error: float) -> float:
    """How far the limits of :func:`with_sampling` are from a share between two, at most."""
    shares: list[float] = np.linspace(low, high, _SHARES).tolist()
    limits = [with_sampling(share, share, rows, error) for share in shares]
    return max(max(share - a, b - share) for share, (a, b) in zip(shares, limits, strict=True))

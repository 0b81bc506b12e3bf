"""Limits that hold for all order statistics of a uniform sample at once, calibrated exactly.

The j-th smallest of n uniforms has the distribution Beta(j, n + 1 - j). Two-sided limits at one
common local level leave the joint level to be found: the probability that no order statistic leaves
its limits. Condition on nothing: let a Poisson process of rate n run over [0, 1], let it lose the
mass of paths that break a limit as it passes it, and divide by the probability that it ends at n
(the recursion of Steck and Noé, Poissonised as in Moscovich & Nadler 2017). Between limits the
distribution of the count is convolved with a Poisson distribution, by FFT with the exact transform
``exp(mean (exp(-i w) - 1))``.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .paths import snap

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Limits are put on order statistics at most this many standard deviations of rank apart.
_SPACING = 0.25
# No more limits than this, whatever n: the ones between are bounded by their neighbours.
_MOST_RANKS = 4000
# The length of the transforms follows the width of the limits, and is set anew this often.
_EVENTS_PER_LENGTH = 64
# The joint error is met to this relative accuracy, from below.
_TOLERANCE = 1e-3


def chosen_ranks(n: int, first: int = 1, last: int | None = None) -> IntArray:
    """Ranks of the order statistics that get limits: all of them up to some hundreds.

    They are `_SPACING` standard deviations of rank apart, which is even on the arcsine scale.
    """
    last = n if last is None else last
    number = min(math.ceil(math.pi * math.sqrt(n) / _SPACING), _MOST_RANKS)
    angles = np.linspace(0.0, math.pi, number + 1)
    ranks = np.floor(snap((n + 1) * 0.5 * (1.0 - np.cos(angles)) + 0.5)).astype(np.int64)
    # Of half a rank, as the middle may be, both neighbours are taken: from either end the same.
    ranks = np.union1d(ranks, n + 1 - ranks)
    inside = ranks[(ranks >= first) & (ranks <= last)]
    return np.union1d(inside, [first, last]).astype(np.int64)


def beta_limits(n: int, ranks: IntArray, local: float) -> tuple[FloatArray, FloatArray]:
    """Equal-tailed limits of U_(j) ~ Beta(j, n + 1 - j), each left with probability `local`."""
    from scipy import special

    low = special.betaincinv(ranks, n + 1.0 - ranks, 0.5 * local)
    # The upper limit from the other end, where it does not lose digits to 1 - small.
    high = 1.0 - special.betaincinv(n + 1.0 - ranks, ranks, 0.5 * local)
    return low, high


def joint_probability(n: int, ranks: IntArray, low: FloatArray, high: FloatArray) -> float:
    """Probability that every U_(ranks[i]) of n uniforms lies within low[i] and high[i].

    Both limits must not decrease with the rank.
    """
    # The two halves of [0, 1] are independent given the count at 1/2, and the second is the
    # first of the mirrored problem: for limits that are their own mirror image it is the same.
    first = _pass_half(n, ranks, low, high)
    mirrored = (n + 1 - ranks)[::-1], (1.0 - high)[::-1], (1.0 - low)[::-1]
    symmetric = np.array_equal(mirrored[0], ranks) and np.allclose(
        mirrored[1], low, rtol=1e-12, atol=1e-15
    )
    second = first if symmetric else _pass_half(n, *mirrored)
    counts = first[0] + np.arange(first[1].size)
    index = n - counts - second[0]
    met = (index >= 0) & (index < second[1].size)
    total = first[1][met] @ second[1][index[met]]
    return float(total / _poisson(np.array([n]), float(n))[0])


def _pass_half(
    n: int, ranks: IntArray, low: FloatArray, high: FloatArray
) -> tuple[int, FloatArray]:
    """Distribution of the Poisson count at time 1/2 over paths within all limits so far.

    Returns the count of the first entry, and the entries.
    """
    # Fewer than `rank` points below `low`; at least `rank` of them at or below `high`.
    times = np.concatenate([low, high, [0.5]])
    at_most = np.concatenate([ranks - 1, np.full(ranks.size + 1, n)])
    at_least = np.concatenate([np.zeros(ranks.size, dtype=np.int64), ranks, [0]])
    order = np.argsort(times, kind="stable")
    times, at_most, at_least = times[order], at_most[order], at_least[order]
    # Counts never fall, so the lowest ceiling still to come already binds.
    ceiling = np.minimum.accumulate(at_most[::-1])[::-1]
    floor = np.maximum.accumulate(at_least)
    steps = n * np.diff(times, prepend=0.0)
    width = ceiling - np.concatenate([[0], floor[:-1]]) + 1
    reach = np.ceil(steps + 9.0 * np.sqrt(steps) + 12.0).astype(np.int64)
    stop = int(np.searchsorted(times, 0.5)) + 1

    base, mass = 0, np.ones(1)
    for begin in range(0, stop, _EVENTS_PER_LENGTH):
        events = slice(begin, min(begin + _EVENTS_PER_LENGTH, stop))
        length = _fast_length(int(np.max(width[events] + reach[events])))
        mass = np.pad(mass[:length], (0, max(length - mass.size, 0)))
        phase = np.exp(-2j * np.pi * np.arange(length // 2 + 1) / length) - 1.0
        for step, most, least in zip(steps[events], ceiling[events], floor[events], strict=True):
            mass = np.fft.irfft(np.fft.rfft(mass) * np.exp(step * phase), length)
            if least > base:
                mass = np.concatenate([mass[least - base :], np.zeros(least - base)])
                base = int(least)
            mass[most - base + 1 :] = 0.0
    return base, mass


def _fast_length(least: int) -> int:
    from scipy import fft

    # Even, so that the inverse transform knows its length from the transform's.
    return 2 * int(fft.next_fast_len((max(least, 8) + 1) // 2, real=True))


def _poisson(count: IntArray, mean: float) -> FloatArray:
    from scipy import special

    return np.asarray(np.exp(special.xlogy(count, mean) - mean - special.gammaln(count + 1.0)))


@lru_cache(maxsize=4096)
def local_level(n: int, confidence_level: float, first: int = 1, last: int | None = None) -> float:
    """Local level at which the chosen order statistics keep their limits jointly.

    The joint error is nearly a power of the local level, so the secant rule on the logarithms
    settles in three or four steps. The result errs on the side of a higher joint probability.
    """
    ranks = chosen_ranks(n, first, last)
    target = math.log(1.0 - confidence_level)

    def joint_error(local: float) -> float:
        return 1.0 - joint_probability(n, ranks, *beta_limits(n, ranks, local))

    # About this many of the limits are as good as independent.
    local = float((1.0 - confidence_level) / (1.0 + 2.2 * math.log(ranks.size) ** 1.7))
    slope = 0.9
    previous: tuple[float, float] | None = None
    for _ in range(30):
        point = math.log(local), math.log(joint_error(local))
        if 0.0 <= target - point[1] <= _TOLERANCE:
            return local
        if previous is not None and point[0] != previous[0]:
            slope = (point[1] - previous[1]) / (point[0] - previous[0])
        previous = point
        local = math.exp(point[0] + (target - 0.5 * _TOLERANCE - point[1]) / slope)
    raise ArithmeticError(f"the local level for {n} order statistics did not settle at {local}")

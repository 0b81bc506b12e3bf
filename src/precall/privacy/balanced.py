"""Noise for four counts that add up to a public number (``PROOFS.md``, section 8).

Replacing a row takes one from a cell of a confusion matrix and gives one to another. So the noise
may add up to 0 as well: an offset has a probability in proportion to ``exp(-epsilon r)``, where
``r``, the sum of its positive parts, is the fewest replaced rows that could explain it. This is the
K-norm mechanism (Hardt & Talwar 2010) whose ball is the convex hull of what one row can do.

The sampler is exact: integers of any size, rational probabilities, and bits from the system.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from ..exceptions import InputError
from ._ledger import Amount, exact
from .mechanisms import IntArray, Noise, Noisy, laplace_scale, uniform_below

_CELLS = 4
# With less, the noise would not fit a double.
SMALLEST_EPSILON = Fraction(1, 10**300)


@dataclass(frozen=True, kw_only=True)
class BalancedNoisy(Noisy):
    """A count as released together with three others: their noise adds up to 0.

    Attributes
    ----------
    value : float
        The noisy count.
    scale : float
        Twice the reciprocal of epsilon: independent Laplace noise of this scale has the same
        distribution, given that it adds up to 0.
    grid : float
        Distance between two possible values: 1.
    """

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise."""
        return Marginal(2.0 / self.scale).deviation

    def spread(self, weights: Sequence[float]) -> float:
        """Standard deviation of the noise in a weighted sum of all four counts.

        Any two of them have a correlation of -1/3, because all four add up.
        """
        mean = sum(weights) / _CELLS
        about = math.hypot(*(weight - mean for weight in weights))
        return self.deviation * about * math.sqrt(_CELLS / (_CELLS - 1))

    def bounds(self, error: float) -> tuple[float, float]:
        """Return limits that hold the count with probability of at least ``1 - error``."""
        steps = Marginal(2.0 / self.scale).reach(error)
        return self.value - steps, self.value + steps


@dataclass(frozen=True)
class Marginal:
    """Distribution of the noise in one of the four counts, from ``q = exp(-epsilon)``.

    ``P(k)`` is in proportion to ``q^|k| (x^2 / 2 + linear x + constant)``, with ``x = |k| stop``.

    Attributes
    ----------
    epsilon : float
        Cost of a replaced row.
    """

    epsilon: float

    @property
    def ratio(self) -> float:
        """``q``."""
        return math.exp(-self.epsilon)

    @property
    def stop(self) -> float:
        """``1 - q``: powers of it are taken out of all sums, so that none overflows."""
        return -math.expm1(-self.epsilon)

    @property
    def linear(self) -> float:
        """Coefficient of the polynomial."""
        return 1.5 * self.stop + 3.0 * self.ratio

    @property
    def constant(self) -> float:
        """Coefficient of the polynomial."""
        return self.stop**2 + 6.0 * self.ratio

    @property
    def total(self) -> float:
        """Sum of the weights, times ``stop``."""
        ratio, stop = self.ratio, self.stop
        return stop**3 + 10.0 * ratio * (1.0 + ratio) + 2.0 * ratio * stop**2

    @property
    def deviation(self) -> float:
        """Standard deviation."""
        ratio = self.ratio
        # Sums of k^2, k^3 and k^4 times q^k are these over powers of stop.
        second = ratio * (1.0 + ratio)
        third = ratio * (1.0 + ratio * (4.0 + ratio))
        fourth = ratio * (1.0 + ratio * (11.0 + ratio * (11.0 + ratio)))
        squares = fourth / 2.0 + self.linear * third + self.constant * second
        return math.sqrt(2.0 * squares / self.total) / self.stop

    def beyond(self, steps: float) -> float:
        """Probability of being this far from 0 or further, for at least one step."""
        x, ratio = steps * self.stop, self.ratio
        here = x * (x / 2.0 + self.linear) + self.constant
        further = (x + self.linear) * ratio + ratio * (1.0 + ratio) / 2.0
        return 2.0 * math.exp(-self.epsilon * steps) * (here + further) / self.total

    def reach(self, error: float) -> int:
        """Fewest steps that the noise exceeds with probability `error` at most."""
        most = 1
        while self.beyond(most + 1.0) > error:
            most *= 2
        least = 0
        while least < most:
            middle = (least + most) // 2
            if self.beyond(middle + 1.0) > error:
                least = middle + 1
            else:
                most = middle
        return least


def add_balanced(counts: IntArray, *, epsilon: Amount, noise: Noise) -> tuple[BalancedNoisy, ...]:
    """Add noise to four counts, of which a replaced row moves two by one each.

    Parameters
    ----------
    counts : array of int
        Four counts that add up to a public number.
    epsilon : float or Fraction
        Cost of a replaced row.
    noise : Noise
        Where the bits come from.

    Returns
    -------
    tuple of BalancedNoisy

    Examples
    --------
    >>> import numpy as np
    >>> from precall.privacy.mechanisms import SeededNoise
    >>> noise = SeededNoise(np.random.default_rng(0))
    >>> noisy = add_balanced(np.array([5, 10, 15, 20]), epsilon=0.5, noise=noise)
    >>> sum(count.value for count in noisy)
    50.0
    """
    scale = laplace_scale(2.0, epsilon)
    offsets = balanced_offset(exact(epsilon), noise)
    return tuple(
        BalancedNoisy(value=float(int(count) + offset), scale=scale, grid=1.0)
        for count, offset in zip(counts, offsets, strict=True)
    )


def check_epsilon(epsilon: Fraction) -> None:
    """Refuse a cost of a replaced row whose noise no double holds; no row decides that."""
    if epsilon < SMALLEST_EPSILON:
        raise InputError("epsilon is so small that its noise has no finite scale: ask for more.")


def balanced_offset(epsilon: Fraction, noise: Noise) -> list[int]:
    """Draw four whole numbers that add up to 0, with probabilities as ``exp(-epsilon r)``."""
    while True:
        # Three geometric numbers add up to r with a weight of (r + 1) (r + 2) / 2: more than a
        # twentieth of what is wanted, which is the number of offsets whose positive parts sum to r.
        radius = sum(_geometric(epsilon, noise) for _ in range(_CELLS - 1))
        offsets = 10 * radius**2 + 2 if radius else 1
        if uniform_below(10 * (radius + 1) * (radius + 2), noise.bits) < offsets:
            return _on_shell(radius, noise)


def _on_shell(radius: int, noise: Noise) -> list[int]:
    """One of all offsets whose positive parts add up to `radius`, each as likely."""
    if radius == 0:
        return [0] * _CELLS
    while True:
        # As many cells rise and fall as an offset may have; others stay.
        rising, falling = _SIGNS[uniform_below(len(_SIGNS), noise.bits)]
        ways = _compositions(radius, rising) * _compositions(radius, falling)
        most = max(_compositions(radius, a) * _compositions(radius, b) for a, b in set(_SIGNS))
        if uniform_below(most, noise.bits) < ways:
            break
    sizes = [*_composition(radius, rising, noise)]
    sizes += [-size for size in _composition(radius, falling, noise)]
    sizes += [0] * (_CELLS - len(sizes))
    return _shuffled(sizes, noise)


# Numbers of rising and of falling cells, as often as there are cells to choose for them.
_SIGNS = tuple(
    pair
    for pair in [(1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (2, 2)]
    for _ in range(math.comb(_CELLS, pair[0]) * math.comb(_CELLS - pair[0], pair[1]))
)


def _compositions(total: int, parts: int) -> int:
    """Ways to write a number as an ordered sum of so many whole numbers above 0."""
    return math.comb(total - 1, parts - 1)


def _composition(total: int, parts: int, noise: Noise) -> list[int]:
    """One of these ways, each as likely: a choice of distinct places to cut."""
    while True:
        cuts = sorted(1 + uniform_below(total - 1, noise.bits) for _ in range(parts - 1))
        if len(set(cuts)) == len(cuts):
            ends = [0, *cuts, total]
            return [after - before for before, after in pairwise(ends)]


def _shuffled(values: list[int], noise: Noise) -> list[int]:
    """All orders as likely (Fisher & Yates)."""
    for last in range(len(values) - 1, 0, -1):
        other = uniform_below(last + 1, noise.bits)
        values[last], values[other] = values[other], values[last]
    return values


def _geometric(epsilon: Fraction, noise: Noise) -> int:
    """Draw k = 0, 1, ... with probabilities as ``exp(-epsilon k)`` (Canonne et al. 2020)."""
    steps, unit = epsilon.numerator, epsilon.denominator
    # Of a geometric number with exp(-1 / unit) the remainder by unit, then the quotient.
    while True:
        remainder = uniform_below(unit, noise.bits)
        if _happens(Fraction(remainder, unit), noise):
            break
    quotient = 0
    while _happens(Fraction(1), noise):
        quotient += 1
    return (remainder + unit * quotient) // steps


def _happens(rate: Fraction, noise: Noise) -> bool:
    """True with probability ``exp(-rate)``, for a rate of at most 1 (von Neumann 1951)."""
    trials = 1
    while uniform_below(rate.denominator * trials, noise.bits) < rate.numerator:
        trials += 1
    return trials % 2 == 1

"""Noise, and the basic ways of adding it.

Everything is released on a grid. A real statistic is rounded down to a multiple of a power of two
that depends on public numbers only, an *integer* random variable is added, and the sum is an
integer: so the low digits of a double, which give a naive Laplace sampler away (Mironov 2012),
carry nothing. The noise is added in integers of any size, and only the sum is cut off at the ends
of 64 bits, which is post-processing. ``PROOFS.md`` accounts for the rounding and for the
floating-point error of the statistic.

The integers come from the operating system's randomness: discrete Laplace noise from OpenDP, and
noise that adds up to 0, which OpenDP does not have, from an exact sampler in integer arithmetic
(``balanced.py``). A seed replaces all that by NumPy's generator, for simulation, with a warning
that such a release is not private.
"""

from __future__ import annotations

import math
import random
import secrets
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .._optional import missing
from .._validation import as_generator
from ..exceptions import InputError
from ..exceptions import SeededReleaseWarning as SeededReleaseWarning
from ._ledger import Amount, exact

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Finest grid, in bits after the binary point, and what float64 leaves after a sum over all rows.
_FINEST_GRID = 20
_USABLE_BITS = 44
# Where seeded sums are cut off, so that none leaves 64 bits, and the scale from which geometric
# variables would: there the continuous distribution is the discrete one to the last bit of a
# double.
_SEEDED_END = 2**61
_SEEDED_WIDE = 2.0**54

_features = threading.Lock()


class Noise(Protocol):
    """A source of integer noise; `seeded` says that it can be repeated, and protects nobody."""

    @property
    def seeded(self) -> bool:
        """Whether a seed decides it."""
        ...

    def add_laplace(self, values: IntArray, scale: float) -> IntArray:
        """Add discrete Laplace noise, whose probabilities are as ``exp(-|k| / scale)``.

        Sums beyond the largest integer stay there; the noise itself is never cut off.
        """
        ...

    def bits(self, count: int) -> int:
        """A uniform integer of `count` bits."""
        ...

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """So many uniform integers of 64 bits."""
        ...


class SystemNoise:
    """Noise from the operating system's randomness; Laplace noise through OpenDP."""

    seeded = False

    def add_laplace(self, values: IntArray, scale: float) -> IntArray:
        """Add discrete Laplace noise."""
        return np.asarray(_opendp_laplace(scale)(values.tolist()), dtype=np.int64)

    def bits(self, count: int) -> int:
        """Uniform bits."""
        return secrets.randbits(count)

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """Uniform integers of 64 bits."""
        return np.frombuffer(secrets.token_bytes(8 * count), dtype=np.uint64)


class SeededNoise:
    """The same distributions from a NumPy generator: repeatable, fast, and not private."""

    seeded = True

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._words = random.Random(int(generator.integers(2**63)))

    def add_laplace(self, values: IntArray, scale: float) -> IntArray:
        """Add discrete Laplace noise, as the difference of two geometric variables."""
        if scale > _SEEDED_WIDE:
            wide = self._generator.laplace(scale=scale, size=values.size)
            drawn = np.clip(wide, -2 * _SEEDED_END, 2 * _SEEDED_END).astype(np.int64)
        else:
            stop = -math.expm1(-1.0 / scale)
            first, second = self._generator.geometric(stop, (2, values.size))
            drawn = first - second
        return np.asarray(np.clip(values + drawn, -_SEEDED_END, _SEEDED_END), dtype=np.int64)

    def laplace_sums(self, count: int, scale: float, terms: int = 1) -> FloatArray:
        """Draw sums of `terms` independent discrete Laplace variables.

        A geometric variable is negative binomial, so the sum is the difference of two of these.
        """
        if scale * terms > _SEEDED_WIDE:
            first, second = scale * self._generator.standard_gamma(terms, (2, count))
        else:
            stop = -math.expm1(-1.0 / scale)
            first, second = self._generator.negative_binomial(terms, stop, (2, count))
        sums = np.asarray(first - second, dtype=np.float64)
        return np.clip(sums, -float(_SEEDED_END), float(_SEEDED_END))

    def bits(self, count: int) -> int:
        """Uniform bits."""
        return self._words.getrandbits(count)

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """Uniform integers of 64 bits."""
        return self._generator.integers(2**64, size=count, dtype=np.uint64)


def noise_source(rng: object, *, stacklevel: int = 3) -> Noise:
    """Return the system's noise, or seeded noise with a warning if `rng` is given."""
    if rng is None:
        return SystemNoise()
    warnings.warn(
        "rng was given, so this release is repeatable and not private: leave rng out for a real "
        "one.",
        SeededReleaseWarning,
        stacklevel=stacklevel,
    )
    return SeededNoise(as_generator(rng))


@dataclass(frozen=True, kw_only=True)
class Noisy:
    """A statistic as released: with Laplace noise, on a grid.

    Attributes
    ----------
    value : float
        The noisy statistic.
    scale : float
        Scale of its Laplace noise (its standard deviation is the square root of 2 times that).
    grid : float
        Distance between two possible values; the statistic was rounded down to it.
    """

    value: float
    scale: float
    grid: float

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise."""
        return math.sqrt(2.0) * self.scale

    def spread(self, weights: Sequence[float]) -> float:
        """Standard deviation of a weighted sum of numbers that were released like this one."""
        return self.deviation * math.hypot(*weights)

    def bounds(self, error: float) -> tuple[float, float]:
        """Return limits that hold the statistic with probability of at least ``1 - error``."""
        scale = self.scale / self.grid
        ratio = math.exp(-1.0 / scale)
        # P(|K| >= k) = 2 ratio^k / (1 + ratio) for the discrete distribution.
        steps = max(math.ceil(-scale * math.log(error * (1.0 + ratio) / 2.0)) - 1, 0)
        rounding = 0.0 if self.grid == 1.0 else self.grid
        return self.value - steps * self.grid, self.value + steps * self.grid + rounding


def add_to_counts(
    counts: IntArray, *, sensitivity: float, epsilon: Amount, noise: Noise
) -> IntArray:
    """Add discrete Laplace (two-sided geometric) noise to whole numbers.

    Parameters
    ----------
    counts : array of int
        The counts; only their sum of absolute changes matters.
    sensitivity : float
        Largest sum of absolute changes when one row is replaced.
    epsilon : float
        Cost.
    noise : Noise
        Where the noise comes from.

    Returns
    -------
    array of int

    Examples
    --------
    >>> noise = SeededNoise(np.random.default_rng(0))
    >>> add_to_counts(np.array([10, 20]), sensitivity=2, epsilon=1e3, noise=noise)
    array([10, 20])
    """
    return noise.add_laplace(counts, laplace_scale(sensitivity, epsilon))


def add_to_cells(
    counts: IntArray, *, sensitivity: float, epsilon: Amount, noise: Noise
) -> tuple[Noisy, ...]:
    """Add discrete Laplace noise to whole numbers, and say how much in each."""
    released = add_to_counts(counts, sensitivity=sensitivity, epsilon=epsilon, noise=noise)
    scale = laplace_scale(sensitivity, epsilon)
    return tuple(Noisy(value=float(count), scale=scale, grid=1.0) for count in released)


def add_to_count(count: int, *, sensitivity: float, epsilon: Amount, noise: Noise) -> Noisy:
    """Add discrete Laplace noise to one whole number."""
    scale = laplace_scale(sensitivity, epsilon)
    noisy = noise.add_laplace(np.array([count], dtype=np.int64), scale)
    return Noisy(value=float(noisy[0]), scale=scale, grid=1.0)


def laplace_scale(sensitivity: float, epsilon: Amount) -> float:
    """``sensitivity / epsilon`` in exact arithmetic, rounded up to a double."""
    wanted = Fraction(sensitivity) / exact(epsilon)
    try:
        scale = float(wanted)
    except OverflowError:
        raise InputError(
            "epsilon is so small that its noise has no finite scale: ask for more."
        ) from None
    return scale if Fraction(scale) >= wanted else math.nextafter(scale, math.inf)


def grid_bits(n_rows: int) -> int:
    """Bits after the binary point of the grid for sums over this many rows.

    At most 20, and so few that the floating-point error of the sum stays under half a step.
    """
    return min(_FINEST_GRID, _USABLE_BITS - n_rows.bit_length())


def add_to_real(
    value: float, *, sensitivity: float, epsilon: Amount, n_rows: int, noise: Noise
) -> Noisy:
    """Add Laplace noise to a real statistic, on a grid.

    The statistic is rounded down to a multiple of ``2^-k``; in these steps one row moves it by at
    most ``ceil(2^k sensitivity) + 1``, and that is what the noise is calibrated to.

    Parameters
    ----------
    value : float
        The statistic, computed to within a quarter of a grid step.
    sensitivity : float
        Its global sensitivity in exact arithmetic.
    epsilon : float
        Cost.
    n_rows : int
        Public number of rows, which sets the grid.
    noise : Noise
        Where the noise comes from.

    Returns
    -------
    Noisy
    """
    unit = 2.0 ** grid_bits(n_rows)
    scale = laplace_scale(grid_sensitivity(sensitivity, n_rows), epsilon)
    steps = noise.add_laplace(np.array([math.floor(value * unit)], dtype=np.int64), scale)
    return Noisy(value=int(steps[0]) / unit, scale=scale / unit, grid=1.0 / unit)


def pair_sensitivity(moves: float, n_rows: int) -> int:
    """Largest move of two statistics together in grid steps, with that in exact arithmetic.

    Each of both may be off by a quarter of a step and is rounded down, on a grid that is one bit
    coarser than that of one statistic.
    """
    return math.ceil(2.0 ** (grid_bits(n_rows) - 1) * moves) + 4


def add_to_reals(
    values: FloatArray, *, cost: float | Fraction, n_rows: int, noise: Noise
) -> tuple[Noisy, Noisy]:
    """Add noise of scale `cost`, in grid steps, to sum and difference of two statistics."""
    unit = 2.0 ** (grid_bits(n_rows) - 1)
    scale = laplace_scale(1.0, 1 / Fraction(cost))
    steps = noise.add_laplace(np.floor(values * unit).astype(np.int64), scale)
    first, second = (
        Noisy(value=int(step) / unit, scale=scale / unit, grid=1.0 / unit) for step in steps
    )
    return first, second


def grid_sensitivity(sensitivity: float, n_rows: int) -> int:
    """Sensitivity in grid steps of a statistic rounded down to the grid."""
    return math.ceil(2.0 ** grid_bits(n_rows) * sensitivity) + 1


def uniform_below(limit: int, bits: Callable[[int], int]) -> int:
    """Uniform integer in [0, limit)."""
    width = limit.bit_length()
    while (drawn := bits(width)) >= limit:
        pass
    return drawn


def _opendp_laplace(scale: float) -> Any:
    try:
        from opendp import domains, measurements, metrics, mod
    except ImportError as error:
        raise missing("the noise of a private release", "OpenDP", "privacy") from error
    space = domains.vector_domain(domains.atom_domain(T="i64")), metrics.l1_distance(T="i64")
    # OpenDP asks its callers to opt in, for the whole process: opt in only while building.
    with _features:
        added = "contrib" not in mod.GLOBAL_FEATURES
        mod.enable_features("contrib")
        try:
            return measurements.make_laplace(*space, scale=scale)
        finally:
            if added:
                mod.disable_features("contrib")

"""The distribution of the scores of one class: tail probability, quantile, density, draws.

Precision-recall curves live in the upper tail, so a distribution is written from above: `survival`
is the probability of a score over a threshold and `upper_quantile` its inverse. Both keep their
relative accuracy where the probability is tiny, as ``1 - cdf`` would not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import special

from precall._validation import as_number
from precall.exceptions import InputError

FloatArray = npt.NDArray[np.float64]
Shape = int | tuple[int, ...]

# Tail probabilities of the landmarks of a distribution.
_LANDMARK_TAILS = np.array([1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1.0 - 1e-6])
# A share that rounding put just under another is that one.
_ROUNDING = 2e-15


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """A continuous distribution of scores ``location + scale * Z``; each subclass is one for ``Z``.

    A subclass gives `_survival`, `_upper_quantile`, `_density` and `_sample` of ``Z``, where
    `_upper_quantile` of 0 and of 1 are the ends of the support, and `_knots`: the points at which
    the survival function of ``Z`` is not smooth.
    """

    _knots: ClassVar[tuple[float, ...]] = ()

    location: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not np.isfinite(as_number(self.location, "location")):
            raise InputError(f"location must be finite, got {self.location!r}.")
        require_positive(scale=self.scale)

    def survival(self, score: npt.ArrayLike) -> FloatArray:
        """Probability of a score above `score`."""
        tail: FloatArray = self._survival(self._standardised(score))
        return tail

    def cdf(self, score: npt.ArrayLike) -> FloatArray:
        """Probability of a score at or below `score`."""
        return 1.0 - self.survival(score)

    def upper_quantile(self, probability: npt.ArrayLike) -> FloatArray:
        """The score that is exceeded with this probability, which may be 0 or 1."""
        probability = np.asarray(probability, dtype=np.float64)
        score: FloatArray = self.location + self.scale * self._upper_quantile(probability)
        return score

    def density(self, score: npt.ArrayLike) -> FloatArray:
        """Probability density."""
        density: FloatArray = self._density(self._standardised(score)) / self.scale
        return density

    def sample(self, rng: np.random.Generator, shape: Shape) -> FloatArray:
        """Independent draws."""
        draws: FloatArray = self._sample(rng, shape)
        if self.scale != 1.0:
            draws *= self.scale
        if self.location != 0.0:
            draws += self.location
        return draws

    @property
    def landmarks(self) -> FloatArray:
        """Scores between which the survival function is smooth and of one scale."""
        return self.location + self.scale * np.asarray(self._landmarks())

    def _standardised(self, score: npt.ArrayLike) -> FloatArray:
        return (np.asarray(score, dtype=np.float64) - self.location) / self.scale

    def _landmarks(self) -> Any:
        return np.concatenate([self._knots, self._upper_quantile(_LANDMARK_TAILS)])

    def _survival(self, z: FloatArray) -> Any:
        raise NotImplementedError

    def _upper_quantile(self, q: FloatArray) -> Any:
        raise NotImplementedError

    def _density(self, z: FloatArray) -> Any:
        raise NotImplementedError

    def _sample(self, rng: np.random.Generator, shape: Shape) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class Normal(Distribution):
    """Normal distribution: `location` is its mean, `scale` its standard deviation.

    Examples
    --------
    >>> float(Normal(location=1.0, scale=2.0).survival(3.0))
    0.158655253931
    """

    def _survival(self, z: FloatArray) -> Any:
        return special.ndtr(-z)

    def _upper_quantile(self, q: FloatArray) -> Any:
        return -special.ndtri(q)

    def _density(self, z: FloatArray) -> Any:
        return np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)

    def _sample(self, rng: np.random.Generator, shape: Shape) -> Any:
        return rng.standard_normal(shape)


@dataclass(frozen=True)
class StudentT(Distribution):
    """Student's t distribution: the fewer degrees of freedom, the heavier its tails."""

    degrees_of_freedom: float

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        require_positive(degrees_of_freedom=self.degrees_of_freedom)

    # Through the incomplete beta function: SciPy's own functions of this distribution lose digits,
    # and the ends, in some of its releases.
    def _survival(self, z: FloatArray) -> Any:
        half = 0.5 * self.degrees_of_freedom
        with np.errstate(over="ignore"):  # far out the square is infinite, and the tail 0
            tail = 0.5 * special.betainc(half, 0.5, 1.0 / (1.0 + z * z / self.degrees_of_freedom))
        return np.where(z < 0.0, 1.0 - tail, tail)

    def _upper_quantile(self, q: FloatArray) -> Any:
        half, tail = 0.5 * self.degrees_of_freedom, np.minimum(q, 1.0 - q)
        # The share z^2 / (degrees + z^2) where it is small, and what it lacks to 1 where not.
        share = special.betaincinv(0.5, half, 1.0 - 2.0 * np.maximum(tail, 0.25))
        rest = special.betaincinv(half, 0.5, 2.0 * np.minimum(tail, 0.25))
        with np.errstate(divide="ignore"):
            odds = np.where(tail < 0.25, (1.0 - rest) / rest, share / (1.0 - share))
        return np.copysign(np.sqrt(self.degrees_of_freedom * odds), 0.5 - q)

    def _density(self, z: FloatArray) -> Any:
        degrees = self.degrees_of_freedom
        constant = np.exp(-special.betaln(0.5 * degrees, 0.5)) / np.sqrt(degrees)
        return constant * np.exp(-0.5 * (degrees + 1.0) * np.log1p(z * z / degrees))

    def _sample(self, rng: np.random.Generator, shape: Shape) -> Any:
        return rng.standard_t(self.degrees_of_freedom, shape)


@dataclass(frozen=True)
class Logistic(Distribution):
    """Logistic distribution."""

    def _survival(self, z: FloatArray) -> Any:
        return special.expit(-z)

    def _upper_quantile(self, q: FloatArray) -> Any:
        return -special.logit(q)

    def _density(self, z: FloatArray) -> Any:
        return special.expit(z) * special.expit(-z)

    def _sample(self, rng: np.random.Generator, shape: Shape) -> Any:
        return rng.logistic(size=shape)


@dataclass(frozen=True)
class Laplace(Distribution):
    """Laplace (double exponential) distribution."""

    _knots = (0.0,)

    def _survival(self, z: FloatArray) -> Any:
        tail = 0.5 * np.exp(-np.abs(z))
        return np.where(z > 0.0, tail, 1.0 - tail)

    def _upper_quantile(self, q: FloatArray) -> Any:
        with np.errstate(divide="ignore"):
            distance = -np.log(2.0 * np.minimum(q, 1.0 - q))
        return np.where(q < 0.5, distance, -distance)

    def _density(self, z: FloatArray) -> Any:
        return 0.5 * np.exp(-np.abs(z))

    def _sample(self, rng: np.random.Generator, shape: Shape) -> Any:
        return rng.laplace(size=shape)


@dataclass(frozen=True)
class Uniform(Distribution):
    """Uniform distribution from `location` to ``location + scale``."""

    _knots = (0.0, 1.0)

    def _survival(self, z: FloatArray) -> Any:
        return np.clip(1.0 - z, 0.0, 1.0)

    def _upper_quantile(self, q: FloatArray) -> Any:
        return 1.0 - q

    def _density(self, z: FloatArray) -> Any:
        return np.where((z >= 0.0) & (z <= 1.0), 1.0, 0.0)

    def _sample(self, rng: np.random.Generator, shape: Shape) -> Any:
        return rng.random(shape)


@dataclass(frozen=True)
class Gamma(Distribution):
    """Gamma distribution; with `shape` 1 the exponential distribution."""

    shape: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        require_positive(shape=self.shape)

    _knots = (0.0,)

    def _survival(self, z: FloatArray) -> Any:
        return special.gammaincc(self.shape, np.maximum(z, 0.0))

    def _upper_quantile(self, q: FloatArray) -> Any:
        return special.gammainccinv(self.shape, q)

    def _density(self, z: FloatArray) -> Any:
        inside = np.maximum(z, 0.0)
        logarithm = special.xlogy(self.shape - 1.0, inside) - inside - special.gammaln(self.shape)
        return np.where(z == inside, np.exp(logarithm), 0.0)

    def _sample(self, rng: np.random.Generator, shape: Shape) -> Any:
        return rng.standard_gamma(self.shape, shape)


@dataclass(frozen=True)
class Beta(Distribution):
    """Beta distribution: its density goes with ``z**(a - 1) * (1 - z)**(b - 1)`` on [0, 1]."""

    a: float
    b: float

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        require_positive(a=self.a, b=self.b)

    _knots = (0.0, 1.0)

    def _survival(self, z: FloatArray) -> Any:
        return special.betaincc(self.a, self.b, np.clip(z, 0.0, 1.0))

    def _upper_quantile(self, q: FloatArray) -> Any:
        return special.betainccinv(self.a, self.b, q)

    def _density(self, z: FloatArray) -> Any:
        inside = np.clip(z, 0.0, 1.0)
        logarithm = special.xlogy(self.a - 1.0, inside) + special.xlog1py(self.b - 1.0, -inside)
        density = np.exp(logarithm - special.betaln(self.a, self.b))
        return np.where(z == inside, density, 0.0)

    def _sample(self, rng: np.random.Generator, shape: Shape) -> Any:
        return rng.beta(self.a, self.b, shape)


@dataclass(frozen=True)
class Pareto(Distribution):
    """Pareto distribution of the second kind, from `location` on: a tail of ``(1 + z)**-shape``."""

    shape: float

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        require_positive(shape=self.shape)

    _knots = (0.0,)

    def _survival(self, z: FloatArray) -> Any:
        return (1.0 + np.maximum(z, 0.0)) ** -self.shape

    def _upper_quantile(self, q: FloatArray) -> Any:
        with np.errstate(divide="ignore"):
            return np.expm1(-np.log(q) / self.shape)

    def _density(self, z: FloatArray) -> Any:
        tail = (1.0 + np.maximum(z, 0.0)) ** (-self.shape - 1.0)
        return np.where(z >= 0.0, self.shape * tail, 0.0)

    def _sample(self, rng: np.random.Generator, shape: Shape) -> Any:
        return rng.pareto(self.shape, shape)


@dataclass(frozen=True)
class Mixture(Distribution):
    """Each score is from one of `distributions`, chosen with probabilities `weights`.

    Examples
    --------
    >>> spread = Mixture((Normal(location=-3.0), Normal(location=2.0)), (0.9, 0.1))
    >>> float(spread.survival(2.0))
    0.0500002580
    >>> float(spread.upper_quantile(spread.survival(1.5)))
    1.5
    """

    distributions: tuple[Distribution, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        weights = [as_number(weight, "weights") for weight in self.weights]
        if not weights or len(weights) != len(self.distributions):
            raise InputError(
                f"weights must be one number per distribution, got {len(weights)} for "
                f"{len(self.distributions)} distributions."
            )
        if not min(weights) > 0.0 or abs(sum(weights) - 1.0) > 1e-12:
            raise InputError(
                f"weights must be positive and sum to 1, got {self.weights}: "
                "leave out distributions of weight 0 and divide by the sum."
            )

    def _landmarks(self) -> Any:
        return np.concatenate([distribution.landmarks for distribution in self.distributions])

    def _survival(self, z: FloatArray) -> Any:
        return np.tensordot(
            self.weights, [distribution.survival(z) for distribution in self.distributions], axes=1
        )

    def _upper_quantile(self, q: FloatArray) -> Any:
        # The quantile of a mixture lies between those of its distributions: bisect to the last
        # digit. Between two kinds of scores it is the highest of many, as in a sample the highest
        # threshold with a recall counts.
        quantiles = np.stack(
            [distribution.upper_quantile(q) for distribution in self.distributions]
        )
        low, high = quantiles.min(axis=0), quantiles.max(axis=0)
        unbounded = np.where(q == 0.0, high, low)
        inside = np.isfinite(low) & np.isfinite(high)
        low, high = np.where(inside, low, 0.0), np.where(inside, high, 0.0)
        while True:
            middle = low + 0.5 * (high - low)
            if np.all((middle == low) | (middle == high)):
                return np.where(inside, middle, unbounded)
            over = self._survival(middle) >= q * (1.0 - _ROUNDING)
            low, high = np.where(over, middle, low), np.where(over, high, middle)

    def _density(self, z: FloatArray) -> Any:
        return np.tensordot(
            self.weights, [distribution.density(z) for distribution in self.distributions], axes=1
        )

    def _sample(self, rng: np.random.Generator, shape: Shape) -> Any:
        choice = np.searchsorted(np.cumsum(self.weights[:-1]), rng.random(shape), side="right")
        draws = np.empty(shape)
        for index, distribution in enumerate(self.distributions):
            chosen = choice == index
            draws[chosen] = distribution.sample(rng, int(np.count_nonzero(chosen)))
        return draws


def require_positive(**parameters: float) -> None:
    """Raise unless every parameter is a positive, finite number."""
    for name, value in parameters.items():
        if not 0.0 < as_number(value, name) < np.inf:
            raise InputError(f"{name} must be positive and finite, got {value!r}.")

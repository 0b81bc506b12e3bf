"""Score models whose precision-recall curve and areas are known exactly.

A scenario says how scores are drawn given the class. Prevalence is not part of it: the curve in
ROC space, recall against false-positive rate, belongs to the scorer, and prevalence turns it into
precision, ``p t / (p t + (1 - p) FPR(t))`` at recall ``t``.

With continuous scores all estimators of the area converge to the same number, except the convex
one (to the area of the convex hull) and the binormal one (to that of two normal distributions).
With tied scores they do not: :mod:`precall.simulate.steps` has those scenarios.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from precall._validation import (
    as_choice,
    as_count,
    as_fraction,
    as_generator,
    as_number,
    as_range,
)
from precall.exceptions import InputError

from .distributions import Beta, Distribution, FloatArray, Mixture, Normal, Uniform

# What the curve does on a shorter stretch of recall cannot matter to an area.
_NEGLIGIBLE_RECALL = 1e-14


class Scenario:
    """How the scores of positives and of negatives are drawn, and what follows from it exactly."""

    def sample_scores(
        self,
        n_pos: int,
        n_neg: int,
        size: int = 1,
        rng: np.random.Generator | int | None = None,
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Draw `size` data sets at once, for simulations.

        Returns
        -------
        positives : array of shape (size, n_pos)
        negatives : array of shape (size, n_neg)
        """
        generator = as_generator(rng)
        size = as_count(size, "size")
        return (
            self._draw(True, generator, (size, as_count(n_pos, "n_pos"))),
            self._draw(False, generator, (size, as_count(n_neg, "n_neg"))),
        )

    def sample(
        self, n_pos: int, n_neg: int, rng: np.random.Generator | int | None = None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
        """Draw one data set, its rows in random order.

        Returns
        -------
        y_true : array of 0 and 1
        y_score : array
        """
        generator = as_generator(rng)
        positives, negatives = self.sample_scores(n_pos, n_neg, rng=generator)
        labels = np.zeros(positives.size + negatives.size, dtype=np.bool_)
        labels[: positives.size] = True
        generator.shuffle(labels)
        scores = np.empty(labels.size, dtype=np.result_type(positives, negatives))
        scores[labels], scores[~labels] = positives[0], negatives[0]
        return labels.astype(np.int64), scores

    def false_positive_rate(self, recall: npt.ArrayLike) -> Any:
        """False-positive rate at the threshold that has this recall.

        At recall 0 it is the limit from the right: the share of negatives above every positive.
        """
        recall = _as_recall(recall)
        return _like(recall, self._false_positive_rate(recall))

    def precision(self, recall: npt.ArrayLike, prevalence: float) -> Any:
        """Precision at the threshold that has this recall: the true curve.

        At recall 0 it is 0 where negatives rank above every positive, and NaN otherwise: there it
        would be 0/0.
        """
        recall = _as_recall(recall)
        prevalence = as_fraction(prevalence, "prevalence")
        with np.errstate(invalid="ignore"):
            return _like(
                recall, precision_at(recall, self._false_positive_rate(recall), prevalence)
            )

    def aucpr(
        self,
        prevalence: float,
        recall: tuple[float, float] = (0.0, 1.0),
        estimator: str = "average_precision",
    ) -> float:
        """Area under the true curve over a range of recall: what an estimator converges to.

        `estimator` is ``"average_precision"`` or ``"davis_goadrich"`` (the area under `precision`).
        With continuous scores they are the same number; only tied scores tell them apart.
        """
        prevalence = as_fraction(prevalence, "prevalence")
        estimator = as_choice(estimator, "estimator", ("average_precision", "davis_goadrich"))
        return self._aucpr(prevalence, *as_range(recall, "recall"), estimator)

    def auroc(self) -> float:
        """Probability that a positive outranks a negative, a tie counting one half."""
        raise NotImplementedError

    def asymptotic_variance(
        self, recall: npt.ArrayLike, prevalence: float, *, random_prevalence: bool = True
    ) -> Any:
        r"""Variance of the empirical precision at this recall, times the number of rows N.

        The limit of ``N var(precision)`` for a sample of N rows: with precision P, false-positive
        rate a, recall t, prevalence p and h/g the ratio of the densities of negatives and
        positives at the threshold,

        .. math:: \frac{P^4}{t^2} \left\{ \frac{(1-p) a^2}{p^3}
            + \frac{(1-p)^2 t (1-t)}{p^3} \Big(\frac{h}{g}\Big)^2
            + \frac{(1-p) a (1-a)}{p^2} \right\},

        after Clémençon & Vayatis (2009, Theorem 1), whose equation (9) is misprinted. The first
        term comes from the prevalence of the sample; `random_prevalence=False` leaves it out, for
        samples with the numbers of positives and negatives fixed.
        """
        raise NotImplementedError

    def _draw(
        self, positive: bool, rng: np.random.Generator, shape: tuple[int, int]
    ) -> npt.NDArray[Any]:
        raise NotImplementedError

    def _false_positive_rate(self, recall: FloatArray) -> FloatArray:
        raise NotImplementedError

    def _aucpr(self, prevalence: float, low: float, high: float, estimator: str) -> float:
        raise NotImplementedError


class ContinuousScenario(Scenario):
    """A scenario with a continuous distribution per class; a subclass gives `distributions`."""

    def distributions(self) -> tuple[Distribution, Distribution]:
        """The distributions of the scores of positives and of negatives."""
        raise NotImplementedError

    def auroc(self) -> float:
        """Probability that a positive outranks a negative."""
        return 1.0 - _integrate(self._false_positive_rate, self._pieces(0.0, 1.0))

    def asymptotic_variance(
        self, recall: npt.ArrayLike, prevalence: float, *, random_prevalence: bool = True
    ) -> Any:
        """Variance of the empirical precision at this recall, times the number of rows N."""
        recall = _as_recall(recall, open_ends=True)
        p = as_fraction(prevalence, "prevalence")
        positive, negative = self.distributions()
        threshold = positive.upper_quantile(recall)
        slope = negative.density(threshold) / positive.density(threshold)
        rate = self._false_positive_rate(recall)
        terms = (
            (1.0 - p) ** 2 * recall * (1.0 - recall) * slope**2 / p**3
            + (1.0 - p) * rate * (1.0 - rate) / p**2
            + random_prevalence * (1.0 - p) * rate**2 / p**3
        )
        return _like(recall, precision_at(recall, rate, p) ** 4 / recall**2 * terms)

    def _draw(
        self, positive: bool, rng: np.random.Generator, shape: tuple[int, int]
    ) -> npt.NDArray[Any]:
        return self.distributions()[0 if positive else 1].sample(rng, shape)

    def _false_positive_rate(self, recall: FloatArray) -> FloatArray:
        positive, negative = self.distributions()
        return negative.survival(positive.upper_quantile(recall))

    def _aucpr(self, prevalence: float, low: float, high: float, estimator: str) -> float:
        return _integrate(
            lambda recall: precision_at(recall, self._false_positive_rate(recall), prevalence),
            self._pieces(low, high),
        )

    def _pieces(self, low: float, high: float) -> FloatArray:
        """Recalls that cut [low, high] into pieces inside which the curve is smooth."""
        positive, negative = self.distributions()
        cuts = positive.survival(np.concatenate([positive.landmarks, negative.landmarks]))
        inner = cuts[(cuts > low + _NEGLIGIBLE_RECALL) & (cuts < high - _NEGLIGIBLE_RECALL)]
        return np.unique([low, *inner, high])


@dataclass(frozen=True)
class Pair(ContinuousScenario):
    """Any two continuous distributions.

    Examples
    --------
    >>> from precall.simulate import Normal, Pair, StudentT
    >>> heavy = Pair(positives=StudentT(3, location=1.0), negatives=StudentT(3))
    >>> heavy.aucpr(0.1)
    0.1951978574
    """

    positives: Distribution
    negatives: Distribution

    def distributions(self) -> tuple[Distribution, Distribution]:
        """The distributions of the scores of positives and of negatives."""
        return self.positives, self.negatives


@dataclass(frozen=True)
class Binormal(ContinuousScenario):
    """Negatives standard normal, positives N(mean, standard_deviation²).

    The defaults are those of Boyd (2014, section 4.4).

    Examples
    --------
    >>> from precall.simulate import Binormal
    >>> Binormal().aucpr(prevalence=0.1)
    0.292835643514
    >>> y_true, y_score = Binormal(mean=2.0).sample(n_pos=20, n_neg=80, rng=0)
    >>> int(y_true.sum()), y_score.shape
    (20, (100,))
    """

    mean: float = 1.0
    standard_deviation: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        self.distributions()

    def distributions(self) -> tuple[Distribution, Distribution]:
        """The distributions of the scores of positives and of negatives."""
        return Normal(location=self.mean, scale=self.standard_deviation), Normal()


@dataclass(frozen=True)
class Bibeta(ContinuousScenario):
    """Beta distributions with parameters (a, b) per class, as probabilities have.

    The defaults are those of Boyd (2014, section 4.4).

    Examples
    --------
    >>> from precall.simulate import Bibeta
    >>> Bibeta().aucpr(prevalence=0.1)
    0.809586774289
    """

    positives: tuple[float, float] = (5.0, 2.0)
    negatives: tuple[float, float] = (2.0, 5.0)

    def __post_init__(self) -> None:
        """Check the parameters."""
        self.distributions()

    def distributions(self) -> tuple[Distribution, Distribution]:
        """The distributions of the scores of positives and of negatives."""
        return Beta(*self.positives), Beta(*self.negatives)

    def _false_positive_rate(self, recall: FloatArray) -> FloatArray:
        # Counted from the nearer end of [0, 1]: next to 1, 1 - score keeps the digits score loses.
        (a, b), (c, d) = self.positives, self.negatives
        distance = special.betaincinv(b, a, recall)
        from_above: FloatArray = special.betainc(d, c, distance)
        from_below: FloatArray = special.betaincc(c, d, special.betainccinv(a, b, recall))
        return np.where(distance < 0.5, from_above, from_below)


@dataclass(frozen=True)
class OffsetUniform(ContinuousScenario):
    """Negatives uniform on [0, 1], positives uniform on [offset, offset + width].

    The defaults are those of Boyd (2014, section 4.4). No negative reaches the upper positives,
    so precision is 1 there.

    Examples
    --------
    >>> from precall.simulate import OffsetUniform
    >>> OffsetUniform().aucpr(prevalence=0.1)
    0.657905287276
    """

    offset: float = 0.5
    width: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        self.distributions()

    def distributions(self) -> tuple[Distribution, Distribution]:
        """The distributions of the scores of positives and of negatives."""
        return Uniform(location=self.offset, scale=self.width), Uniform()


@dataclass(frozen=True)
class OutlyingNegatives(ContinuousScenario):
    """A scenario in which each negative has probability `fraction` to rank above every positive.

    Rows stay independent, so the truth is that of one population: the false-positive rate is
    ``fraction + (1 - fraction) FPR(t)`` and precision starts from 0 at recall 0. A sample of m
    negatives has Binomial(m, fraction) outliers, Poisson(m fraction) in the limit. To keep the
    *expected number* of outliers fixed as m changes is to change the population with m, and its
    true area with it: `expecting` gives the scenario for one m.

    Examples
    --------
    >>> from precall.simulate import Binormal, OutlyingNegatives
    >>> spoilt = OutlyingNegatives.expecting(2, n_neg=900, base=Binormal(2.0))
    >>> spoilt.fraction
    0.00222222
    >>> Binormal(2.0).aucpr(0.1), spoilt.aucpr(0.1)
    (0.66547127807, 0.60469904085)
    """

    fraction: float
    base: ContinuousScenario = field(default_factory=lambda: Binormal(2.0))

    def __post_init__(self) -> None:
        """Check the parameters."""
        as_fraction(self.fraction, "fraction")
        if not isinstance(self.base, ContinuousScenario):
            raise InputError(f"base must be a scenario with continuous scores, got {self.base!r}.")

    @classmethod
    def expecting(
        cls, number: float, n_neg: int, base: ContinuousScenario | None = None
    ) -> OutlyingNegatives:
        """The scenario in which a sample of `n_neg` negatives has `number` outliers on average."""
        fraction = as_number(number, "number") / as_count(n_neg, "n_neg", minimum=1)
        return cls(fraction) if base is None else cls(fraction, base)

    def distributions(self) -> tuple[Distribution, Distribution]:
        """The distributions of the scores of positives and of negatives."""
        positive, negative = self.base.distributions()
        # No draw of a positive gets here: its probability is under one in 2**53.
        above_all = Uniform(location=float(positive.upper_quantile(2.0**-54)))
        return positive, Mixture((negative, above_all), (1.0 - self.fraction, self.fraction))

    def _false_positive_rate(self, recall: FloatArray) -> FloatArray:
        return self.fraction + (1.0 - self.fraction) * self.base._false_positive_rate(recall)


def _as_recall(recall: npt.ArrayLike, *, open_ends: bool = False) -> FloatArray:
    values = np.asarray(recall, dtype=np.float64)
    inside = (values > 0.0) & (values < 1.0) if open_ends else (values >= 0.0) & (values <= 1.0)
    if not np.all(inside):
        rule = "strictly between 0 and 1" if open_ends else "between 0 and 1"
        raise InputError(f"recall must be {rule}, got {values[~inside].flat[0]:g}.")
    return values


def _like(recall: FloatArray, values: FloatArray) -> Any:
    """Give a float for a number and an array for an array."""
    return values if recall.ndim else float(values)


def precision_at(recall: FloatArray, rate: FloatArray, prevalence: float) -> FloatArray:
    """Precision at a point of ROC space."""
    return prevalence * recall / (prevalence * recall + (1.0 - prevalence) * rate)


def _integrate(function: Callable[[FloatArray], FloatArray], edges: FloatArray) -> float:
    """Integrate piece by piece with the double exponential rule (Takahasi & Mori 1974).

    Its nodes crowd at both ends of a piece, so that the curve's steep start at recall 0 and its
    kinks cost nothing. Halving the step about doubles the correct digits.
    """
    previous = np.nan
    for level in range(3, 13):
        u = np.arange(-4.6, 4.6, 2.0**-level)
        share = 1.0 / (1.0 + np.exp(-np.pi * np.sinh(u)))
        weight = 2.0**-level * np.pi * np.cosh(u) * share / (1.0 + np.exp(np.pi * np.sinh(u)))
        width = np.diff(edges)[:, None]
        nodes = np.minimum(edges[:-1, None] + width * share, edges[1:, None])
        area = float(np.sum(width * weight * function(nodes)))
        if abs(area - previous) <= 1e-12 * abs(area):
            return area
        previous = area
    raise ArithmeticError(f"the integral did not settle: {previous} after {u.size} nodes a piece")

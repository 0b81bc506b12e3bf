"""The scenarios that methods are tried on, by name."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from .distributions import (
    Beta,
    Gamma,
    Laplace,
    Logistic,
    Mixture,
    Normal,
    Pareto,
    StudentT,
    Uniform,
)
from .inflated import ZeroInflated
from .scenarios import Bibeta, Binormal, OffsetUniform, Pair, Scenario
from .steps import Levels

#: Scenarios without outlying negatives: light and heavy tails, equal and unequal spread, bounded
#: scores, two kinds of positives, ties. Those of Boyd (2014, section 4.4) are binormal_1, bibeta
#: and offset_uniform; for samples with outlying negatives see `OutlyingNegatives`.
REGULAR = MappingProxyType[str, Scenario](
    {
        "binormal_0.3": Binormal(0.3),
        "binormal_1": Binormal(1.0),
        "binormal_2": Binormal(2.0),
        "bibeta": Bibeta(),
        "offset_uniform": OffsetUniform(),
        "student_t3": Pair(StudentT(3.0, location=1.0), StudentT(3.0)),
        "gamma": Pair(Gamma(4.0), Gamma(2.0)),
        "logistic": Pair(Logistic(location=2.0), Logistic()),
        "mixture": Pair(Mixture((Normal(location=3.0), Normal()), (0.5, 0.5)), Normal()),
        "ten_levels": Levels.cut(Binormal(1.0), 10),
        "laplace": Pair(Laplace(location=1.5), Laplace()),
        "unequal_variances": Binormal(1.0, 2.0),
        "exponential": Pair(Gamma(1.0, scale=3.0), Gamma(1.0)),
        "normal_against_t2": Pair(Normal(location=2.0), StudentT(2.0)),
    }
)


def _noisy(scenario: Pair, share: float) -> Pair:
    """A share of each class scores as the other one does: labels that were given wrongly."""
    ours, theirs = scenario.distributions()
    right = 1.0 - share
    return Pair(Mixture((ours, theirs), (right, share)), Mixture((theirs, ours), (right, share)))


#: Scenarios that no constant of a method was chosen on. They were found by looking for failures:
#: many rows at one score, few levels, probabilities that are calibrated, tails without a mean,
#: several kinds of positives, positives below every negative, a few positives above everything,
#: labels that are wrong, and a scorer that is worse than chance.
UNSEEN = MappingProxyType[str, Scenario](
    {
        "zero_inflated": ZeroInflated(0.3, 0.8, Pair(Gamma(2.0), Gamma(1.0))),
        "five_levels": Levels.cut(Binormal(1.5), 5),
        "calibrated": Pair(Beta(1.5, 3.0), Beta(0.5, 4.0)),
        "pareto": Pair(Pareto(1.5, scale=4.0), Pareto(1.5)),
        "cauchy": Pair(StudentT(1.0, location=2.0), StudentT(1.0)),
        "three_modes": Pair(
            Mixture(
                (
                    Normal(location=4.0, scale=0.5),
                    Normal(location=1.5, scale=0.5),
                    Normal(location=-1.0, scale=0.5),
                ),
                (0.4, 0.3, 0.3),
            ),
            Normal(),
        ),
        "two_sided": Pair(
            Mixture((Uniform(location=2.0), Uniform(location=-2.0)), (0.5, 0.5)), Uniform()
        ),
        "narrow_top": Pair(
            Mixture((Normal(location=6.0, scale=0.1), Normal()), (0.05, 0.95)), Normal()
        ),
        "noisy": _noisy(Pair(Normal(location=2.0), Normal()), 0.02),
        "noisy_perfect": _noisy(Pair(Uniform(location=1.0), Uniform()), 0.01),
        "worse_than_random": Binormal(-0.5),
    }
)


def _rounded(ours: Beta, theirs: Beta, digits: int) -> Levels:
    """Scores on [0, 1] as they look when printed with so many digits."""
    steps = 10**digits
    edges = [0.0, *((2 * step + 1) / (2 * steps) for step in range(steps)), 1.0]
    shares = [tuple((-np.diff(scores.survival(edges))).tolist()) for scores in (ours, theirs)]
    return Levels(*shares)


#: Two more that were kept aside: looked at only when a method was finished.
HELD_OUT = MappingProxyType[str, Scenario](
    {
        "comb": Pair(
            Mixture(tuple(Uniform(location=place) for place in (5.0, 3.0, 1.0)), (0.3, 0.4, 0.3)),
            Mixture(tuple(Uniform(location=place) for place in (4.0, 2.0, 0.0)), (0.02, 0.18, 0.8)),
        ),
        "one_decimal": _rounded(Beta(2.0, 1.5), Beta(1.0, 4.0), 1),
    }
)

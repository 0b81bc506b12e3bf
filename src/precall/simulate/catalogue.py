"""The scenarios that methods are tried on, by name."""

from __future__ import annotations

from types import MappingProxyType

from .distributions import Gamma, Laplace, Logistic, Mixture, Normal, StudentT
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

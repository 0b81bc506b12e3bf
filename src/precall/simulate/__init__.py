"""Score models with known truth, and the means to simulate from them in bulk."""

from precall._parallel import iterate_blocks, run_blocks

from .catalogue import HELD_OUT, REGULAR, UNSEEN
from .distributions import (
    Beta,
    Distribution,
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
from .ranks import RankingBatch, rank_batch
from .scenarios import (
    Bibeta,
    Binormal,
    ContinuousScenario,
    OffsetUniform,
    OutlyingNegatives,
    Pair,
    Scenario,
)
from .steps import Empirical, Levels, TiedScenario

__all__ = [
    "Scenario",
    "ContinuousScenario",
    "Binormal",
    "Bibeta",
    "OffsetUniform",
    "Pair",
    "OutlyingNegatives",
    "TiedScenario",
    "Levels",
    "Empirical",
    "ZeroInflated",
    "REGULAR",
    "UNSEEN",
    "HELD_OUT",
    "Distribution",
    "Normal",
    "StudentT",
    "Logistic",
    "Laplace",
    "Uniform",
    "Gamma",
    "Beta",
    "Pareto",
    "Mixture",
    "RankingBatch",
    "rank_batch",
    "run_blocks",
    "iterate_blocks",
]

"""How good a binary scorer is, how sure you can be, and what the number would be elsewhere."""

from ._estimators import ESTIMATORS
from ._version import __version__
from .areas import (
    aucnpr,
    aucpr,
    auprg,
    auroc,
    minimum_aucpr,
    minimum_average_precision,
    random_average_precision,
    tie_bounds,
)
from .curves import (
    Curve,
    gain_curve,
    hit_curve,
    is_achievable,
    lift_curve,
    minimum_pr_curve,
    pr_curve,
    roc_curve,
)
from .example import example_path, load_example
from .ranking import Ranking, rank
from .results import Interval

__all__ = [
    "Curve",
    "ESTIMATORS",
    "Interval",
    "Ranking",
    "__version__",
    "aucnpr",
    "aucpr",
    "auprg",
    "auroc",
    "example_path",
    "gain_curve",
    "hit_curve",
    "is_achievable",
    "lift_curve",
    "load_example",
    "minimum_aucpr",
    "minimum_average_precision",
    "minimum_pr_curve",
    "pr_curve",
    "random_average_precision",
    "rank",
    "roc_curve",
    "tie_bounds",
]

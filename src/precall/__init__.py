"""How good a binary scorer is, how sure you can be, and what the number would be elsewhere."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import audit as audit
    from . import engines as engines
    from . import metrics
    from . import monitoring as monitoring
    from . import planning as planning
    from . import privacy as privacy
    from . import results as results
    from . import simulate as simulate
    from ._interval import Interval
    from .curves import (
        Curve,
        brier_curve,
        cost_curve,
        gain_curve,
        hit_curve,
        is_achievable,
        lift_curve,
        minimum_pr_curve,
        net_benefit_curve,
        pr_curve,
        roc_curve,
    )
    from .evaluation.build import evaluate
    from .example import example_path, load_example
    from .gates.gating import gate
    from .groups import (
        RankingSet,
        aggregate,
        compare_groups,
        downsample_effect,
        per_group,
        rank_classes,
        rank_groups,
        read_trec,
        summary_curve,
        undo_downsampling,
    )
    from .groups.slices import slices
    from .inference.bands import BANDS, Band, difference_band, smooth_pr_curve
    from .inference.bands.api import band
    from .inference.calibration import calibration_check
    from .inference.chance import chance_test
    from .inference.compare import compare
    from .inference.fold_intervals import crossval_interval
    from .inference.intervals import interval
    from .inference.rules import INTERVALS
    from .metrics import ESTIMATORS, METRICS
    from .metrics.areas import (
        aucnpr,
        aucpr,
        auprg,
        auroc,
        minimum_aucpr,
        minimum_average_precision,
        random_average_precision,
        tie_bounds,
    )
    from .metrics.conventions import conventions
    from .points import (
        best_threshold,
        confusion,
        f_beta,
        iso_f_contours,
        operating_point,
        two_thresholds,
    )
    from .ranking import Ranking, rank
    from .ranking.builder import RankingBuilder
    from .rows import Rows

# Where each name is defined; loaded when first used, so that starting is quick.
_HOMES = {
    "._interval": ("Interval",),
    ".curves": (
        "Curve",
        "brier_curve",
        "cost_curve",
        "gain_curve",
        "hit_curve",
        "is_achievable",
        "lift_curve",
        "minimum_pr_curve",
        "net_benefit_curve",
        "pr_curve",
        "roc_curve",
    ),
    ".evaluation.build": ("evaluate",),
    ".example": ("example_path", "load_example"),
    ".gates.gating": ("gate",),
    ".groups": (
        "RankingSet",
        "aggregate",
        "compare_groups",
        "downsample_effect",
        "per_group",
        "rank_classes",
        "rank_groups",
        "read_trec",
        "summary_curve",
        "undo_downsampling",
    ),
    ".groups.slices": ("slices",),
    ".inference.bands": ("BANDS", "Band", "difference_band", "smooth_pr_curve"),
    ".inference.bands.api": ("band",),
    ".inference.calibration": ("calibration_check",),
    ".inference.chance": ("chance_test",),
    ".inference.compare": ("compare",),
    ".inference.fold_intervals": ("crossval_interval",),
    ".inference.intervals": ("interval",),
    ".inference.rules": ("INTERVALS",),
    ".metrics": ("ESTIMATORS", "METRICS"),
    ".metrics.areas": (
        "aucnpr",
        "aucpr",
        "auprg",
        "auroc",
        "minimum_aucpr",
        "minimum_average_precision",
        "random_average_precision",
        "tie_bounds",
    ),
    ".metrics.conventions": ("conventions",),
    ".points": (
        "best_threshold",
        "confusion",
        "f_beta",
        "iso_f_contours",
        "operating_point",
        "two_thresholds",
    ),
    ".ranking": ("Ranking", "rank"),
    ".ranking.builder": ("RankingBuilder",),
    ".rows": ("Rows",),
}
# Those that can be asked for as attributes without importing them.
_SUBPACKAGES = (
    "audit",
    "curves",
    "engines",
    "exceptions",
    "groups",
    "inference",
    "metrics",
    "monitoring",
    "planning",
    "points",
    "privacy",
    "ranking",
    "results",
    "rows",
    "simulate",
)

__all__ = [
    "BANDS",
    "Band",
    "Curve",
    "ESTIMATORS",
    "INTERVALS",
    "Interval",
    "METRICS",
    "Ranking",
    "RankingBuilder",
    "RankingSet",
    "Rows",
    "__version__",
    "aggregate",
    "aucnpr",
    "aucpr",
    "auprg",
    "auroc",
    "band",
    "best_threshold",
    "brier_curve",
    "calibration_check",
    "chance_test",
    "compare",
    "compare_groups",
    "confusion",
    "conventions",
    "cost_curve",
    "crossval_interval",
    "difference_band",
    "downsample_effect",
    "evaluate",
    "example_path",
    "f_beta",
    "gain_curve",
    "gate",
    "hit_curve",
    "interval",
    "is_achievable",
    "iso_f_contours",
    "lift_curve",
    "load_example",
    "metrics",
    "minimum_aucpr",
    "minimum_average_precision",
    "minimum_pr_curve",
    "net_benefit_curve",
    "operating_point",
    "per_group",
    "pr_curve",
    "random_average_precision",
    "rank",
    "rank_classes",
    "rank_groups",
    "read_trec",
    "roc_curve",
    "slices",
    "smooth_pr_curve",
    "summary_curve",
    "tie_bounds",
    "two_thresholds",
    "undo_downsampling",
]


_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return import_module(f".{name}", __name__)
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOME_OF[name], __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBPACKAGES])

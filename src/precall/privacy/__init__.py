"""Release a metric or a curve without releasing a person.

Every release costs epsilon, which a :class:`Budget` keeps; the mechanisms, what they protect and
what is proved of them is in ``PROOFS.md`` beside this file.
"""

from . import attack, mechanisms, sensitivity
from .budget import Budget, BudgetError
from .choice import MECHANISMS, choose_mechanism
from .combining import SitesCurve, combine
from .crossval import PrivateCrossValidation, assign_folds, cross_validation
from .curve_release import pr_curve, roc_curve
from .edges import bin_count, private_edges, probability_edges
from .foresight import ExpectedError, expected_error
from .measuring import MeasuredEpsilon, measure_epsilon
from .mechanisms import SeededReleaseWarning
from .private_areas import auroc, average_precision
from .private_comparison import PrivateComparison, compare
from .private_confusion import CONFUSION_MECHANISMS, PrivateConfusion, confusion
from .private_curve import PrivateCurve
from .private_threshold import PrivateOperatingPoint, operating_point
from .ratios import CONFUSION_METRICS
from .site_plans import SitePlan, site_plan
from .site_releases import SiteRelease, site_release
from .threshold_foresight import ExpectedOperatingPoint, expected_operating_point
from .values import PrivateValue
from .zcdp import Composition, compose

__all__ = [
    "Budget",
    "BudgetError",
    "SeededReleaseWarning",
    "compose",
    "Composition",
    "average_precision",
    "auroc",
    "MECHANISMS",
    "choose_mechanism",
    "confusion",
    "CONFUSION_METRICS",
    "CONFUSION_MECHANISMS",
    "compare",
    "operating_point",
    "pr_curve",
    "roc_curve",
    "bin_count",
    "probability_edges",
    "private_edges",
    "cross_validation",
    "assign_folds",
    "PrivateValue",
    "PrivateComparison",
    "PrivateConfusion",
    "PrivateCurve",
    "PrivateOperatingPoint",
    "PrivateCrossValidation",
    "site_plan",
    "site_release",
    "combine",
    "SitePlan",
    "SiteRelease",
    "SitesCurve",
    "expected_error",
    "ExpectedError",
    "expected_operating_point",
    "ExpectedOperatingPoint",
    "measure_epsilon",
    "MeasuredEpsilon",
    "attack",
    "mechanisms",
    "sensitivity",
]

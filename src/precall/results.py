"""Every result class, imported from its home.

All are frozen dataclasses. ``to_dict()`` gives plain values and ``to_frame()`` a data frame; a
notebook shows a table or a drawing. ``plot()`` draws whatever is more than a single number.
"""

from ._interval import Interval
from .audit.in_pieces import PlannedRows
from .audit.label_bounds import LabelBounds
from .audit.label_plan import LabelPlan
from .curves.curve import Curve
from .curves.decision import DecisionCurve
from .evaluation import Evaluation, Finding, GroupEvaluation, Measure, ModelEvaluation
from .example import Example
from .gates.verdicts import Gate, GateRule
from .groups.averages import Aggregate
from .groups.downsampling import DownsampleEffect, PrecisionRecallSummary
from .groups.group_values import GroupValues
from .groups.paired_tests import GroupComparison
from .groups.slices_result import Slice, Slices
from .groups.summary import SummaryCurve
from .groups.trec import TrecRun
from .inference.bands.band import Band
from .inference.calibration import CalibrationCheck
from .inference.chance import ChanceTest
from .inference.comparison import Comparison
from .inference.result import MetricInterval
from .metrics.conventions import Convention, Conventions
from .monitoring.watching import Watch
from .monitoring.windows import Window, Windows
from .planning.powers import Power
from .planning.sizes import CaseControl, SampleSize
from .points.abstention import TwoThresholds
from .points.constraints import CertifiedBound, Constraint, OperatingPoint
from .points.contours import Contour
from .points.matrix import Confusion
from .points.thresholds import BestThreshold
from .privacy.attack import Exposure
from .privacy.combining import SitesCurve
from .privacy.crossval import PrivateCrossValidation
from .privacy.foresight import ExpectedError
from .privacy.measuring import MeasuredEpsilon
from .privacy.private_comparison import PrivateComparison
from .privacy.private_confusion import PrivateConfusion
from .privacy.private_curve import PrivateCurve
from .privacy.private_threshold import PrivateOperatingPoint
from .privacy.site_plans import SitePlan
from .privacy.site_releases import SiteRelease
from .privacy.threshold_foresight import ExpectedOperatingPoint
from .privacy.values import PrivateValue
from .privacy.zcdp import Composition
from .ranking import Ranking
from .ranking.pooling import Comparability
from .ranking.ranking_set import RankingSet

__all__ = [
    "Aggregate",
    "Band",
    "BestThreshold",
    "CalibrationCheck",
    "CaseControl",
    "CertifiedBound",
    "ChanceTest",
    "Comparability",
    "Comparison",
    "Composition",
    "Confusion",
    "Constraint",
    "Contour",
    "Convention",
    "Conventions",
    "Curve",
    "DecisionCurve",
    "DownsampleEffect",
    "Evaluation",
    "Example",
    "ExpectedError",
    "ExpectedOperatingPoint",
    "Exposure",
    "Finding",
    "Gate",
    "GateRule",
    "GroupComparison",
    "GroupEvaluation",
    "GroupValues",
    "Interval",
    "LabelBounds",
    "LabelPlan",
    "Measure",
    "MeasuredEpsilon",
    "MetricInterval",
    "ModelEvaluation",
    "OperatingPoint",
    "PlannedRows",
    "Power",
    "PrecisionRecallSummary",
    "PrivateComparison",
    "PrivateConfusion",
    "PrivateCrossValidation",
    "PrivateCurve",
    "PrivateOperatingPoint",
    "PrivateValue",
    "Ranking",
    "RankingSet",
    "SampleSize",
    "SitePlan",
    "SiteRelease",
    "SitesCurve",
    "Slice",
    "Slices",
    "SummaryCurve",
    "TrecRun",
    "TwoThresholds",
    "Watch",
    "Window",
    "Windows",
]

"""Metrics: objects over the counts of a ranking, with everything that others ask of them.

Each name below makes a metric: ``metrics.precision_at_recall(0.8)``. Wherever ``metric=`` is taken,
the object, its words (``"precision_at_recall(0.8)"``) or the name of a metric without required
options will do.
"""

from .base import Metric
from .by_rank import DiscountedGain, ReciprocalRank
from .confusion import (
    F1,
    Accuracy,
    BalancedAccuracy,
    FalseNegativeRate,
    FalsePositiveRate,
    FBeta,
    Informedness,
    Jaccard,
    MatthewsCorrelation,
    NegativePredictiveValue,
    PrecisionAtThreshold,
    RecallAtThreshold,
    Specificity,
)
from .estimators import ESTIMATORS, Estimator
from .gain import GainArea
from .normalised_area import NormalisedArea
from .points import PrecisionAtRecall, RecallAtPrecision
from .precision_recall import PrecisionRecallArea
from .registry import METRICS, as_metric, parse
from .roc import RocArea
from .search import ElevenPointPrecision, RPrecision
from .top_k import LiftAtK, PrecisionAtK, RecallAtK
from .utility import ExpectedCost, NetBenefit

aucpr = PrecisionRecallArea
aucnpr = NormalisedArea
auroc = RocArea
auprg = GainArea
precision_at_recall = PrecisionAtRecall
recall_at_precision = RecallAtPrecision
precision_at_threshold = PrecisionAtThreshold
recall_at_threshold = RecallAtThreshold
f1_at_threshold = F1
f_beta_at_threshold = FBeta
specificity_at_threshold = Specificity
false_positive_rate_at_threshold = FalsePositiveRate
false_negative_rate_at_threshold = FalseNegativeRate
negative_predictive_value_at_threshold = NegativePredictiveValue
accuracy_at_threshold = Accuracy
balanced_accuracy_at_threshold = BalancedAccuracy
informedness_at_threshold = Informedness
jaccard_at_threshold = Jaccard
mcc_at_threshold = MatthewsCorrelation
net_benefit = NetBenefit
expected_cost = ExpectedCost
precision_at_k = PrecisionAtK
recall_at_k = RecallAtK
lift_at_k = LiftAtK
ndcg = DiscountedGain
reciprocal_rank = ReciprocalRank
r_precision = RPrecision
eleven_point_precision = ElevenPointPrecision

__all__ = [
    "ESTIMATORS",
    "METRICS",
    "Estimator",
    "Metric",
    "accuracy_at_threshold",
    "as_metric",
    "aucnpr",
    "aucpr",
    "auprg",
    "auroc",
    "balanced_accuracy_at_threshold",
    "eleven_point_precision",
    "expected_cost",
    "f1_at_threshold",
    "f_beta_at_threshold",
    "false_negative_rate_at_threshold",
    "false_positive_rate_at_threshold",
    "informedness_at_threshold",
    "jaccard_at_threshold",
    "lift_at_k",
    "mcc_at_threshold",
    "ndcg",
    "negative_predictive_value_at_threshold",
    "net_benefit",
    "parse",
    "precision_at_k",
    "precision_at_recall",
    "precision_at_threshold",
    "r_precision",
    "recall_at_k",
    "recall_at_precision",
    "recall_at_threshold",
    "reciprocal_rank",
    "specificity_at_threshold",
]

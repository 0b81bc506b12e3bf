"""Metrics: objects over the counts of a ranking, with everything that others ask of them.

Each name below makes a metric: ``metrics.precision_at_recall(0.8)``. Wherever ``metric=`` is taken,
the object, its words (``"precision_at_recall(0.8)"``) or the name of a metric without required
options will do.
"""

from .base import Metric
from .confusion import F1, FBeta, PrecisionAtThreshold, RecallAtThreshold
from .estimators import ESTIMATORS, Estimator
from .gain import GainArea
from .points import PrecisionAtRecall, RecallAtPrecision
from .precision_recall import NormalisedArea, PrecisionRecallArea
from .registry import METRICS, as_metric, parse
from .roc import RocArea
from .search import ElevenPointPrecision, RPrecision
from .top_k import DiscountedGain, PrecisionAtK, RecallAtK, ReciprocalRank

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
precision_at_k = PrecisionAtK
recall_at_k = RecallAtK
ndcg = DiscountedGain
reciprocal_rank = ReciprocalRank
r_precision = RPrecision
eleven_point_precision = ElevenPointPrecision

__all__ = [
    "ESTIMATORS",
    "METRICS",
    "Estimator",
    "Metric",
    "as_metric",
    "aucnpr",
    "aucpr",
    "auprg",
    "auroc",
    "eleven_point_precision",
    "f1_at_threshold",
    "f_beta_at_threshold",
    "ndcg",
    "parse",
    "precision_at_k",
    "precision_at_recall",
    "precision_at_threshold",
    "r_precision",
    "recall_at_k",
    "recall_at_precision",
    "recall_at_threshold",
    "reciprocal_rank",
]

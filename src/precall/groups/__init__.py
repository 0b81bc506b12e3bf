"""Many rankings at once: folds, tasks, queries, classes and slices."""

from ..ranking.ranking_set import RankingSet
from .averages import aggregate
from .downsampling import downsample_effect, undo_downsampling
from .group_values import per_group
from .paired_tests import compare_groups
from .ranking_by_group import rank_classes, rank_groups
from .slices import slices
from .summary import summary_curve
from .trec import read_trec

__all__ = [
    "RankingSet",
    "aggregate",
    "compare_groups",
    "downsample_effect",
    "per_group",
    "rank_classes",
    "rank_groups",
    "read_trec",
    "slices",
    "summary_curve",
    "undo_downsampling",
]

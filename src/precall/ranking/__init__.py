"""Rank once, ask everything."""

from .checks import as_ranked
from .from_rows import rank, rank_checked
from .number_layout import Cells, Moments
from .ranked import Ranked, own_answer
from .table import Ranking

__all__ = [
    "Cells",
    "Moments",
    "Ranked",
    "Ranking",
    "as_ranked",
    "own_answer",
    "rank",
    "rank_checked",
]

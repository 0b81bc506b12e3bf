"""Thresholds that keep a minimum precision with confidence, for a ladder of minima."""

from __future__ import annotations

from ..points.operating import OperatingPoint, operating_point
from ..ranking import Ranking
from . import wording
from .quiet import quietly

#: Minimum precisions that are tried.
LADDER = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
# With so many scores to test each rung takes a while, and fewer of them do.
_MANY_SCORES = 100_000
_SHORT_LADDER = (0.01, 0.05, 0.1, 0.2, 0.5, 0.7, 0.8, 0.9, 0.95)


def certified_points(ranking: Ranking, confidence_level: float) -> tuple[OperatingPoint, ...]:
    """Try every minimum precision above the prevalence; keep what can be certified.

    Each point is a statement of its own at `confidence_level`, not all of them together.
    """
    if not (ranking.n_pos and ranking.n_neg):
        return ()
    points = []
    with quietly():
        for minimum in LADDER if len(ranking) <= _MANY_SCORES else _SHORT_LADDER:
            if minimum > ranking.prevalence:
                point = operating_point(
                    ranking, min_precision=minimum, confidence_level=confidence_level
                )
                if point.certified:
                    points.append(point)
    return tuple(points)


def promise(point: OperatingPoint, confidence_level: float, candidates: int) -> str:
    """Put a certified point into a sentence, at the level that holds for the choice of a model.

    `candidates` models were certified at ``1 - (1 - confidence_level) / candidates`` each.
    """
    sure = f"{wording.percent(confidence_level)} confidence"
    chosen = f", the choice among {candidates} models included" if candidates > 1 else ""
    return (
        f"Scores of {wording.threshold(point.threshold)} and above have a precision of at least "
        f"{wording.percent(point.required)} with {sure}, and a recall of at least "
        f"{wording.percent(point.recall_bound or 0.0)} with {sure}{chosen}."
    )

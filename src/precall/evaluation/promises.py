"""Thresholds that keep a minimum precision with confidence, for a ladder of minima."""

from __future__ import annotations

from ..points.constraints import OperatingPoint
from ..points.operating import points_of_precision
from ..ranking import Ranking
from . import wording
from .quiet import quietly

#: Minimum precisions that are tried.
LADDER = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
# With so many scores to test each rung takes a while, and fewer of them do.
_MANY_SCORES = 100_000
_SHORT_LADDER = (0.01, 0.05, 0.1, 0.2, 0.5, 0.7, 0.8, 0.9, 0.95)


def certified_points(
    ranking: Ranking, confidence_level: float, candidates: int, prevalence: float | None = None
) -> tuple[OperatingPoint, ...]:
    """Try every minimum precision above the prevalence; keep what can be certified.

    Whoever quotes one of them has chosen among the minima of the ladder and among `candidates`
    models. Each is certified so that the one quoted holds at `confidence_level`, at the prevalence
    of the data or at another one.
    """
    if not (ranking.n_pos and ranking.n_neg) or ranking.coarsened:  # it must see every score
        return ()
    least = ranking.prevalence if prevalence is None else prevalence
    ladder = LADDER if len(ranking) <= _MANY_SCORES else _SHORT_LADDER
    with quietly():
        return tuple(
            points_of_precision(
                ranking,
                [minimum for minimum in ladder if minimum > least],
                level=confidence_level,
                n_candidates=candidates * len(LADDER),
                prevalence=prevalence,
            )
        )


def kept_precision(point: OperatingPoint) -> float:
    """The minimum precision that a point of the ladder keeps."""
    [constraint] = point.constraints
    return constraint.required


def choice(candidates: int) -> str:
    """What the confidence of a promise allows for, in words."""
    models = f" and {candidates} models" if candidates > 1 else ""
    return f"allowing for the choice among {len(LADDER)} precisions{models}"


def promise(point: OperatingPoint, candidates: int) -> str:
    """Put a certified point into a sentence."""
    sure = f"{wording.percent(point.confidence_level)} confidence"
    return (
        f"Scores of {wording.threshold(point.threshold)} and above have a precision of at least "
        f"{wording.percent(kept_precision(point))} with {sure}, and a recall of at least "
        f"{wording.percent(point.recall_bound or 0.0)} with {sure}, {choice(candidates)}."
    )

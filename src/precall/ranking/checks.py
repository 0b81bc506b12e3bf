"""What is passed as a ranking is one, and has a score for every positive where that is needed."""

from __future__ import annotations

from typing import Any, Literal

from .._words import plural
from ..exceptions import InputError
from .ranked import Ranked
from .table import Ranking

_INSTEAD = (
    "areas but auprg, points, curves, their intervals and the fiducial band count them; or give "
    "them a score below all others, and rank them as rows"
)


def as_ranking(ranking: Any, *, missed: bool = False) -> Ranking:
    """Return a Ranking without the rows that have no positives: thresholds that were kept."""
    require_ranking(ranking, missed=missed)
    found: Ranking = ranking.of_positives
    return found


def require_ranking(ranking: Any, *, missed: bool = False) -> None:
    """Raise unless this is a Ranking: every public function that takes one checks it first.

    One with missed positives is refused too, unless `missed` says that the caller counts them.
    """
    if not isinstance(ranking, Ranking):
        by_model = hasattr(ranking, "ranked") and hasattr(ranking, "__getitem__")
        names = getattr(ranking, "names", None) if by_model else None
        way_out = f"rows[{names[0]!r}]" if names else "pr.rank(y_true, y_score)"
        if hasattr(ranking, "own_interval"):
            way_out = "it to pr.interval, which needs the labels of some rows only"
        raise InputError(
            f"ranking must be a Ranking, got {type(ranking).__name__}: pass {way_out}."
        )
    if not missed:
        require_scored(ranking, "this")


def require_scored(rankings: Any, what: object) -> None:
    """Raise where positives of a Ranking, or of a set of them, were never scored."""
    count = rankings.missed if isinstance(rankings.missed, int) else int(rankings.missed.sum())
    if count:
        none = f"{plural(count, 'missed positive')} {'has' if count == 1 else 'have'} none"
        raise InputError(f"{what} needs a score for every positive, and {none}: {_INSTEAD}.")


def as_rankings(
    rankings: object, name: str, *, minimum: Literal[1, 2] = 1, missed: bool = False
) -> list[Any]:
    """Return a list of rankings, at least one or two; `missed` as in :func:`require_ranking`."""
    members: list[Any]
    try:
        members = list(rankings)  # type: ignore[call-overload]
    except TypeError:
        members = [rankings]
    found = sum(isinstance(member, Ranking) for member in members)
    if len(members) < minimum or found < len(members):
        least = "one Ranking" if minimum == 1 else "two rankings"
        raise InputError(
            f"{name} must be at least {least} and nothing else, got {found} of {len(members)}: "
            "pass a list of what pr.rank(y_true, y_score) returns."
        )
    if not missed:
        for member in members:
            require_scored(member, "this")
    return members


def as_ranked(
    data: Any,
    model: str | None = None,
    thresholds: tuple[float, ...] = (),
    *,
    missed: bool = False,
    counted: bool = False,
) -> Ranked:
    """Return the ranking of a Ranking or of Rows; anything else is an error that says how.

    It has one row per score of a positive, and knows the counts at `thresholds`. Missed positives
    are refused, unless `missed` says that the caller counts them. With `counted` the counts at
    `thresholds` are all that the caller needs, so that rows may be counted instead of ranked.
    """
    if not callable(getattr(data, "ranked", None)):
        require_ranking(data)
    count = getattr(data, "counted", None) if counted else None
    found: Ranked = (count or data.ranked)(model, thresholds)
    if not missed:
        require_scored(found.ranking, "this")
    return found

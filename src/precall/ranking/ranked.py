"""What can be given where a ranking is wanted: a Ranking, or rows that are ranked when asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _validation

if TYPE_CHECKING:
    from .table import Ranking


def own_answer(data: Any, question: str) -> Callable[..., Any] | None:
    """Return the method with which data answer a question themselves; None if they do not.

    Data that have no ranking, such as partly labelled ones, have methods ``own_interval`` and so
    on. Functions ask for them first, and know no kind of data by its name.
    """
    found = getattr(data, f"own_{question}", None)
    return found if callable(found) else None


class Ranked(NamedTuple):
    """A ranking and, where they are at hand, the rows it was made of.

    What has a method ``ranked(model, thresholds)`` that returns one can be given to intervals and
    bands.
    """

    ranking: Ranking
    #: With `positive`, `weight` and `cluster`; None where rows are counts already.
    rows: Any = None
    #: Where every row stands among the thresholds.
    place: Any = None


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
        _validation.require_ranking(data)
    count = getattr(data, "counted", None) if counted else None
    found: Ranked = (count or data.ranked)(model, thresholds)
    if not missed:
        _validation.require_scored(found.ranking, "this")
    return found

"""What can be given where a ranking is wanted: a Ranking, or rows that are ranked when asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

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

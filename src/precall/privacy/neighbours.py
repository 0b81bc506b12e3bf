"""Between which data sets a release hides the difference: a row replaced, or a row more or less.

With a replaced row the number of rows is public. With a row added or taken away it is private, and
whatever it would decide (bins, array sizes, errors) has to be public from the start (``PROOFS.md``,
section 18).
"""

from __future__ import annotations

from fractions import Fraction

from .._options import as_choice
from ..exceptions import BudgetError, InputError
from ._ledger import exact, rounded_up
from ._persons import MOST_ROWS

REPLACE, ADD_REMOVE = "replace", "add_remove"
#: How many counts of a partition of the rows one row moves by one, by kind of neighbours.
MOVED_COUNTS = {REPLACE: 2.0, ADD_REMOVE: 1.0}
_NO_EDGES = (
    'with neighbours="add_remove" the number of rows is private, so it cannot choose the bins: '
    "pass edges, for example probability_edges(20)."
)


def as_neighbours(value: object) -> str:
    """Return a kind of neighbours."""
    return as_choice(value, "neighbours", MOVED_COUNTS)


def require_edges(edges: object, neighbours: str) -> None:
    """Refuse bins that a private number of rows would choose."""
    if neighbours == ADD_REMOVE and edges is None:
        raise InputError(_NO_EDGES)


def estimated_rows(total: int) -> int:
    """A number of rows from the sum of all noisy counts, such that a curve can be drawn."""
    return min(max(total, 2), MOST_ROWS)


def charged(epsilon: float, *, release: str, budget: str) -> float:
    """What a release costs a budget: twice as much where a replaced row is one less and one more.

    A release for replaced rows shows the number of rows, which a budget for rows that are added or
    taken away has to protect: it is refused.
    """
    if as_neighbours(release) == budget:
        return epsilon
    if budget == ADD_REMOVE:
        raise BudgetError(
            'this budget is for neighbours="add_remove", where the number of rows is private, and '
            "this release takes it as public: use a release that has neighbours=, or another "
            "budget."
        )
    return rounded_up(Fraction(2) * exact(epsilon))

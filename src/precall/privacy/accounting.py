"""Whether a budget allows what releases cost together: by their sum, or by zCDP as well."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Protocol

from ..exceptions import BudgetError, InputError
from ._ledger import Cost, Entry, Spent, exact, rounded_down
from .zcdp import epsilon_of, rho_within


class Account(Protocol):
    """How costs are counted, within the limits of a budget."""

    def require(self, entry: Entry) -> None:
        """Refuse a release that cannot be counted in this way."""
        ...

    def allows(self, spent: Spent) -> bool:
        """Whether so much may have been spent."""
        ...

    def cost(self, spent: Spent) -> Cost:
        """What the releases cost together."""
        ...

    def left(self, spent: Spent) -> Cost:
        """The largest cost that one more release may have."""
        ...


class Summed:
    """Costs add up, in epsilon and in delta."""

    def __init__(self, limit: Cost) -> None:
        self._epsilon, self._delta = exact(limit.epsilon), exact(limit.delta)

    def require(self, entry: Entry) -> None:
        """Every release can be added up."""

    def allows(self, spent: Spent) -> bool:
        """Whether both sums are within their limits."""
        return spent.epsilon <= self._epsilon and spent.delta <= self._delta

    def cost(self, spent: Spent) -> Cost:
        """Both sums."""
        return Cost(float(spent.epsilon), float(spent.delta))

    def left(self, spent: Spent) -> Cost:
        """What the sums leave."""
        return Cost(float(self._epsilon - spent.epsilon), float(self._delta - spent.delta))


class Concentrated:
    """Pure releases whose sum, or whose zCDP, keeps an (epsilon, delta) (``PROOFS.md``, 17)."""

    def __init__(self, limit: Cost) -> None:
        if limit.delta == 0.0:
            raise InputError(
                'accounting="zcdp" needs a delta above 0, with which its smaller epsilon may fail: '
                "pass one far below one over the number of persons."
            )
        self._limit = limit
        self._rho = rho_within(limit.epsilon, limit.delta)

    def require(self, entry: Entry) -> None:
        """Refuse a release that has a delta of its own."""
        if entry.delta > 0.0:
            raise BudgetError(
                "this budget counts by zCDP, which takes releases without a delta only: leave "
                "delta out, or pay from a budget that adds up."
            )

    def allows(self, spent: Spent) -> bool:
        """Whether one of both ways of counting is within the limits."""
        return spent.epsilon <= exact(self._limit.epsilon) or spent.rho <= self._rho

    def cost(self, spent: Spent) -> Cost:
        """The sum, which needs no delta, or the epsilon of zCDP if that is smaller."""
        by_sum = float(spent.epsilon)
        by_rho = epsilon_of(spent.rho, self._limit.delta)
        return Cost(by_sum, 0.0) if by_sum <= by_rho else Cost(by_rho, self._limit.delta)

    def left(self, spent: Spent) -> Cost:
        """The larger of what both ways of counting leave."""
        by_sum = max(float(exact(self._limit.epsilon) - spent.epsilon), 0.0)
        return Cost(max(by_sum, _root(2 * (self._rho - spent.rho))), 0.0)


ACCOUNTS: dict[str, type[Summed] | type[Concentrated]] = {"sum": Summed, "zcdp": Concentrated}


def _root(square: Fraction) -> float:
    """The square root, rounded down; 0 of what is below 0."""
    if square <= 0:
        return 0.0
    root = rounded_down(Fraction(math.sqrt(float(square))))
    while exact(root) ** 2 > square:
        root = math.nextafter(root, 0.0)
    return root

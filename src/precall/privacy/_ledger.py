"""Lines of a budget's ledger, and how their costs compose."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from .._validation import as_number
from ..exceptions import InputError

Amount = float | Fraction


class Cost(NamedTuple):
    """A pair of privacy parameters."""

    epsilon: float
    delta: float


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the ledger.

    Attributes
    ----------
    what : str
        What was released.
    epsilon, delta : float
        Its cost.
    state : str
        "released"; "failed" if it stopped with an error after it had looked at the data, which
        costs as much, because the error itself may tell something; "held" while it runs.
    seeded : bool
        Whether the noise came from a seed: then it is no private release.
    group : int or None
        Number of the parallel block it belongs to, if any.
    part : str or None
        Name of the part of the rows within that block.
    """

    what: str
    epsilon: float
    delta: float
    state: str
    seeded: bool = False
    group: int | None = None
    part: str | None = None


def exact(amount: Amount) -> Fraction:
    """The decimal number that a float prints as."""
    return amount if isinstance(amount, Fraction) else Fraction(repr(amount))


def rounded_up(amount: Fraction) -> float:
    """The nearest float that prints as no less than an amount."""
    nearest = float(amount)
    return nearest if exact(nearest) >= amount else math.nextafter(nearest, math.inf)


def rounded_down(amount: Fraction) -> float:
    """The nearest float that prints as no more than an amount."""
    nearest = float(amount)
    return nearest if exact(nearest) <= amount else math.nextafter(nearest, -math.inf)


class Spent(NamedTuple):
    """Exact sums over releases."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)


class LedgerSums:
    """Running sums of what entries cost, for each part of each parallel block."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._sums: dict[int | None, dict[str | None, Spent]] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry, sign: int = 1) -> None:
        epsilon, delta = exact(entry.epsilon), exact(entry.delta)
        cost = Spent(epsilon, delta, pure_rho(epsilon))
        parts = self._sums.setdefault(entry.group, {})
        before = parts.get(entry.part, Spent())
        parts[entry.part] = Spent(*(a + sign * b for a, b in zip(before, cost, strict=True)))

    def total(self) -> Spent:
        """Compose: add over releases; within a parallel block take the dearest part."""
        blocks = [zip(*parts.values(), strict=True) for parts in self._sums.values()]
        dearest = [Spent(*map(max, block)) for block in blocks]
        return Spent(*(sum(column, Fraction(0)) for column in zip(Spent(), *dearest, strict=True)))


def pure_rho(epsilon: Fraction) -> Fraction:
    """Rho of a pure release: ``epsilon^2 / 2``, exactly (``PROOFS.md``, section 17)."""
    return epsilon**2 / 2


def as_epsilon(value: object, name: str = "epsilon") -> float:
    """Return a finite epsilon above 0."""
    epsilon = as_number(value, name)
    if not 0.0 < epsilon < math.inf:
        raise InputError(f"{name} must be a finite number above 0, got {value!r}.")
    return epsilon


def as_delta(value: object, name: str = "delta") -> float:
    """Return a delta in [0, 1)."""
    delta = as_number(value, name)
    if not 0.0 <= delta < 1.0:
        raise InputError(f"{name} must be at least 0 and under 1, got {value!r}.")
    return delta

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


class LedgerSums:
    """Running sums of what entries cost, for each part of each parallel block."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._sums: dict[int | None, dict[str | None, tuple[Fraction, Fraction]]] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry, sign: int = 1) -> None:
        parts = self._sums.setdefault(entry.group, {})
        epsilon, delta = parts.get(entry.part, (Fraction(0), Fraction(0)))
        parts[entry.part] = (
            epsilon + sign * exact(entry.epsilon),
            delta + sign * exact(entry.delta),
        )

    def total(self) -> tuple[Fraction, Fraction]:
        """Compose: add over releases; within a parallel block take the dearest part."""
        dearest = [
            tuple(map(max, zip(*parts.values(), strict=True))) for parts in self._sums.values()
        ]
        return sum((d[0] for d in dearest), Fraction(0)), sum((d[1] for d in dearest), Fraction(0))


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

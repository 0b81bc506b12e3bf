"""What many releases cost together, less than the sum of their epsilons, at the price of a delta.

Zero-concentrated differential privacy (Bun & Steinke 2016): a release that is epsilon-private is
``epsilon^2 / 2``-zCDP, these numbers add up, and their sum rho gives back an epsilon for every
delta. Costs are exact fractions, and what is computed with logarithms is rounded outwards
(``PROOFS.md``, section 17).
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .._notebook import Rich
from .._validation import as_fraction
from ..exceptions import InputError
from ._ledger import as_epsilon, exact, pure_rho, rounded_up

# Digits of the logarithms, and how far the result is moved outwards: far more than they err by.
_DIGITS = 60
_OUTWARDS = Fraction(1, 10**40)
# Orders that are looked at for the best bound: every one of them gives a valid one.
_LEAST_ORDER, _LARGEST_ORDER = 1e-9, 1e12
_STEPS = 200


@dataclass(frozen=True, kw_only=True, repr=False)
class Composition(Rich):
    """What several releases cost together, counted in two ways.

    Attributes
    ----------
    epsilon : float
        The smaller of both: the releases together are (epsilon, delta)-private.
    delta : float
        The delta that was asked for. If `epsilon` is that of the sum, they are private without it.
    sum : float
        Sum of the epsilons, which needs no delta.
    concentrated : float
        Epsilon at this delta by zCDP.
    rho : float
        Sum of ``epsilon^2 / 2`` over the releases.
    n_releases : int
        How many there are.
    """

    epsilon: float
    delta: float
    sum: float
    concentrated: float
    rho: float
    n_releases: int

    def __repr__(self) -> str:
        """Return one line."""
        return (
            f"Composition({self.n_releases} releases: epsilon={self.epsilon:.4g} at "
            f"delta={self.delta:g}, sum={self.sum:.4g}, by zCDP {self.concentrated:.4g})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary."""
        return asdict(self)


def compose(epsilons: Iterable[float], *, delta: float) -> Composition:
    """What releases from the same rows cost together: by their sum, and by zCDP.

    Parameters
    ----------
    epsilons : iterable of float
        Cost of each release. All have to be pure: with a delta of 0, as those of this library are.
    delta : float
        A probability, between 0 and 1, with which the promise of a smaller epsilon may fail; far
        below one over the number of persons.

    Returns
    -------
    Composition

    Examples
    --------
    >>> from precall import privacy
    >>> privacy.compose([0.1] * 100, delta=1e-6)
    Composition(100 releases: epsilon=5.222 at delta=1e-06, sum=10, by zCDP 5.222)
    >>> privacy.compose([1.0] * 3, delta=1e-6)
    Composition(3 releases: epsilon=3 at delta=1e-06, sum=3, by zCDP 9.848)
    """
    if isinstance(epsilons, (str, bytes)) or not isinstance(epsilons, Iterable):
        raise InputError(f"epsilons must be a list of numbers, got {type(epsilons).__name__}.")
    costs = [exact(as_epsilon(epsilon, "epsilons")) for epsilon in epsilons]
    if not costs:
        raise InputError("epsilons must hold the cost of at least one release.")
    delta = as_fraction(delta, "delta")
    total, rho = sum(costs, Fraction(0)), sum(map(pure_rho, costs), Fraction(0))
    by_sum, spread = _as_double(total), _as_double(rho)
    by_rho = epsilon_of(rho, delta)
    return Composition(
        epsilon=min(by_sum, by_rho),
        delta=delta,
        sum=by_sum,
        concentrated=by_rho,
        rho=spread,
        n_releases=len(costs),
    )


def epsilon_of(rho: Fraction, delta: float) -> float:
    """Epsilon at which rho-zCDP is (epsilon, delta)-private, rounded up."""
    if rho == 0:
        return 0.0

    def bound(order: float) -> float:
        return float(rho) * (order + 1.0) + _slack(order, delta)

    order = Fraction(_best(bound))
    slack = _exact_slack(order, exact(delta)) + _OUTWARDS * (1 + 1 / order)
    return max(_as_double((order + 1) * rho + slack), 0.0)


def rho_within(epsilon: float, delta: float) -> Fraction:
    """Largest rho that is sure to be (epsilon, delta)-private, rounded down; 0 if there is none."""

    def shortfall(order: float) -> float:
        return -(epsilon - _slack(order, delta)) / (order + 1.0)

    order = Fraction(_best(shortfall))
    slack = _exact_slack(order, exact(delta)) + _OUTWARDS * (1 + 1 / order)
    return max((exact(epsilon) - slack) / (order + 1), Fraction(0))


def _slack(order: float, delta: float) -> float:
    """What a delta adds to ``alpha rho``, for the order ``alpha = order + 1``, in doubles."""
    return (-math.log(delta) - (order + 1.0) * math.log1p(1.0 / order) - math.log(order)) / order


def _exact_slack(order: Fraction, delta: Fraction) -> Fraction:
    """The same to so many digits that nothing but `_OUTWARDS` is needed for its error.

    Every operation of ``decimal`` is correctly rounded, and its logarithms are too.
    """
    with decimal.localcontext() as context:
        context.prec = _DIGITS
        part = Decimal(order.numerator) / Decimal(order.denominator)
        chance = Decimal(delta.numerator) / Decimal(delta.denominator)
        logarithms = -chance.ln() - (part + 1) * (1 + 1 / part).ln() - part.ln()
        return Fraction(logarithms / part)


def _best(function: Any) -> float:
    """Where a function of one valley is least on a logarithmic scale, by golden sections."""
    golden = (math.sqrt(5.0) - 1.0) / 2.0
    low, high = math.log(_LEAST_ORDER), math.log(_LARGEST_ORDER)
    for _ in range(_STEPS):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if function(math.exp(left)) <= function(math.exp(right)):
            high = right
        else:
            low = left
    return math.exp((low + high) / 2.0)


def _as_double(amount: Fraction) -> float:
    try:
        return rounded_up(amount)
    except OverflowError:
        raise InputError("epsilons are too large to be added up.") from None

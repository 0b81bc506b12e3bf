"""Certificates: tests and bounds that hold at a threshold chosen on the same data.

The precision observed at a threshold that was chosen on the same data is optimistic. Here the
choice is part of the procedure, and the promise covers it: *the certified threshold misses its
target with probability at most delta*, for independent rows of any one distribution, ties included.

**Minimum precision.** Write ``q(A)`` for the true precision of an upper set of scores ``A``
(``score > t`` or ``score >= t``), and call ``A`` good if ``q(A) >= p``. A rank ``k`` is fixed
beforehand from ``p``, ``delta`` and the number of rows alone. Testing begins at the set
``A0 = {score > s}``, with ``s`` the ``(k+1)``-th highest score, or at ``A0 = {score >= s}`` if no
row lies above ``s`` (more than ``k`` rows are tied at the top), and goes down through every
distinct score. A set with ``TP`` positives among ``j`` rows passes if
``P(Binomial(j, p) >= TP) <= delta``; the first failure ends the sequence. Every set before it is
certified, and so is every set between two of them, which has the counts of the larger one; sets
smaller than ``A0`` are not, nor sets of ``k`` rows or fewer.

*Proof.* (1) Let a row lie above ``s``. Given ``s`` and the number ``j`` of rows in ``A0``, those
rows are independent draws from ``A0``, so ``TP ~ Binomial(j, q(A0))``. If ``A0`` is bad it passes
with probability at most ``delta``. (2) If ``A0`` is good, let ``V`` be the smallest upper set
containing ``A0`` at which bad sets begin: the intersection of the bad sets that contain it. Then
``q(V) <= p``, and as no row lies between ``V`` and bad sets close enough to it, certifying any bad
set needs ``TP(V)`` to pass. Let ``G`` be the smallest of the run of good sets that ``A0`` belongs
to. That run is entered exactly if ``#G <= k < #V`` (the case ``A0 = V`` is (1) again). Given ``#V
= v`` the rows of ``V`` are independent draws from it, and since ``q(G) >= p >= q(V)``, ``TP(V)``
grows stochastically with ``#G``; so ``#G <= k`` can only lower it, and ``P(TP(V) passes | #V = v,
#G <= k) <= P(Binomial(v, q(V)) passes) <= delta``. (3) The runs are disjoint events, so their
probabilities add up to at most ``delta``. The precision need not be monotone in the threshold; it
may cross ``p`` any countable number of times.

*A tied top.* (4) Let ``V`` be the first bad set of all: the end of the run of good sets that
starts at the top, or the highest set itself. Where the top may be tested, that run is entered
exactly if ``k < #V``, whether or not ``#G <= k``. This is an event of ``#V`` alone, given which
the rows of ``V`` are independent draws from it, so ``P(V certified) <= P(TP(V) passes, #V > k) <=
delta P(#V > k)``; the runs stay disjoint, and their sum stays at most ``delta``. (5) If ``V``
happens to hold no row, the tie at the top of the rows may lie below it, in or before the next bad
set ``V'``, and rows of ``V`` that were not drawn flatter ``V'``. Still ``P(TP(V') passes, #V = 0)
<= P(TP(V') passes) <= delta``; and if ``#V > k`` is at all likely, ``#V = 0`` is not. That the two
together stay within ``delta`` is not proven here but computed: over 25,000 distributions of two bad
levels, searched for the worst, with ``p`` from .005 to .9, the exact probability of a wrong
certificate was at most .96 ``delta``.

*Two sequences.* One start has to choose: low enough that no early false positive ends it, or high
enough to reach a few good rows at the very top. So where the two differ there are two sequences,
the main one at four fifths of delta and an early one at the rest (:func:`sequences`); what either
certifies is certified, and their errors add up to delta.

**Minimum recall.** The recall at the ``k``-th highest positive has a Beta(k, n-k+1) distribution,
or is larger if scores are tied. The smallest ``k`` with ``P(Beta(k, n-k+1) < r) <= delta`` depends
on ``n``, ``r`` and ``delta`` only, so nothing was chosen on the data.

**Bounds at all thresholds at once.** For what goes with the certificate (the recall at a
threshold certified for precision) and for another prevalence, each class has a lower bound on
its share above (or below) *every* threshold simultaneously: the better of the
Dvoretzky-Kiefer-Wolfowitz-Massart bound and of exact Beta bounds at a fixed set of about
``4 log2(n)`` order statistics, half of delta to each.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .._rounding import at_least

FloatArray = npt.NDArray[np.float64]

# The sequence starts where this many false positives at most can still pass ...
_MOST_TOLERATED = 8
# ... within the top fiftieth of the rows; one false positive is tolerated wherever that leads.
_TOP_SHARE = 50
# Share of delta that the early sequence may spend.
_EARLY_SHARE = 0.2
# Groups that are tried together at first; every further block is twice as long.
_FIRST_BLOCK = 16
# Neighbouring cuts that are tried as one.
_GROUP = 64


def binomial_tail(successes: Any, failures: Any, share: float) -> FloatArray:
    """Return ``P(Binomial(successes + failures, share) >= successes)``; counts may be fractions."""
    from scipy.special import betainc

    successes = np.asarray(successes, dtype=np.float64)
    some = successes > 0
    tail = betainc(np.where(some, successes, 1.0), np.asarray(failures) + 1.0, share)
    return np.where(some, tail, 1.0)


def passes(successes: Any, failures: Any, share: float, delta: float) -> Any:
    """Return whether so many successes are too many for `share`, at the level `delta`.

    Five of five at one half have a chance of exactly 1/32: at that level they pass, whatever the
    rounding of the tail.
    """
    return at_least(delta, binomial_tail(successes, failures, share))


def uniform_share(above: Any, total: float, delta: float) -> FloatArray:
    """Bound from below the share of a class above a threshold, at all thresholds at once.

    With probability ``1 - delta`` no threshold at all has a share under its bound. For a bound
    from above on the false-positive rate, apply it to the negatives under the threshold.

    Half of `delta` goes to ``above / total - sqrt(log(2 / delta) / (2 total))``, half to exact
    Beta bounds at fixed ranks: the share above the k-th highest value is Beta(k, total - k + 1)
    or larger, and the share above a lower threshold larger still.
    """
    from scipy.special import betaincinv

    above = np.asarray(above, dtype=np.float64)
    ranks = fixed_ranks(total)
    bounds = np.nan_to_num(betaincinv(ranks, total - ranks + 1.0, 0.5 * delta / ranks.size))
    reached = np.searchsorted(ranks, above, side="right")
    exact = np.concatenate([[0.0], np.maximum.accumulate(bounds)])[reached]
    margin = math.sqrt(math.log(2.0 / delta) / (2.0 * total))
    return np.asarray(np.maximum(exact, above / total - margin))


def fixed_ranks(total: float) -> FloatArray:
    """Two ranks per doubling from either end: 1, 2, 3, 4, 6, 8, 12, ... and their mirror images."""
    doublings = 2.0 ** np.arange(max(math.ceil(math.log2(max(total, 1.0))), 1))
    near = np.unique(np.concatenate([doublings, 1.5 * doublings[1:]]))
    near = near[near <= total / 2.0]
    return np.unique(np.concatenate([near, total + 1.0 - near, [total]]))


def smallest_rank(total: float, share: float, delta: float) -> int | None:
    """Return the rank in a class whose share above falls short of `share` with chance <= delta.

    None if not even the lowest of the class is enough: that takes ``ln(delta) / ln(share)`` rows.
    """
    ranks = range(1, math.floor(total) + 1)
    found = bisect_left(ranks, True, key=lambda k: bool(passes(k, total - k, share, delta)))
    return ranks[found] if found < len(ranks) else None


def first_rank(min_precision: float, delta: float, n_rows: float) -> int:
    """Return the rank at which testing begins: a function of the question, not of the data.

    The rank from which the test can pass with `f` false positives, for the largest `f` (1 to 8)
    that stays within the top fiftieth of the rows, and for one false positive if none does. A
    sequence that began higher would be ended by the first early false positive; one that began
    lower would find nothing where only a few rows at the top are good.
    """
    ranks = _ranks_tolerating(min_precision, delta)
    return max(ranks[0], *(rank for rank in ranks if rank <= n_rows / _TOP_SHARE), 0)


@lru_cache(maxsize=128)
def _ranks_tolerating(min_precision: float, delta: float) -> tuple[int, ...]:
    """First rank at which the test can pass with 1, 2, ... false positives: all halved at once."""
    wrong = np.arange(1, _MOST_TOLERATED + 1)
    enough = np.ones_like(wrong)
    while not (passed := passes(enough, wrong, min_precision, delta)).all():
        enough = np.where(passed, enough, 2 * enough)
    short = enough // 2  # has not been enough, or is 0
    while (enough - short > 1).any():
        middle = (short + enough) // 2
        passed = passes(middle, wrong, min_precision, delta)
        short, enough = np.where(passed, short, middle), np.where(passed, middle, enough)
    return tuple((enough + wrong).tolist())


def sequences(min_precision: float, delta: float, n_rows: float) -> list[tuple[int, float]]:
    """Return where each sequence of tests begins and the error it may spend: delta in all."""
    early = first_rank(min_precision, _EARLY_SHARE * delta, 0.0)
    main = first_rank(min_precision, (1.0 - _EARLY_SHARE) * delta, n_rows)
    if main <= early:
        return [(first_rank(min_precision, delta, n_rows), delta)]
    return [(main, (1.0 - _EARLY_SHARE) * delta), (early, _EARLY_SHARE * delta)]


def passing_run(
    tp: FloatArray, fp: FloatArray, first: Any, min_precision: float, delta: float
) -> Any:
    """Return how many cuts lie before the first failure, when testing begins at cut `first`.

    Works on the last axis, for one data set or for many along the leading axes.
    """
    if tp.ndim == 1:
        return _passing_run_of_one(tp, fp, int(first), min_precision, delta)
    passed = passes(tp, fp, min_precision, delta)
    passed |= np.arange(tp.shape[-1]) < np.asarray(first)[..., np.newaxis]
    return np.where(passed.all(axis=-1), tp.shape[-1], np.argmin(passed, axis=-1))


def _passing_run_of_one(
    tp: FloatArray, fp: FloatArray, first: int, min_precision: float, delta: float
) -> int:
    """The same of one data set: no cut is tested after the group of the first failure.

    The tails of all cuts of a million rows would take longer than reading their file. More true
    and fewer false positives only lower a tail, so all cuts of a group pass where the fewest true
    positives among them pass with the most false positives. Those are the first cut's and the
    last's, unless weights make a larger set worth fewer rows.
    """
    heads = np.arange(first, tp.size, _GROUP)
    lasts = np.minimum(heads + _GROUP, tp.size) - 1

    def doubtful(part: slice) -> Any:
        cuts, groups = slice(heads[part][0], lasts[part][-1] + 1), heads[part] - heads[part][0]
        least = np.minimum.reduceat(tp[cuts], groups)
        return ~passes(least, np.maximum.reduceat(fp[cuts], groups), min_precision, delta)

    def failed(cuts: slice) -> Any:
        return ~passes(tp[cuts], fp[cuts], min_precision, delta)

    for group in _found(doubtful, heads.size):
        inside = failed(slice(heads[group], lasts[group] + 1))
        if inside.any():
            return int(heads[group] + np.argmax(inside))
    return int(tp.size)


def _found(is_one: Callable[[slice], Any], size: int) -> Iterator[int]:
    """Yield the places where something is, asked in blocks as far as the caller wants to go."""
    start, block = 0, _FIRST_BLOCK
    while start < size:
        yield from (start + np.flatnonzero(is_one(slice(start, start + block)))).tolist()
        start, block = start + block, 2 * block

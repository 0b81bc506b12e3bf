"""Cells that adapt to a stream: every row is seen once, and order between cells stays certain.

A cell is a block of the binary tree over all numbers of 64 bits, in the order of the scores: a
single score at first, and after a merge the smallest block that holds both parts. Two blocks of
such a tree are nested or apart, never crossed. So cells of different streams can always be
joined, whatever each of them merged before, and a row is never in doubt between two cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import Cells, Ranking, counting
from .segments import Mass, Spread, assemble, moments_of, split_sorted

Array = npt.NDArray[Any]
Keys = npt.NDArray[np.uint64]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_SIGN = np.uint64(1 << 63)


def to_keys(scores: Array) -> Keys:
    """Map scores to unsigned numbers of 64 bits in the same order; equal scores stay equal."""
    kind = scores.dtype.kind
    if kind == "u":
        return scores.astype(np.uint64)
    if kind == "i":
        return scores.astype(np.int64).view(np.uint64) ^ _SIGN
    bits = (scores.astype(np.float64) + 0.0).view(np.uint64)  # + 0.0 makes one zero of -0.0 and 0.0
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def from_keys(keys: Keys, kind: str) -> Array:
    """Inverse of :func:`to_keys`."""
    if kind == "u":
        return keys.copy()
    if kind == "i":
        return (keys ^ _SIGN).view(np.int64)
    bits = np.where(keys & _SIGN, keys ^ _SIGN, ~keys)
    return bits.view(np.float64)


@dataclass
class AdaptiveCells:
    """Disjoint blocks in ascending order with what lies in them, about `capacity` of them."""

    capacity: int
    kind: str
    first: Keys
    last: Keys
    lowest: Keys
    positives: Mass
    negatives: Mass
    spreads: tuple[Spread, Spread] = (Spread(), Spread())

    @classmethod
    def empty(cls, capacity: int, kind: str) -> AdaptiveCells:
        """No cells yet; `kind` is that of the scores ("f", "i" or "u")."""
        none = np.zeros(0, dtype=np.uint64)
        return cls(capacity, kind, none, none, none, Mass.empty(0, False), Mass.empty(0, False))

    @classmethod
    def of_rows(
        cls, capacity: int, positive: Mask, scores: Array, weights: FloatArray | None
    ) -> AdaptiveCells:
        """One cell per distinct score and class; :meth:`joined` brings the classes together."""
        parts = split_sorted(positive, scores, weights)
        runs = [counting.distinct(to_keys(ascending)) for ascending, _ in parts]
        ours, theirs = (
            Mass.of_runs(part[1], edges) for part, (_, edges) in zip(parts, runs, strict=True)
        )
        keys = np.concatenate([values for values, _ in runs])
        weighted = weights is not None
        return cls(
            capacity,
            scores.dtype.kind,
            keys,
            keys,
            keys,
            ours.joined(Mass.empty(theirs.rows.size, weighted)),
            Mass.empty(ours.rows.size, weighted).joined(theirs),
            (Spread.of(*parts[0]), Spread.of(*parts[1])),
        )

    def joined(self, other: AdaptiveCells) -> AdaptiveCells:
        """Cells of both streams: a block inside another one is absorbed by it."""
        first, last, lowest = (
            np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("first", "last", "lowest")
        )
        order = np.argsort(first, kind="stable")
        first, last, lowest = first[order], last[order], lowest[order]
        reach = np.maximum.accumulate(last)
        starts = np.flatnonzero(np.append(True, first[1:] > reach[:-1])[: first.size])
        if starts.size:
            first, last, lowest = (
                first[starts],
                np.maximum.reduceat(last, starts),
                np.minimum.reduceat(lowest, starts),
            )
        positives = self.positives.joined(other.positives).at(order)
        negatives = self.negatives.joined(other.negatives).at(order)
        cells = AdaptiveCells(
            min(self.capacity, other.capacity),
            self.kind,
            first,
            last,
            lowest,
            positives.reduced(starts),
            negatives.reduced(starts),
            (self.spreads[0] + other.spreads[0], self.spreads[1] + other.spreads[1]),
        )
        # Merging only after doubling makes its cost a small constant per row.
        while cells.first.size > 2 * cells.capacity:
            cells = cells._compressed()
        return cells

    def _compressed(self) -> AdaptiveCells:
        """Merge the cheapest pairs until `capacity` cells are left."""
        cells = self
        while cells.first.size > cells.capacity:
            cells = cells._merged_once()
        return cells

    def _merged_once(self) -> AdaptiveCells:
        size = _common_block(self.first[:-1], self.last[1:])
        # A pair may merge if its block holds nothing else: if both neighbours' blocks are larger.
        wall = np.append(np.uint64(2**64 - 1), np.append(size, np.uint64(2**64 - 1)))
        free = np.flatnonzero((size <= wall[:-2]) & (size <= wall[2:]))
        excess = self.first.size - self.capacity
        count = min(excess, max(1, free.size // 2))
        price = self._price(free)
        chosen = np.sort(free[np.argpartition(price, count - 1)[:count]])
        keep = np.ones(self.first.size, dtype=np.bool_)
        keep[chosen + 1] = False
        starts = np.flatnonzero(keep)
        first, last = self.first.copy(), self.last.copy()
        first[chosen] &= ~size[chosen]
        last[chosen] = first[chosen] | size[chosen]
        return AdaptiveCells(
            self.capacity,
            self.kind,
            first[starts],
            last[starts],
            self.lowest[starts],
            self.positives.reduced(starts),
            self.negatives.reduced(starts),
            self.spreads,
        )

    def _price(self, left: IntArray) -> FloatArray:
        """Growth of the width of the bounds on average precision when a pair becomes one cell.

        ``p (p FP + q TP) / (TP + FP)^2`` is a cell's share of that width, to first order.
        """
        ours, theirs = (
            np.asarray(mass.rows if mass.weights is None else mass.weights, dtype=np.float64)
            for mass in (self.positives, self.negatives)
        )
        # Each cell is credited with the positives that its size lets expect: a run of negatives
        # must keep some resolution, because a positive may still come to lie in it.
        prevalence = ours.sum() / (ours.sum() + theirs.sum())
        ours = ours + prevalence * (ours + theirs)
        tp, fp = np.cumsum(ours[::-1])[::-1], np.cumsum(theirs[::-1])[::-1]
        right = left + 1

        def width(p: FloatArray, q: FloatArray) -> FloatArray:
            share: FloatArray = p * (p * fp[left] + q * tp[left]) / (tp[left] + fp[left]) ** 2
            return share

        return (
            width(ours[left] + ours[right], theirs[left] + theirs[right])
            - width(ours[left], theirs[left])
            - width(ours[right], theirs[right])
        )

    def ranking(self) -> Ranking:
        """Return one row per cell with a positive; its threshold is the lowest score in it."""
        found = [
            Cells(ours[::-1], theirs[::-1], np.zeros_like(theirs), theirs.dtype.type(0))
            for ours, theirs in self.positives.each(self.negatives)
        ]
        return assemble(
            from_keys(self.lowest[::-1], self.kind),
            found,
            moments_of(*self.spreads),
            coarsened=bool((self.first != self.last).any()),
        )


def _common_block(first: Keys, last: Keys) -> Keys:
    """Size less one of the smallest block of the tree that holds both ends."""
    differing = first ^ last
    for shift in (1, 2, 4, 8, 16, 32):
        differing = differing | differing >> np.uint64(shift)
    return differing

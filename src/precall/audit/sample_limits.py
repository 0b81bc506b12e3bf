"""Limits from the exact limits of each piece's number of positives, put together by MOVER.

The number of positives of a piece is estimated by ``T = N k / n``; its limits are Clopper and
Pearson's for k of n, drawn towards the estimate by ``sqrt(1 - n/N)``, because the rows that were
looked at are known. Moving one T at a time to its limits moves the metric by some distances, and
these add in squares (Zou & Donner 2008). A piece without a labelled positive has an estimate of 0
and an upper limit above it: what was not seen counts. The metric need not be monotone in T, so
points inside the limits are tried too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .._numerics import ratio
from .._rounding import TOLERANCE
from ..inference.limits import normal_quantile, share_limits
from .strata_pieces import Pieces

FloatArray = npt.NDArray[np.float64]

# Where between the estimate and a limit the metric is asked for.
_INSIDE = np.array([1.0 / 3.0, 2.0 / 3.0, 1.0])
# Levels at which the limits are found; lower ones have those of the first.
_LEVELS = (0.5, math.erf(math.sqrt(0.5)), 0.8, 0.9, 0.95, 0.99, 0.999, 0.99999)
# So few positives of a piece may have been found by luck.
_FEW = 2.0


@dataclass(frozen=True, kw_only=True)
class SampleEvidence:
    """What the limits of one number are computed from.

    Attributes
    ----------
    value : callable
        The number as a function of the positives of all pieces, on the last axis.
    pieces : Pieces
    variance : float
        What is added to the uncertainty of the numbers of positives.
    bounds : (float, float)
        The number is never outside.
    looks : int
        How many intervals have to hold together.
    """

    value: Callable[[FloatArray], FloatArray] = field(repr=False)
    pieces: Pieces = field(repr=False)
    variance: float
    bounds: tuple[float, float]
    looks: int = 1
    _found: dict[int, FloatArray] = field(default_factory=dict, repr=False, compare=False)

    @property
    def estimate(self) -> float:
        """The number itself."""
        return float(np.clip(self.value(self.pieces.estimate), *self.bounds))

    @property
    def error(self) -> float:
        """Half of what an interval of plus and minus one standard error has."""
        low, high = self.limits(math.erf(math.sqrt(0.5)))
        return (high - low) / 2.0

    def limits(self, confidence_level: float) -> tuple[float, float]:
        """Return the limits; those of a lower level lie inside those of a higher one."""
        level = 1.0 - (1.0 - confidence_level) / self.looks
        centre = float(self.value(self.pieces.estimate))
        down, up = self._distances(level)
        # What was seen is a bound that must hold: rounded outwards.
        slack = TOLERANCE * abs(centre)
        low, high = centre - down - slack, centre + up + slack
        return max(low, self.bounds[0]), min(high, self.bounds[1])

    def _distances(self, level: float) -> FloatArray:
        """Return how far the number goes down and up, never less at a higher level.

        The points that are tried inside the limits of a piece move with the level, and a metric
        that jumps up and down, such as precision at a recall, may be less far off at those of the
        higher one. So the largest distances up to some levels count, and between these levels
        distances grow with the normal quantile.
        """
        above = int(np.searchsorted(_LEVELS, level - TOLERANCE))
        if above == 0:
            return self._farthest(0)
        if above == len(_LEVELS):
            return np.maximum(self._farthest(above - 1), self._at_level(level))
        start, here, end = (
            normal_quantile(at) for at in (_LEVELS[above - 1], level, _LEVELS[above])
        )
        part = min((here - start) / (end - start), 1.0)
        low, high = self._farthest(above - 1), self._farthest(above)
        return np.asarray(low + part * (high - low))

    def _farthest(self, number: int) -> FloatArray:
        """Return the largest distances up to one of the levels."""
        if number not in self._found:
            found = self._at_level(_LEVELS[number])
            if number:
                found = np.maximum(found, self._farthest(number - 1))
            self._found[number] = found
        return self._found[number]

    def _at_level(self, level: float) -> FloatArray:
        """Return how far the number goes down and up at one level."""
        own = normal_quantile(level) ** 2 * self.variance
        moves, changes = self._moves(level)
        return np.array([self._distance(sign * changes, moves, own, sign) for sign in (-1.0, 1.0)])

    def deviations(self) -> FloatArray:
        """Return by how much the number moves with one standard error of each piece's positives."""
        _, changes = self._moves(math.erf(math.sqrt(0.5)))
        low, high = changes[len(changes) // 2 - 1], changes[-1]
        return np.asarray((high - low) / 2.0)

    def _moves(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Move one piece at a time: by how much (points, pieces), and what that changes."""
        pieces = self.pieces
        open_ = np.flatnonzero(pieces.most > pieces.least)
        if not open_.size:
            return np.zeros((2, 0)), np.zeros((2, 0))
        ends = number_limits(pieces, level)
        moves = np.array(
            [(end - pieces.estimate)[open_] * part for end in ends for part in _INSIDE]
        )
        moved = np.tile(pieces.estimate, (*moves.shape, 1))
        moved[:, np.arange(open_.size), open_] += moves
        return moves, self.value(moved) - self.value(pieces.estimate)

    def _distance(self, changes: FloatArray, moves: FloatArray, own: float, sign: float) -> float:
        """Return how far the number goes one way: by MOVER, or further with all pieces together.

        The distances of the pieces add in squares; each piece then goes its part of the way,
        ``distance / root of the sum``, and the number there may be further off where it is curved.
        A positive or two that were found where there are hardly any are no matter of squares: when
        that happens the whole distance is needed, and what the others do comes on top of it.
        """
        pieces = self.pieces
        farthest, place = np.argmax(changes, axis=0), np.arange(moves.shape[1])
        distance = np.maximum(changes[farthest, place], 0.0)
        moves = moves[farthest, place]
        opened = pieces.most > pieces.least
        lucky = (moves < 0.0) & (pieces.positives[opened] <= _FEW)
        by_luck = math.sqrt(float(np.sum(distance[lucky] ** 2)))
        root = math.sqrt(float(np.sum(distance[~lucky] ** 2)) + own)
        together = pieces.estimate.copy()
        together[opened] += moves * ratio(distance, np.where(lucky, by_luck, root))
        change = sign * float(self.value(together) - self.value(pieces.estimate))
        return max(by_luck + root, change + float(ratio(own, root)))


def number_limits(pieces: Pieces, confidence_level: float) -> tuple[FloatArray, FloatArray]:
    """Return the limits of each piece's number of positives."""
    shares = share_limits(pieces.positives, pieces.labels, 0.5 * (1.0 - confidence_level))
    shrink = np.sqrt(np.maximum(1.0 - pieces.sampled, 0.0))
    low, high = (
        np.clip(
            pieces.estimate + (share * pieces.size - pieces.estimate) * shrink,
            pieces.least,
            pieces.most,
        )
        for share in shares
    )
    return np.minimum(low, pieces.estimate), np.maximum(high, pieces.estimate)

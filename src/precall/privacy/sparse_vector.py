"""The first of many counts that is large enough, found privately (``PROOFS.md``, section 19).

The sparse vector technique (Dwork & Roth 2014, section 3.6) with integer noise: what it costs does
not depend on how many counts there are, because all that is said of them is which comes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ..exceptions import InputError
from ._ledger import Amount, exact
from .mechanisms import IntArray, Noise, laplace_scale

FloatArray = npt.NDArray[np.float64]

# Share of epsilon for the limit; the rest is for the counts. The sum of both noises is least at
# 1 : 2^(2/3) (Lyu, Su & Li 2017).
_LIMIT_SHARE = Fraction(39, 100)
# Beyond this many scales the noise of the limit has a probability under 1e-25.
_SCALES = 60.0
# Largest scale with which sums stay within 64 bits.
_LARGEST_SCALE = 2.0**40


@dataclass(frozen=True)
class SparseVector:
    """Noise scales for the limit and for the counts, each of which a row moves by one at most.

    Attributes
    ----------
    limit_scale, count_scale : float
        Scales of discrete Laplace noise.
    """

    limit_scale: float
    count_scale: float

    @classmethod
    def of(cls, epsilon: Amount) -> SparseVector:
        """Scales for a cost."""
        share = _LIMIT_SHARE * exact(epsilon)
        scales = laplace_scale(1.0, share), laplace_scale(2.0, exact(epsilon) - share)
        if max(scales) > _LARGEST_SCALE:
            raise InputError("epsilon must be at least 1e-11 here: ask for more.")
        return cls(*scales)

    def first(self, counts: IntArray, limit: int, noise: Noise) -> int | None:
        """Position of the first count that reaches the limit, both with noise; None if none does.

        All counts get their noise, though only those up to the first matter: their number is
        public.
        """
        bar = int(noise.add_laplace(np.array([limit], dtype=np.int64), self.limit_scale)[0])
        noisy = noise.add_laplace(counts, self.count_scale)
        reached = np.flatnonzero(noisy >= bar)
        return int(reached[0]) if reached.size else None

    def limit(self, n_counts: int, error: float) -> int:
        """Least limit that counts of at most 0 reach with probability `error` at most together."""
        low, high = 0, 1
        while self._reached(n_counts, high) > error:
            high *= 2
        while low < high:
            middle = (low + high) // 2
            if self._reached(n_counts, middle) > error:
                low = middle + 1
            else:
                high = middle
        return high

    def _reached(self, n_counts: int, limit: int) -> float:
        """Probability that one of so many counts of 0 reaches the limit; bounded from above.

        ``1 - E[F(limit + R - 1)^n]`` over the noise R of the limit, in steps that are rounded down.
        """
        step = max(1, round(self.limit_scale / 200.0))
        furthest = int(_SCALES * self.limit_scale) // step + 1
        edges = step * np.arange(-furthest, furthest + 1, dtype=np.float64)
        weight = np.diff(_below(edges, self.limit_scale))
        held = (_below(limit + edges[:-1], self.count_scale)) ** n_counts
        return float(1.0 - np.sum(weight * held))


def _below(at: FloatArray, scale: float) -> FloatArray:
    """``P(K < at)`` for discrete Laplace noise K at whole numbers."""
    # P(K >= k) = ratio^k / (1 + ratio) for k >= 1, and P(K < k) is P(K >= 1 - k) for k <= 0.
    both = 1.0 + np.exp(-1.0 / scale)
    upper = np.exp(-np.maximum(at, 1.0) / scale) / both
    lower = np.exp(-np.maximum(1.0 - at, 1.0) / scale) / both
    return np.asarray(np.where(at >= 1.0, 1.0 - upper, lower))

"""How many rows of one class rank above each row of the other: all that a band needs to know.

The curve's uncertainty has two halves: where the true rate of one class (the *own* class) lies at
its order statistics, and how many rows of the *other* class rank above those. For a
precision-recall curve the own class are the positives, for a ROC curve the negatives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from precall._cached import cached_property
from precall.exceptions import UndefinedMetricError
from precall.ranking import Ranking

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Path:
    """Rows of the other class above the 1st, 2nd, ... row of the own class, highest first.

    The own rows come in segments of equal standing: a segment of w own rows begins with `start`
    and ends with `stop` rows of the other class above. Without ties between the classes both are
    equal. With q tied rows of the other class ``stop - start = q``, and the i-th own row of the
    segment has ``start + q i / (w + 1)`` of them above it: the mean over all orders of the tied
    rows. Breaking ties at random makes the scores continuous and leaves the population's curve,
    interpolated linearly in ROC space, what it was; the mean does the same without the luck.

    Weighted rows count in effective rows: both classes are scaled to their Kish sizes, the own
    one rounded down to a whole number.

    Parameters
    ----------
    size : int
        Number n of own rows.
    total : float
        Number m of rows of the other class.
    edges : array
        Own rows before each segment, and n at the end.
    start, stop : array
        Rows of the other class above the first own row of a segment, and above the segment's end.
    missed : int
        Own rows without a score, the last ones: no threshold reaches them.
    unreached : float
        Rows of the other class without a score: no own row has them above.
    """

    size: int
    total: float
    edges: FloatArray
    start: FloatArray
    stop: FloatArray
    missed: int = 0
    unreached: float = 0.0

    @property
    def reach(self) -> int:
        """Own rows that have a score."""
        return self.size - self.missed

    @cached_property
    def _one_row_each(self) -> bool:
        return self.edges.size == self.size + 1 and bool(np.all(np.diff(self.edges) == 1.0))

    def _segment(self, rows: Any) -> npt.NDArray[np.int64]:
        """Segment that holds the last of the first `rows` own rows (`rows` above 0)."""
        if self._one_row_each:
            segment: npt.NDArray[np.int64] = np.ceil(rows).astype(np.int64) - 1
        else:
            segment = np.searchsorted(self.edges, rows, side="left") - 1
        return np.asarray(np.clip(segment, 0, self.start.size - 1))

    def value(self, row: npt.NDArray[np.int64]) -> FloatArray:
        """Rows of the other class above own row 1..n; 0 at row 0 and all at row n + 1.

        Above an own row without a score are all that have one.
        """
        segment = self._segment(row)
        inside = row - self.edges[segment]
        width = self.edges[segment + 1] - self.edges[segment]
        share = np.clip(inside / (width + 1.0), 0.0, 1.0)
        value = self.start[segment] + (self.stop[segment] - self.start[segment]) * share
        everyone = self.total - self.unreached
        return np.where(row < 1, 0.0, np.where(row > self.reach, everyone, value))

    def values(self, row: npt.NDArray[np.int64]) -> FloatArray:
        """The same for many rows at once: looked up where they are more than the own rows."""
        return self._table[row] if self.size < row.size else self.value(row)

    @cached_property
    def _table(self) -> FloatArray:
        return self.value(np.arange(self.size + 2))

    def last_row_under(self, count: float) -> int:
        """Last own row with fewer than `count` rows of the other class above, or 0."""
        low, high = 0, self.size + 1
        while high - low > 1:
            middle = (low + high) // 2
            if self.value(np.array(middle)) < count:
                low = middle
            else:
                high = middle
        return low

    def observed(self, rate: FloatArray) -> FloatArray:
        """Rate of the other class where the observed curve reaches `rate` of the own class.

        Linear in counts between the points of the curve; where several points share one rate,
        the one on arrival. Infinite where it is not reached.
        """
        rows = snap(rate * self.size)
        segment = self._segment(rows)
        inside = rows - self.edges[segment]
        width = self.edges[segment + 1] - self.edges[segment]
        rise = self.stop[segment] - self.start[segment]
        found = (self.start[segment] + rise * inside / width) / self.total
        return np.where(rows > self.reach, np.inf, found)

    def bounds(self) -> tuple[Path, Path]:
        """The paths of the two extreme orders of tied rows: fewest and most others above."""
        return replace(self, stop=self.start), replace(self, start=self.stop)


def snap(rows: FloatArray) -> FloatArray:
    """Round away the error of a product such as 0.55 * 100, which must be 55."""
    whole = np.round(rows)
    return np.where(np.abs(rows - whole) <= 1e-12 * np.maximum(whole, 1.0), whole, rows)


def require_both_classes(ranking: Ranking) -> None:
    """Raise unless the ranking has positives and negatives."""
    if not (ranking.n_pos and ranking.n_neg):
        missing = "negatives" if ranking.n_pos else "positives"
        raise UndefinedMetricError(
            f"ranking must have positives and negatives for a band, got no {missing}."
        )


def effective_sizes(ranking: Ranking) -> tuple[int, int]:
    """Whole effective numbers of rows per class, at least 1."""
    positives, negatives = ranking.effective_sizes
    # A Kish size of equal weights may fall short of its whole number by rounding.
    return max(int(positives * (1 + 1e-12)), 1), max(int(negatives * (1 + 1e-12)), 1)


def positives_path(ranking: Ranking) -> Path:
    """Negatives above each positive."""
    n, m = effective_sizes(ranking)
    own = n / ranking.all_positives if ranking.weighted else 1.0
    other = m / ranking.n_neg if ranking.weighted else 1.0
    edges = snap(np.concatenate([[0.0], ranking.tp * own]))
    missed = round(ranking.missed * own)
    edges[-1] = n - missed
    return Path(
        size=n,
        total=float(m),
        edges=edges,
        start=(ranking.fp - ranking.tied) * other,
        stop=ranking.fp * other,
        missed=missed,
    )


def negatives_path(ranking: Ranking) -> Path:
    """Positives above each negative."""
    n, m = effective_sizes(ranking)
    own = m / ranking.n_neg if ranking.weighted else 1.0
    other = n / ranking.all_positives if ranking.weighted else 1.0
    # Down the scores: negatives above a threshold, negatives tied with it, ..., those below all.
    groups = np.empty(2 * len(ranking) + 1)
    groups[0:-1:2], groups[1::2], groups[-1] = ranking.above, ranking.tied, ranking.below
    before = np.concatenate([[0.0], ranking.tp[:-1]])
    start = np.empty_like(groups)
    stop = np.empty_like(groups)
    start[0:-1:2] = stop[0:-1:2] = start[1::2] = before
    stop[1::2] = ranking.tp
    start[-1] = stop[-1] = ranking.n_pos
    held = groups > 0
    edges = snap(np.concatenate([[0.0], np.cumsum(groups[held]) * own]))
    edges[-1] = m
    return Path(
        size=m,
        total=float(n),
        edges=edges,
        start=start[held] * other,
        stop=stop[held] * other,
        unreached=ranking.missed * other,
    )

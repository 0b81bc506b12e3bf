"""All groups as one: the pooled ranking, its cluster variance, and whether pooling makes sense.

Pooling compares the scores of one group with those of another. To say how sure the pooled number
is, and whether the groups' scores can be compared at all, a small table is kept beside the exact
pooled ranking: how many negatives each group has in each of a few hundred cells of the score axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _threads
from .._notebook import Rich
from . import Cells, Ranking, counting, rank_checked
from .direction import concordance
from .grouping import Tables

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Numbers kept at most in the table of groups and cells, and the bounds on the cells.
_TABLE_SIZE = 2_000_000
_CELLS = (32, 512)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Pooled:
    """Every row of every group in one ranking, with each group's share of it.

    Attributes
    ----------
    ranking : Ranking
        The exact ranking of all rows.
    coarse : Ranking
        The same in at most 512 cells (:meth:`precall.Ranking.coarsen`).
    positives : array of shape (groups, cells)
        Weight of each group's positives in each cell.
    negatives : array of shape (groups, 2 cells + 1)
        Weight of each group's negatives in the cells (odd columns) and the gaps before, between
        and after them (even columns), highest scores first.
    positive_rows, negative_rows : arrays of int
        The same as numbers of rows.
    """

    ranking: Ranking
    coarse: Ranking
    positives: Array
    negatives: Array
    positive_rows: IntArray
    negative_rows: IntArray

    def __repr__(self) -> str:
        """Return one line."""
        return (
            f"Pooled({self.ranking!r}, groups={self.positives.shape[0]}, cells={len(self.coarse)})"
        )

    def without_each_group(self) -> Cells:
        """Return the coarse ranking less one group, for every group along the first axis."""
        positives = self.positives.sum(axis=0) - self.positives
        negatives = self.negatives.sum(axis=0) - self.negatives
        return Cells(positives, negatives[:, 1::2], negatives[:, :-1:2], negatives[:, -1])


def pool(
    positive: npt.NDArray[np.bool_],
    scores: Array,
    weights: FloatArray | None,
    starts: IntArray,
    order: IntArray | None,
    tables: Tables,
    ranking: Ranking | None = None,
) -> Pooled | None:
    """Rank all rows together, unless their `ranking` is known; None without positives."""
    if not tables.threshold.size:
        return None
    if ranking is None:
        ranking = rank_checked(positive, scores, weights)
    n_groups = starts.size - 1
    coarse = ranking.coarsen(int(np.clip(_TABLE_SIZE // (2 * n_groups), *_CELLS)))
    # Lowest and highest threshold of each cell, ascending: the edges of gaps and cells.
    rows_below = np.searchsorted(ranking.threshold[::-1], coarse.threshold[:-1])
    first = np.concatenate([[0], len(ranking) - rows_below])
    edges = np.empty(2 * len(coarse), dtype=ranking.threshold.dtype)
    edges[::2], edges[1::2] = coarse.threshold[::-1], ranking.threshold[first][::-1]
    return Pooled(
        ranking=ranking,
        coarse=coarse,
        **_group_shares(edges, positive, scores, weights, starts, order, tables),
    )


def _group_shares(
    edges: Array,
    positive: npt.NDArray[np.bool_],
    scores: Array,
    weights: FloatArray | None,
    starts: IntArray,
    order: IntArray | None,
    tables: Tables,
) -> dict[str, Any]:
    """Sum each group's rows over the cells and gaps that `edges` cut."""
    n_groups, width = starts.size - 1, edges.size + 1
    codes = np.repeat(np.arange(n_groups), np.diff(starts))
    rows = np.arange(scores.size)[: codes.size] if order is None else order
    theirs = np.flatnonzero(~positive[rows])
    cell = codes[theirs] * width + _segment(edges, scores[rows[theirs]])
    # Positives are all in the tables already.
    group = np.repeat(np.arange(n_groups), np.diff(tables.offsets))
    ours = group * (edges.size // 2) + _segment(edges, tables.threshold) // 2

    def summed(index: IntArray, values: Array | None, columns: int) -> Array:
        total = np.bincount(index, weights=values, minlength=n_groups * columns)
        return total.reshape(n_groups, columns)

    counts = tables.rows or tables.cells
    positive_rows = summed(ours, counts.positives, edges.size // 2).astype(np.int64)
    negative_rows = summed(cell, None, width)
    if weights is None:
        return {
            "positives": positive_rows,
            "negatives": negative_rows,
            "positive_rows": positive_rows,
            "negative_rows": negative_rows,
        }
    return {
        "positives": summed(ours, tables.cells.positives, edges.size // 2),
        "negatives": summed(cell, weights[rows[theirs]], width),
        "positive_rows": positive_rows,
        "negative_rows": negative_rows,
    }


def _segment(edges: Array, scores: Array) -> IntArray:
    """Column of each score: 0 above every cell, odd inside cells, even between them."""
    parts = counting.pieces(scores, _threads.available_cores())
    found = _threads.in_threads([partial(_ascending, edges, part) for part in parts], scores.size)
    return edges.size - np.concatenate(found)


def _ascending(edges: Array, scores: Array) -> IntArray:
    """Segment from below: even in gaps, odd in cells, whose two edges belong to them."""
    lower = np.searchsorted(edges[::2], scores, side="right")  # cells that begin at or below
    upper = np.searchsorted(edges[1::2], scores, side="left")  # cells that end below
    return np.asarray(lower + upper, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Comparability(Rich):
    """Whether scores mean the same in every group.

    Attributes
    ----------
    p_value : float
        Of the hypothesis that positives have one score distribution in all groups, and negatives
        too: twice the smaller p-value of two Kruskal-Wallis tests, one per class.
    within : float
        Share of (positive, negative) pairs of the *same* group in the right order.
    between : float
        The same for pairs from two different groups; lower where scores shift between groups.
    """

    p_value: float
    within: float
    between: float

    def to_dict(self) -> dict[str, float]:
        """Return a plain dictionary."""
        return {"p_value": self.p_value, "within": self.within, "between": self.between}


def comparability(
    pooled: Pooled, n_pos: Array, n_neg: Array, concordant: FloatArray
) -> Comparability:
    """Test whether the groups' scores can be compared.

    `concordant` is the number of pairs in the right order within each group. Rows of one cell of
    the table count as tied, for which the test is corrected.
    """
    ranking = pooled.ranking
    pairs = float(ranking.n_pos) * float(ranking.n_neg)
    own_pairs = float(np.sum(n_pos.astype(np.float64) * n_neg))
    own = float(np.sum(concordant))
    others = pairs - own_pairs
    tests = [kruskal_wallis(table) for table in (pooled.positive_rows, pooled.negative_rows)]
    return Comparability(
        p_value=min(1.0, 2.0 * min(tests)),
        within=own / own_pairs if own_pairs else float("nan"),
        between=(concordance(ranking) * pairs - own) / others if others > 0 else float("nan"),
    )


def kruskal_wallis(table: IntArray) -> float:
    """p-value of equal distributions in the rows of a table of counts over ordered cells.

    Midranks with the usual correction for ties; 1 if there is nothing to compare.
    """
    from scipy.special import chdtrc

    table = table[table.sum(axis=1) > 0]
    columns, sizes = table.sum(axis=0).astype(np.float64), table.sum(axis=1).astype(np.float64)
    total = sizes.sum()
    correction = 1.0 - np.sum(columns**3 - columns) / (total**3 - total) if total > 1 else 0.0
    if table.shape[0] < 2 or correction <= 0:
        return 1.0
    midrank = np.cumsum(columns) - 0.5 * (columns - 1.0)
    deviation = (table @ midrank) / sizes - 0.5 * (total + 1.0)
    statistic = 12.0 / (total * (total + 1.0)) * np.sum(sizes * deviation**2) / correction
    return float(chdtrc(table.shape[0] - 1, statistic))

"""How many labels each stratum gets.

The variance of an estimate from strata is ``sum N_h^2 S_h^2 (1 - n_h/N_h) / n_h``; it is smallest
with ``n_h`` proportional to ``N_h S_h`` (Neyman 1934). Here ``S_h^2`` is the mean of
``m (1 - m) phi^2`` over the rows of a stratum: m a guess of the probability of a positive, phi what
the metric changes by when the row turns from negative to positive. It is found for blocks of rows
with neighbouring scores, so that any metric can be asked and any number of rows is quick.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._numerics import ratio
from ..metrics import Metric
from ..ranking.number_layout import Cells
from .labels import summed
from .sample_limits import SampleEvidence
from .sampled_cells import Whole
from .strata_pieces import Pieces

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Blocks of neighbouring scores in a stratum.
_BLOCKS = 8
# A stratum gets at least so many labels, if it has as many rows.
FLOOR = 10
_STEP = 1e-4


class Blocks(NamedTuple):
    """Rows of one stratum with neighbouring scores, from the highest down.

    Attributes
    ----------
    stratum : array
    lowest : array
        Their lowest scores.
    size, positives, spread : array
        Rows, expected positives, and the sum of ``m (1 - m)``.
    """

    stratum: IntArray
    lowest: Array
    size: FloatArray
    positives: FloatArray
    spread: FloatArray


def blocks_of(scores: Array, stratum: IntArray, guess: FloatArray) -> Blocks:
    """Cut every stratum into blocks of about as many rows each; ties stay together."""
    order = np.lexsort((scores, stratum))[::-1]
    s, h, m = scores[order], stratum[order], guess[order]
    size = np.bincount(stratum)
    begin = np.flatnonzero(np.append(True, h[1:] != h[:-1]))
    within = np.arange(s.size) - np.repeat(begin, np.diff(np.append(begin, s.size)))
    wanted = within * _BLOCKS // size[h]
    fresh = np.append(True, (h[1:] != h[:-1]) | (s[1:] != s[:-1]))
    # A tie belongs to the block in which it begins.
    wanted = wanted[np.flatnonzero(fresh)][np.cumsum(fresh) - 1]
    first = np.flatnonzero(np.append(True, (h[1:] != h[:-1]) | (wanted[1:] != wanted[:-1])))
    last = np.append(first[1:], s.size) - 1
    found = Blocks(
        h[first],
        s[last],
        (last - first + 1).astype(np.float64),
        np.add.reduceat(m, first),
        np.add.reduceat(m * (1.0 - m), first),
    )
    falling = np.argsort(found.lowest, kind="stable")[::-1]
    return Blocks(
        found.stratum[falling],
        found.lowest[falling],
        found.size[falling],
        found.positives[falling],
        found.spread[falling],
    )


class SoftMetric:
    """A metric of blocks with expected numbers of positives."""

    def __init__(self, metric: Metric, blocks: Blocks) -> None:
        total = float(blocks.positives.sum())
        whole = Whole(blocks.lowest, total, float(blocks.size.sum()) - total)
        self.metric, self.blocks = metric.on(whole), blocks

    def value(self, positives: FloatArray) -> FloatArray:
        """Return the metric with numbers of positives in the blocks, on the last axis."""
        none = np.zeros(positives.shape[-1])
        cells = Cells(positives, self.blocks.size - positives, none, np.zeros(positives.shape[:-1]))
        return np.asarray(self.metric.value(cells), dtype=np.float64)

    def changes(self) -> FloatArray:
        """Return what one more positive (and one negative less) in each block changes."""
        size, centre = self.blocks.size, self.blocks.positives
        step = _STEP * size
        low, high = np.maximum(centre - step, 0.0), np.minimum(centre + step, size)
        ends = []
        for moved in (high, low):
            at = np.broadcast_to(centre, (size.size, size.size)).copy()
            np.fill_diagonal(at, moved)
            ends.append(self.value(at))
        return np.asarray((ends[0] - ends[1]) / (high - low))

    def deviations(self, count: int) -> FloatArray:
        """Return ``S_h`` of every stratum."""
        terms = self.blocks.spread * self.changes() ** 2
        number = self.blocks.stratum
        found = ratio(summed(number, terms, count), summed(number, self.blocks.size, count))
        return np.asarray(np.sqrt(found))

    def expected_width(self, labels: FloatArray, level: float) -> float:
        """Return the width of the interval that so many labels per stratum are expected to give."""
        number, count = self.blocks.stratum, labels.size
        size = summed(number, self.blocks.size, count)
        positives = summed(number, self.blocks.positives, count)
        share = ratio(self.blocks.positives, positives[number])
        found = positives * labels / size
        none = np.zeros(0, dtype=np.int64)
        pieces = Pieces(
            size=size,
            labels=labels,
            positives=found,
            estimate=positives,
            least=np.minimum(found, positives),
            most=size - (labels - found),
            sampled=labels / size,
            of_label=none,
            stand_ins=none,
            of_stand_in=none,
            tied=np.zeros(0),
            of_row=none,
        )
        evidence = SampleEvidence(
            value=lambda moved: self.value(
                np.minimum(moved[..., number] * share, self.blocks.size)
            ),
            pieces=pieces,
            variance=0.0,
            bounds=self.metric.bounds,
        )
        low, high = evidence.limits(level)
        return high - low


def equal(rows: IntArray, budget: int) -> IntArray:
    """Share a budget equally; what has fewer rows than its part leaves the rest to others."""
    return proportional(rows, np.ones(rows.size), budget)


def proportional(rows: IntArray, weight: FloatArray, budget: int, floor: int = 0) -> IntArray:
    """Share a budget in proportion to weights, with a least number each and no more than all rows.

    Whole numbers by largest remainder; the budget is spent unless there are fewer rows.
    """
    budget = min(budget, int(rows.sum()))
    floor = min(floor, budget // rows.size)
    given = np.minimum(floor, rows).astype(np.float64)
    weight = np.where(weight > 0.0, weight, 0.0)
    if not np.any(weight[rows > 0] > 0.0):
        weight = np.ones(rows.size)
    # Whatever is over its floor is in proportion; find the level at which the budget is spent.
    low, high = 0.0, 2.0 * budget / np.min(weight[(weight > 0) & (rows > 0)])
    for _ in range(200):
        middle = 0.5 * (low + high)
        found = np.clip(weight * middle, given, rows)
        low, high = (middle, high) if found.sum() < budget else (low, middle)
    exact = np.clip(weight * high, given, rows)
    whole = np.floor(exact + 1e-9).astype(np.int64)
    left = budget - int(whole.sum())
    room = np.flatnonzero(whole < rows)
    first = room[np.argsort(-(exact - whole)[room].round(9), kind="stable")]
    while left > 0 and first.size:
        whole[first[:left]] += 1
        left -= min(left, first.size)
        first = first[whole[first] < rows[first]]
    return whole


def uniform_budget(size: FloatArray, deviations: FloatArray, labels: FloatArray) -> float:
    """Return how many labels a simple random sample needs for the same variance."""
    planned = np.sum(size**2 * deviations**2 * np.maximum(1.0 - labels / size, 0.0) / labels)
    total = float(size.sum())
    overall = float(np.sum(size * deviations**2)) / total
    needed = ratio(total**2 * overall, planned + total * overall)
    return float(math.ceil(float(needed)))


def smoothed_shares(
    labels: FloatArray, positives: FloatArray, size: FloatArray, height: FloatArray
) -> FloatArray:
    """Guess the share of positives in strata from labels, not rising as mean scores fall.

    Half a positive is added, spread by size, so that no stratum is taken as empty.
    """
    extra = 0.5 * size / size.sum()
    share = (positives + extra) / (labels + 2.0 * extra)
    order = np.argsort(-height, kind="stable")
    result = np.empty(share.size)
    result[order] = _falling(share[order], labels[order])
    return result


def _falling(values: FloatArray, weight: FloatArray) -> FloatArray:
    """Isotonic regression by pooling neighbours that rise."""
    groups: list[list[float]] = []
    for value, own in zip(values.tolist(), weight.tolist(), strict=True):
        groups.append([value, own, 1])
        while len(groups) > 1 and groups[-2][0] < groups[-1][0]:
            second, first = groups.pop(), groups.pop()
            total = first[1] + second[1]
            mean = (first[0] * first[1] + second[0] * second[1]) / total
            groups.append([mean, total, first[2] + second[2]])
    return np.repeat([g[0] for g in groups], [int(g[2]) for g in groups])

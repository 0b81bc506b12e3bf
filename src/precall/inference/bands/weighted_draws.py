"""Curves drawn from rows whose weights differ: each row brings a random multiple of its weight.

The true rates of a class at its n rows have the distribution of n + 1 exponential spacings over
their sum. A row that weighs more takes a spacing as much longer; rows of one cell together take a
gamma number with the mean and the variance that their weights give it. The spacing ends at its row.
Half of it comes after the row if the next own one is lighter: the chance that rows were kept with
changes between the two, and nobody knows where. Where all rows of a class weigh the same, this is
what :mod:`.fiducial` draws.

A row that was not seen weighs what rows beside it do. So the half row of the other class that is
added at the top grows where rows are heavier than those above, and one more spacing of the own
class lies where others are heaviest beside light own rows. Own rows that are light by chance, among
heavier rows above and below, vary as much as those do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from precall._numerics import ratio
from precall.ranking import Ranking

from ..local_weights import LocalWeights, heaviest
from .fiducial import Rates
from .interpolation import interpolate_rows
from .weighted_places import (
    Places,
    Weights,
    balanced,
    negatives_first,
    positives_first,
    shifted,
    spread,
)

FloatArray = npt.NDArray[np.float64]

# Draws are made in blocks of about this many numbers.
_BLOCK = 1 << 20
# More thresholds are merged: the curve between two of them is a straight line in ROC space.
_MAX_THRESHOLDS = 400
# Own rows to either side that say what an own row weighs, and what any row does.
_NEAR, _BESIDE = 5, 2
# Rows above, and rows below, that say how heavy rows may be at a place.
_AROUND = 10
# An unseen spacing is cut into so many, with others between.
_PARTS = 3


class _Drawn(NamedTuple):
    """Rates on the grid, least rates, where they may be 1, and the weights of own and others."""

    rate: FloatArray
    least: FloatArray
    all_: npt.NDArray[np.bool_]
    both: FloatArray


def draw_weighted(
    ranking: Ranking,
    kind: str,
    grid: FloatArray,
    n_draws: int,
    rng: np.random.Generator,
    ties: str,
) -> tuple[Rates, FloatArray]:
    """Draw what :func:`.fiducial.draw_rates` does, and the prevalence that goes with each curve."""
    coarse, units = balanced(ranking.coarsen(_MAX_THRESHOLDS))
    local = LocalWeights.of(coarse.cells, coarse.rows or coarse.cells, coarse.squares)
    tied = negatives_first(coarse) if kind == "roc" else positives_first(coarse)
    own, other = (1, 0) if kind == "roc" else (0, 1)
    mean = np.sum(tied.own.total) / np.sum(tied.own.rows)
    ends = np.array([local.bottom[own], local.top[other], local.bottom[other], mean])
    tied = _with_unseen(_as_heavy_as_around(tied), local.bottom[own] / local.bottom[other])
    drawn = _draw(spread(tied), ends, grid, n_draws, rng)
    fewest = most = drawn
    if ties == "bound" and tied.inside.rows.any():
        fewest = _draw(shifted(tied, last=True), ends, grid, n_draws, rng)
        most = _draw(shifted(tied, last=False), ends, grid, n_draws, rng)
    rates = Rates(
        drawn.rate,
        fewest.least,
        np.where(most.all_, 1.0, most.rate),
    )
    both = (drawn.both[:, ::-1] if kind == "roc" else drawn.both) * units
    return rates, both[:, :1] / both.sum(axis=1, keepdims=True)


def _draw(
    places: Places, ends: FloatArray, grid: FloatArray, n_draws: int, rng: np.random.Generator
) -> _Drawn:
    block = max(_BLOCK // (4 * (places.own.rows.size + grid.size)), 1)
    sizes = [min(block, n_draws - first) for first in range(0, n_draws, block)]
    blocks = [_draw_block(places, ends, grid, size, rng) for size in sizes]
    return _Drawn(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))


def _draw_block(
    places: Places, ends: FloatArray, grid: FloatArray, n_draws: int, rng: np.random.Generator
) -> _Drawn:
    """Draw weights of all cells.

    `ends` are the weights of an unseen own row at the bottom, of others at both ends, and of an own
    row that was seen, on average. As in the fiducial band, a whole spacing follows the last own
    row, and half a row of the other class is added at either end. That at the top weighs what the
    heaviest rows so far do.
    """
    unseen = rng.standard_gamma(0.5, (n_draws, 4)) * ends[[0, 0, 1, 2]]
    end = unseen[:, :1] + unseen[:, 1:2]
    own = _interleaved(*places.own.draw_first(rng, n_draws), end)
    others = _interleaved(
        places.before.draw(rng, n_draws), places.inside.draw(rng, n_draws), unseen[:, 3:]
    )
    others[:, -1:] += places.after.draw(rng, n_draws)
    others += unseen[:, 2:3] * _heaviest_so_far(places, ends)
    total, whole = own[:, -1:], others[:, -1:]
    ours = total - unseen[:, 1:2]
    place, level = own / total, np.broadcast_to(grid, (n_draws, grid.size))
    counted = np.cumsum(np.stack([places.before.rows, places.inside.rows], axis=-1))
    # Under one row above is compatible with none; and so at the other end.
    # Parts of tied rows add up to whole ones but for rounding.
    counted = np.round(counted, 9)
    first = 1 + np.count_nonzero(counted < 1.0)
    last = np.count_nonzero(counted <= np.round(counted[-1] + places.after.rows[0], 9) - 1.0)
    rates = others / whole
    # Heavy own rows that were not seen below all others need not exist, also where some were seen:
    # those have spacings of their own.
    fewer = own / (own[:, -2:-1] + end * min(ends[3] / ends[0], 1.0))
    return _Drawn(
        interpolate_rows(level, place, rates),
        np.where(level < fewer[:, first : first + 1], 0.0, interpolate_rows(level, fewer, rates)),
        level >= place[:, last : last + 1],
        # Half a row of each class more than was seen, as in the fiducial band.
        np.concatenate([ours, whole - unseen[:, 3:]], axis=1),
    )


def _heaviest_so_far(places: Places, ends: FloatArray) -> FloatArray:
    """How many times one at the top rows of either class weigh, those above and here, as others."""
    both = places.before.plus(places.inside)
    weight = _beside(both.total + places.own.total * (ends[2] / ends[0]), _BESIDE)
    mean = weight / _beside(both.rows + places.own.rows, _BESIDE)
    times = np.maximum.accumulate(np.append(1.0, mean / ends[1]))
    return np.concatenate([times[:1], np.repeat(times[1:], 2), times[-1:]])


def _beside(values: FloatArray, number: int) -> FloatArray:
    """Sum over each place and so many to either side."""
    total = np.cumsum(np.append(0.0, values))
    index = np.arange(values.size)
    last = np.minimum(index + number + 1, values.size)
    return np.asarray(total[last] - total[np.maximum(index - number, 0)])


def _as_heavy_as_around(places: Places) -> Places:
    """Let the own rows of a cell vary as if they were as heavy as rows above and below it.

    The variance of a sum of weights is that of rows which might have been drawn. Of few rows it is
    taken too small just where their sum is, when those drawn are light ones by chance. The rows
    around are more; of both sides the lighter one tells, so that where weights are a function of
    the score hardly anything changes: rows on one side weigh no more than own rows do there.
    """
    own = places.own
    times = _own_to_other(places)
    before, inside, after = (
        part.as_heavy(times) for part in (places.before, places.inside, places.after)
    )
    line = Weights(
        *(
            np.append(np.stack([first, second], axis=-1), last)
            for first, second, last in zip(
                before.fields, own.plus(inside).fields, after.fields, strict=True
            )
        )
    )
    around = np.minimum(_heavy_above(line), _heavy_above(line[::-1])[::-1])[1::2]
    square = np.maximum(own.square, own.total * around)
    return replace(places, own=Weights(own.total, square, own.rows))


def _heavy_above(line: Weights) -> FloatArray:
    """What rows above each place weigh, each counted by its weight; of the first if there are few.

    They are in as many places as it takes to have `_AROUND` of them.
    """
    reached = np.append(0.0, np.cumsum(line.rows))
    few = min(_AROUND, reached[-1])
    stop = np.maximum(np.arange(line.rows.size), np.searchsorted(reached, few))
    start = np.searchsorted(reached, reached[stop] - few, side="right") - 1
    # Sums of their own: differences of running sums would lose light rows after heavy ones.
    both = np.stack([start, stop], axis=-1).ravel()
    square, total = (
        np.add.reduceat(np.append(field, 0.0), both)[::2] for field in (line.square, line.total)
    )
    return ratio(square, total)


def _own_to_other(places: Places) -> float:
    """How many times another row an own one weighs at the same place.

    Others next above own rows tell, or those next below. Where weights rise along the score one of
    the two is too large, where they fall the other: the smaller is taken.
    """
    own, inside = places.own, places.inside
    later = Weights(
        *(
            np.append(first[1:], last)
            for first, last in zip(places.before.fields, places.after.fields, strict=True)
        )
    )
    found = []
    for gap in (places.before.plus(inside), later.plus(inside)):
        beside = own.rows * ratio(gap.total, gap.rows)
        found.append(float(ratio(np.sum(own.total[beside > 0]), np.sum(beside))))
    return min(each for each in found if each > 0)


def _with_unseen(places: Places, times: float) -> Places:
    """Put one more spacing where others are heaviest beside light own rows.

    It weighs by how much those are heavier; `times` is what an own row weighs where another weighs
    1. Nobody knows where among them it lies: its parts have exponential weights when added up, and
    most of that is in one of them.
    """
    own, rows = places.own, places.before.rows
    total, square, _ = places.before.as_heavy(times).fields
    held = rows > 0
    least = np.min(np.append(own.total / own.rows, total[held] / rows[held]))
    near = _beside(own.square, _NEAR) / _beside(own.total, _NEAR)
    excess = heaviest(total, square, rows, least) - near
    place = int(np.argmax(excess >= np.max(excess) * (1.0 - 1e-9)))
    if excess[place] <= 1e-9 * near[place]:
        return places
    index = np.insert(np.arange(near.size), place, [place] * _PARTS)
    new = slice(place, place + _PARTS)
    share = np.ones(index.size)
    share[place : place + _PARTS + 1] = [0.0] + [1.0 / _PARTS] * _PARTS
    part = np.array([1.0, excess[place], 1.0 / excess[place]]) * excess[place] / _PARTS
    mine = own[index]
    for field, value in zip(mine.fields, part, strict=True):
        field[new] = value
    inside = places.inside[index]
    for field in inside.fields:
        field[new] = 0.0
    return Places(places.before[index].times(share), mine, inside, places.after)


def _interleaved(first: FloatArray, rest: FloatArray, end: FloatArray) -> FloatArray:
    """Cumulate from 0: the first of each cell, the rest of it, ..., what is at the end."""
    steps = np.zeros((len(first), 2 * first.shape[1] + 2))
    steps[:, 1:-1:2], steps[:, 2:-1:2], steps[:, -1:] = first, rest, end
    return np.cumsum(steps, axis=1)

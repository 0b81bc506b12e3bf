"""Curves drawn from rows whose weights differ: each row brings a random multiple of its weight.

The true rates of a class at its n rows have the distribution of n + 1 exponential spacings over
their sum. A row that weighs more takes a spacing as much longer; rows of one cell together take a
gamma number with the mean and the variance that their weights give it. Where all rows of a class
weigh the same, this is what :mod:`.fiducial` draws.

A row that was not seen weighs what rows beside it do. So the half row of the other class that is
added at the top grows where rows are heavier than those above, and one more spacing of the own
class lies where others are heaviest beside light own rows. Own rows that are light by chance, among
heavier rows above and below, vary as much as those do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from precall._numerics import ratio
from precall.metrics.base import totals
from precall.ranking import Cells, Ranking

from ..local_weights import LocalWeights, heaviest
from .fiducial import Rates
from .interpolation import interpolate_rows

FloatArray = npt.NDArray[np.float64]

# Draws are made in blocks of about this many numbers.
_BLOCK = 1 << 20
# More thresholds are merged: the curve between two of them is a straight line in ROC space.
_MAX_THRESHOLDS = 400
# A cell with ties is cut into so many, at most.
_TIED_CELLS = 20
# Own rows to either side that say what an own row weighs, and what any row does.
_NEAR, _BESIDE = 5, 2
# Rows above, and rows below, that say how heavy rows may be at a place.
_AROUND = 10
# An unseen spacing is cut into so many, with others between.
_PARTS = 3


def weights_vary(ranking: Ranking) -> bool:
    """Return whether rows of one class weigh differently."""
    if ranking.rows is None:
        return False
    return not np.allclose(totals(ranking.rows), ranking.effective_sizes, rtol=1e-9)


@dataclass(frozen=True, eq=False)
class _Weights:
    """Weight, sum of squared weights and number of rows of each cell."""

    total: FloatArray
    square: FloatArray
    rows: FloatArray

    @property
    def fields(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """All three."""
        return self.total, self.square, self.rows

    def __getitem__(self, index: Any) -> _Weights:
        """Return some of the cells."""
        return _Weights(*(field[index] for field in self.fields))

    def plus(self, other: _Weights) -> _Weights:
        """Put the rows of other cells into these."""
        return _Weights(*map(np.add, self.fields, other.fields))

    def times(self, share: Any) -> _Weights:
        """Return a share of the rows of each cell."""
        return _Weights(*(field * share for field in self.fields))

    def as_heavy(self, times: float) -> _Weights:
        """Return the same rows, each so many times as heavy."""
        return _Weights(self.total * times, self.square * times**2, self.rows)

    def draw(self, rng: np.random.Generator, n_draws: int) -> FloatArray:
        """Draw the weight of every cell."""
        shape, scale = self._gamma
        return rng.standard_gamma(shape, (n_draws, shape.size)) * scale

    def draw_first(self, rng: np.random.Generator, n_draws: int) -> tuple[FloatArray, FloatArray]:
        """Draw what the first row of every cell brings, and what the others do."""
        shape, scale = self._gamma
        first = np.minimum(shape, 1.0)
        size = (n_draws, shape.size)
        parts = (rng.standard_gamma(each, size) * scale for each in (first, shape - first))
        return next(parts), next(parts)

    @property
    def _gamma(self) -> tuple[FloatArray, FloatArray]:
        held = self.total > 0
        # At most one for each row. The squares of light rows beside very heavy ones are lost to
        # rounding, and then each of them counts as one.
        square = np.maximum(self.square, self.total**2 / np.where(held, self.rows, 1.0))
        shape = np.where(held, self.total**2 / np.where(held, square, 1.0), 0.0)
        # Equal weights are worth their number of rows, whatever the rounding.
        whole = np.round(shape)
        shape = np.where(np.abs(shape - whole) <= 1e-9 * np.maximum(whole, 1.0), whole, shape)
        return shape, np.where(held, square / np.where(held, self.total, 1.0), 0.0)


@dataclass(frozen=True, eq=False)
class _Places:
    """Down the scores, cell by cell: others, an own row, others among more own rows; then others.

    The others `inside` a cell are spread evenly over its own rows after the first.
    """

    before: _Weights
    own: _Weights
    inside: _Weights
    after: _Weights


class _Drawn(NamedTuple):
    """Rates on the grid, least rates, where they may be 1, and the own class's share of all."""

    rate: FloatArray
    least: FloatArray
    all_: npt.NDArray[np.bool_]
    share: FloatArray


def draw_weighted(
    ranking: Ranking,
    kind: str,
    grid: FloatArray,
    n_draws: int,
    rng: np.random.Generator,
    ties: str,
) -> tuple[Rates, FloatArray]:
    """Draw what :func:`.fiducial.draw_rates` does, and the prevalence that goes with each curve."""
    coarse = ranking.coarsen(_MAX_THRESHOLDS)
    local = LocalWeights.of(coarse.cells, coarse.rows or coarse.cells, coarse.squares)
    tied = _negatives_first(coarse) if kind == "roc" else _positives_first(coarse)
    own, other = (1, 0) if kind == "roc" else (0, 1)
    mean = np.sum(tied.own.total) / np.sum(tied.own.rows)
    ends = np.array([local.bottom[own], local.top[other], local.bottom[other], mean])
    tied = _with_unseen(_as_heavy_as_around(tied), local.bottom[own] / local.bottom[other])
    drawn = _draw(_spread(tied), ends, grid, n_draws, rng)
    fewest = most = drawn
    if ties == "bound" and tied.inside.rows.any():
        fewest = _draw(_shifted(tied, last=True), ends, grid, n_draws, rng)
        most = _draw(_shifted(tied, last=False), ends, grid, n_draws, rng)
    rates = Rates(
        drawn.rate,
        fewest.least,
        np.where(most.all_, 1.0, most.rate),
    )
    return rates, 1.0 - drawn.share if kind == "roc" else drawn.share


def _draw(
    places: _Places, ends: FloatArray, grid: FloatArray, n_draws: int, rng: np.random.Generator
) -> _Drawn:
    block = max(_BLOCK // (4 * (places.own.rows.size + grid.size)), 1)
    sizes = [min(block, n_draws - first) for first in range(0, n_draws, block)]
    blocks = [_draw_block(places, ends, grid, size, rng) for size in sizes]
    return _Drawn(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))


def _draw_block(
    places: _Places, ends: FloatArray, grid: FloatArray, n_draws: int, rng: np.random.Generator
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
        ours / (ours + whole - unseen[:, 3:]),
    )


def _heaviest_so_far(places: _Places, ends: FloatArray) -> FloatArray:
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


def _as_heavy_as_around(places: _Places) -> _Places:
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
    line = _Weights(
        *(
            np.append(np.stack([first, second], axis=-1), last)
            for first, second, last in zip(
                before.fields, own.plus(inside).fields, after.fields, strict=True
            )
        )
    )
    around = np.minimum(_heavy_above(line), _heavy_above(line[::-1])[::-1])[1::2]
    square = np.maximum(own.square, own.total * around)
    return replace(places, own=_Weights(own.total, square, own.rows))


def _heavy_above(line: _Weights) -> FloatArray:
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


def _own_to_other(places: _Places) -> float:
    """How many times another row an own one weighs at the same place.

    Others next above own rows tell, or those next below. Where weights rise along the score one of
    the two is too large, where they fall the other: the smaller is taken.
    """
    own, inside = places.own, places.inside
    later = _Weights(
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


def _with_unseen(places: _Places, times: float) -> _Places:
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
    return _Places(places.before[index].times(share), mine, inside, places.after)


def _interleaved(first: FloatArray, rest: FloatArray, end: FloatArray) -> FloatArray:
    """Cumulate from 0: the first of each cell, the rest of it, ..., what is at the end."""
    steps = np.zeros((len(first), 2 * first.shape[1] + 2))
    steps[:, 1:-1:2], steps[:, 2:-1:2], steps[:, -1:] = first, rest, end
    return np.cumsum(steps, axis=1)


def _positives_first(ranking: Ranking) -> _Places:
    """The places of positives: negatives above each, and tied."""
    parts = [
        (np.atleast_1d(np.asarray(field, dtype=np.float64)) for field in cells[:4])
        for cells in _three(ranking)
    ]
    own, tied, above, below = (_Weights(*each) for each in zip(*parts, strict=True))
    return _only_own(_Places(above, own, tied, below))


def _negatives_first(ranking: Ranking) -> _Places:
    """The places of negatives: those above a threshold, those tied with its positives, ..."""
    fields = []
    for cells in _three(ranking):
        size = 2 * cells.positives.size + 1
        own, tied = np.zeros(size), np.zeros(size)
        own[:-1:2], own[1::2], own[-1] = cells.above, cells.tied, cells.below
        tied[1::2] = cells.positives
        fields.append((np.zeros(size), own, tied, np.zeros(1)))
    return _only_own(_Places(*(_Weights(*each) for each in zip(*fields, strict=True))))


def _three(ranking: Ranking) -> tuple[Cells, Cells, Cells]:
    cells = ranking.cells
    return cells, ranking.squares or cells, ranking.rows or cells


def _only_own(places: _Places) -> _Places:
    """Leave out places without own rows: the others there come before the next, or at the end."""
    kept = np.flatnonzero(places.own.rows > 0)
    before, after = _moved_on(places.before, places.inside, places.after, kept)
    return _Places(before, places.own[kept], places.inside[kept], after)


def _moved_on(
    before: _Weights, inside: _Weights, after: _Weights, kept: npt.NDArray[np.int64]
) -> tuple[_Weights, _Weights]:
    """Put the others of places that are not kept before the next, or at the end."""
    starts, end = np.concatenate([[0], kept[:-1] + 1]), kept[-1] + 1
    found = []
    for first, second, last in zip(before.fields, inside.fields, after.fields, strict=True):
        loose = first + second
        loose[kept] = first[kept]
        found.append((np.add.reduceat(loose[:end], starts), last + loose[end:].sum()))
    ours, theirs = zip(*found, strict=True)
    return _Weights(*ours), _Weights(*theirs)


def _shifted(places: _Places, *, last: bool) -> _Places:
    """Put tied others after the own rows of their cell, or before them."""
    nothing = places.inside.times(0.0)
    if not last:
        return _Places(places.before.plus(places.inside), places.own, nothing, places.after)
    later = _Weights(*(np.append(0.0, field[:-1]) for field in places.inside.fields))
    return _Places(
        places.before.plus(later), places.own, nothing, places.after.plus(places.inside[-1:])
    )


def _spread(places: _Places) -> _Places:
    """Spread tied others evenly: the i-th of r own rows has ``i / (r + 1)`` of them above it.

    That is the mean over all orders. A cell becomes several, whose weights are drawn one by one.
    """
    rows, tied = places.own.rows, places.inside
    times = np.where(tied.rows > 0, np.clip(rows, 1, _TIED_CELLS), 1).astype(np.int64)
    index = np.repeat(np.arange(times.size), times)
    leading = np.append(True, np.diff(index) > 0)
    each, own = tied.times(1.0 / (rows + 1.0))[index], places.own.times(1.0 / times)[index]
    # Of each cell one part of the tied rows is left: it comes before the next.
    left = np.append(0.0, np.diff(index) > 0)
    before = each.plus(places.before[index].times(leading))
    return _Places(
        before.plus(each[np.maximum(np.arange(index.size) - 1, 0)].times(left)),
        own,
        each.times(np.maximum(own.rows - 1.0, 0.0)),
        places.after.plus(each[-1:]),
    )

"""Where the rows of both classes lie down the scores, and what those of a cell weigh together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from precall.metrics.base import totals
from precall.ranking import Cells, Ranking

FloatArray = npt.NDArray[np.float64]

# A cell with ties is cut into so many, at most.
_TIED_CELLS = 20
# Rows that weigh less, where their class has a mean of 1, are taken for as heavy.
_LIGHTEST = 1e-12


@dataclass(frozen=True, eq=False)
class Weights:
    """Weight, sum of squared weights and number of rows of each cell."""

    total: FloatArray
    square: FloatArray
    rows: FloatArray

    @property
    def fields(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """All three."""
        return self.total, self.square, self.rows

    def __getitem__(self, index: Any) -> Weights:
        """Return some of the cells."""
        return Weights(*(field[index] for field in self.fields))

    def plus(self, other: Weights) -> Weights:
        """Put the rows of other cells into these."""
        return Weights(*map(np.add, self.fields, other.fields))

    def times(self, share: Any) -> Weights:
        """Return a share of the rows of each cell."""
        return Weights(*(field * share for field in self.fields))

    def as_heavy(self, times: float) -> Weights:
        """Return the same rows, each so many times as heavy."""
        return Weights(self.total * times, self.square * times**2, self.rows)

    def draw(self, rng: np.random.Generator, n_draws: int) -> FloatArray:
        """Draw the weight of every cell."""
        shape, scale = self._gamma
        return rng.standard_gamma(shape, (n_draws, shape.size)) * scale

    def draw_first(self, rng: np.random.Generator, n_draws: int) -> tuple[FloatArray, FloatArray]:
        """Draw what there is up to the first row of every cell, and what its others bring.

        Half of a first row that is heavier than those of the next cell comes before these.
        """
        shape, scale = self._gamma
        first = np.minimum(shape, 1.0)
        later = 0.5 * first * self._heavier_than_next
        size = (n_draws, shape.size)
        before, after, others = (
            rng.standard_gamma(each, size) * scale for each in (first - later, later, shape - first)
        )
        before[:, 1:] += after[:, :-1]
        return before, others

    @property
    def _heavier_than_next(self) -> npt.NDArray[np.bool_]:
        each = self.total / self.rows
        return np.append(each[:-1] > each[1:] * (1.0 + 1e-9), False)

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
class Places:
    """Down the scores, cell by cell: others, an own row, others among more own rows; then others.

    The others `inside` a cell are spread evenly over its own rows after the first.
    """

    before: Weights
    own: Weights
    inside: Weights
    after: Weights


def balanced(ranking: Ranking) -> tuple[Ranking, tuple[float, float]]:
    """Bring the mean weight of each class near 1, and say what 1 stands for.

    Powers of two: no digit changes. Rows too light to matter are raised, so that neither their
    squares nor their ratios to others leave the range of floats.
    """
    cells, squares, rows = _three(ranking)
    means = (
        float(weight / count) for weight, count in zip(totals(cells), totals(rows), strict=True)
    )
    positive, negative = (2.0 ** round(math.log2(mean)) for mean in means)
    cells = cells.scaled(1.0 / positive, 1.0 / negative)
    squares = squares.scaled(positive**-2, negative**-2)
    fields = _raised(cells, rows, _LIGHTEST)._asdict()
    return (
        replace(ranking, **fields, squares=_raised(squares, rows, _LIGHTEST**2), rows=rows),
        (positive, negative),
    )


def _raised(cells: Cells, rows: Cells, least: float) -> Cells:
    """Let every row bring `least` to its cell."""
    return Cells(
        *(np.maximum(cell, least * count) for cell, count in zip(cells, rows, strict=True))
    )


def positives_first(ranking: Ranking) -> Places:
    """The places of positives: negatives above each, and tied."""
    parts = [
        (np.atleast_1d(np.asarray(field, dtype=np.float64)) for field in cells[:4])
        for cells in _three(ranking)
    ]
    own, tied, above, below = (Weights(*each) for each in zip(*parts, strict=True))
    return _only_own(Places(above, own, tied, below))


def negatives_first(ranking: Ranking) -> Places:
    """The places of negatives: those above a threshold, those tied with its positives, ..."""
    fields = []
    for cells in _three(ranking):
        size = 2 * cells.positives.size + 1
        own, tied = np.zeros(size), np.zeros(size)
        own[:-1:2], own[1::2], own[-1] = cells.above, cells.tied, cells.below
        tied[1::2] = cells.positives
        fields.append((np.zeros(size), own, tied, np.zeros(1)))
    return _only_own(Places(*(Weights(*each) for each in zip(*fields, strict=True))))


def _three(ranking: Ranking) -> tuple[Cells, Cells, Cells]:
    cells = ranking.cells
    return cells, ranking.squares or cells, ranking.rows or cells


def _only_own(places: Places) -> Places:
    """Leave out places without own rows: the others there come before the next, or at the end."""
    kept = np.flatnonzero(places.own.rows > 0)
    before, after = _moved_on(places.before, places.inside, places.after, kept)
    return Places(before, places.own[kept], places.inside[kept], after)


def _moved_on(
    before: Weights, inside: Weights, after: Weights, kept: npt.NDArray[np.int64]
) -> tuple[Weights, Weights]:
    """Put the others of places that are not kept before the next, or at the end."""
    starts, end = np.concatenate([[0], kept[:-1] + 1]), kept[-1] + 1
    found = []
    for first, second, last in zip(before.fields, inside.fields, after.fields, strict=True):
        loose = first + second
        loose[kept] = first[kept]
        found.append((np.add.reduceat(loose[:end], starts), last + loose[end:].sum()))
    ours, theirs = zip(*found, strict=True)
    return Weights(*ours), Weights(*theirs)


def shifted(places: Places, *, last: bool) -> Places:
    """Put tied others after the own rows of their cell, or before them."""
    nothing = places.inside.times(0.0)
    if not last:
        return Places(places.before.plus(places.inside), places.own, nothing, places.after)
    later = Weights(*(np.append(0.0, field[:-1]) for field in places.inside.fields))
    return Places(
        places.before.plus(later), places.own, nothing, places.after.plus(places.inside[-1:])
    )


def spread(places: Places) -> Places:
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
    return Places(
        before.plus(each[np.maximum(np.arange(index.size) - 1, 0)].times(left)),
        own,
        each.times(np.maximum(own.rows - 1.0, 0.0)),
        places.after.plus(each[-1:]),
    )

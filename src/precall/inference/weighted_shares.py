"""Shares of rows that do not all weigh the same, at thresholds that were fixed beforehand.

Where all weigh the same, Clopper and Pearson's lower limit of a share of k rows in n is a quantile
of ``G(k) / (G(k) + G(n - k + 1))``, with independent gamma numbers of these shapes: every row
brings an exponential number, and one row more, which was not seen, is on the other side. A row of
weight w brings w times that. What several bring together is taken for a gamma number of the same
mean and variance (Fay & Feuer 1997), and a row that was not seen weighs what the heavy ones of the
rows there do: one that stands for many others may well be missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._numerics import ratio
from ..metrics.four_counts import SHARES, CountShare, FourCounts
from ..ranking import Cells, Ranking
from .local_weights import LocalWeights, heaviest

FloatArray = npt.NDArray[np.float64]


class WeightOfRows(NamedTuple):
    """Some rows: their number, the sums of their weights and of the squares of these.

    `unseen` is what one more would weigh.
    """

    rows: Any
    weight: Any
    square: Any
    unseen: Any

    @property
    def with_unseen(self) -> WeightOfRows:
        """Put the row that was not seen to the others."""
        unseen = self.unseen
        return WeightOfRows(self.rows + 1, self.weight + unseen, self.square + unseen**2, unseen)

    @property
    def gamma(self) -> tuple[Any, Any]:
        """Shape and scale of the gamma number of the same mean and variance; shape 1 for none."""
        some = np.asarray(self.weight) > 0
        shape = np.where(some, ratio(np.square(self.weight), self.square), 1.0)
        return shape, np.where(some, ratio(self.square, self.weight), 0.0)

    def limits(self, level: float) -> tuple[Any, Any]:
        """Return the lower and the upper limit of the weight, each with half of the error."""
        from scipy.special import gammaincinv

        error = 0.5 * (1.0 - level)
        (shape, scale), (more, step) = self.gamma, self.with_unseen.gamma
        return scale * gammaincinv(shape, error), step * gammaincinv(more, 1.0 - error)

    def times(self, scale: float) -> WeightOfRows:
        """Return the same rows, each so many times."""
        return WeightOfRows(
            scale * self.rows, scale * self.weight, scale * self.square, self.unseen
        )


class WeightedShare(NamedTuple):
    """What is in the share and what is not, at one threshold or at many."""

    part: WeightOfRows
    rest: WeightOfRows

    @classmethod
    def of_rows(cls, weight: FloatArray, inside: npt.NDArray[np.bool_]) -> WeightedShare:
        """Return what some of these rows weigh of all of them.

        A row that was not seen weighs what the heavy ones do of those that were, on its side or,
        where there are none, of all.
        """

        def total(rows: FloatArray) -> WeightOfRows:
            square, some = float(rows @ rows), rows if rows.size else weight
            return WeightOfRows(
                rows.size, float(rows.sum()), square, float(some @ some) / float(some.sum())
            )

        return cls(total(weight[inside]), total(weight[~inside]))

    @property
    def value(self) -> Any:
        """The share; 0 of nothing."""
        return ratio(self.part.weight, self.part.weight + self.rest.weight)

    @property
    def turned(self) -> WeightedShare:
        """The share of the others."""
        return WeightedShare(self.rest, self.part)

    def lower(self, error: float) -> Any:
        """Return the limit that the true share is under with so much probability."""
        from scipy.special import betaincinv

        (shape, scale), (others, step) = self.part.gamma, self.rest.with_unseen.gamma
        place = betaincinv(shape, others, error)
        return ratio(scale * place, scale * place + step * (1.0 - place))

    def upper(self, error: float) -> Any:
        """Return the limit that the true share is over with so much probability."""
        return 1.0 - self.turned.lower(error)

    def limits(self, level: float) -> tuple[Any, Any]:
        """Return the lower and the upper limit, each with half of the error."""
        error = 0.5 * (1.0 - level)
        return self.lower(error), self.upper(error)

    def chance_under(self, share: float) -> Any:
        """Return how probably the true share is under another: surely where nothing is in it."""
        from scipy.special import betainc

        (shape, scale), (others, step) = self.part.gamma, self.rest.with_unseen.gamma
        up, down = share * step, (1.0 - share) * scale
        return betainc(shape, others, ratio(up, up + down))

    def times(self, scale: float) -> WeightedShare:
        """Return the same of every row so many times."""
        return WeightedShare(self.part.times(scale), self.rest.times(scale))


class WeightedCounts(NamedTuple):
    """The four counts with 0, 1, 2, ... thresholds selected, and then with everything.

    They are there as rows, weights and squares of weights. `unseen` is what a row of each kind
    that was not seen would weigh.
    """

    rows: FourCounts
    weights: FourCounts
    squares: FourCounts
    unseen: FourCounts

    @classmethod
    def of(cls, ranking: Ranking) -> WeightedCounts:
        """Count a ranking whose rows have weights."""
        cells, rows = ranking.cells, ranking.rows or ranking.cells
        return cls.of_cells(cells, LocalWeights.of(cells, rows, ranking.squares))

    @classmethod
    def of_cells(cls, cells: Cells, local: LocalWeights) -> WeightedCounts:
        """The same of cells, whose numbers and squares `local` has."""
        rows, squares = local.counts, local.squares
        times = float(local.bottom[1] / local.bottom[0])
        counted = [_four_counts(each) for each in (rows, cells, squares)]
        # Either side, in positives whatever the class.
        sides = [
            [each[ours] + each[ours + 1] / times**power for power, each in enumerate(counted)]
            for ours in (0, 2)
        ]
        lightest = _lightest(cells, rows)
        least = min(lightest[0], lightest[1] / times)
        alone = float(np.sum(squares.positives) / np.sum(cells.positives))
        heavy = [
            np.where(count > 0, heaviest(weight, square, count, least), alone)
            for count, weight, square in sides
        ]
        # Nobody is lighter than the lightest of the class.
        unseen = FourCounts(
            *(
                np.maximum(each * factor, light)
                for each in heavy
                for factor, light in zip((1.0, times), lightest, strict=True)
            )
        )
        numbers, weights, squared = counted
        return cls(numbers, weights, squared, unseen)

    def share(self, share: CountShare, at: Any = slice(None)) -> WeightedShare:
        """Return a share of rows, at some of the numbers of thresholds selected."""

        def mass(factors: tuple[float, ...]) -> WeightOfRows:
            rows, weight, square = (_sum(sums, factors, at) for sums in self.counts)
            most = [each[at] for each, factor in zip(self.unseen, factors, strict=True) if factor]
            return WeightOfRows(rows, weight, square, np.max(most, axis=0))

        return WeightedShare(mass(share.rise), mass(share.rest))

    def at_place(self, cells: Cells, local: LocalWeights, place: float) -> WeightedCounts:
        """Return one state: the highest rows that weigh so much together, a part of a tie even.

        `cells` and `local` are what this was counted from.
        """
        reached = self.weights.tp + self.weights.fp
        # Selected are rows up to the state after the cut, and left are those after the one before.
        after = min(int(np.searchsorted(reached, place)), reached.size - 1)
        before = after - int(after > 0 and reached[after] > place)
        along = _edge_sums(cells)
        whole = np.sum(along, axis=0)

        def at(part: Cells) -> FourCounts:
            ours, theirs = _edge_sums(part)
            tp, fp = (np.interp([place], whole, each) for each in (ours, theirs))
            return FourCounts(tp, fp, ours[-1] - tp, theirs[-1] - fp)

        tp, fp, fn, tn = self.unseen
        unseen = FourCounts(tp[[after]], fp[[after]], fn[[before]], tn[[before]])
        return WeightedCounts(at(local.counts), at(cells), at(local.squares), unseen)

    def masses(self, at: Any) -> FourCounts:
        """Return what the four counts weigh, with some number of thresholds selected."""
        names = ("recall", "false_positive_rate")
        shares = [self.share(SHARES[name], at) for name in names]
        return FourCounts(*(share.part for share in shares), *(share.rest for share in shares))

    def without(self, decided: Sequence[WeightedShare]) -> WeightedShare:
        """Return the share of all rows that are in none of these, which have no row in common."""
        everything = self.share(SHARES["prevalence"], -1)
        unseen = np.maximum(everything.part.unseen, everything.rest.unseen)
        gone, whole = (
            [sum(mass[field] for share in shares for mass in share) for field in range(3)]
            for shares in (decided, [everything])
        )
        # No row is left: what remains of the weights is rounding.
        some = whole[0] > gone[0]
        rows, weight, square = (
            max(each - part, 0.0) * some for each, part in zip(whole, gone, strict=True)
        )
        return WeightedShare(
            WeightOfRows(rows, weight, square, unseen),
            WeightOfRows(gone[0], gone[1], gone[2], unseen),
        )

    @property
    def counts(self) -> tuple[FourCounts, FourCounts, FourCounts]:
        """Rows, weights and squares."""
        return self.rows, self.weights, self.squares


def _sum(counts: FourCounts, factors: tuple[float, ...], at: Any) -> Any:
    return sum(count[at] for count, factor in zip(counts, factors, strict=True) if factor)


def _edge_sums(cells: Cells) -> tuple[FloatArray, FloatArray]:
    """Positives and negatives above each edge of a gap or a tie, and of all; missed ones last."""
    ours, theirs = (np.zeros(2 * cells.positives.size + 2) for _ in range(2))
    ours[2:-1:2], ours[-1] = cells.positives, cells.missed
    theirs[1:-1:2], theirs[2:-1:2], theirs[-1] = cells.above, cells.tied, cells.below
    return np.cumsum(ours), np.cumsum(theirs)


def _lightest(cells: Cells, rows: Cells) -> tuple[float, float]:
    """Least mean weight of a class in a cell."""
    means = [
        np.where(np.asarray(count) > 0, ratio(weight, count), np.inf)
        for weight, count in zip(cells, rows, strict=True)
    ]
    ours, *theirs = (float(np.min(mean, initial=np.inf)) for mean in means)
    return ours, min(theirs)


def _four_counts(cells: Cells) -> FourCounts:
    """What is selected and what is left; each a sum of its own, so that nothing cancels."""
    pairs = [np.append(cells.positives, 0.0), np.append(cells.tied + cells.above, cells.below)]
    down = [np.concatenate([[0.0], np.cumsum(each)]) for each in pairs]
    up = [np.concatenate([[0.0], np.cumsum(each[::-1])])[::-1] for each in pairs]
    return FourCounts(*down, *up)

"""Curves drawn from the exact pivotal distributions of both classes' order statistics.

For continuous scores the true rate of the own class at its j-th highest row has the distribution of
a uniform order statistic, Beta(j, n + 1 - j), whatever the scores are; and given a threshold with d
rows of the other class above, its true rate lies between two order statistics of that class. Both
distributions are free of the unknown score distributions, so they can be drawn from directly: no
bandwidth, no resampling of scores, ranks only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from precall.ranking import Ranking

from .paths import Path

FloatArray = npt.NDArray[np.float64]

# Draws are made in blocks of about this many numbers, so memory does not grow with their number.
_BLOCK = 1 << 18


class Rates(NamedTuple):
    """Drawn rates of the other class at fixed rates of the own class (draws, points).

    `low` and `high` are copies for the two limits: `low` is 0 where the sample has no row of the
    other class above, `high` is 1 where it has none below: there the data cannot exclude it. A rate
    of the own class that no threshold reaches has infinitely many of the other.
    """

    rate: FloatArray
    low: FloatArray
    high: FloatArray


def draw_rates(
    path: Path, grid: FloatArray, n_draws: int, rng: np.random.Generator, ties: str = "interpolate"
) -> Rates:
    """Draw the curve "rate of the other class at a rate of the own class" `n_draws` times.

    With ``ties="bound"`` the two copies come from the two extreme orders of tied rows instead of
    the mean over all orders.
    """
    block = max(_BLOCK // (grid.size + 1), 1)
    sizes = [min(block, n_draws - first) for first in range(0, n_draws, block)]
    blocks = [_draw_block(path, grid, size, rng, ties) for size in sizes]
    return Rates(*(np.concatenate(arrays) for arrays in zip(*blocks, strict=True)))


def _draw_block(
    path: Path, grid: FloatArray, n_draws: int, rng: np.random.Generator, ties: str
) -> Rates:
    rows, share = _positions(path.size, grid, n_draws, rng)
    rate = _gamma_process(path, rows, share, rng)
    fewest, most = path, path
    low = high = rate
    if ties == "bound" and not np.array_equal(path.start, path.stop):
        fewest, most = path.bounds()
        low = _gamma_process(fewest, rows, share, rng)
        high = _gamma_process(most, rows, share, rng)
    # Whole counts differ by 1, mean counts within a tie by less: under 1 is compatible with 0.
    low = np.where(rows <= fewest.last_row_under(1.0), 0.0, low)
    high = np.where(rows >= most.last_row_under(np.nextafter(path.total - 1.0, np.inf)), 1.0, high)
    if not path.missed:
        return Rates(rate, low, high)
    # The own rows that have a score end somewhere between the last of them and the first that has
    # none, so that a point there may be reached or not.
    between = (rows == path.reach) & (share > rng.random((n_draws, 1)))
    return Rates(
        np.where((rows > path.reach) | between, np.inf, rate),
        np.where(rows > path.reach, np.inf, low),
        np.where(rows >= path.reach, np.inf, high),
    )


def _positions(
    size: int, grid: FloatArray, n_draws: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Where each grid rate falls among the true rates of the own rows.

    Returns the number of own rows with a true rate at or below the grid rate, and how far the
    grid rate has come from the last of them to the next (0 to 1). The rates are a uniform sample:
    multinomial counts between grid points, and the extremes inside each cell, are all it takes.
    """
    edges = np.concatenate([[0.0], grid, [1.0]])
    widths = np.diff(edges)
    counts = rng.multinomial(size, widths / widths.sum(), size=n_draws)
    with np.errstate(divide="ignore"):
        highest = rng.random(counts.shape) ** (1.0 / counts)
        others = rng.random(counts.shape) ** (1.0 / np.maximum(counts - 1.0, 0.0))
    lowest = np.where(counts > 1, highest * (1.0 - others), highest)
    occupied = counts > 0
    last = np.where(occupied, edges[:-1] + widths * highest, 0.0)
    following = np.where(occupied, edges[:-1] + widths * lowest, 1.0)
    last = np.maximum.accumulate(last, axis=1)[:, :-1]
    following = np.minimum.accumulate(following[:, ::-1], axis=1)[:, ::-1][:, 1:]
    rows = np.cumsum(counts, axis=1)[:, :-1]
    return rows, (grid - last) / (following - last)


def _gamma_process(
    path: Path,
    rows: npt.NDArray[np.int64],
    share: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Draw the true rates of the other class at thresholds with about so many of its rows above.

    With d rows above, the rate lies between Beta(d, m + 1 - d) and Beta(d + 1, m - d); half a row
    more than d is the compromise, and a gamma process gives the joint distribution along the curve.
    The counts are those of the rows themselves: a mean over neighbours would round off a cliff.
    """
    before, after = path.values(rows), path.values(rows + 1)
    count = np.maximum.accumulate(before + share * (after - before) + 0.5, axis=1)
    shapes = np.diff(count, axis=1, prepend=0.0, append=path.total + 1.0)
    gamma = rng.standard_gamma(np.maximum(shapes, 0.0))
    summed = np.cumsum(gamma, axis=1)
    return np.asarray(summed[:, :-1] / summed[:, -1:])


def draw_prevalence(
    ranking: Ranking, n_draws: int, rng: np.random.Generator, *, varying: bool
) -> FloatArray:
    """Draw the population's prevalence, or repeat the sample's if it is fixed (draws, 1)."""
    share = ranking.overall_prevalence
    # One class may weigh so much that the share is rounded to 0 or 1: there is nothing to draw.
    if not varying or not 0.0 < share < 1.0:
        return np.full((n_draws, 1), share)
    total = prevalence_rows(ranking)
    return rng.beta(share * total + 0.5, (1.0 - share) * total + 0.5, size=(n_draws, 1))


def prevalence_rows(ranking: Ranking) -> float:
    """Number of unweighted rows that would tell the prevalence as precisely as these.

    A weighted share p has variance p²(1-p)²(1/n + 1/m) with Kish sizes n and m; unweighted that
    is p(1-p)/N.
    """
    n, m = ranking.effective_sizes
    share = ranking.overall_prevalence
    return 1.0 / (share * (1.0 - share) * (1.0 / n + 1.0 / m))

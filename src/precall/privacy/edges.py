"""Where to cut the scores for a private curve: by a public rule, or by paying for it.

Edges taken from the rows (their quantiles, their range) would release something about them that
nobody paid for. So edges are public numbers, or found privately at a cost of their own.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_count, as_number, as_vector
from ..exceptions import InputError
from ._ledger import Amount, as_epsilon
from ._persons import as_rows_per_person, read_persons, row_share
from ._rows import read_scores
from .budget import Budget, Part, as_budget
from .mechanisms import Noise, add_to_counts, laplace_scale, noise_source

FloatArray = npt.NDArray[np.float64]

_FEWEST_BINS, _MOST_BINS = 4, 256
_GROWTH = 0.30
# Half of the probability edges are spread evenly, half evenly on the logit scale up to here.
_EXTREME = 1e-4

# Private edges: share of epsilon for the tree, leaves per bin that it aims at, and its depth.
_TREE_SHARE = Fraction(6, 10)
# What replacing a row costs in a tree with noise of scale 1 (PROOFS.md).
_TREE_COST = 4.0
_LEAVES_PER_BIN = 16
_DEEPEST = 60
# Largest scale of the tree's noise with which its counts stay within 64 bits at every depth.
_LARGEST_SCALE = 2.0**55


def bin_count(n_rows: int, *, epsilon: float) -> int:
    """Number of bins for a private curve: ``(rows * epsilon)^0.3``, from 4 to 256.

    More bins follow the curve more closely and give each a smaller share of the rows under the
    same noise.

    Parameters
    ----------
    n_rows : int
        Public number of rows.
    epsilon : float
        Cost of the curve.

    Returns
    -------
    int

    Examples
    --------
    >>> bin_count(2_000, epsilon=1.0), bin_count(1_000_000, epsilon=1.0)
    (10, 63)
    """
    n_rows = as_count(n_rows, "n_rows", minimum=1)
    bins = round(float((n_rows * as_epsilon(epsilon)) ** _GROWTH))
    return min(max(bins, _FEWEST_BINS), _MOST_BINS)


def probability_edges(n_bins: int) -> FloatArray:
    """Edges for scores that are probabilities, the same for all data.

    Quantiles of an even mixture of the uniform distribution on [0, 1] and the distribution that is
    uniform on the logit scale between 0.0001 and 0.9999: so that scores crowded near 0 or 1 get
    bins too.

    Parameters
    ----------
    n_bins : int
        Number of bins.

    Returns
    -------
    array
        ``n_bins + 1`` increasing numbers from 0 to 1.

    Examples
    --------
    >>> probability_edges(4).round(4)
    array([0.    , 0.1123, 0.5   , 0.8877, 1.    ])
    """
    n_bins = as_count(n_bins, "n_bins", minimum=2)
    limit = math.log(1.0 / _EXTREME - 1.0)
    logit = np.linspace(-limit, limit, 20_001)
    place = 1.0 / (1.0 + np.exp(-logit))
    share = 0.5 * place + 0.25 * (logit / limit + 1.0)
    # Beyond the extremes only the uniform half is left.
    place = np.concatenate([[0.0], place, [1.0]])
    share = np.concatenate([[0.0], share, [1.0]])
    return np.interp(np.linspace(0.0, 1.0, n_bins + 1), share, place)


def private_edges(
    y_score: object,
    *,
    low: float,
    high: float,
    n_bins: int,
    epsilon: float,
    budget: Budget | Part,
    person: object = None,
    rows_per_person: int = 1,
    rng: object = None,
) -> FloatArray:
    """Edges for scores of unknown scale, found privately, at a price.

    The interval from `low` to `high` is halved wherever a noisy count of its rows is large, again
    and again: a PrivTree (Zhang, Xiao & Xie 2016), which finds the scale of the scores at a cost
    that does not grow with how far it has to go. The rows of its leaves are counted with noise,
    and neighbouring leaves are joined into `n_bins` bins: half of the edges at even shares of the
    rows, half at shares that shrink evenly on a log scale towards the highest scores, where rare
    positives are.

    Parameters
    ----------
    y_score : array-like
        The private scores.
    low, high : float
        Public limits that are sure to hold the scores; they may be generous. Scores beyond count
        as at the limit.
    n_bins : int
        Number of bins to aim at; :func:`bin_count` has a rule.
    epsilon : float
        Cost of the edges; the curve then costs its own.
    budget : Budget
        What pays for it.
    person, rows_per_person : optional
        Who is protected, as for :func:`average_precision`.
    rng : optional
        Seed or generator, for simulation only: the release is then not private.

    Returns
    -------
    array
        Increasing edges from `low` to `high`, for ``pr_curve(..., edges=...)``.

    Examples
    --------
    >>> import numpy as np
    >>> from precall import privacy
    >>> score = 3 + 1e-6 * np.linspace(0, 1, 20_000)
    >>> edges = privacy.private_edges(
    ...     score, low=-1000, high=1000, n_bins=8, epsilon=1.0, budget=privacy.Budget(epsilon=1.0)
    ... )
    >>> bool(3 < np.median(edges) < 3 + 1e-6)
    True
    """
    low, high = as_number(low, "low"), as_number(high, "high")
    if not -math.inf < low < high < math.inf:
        raise InputError(f"low must be below high, both finite, got {low:g} and {high:g}.")
    n_bins = as_count(n_bins, "n_bins", minimum=2)
    epsilon, budget = as_epsilon(epsilon), as_budget(budget)
    rows_per_person = as_rows_per_person(rows_per_person)
    row_epsilon = row_share(epsilon, rows_per_person)
    share = _TREE_SHARE * row_epsilon
    if laplace_scale(_TREE_COST, share) > _LARGEST_SCALE:
        raise InputError(
            f"epsilon must be at least 1e-15 for each row of a person, got {epsilon:g}."
        )
    noise = noise_source(rng)
    with budget.hold(epsilon=epsilon, delta=0.0, what="edges", seeded=noise.seeded) as hold:
        scores = read_scores(y_score)
        persons = read_persons(person, rows_per_person, scores.size)
        hold.look(None, scores)
        (scores,) = persons.draw(noise, scores)
        # Intervals hold their left end and not their right one, the last included.
        ordered = np.sort(np.clip(scores.astype(np.float64), low, math.nextafter(high, low)))
        wanted = math.ceil(ordered.size / (n_bins * _LEAVES_PER_BIN))
        cuts = _tree(ordered, low, high, wanted=wanted, epsilon=share, noise=noise)
        counts = np.diff(np.searchsorted(ordered, cuts[:-1]), append=ordered.size)
        noisy = add_to_counts(counts, sensitivity=2.0, epsilon=row_epsilon - share, noise=noise)
    edges = _joined(cuts, noisy, n_bins)
    # Too few rows to halve anything, as far as the noisy tree shows: one public edge in between.
    return edges if edges.size > 2 else np.array([low, low + (high - low) / 2.0, high])


def _tree(
    ordered: FloatArray, low: float, high: float, *, wanted: int, epsilon: Amount, noise: Noise
) -> FloatArray:
    """Edges of the leaves of a PrivTree; intervals that seem to have `wanted` rows are halved."""
    scale = laplace_scale(_TREE_COST, epsilon)
    # Each level takes this off the counts, so that a row's influence on a path fades.
    decay = math.ceil(scale * math.log(2.0))
    left, right = np.array([low]), np.array([high])
    cuts = [low, high]
    for depth in range(_DEEPEST):
        counts = np.searchsorted(ordered, right) - np.searchsorted(ordered, left)
        biased = np.maximum(counts - depth * decay, wanted - decay)
        middle = left + (right - left) / 2.0
        divisible = (left < middle) & (middle < right)
        split = (noise.add_laplace(biased, scale) > wanted) & divisible
        if not split.any():
            break
        cuts.extend(middle[split].tolist())
        left, right, middle = left[split], right[split], middle[split]
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
    return np.sort(np.array(cuts))


def _joined(cuts: FloatArray, noisy: npt.NDArray[np.int64], n_bins: int) -> FloatArray:
    """Choose of the cuts those nearest to the wanted shares of the noisy rows, from the top."""
    above = np.maximum.accumulate(np.maximum(np.cumsum(noisy[::-1]), 0)).astype(np.float64)
    if above.size <= n_bins or above[-1] == 0:
        return cuts
    least = 1.0 / (n_bins * _LEAVES_PER_BIN)
    share = np.geomspace(least, 1.0, 1000)
    mixed = 0.5 * share + 0.5 * np.linspace(0.0, 1.0, 1000)
    goals = above[-1] * np.interp(np.arange(1, n_bins) / n_bins, mixed, share)
    after = np.minimum(np.searchsorted(above, goals), above.size - 1)
    before = np.maximum(after - 1, 0)
    nearer = np.where(goals - above[before] < above[after] - goals, before, after)
    # The first k leaves from the top end at the k-th cut from the top.
    inner = cuts[::-1][1:][np.unique(nearer)]
    return np.unique(np.concatenate([cuts[:1], inner, cuts[-1:]]))


def as_edges(edges: Any, n_rows: int, epsilon: float) -> FloatArray:
    """Return public edges: those given, or those of the rule for probabilities."""
    if edges is None:
        return probability_edges(bin_count(n_rows, epsilon=epsilon))
    if isinstance(edges, (str, bytes, int, float)) or np.ndim(edges) == 0:
        raise InputError(
            f"edges must be public numbers, got {edges!r}. Edges made from the scores, such as "
            "their quantiles or range, would release something about the rows without paying for "
            "it. Leave edges out for scores from 0 to 1, pass numbers chosen without the data, or "
            "pay for private_edges(y_score, ...)."
        )
    given = as_vector(edges, "edges").astype(np.float64)
    if given.size < 3 or not (np.diff(given) > 0).all() or np.isnan(given).any():
        raise InputError(
            "edges must be at least three increasing numbers; the first and the last may be "
            "infinite."
        )
    return given

"""Many data sets at once, as the counts that metrics need.

A data set of n positives and m negatives with continuous scores is drawn as n sorted positives and
one multinomial over the gaps between them, so its cost does not depend on m.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from precall.ranking import Cells
from precall.simulate import Levels, ZeroInflated

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def draw_cells(
    scenario: Any,
    n_pos: int,
    n_neg: int,
    data_sets: int,
    rng: np.random.Generator,
    *,
    random: bool = False,
) -> tuple[Cells, FloatArray, FloatArray]:
    """Draw the cells of many data sets at once, with their numbers of positives and negatives.

    With `random` numbers a data set has as many rows as positives were drawn in the largest; the
    rows left over hold no positive.
    """
    total = n_pos + n_neg
    n = np.full(data_sets, n_pos)
    if random:
        n = rng.binomial(total, n_pos / total, size=data_sets)
        while (empty := (n == 0) | (n == total)).any():
            n[empty] = rng.binomial(total, n_pos / total, size=int(empty.sum()))
    m = total - n
    return _cells(scenario, n, m, rng), n.astype(np.float64), m.astype(np.float64)


def _cells(scenario: Any, n: IntArray, m: IntArray, rng: np.random.Generator) -> Cells:
    if isinstance(scenario, Levels):
        positives = rng.multinomial(n, scenario.positives[::-1])
        tied = rng.multinomial(m, scenario.negatives[::-1])
        return Cells(positives, tied, np.zeros_like(tied), np.zeros(n.size, dtype=np.int64))
    if isinstance(scenario, ZeroInflated):
        zeros = rng.binomial(n, scenario.positives)
        others = rng.binomial(m, scenario.negatives)
        over = _continuous(scenario.base, n - zeros, m - others, rng)
        tied = np.zeros_like(over.above)
        last = over.below[:, np.newaxis]
        return Cells(
            np.append(over.positives, zeros[:, np.newaxis], axis=1),
            np.append(tied, others[:, np.newaxis], axis=1),
            np.append(over.above, last, axis=1),
            np.zeros_like(others),
        )
    return _continuous(scenario, n, m, rng)


def _continuous(scenario: Any, n: IntArray, m: IntArray, rng: np.random.Generator) -> Cells:
    ours, theirs = scenario.distributions()
    used = np.arange(n.max()) < n[:, np.newaxis]
    scores = np.where(used, ours.sample(rng, used.shape), -np.inf)
    scores = -np.sort(-scores, axis=1)
    tail = np.ones(used.shape)
    tail[used] = theirs.survival(scores[used])
    gaps = np.diff(np.minimum(tail, 1.0), axis=1, prepend=0.0, append=1.0)
    counts = rng.multinomial(m, gaps / gaps.sum(axis=1, keepdims=True))
    return Cells(used.astype(np.int64), np.zeros(1), counts[:, :-1], counts[:, -1])


def shares_above(scenario: Any, threshold: Any) -> tuple[Any, Any]:
    """Return which share of the positives and of the negatives reaches a threshold."""
    if isinstance(scenario, Levels):
        level = np.clip(np.ceil(threshold), 0, len(scenario.positives)).astype(int)
        both = (scenario.positives, scenario.negatives)
        tails = [np.append(np.cumsum(each[::-1])[::-1], 0.0) for each in both]
        return tails[0][level], tails[1][level]
    if isinstance(scenario, ZeroInflated):
        ours, theirs = shares_above(scenario.base, threshold)
        everything = np.asarray(threshold) <= 0.0
        return (
            np.where(everything, 1.0, (1.0 - scenario.positives) * ours),
            np.where(everything, 1.0, (1.0 - scenario.negatives) * theirs),
        )
    ours, theirs = scenario.distributions()
    return ours.survival(threshold), theirs.survival(threshold)

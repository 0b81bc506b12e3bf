"""How many rows a threshold is away from failing a test of its precision.

A test that a row moves by one step at most can be answered privately at the price of one count. So
the test is put in rows: how many of those above a threshold would have to turn from positive to
negative before it fails (``PROOFS.md``, section 19). Everything here is whole numbers; the
floating-point arithmetic behind them decides how large they are and never how far a row moves them.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..points.certificates import passes

IntArray = npt.NDArray[np.int64]

# Critical counts are computed for so many numbers of rows; in between they are bounded.
_MOST_COMPUTED = 2**13


@lru_cache(maxsize=64)
def critical_counts(n_rows: int, min_precision: float, error: float) -> tuple[IntArray, IntArray]:
    """Positives that a test asks for, at numbers of selected rows from 0 to `n_rows`.

    Among `s` rows the test asks for the fewest positives that a precision of `min_precision`
    reaches with probability `error` at most, and for ``s + 1`` where not even all would do.

    Returns
    -------
    rows, positives : array of int
        Neither falls, and the positives rise by no more than the rows.
    """
    from scipy.stats import binom

    step = max(1, -(-n_rows // _MOST_COMPUTED))
    rows = np.arange(0, n_rows + step, step, dtype=np.int64)
    found = np.minimum(binom.isf(error, rows, min_precision).astype(np.int64) + 1, rows + 1)
    while True:  # a quantile function may be off by one; the tail itself decides
        wanting = (found <= rows) & ~passes(found, rows - found, min_precision, error)
        if not wanting.any():
            break
        found = found + wanting
    rising = np.maximum.accumulate(found)
    positives = rows + np.maximum.accumulate((rising - rows)[::-1])[::-1]
    for array in (rows, positives):  # they are kept, and the same for everybody
        array.flags.writeable = False
    return rows, positives


def asked_for(selected: IntArray, table: tuple[IntArray, IntArray]) -> IntArray:
    """Positives that the test asks for among so many rows, or a little more.

    Between two computed numbers: no more than at the next, and one more for every row.
    """
    rows, positives = table
    after = np.searchsorted(rows, selected)
    before = np.maximum(after - 1, 0)
    bounded = np.minimum(positives[after], positives[before] + selected - rows[before])
    return np.where(rows[after] == selected, positives[after], bounded)


def slack(
    tp: IntArray, selected: IntArray, *, n_rows: int, min_precision: float, error: float
) -> IntArray:
    """How many rows every threshold is away from not being certified; 0 or less if it is not.

    Thresholds are public, from the highest down. One is certified if it is the end of a run of
    thresholds that all pass their tests, of which the k-th has an error of ``k error / n``: each of
    the `n` thresholds has an n-th of the error, and one that passes leaves what it had to the next
    (Bretz et al. 2009). Errors are rounded down to powers of two times the first.

    Parameters
    ----------
    tp, selected : array of int
        Positives, and rows, at or above each threshold.
    n_rows : int
        Public number of rows.
    min_precision : float
        What is to be promised.
    error : float
        Probability, over samples, that any threshold is certified that does not keep it.
    """
    n = tp.size
    margins = np.array(
        [
            tp + 1 - asked_for(selected, critical_counts(n_rows, min_precision, part))
            for part in (error * 2.0**power / n for power in range(n.bit_length()))
        ]
    )
    power = np.array([length.bit_length() - 1 for length in range(1, n + 1)])
    best = np.full(n, np.iinfo(np.int64).min)
    for start in range(n):
        run = margins[power[: n - start], np.arange(start, n)]
        best[start:] = np.maximum(best[start:], np.minimum.accumulate(run))
    return best

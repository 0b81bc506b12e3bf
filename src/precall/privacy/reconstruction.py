"""From noisy counts per bin back to a curve.

All of this is post-processing of what has been released: it looks at nothing else.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

# Points per bin on the smooth path between the edges.
_POINTS = 16


def cumulated_counts(
    positives: FloatArray, negatives: FloatArray, *, n_rows: int, variance: float
) -> tuple[FloatArray, FloatArray]:
    """Estimate true and false positives at each edge, from 0 to all.

    1. The rows are `n_rows` in all, and that is known: this gives the two totals, and what the
       noise has added in all is taken off each bin evenly.
    2. Cumulated counts cannot fall: isotonic regression, with weights in inverse proportion to
       the variance of a noisy sum that is pinned at both ends.
    3. A scorer that is any good has a precision that falls from bin to bin. Where the counts can
       be made to do so with changes no larger than the noise explains (half its variance per
       count on average), they are; a curve with a true dent keeps it.

    Parameters
    ----------
    positives, negatives : array
        Noisy counts per bin, from the highest scores down.
    n_rows : int
        Public number of rows.
    variance : float
        Variance of the noise in each count.

    Returns
    -------
    (array, array)
        True and false positives, one number more than bins.
    """
    least = min(1.0, n_rows / 2.0)
    n_pos = (positives.sum() - negatives.sum() + n_rows) / 2.0
    n_pos = float(min(max(n_pos, least), n_rows - least))
    ours, theirs = _monotone(positives, n_pos), _monotone(negatives, n_rows - n_pos)
    sorted_ours, sorted_theirs = _falling_precision(ours, theirs)
    change = np.sum((sorted_ours - ours) ** 2) + np.sum((sorted_theirs - theirs) ** 2)
    if change <= ours.size * variance:
        ours, theirs = sorted_ours, sorted_theirs
    return _cumulate(ours), _cumulate(theirs)


def path(tp: FloatArray, fp: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Draw both counts between the edges by monotone cubic interpolation."""
    from scipy.interpolate import PchipInterpolator

    bins = tp.size - 1
    place = np.linspace(0.0, bins, bins * _POINTS + 1)
    smooth = PchipInterpolator(np.arange(bins + 1.0), np.stack([tp, fp], axis=1))(place)
    return np.maximum.accumulate(smooth[:, 0]), np.maximum.accumulate(smooth[:, 1])


def _monotone(counts: FloatArray, total: float) -> FloatArray:
    """Counts of at least 0 with this total."""
    from scipy.optimize import isotonic_regression

    bins = counts.size
    inner = np.cumsum(counts + (total - counts.sum()) / bins)[:-1]
    edge = np.arange(1, bins)
    fitted = isotonic_regression(inner, weights=bins / (edge * (bins - edge))).x
    return np.diff(np.concatenate([[0.0], np.clip(fitted, 0.0, total), [total]]))


def _falling_precision(ours: FloatArray, theirs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same rows per bin, with a share of positives that falls from bin to bin."""
    from scipy.optimize import isotonic_regression

    rows = ours + theirs
    filled = rows > 0
    share = isotonic_regression(
        ours[filled] / rows[filled], weights=rows[filled], increasing=False
    ).x
    new = np.zeros_like(rows)
    new[filled] = rows[filled] * share
    return new, rows - new


def _cumulate(counts: FloatArray) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(counts)])

"""How far one row can move a metric.

Data sets are neighbours when they have the same number of rows and differ in one (bounded
differential privacy, as in Boyd 2014, section 2.4): the number of rows is public, the numbers of
positives and negatives are not. Every bound here is proved in ``PROOFS.md`` beside this file.

Ties are counted as everywhere in this library: a threshold takes all rows at or above it, and a
tie between the classes is half a win in the AUROC.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_count, as_number
from ..exceptions import InputError

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]

# Global sensitivities of auroc_weight(n, N) * (AUROC - 1/2), for every number of rows: when the
# replaced row keeps its label, and when it does not.
AUROC_SAME_LABEL = 1.0
AUROC_LABEL_CHANGE = 0.6


def local_auroc(n_pos: Any, n_neg: Any) -> Any:
    """Largest change of the AUROC when one row of such data is replaced.

    ``1 / min(n_pos, n_neg)`` if both are at least 2, else 1 (Boyd 2014, Theorem 5.1): valid, and
    attained.

    Parameters
    ----------
    n_pos, n_neg : int or array of int
        Numbers of positives and negatives.

    Returns
    -------
    float or array

    Examples
    --------
    >>> local_auroc(10, 90)
    0.1
    >>> local_auroc(1, 99)
    1.0
    """
    smaller = np.minimum(_counts(n_pos, "n_pos"), _counts(n_neg, "n_neg"))
    return _like(np.where(smaller >= 2, 1.0 / np.maximum(smaller, 1.0), 1.0), n_pos, n_neg)


def local_average_precision(n_pos: Any) -> Any:
    """Largest change of the average precision when one row of such data is replaced.

    ``max((H(n) - 1) / (n - 1), (1 + sum(1 / (4 r + 2) for r in 1 .. n - 1)) / n)`` for ``n >= 2``
    positives, 1 for fewer; ``H`` are the harmonic numbers. The first term is attained, the second
    approached as negatives become many, so no smaller bound depends on the positives alone.

    Parameters
    ----------
    n_pos : int or array of int
        Number of positives.

    Returns
    -------
    float or array

    Examples
    --------
    >>> local_average_precision(10)
    0.2143298059964726
    >>> local_average_precision_printed(10) / local_average_precision(10)
    2.67...
    """
    n = np.maximum(_counts(n_pos, "n_pos"), 1.0)
    label_change = (harmonic(n) - 1.0) / np.maximum(n - 1.0, 1.0)
    move = (1.0 + _quarter_sum(n)) / n
    return _like(np.where(n >= 2, np.maximum(label_change, move), 1.0), n_pos)


def local_average_precision_printed(n_pos: Any, *, logarithmic: bool = False) -> Any:
    """Bound of Boyd (2014) on the same quantity, for comparison: equation (5.44).

    Parameters
    ----------
    n_pos : int or array of int
        Number of positives.
    logarithmic : bool, default False
        Use equation (5.45), which is Theorem 5.3: logarithms in place of harmonic numbers.

    Returns
    -------
    float or array
        At most 1, which the printed expressions exceed for few positives.

    Examples
    --------
    >>> round(local_average_precision_printed(1000), 4)
    0.013
    >>> round(local_average_precision_printed(1000, logarithmic=True), 4)
    0.0138
    """
    n = np.maximum(_counts(n_pos, "n_pos"), 2.0)
    if logarithmic:
        negative = np.log(n + 1.0) / n
        remove, add = (9.0 + np.log(n - 1.0)) / (4.0 * (n - 1.0)), (9.0 + np.log(n)) / (4.0 * n)
    else:
        negative = (harmonic(n + 1.0) - 1.0) / n
        remove = (8.0 + harmonic(n - 1.0)) / (4.0 * (n - 1.0))
        add = (8.0 + harmonic(n)) / (4.0 * n)
    bound = np.maximum(negative, remove) + np.maximum(negative, add)
    few = _counts(n_pos, "n_pos") < 2
    return _like(np.where(few, 1.0, np.minimum(bound, 1.0)), n_pos)


def smooth(local: Callable[[Array], Array], *, n_pos: int, n_rows: int, beta: float) -> float:
    """Smooth sensitivity: ``max over i in 0 .. n_rows of local(i) exp(-beta |i - n_pos|)``.

    Boyd (2014), Theorems 5.2 and 5.4; nothing that is released here uses it.

    Local sensitivities of metrics in [0, 1] are at most 1, so
    an `i` further than ``log(1 / local(n_pos)) / beta`` from `n_pos` cannot win: only that window
    is looked at, and it does not grow with the data.

    Parameters
    ----------
    local : callable
        Local sensitivity for an array of numbers of positives; at most 1.
    n_pos, n_rows : int
        Positives and rows in the data.
    beta : float
        Smoothness, above 0.

    Returns
    -------
    float

    Examples
    --------
    >>> smooth(local_average_precision, n_pos=50, n_rows=1000, beta=0.1)
    0.0714...
    >>> smooth(lambda n: local_auroc(n, 1000 - n), n_pos=50, n_rows=1000, beta=0.1)
    0.02
    """
    n_rows = as_count(n_rows, "n_rows", minimum=1)
    n_pos = as_count(n_pos, "n_pos")
    beta = as_number(beta, "beta")
    if n_pos > n_rows:
        raise InputError("n_pos must not exceed n_rows.")
    if not beta > 0:
        raise InputError(f"beta must be above 0, got {beta:g}.")
    here = float(local(np.array([n_pos]))[0])
    reach = min(math.log(1.0 / here) / beta, float(n_rows))
    low, high = max(0, n_pos - math.ceil(reach)), min(n_rows, n_pos + math.ceil(reach))
    window = np.arange(low, high + 1)
    return float(np.max(local(window) * np.exp(-beta * np.abs(window - n_pos))))


def lost_precision_bound(n_pos: Any) -> Any:
    """Scale ``L(n)`` that makes the lost precision move by at most one.

    The lost precision ``B = n (1 - AP)`` is the sum of ``FP / (TP + FP)`` over the positives.
    With ``L(n) = max(H(n + 1) - 1, 1 + sum(1 / (4 r + 2) for r in 1 .. n - 1))`` and ``L(0) = 1``
    the ratio ``B / L(n)`` has global sensitivity 1.

    Parameters
    ----------
    n_pos : int or array of int
        Number of positives.

    Returns
    -------
    float or array

    Examples
    --------
    >>> lost_precision_bound(0), lost_precision_bound(1)
    (1.0, 1.0)
    >>> lost_precision_bound(200)
    4.883...
    """
    n = _counts(n_pos, "n_pos")
    return _like(np.maximum(harmonic(n + 1.0) - 1.0, 1.0 + _quarter_sum(np.maximum(n, 1.0))), n_pos)


def auroc_weight(n_pos: Any, n_rows: int) -> Any:
    """Weight ``h(n)`` that makes ``h(n) (AUROC - 1/2)`` move by about one at most.

    With ``x = min(n, N - n) / N``: ``h / N = x`` up to ``x = 1/11``, then
    ``1.2 (1 - x) - 1.21 (1 - x)^2``, the parabola that touches the line there. It makes the
    product move by at most :data:`AUROC_SAME_LABEL` when a row keeps its label and by at most
    :data:`AUROC_LABEL_CHANGE` when it does not; the difference pays for releasing `n` as well.

    Parameters
    ----------
    n_pos : int or array of int
        Number of positives.
    n_rows : int
        Number of rows.

    Returns
    -------
    float or array

    Examples
    --------
    >>> auroc_weight(50, 1000)
    50.0
    >>> auroc_weight(500, 1000)
    297.5
    """
    n = _counts(n_pos, "n_pos")
    x = np.minimum(n, n_rows - n) / n_rows
    weight = np.where(x <= 1.0 / 11.0, x, 1.2 * (1.0 - x) - 1.21 * (1.0 - x) ** 2)
    return _like(n_rows * weight, n_pos)


def harmonic(n: Any) -> FloatArray:
    """Harmonic numbers ``H(n) = 1 + 1/2 + ... + 1/n``, ``H(0) = 0``."""
    from scipy.special import digamma

    return np.asarray(digamma(np.asarray(n, dtype=np.float64) + 1.0) + np.euler_gamma)


def _quarter_sum(n: Any) -> FloatArray:
    """``sum(1 / (4 r + 2) for r in 1 .. n - 1)``."""
    # 1 / (4 r + 2) = (1/4) / (r + 1/2), so the sum is a difference of digammas.
    from scipy.special import digamma

    return np.asarray((digamma(np.asarray(n, dtype=np.float64) + 0.5) - digamma(1.5)) / 4.0)


def _counts(value: Any, name: str) -> FloatArray:
    counts = np.asarray(value)
    if counts.dtype.kind not in "iuf" or np.any(counts < 0) or np.any(counts != np.floor(counts)):
        raise InputError(f"{name} must be a whole number of at least 0, or an array of them.")
    return counts.astype(np.float64)


def _like(result: Array, *given: Any) -> Any:
    """Return a float where only numbers were given, an array where any array was."""
    return float(result) if all(np.ndim(value) == 0 for value in given) else result

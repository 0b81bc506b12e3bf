"""The areas of the worst, of a random and of the perfect ranking of given class sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _validation
from .._numerics import log1p_excess, log1p_over, precision_sum, ratio
from ..exceptions import InputError
from .estimators import ESTIMATORS

# Products of two such sizes are still floats.
_MOST_ROWS = 1e100


def minimum_aucpr(prevalence: Any, *, recall: tuple[float, float] = (0.0, 1.0)) -> Any:
    """Return the smallest area that any ranking can have at this prevalence.

    ``1 + (1 - pi) ln(1 - pi) / pi`` on the whole range; computed in a form that keeps all digits
    down to a prevalence of 1e-300. A number gives a float, an array gives an array.

    References
    ----------
    Boyd, Santos Costa, Davis & Page, *Unachievable region in precision-recall space*, 2012,
    Theorem 2.

    Examples
    --------
    >>> import precall as pr
    >>> round(pr.minimum_aucpr(0.5), 6)
    0.306853
    >>> pr.minimum_aucpr(1e-8)
    5.000000016666667e-09
    """
    pi = _validation.as_numbers(prevalence, "prevalence")
    if not np.all((pi >= 0) & (pi <= 1)):
        raise InputError(f"prevalence must be between 0 and 1, got {prevalence!r}.")
    area = _minimum_area(pi, *_validation.as_range(recall, "recall"))
    return float(area) if area.ndim == 0 else area


def _minimum_area(pi: Any, low: Any, high: Any) -> Any:
    """Return the area under the minimum curve over ranges of recall."""
    length = high - low
    start = 1.0 - pi + pi * low
    safe = np.where(start > 0, start, 1.0)
    x = np.where(start > 0, pi * length / safe, 0.0)
    area = x * (low * log1p_over(x) + length * log1p_excess(x))
    return np.where(pi == 1, length, area)


def minimum_average_precision(n_pos: float, n_neg: float) -> float:
    """Return the average precision of the worst ranking: all negatives above all positives.

    ``(1/n) sum_{i=1..n} i / (i + m)``, in closed form.

    Examples
    --------
    >>> import precall as pr
    >>> round(pr.minimum_average_precision(2, 3), 6)
    0.325
    >>> pr.minimum_average_precision(1, 1e9)
    9.99999999e-10
    """
    n, m = _class_sizes(n_pos, n_neg)
    if n == 0:
        return 0.0
    return float(precision_sum(0.0, m, n) / n)


def random_average_precision(n_pos: float, n_neg: float) -> float:
    """Return the expected average precision of a random order.

    ``(n-1)/(N-1) + (N-n) H_N / (N (N-1))``: more than the prevalence, much more when positives
    are few.

    Examples
    --------
    >>> import precall as pr
    >>> round(pr.random_average_precision(10, 90), 6)
    0.138067
    """
    n, m = _class_sizes(n_pos, n_neg)
    total = n + m
    if n == 0 or m == 0:
        return float(n > 0)
    if total <= 1:
        raise InputError(f"n_pos + n_neg must be above 1, got {total:g}.")
    from scipy.special import digamma

    harmonic = float(digamma(total + 1)) + np.euler_gamma
    return (n - 1) / (total - 1) + m * harmonic / (total * (total - 1))


def _class_sizes(n_pos: object, n_neg: object) -> tuple[float, float]:
    n, m = _validation.as_number(n_pos, "n_pos"), _validation.as_number(n_neg, "n_neg")
    if not (0 <= n <= _MOST_ROWS and 0 <= m <= _MOST_ROWS):
        raise InputError(
            f"n_pos and n_neg must be not negative and at most {_MOST_ROWS:g}, got {n:g} and {m:g}."
        )
    return n, m


def area_limits(data: Any, estimator: str, recall: tuple[float, float]) -> tuple[Any, Any]:
    """Return the estimator's value on the worst and on the perfect ranking of these sizes.

    `data` is a Ranking, or a set of them: then both are arrays. With weights that are not whole
    numbers the positives are taken as infinitely divisible, where every estimator agrees with the
    area under the curve.

    The worst ranking has the same missed positives, and those that were scored below every
    negative; the perfect one misses nothing. So a ranking that misses positives has less than 1
    however good its order is.
    """
    kind = ESTIMATORS[estimator]
    low, high = recall
    n, m, everyone = (
        np.asarray(size, dtype=np.float64) for size in (data.n_pos, data.n_neg, data.all_positives)
    )
    full = np.full(n.shape, high - low)
    floor = np.asarray(observed_floor(data, estimator, recall))
    if kind.worst is None:
        return floor[()], full[()]
    counted = ~np.asarray(data.divisible) & (n > 0) & (m > 0)
    n, m, everyone = (np.where(counted, size, 1.0) for size in (n, m, everyone))
    start, stop = (np.minimum(end * everyone, n) for end in recall)
    worst = (kind.worst(stop, n, m) - kind.worst(start, n, m)) / everyone
    if kind.perfect is not None:
        start, stop = (end * everyone for end in recall)
        perfect = kind.perfect(stop, everyone, m) - kind.perfect(start, everyone, m)
        full = np.where(counted, perfect / everyone, full)
    return np.where(counted, worst, floor)[()], full[()]


def observed_floor(data: Any, estimator: str, recall: tuple[float, float]) -> Any:
    """Return the smallest area with the class sizes of a Ranking, or of each of a set."""
    reached = ratio(data.n_pos, data.all_positives)
    return floor_at(np.nan_to_num(data.prevalence), estimator, recall, reached)


def floor_at(
    prevalence: Any, estimator: str, recall: tuple[float, float], reached: Any = 1.0
) -> Any:
    """Return the smallest area of infinitely divisible positives at a prevalence.

    `prevalence` is that of the rows that were scored, `reached` the share of all positives that
    were: beyond that recall there is nothing.
    """
    pi, share = (np.asarray(value, dtype=np.float64) for value in (prevalence, reached))
    low, high = (np.minimum(ratio(end, share), 1.0) for end in recall)
    if ESTIMATORS[estimator].hull:  # the hull of the worst ranking is the diagonal
        return (share * pi * (high - low))[()]
    return (share * _minimum_area(pi, low, high))[()]

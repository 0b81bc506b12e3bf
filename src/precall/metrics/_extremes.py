"""What every estimator of the area gives the worst and the perfect ranking of n and m rows.

In the worst ranking all `m` negatives come first and the `n` positives follow one by one, the i-th
at the precision ``i / (i + m)``; in the perfect one the positives come first. Both areas are taken
in closed form: their cost does not depend on `n`, which may be a sum of large weights. All
functions work element by element on arrays, with a whole `n` of at least 1 and `m` above 0.

An estimator's area up to a number `t` of true positives is a function ``F(t)``, and the area over
the recall range ``(a, b)`` is ``(F(b n) - F(a n)) / n``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from .._numerics import precision_sum, ratio, reciprocal_sum, segment_area

FloatArray = npt.NDArray[np.float64]
Cumulated = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def _rows(t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how many rows lie before `t` true positives, and how far it is into the next one."""
    before = np.floor(t)
    return before, t - before


def _precision(i: FloatArray, m: FloatArray) -> FloatArray:
    return ratio(i, i + m)


def average_precision(t: FloatArray, n: FloatArray, m: FloatArray) -> FloatArray:
    before, inside = _rows(t)
    return precision_sum(0.0, m, before) + inside * _precision(before + 1, m)


def lower_trapezoid(t: FloatArray, n: FloatArray, m: FloatArray) -> FloatArray:
    """Trapezoids from the precision at one positive to that at the next; they begin at 0."""
    before, inside = _rows(t)
    left, right = _precision(before, m), _precision(before + 1, m)
    whole = precision_sum(0.0, m, before) - 0.5 * left
    return whole + inside * (left + 0.5 * inside * (right - left))


def upper_trapezoid(t: FloatArray, n: FloatArray, m: FloatArray) -> FloatArray:
    """The same, but the first one begins at 1."""
    first = np.minimum(t, 1.0)
    return lower_trapezoid(t, n, m) + first - 0.5 * first * first


def hyperbolas(t: FloatArray, n: FloatArray, m: FloatArray) -> FloatArray:
    """From the origin to the first positive at its precision, then at m false positives."""
    first = np.minimum(t, 1.0)
    return first * _precision(np.ones_like(m), m) + segment_area(1.0, m, np.maximum(t, 1.0), m)


def leave_one_out(t: FloatArray, n: FloatArray, m: FloatArray) -> FloatArray:
    """The i-th positive has ``(i - 1) n / (n - 1)`` others above it; a single one its precision."""
    single = n == 1
    negatives = m * np.where(single, 1.0, (n - 1) / n)
    before, inside = _rows(t)
    others = precision_sum(0.0, negatives, np.maximum(before - 1, 0.0))
    value = others + inside * _precision(before, negatives)
    return np.where(single, t * _precision(n, m), value)


def last_at_mean(t: FloatArray, n: FloatArray, m: FloatArray) -> FloatArray:
    """All negatives are points at recall 1; the mean of their precisions is its precision."""
    return _last_at(t, n, n * (1.0 / n + reciprocal_sum(n, m)) / (m + 1.0))


def last_at_median(t: FloatArray, n: FloatArray, m: FloatArray) -> FloatArray:
    half_step = np.where(m % 2.0 == 1.0, 0.5, 0.0)
    middle = n + 0.5 * m
    return _last_at(t, n, 0.5 * (n / (middle - half_step) + n / (middle + half_step)))


def _last_at(t: FloatArray, n: FloatArray, precision: FloatArray) -> FloatArray:
    """Precision 1 up to the last positive, a hyperbola to the given precision there."""
    inside = np.maximum(t - (n - 1), 0.0)
    fp = inside * n * (1.0 - precision) / precision
    last = np.where(n == 1, inside * precision, segment_area(n - 1, 0.0, n - 1 + inside, fp))
    return np.minimum(t, n - 1) + last

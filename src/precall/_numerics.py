"""Sums and integrals of ``TP / (TP + FP)`` that keep all their digits.

The textbook forms subtract nearly equal numbers (at a prevalence of 1e-8 nothing is left); these
do not. All functions work element by element on arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Elementwise = Callable[..., FloatArray]

# Elements at a time: what is in between stays in the nearest memory of a core.
_BLOCK = 8192

# Under this the series is used: the direct form would lose digits to cancellation.
_SMALL = 0.3
# The last term of that series is divided by this.
_LAST = 21
# Terms of a series that are so small beside its first one do not change a digit.
_NOTHING = 1e-19
# Stirling's series for digamma is accurate to the last digit from here on.
_STIRLING = 12.0
# Coefficients of 1/x^2, 1/x^4, ... in digamma(x + 1) = ln x + 1/(2x) + sum_k c_k / x^(2k).
_DIGAMMA = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760)


def in_blocks(function: Elementwise) -> Elementwise:
    """Call a function of arrays, element by element, with a block of long ones after the other.

    Arrays of one element belong to every block.
    """

    @wraps(function)
    def called(*arrays: Any) -> FloatArray:
        shape = np.shape(arrays[0])
        long = len(shape) == 1 and shape[0] > _BLOCK
        if not long or any(np.shape(array) not in (shape, (), (1,)) for array in arrays):
            return function(*arrays)
        found = np.empty(shape)
        for start in range(0, shape[0], _BLOCK):
            part = slice(start, start + _BLOCK)
            found[part] = function(
                *(array[part] if np.shape(array) == shape else array for array in arrays)
            )
        return found

    return called


def log1p_over(x: Any) -> FloatArray:
    """Return ``log1p(x) / x``, which is 1 at 0."""
    x = np.asarray(x, dtype=np.float64)
    zero = x == 0
    if not zero.any():
        return np.asarray(np.log1p(x) / x)
    safe = np.where(zero, 1.0, x)
    return np.where(zero, 1.0, np.log1p(safe) / safe)


def log1p_excess(x: Any) -> FloatArray:
    """Return ``(x - log1p(x)) / x**2``, which is 1/2 at 0.

    Near zero ``log1p(x) = 2 artanh(s)`` with ``s = x / (2 + x)`` gives
    ``(1 - s)/2 - (1 - s)**2 (s/3 + s**3/5 + s**5/7 + ...)/2``, where nothing cancels.
    """
    x = np.asarray(x, dtype=np.float64)
    small = np.abs(x) < _SMALL
    s = x if small.all() else np.where(small, x, 0.0)
    s = s / (2.0 + s)
    square = s * s
    series = np.zeros_like(s)
    for denominator in range(_last_denominator(square), 1, -2):
        series *= square
        series += 1.0 / denominator
    rest = 1.0 - s
    found = np.asarray(0.5 * rest - 0.5 * rest**2 * s * series)
    if not small.all():
        large = x[~small]
        found[~small] = (large - np.log1p(large)) / large / large  # the square may not fit a float
    return found


def _last_denominator(square: FloatArray) -> int:
    """Where the series of artanh may end: the terms that follow are lost in rounding."""
    largest, power, denominator = float(square.max(initial=0.0)), 1.0, 3
    while denominator < _LAST and not power <= _NOTHING:  # nor where it is no number
        power *= largest
        denominator += 2
    return denominator


@in_blocks
def segment_area(tp1: Any, fp1: Any, tp2: Any, fp2: Any) -> FloatArray:
    """Integrate ``TP / (TP + FP)`` over TP along the straight line between two count points.

    With ``u = TP1 + FP1`` and ``x = (dTP + dFP) / u`` it is
    ``(dTP / u) [TP1 log1p(x)/x + dTP (x - log1p(x))/x**2]``, and ``dTP TP2 / (TP2 + FP2)`` from
    the origin. This is eq. (4.9) of Boyd (2014) without its cancellation.
    """
    tp1, fp1 = np.asarray(tp1, dtype=np.float64), np.asarray(fp1, dtype=np.float64)
    start = tp1 + fp1
    rise = tp2 - tp1
    end = tp2 + fp2
    from_origin = start == 0
    if not from_origin.any():  # but for the first rows of a ranking
        return _curved(rise, tp1, start, (end - start) / start)
    u = np.where(from_origin, 1.0, start)
    curved = _curved(rise, tp1, u, np.where(from_origin, 0.0, (end - start) / u))
    flat = rise * np.divide(tp2, end, out=np.zeros_like(end, dtype=np.float64), where=end > 0)
    return np.asarray(np.where(from_origin, flat, curved))


def _curved(rise: Any, tp1: FloatArray, u: FloatArray, x: FloatArray) -> FloatArray:
    return np.asarray((rise / u) * (tp1 * log1p_over(x) + rise * log1p_excess(x)))


@in_blocks
def reciprocal_sum(start: Any, count: Any) -> FloatArray:
    """Return ``1/(start+1) + ... + 1/(start+count)`` for real `start` >= 0 and `count` >= 0.

    It is ``digamma(start + count + 1) - digamma(start + 1)``, taken from Stirling's series term
    by term; small arguments are moved up first, each step adding a positive term.
    """
    start, count = _pair(start, count)
    base, total = start.copy(), np.zeros_like(start)
    small = base < _STIRLING
    if small.any():  # few: they are the first rows of a ranking
        near, steps, moved = base[small], count[small], 0.0
        for _ in range(int(_STIRLING)):
            moved = moved + steps / ((near + 1.0) * (near + steps + 1.0))
            near = near + 1.0
        base[small], total[small] = near, moved
    low, high = 1.0 / base, 1.0 / (base + count)
    difference = count * low * high  # low - high
    tail = -0.5 * difference - _stirling_tail(low, high, difference)
    return np.asarray(total + np.log1p(count * low) + tail)


def _stirling_tail(low: FloatArray, high: FloatArray, difference: FloatArray) -> FloatArray:
    """Sum of ``c_k (low**2k - high**2k)`` without cancellation."""
    square_low, square_high = low * low, high * high
    # (low^2k - high^2k) = (low - high)(low + high) * sum_j low^2j high^2(k-1-j)
    factor = difference * (low + high)
    inner = np.ones_like(low)
    power = np.ones_like(low)
    total = np.zeros_like(low)
    largest, size = float(square_low.max(initial=0.0)), 1.0
    for place, coefficient in enumerate(_DIGAMMA, 1):
        total += coefficient * factor * inner
        size *= largest
        if place * size < _NOTHING:  # so is the sum of all that follows, beside the first term
            break
        power *= square_high
        inner *= square_low
        inner += power
    return total


def precision_sum(tp: Any, fp: Any, count: Any) -> FloatArray:
    """Return ``sum_{i=1..count} (tp + i) / (tp + i + fp)``: positives arriving one by one.

    Written as ``tp R + (count - T R)`` with ``T = tp + fp`` and ``R`` the sum of reciprocals;
    for large ``T`` the bracket is ``T (x - log1p(x)) + x / (2 (1 + x)) + ...``, ``x = count / T``.
    """
    tp, count = _pair(tp, count)
    total = tp + np.asarray(fp, dtype=np.float64)
    reciprocals = reciprocal_sum(total, count)
    large = total >= _STIRLING
    safe = np.where(large, total, _STIRLING)
    x = count / safe
    low, high = 1.0 / safe, 1.0 / (safe + count)
    difference = count * low * high
    stable = (
        count * x * log1p_excess(x)
        + 0.5 * safe * difference
        + safe * _stirling_tail(low, high, difference)
    )
    return np.asarray(tp * reciprocals + np.where(large, stable, count - total * reciprocals))


def _pair(first: Any, second: Any) -> tuple[FloatArray, FloatArray]:
    one, two = np.broadcast_arrays(
        np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    )
    return one, two


def ratio(part: Any, whole: Any) -> FloatArray:
    """Return ``part / whole``, and 0 where the whole is 0."""
    whole = np.asarray(whole, dtype=np.float64)
    filled = whole > 0
    if filled.all():  # the usual case, in a quarter of the time
        return np.asarray(np.divide(part, whole, dtype=np.float64))
    out = np.zeros(np.broadcast_shapes(np.shape(part), whole.shape))
    return np.asarray(np.divide(part, whole, out=out, where=filled))

"""Limits of a metric that is bounded by 1 only, as the PR-gain area is.

They take and return arrays, as those of :mod:`~precall.inference.limits` do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .limits import at_the_ends, certain_limit, normal_quantile

# Beyond these numbers of events limits are what they are there, but for digits that do not count.
_FEWEST_EVENTS, _MOST_EVENTS = 1e-3, 1e10


def gamma_limits(estimate: Any, variance: Any, confidence_level: float) -> tuple[Any, Any]:
    """Limits for a metric bounded by 1 only, whose distance from 1 is a sum of few rare events.

    With as many events k as the variance is worth, ``(1 - t)^2 / variance``, the distance is a
    Poisson number k times ``(1 - t) / k``, and Garwood's limits are gamma quantiles of k and of
    k + 1 (:func:`poisson_limits`). Weights differ, so the distance is not a number of steps: its
    upper limit is the mean of the two. Where k is large both are the normal limits.
    """
    from scipy.special import gammaincinv

    tail = 0.5 * (1.0 - confidence_level)
    distance = np.maximum(1.0 - np.asarray(estimate), 1e-300)
    events = np.clip(distance**2 / np.maximum(variance, 1e-300), _FEWEST_EVENTS, _MOST_EVENTS)
    unit = distance / events
    most = 0.5 * (gammaincinv(events, 1.0 - tail) + gammaincinv(events + 1.0, 1.0 - tail))
    return 1.0 - unit * most, 1.0 - unit * gammaincinv(events, tail)


def log_limits(estimate: Any, variance: Any, confidence_level: float) -> tuple[Any, Any]:
    """Limits for a metric bounded by 1 only, on the scale of ``log(1 - t)``."""
    distance = np.maximum(1.0 - np.asarray(estimate), 1e-300)
    # Beyond e^50 the limits are what they are at e^50 to all digits.
    factor = np.exp(
        np.minimum(normal_quantile(confidence_level) * np.sqrt(variance) / distance, 50)
    )
    return 1.0 - distance * factor, 1.0 - distance / factor


def gain_ends(
    estimate: Any, low: Any, high: Any, n: Any, m: Any, confidence_level: float
) -> tuple[Any, Any]:
    """Replace the limits of a PR-gain area of exactly 1.

    A curve of constant precision p has the area ``1 - (n/m)(1 - p)/p``; p is the certain limit.
    """
    precision = certain_limit(n, confidence_level)
    _, certain = at_the_ends(estimate)
    return (
        np.where(certain, 1.0 - (n / m) * (1.0 - precision) / precision, low),
        np.where(certain, 1.0, high),
    )

"""Noise scaled to smooth sensitivity: the mechanisms of Boyd (2014), and tighter ones, to compare.

Local sensitivity depends on the private number of positives, so noise in proportion to it gives
that number away unless its scale changes slowly from one data set to its neighbours. Theorem 2.9
of Boyd (after Nissim, Raskhodnikova and Smith 2007) says how slowly, and how much noise to add.
``PROOFS_SMOOTH.md`` beside this file has the calibrations used here. They were mechanisms of
``precall.privacy`` until they were seen to have a larger error than its own in every case; studies
reproduce the dissertation with them.

The scale of the noise stays inside: it would give the number of positives away.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from precall.exceptions import InputError
from precall.privacy import sensitivity
from precall.privacy.mechanisms import Noise, uniform_below

# The grid is so fine that rounding the value and the scale, and the floating-point error of both,
# cost less than this share of epsilon (PROOFS_SMOOTH.md).
ROUNDING_SHARE = 2.0**-12
GRID_BITS = 16
_MOST_ROWS = 2**27
_LARGEST_EPSILON = 64.0

# Steepest slope of log(1 + |z|^degree).
_STEEPEST = {2: 1.0, 4: 3.0**0.75}


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """How noise is scaled to smooth sensitivity.

    Attributes
    ----------
    beta : float
        Smoothness of the sensitivity.
    factor : float
        Scale of the noise over the smooth sensitivity.
    degree : int
        Distribution of the noise: 2 or 4 for ``1 / (1 + |z|^degree)``, 0 for Laplace.
    """

    beta: float
    factor: float
    degree: int


def calibrate(mechanism: str, *, epsilon: float, delta: float) -> Calibration:
    """Return smoothness and scale of a mechanism by name.

    Parameters
    ----------
    mechanism : str
        One of :data:`CALIBRATIONS`.
    epsilon, delta : float
        The cost; `delta` matters to Laplace noise only.

    Returns
    -------
    Calibration

    Examples
    --------
    >>> calibrate("printed_cauchy", epsilon=1.0, delta=0.0)
    Calibration(beta=0.1666..., factor=6.00..., degree=2)
    >>> calibrate("smooth_cauchy", epsilon=1.0, delta=0.0)
    Calibration(beta=0.1666..., factor=1.20..., degree=2)
    """
    return CALIBRATIONS[mechanism](epsilon * (1.0 - ROUNDING_SHARE), delta)


def needs_delta(mechanism: str) -> bool:
    """Whether a mechanism is private only with a delta above 0."""
    return mechanism.endswith("laplace")


def release(
    value: float, *, sensitivity: float, calibration: Calibration, n_rows: int, noise: Noise
) -> float:
    """Add noise in proportion to a smooth sensitivity and keep the result in [0, 1].

    Parameters
    ----------
    value : float
        The metric, in [0, 1].
    sensitivity : float
        Its smooth sensitivity, at least ``1 / n_rows``.
    calibration : Calibration
        What :func:`calibrate` returned.
    n_rows : int
        Public number of rows.
    noise : Noise
        Where the noise comes from.

    Returns
    -------
    float
    """
    unit = 2 ** (GRID_BITS + n_rows.bit_length())
    exact, scale = math.floor(value * unit), math.ceil(calibration.factor * sensitivity * unit)
    if calibration.degree:
        steps = exact + heavy_tailed(scale, degree=calibration.degree, noise=noise)
    else:
        steps = int(noise.add_laplace(np.array([exact], dtype=np.int64), float(scale))[0])
    steps = min(max(steps, 0), unit)
    return float(steps / unit)


def local_sensitivity(metric: str, mechanism: str, n_rows: int) -> Callable[[Any], Any]:
    """Local sensitivity of a metric over the number of positives, as printed or tight."""
    average_precision: Callable[[Any], Any] = sensitivity.local_average_precision
    if mechanism.startswith("printed"):
        printed = sensitivity.local_average_precision_printed
        average_precision = partial(printed, logarithmic=True)
    local: dict[str, Callable[[Any], Any]] = {
        "average_precision": average_precision,
        "auroc": lambda n: sensitivity.local_auroc(n, n_rows - n),
    }
    return local[metric]


def releases(
    value: float,
    *,
    local: Callable[[Any], Any],
    mechanism: str,
    n_pos: int,
    n_rows: int,
    epsilon: float,
    delta: float,
    times: int,
    noise: Noise,
) -> npt.NDArray[np.float64]:
    """Release a metric in [0, 1] several times, by a mechanism's name.

    Parameters
    ----------
    value : float
        The metric.
    local : callable
        Its local sensitivity for an array of numbers of positives.
    mechanism : str
        One of :data:`CALIBRATIONS`.
    n_pos, n_rows : int
        Positives and rows in the data.
    epsilon, delta : float
        The cost of each; `delta` matters to Laplace noise only.
    times : int
        How often.
    noise : Noise
        Where the noise comes from.

    Returns
    -------
    array
    """
    check_epsilon(epsilon)
    check_rows(n_rows)
    if needs_delta(mechanism) and not delta > 0.0:
        raise InputError(f"delta must be above 0 for mechanism={mechanism!r}.")
    calibration = calibrate(mechanism, epsilon=epsilon, delta=delta)
    smoothed = sensitivity.smooth(local, n_pos=n_pos, n_rows=n_rows, beta=calibration.beta)
    return np.array(
        [
            release(
                value, sensitivity=smoothed, calibration=calibration, n_rows=n_rows, noise=noise
            )
            for _ in range(times)
        ]
    )


def check_epsilon(epsilon: float) -> None:
    """Refuse a cost that the proofs of these mechanisms do not cover."""
    if epsilon > _LARGEST_EPSILON:
        raise InputError(
            f"epsilon must be at most {_LARGEST_EPSILON:g} for noise on smooth sensitivity, got "
            f"{epsilon:g}."
        )


def check_rows(n_rows: int) -> None:
    """Refuse a public number of rows that the proofs of these mechanisms do not cover."""
    if n_rows > _MOST_ROWS:
        raise InputError(
            f"noise on smooth sensitivity is made for at most {_MOST_ROWS} rows, got {n_rows}."
        )


def _printed_cauchy(epsilon: float, delta: float) -> Calibration:
    return Calibration(beta=epsilon / 6.0, factor=6.0 / epsilon, degree=2)


def _printed_laplace(epsilon: float, delta: float) -> Calibration:
    # The printed smoothness fails for epsilon above about 5; there the exact one is smaller.
    beta = min(epsilon / (2.0 * math.log(2.0 / delta)), _laplace_beta(epsilon, delta))
    return Calibration(beta=beta, factor=2.0 / epsilon, degree=0)


def heavy_tailed_calibration(degree: int, share: float, epsilon: float) -> Calibration:
    """Pure epsilon, of which `share` is the smoothness.

    ``factor = steepest / (epsilon - max(1, degree - 1) beta)``.
    """
    beta = share * epsilon
    factor = _STEEPEST[degree] / (epsilon - (degree - 1) * beta)
    return Calibration(beta=beta, factor=factor, degree=degree)


def _smooth_laplace(epsilon: float, delta: float) -> Calibration:
    return Calibration(beta=_laplace_beta(epsilon, delta), factor=2.0 / epsilon, degree=0)


def _laplace_beta(epsilon: float, delta: float) -> float:
    """Largest smoothness for which a change of scale costs epsilon / 2 but for probability delta.

    That is ``(epsilon / 2 + eta) / (exp(eta) - 1) >= log(1 / delta)``, whose left side falls in
    the change `eta` of the log-scale, less what rounding adds to either side.
    """
    rounding = epsilon * 2.0**-GRID_BITS
    needed = math.log(1.0 / delta) + rounding
    low, high = 0.0, epsilon / 2.0
    for _ in range(200):
        middle = (low + high) / 2.0
        if epsilon / 2.0 + middle >= needed * math.expm1(middle):
            low = middle
        else:
            high = middle
    return low - rounding


CALIBRATIONS: dict[str, Callable[[float, float], Calibration]] = {
    "printed_cauchy": _printed_cauchy,
    "printed_laplace": _printed_laplace,
    "smooth_cauchy": lambda epsilon, _: heavy_tailed_calibration(2, 1.0 / 6.0, epsilon),
    "smooth_quartic": lambda epsilon, _: heavy_tailed_calibration(4, 1.0 / 12.0, epsilon),
    "smooth_laplace": _smooth_laplace,
}


def heavy_tailed(scale: int, *, degree: int, noise: Noise) -> int:
    """Draw an integer with probabilities proportional to ``1 / (1 + |k / scale|^degree)``.

    Exact, in integer arithmetic: a proposal with ``P(K >= j) = scale / (scale + j)`` from as many
    random bits as it takes to decide, then rejection with a rational probability.

    Parameters
    ----------
    scale : int
        Scale, at least 1.
    degree : {2, 4}
        2 is the discrete Cauchy distribution; 4 has a variance.
    noise : Noise
        Where the bits come from.

    Returns
    -------
    int

    """
    while True:
        size = _pareto(scale, noise.bits)
        negative = noise.bits(1)
        if negative and size == 0:
            continue  # zero has one sign
        # Target over proposal, times a bound that keeps it under 1 (PROOFS_SMOOTH.md).
        reach = (scale + size) * (scale + size + 1)
        if degree == 2:
            accept, among = reach, 4 * (scale**2 + size**2)
        else:
            accept, among = reach * scale**2, 5 * (scale**4 + size**4)
        if uniform_below(among, noise.bits) < accept:
            return -size if negative else size


def _pareto(scale: int, bits: Callable[[int], int]) -> int:
    """Floor of ``scale / U - scale`` for a uniform U whose bits are drawn until it is decided."""
    drawn, width = 0, 0
    while True:
        drawn, width = (drawn << 64) | bits(64), width + 64
        whole = scale << width
        low = whole // (drawn + 1)
        if drawn and whole // drawn == low:
            return low - scale

"""Noise scaled to smooth sensitivity: the mechanisms of Boyd (2014), and tighter ones, to compare.

Local sensitivity depends on the private number of positives, so noise in proportion to it gives
that number away unless its scale changes slowly from one data set to its neighbours. Theorem 2.9
of Boyd (after Nissim, Raskhodnikova and Smith 2007) says how slowly, and how much noise to add.
``PROOFS.md`` has the calibrations used here. The default mechanisms of this package add far less.

The scale of the noise stays inside: it would give the number of positives away.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..exceptions import InputError
from .mechanisms import Noise, heavy_tailed

# The grid is so fine that rounding the value and the scale, and the floating-point error of both,
# cost less than this share of epsilon (PROOFS.md).
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

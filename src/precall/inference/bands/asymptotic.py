r"""The band of the limit theorem: Clémençon & Vayatis (2009, Theorem 1), simulated.

The empirical precision at recall β fluctuates like ``Z(β) / √N``,

.. math:: Z(β) = \frac{P^2}{β} \Big\{ \sqrt{\frac{1-p}{p^3}}\, α W
    + \frac{1-p}{p^{3/2}} \frac{h}{g} B_1(β) + \frac{\sqrt{1-p}}{p} B_2(α) \Big\}

with a normal variable W and two Brownian bridges, all independent; h/g is the ratio of the
classes' densities at the threshold. The coefficient of W is that of the authors' slides; the one
in the paper's body, and equation (9) for the variance, are misprinted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from precall._validation import as_choice
from precall.exceptions import InputError

from .paths import effective_sizes
from .request import BandRequest, Limits, observed_curve, precision
from .smoothed import clipped
from .smoothing import class_distributions

FloatArray = npt.NDArray[np.float64]


def asymptotic_limits(
    request: BandRequest,
    *,
    scores: tuple[object, object] | None = None,
    kernel: str = "gaussian",
    bandwidth: Any = None,
    shape: str = "ball",
) -> Limits:
    """Sup-norm ball (or studentised band) with the quantile of the simulated limit process."""
    if request.kind == "hit":
        raise InputError("method must not be 'asymptotic' for a hit band: use 'fiducial'.")
    shape = as_choice(shape, "shape", ("ball", "studentised"))
    distributions = class_distributions(request.ranking, scores, bandwidth, kernel)
    sizes = effective_sizes(request.ranking)
    first, second = (1, 0) if request.kind == "roc" else (0, 1)
    own, other = distributions[first], distributions[second]
    threshold = own.upper_quantile(request.grid)
    rate = other.survival(threshold)
    slope = other.density(threshold) / own.density(threshold)
    share = request.ranking.prevalence

    # Per process the standard deviation of one unit, as a function of the grid.
    own_part = slope / np.sqrt(sizes[first])
    other_part = np.full_like(rate, 1.0 / np.sqrt(sizes[second]))
    prevalence_part = np.zeros_like(rate)
    if request.kind == "pr":
        # dP/dα = -P² (1-p)/(pβ) and dP/dp = P² α/(p²β); the sign of a symmetric distribution is
        # free.
        factor = precision(request.grid, rate, share) ** 2 / request.grid
        own_part *= factor * (1.0 - share) / share
        other_part *= factor * (1.0 - share) / share
        if request.varying:
            error = share * (1.0 - share) * np.sqrt(1.0 / sizes[0] + 1.0 / sizes[1])
            prevalence_part = factor * rate / share**2 * error

    rng, draws = request.rng, request.n_resamples
    process = own_part * brownian_bridge(request.grid, draws, rng)
    process += other_part * brownian_bridge(rate, draws, rng)
    process += prevalence_part * rng.standard_normal((draws, 1))
    error = np.sqrt(
        own_part**2 * request.grid * (1.0 - request.grid)
        + other_part**2 * rate * (1.0 - rate)
        + prevalence_part**2
    )
    # Where precision is 1 the limit has no spread, and a studentised band would have no width.
    scale = np.ones_like(error) if shape == "ball" else error + 0.1 * error.mean()
    distance = (np.abs(process) / scale).max(axis=1)
    radius = float(np.quantile(distance, request.confidence_level, method="higher"))
    centre = observed_curve(request)
    low, high = clipped(request, centre - radius * scale, centre + radius * scale)
    return Limits(
        low,
        high,
        {
            "radius": radius,
            "bandwidths": (distributions[0].bandwidth, distributions[1].bandwidth),
            "standard_error": error,
        },
    )


def brownian_bridge(times: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw Brownian bridges on [0, 1] at given, not decreasing times (draws, times)."""
    steps = np.diff(np.clip(times, 0.0, 1.0), prepend=0.0, append=1.0)
    walk = np.cumsum(rng.standard_normal((draws, steps.size)) * np.sqrt(np.maximum(steps, 0.0)), 1)
    return np.asarray(walk[:, :-1] - np.clip(times, 0.0, 1.0) * walk[:, -1:])

"""From drawn rates to limits: the default band and its pointwise sibling."""

from __future__ import annotations

from typing import Any

import numpy as np

from precall._validation import as_choice
from precall.exceptions import InputError

from ..local_weights import weights_vary
from .envelope import rank_envelope
from .fiducial import Rates, draw_prevalence, draw_rates
from .request import BandRequest, Limits, as_curves, inner_grid
from .weighted_draws import draw_weighted


def fiducial_limits(request: BandRequest, *, ties: str | None = None) -> Limits:
    """Weighted rank envelope of curves from the pivotal distributions of order statistics."""
    return envelope_of(request, draw_curves(request, ties))


def pointwise_limits(request: BandRequest, *, ties: str | None = None) -> Limits:
    """Equal tails of the drawn curves at each point by itself."""
    return tails_of(request, draw_curves(request, ties))


def envelope_of(request: BandRequest, curves: Rates) -> Limits:
    """Limits that a share `alpha` of the drawn curves leave anywhere."""
    low, high = rank_envelope(*curves, request.alpha)
    return Limits(low, high, _diagnostics(curves))


def tails_of(request: BandRequest, curves: Rates) -> Limits:
    """Limits that a share `alpha` of the drawn curves leave at each point."""
    tail = 0.5 * request.alpha
    low = np.quantile(curves.low, tail, axis=0, method="lower")
    high = np.quantile(curves.high, 1.0 - tail, axis=0, method="higher")
    return Limits(low, high, _diagnostics(curves))


def _diagnostics(curves: Rates) -> dict[str, float]:
    """Share of drawn heights that the data cannot tell from the curve's extreme."""
    return {
        "share_at_lower_extreme": float(np.mean(curves.low != curves.rate)),
        "share_at_upper_extreme": float(np.mean(curves.high != curves.rate)),
    }


def draw_curves(request: BandRequest, ties: str | None = None) -> Rates:
    """Draw curves in the coordinates of the request, with their copies for the two limits."""
    if ties is None:
        ties = "bound" if request.ranking.coarsened else "interpolate"
    ties = as_choice(ties, "ties", ("interpolate", "bound"))
    if weights_vary(request.ranking):
        return _weighted_curves(request, ties)
    path, rng = request.path, request.rng
    if request.kind == "roc":
        return draw_rates(path, request.grid, request.n_resamples, rng, ties)
    share = draw_prevalence(request.ranking, request.n_resamples, rng, varying=request.varying)
    rates = draw_rates(path, inner_grid(request), request.n_resamples, rng, ties)
    return _heights(request, rates, share)


def _weighted_curves(request: BandRequest, ties: str) -> Rates:
    """The same where rows of one class weigh differently."""
    if request.ranking.missed:
        raise InputError(
            "missed positives have no weights, so there is no band for them beside rows whose "
            "weights differ: rank the rows without weights."
        )
    rates, share = draw_weighted(
        request.ranking,
        request.kind,
        inner_grid(request),
        request.n_resamples,
        request.rng,
        ties,
    )
    if request.kind == "roc":
        return rates
    prevalence = share if request.varying else np.full_like(share, request.ranking.prevalence)
    return _heights(request, rates, prevalence)


def _heights(request: BandRequest, rates: Rates, share: Any) -> Rates:
    """Turn rates of negatives into heights: fewer negatives above mean a higher curve."""
    return Rates(*(as_curves(request, rate, share) for rate in (rates.rate, rates.high, rates.low)))

"""Confidence bands for precision-recall, ROC and hit curves: the functions to call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from precall._validation import as_choice, as_count, require_ranking
from precall.exceptions import InputError
from precall.ranking import Ranking

from .asymptotic import asymptotic_limits
from .band import Band
from .exact import exact_limits
from .fiducial_limits import fiducial_limits, pointwise_limits
from .request import Limits, make_request, observed_curve
from .smoothed import bootstrap_limits, clemencon_vayatis_limits

# Every method with its default number of draws; None where nothing is drawn.
_METHODS: dict[str, tuple[Callable[..., Limits], int | None]] = {
    "fiducial": (fiducial_limits, 2000),
    "exact": (exact_limits, None),
    "clemencon_vayatis": (clemencon_vayatis_limits, 2000),
    "bootstrap": (bootstrap_limits, 2000),
    "asymptotic": (asymptotic_limits, 2000),
    "pointwise": (pointwise_limits, 2000),
}

BANDS: tuple[str, ...] = tuple(_METHODS)


def pr_band(
    ranking: Ranking,
    *,
    method: str = "fiducial",
    confidence_level: float = 0.95,
    recall: tuple[float, float] = (0.1, 0.9),
    n_resamples: int | None = None,
    prevalence: str = "random",
    rng: np.random.Generator | int | None = None,
    n_points: int = 81,
    **options: Any,
) -> Band:
    """Confidence band for the precision-recall curve of the population.

    Parameters
    ----------
    ranking : Ranking
        Must have positives and negatives. Weighted rows count with their Kish effective sizes.
    method : str
        ``"fiducial"`` (default): envelope of curves drawn from the exact pivotal distributions of
        both classes' order statistics, from ranks alone. ``"exact"``: finite-sample guarantee for
        any continuous scores. ``"clemencon_vayatis"``: the smoothed bootstrap ball of Clémençon &
        Vayatis (2009, Algorithm 1). ``"bootstrap"``: the same replicates, studentised.
        ``"asymptotic"``: their Theorem 1, simulated. ``"pointwise"``: limits for each recall by
        itself, not for the curve.
    confidence_level : float
    recall : (float, float)
        Range over which the band holds, at `n_points` evenly spaced recalls at once.
    n_resamples : int, optional
        Drawn curves; 2000 unless the method draws none.
    prevalence : {"random", "fixed"}
        ``"random"``: rows were sampled, and the curve is that of the population's prevalence.
        ``"fixed"``: the share of positives is known or part of the design.
    rng : None, int or Generator
    n_points : int
    **options
        Of single methods. ``fiducial`` and ``pointwise``: `ties`, ``"interpolate"`` (the default:
        the curve that random choices within ties achieve) or ``"bound"`` (any order within ties;
        the default for coarsened rankings). ``clemencon_vayatis`` and ``bootstrap``: `scores`
        (``(y_true, y_score)`` with labels {0, 1}, to smooth raw scores instead of pooled normal
        scores), `kernel` (``"gaussian"`` or ``"uniform"``), `bandwidth` (see
        :func:`smooth_pr_curve`) and `proposal_prevalence`, the share of positives to draw with,
        corrected by importance weights. ``asymptotic``: `scores`, `kernel`, `bandwidth`, and
        `shape`, ``"ball"`` or ``"studentised"``.

    Returns
    -------
    Band

    Warns
    -----
    ReliabilityWarning
        If `proposal_prevalence` leaves an effective sample size under 100; the sample's
        prevalence is used instead.

    Examples
    --------
    >>> import precall as pr
    >>> from precall.simulate import Binormal
    >>> ranking = pr.rank(*Binormal(2.0).sample(100, 900, rng=0))
    >>> pr.pr_band(ranking, rng=0)
    Band(pr, fiducial, 95 %, 81 points from 0.1 to 0.9, mean width 0.4)
    >>> pr.pr_band(ranking, method="exact", prevalence="fixed")
    Band(pr, exact, 95 %, 81 points from 0.1 to 0.9, mean width 0.5)
    """
    return _band(
        ranking,
        "pr",
        method,
        confidence_level,
        ("recall", recall),
        n_resamples,
        prevalence,
        rng,
        n_points,
        options,
    )


def roc_band(
    ranking: Ranking,
    *,
    method: str = "fiducial",
    confidence_level: float = 0.95,
    false_positive_rate: tuple[float, float] = (0.05, 0.95),
    n_resamples: int | None = None,
    rng: np.random.Generator | int | None = None,
    n_points: int = 81,
    **options: Any,
) -> Band:
    """Confidence band for the ROC curve: recall over a range of false-positive rates.

    The parameters are those of :func:`pr_band`. A ROC curve does not depend on the prevalence.

    Examples
    --------
    >>> import precall as pr
    >>> from precall.simulate import Binormal
    >>> ranking = pr.rank(*Binormal(2.0).sample(100, 900, rng=0))
    >>> pr.roc_band(ranking, rng=0)
    Band(roc, fiducial, 95 %, 81 points from 0.05 to 0.95, mean width 0.1)
    """
    return _band(
        ranking,
        "roc",
        method,
        confidence_level,
        ("false_positive_rate", false_positive_rate),
        n_resamples,
        "random",
        rng,
        n_points,
        options,
    )


def hit_band(
    ranking: Ranking,
    *,
    method: str = "fiducial",
    confidence_level: float = 0.95,
    selected: tuple[float, float] = (0.05, 0.95),
    n_resamples: int | None = None,
    prevalence: str = "random",
    rng: np.random.Generator | int | None = None,
    n_points: int = 81,
    **options: Any,
) -> Band:
    """Confidence band for the hit curve: share selected and positive, over shares selected.

    The parameters are those of :func:`pr_band`; ``"asymptotic"`` is not available.

    Examples
    --------
    >>> import precall as pr
    >>> from precall.simulate import Binormal
    >>> ranking = pr.rank(*Binormal(2.0).sample(100, 900, rng=0))
    >>> pr.hit_band(ranking, rng=0, prevalence="fixed")
    Band(hit, fiducial, 95 %, 81 points from 0.05 to 0.95, mean width 0.01)
    """
    return _band(
        ranking,
        "hit",
        method,
        confidence_level,
        ("selected", selected),
        n_resamples,
        prevalence,
        rng,
        n_points,
        options,
    )


def _band(
    ranking: Ranking,
    kind: str,
    method: str,
    confidence_level: float,
    span: tuple[str, tuple[float, float]],
    n_resamples: int | None,
    prevalence: str,
    rng: np.random.Generator | int | None,
    n_points: int,
    options: dict[str, Any],
) -> Band:
    require_ranking(ranking)
    method = as_choice(method, "method", _METHODS)
    make_limits, draws = _METHODS[method]
    _require_known_options(method, make_limits, options)
    if n_resamples is not None:
        if draws is None:
            raise InputError(f"n_resamples must be left out: method={method!r} draws nothing.")
        draws = as_count(n_resamples, "n_resamples", minimum=100)
    request = make_request(
        ranking,
        kind=kind,
        confidence_level=confidence_level,
        span=span[1],
        span_name=span[0],
        n_points=n_points,
        n_resamples=draws or 0,
        prevalence=prevalence,
        rng=rng,
    )
    limits = make_limits(request, **options)
    plain = {key: value for key, value in options.items() if key != "scores"}
    if "scores" in options:
        plain["scores"] = "raw" if options["scores"] is not None else None
    return Band(
        kind=kind,
        x=request.grid,
        low=limits.low,
        y=observed_curve(request),
        high=limits.high,
        confidence_level=request.confidence_level,
        method=method,
        simultaneous=method != "pointwise",
        diagnostics=limits.diagnostics,
        settings={
            span[0]: (float(request.grid[0]), float(request.grid[-1])),
            "n_points": request.grid.size,
            "n_resamples": draws,
            "prevalence": prevalence,
            "seed": int(rng) if isinstance(rng, int | np.integer) else None,
            **plain,
        },
    )


def _require_known_options(method: str, function: Any, options: dict[str, Any]) -> None:
    known = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    for name in options:
        if name not in known:
            has = f"its own are {', '.join(known)}" if known else "it has none of its own"
            raise InputError(f"{name} is not an option of method={method!r}: {has}.")

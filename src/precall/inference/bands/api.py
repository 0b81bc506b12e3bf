"""Confidence bands for precision-recall, ROC, hit and net-benefit curves: the function to call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from precall._validation import as_choice, as_count
from precall.exceptions import InputError
from precall.ranking import as_ranked, own_answer

from ..sampling import varying_prevalence
from . import net_benefit
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


# What runs along each curve, and the range of it by default.
_CURVES: dict[str, tuple[str, tuple[float, float]]] = {
    "pr": ("recall", (0.1, 0.9)),
    "roc": ("false_positive_rate", (0.05, 0.95)),
    "hit": ("selected", (0.05, 0.95)),
    "net_benefit": ("probability", net_benefit.PROBABILITIES),
}


def band(
    data: Any,
    curve: str = "pr",
    *,
    model: str | None = None,
    method: str | None = None,
    confidence_level: float = 0.95,
    recall: tuple[float, float] | None = None,
    false_positive_rate: tuple[float, float] | None = None,
    selected: tuple[float, float] | None = None,
    probability: tuple[float, float] | None = None,
    sampling: str | None = None,
    prevalence: float | None = None,
    n_resamples: int | None = None,
    rng: np.random.Generator | int | None = None,
    n_points: int = 81,
    **options: Any,
) -> Band:
    """Confidence band for a curve of the population.

    Parameters
    ----------
    data : Ranking, Rows or audit.Sample
        Must have positives and negatives. Where weights differ inside a class, ``"fiducial"`` and
        ``"pointwise"`` draw rows with their weights; other methods count Kish effective sizes.
        A :class:`~precall.audit.Sample` has a precision-recall band about the curve of its
        population, with methods of its own: ``"mover"`` for the whole curve, ``"pointwise"``.
    curve : {"pr", "roc", "hit", "net_benefit"}
        Precision over recall, recall over false-positive rate, the share of rows that are
        selected and positive over the share selected, or net benefit over the threshold
        probability, which takes Rows with calibrated probabilities as scores.
    model : str, optional
        Which model, where the rows have several.
    method : str
        ``"fiducial"`` (default): envelope of curves drawn from the exact pivotal distributions of
        both classes' order statistics, from ranks alone. ``"exact"``: finite-sample guarantee for
        any continuous scores. ``"clemencon_vayatis"``: the smoothed bootstrap ball of Clémençon &
        Vayatis (2009, Algorithm 1). ``"bootstrap"``: the same replicates, studentised.
        ``"asymptotic"``: their Theorem 1, simulated; not for hit curves. ``"pointwise"``: limits
        for each point by itself, not for the curve. A net-benefit curve has one method,
        ``"multiplier"``, its default: counted limits at a level that a multiplier bootstrap over
        the rows' contributions makes simultaneous.
    confidence_level : float
    recall, false_positive_rate, selected, probability : (float, float), optional
        Range over which the band holds, at `n_points` evenly spaced points at once: of what runs
        along the curve that was asked for.
    sampling, prevalence
        As in :func:`precall.interval`. A ROC curve does not depend on the prevalence.
    n_resamples : int, optional
        Drawn curves; 2000 unless the method draws none.
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
    >>> pr.band(ranking, rng=0)
    Band(pr, fiducial, 95 %, 81 points from 0.1 to 0.9, mean width 0.4)
    >>> pr.band(ranking, method="exact", sampling="classes")
    Band(pr, exact, 95 %, 81 points from 0.1 to 0.9, mean width 0.5)
    >>> pr.band(ranking, "roc", rng=0)
    Band(roc, fiducial, 95 %, 81 points from 0.05 to 0.95, mean width 0.1)
    """
    kind = as_choice(curve, "curve", _CURVES)
    span_name, span = _CURVES[kind]
    given = {
        "recall": recall,
        "false_positive_rate": false_positive_rate,
        "selected": selected,
        "probability": probability,
    }
    for name, value in given.items():
        if value is not None and name != span_name:
            raise InputError(
                f"{name} does not run along a {kind} curve: give {span_name}=, or leave it out."
            )
    if (own := own_answer(data, "band")) is not None:
        every = {
            "confidence_level": confidence_level,
            "n_points": n_points,
            "sampling": sampling,
            "prevalence": prevalence,
            "n_resamples": n_resamples,
            **given,
            **options,
        }
        found: Band = own(kind, model=model, method=method, given=every)
        return found
    asked = given[span_name]
    span = span if asked is None else asked
    if kind == "net_benefit":
        if options or method not in (None, net_benefit.METHOD):
            raise InputError(
                f"a net-benefit curve has one method, {net_benefit.METHOD!r}, without options of "
                "its own: leave them out."
            )
        return net_benefit.net_benefit_band(
            data,
            model=model,
            confidence_level=confidence_level,
            probability=span,
            sampling=sampling,
            prevalence=prevalence,
            n_resamples=2000 if n_resamples is None else n_resamples,
            rng=rng,
            n_points=n_points,
        )
    method = as_choice("fiducial" if method is None else method, "method", _METHODS)
    make_limits, draws = _METHODS[method]
    _require_known_options(method, make_limits, options)
    varying = varying_prevalence(sampling, prevalence)
    ranking, rows, _ = as_ranked(data, model, missed=True)
    if rows is not None and rows.cluster is not None:
        raise InputError(
            "bands take rows as independent, and these belong together in clusters: give Rows "
            "without clusters, and read the band as a lower bound of the uncertainty."
        )
    if prevalence is not None:
        ranking = ranking.at_prevalence(prevalence)
    if n_resamples is not None:
        if draws is None:
            raise InputError(f"n_resamples must be left out: method={method!r} draws nothing.")
        draws = as_count(n_resamples, "n_resamples", minimum=100)
    request = make_request(
        ranking,
        kind=kind,
        confidence_level=confidence_level,
        span=span,
        span_name=span_name,
        n_points=n_points,
        n_resamples=draws or 0,
        varying=varying,
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
            span_name: (float(request.grid[0]), float(request.grid[-1])),
            "n_points": request.grid.size,
            "n_resamples": draws,
            "sampling": "rows" if varying else "classes",
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

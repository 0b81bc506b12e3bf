"""Smoothed-bootstrap bands: Algorithm 1 of Clémençon & Vayatis (2009), and a studentised form.

A replicate needs no scores: on a grid of K recalls only K order statistics of the resampled
positives matter. They are the smoothed quantiles of uniform order statistics, whose spacings are
gamma variables; and the negatives between K thresholds are one multinomial draw. That is equal in
distribution to drawing, smoothing and sorting all rows, and costs O(K) whatever their number.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from precall._rounding import at_least
from precall._validation import as_count, as_fraction
from precall.curves import Curve
from precall.exceptions import InputError, ReliabilityWarning
from precall.ranking import Ranking
from precall.ranking.checks import as_ranking

from .paths import effective_sizes, require_both_classes, snap
from .request import BandRequest, Limits, as_curves, inner_grid, observed_curve, precision
from .smoothing import SmoothDistribution, class_distributions

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Under this many effectively independent replicates a 95 % quantile is noise.
_FEWEST_EFFECTIVE = 100.0
# Added to the standard deviation, which vanishes where precision is 1.
_DEVIATION_FLOOR = 0.02


class SmoothedCurves(NamedTuple):
    """Curves of bootstrap samples (replicates, points), their weights, and diagnostics."""

    curves: FloatArray
    weights: FloatArray
    diagnostics: dict[str, Any]


def clemencon_vayatis_limits(
    request: BandRequest,
    *,
    scores: tuple[object, object] | None = None,
    kernel: str = "gaussian",
    bandwidth: Any = None,
    proposal_prevalence: float | None = None,
) -> Limits:
    """Ball of radius r(δ)/√N in the sup norm around the observed curve."""
    return ball_of(
        request, make_replicates(request, scores, kernel, bandwidth, proposal_prevalence)
    )


def bootstrap_limits(
    request: BandRequest,
    *,
    scores: tuple[object, object] | None = None,
    kernel: str = "gaussian",
    bandwidth: Any = None,
    proposal_prevalence: float | None = None,
) -> Limits:
    """The same replicates, their distance measured in standard deviations at each point."""
    return studentised_of(
        request, make_replicates(request, scores, kernel, bandwidth, proposal_prevalence)
    )


def ball_of(request: BandRequest, replicates: SmoothedCurves) -> Limits:
    """Observed curve plus and minus one number."""
    return _around(request, replicates, np.ones(request.grid.size))


def studentised_of(request: BandRequest, replicates: SmoothedCurves) -> Limits:
    """Observed curve plus and minus a multiple of the replicates' standard deviation."""
    mean = replicates.weights @ replicates.curves
    variance = replicates.weights @ (replicates.curves - mean) ** 2
    return _around(request, replicates, np.sqrt(variance) + _DEVIATION_FLOOR)


def _around(request: BandRequest, replicates: SmoothedCurves, scale: FloatArray) -> Limits:
    centre = observed_curve(request)
    distance = (np.abs(replicates.curves - centre) / scale).max(axis=1)
    radius = weighted_quantile(distance, replicates.weights, request.confidence_level)
    low, high = clipped(request, centre - radius * scale, centre + radius * scale)
    return Limits(low, high, replicates.diagnostics | {"radius": radius})


def clipped(
    request: BandRequest, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Keep limits where the true curve can be.

    At the minimum precision only if the prevalence is known: the curve of the population may lie
    under the minimum curve of the sample's prevalence.
    """
    least: Any = 0.0
    most: Any = request.grid if request.kind == "hit" else 1.0
    if request.kind == "pr" and not request.varying:
        least = precision(request.grid, 1.0, request.ranking.prevalence)
    return np.clip(low, least, most), np.clip(high, least, most)


def weighted_quantile(values: FloatArray, weights: FloatArray, level: float) -> float:
    """Smallest value that has at least a share `level` of the weight at or under it."""
    order = np.argsort(values)
    cumulated = np.cumsum(weights[order])
    index = np.searchsorted(cumulated, level * cumulated[-1] * (1.0 - 1e-12))
    return float(values[order[min(int(index), values.size - 1)]])


def make_replicates(
    request: BandRequest,
    scores: tuple[object, object] | None,
    kernel: str,
    bandwidth: Any,
    proposal_prevalence: float | None,
) -> SmoothedCurves:
    """Draw bootstrap samples from the smoothed distributions and return their curves."""
    distributions = class_distributions(request.ranking, scores, bandwidth, kernel)
    n, m = effective_sizes(request.ranking)
    diagnostics: dict[str, Any] = {
        "bandwidths": (distributions[0].bandwidth, distributions[1].bandwidth)
    }
    count = request.n_resamples
    weights = np.full(count, 1.0 / count)
    if not request.varying:
        if proposal_prevalence is not None:
            raise InputError(
                "proposal_prevalence must be left out with sampling='classes': the number of "
                "positives is not drawn there."
            )
        positives = np.full(count, n)
        undefined = 0.0
    else:
        positives, weights, undefined = _class_sizes(
            n, m, count, request.rng, proposal_prevalence, diagnostics
        )
    diagnostics["effective_sample_size"] = float(1.0 / np.sum(weights**2))
    diagnostics["share_undefined"] = undefined
    sizes = positives, n + m - positives
    first, second = (1, 0) if request.kind == "roc" else (0, 1)
    rate = smoothed_rates(
        distributions[first],
        distributions[second],
        inner_grid(request),
        sizes[first],
        sizes[second],
        request.rng,
    )
    # Weighted classes keep the odds that their weights give them.
    factor = request.ranking.n_pos / request.ranking.n_neg * (m / n)
    odds = factor * positives / (n + m - positives)
    curves = as_curves(request, rate, (odds / (1.0 + odds))[:, None])
    return SmoothedCurves(curves, weights, diagnostics)


def _class_sizes(
    n: int,
    m: int,
    count: int,
    rng: np.random.Generator,
    proposal: float | None,
    diagnostics: dict[str, Any],
) -> tuple[IntArray, FloatArray, float]:
    """Draw numbers of positives, with importance weights for a proposal other than n / N.

    Samples without one of the classes have no curve and are drawn again; their share is returned.
    """
    share = n / (n + m)
    if proposal is not None:
        proposal = as_fraction(proposal, "proposal_prevalence")
        positives, undefined = _both_classes(n + m, proposal, count, rng)
        logarithm = positives * np.log(share / proposal) + (n + m - positives) * np.log(
            (1.0 - share) / (1.0 - proposal)
        )
        weights = np.exp(logarithm - logarithm.max())
        weights /= weights.sum()
        effective = 1.0 / np.sum(weights**2)
        diagnostics["proposal_prevalence"] = proposal
        if at_least(effective, _FEWEST_EFFECTIVE):
            return positives, weights, undefined
        diagnostics["proposal_effective_sample_size"] = float(effective)
        warnings.warn(
            f"proposal_prevalence={proposal:g} is too far from the sample's prevalence "
            f"{share:.4g}: the importance weights leave an effective sample size of "
            f"{effective:.3g} of {count} replicates, so the sample's prevalence is used instead.",
            ReliabilityWarning,
            stacklevel=5,
        )
    diagnostics["proposal_prevalence"] = share
    positives, undefined = _both_classes(n + m, share, count, rng)
    return positives, np.full(count, 1.0 / count), undefined


def _both_classes(
    total: int, share: float, count: int, rng: np.random.Generator
) -> tuple[IntArray, float]:
    drawn = rng.binomial(total, share, size=count)
    undefined = (drawn == 0) | (drawn == total)
    first = float(np.mean(undefined))
    while undefined.any():
        drawn[undefined] = rng.binomial(total, share, size=int(undefined.sum()))
        undefined = (drawn == 0) | (drawn == total)
    return drawn, first


def smoothed_rates(
    own: SmoothDistribution,
    other: SmoothDistribution,
    grid: FloatArray,
    own_sizes: IntArray,
    other_sizes: IntArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Rates of the other class where smoothed samples reach rates of the own class."""
    rows = np.ceil(snap(own_sizes[:, None] * grid))
    rows = np.maximum(rows, 1.0)
    shapes = np.diff(rows, axis=1, prepend=0.0, append=own_sizes[:, None] + 1.0)
    spacings = np.cumsum(rng.standard_gamma(shapes), axis=1)
    threshold = own.upper_quantile(spacings[:, :-1] / spacings[:, -1:])
    tails = other.survival(threshold)
    shares = np.diff(tails, axis=1, prepend=0.0, append=1.0)
    counts = rng.multinomial(other_sizes, np.maximum(shares, 0.0))
    return np.asarray(np.cumsum(counts, axis=1)[:, :-1] / other_sizes[:, None])


def smooth_pr_curve(
    ranking: Ranking,
    *,
    bandwidth: Any = None,
    kernel: str = "gaussian",
    scores: tuple[object, object] | None = None,
    n_points: int = 513,
) -> Curve:
    """Precision-recall curve of kernel-smoothed classes (Clémençon & Vayatis 2009, § 2.3).

    Parameters
    ----------
    ranking : Ranking
    bandwidth : {"per_class", "pooled", "undersmoothed"}, number or pair of numbers, optional
        σ_c n_c^(-1/5) in each class (default), σ N^(-1/5), σ (N log³N)^(-1/5), or the bandwidths of
        positives and negatives on the scale that is smoothed.
    kernel : {"gaussian", "uniform"}
    scores : (y_true, y_score), optional
        The raw rows, with labels {0, 1}: smooth on their scale. By default pooled normal scores
        are smoothed, which, as the curve itself, do not change when scores are transformed.
    n_points : int
        Recalls from 0 to 1 at which the curve is given.

    Returns
    -------
    Curve
        Of kind ``"pr"``; no point is observed. With raw `scores` it has thresholds.

    Examples
    --------
    >>> import precall as pr
    >>> from precall.simulate import Binormal
    >>> ranking = pr.rank(*Binormal(2.0).sample(500, 500, rng=1))
    >>> smooth = pr.smooth_pr_curve(ranking)
    >>> bool(abs(smooth.at(0.5) - Binormal(2.0).precision(0.5, 0.5)) < 0.02)
    True
    """
    ranking = as_ranking(ranking, missed=True)
    require_both_classes(ranking)
    positive, negative = class_distributions(ranking, scores, bandwidth, kernel)
    recall = np.linspace(0.0, 1.0, as_count(n_points, "n_points", minimum=2))
    threshold = positive.upper_quantile(recall)
    fp = np.maximum.accumulate(negative.survival(threshold)) * ranking.n_neg
    return Curve(
        kind="pr",
        tp=recall * ranking.n_pos,
        fp=fp,
        n_pos=ranking.n_pos,
        n_neg=ranking.n_neg,
        threshold=threshold if scores is not None else np.full(recall.size, np.nan),
        observed=np.zeros(recall.size, dtype=np.bool_),
    )

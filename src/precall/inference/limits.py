"""From a standard error or from replicates to two limits, on the scale from 0 to 1.

The functions here take and return arrays, so that a simulation runs the very code that
:func:`precall.interval` runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from .._numerics import ratio
from .._rounding import settled

FloatArray = npt.NDArray[np.float64]

# Weight, in positives, of the binomial variance that the influence variance is drawn towards.
_PRIOR_POSITIVES = 10.0
_BETA_PRIOR_POSITIVES = 3.0
# An estimate this close to 0 or 1 differs from it by rounding only.
_ROUNDING = 1e-14
# An estimate is kept this many positives away from 0 and 1 where a limit is centred.
_MARGIN_POSITIVES = 0.25
# Degrees of freedom of a one-sided lower limit, per positive.
_DEGREES_PER_POSITIVE = 1.0 / 3.0
# Numbers of unseen negatives that a lower limit is computed for are multiples of this.
_UNSEEN_STEP = 0.5
# The share of the error that samples which show one of them make grows with their number by this.
# A two-sided interval errs above, too. Both were chosen on simulated data.
_SEEN_ERROR_ONE_SIDED = 1.0 / 3.0
_SEEN_ERROR_TWO_SIDED = 1.0 / 2.0
# Ways to share an error out between two: how much of it each has, as a direction.
_ANGLES = (math.pi / 6.0, math.pi / 3.0)
# Standard deviations: a level next to 1 has infinitely many, of which no share can be taken.
_MOST_DEVIATIONS = 8.2
# Stands in for 0 where a logarithm is taken.
_TINY = 1e-15


def normal_quantile(confidence_level: float) -> float:
    """Return z with ``P(|Z| <= z) = confidence_level``."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + 0.5 * confidence_level))


def level_of(quantile: float) -> float:
    """Return ``P(|Z| <= quantile)``, the inverse of `normal_quantile`."""
    from scipy.special import ndtr

    return float(2.0 * ndtr(quantile) - 1.0)


def two_errors(confidence_level: float) -> Iterator[tuple[float, float]]:
    """Return levels of two independent errors whose normal quantiles add in squares to z.

    Distances that add in squares are the most that two errors do together only where both act
    straight on. Where a curve has a cliff the most has to be looked for: here are some ways to
    share an error out between two, without those that leave nothing to one of them.

    Examples
    --------
    >>> [(round(one, 3), round(other, 3)) for one, other in two_errors(0.95)]
    [(0.91, 0.673), (0.673, 0.91)]
    """
    z = min(normal_quantile(confidence_level), _MOST_DEVIATIONS)
    for angle in _ANGLES:
        yield level_of(z * math.cos(angle)), level_of(z * math.sin(angle))


def certain_limit(n: Any, confidence_level: float) -> Any:
    """Return the lower limit when n independent trials all succeeded: ``alpha**(1/n)``.

    It is what an estimate of exactly 1 says (and, mirrored, of 0), one-sided.
    """
    return (1.0 - confidence_level) ** (1.0 / np.asarray(n, dtype=np.float64))


def binomial_limits(estimate: Any, n: Any, confidence_level: float) -> tuple[Any, Any]:
    """Wald's limits of a share of n (Boyd 2014, section 4.3.3)."""
    half = normal_quantile(confidence_level) * np.sqrt(estimate * (1.0 - estimate) / n)
    return one_sided_ends(estimate, estimate - half, estimate + half, n, confidence_level)


def logit_limits(estimate: Any, variance: Any, n: Any, confidence_level: float) -> tuple[Any, Any]:
    """Limits on the logit scale, where the standard error is that of the estimate over t(1-t)."""
    from scipy.special import expit, logit

    inside = np.clip(estimate, 1e-300, 1.0 - 2.0**-53)
    spread = inside * (1.0 - inside)
    half = normal_quantile(confidence_level) * np.sqrt(variance) / spread
    middle = logit(inside)
    return one_sided_ends(estimate, expit(middle - half), expit(middle + half), n, confidence_level)


def one_sided_ends(
    estimate: Any, low: Any, high: Any, n: Any, confidence_level: float
) -> tuple[Any, Any]:
    """Clip to [0, 1], and replace the limits of an estimate of exactly 0 or 1."""
    certain = certain_limit(n, confidence_level)
    none, all_ = at_the_ends(estimate)
    low = np.where(all_, certain, np.where(none, 0.0, np.clip(low, 0.0, 1.0)))
    high = np.where(none, 1.0 - certain, np.where(all_, 1.0, np.clip(high, 0.0, 1.0)))
    return low, high


def at_the_ends(estimate: Any) -> tuple[Any, Any]:
    """Return whether an estimate is 0 and whether it is 1."""
    estimate = np.asarray(estimate)
    return estimate <= _ROUNDING, estimate >= 1.0 - _ROUNDING


def stabilised_variance(
    estimate: Any, variance: Any, n: Any, prior: float = _PRIOR_POSITIVES
) -> Any:
    """Draw an influence variance towards the binomial one, with the weight of `prior` positives."""
    centre = _centre(estimate, n)
    binomial = centre * (1.0 - centre) / n
    return (n * variance + prior * binomial) / (n + prior)


def influence_limits(
    estimate: Any,
    variance: Any,
    n: Any,
    confidence_level: float,
    *,
    share: float = 1.0,
    unbiased: Any = None,
    correction: Any = 0.5,
    stretch: Any = 1.0,
    guard: Any = None,
    ceiling: Any = None,
    one_sided: bool = False,
    unseen: Iterable[tuple[Callable[[], Any], float]] = (),
) -> tuple[Any, Any]:
    """Limits from an influence variance, between the logit and the arcsine-root scale.

    Parameters
    ----------
    estimate, variance, n : array
        The estimate, its influence variance and the number of positives that it rests on.
    confidence_level : float
    share : float, default 1.0
        The share of the positives that decide the estimate: of a part of a curve, its length. The
        small-sample terms take n times that.
    unbiased : array, optional
        A less biased estimate (leave one out): the lower limit is centred between the two when it
        is the smaller one.
    correction : array, default 0.5
        How much of the way from the estimate to the less biased one.
    stretch : array, default 1.0
        Times the usual quantile.
    guard : array, optional
        What the estimate would be if a kind of negatives that was not seen stood above everything.
        The lower limit is not above it: a sample with no negative at the top cannot exclude them.
    ceiling : array, optional
        The mirror: what it would be with unseen positives above everything. The upper limit is not
        below it.
    one_sided : bool, default False
        Whether each limit has to hold by itself, with half of the error.
    unseen : iterable of (function, float)
        Says what the estimate would be with so many unseen negatives above everything, and the
        level of the limit around it (:func:`unseen_levels`). The lower limit is not above any.

    Notes
    -----
    The variance is drawn towards the binomial one with the weight of ten positives. Each limit is
    the mean of the logit limit and the wider of the logit and arcsine-root limits.

    Two-sided limits may err more to one side than to the other. They do: with few positives average
    precision is too high, and its variance too low where it is high by chance, so that nearly all
    of the error is in the lower limit. By itself that is centred at the less biased estimate, with
    a quantile of t of a third as many degrees of freedom as positives (chosen on simulated data;
    the study `gate` has the errors on other data).

    A guard alone is not enough where a negative or two are expected above everything: a sample that
    shows none is too good by them *and* may be so by chance, and the two add up. `unseen` has the
    limits that allow for both.
    """
    n = n * share
    stable = stabilised_variance(estimate, variance, n, _PRIOR_POSITIVES * share)

    def spread(level: float, *, few: bool) -> Any:
        quantile = _few_quantile(n, level) if few else normal_quantile(level)
        return stretch * quantile * np.sqrt(stable)

    _, high_logit, _, high_arc = _two_scales(
        _centre(estimate, n), spread(confidence_level, few=False)
    )
    lower = estimate
    if unbiased is not None:
        part = 1.0 if one_sided else correction
        lower = np.minimum(estimate, (1.0 - part) * estimate + part * unbiased)
    low = _lower_of_scales(_off_one(lower, n), spread(confidence_level, few=one_sided))
    high = 0.5 * (high_logit + np.maximum(high_logit, high_arc))

    def limit_around(value: Any, room: Any) -> Any:
        # A limit by itself falls as far as the estimate would; that of an interval by the same
        # share, which covers as well and stays above 0 with few positives.
        fallen = lower - (estimate - value) if one_sided else lower * ratio(value, estimate)
        return _lower_of_scales(_off_one(fallen, n), room)

    # From the most to the fewest: what the most take from the estimate bounds what fewer do. Where
    # even that moves no limit, as with many rows, the others need not be looked at.
    least = guard
    for value_of, level in reversed([*unseen]):
        room = spread(level, few=one_sided)
        if least is None or not np.all(limit_around(least, room) >= low):
            least = value_of()
            low = np.minimum(low, limit_around(least, room))
    if guard is not None:
        low = np.minimum(low, guard)
    if ceiling is not None:
        high = np.maximum(high, ceiling)
    none, all_ = at_the_ends(estimate)
    return np.where(none, 0.0, low), np.where(all_, 1.0, high)


def unseen_levels(
    confidence_level: float, *, one_sided: bool = False
) -> Iterator[tuple[float, float]]:
    """Return numbers of unseen negatives on top, and the level of the lower limit for each.

    If ``lam`` such negatives are expected, ``exp(-lam)`` of the samples show none. In those the
    limit around the estimate with `lam` of them may be wrong with probability ``alpha exp(lam)``,
    less what the samples that show some take: ``alpha exp(lam) / (1 + c lam)``. Further than
    ``exp(-lam) = alpha`` nothing is left to exclude. A limit that were above its centre is none.

    A limit by itself has ``alpha = (1 - level) / 2`` and ``c = 1/3``. The lower limit of an
    interval may take all of the error, ``alpha = 1 - level``, because a sample that is too good is
    not below its upper limit; ``c = 1/2``, because others are.

    The level is that of `influence_limits`: a limit is wrong with half of what it leaves. Each
    number but the last keeps its place as the level rises, so that the limits are nested.

    Examples
    --------
    >>> [(lam, round(0.5 - 0.5 * level, 3)) for lam, level in unseen_levels(0.95)]
    [(0.5, 0.066), (1.0, 0.091), (1.5, 0.128), (2.0, 0.185), (2.5, 0.271), (2.995732273553991, 0.4)]
    >>> [(lam, round(0.5 - 0.5 * level, 3)) for lam, level in unseen_levels(0.9, one_sided=True)]
    [(0.5, 0.071), (1.0, 0.102), (1.5, 0.149), (2.0, 0.222), (2.5, 0.332)]
    """
    error, seen = 1.0 - confidence_level, _SEEN_ERROR_TWO_SIDED
    if one_sided:
        error, seen = 0.5 * error, _SEEN_ERROR_ONE_SIDED
    most = -math.log(error)
    for number in [*np.arange(_UNSEEN_STEP, most, _UNSEEN_STEP).tolist(), most]:
        allowed = error * math.exp(number) / (1.0 + seen * number)
        if allowed < 0.5:
            yield number, 1.0 - 2.0 * allowed


def _lower_of_scales(centre: Any, spread: Any) -> Any:
    """Mean of the logit limit and the lower of the logit and arcsine-root limits."""
    logit_limit, _, arc_limit, _ = _two_scales(centre, spread)
    return 0.5 * (logit_limit + np.minimum(logit_limit, arc_limit))


def _few_quantile(n: Any, confidence_level: float) -> Any:
    """Quantile of t for a limit by itself."""
    from scipy.special import stdtrit

    degrees = np.maximum(_DEGREES_PER_POSITIVE * np.asarray(n, dtype=np.float64), 1.0)
    return stdtrit(degrees, 0.5 + 0.5 * confidence_level)


def beta_limits(
    estimate: Any,
    variance: Any,
    n: Any,
    confidence_level: float,
    *,
    unbiased: Any = None,
    guard: Any = None,
) -> tuple[Any, Any]:
    """Clopper and Pearson's limits of a share of as many trials as the variance is worth.

    With t(1-t)/V trials the estimate would have its variance as a share (Korn & Graubard 1998). The
    parameters are those of `influence_limits`.
    """
    from scipy.special import betaincinv

    tail = 0.5 * (1.0 - confidence_level)
    stable = stabilised_variance(estimate, variance, n, _BETA_PRIOR_POSITIVES)
    lower = estimate if unbiased is None else np.minimum(estimate, 0.5 * (estimate + unbiased))
    ends = []
    for centre, more, probability in (
        (_off_one(lower, n), 0.0, tail),
        (_centre(estimate, n), 1.0, 1.0 - tail),
    ):
        trials = centre * (1.0 - centre) / stable
        successes, failures = centre * trials + more, (1.0 - centre) * trials + 1.0 - more
        ends.append(betaincinv(successes, failures, probability))
    low = ends[0] if guard is None else np.minimum(ends[0], guard)
    none, all_ = at_the_ends(estimate)
    return np.where(none, 0.0, low), np.where(all_, 1.0, ends[1])


def share_limits(successes: Any, total: Any, delta: float) -> tuple[FloatArray, FloatArray]:
    """Clopper-Pearson limits of a share: each is wrong with probability at most `delta`."""
    return least_share(successes, total, delta), greatest_share(successes, total, delta)


def least_share(successes: Any, total: Any, delta: float) -> FloatArray:
    """Clopper and Pearson's lower limit alone, in half of the time."""
    from scipy.special import betaincinv

    successes, failures = _both_counts(successes, total)
    low = betaincinv(np.where(successes > 0, successes, 1.0), failures + 1.0, delta)
    # Older SciPy finds no number for some counts beyond 1e10: then nothing is known.
    return np.where(successes > 0, np.nan_to_num(low, nan=0.0), 0.0)


def greatest_share(successes: Any, total: Any, delta: float) -> FloatArray:
    """Clopper and Pearson's upper limit alone."""
    from scipy.special import betaincinv

    successes, failures = _both_counts(successes, total)
    high = betaincinv(successes + 1.0, np.where(failures > 0, failures, 1.0), 1.0 - delta)
    return np.where(failures > 0, np.nan_to_num(high, nan=1.0), 1.0)


def _both_counts(successes: Any, total: Any) -> tuple[FloatArray, FloatArray]:
    """Successes and failures; effective counts may differ from their total by a rounding error."""
    successes = np.asarray(successes, dtype=np.float64)
    return successes, np.maximum(np.asarray(total, dtype=np.float64) - successes, 0.0)


def wilson_limits(successes: Any, total: Any, confidence_level: float) -> tuple[Any, Any]:
    """Wilson's limits of a share: the shares that a score test does not reject."""
    square = min(normal_quantile(confidence_level), _MOST_DEVIATIONS) ** 2
    successes = np.asarray(successes, dtype=np.float64)
    total = np.asarray(total, dtype=np.float64)
    failures = np.maximum(total - successes, 0.0)
    middle = (successes + 0.5 * square) / (total + square)
    half = np.sqrt(square * (successes * failures / total + 0.25 * square)) / (total + square)
    # At 0 and at 1 the two differ by rounding only.
    return (
        np.where(successes > 0, np.maximum(middle - half, 0.0), 0.0),
        np.where(failures > 0, np.minimum(middle + half, 1.0), 1.0),
    )


def _centre(estimate: Any, n: Any) -> Any:
    margin = _MARGIN_POSITIVES / n
    return np.clip(estimate, margin, 1.0 - margin)


def _off_one(estimate: Any, n: Any) -> Any:
    """Centre of a lower limit: kept off 1 only. Kept off 0 it would lie above the estimate."""
    return np.clip(estimate, _TINY, 1.0 - _MARGIN_POSITIVES / n)


def _two_scales(centre: Any, spread: Any) -> tuple[Any, Any, Any, Any]:
    from scipy.special import expit, logit

    deviation = centre * (1.0 - centre)
    middle, half = logit(centre), spread / deviation
    angle, turn = np.arcsin(np.sqrt(centre)), spread / (2.0 * np.sqrt(deviation))
    low = np.sin(np.maximum(angle - turn, 0.0)) ** 2
    high = np.sin(np.minimum(angle + turn, 0.5 * math.pi)) ** 2
    return expit(middle - half), expit(middle + half), low, high


def poisson_limits(count: Any, confidence_level: float) -> tuple[Any, Any]:
    """Garwood's limits of the mean of a Poisson number; a count of 0 has the lower limit 0."""
    from scipy.special import gammaincinv

    tail = 0.5 * (1.0 - confidence_level)
    count = np.asarray(count, dtype=np.float64)
    low = np.where(count > 0, gammaincinv(np.where(count > 0, count, 1.0), tail), 0.0)
    return low, gammaincinv(count + 1.0, 1.0 - tail)


def percentile_limits(replicates: FloatArray, confidence_level: float) -> tuple[Any, Any]:
    """Quantiles of the replicates."""
    tail = 0.5 * (1.0 - confidence_level)
    low, high = np.quantile(replicates, [tail, 1.0 - tail], axis=-1)
    return low, high


def bca_limits(
    estimate: float, replicates: FloatArray, acceleration: float, confidence_level: float
) -> tuple[float, float]:
    """Bias-corrected and accelerated quantiles (Efron 1987)."""
    from scipy.special import ndtr, ndtri

    # Half of the replicates that are the estimate but for rounding count as below it.
    above = settled(replicates - estimate, estimate)
    below = np.mean(above < 0.0) + 0.5 * np.mean(above == 0.0)
    least = 0.5 / replicates.size
    bias = float(ndtri(np.clip(below, least, 1.0 - least)))
    z = normal_quantile(confidence_level) * np.array([-1.0, 1.0])
    shifted = bias + (bias + z) / np.maximum(1.0 - acceleration * (bias + z), 1e-3)
    low, high = np.quantile(replicates, ndtr(shifted))
    return float(low), float(high)


def studentised_limits(
    estimate: float,
    error: float,
    replicates: FloatArray,
    errors: FloatArray,
    n: float,
    confidence_level: float,
) -> tuple[float, float]:
    """Bootstrap-t on the logit scale; the errors are standard errors on the plain scale."""
    from scipy.special import expit, logit

    margin = _MARGIN_POSITIVES / n
    # Kept off 0 too, but never at or above the estimate: the limits have to contain it.
    ends = min(margin, 0.25 * estimate) if estimate > 0.0 else margin, 1.0 - margin

    def transformed(values: Any, spread: Any) -> tuple[Any, Any]:
        centre = np.clip(values, *ends)
        return logit(centre), spread / (centre * (1.0 - centre))

    middle, scale = transformed(estimate, error)
    centres, scales = transformed(replicates, errors)
    tail = 0.5 * (1.0 - confidence_level)
    small, large = np.quantile((centres - middle) / scales, [tail, 1.0 - tail])
    return float(expit(middle - large * scale)), float(expit(middle - small * scale))

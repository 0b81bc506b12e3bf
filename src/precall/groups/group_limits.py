"""Limits over groups that are drawn from many: Student's t of log odds, room for larger groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._cached import cached_property
from .._rounding import TOLERANCE, settled

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]


def effective_groups(weights: Array) -> float:
    """Kish's effective number of groups."""
    return float(np.sum(weights) ** 2 / np.sum(np.square(weights, dtype=np.float64)))


def t_quantile(confidence_level: float, degrees: float) -> float:
    """Two-sided quantile of Student's t; at least one degree of freedom."""
    from scipy.special import stdtrit

    # From the lower tail, which does not round to 1 at levels very near 1.
    return -float(stdtrit(max(degrees, 1.0), 0.5 * (1.0 - confidence_level)))


def skewness_of(moved: FloatArray) -> FloatArray:
    """Skewness of what groups, along the first axis, move, over the root of their number.

    0 where they move nothing but rounding.
    """
    length = np.sqrt(np.sum(moved**2, axis=0))
    return np.asarray(np.sum((moved / np.where(length > TOLERANCE, length, np.inf)) ** 3, axis=0))


# By which power of e a limit of a mean is farther on the side to which its groups are skewed, at a
# skewness of the root of their number. Chosen on normal, logistic and gamma scores, in the middle
# and near both ends of the range.
_FARTHER = 0.75


def farther(skewness: float) -> tuple[float, float]:
    """Factors of the distances to the lower and the upper limit."""
    return math.exp(_FARTHER * max(-skewness, 0.0)), math.exp(_FARTHER * max(skewness, 0.0))


Bounds = tuple[float, float]
_UNBOUNDED = (-math.inf, math.inf)


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Log odds between the two ends of a range.

    Values of groups near an end are skewed, and so is the average of few of them: there t reaches
    too far on one side, and not far enough on the other.
    """

    low: float
    high: float

    @classmethod
    def around(cls, estimate: float, bounds: Bounds) -> Scale | None:
        """Return the scale of an estimate; None where the range lacks an end, or at one of them."""
        low, high = bounds
        return cls(low=low, high=high) if high - low < math.inf and low < estimate < high else None

    def odds(self, value: Any) -> Any:
        """Return log odds."""
        from scipy.special import logit

        return logit((value - self.low) / (self.high - self.low))

    def back(self, odds: float) -> float:
        """Return what has these log odds."""
        from scipy.special import expit

        return float(self.low + (self.high - self.low) * expit(odds))

    def odds_without(self, estimate: float, moved: FloatArray) -> FloatArray:
        """Return log odds with one group left out: it moves no more than half way to an end."""
        room = 0.5 * min(estimate - self.low, self.high - estimate)
        return np.asarray(self.odds(np.clip(estimate - moved, self.low + room, self.high - room)))

    def limits(self, estimate: float, low: float, high: float) -> tuple[float, float]:
        """Return what has these limits of log odds; the estimate is between, despite rounding."""
        return min(self.back(low), estimate), max(self.back(high), estimate)


def mean_limits(
    values: FloatArray, level: float, bounds: Bounds = _UNBOUNDED
) -> tuple[float, float] | None:
    """Limits of the mean over groups: Student's t, by what leaving out a group moves.

    Where the range has two ends, what is moved are log odds, and the limit on the side of the
    longer tail is farther. None for a single group.
    """
    if values.size < 2:
        return None
    mean, degrees = float(np.mean(values)), values.size - 1
    apart = settled(values - mean, mean)
    reach, spread = t_quantile(level, degrees), float(np.sum(apart**2))
    scale = Scale.around(mean, bounds)
    if scale is None or spread == 0.0:
        half = reach * math.sqrt(spread / (values.size * degrees))
        return mean - half, mean + half
    odds = scale.odds_without(mean, apart / degrees)
    moved = np.mean(odds) - odds
    half = reach * math.sqrt(float(np.sum(moved**2)) * degrees / values.size)
    down, up = farther(float(skewness_of(moved)))
    centre = float(scale.odds(mean))
    return scale.limits(mean, centre - half * down, centre + half * up)


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A value in which larger groups count more, and what it owes to each group.

    Attributes
    ----------
    estimate : float
    moved : array
        How much each group moves the value: what is lost when it is left out.
    positives : array
        The positives of each group; two groups at least have some.
    bounds : (float, float)
        The range of the value. Where it has two ends, limits are those of log odds.
    """

    estimate: float
    moved: FloatArray
    positives: Array
    bounds: Bounds = _UNBOUNDED

    @property
    def error(self) -> float:
        """Standard error over groups."""
        return math.sqrt(float(np.sum(self.moved**2)))

    @cached_property
    def trend(self) -> Trend:
        """What larger groups have to do with larger values."""
        return _trend(self)

    def limits(self, level: float) -> tuple[float, float]:
        """Return the limits: those of Student's t, one of them with room for larger groups.

        Where larger groups have higher values, the value of few groups is too low most of the time,
        and its error too small: groups larger than these exist, and have not been seen. So the
        upper limit is that of the regression on the sizes if that one is higher. Where larger
        groups have lower values, the same holds for the lower limit.
        """
        scale = Scale.around(self.estimate, self.bounds)
        if scale is None:
            return self._limits(level)
        return scale.limits(self.estimate, *self._on_log_odds._limits(level))

    def makes_room(self, level: float) -> bool:
        """Return whether a limit is farther out than that of Student's t."""
        scaled = self._on_log_odds
        return scaled._limits(level) != scaled._plain_limits(level)

    @cached_property
    def _on_log_odds(self) -> LeftOut:
        """The same in log odds, where there are any."""
        scale = Scale.around(self.estimate, self.bounds)
        if scale is None:
            return self
        centre = float(scale.odds(self.estimate))
        moved = centre - scale.odds_without(self.estimate, self.moved)
        return LeftOut(estimate=centre, moved=settled(moved, 1.0), positives=self.positives)

    def _limits(self, level: float) -> tuple[float, float]:
        low, high = self._plain_limits(level)
        trend = self.trend
        centre, half = self.estimate + trend.shift, self._quantile(level) * trend.error
        down, up = self._farther
        # Both agree where there is no trend, so that rounding of the slope decides nothing.
        return (
            min(low, centre - half * down) if trend.slope < 0 else low,
            max(high, centre + half * up) if trend.slope > 0 else high,
        )

    def _plain_limits(self, level: float) -> tuple[float, float]:
        half, (down, up) = self._quantile(level) * self.error, self._farther
        return self.estimate - half * down, self.estimate + half * up

    @property
    def _farther(self) -> tuple[float, float]:
        """Factors of the distances to both limits: more on the side of the longer tail."""
        return farther(float(skewness_of(self.moved)))

    def _quantile(self, level: float) -> float:
        return t_quantile(level, effective_groups(self.positives) - 1.0)


@dataclass(frozen=True, kw_only=True)
class Trend:
    """A regression of the groups' values on the logarithm of their sizes.

    Attributes
    ----------
    slope : float
        How much higher the value is in groups e times as large.
    shift : float
        How far the value would move if large groups were as frequent as the spread of sizes says.
    error : float
        Standard error of the value moved by that much.
    p_value : float
        Of no correlation between sizes and values.
    """

    slope: float = 0.0
    shift: float = 0.0
    error: float = 0.0
    p_value: float = 1.0


# What the variance of log sizes adds to the variance of their mean over positives, in units of its
# square over its degrees of freedom. Half of it is used, which has 1/2 for normal log sizes; the
# rest is room for heavier tails and for slopes that are steeper among large groups. Nine in ten
# cells of normal, logistic and gamma scores whose lognormal sizes go with the values reach .94.
_OF_VARIANCE = 6.0
# The estimate is moved by no more than this share of the error: with many groups of sizes that are
# not lognormal, the groups know better.
_MOST_MOVED = 0.25


def _trend(found: LeftOut) -> Trend:
    """Regress values on log sizes, and move the estimate along the line.

    A lognormal distribution that is weighted by a power ``a`` of the sizes is lognormal again, with
    a log mean higher by ``a s^2``. Groups weighted by the root of their size are half way between
    groups that count alike, of which the largest is not large enough, and groups that count by
    their size, of which there are too few: half the variance of their log sizes is what their log
    mean lacks, so the mean log size over positives should be ``mean + s^2 / 2``. The estimate is
    moved by the slope times what positives have less than that.
    """
    share = found.positives / np.sum(found.positives)
    counts = share > 0
    share = share[counts]
    weight = np.sqrt(share) / np.sum(np.sqrt(share))
    size = np.log(share)
    size = settled(size - np.sum(weight * size), 1.0)
    if not size.any():
        return Trend(error=found.error)
    held = share / (1.0 - share)
    # What leaving out moves a weighted mean is held * (value - mean).
    above = found.moved[counts] / held
    worth, square = effective_groups(weight), float(np.sum(weight * size**2))
    slope = float(np.sum(weight * size * above)) / square
    variance = square * worth / (worth - 1.0)
    of_size = math.sqrt(variance / worth + _OF_VARIANCE * variance**2 / (worth - 1.0))
    present = float(np.sum(share * size))
    residual = found.moved.copy()
    residual[counts] -= slope * held * (size - present)
    return Trend(
        slope=slope,
        shift=slope * min(0.5 * variance - present, _MOST_MOVED * of_size),
        error=math.sqrt(float(np.sum(residual**2)) + (slope * of_size) ** 2),
        p_value=_p_value(slope**2 * square, above - np.sum(weight * above), weight),
    )


def _p_value(explained: float, values: FloatArray, weight: FloatArray) -> float:
    """Of a weighted correlation, with as many groups as the weights are worth."""
    from scipy.special import stdtr

    degrees = effective_groups(weight) - 2.0
    left = float(np.sum(weight * values**2)) - explained
    if degrees <= 0 or explained == 0:
        return 1.0
    if left <= 0:
        return 0.0
    return 2.0 * float(stdtr(degrees, -math.sqrt(degrees * explained / left)))

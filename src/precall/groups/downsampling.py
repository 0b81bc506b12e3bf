"""What leaving out negatives does to the precision-recall curve, and how to undo it.

Precision depends on the share of positives, so a test set with fewer negatives flatters every
scorer. The effect is known exactly in expectation, and the way back is a reweighting.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._notebook import Rich
from .._numerics import log1p_excess
from ..exceptions import InputError, UndefinedMetricError
from ..metrics import areas
from ..ranking import Ranking
from ..ranking.checks import as_ranking
from ..ranking.reflex import takes_one_ranking

FloatArray = npt.NDArray[np.float64]

# The hypergeometric distribution is summed this many standard deviations to each side, ...
_REACH = 10.0
# ... and at every h-th value, h up to its standard deviation over this. What that adds is the
# distribution's characteristic function at 2 pi / h, at most exp(-variance (1 - cos(2 pi / h))):
# below 1e-16.
_STEPS = 2.2
# The rows that smaller shares of negatives stand for are more than any count.
_SMALLEST_RATIO = 1e-80
_ROWS_AT_ONCE = 4096
# From here on Stirling's series with four terms has all digits.
_STIRLING = 32.0


@dataclass(frozen=True, kw_only=True)
class PrecisionRecallSummary(Rich):
    """The areas that go with one prevalence.

    Attributes
    ----------
    prevalence : float
    aucpr : float
        Average precision.
    floor : float
        The smallest average precision that any ranking of these sizes has.
    aucnpr : float
        ``(aucpr - floor) / (1 - floor)``.
    """

    prevalence: float
    aucpr: float
    floor: float
    aucnpr: float

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True, repr=False)
class DownsampleEffect(Rich):
    """Areas before and after keeping a share of the negatives.

    Attributes
    ----------
    ratio : float
        Share of the negatives kept.
    n_kept : int
        Their number.
    original, downsampled : PrecisionRecallSummary
        Before, and in expectation after.
    """

    ratio: float
    n_kept: int
    original: PrecisionRecallSummary
    downsampled: PrecisionRecallSummary

    def __repr__(self) -> str:
        """Return one line."""
        before, after = self.original, self.downsampled
        return (
            f"DownsampleEffect(ratio={self.ratio:.4g}, "
            f"prevalence {before.prevalence:.4g} -> {after.prevalence:.4g}, "
            f"aucpr {before.aucpr:.4g} -> {after.aucpr:.4g}, "
            f"aucnpr {before.aucnpr:.4g} -> {after.aucnpr:.4g})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries."""
        return asdict(self)


@takes_one_ranking
def downsample_effect(ranking: Ranking, *, ratio: float) -> DownsampleEffect:
    """Return what the areas become when only a share of the negatives is kept.

    Parameters
    ----------
    ranking : Ranking
        Without weights.
    ratio : float
        Share of the negatives to keep, above 0 and at most 1; their number is rounded to the
        nearest whole one, and is at least 1.

    Returns
    -------
    DownsampleEffect

    Notes
    -----
    All subsets of ``m' = ratio m`` negatives are equally likely, so the false positives left at a
    threshold with FP of them are hypergeometric and the expected average precision is
    ``sum_k w_k E[TP_k / (TP_k + F_k)] / n``. The floor depends on ``n`` and ``m'`` only, so the
    expected AUCNPR follows exactly. Relative error below 1e-12.

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> rng = np.random.default_rng(5)
    >>> y = rng.random(25_000) < 0.04
    >>> ranking = pr.rank(y, rng.normal(size=25_000) + 2 * y)
    >>> pr.downsample_effect(ranking, ratio=1 / 24)
    DownsampleEffect(ratio=0.042, prevalence 0.04 -> 0.5, aucpr 0.50 -> 0.93, aucnpr 0.49 -> 0.89)
    """
    ranking = as_ranking(ranking, missed=True)
    share = _validation.as_number(ratio, "ratio")
    if not 0.0 < share <= 1.0:
        raise InputError(f"ratio must be above 0 and at most 1, got {ratio!r}.")
    _require_counts(ranking)
    m = int(ranking.n_neg)
    kept = max(1, round(share * m))
    precision = _expected_precision(
        ranking.tp.astype(np.float64), ranking.fp.astype(np.float64), m, kept
    )
    area = float(ranking.positives @ precision) / ranking.all_positives
    return DownsampleEffect(
        ratio=share,
        n_kept=kept,
        original=_summary(ranking, m, areas.aucpr(ranking)),
        downsampled=_summary(ranking, kept, area),
    )


def _require_counts(ranking: Ranking) -> None:
    if ranking.weighted:
        raise InputError("ranking must have no weights: downsampling leaves out whole rows.")
    if not (ranking.n_pos and ranking.n_neg):
        raise UndefinedMetricError(
            "downsampling needs positives and negatives, and one is missing."
        )


def _summary(ranking: Ranking, n_neg: float, area: float) -> PrecisionRecallSummary:
    everyone = float(ranking.all_positives)
    reached = ranking.n_pos / everyone
    floor = reached * areas.minimum_average_precision(ranking.n_pos, n_neg)
    return PrecisionRecallSummary(
        prevalence=everyone / (everyone + n_neg),
        aucpr=area,
        floor=floor,
        aucnpr=(area - floor) / (1.0 - floor),
    )


def _expected_precision(tp: FloatArray, fp: FloatArray, m: int, kept: int) -> FloatArray:
    """``E[TP / (TP + F)]`` with F hypergeometric: `kept` drawn from `m`, of which `fp` count."""
    if kept == m:
        return np.asarray(tp / (tp + fp))
    result = np.empty_like(tp)
    # Rows with the same FP share their distribution, and neighbouring rows have distributions of
    # like width.
    for begin in range(0, tp.size, _ROWS_AT_ONCE):
        rows = slice(begin, begin + _ROWS_AT_ONCE)
        result[rows] = _expected_block(tp[rows], fp[rows], m, kept)
    return result


def _expected_block(tp: FloatArray, fp: FloatArray, m: int, kept: int) -> FloatArray:
    share = kept / m
    deviation = np.sqrt(fp * share * (1 - share) * (m - fp) / max(m - 1, 1))
    step = np.maximum(1.0, np.floor(deviation / _STEPS))
    # The tails of a hypergeometric distribution with a small mean are longer than its deviation
    # says.
    reach = _REACH * deviation + 3.0 * _REACH
    smallest, largest = np.maximum(0.0, kept - (m - fp)), np.minimum(fp, float(kept))
    middle = np.rint(fp * share)
    start = np.maximum(smallest, middle - step * np.ceil(reach / step))
    # Whole windows only where the distribution itself ends; else both ends are far in the tails.
    count = int(np.max(np.floor((np.minimum(largest, middle + reach) - start) / step))) + 1
    values = start[:, np.newaxis] + step[:, np.newaxis] * np.arange(count)
    inside = values <= largest[:, np.newaxis]
    values = np.minimum(values, largest[:, np.newaxis])
    f = fp[:, np.newaxis]
    # The probability of a two-by-two table is a constant over the product of its cells' factorials.
    table = ((f, share, 1), (f, 1 - share, -1), (m - f, share, -1), (m - f, 1 - share, 1))
    change = values - f * share
    log_weight = -sum(_log_factorial(part * of, sign * change) for of, part, sign in table)
    log_weight = np.where(inside, log_weight, -np.inf)
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    t = tp[:, np.newaxis]
    return np.asarray(np.sum(weight * t / (t + values), axis=1) / np.sum(weight, axis=1))


def _log_factorial(mean: FloatArray, change: FloatArray) -> FloatArray:
    """``log (mean + change)!`` up to what is constant or cancels over the cells of a table.

    ``log a! = a log a - a + log(2 pi a) / 2 + s(a)``; in a table with given margins the sum of
    ``a log a - a`` differs by a constant from that of ``a log(a / mean) - (a - mean)``, which is
    small and has a form without cancellation (Loader, *Fast and accurate computation of binomial
    probabilities*, 2000). A plain log-gamma would lose eight digits at a million rows.
    """
    from scipy.special import gammaln

    count = np.maximum(np.rint(mean + change), 0.0)
    x = np.divide(change, mean, out=np.zeros_like(change), where=mean > 0)
    deviance = mean * x * x * (1.0 - (1.0 + x) * log1p_excess(np.maximum(x, -0.999999)))
    deviance = np.where(count == 0, mean, deviance)
    small = count < _STIRLING
    large = np.where(small, _STIRLING, count)
    square = 1.0 / (large * large)
    series = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / large
    few = np.where(small, count, 0.0)
    # What is left of log a! beside a log a - a; at 0 it is 0.
    log_few = np.log(np.maximum(few, 1.0))
    exact = gammaln(few + 1.0) - few * log_few + few
    return np.asarray(deviance + np.where(small, exact, 0.5 * np.log(2 * np.pi * large) + series))


def undo_downsampling(
    ranking: Ranking, *, ratio: float | None = None, prevalence: float | None = None
) -> PrecisionRecallSummary:
    """Estimate the areas of the full test set from a downsampled one.

    Parameters
    ----------
    ranking : Ranking
        Of the downsampled test set, without weights.
    ratio : float
        The share of the negatives that was kept; or
    prevalence : float
        the prevalence of the full test set. Give one of the two.

    Returns
    -------
    PrecisionRecallSummary

    Notes
    -----
    A negative that was kept stands for ``c = 1 / ratio`` of them, so precision becomes
    ``TP / (TP + c FP)``. Because precision is convex in FP this is too high on average, by
    ``TP c (c - 1) FP / (TP + c FP)**3`` to first order; that is subtracted. What was left out
    cannot be made up for: where no kept negative outranks a positive, the estimate is 1.

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> rng = np.random.default_rng(5)
    >>> y = rng.random(25_000) < 0.04
    >>> s = rng.normal(size=25_000) + 2 * y
    >>> full = pr.aucpr(pr.rank(y, s))
    >>> kept = y | (rng.random(25_000) < 0.1)
    >>> restored = pr.undo_downsampling(pr.rank(y[kept], s[kept]), ratio=0.1)
    >>> round(full, 1), round(restored.aucpr, 1), pr.aucpr(pr.rank(y[kept], s[kept])) > 0.8
    (0.5, 0.5, True)
    """
    ranking = as_ranking(ranking, missed=True)
    if (ratio is None) == (prevalence is None):
        raise InputError("pass either ratio or prevalence, and not both.")
    _require_counts(ranking)
    n, m = float(ranking.all_positives), float(ranking.n_neg)
    if ratio is not None:
        share = _validation.as_fraction(ratio, "ratio", open_ends=False)
    else:
        target = _validation.as_fraction(prevalence, "prevalence")
        share = m / (n * (1 - target) / target)
    if 0.0 < share < _SMALLEST_RATIO:
        raise InputError(f"ratio must be at least {_SMALLEST_RATIO:g}, got {share:g}.")
    if not 0.0 < share <= 1.0:
        given = "ratio" if ratio is not None else "prevalence"
        raise InputError(
            f"{given} must leave at least the {m:.12g} negatives that were kept in the full test "
            f"set, but the share of negatives kept would be {share:.6g}."
        )
    factor = 1.0 / share
    tp, fp = ranking.tp.astype(np.float64), factor * ranking.fp
    precision = tp / (tp + fp)
    excess = precision * (fp / (tp + fp)) * ((factor - 1.0) / (tp + fp))
    area = float(ranking.positives @ np.maximum(precision - excess, 0.0)) / n
    return _summary(ranking, factor * m, area)

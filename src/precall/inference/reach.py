"""How much further than standard errors say the difference of two models reaches.

The influence variance of a difference knows what the models share, but not what the intervals of
either model know: that few positives make an estimate skewed, and that rows nobody saw may rank
above everything. So what those intervals have beyond their standard errors is added, but for the
part that the models share: with the correlation r of their estimates, ``1 - r`` of the squares of
the distances beyond (without r this is how Zou & Donner combine limits: *Construction of confidence
limits about effect measures: a general approach*, 2008). Models that rank alike differ by nothing
still. With clusters the limits are those of rows by themselves, beyond the standard errors of
clusters.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ..metrics import Metric
from ..ranking import Ranking
from .intervals import usual_interval

FloatArray = npt.NDArray[np.float64]


def usual_limits(
    rankings: Iterable[Ranking], metric: Metric, *, varying: bool
) -> FloatArray | None:
    """Distances from the estimate of each model to its lower and upper limit at 95 %.

    None for a metric in which the rows at the top count like all others: there standard errors are
    enough. None too where the metric's default interval is drawn, which would take long.
    """
    if not metric.counts_top:
        return None
    found = []
    for ranking in rankings:
        each = usual_interval(ranking, metric, varying=varying)
        if each is None:
            return None
        found.append([each.estimate - each.low, each.high - each.estimate])
    return np.array(found)


def stretches(
    distances: FloatArray | None, covariance: FloatArray, variances: FloatArray, degrees: float
) -> FloatArray:
    """Factors of the distance to the lower and to the upper limit of every difference.

    Parameters
    ----------
    distances : array (models, 2), optional
        From :func:`usual_limits`; without them all factors are 1.
    covariance, variances : array (models, models)
        Of the estimates, and of their differences.
    degrees : float
        Degrees of freedom of t.

    Returns
    -------
    array (models, models, 2)
    """
    from scipy.special import stdtrit

    factors = np.ones((*variances.shape, 2))
    if distances is None:
        return factors
    square = float(stdtrit(degrees, 0.975)) ** 2
    own = np.diag(covariance)
    beyond = np.maximum(distances**2 - square * own[:, np.newaxis], 0.0)
    scale = np.sqrt(np.outer(own, own))
    shared = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)
    apart = 1.0 - np.clip(shared, 0.0, 1.0)
    # The difference is too low where the first is, or the second too high.
    more = apart[..., np.newaxis] * (beyond[:, np.newaxis] + beyond[np.newaxis, :, ::-1])
    usual = (square * variances)[..., np.newaxis]
    ratio = np.divide(more, usual, out=np.zeros_like(more), where=usual > 0)
    return np.asarray(np.sqrt(factors + ratio))

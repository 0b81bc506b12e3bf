"""The area under the curve of two normal score distributions with the observed moments."""

from __future__ import annotations

import math

import numpy as np

from ..exceptions import UndefinedMetricError
from ..ranking import Ranking


def binormal_area(ranking: Ranking, low: float, high: float) -> float:
    """Integrate over ``z = Phi^-1(recall)``, in panels fine enough for both classes' scales."""
    from scipy.special import log_ndtr, ndtri

    (mean_y, deviation_y), (mean_x, deviation_x) = _score_distributions(ranking)
    shift, stretch = (mean_x - mean_y) / deviation_x, deviation_y / deviation_x
    start, stop = max(float(ndtri(low)), -39.0), min(float(ndtri(high)), 39.0)
    around = np.linspace(-10.0, 10.0, 41)
    # FPR moves on its own scale around z = -shift / stretch.
    panels = np.unique(np.clip(np.concatenate([around, (around - shift) / stretch]), start, stop))
    panels = np.union1d(panels, [start, stop])
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = np.diff(panels)[:, np.newaxis] / 2
    z = panels[:-1, np.newaxis] + half * (nodes + 1)
    odds = (1 - ranking.prevalence) / ranking.prevalence
    with np.errstate(over="ignore"):
        precision = 1 / (1 + odds * np.exp(log_ndtr(shift + stretch * z) - log_ndtr(z)))
    density = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    return float(np.sum(half * weights * density * precision))


def _score_distributions(ranking: Ranking) -> tuple[tuple[float, float], tuple[float, float]]:
    """Mean and standard deviation of the scores in each class (``n - 1``; Kish's with weights)."""
    if ranking.moments is None:
        raise UndefinedMetricError(
            "the binormal estimator needs the mean and standard deviation of finite raw scores, "
            "which this ranking does not carry: build it with rank() on finite scores."
        )
    distributions = []
    sizes = zip(ranking.effective_sizes, (ranking.n_pos, ranking.n_neg), strict=True)
    for name, (mean, squared), (effective, total) in zip(
        ("positives", "negatives"), ranking.moments, sizes, strict=True
    ):
        if effective <= 1 or squared == 0:
            raise UndefinedMetricError(
                f"the binormal estimator needs two different scores among the {name}: "
                "use another estimator here."
            )
        distributions.append((mean, math.sqrt(squared / (total - total / effective))))
    return distributions[0], distributions[1]

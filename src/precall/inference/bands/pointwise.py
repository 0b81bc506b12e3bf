"""Precision at one recall, with its interval."""

from __future__ import annotations

import numpy as np

from precall._interval import Interval
from precall._validation import as_count, as_fraction, require_ranking
from precall.ranking import Ranking

from .fiducial_limits import pointwise_limits
from .request import make_request, observed_curve


def curve_interval_at(
    ranking: Ranking,
    *,
    recall: float,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    prevalence: str = "random",
    rng: np.random.Generator | int | None = None,
    ties: str | None = None,
) -> Interval:
    """Precision at one recall that was chosen beforehand, with its interval.

    The interval holds at this recall only. For statements about several recalls, or about a
    recall picked by looking at the curve, use :func:`precall.pr_band`.

    Parameters
    ----------
    ranking : Ranking
    recall : float
        Strictly between 0 and 1.
    confidence_level, n_resamples, prevalence, rng, ties
        As in :func:`precall.pr_band`.

    Returns
    -------
    Interval
        Equal tails of the fiducial distribution; its estimate is the observed curve at that recall.

    Examples
    --------
    >>> import precall as pr
    >>> from precall.simulate import Binormal
    >>> ranking = pr.rank(*Binormal(2.0).sample(100, 900, rng=0))
    >>> pr.curve_interval_at(ranking, recall=0.5, rng=0)
    Interval(0.77, low=0.6, high=0.9, 95 %, fiducial)
    """
    require_ranking(ranking)
    point = as_fraction(recall, "recall")
    request = make_request(
        ranking,
        kind="pr",
        confidence_level=confidence_level,
        span=(0.5 * point, point),
        span_name="recall",
        n_points=2,
        n_resamples=as_count(n_resamples, "n_resamples", minimum=100),
        prevalence=prevalence,
        rng=rng,
    )
    limits = pointwise_limits(request, ties=ties)
    return Interval(
        low=float(limits.low[-1]),
        high=float(limits.high[-1]),
        estimate=float(observed_curve(request)[-1]),
        confidence_level=request.confidence_level,
        method="fiducial",
    )

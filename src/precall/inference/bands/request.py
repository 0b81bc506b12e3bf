"""What every band method is asked, checked once, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from precall._cached import cached_property
from precall._validation import (
    as_count,
    as_fraction,
    as_generator,
    as_range,
)
from precall.curves import hit_curve
from precall.exceptions import InputError
from precall.ranking import Ranking
from precall.ranking.checks import as_ranking

from .interpolation import interpolate_rows
from .paths import (
    Path,
    negatives_path,
    positives_path,
    require_both_classes,
)

FloatArray = npt.NDArray[np.float64]

# Recalls at which a curve is drawn before it is read off at shares of rows selected.
_HIT_POINTS = 201


class Limits(NamedTuple):
    """Lower and upper limit on the grid, with what the method has to say."""

    low: FloatArray
    high: FloatArray
    diagnostics: dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class BandRequest:
    """One band to be made.

    Attributes
    ----------
    ranking : Ranking
    kind : {"pr", "roc", "hit"}
    grid : array
        Points at which limits are wanted: recall, false-positive rate or share selected.
    confidence_level : float
    varying : bool
        Whether the sample's share of positives is an estimate, not part of the design.
    n_resamples : int
    rng : Generator
    """

    ranking: Ranking
    kind: str
    grid: FloatArray
    confidence_level: float
    varying: bool
    n_resamples: int
    rng: np.random.Generator = field(repr=False)

    @property
    def alpha(self) -> float:
        """Probability of error."""
        return 1.0 - self.confidence_level

    @cached_property
    def path(self) -> Path:
        """Ranks of the class that runs along the curve among the other."""
        return negatives_path(self.ranking) if self.kind == "roc" else positives_path(self.ranking)


def make_request(
    ranking: Ranking,
    *,
    kind: str,
    confidence_level: float,
    span: tuple[float, float],
    span_name: str,
    n_points: int,
    n_resamples: int,
    varying: bool,
    rng: np.random.Generator | int | None,
) -> BandRequest:
    """Check what the public functions were given."""
    ranking = as_ranking(ranking, missed=True)
    require_both_classes(ranking)
    low, high = as_range(span, span_name)
    if kind != "roc" and low == 0.0:
        raise InputError(
            f"{span_name} must start above 0, got {span!r}: nothing is selected there, so the "
            "curve has no height."
        )
    return BandRequest(
        ranking=ranking,
        kind=kind,
        grid=np.linspace(low, high, as_count(n_points, "n_points", minimum=2)),
        confidence_level=as_fraction(confidence_level, "confidence_level"),
        varying=varying,
        n_resamples=n_resamples,
        rng=as_generator(rng),
    )


def precision(recall: Any, rate: Any, prevalence: Any) -> FloatArray:
    """Precision from recall, false-positive rate and prevalence."""
    hits = prevalence * recall
    return np.asarray(hits / (hits + (1.0 - prevalence) * rate))


def inner_grid(request: BandRequest) -> FloatArray:
    """Rates of the own class at which curves are drawn: for hit curves not the band's own grid."""
    if request.kind == "hit":
        return np.linspace(0.0, 1.0, _HIT_POINTS)[1:-1]
    return request.grid


def as_curves(request: BandRequest, rate: FloatArray, prevalence: Any) -> FloatArray:
    """Turn rates of the other class on the inner grid (draws, points) into heights of the curve."""
    if request.kind == "roc":
        return rate
    if request.kind == "pr":
        return precision(request.grid, rate, prevalence)
    draws = len(rate)
    recall = np.concatenate([[0.0], inner_grid(request), [1.0]])
    whole = np.hstack([np.zeros((draws, 1)), rate, np.ones((draws, 1))])
    if request.ranking.missed:  # where nothing more is reached, nothing more is found
        whole[:, -1] = np.inf
        recall = np.maximum.accumulate(np.where(np.isinf(whole), 0.0, recall), axis=1)
        whole = np.minimum(whole, 1.0)
    found = np.broadcast_to(prevalence * recall, whole.shape)
    selected = found + (1.0 - prevalence) * whole
    grid = np.broadcast_to(request.grid, (draws, request.grid.size))
    return interpolate_rows(grid, selected, found)


def observed_curve(request: BandRequest) -> FloatArray:
    """Height of the observed curve on the band's grid."""
    prevalence = request.ranking.overall_prevalence
    if request.kind == "hit":
        return hit_curve(request.ranking).at(request.grid)
    rate = request.path.observed(request.grid)
    return np.asarray(as_curves(request, rate[None, :], prevalence)[0])

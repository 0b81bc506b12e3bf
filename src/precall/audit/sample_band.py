"""The curve of a whole population from few labels, and a band about it.

The precision at each recall of a grid has limits by MOVER, as any other metric has. For a band that
holds at all of them at once these are made at a higher level. How much higher follows from how the
points move together: with the numbers of positives of the pieces, and with where inside the pieces
the labelled rows happen to be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._rounding import TOLERANCE
from ..curves import pr_curve
from ..inference.bands.band import Band
from ..inference.simultaneous import critical_value, level_of
from ..metrics import precision_at_recall
from ..ranking import Ranking
from .sample_limits import SampleEvidence
from .sampled_cells import SampledMetric, placement_terms

if TYPE_CHECKING:
    from .sample import Sample

FloatArray = npt.NDArray[np.float64]

METHODS = ("mover", "pointwise")
_RECALLS = (0.1, 0.9)


def estimated_ranking(sampled: SampledMetric) -> Ranking:
    """Return the counts of the population, each labelled row with its weight."""
    cells, _ = sampled.cells(sampled.pieces.estimate)
    return Ranking(
        threshold=sampled.threshold,
        positives=cells.positives,
        tied=cells.tied,
        above=cells.above,
        below=0.0,
    )


def sample_band(
    sample: Sample,
    model: str,
    method: str | None,
    *,
    confidence_level: float,
    recall: tuple[float, float] | None,
    n_points: int,
) -> Band:
    """Return limits of the precision over a range of recalls."""
    how = _validation.as_choice(method or METHODS[0], "method", METHODS)
    level = _validation.as_fraction(confidence_level, "confidence_level")
    low, high = _validation.as_range(recall or _RECALLS, "recall")
    grid = np.linspace(low, high, _validation.as_count(n_points, "n_points", minimum=2))
    grid = np.maximum(grid, np.finfo(np.float64).tiny)
    points = [precision_at_recall(float(each)) for each in grid]
    sampled = sample.sampled(model, points[0]).of_each(points)
    evidence = [sample.evidence(each) for each in sampled]
    # The looks of a plan are counted in every point's own limits already.
    single = level if how == "pointwise" else _single_level(sampled, evidence, level, sample.looks)
    limits = np.array([each.limits(single) for each in evidence])
    if how != "pointwise":
        limits = np.stack(consistent(grid, *limits.T), axis=1)
    curve = pr_curve(estimated_ranking(sampled[0]))
    return Band(
        x=grid,
        low=limits[:, 0],
        y=curve.at(grid),
        high=limits[:, 1],
        confidence_level=level,
        method=how,
        simultaneous=how != "pointwise",
        diagnostics={"labels": sample.n_labelled, "positives": sample.n_positives},
        settings={"recall": (low, high), "n_points": grid.size, "single_level": single},
    )


def consistent(
    recall: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Leave out what no curve within limits that hold at all recalls at once can reach.

    False positives never get fewer as recall grows. So those that an upper limit asks for at one
    recall are there at every larger one, and those that a lower limit allows are the most that any
    smaller one has. A limit of a single recall may jump where few labelled rows lie; what its
    neighbours say holds there too, and the probability that all limits hold stays what it is.
    """
    with np.errstate(divide="ignore"):
        least, most = (recall * (1.0 - limit) / limit for limit in (high, low))
    least = np.maximum.accumulate(least)
    most = np.minimum.accumulate(most[::-1])[::-1]
    inside_low, inside_high = recall / (recall + most), recall / (recall + least)
    # What changes nothing stays as it was, to the last digit.
    return (
        np.where(inside_low > low * (1.0 + TOLERANCE), inside_low, low),
        np.where(inside_high < high * (1.0 - TOLERANCE), inside_high, high),
    )


def _single_level(
    sampled: list[SampledMetric], evidence: list[SampleEvidence], level: float, looks: int
) -> float:
    """Return the level at which limits of single points hold together."""
    terms = np.array(
        [
            np.concatenate([own.deviations(), placement_terms(one, one.slopes)])
            for one, own in zip(sampled, evidence, strict=True)
        ]
    )
    whole = 1.0 - (1.0 - level) / looks
    found = level_of(critical_value(terms @ terms.T, whole))
    return max(level, 1.0 - (1.0 - found) * looks)

"""The area at other prevalences: what the same scorer would have elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..inference.intervals import interval
from ..metrics import aucpr
from ..ranking import Ranking
from ..rows import Rows
from .quiet import quietly

FloatArray = npt.NDArray[np.float64]

# On either side of the data's own; a third as many where each takes a tenth of a second.
_STEPS = 12
_MANY_SCORES = 100_000


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PrevalenceTable:
    """Average precision with its limits and its floor at a range of prevalences.

    Attributes
    ----------
    prevalence : array
        Ascending; the data's own is element `own`.
    own, start : int
        Where the data are, and the prevalence that the answer is about.
    estimate, low, high, floor : array
    """

    prevalence: FloatArray
    own: int
    start: int
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    floor: FloatArray


def elsewhere(ranking: Ranking, prevalence: float | None) -> Ranking:
    """Return the ranking at another prevalence; itself without one, or with one class only."""
    if prevalence is None or not (ranking.n_pos and ranking.n_neg):
        return ranking
    return ranking.at_prevalence(prevalence)


def prevalence_table(
    ranking: Ranking,
    confidence_level: float,
    wanted: float | None = None,
    rows: Rows | None = None,
    model: str | None = None,
) -> PrevalenceTable:
    """Tabulate from a hundredth to a hundred times the odds of the data, and where it is wanted.

    Each value is that of ``interval(ranking, prevalence=p)``: the prevalence elsewhere is
    taken as known. With `rows` it is that of the rows, which may belong together.
    """
    data = ranking if rows is None else rows
    slow = len(ranking) > _MANY_SCORES or (rows is not None and len(rows) > _MANY_SCORES)
    odds = ranking.prevalence / (1.0 - ranking.prevalence)
    steps = _STEPS // 3 if slow else _STEPS
    factors = np.geomspace(1e-2, 1e2, 2 * steps + 1)
    prevalence = odds * factors / (1.0 + odds * factors)
    prevalence[steps] = ranking.prevalence
    kept = (prevalence > 1e-12) & (prevalence < 1.0 - 1e-9)
    kept[steps] = True
    prevalence = prevalence[kept]
    if wanted is not None:
        prevalence = np.unique(np.append(prevalence, wanted))
    own = int(np.searchsorted(prevalence, ranking.prevalence))
    start = own if wanted is None else int(np.searchsorted(prevalence, wanted))
    found = []
    with quietly():
        for index, value in enumerate(prevalence.tolist()):
            elsewhere = None if index == own else value
            limits = interval(
                data,
                model=None if rows is None else model,
                prevalence=elsewhere,
                confidence_level=confidence_level,
            )
            moved = ranking if elsewhere is None else ranking.at_prevalence(value)
            found.append((limits.estimate, limits.low, limits.high, aucpr().floor(moved)))
    estimate, low, high, floors = np.array(found).T
    return PrevalenceTable(
        prevalence=prevalence,
        own=own,
        start=start,
        estimate=estimate,
        low=low,
        high=high,
        floor=floors,
    )

"""The area under the precision-recall curve normalised to what is achievable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._numerics import ratio
from ..ranking import Ranking
from ..ranking.number_layout import Cells
from .base import Metric, totals
from .floors import area_limits, floor_at, observed_floor
from .precision_recall import Area, mean_precision_slope

# Of the missed positives, and of the log odds of the prevalence, in differences.
_STEP = 1e-4


@dataclass(frozen=True)
class NormalisedArea(Area):
    """The area normalised to what is achievable: 0 is the worst ranking, 1 the perfect one.

    Parameters
    ----------
    estimator, recall
        As for ``aucpr``.

    Examples
    --------
    >>> import precall as pr
    >>> round(pr.metrics.aucnpr()(pr.rank([1, 0, 1, 0], [4, 3, 2, 1])), 6)
    0.714286
    """

    name = "aucnpr"
    title = "AUCNPR"
    summary = "area under the precision-recall curve between the worst and the perfect ranking's"
    explanation = "The same, normalised: 0 is the worst order of these rows, 1 the perfect one."
    with_prevalence = (
        "AUCNPR takes out the floor that prevalence puts under AUCPR, not all of its influence, "
        "and the mean AUCPR beside it is worse: {dominated}. summary_curve compares at one "
        "prevalence."
    )

    def on(self, data: Any) -> Metric:
        """Return the metric with the areas of the worst and the perfect ranking of these sizes."""
        return _OnData(
            estimator=self.estimator,
            recall=self.recall,
            limits=area_limits(data, self.estimator, self.recall),
            observed=observed_floor(data, self.estimator, self.recall),
        )

    def convention(self, ranking: Ranking) -> float:
        """With no positives 0, with no negatives the share of the positives that was scored."""
        return float(ranking.n_pos / ranking.all_positives) if ranking.n_pos else 0.0

    def random(self, ranking: Ranking) -> float:
        """Return the normalised expected area of a random order."""
        floor, ceiling = area_limits(ranking, self.estimator, self.recall)
        return float((self.random_area(ranking) - floor) / (ceiling - floor))


@dataclass(frozen=True)
class _OnData(NormalisedArea):
    """The normalised area between limits that are known.

    When the prevalence or the share of missed positives varies, the floor moves from the observed
    one by as much as the area under the minimum curve does.
    """

    limits: tuple[Any, Any] = (0.0, 1.0)
    observed: Any = 0.0

    @property
    def unit(self) -> tuple[Any, Any]:
        """On the unit scale the area itself is divided by the length of its recall range."""
        floor, ceiling = self.limits
        return -floor / (ceiling - floor), (self.length - floor) / (ceiling - floor)

    def take(self, groups: npt.NDArray[np.int64]) -> Metric:
        """Return the metric on some of the groups."""
        floor, ceiling = self.limits
        return _OnData(
            estimator=self.estimator,
            recall=self.recall,
            limits=(floor[groups], ceiling[groups]),
            observed=self.observed[groups],
        )

    def _floor(self, cells: Cells) -> Any:
        return self._floor_at(*totals(cells), cells.missed)

    def _floor_at(self, everyone: Any, m: Any, missed: Any) -> Any:
        n = everyone - missed
        now = floor_at(ratio(n, n + m), self.estimator, self.recall, ratio(n, everyone))
        return self.limits[0] + now - self.observed

    def value(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the area between its floor and its ceiling."""
        return self._normalised(self.area(cells, squares), cells)

    def sampled_value(self, cells: Cells, squares: Cells) -> Any:
        """Return the same where every row stands for as many as its weight says."""
        return self._normalised(self.sampled_area(cells, squares), cells)

    def _normalised(self, area: Any, cells: Cells) -> Any:
        floor = self._floor(cells)
        return ratio(area - floor, self.limits[1] - floor)[()]

    def gradient(self, cells: Cells) -> Cells:
        """Return the derivative by the weight of each cell.

        The limits are held, but for the floor that falls with a positive that is missed.
        """
        area = self.area_gradient(cells)
        floor = self._floor(cells)
        scale = np.asarray(1.0 / (self.limits[1] - floor))
        positives, tied, above = (values * scale[..., np.newaxis] for values in area[:3])
        missed: Any = 0.0
        if np.any(cells.missed):
            moved = _STEP * np.asarray(cells.missed + (np.asarray(cells.missed) == 0))
            share = moved / np.sum(cells.positives, axis=-1)
            fewer = cells._replace(
                positives=cells.positives * (1.0 - share)[..., np.newaxis],
                missed=cells.missed + moved,
            )
            value = self._normalised(self.area(cells), cells)
            missed = (value - 1.0) * scale * (self._floor(fewer) - floor) / moved
        return Cells(positives, tied, above, area.below * scale, missed)

    def prevalence_slope(self, cells: Cells) -> Any:
        """Return the derivative by the log odds of the prevalence: of the area and of its floor."""
        if not self.mean_precision:
            return super().prevalence_slope(cells)
        everyone, m = totals(cells)
        fewer, more = (
            self._floor_at(everyone, m * np.exp(step), cells.missed) for step in (-_STEP, _STEP)
        )
        moved, floor = (fewer - more) / (2.0 * _STEP), self._floor_at(everyone, m, cells.missed)
        above = 1.0 - ratio(self.area(cells) - floor, self.limits[1] - floor)
        return ratio(mean_precision_slope(cells) - moved * above, self.limits[1] - floor)[()]

    def of_ranking(self, ranking: Ranking) -> float:
        """Return the normalised area of the ranking that it was put on."""
        floor, ceiling = self.limits
        return float((self.area_of(ranking) - floor) / (ceiling - floor))

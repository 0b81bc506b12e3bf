"""What can be said where no labelled row is positive: an upper limit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..metrics import Metric
from .designs import Design
from .label_bounds import largest_average_precision
from .labels import KnownLabels
from .sample_limits import SampleEvidence

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class NothingFound:
    """Limits of a metric when every label is negative.

    How many positives there can be: with T of them in a stratum of which the share f was drawn,
    none is drawn with a probability of at most ``(1 - f)**T``, so no stratum allows more than the
    one with the smallest share. Average precision is at most what so many positives at the best
    unlabelled places give; what depends only on counts has limits of its own; nothing is known of
    other metrics.
    """

    scores: Array = field(repr=False)
    known: KnownLabels = field(repr=False)
    design: Design = field(repr=False)
    metric: Metric
    counted: SampleEvidence = field(repr=False)
    count: npt.NDArray[np.int64] | None = field(default=None, repr=False)

    @property
    def estimate(self) -> float:
        """The lower end of the metric."""
        return float(self.metric.bounds[0])

    @property
    def error(self) -> float:
        """There is none."""
        return float("nan")

    def most_positives(self, confidence_level: float) -> int:
        """Return how many positives the population can have."""
        size = np.bincount(self.design.stratum, self.count).astype(np.float64)
        drawn = np.bincount(self.design.stratum[self.known.rows], minlength=size.size)
        cost = -np.log1p(-np.minimum(drawn / size, 1.0 - 1e-12))
        order = np.argsort(cost, kind="stable")
        left, total = -np.log(0.5 * (1.0 - confidence_level)), 0.0
        for price, there in zip(cost[order], (size - drawn)[order], strict=True):
            taken = min(there, left / price)
            left, total = left - taken * price, total + taken
        return int(total)

    def limits(self, confidence_level: float) -> tuple[float, float]:
        """Return 0 and the upper limit."""
        low, high = self.metric.bounds
        if self.metric.thresholds or self.metric.places:
            return float(low), self.counted.limits(confidence_level)[1]
        # Of a population that was only counted the best places are not known.
        if getattr(self.metric, "mean_precision", False) and self.count is None:
            most = self.most_positives(confidence_level)
            high = largest_average_precision(self.scores, self.known, most) if most else 0.0
        return float(low), float(high)

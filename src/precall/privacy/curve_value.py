"""An area read off a private curve, as a value of its own.

Nothing here looks at the data: all of it is post-processing of two noisy histograms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .covering import OF_CURVE_VALUES
from .mechanisms import Noisy
from .private_curve import PrivateCurve

# Noise is added again so often for the standard deviation of a value, which is then good to 10 %.
_RESAMPLES = 50
_LARGEST = 2.0**53


@dataclass(frozen=True)
class CurveArea:
    """Area under the curve of two noisy histograms.

    Attributes
    ----------
    name : str
        Name of the metric.
    kind : {"pr", "roc"}
        The curve that it is the area of.
    edges : tuple of float
        Public edges of the histograms, increasing.
    """

    name: str
    kind: str
    edges: tuple[float, ...]

    @property
    def covers(self) -> Mapping[str, str]:
        """What an interval contains, by what it is about."""
        return OF_CURVE_VALUES

    def curve(
        self, noisy: tuple[Noisy, ...], n_rows: int, *, rows_per_person: int = 1
    ) -> PrivateCurve:
        """The curve of the noisy counts: of the positives, then of the negatives."""
        # Cut off where doubles are whole numbers and sums of them stay within 64 bits.
        values = np.array([count.value for count in noisy])
        counts = np.clip(values, -_LARGEST, _LARGEST).astype(np.int64)
        bins = len(self.edges) - 1
        scale = noisy[0].scale
        return PrivateCurve(
            kind=self.kind,
            edges=np.array(self.edges),
            noisy_positives=counts[:bins],
            noisy_negatives=counts[bins:],
            epsilon=2.0 * rows_per_person / scale,
            delta=0.0,
            mechanism="laplace",
            scale=scale,
            n_rows=n_rows,
            rows_per_person=rows_per_person,
        )

    def value(self, noisy: tuple[Noisy, ...], n_rows: int) -> float:
        """Area under the curve."""
        return self.curve(noisy, n_rows).area()

    def error(self, noisy: tuple[Noisy, ...], n_rows: int) -> float:
        """Standard deviation of the noise in it, from adding noise again; binning is not in it."""
        return self.curve(noisy, n_rows).area_deviation(n_resamples=_RESAMPLES, rng=0)

    def bounds(self, noisy: tuple[Noisy, ...], n_rows: int, error: float) -> tuple[float, float]:
        """Limits of the area of the data, wrong with probability `error` at most."""
        return self._limits(noisy, n_rows, error, 1, "rows")

    def sampled(
        self, noisy: tuple[Noisy, ...], n_rows: int, error: float, rows_per_person: int
    ) -> tuple[float, float]:
        """Limits for the population that rows were drawn from."""
        return self._limits(noisy, n_rows, error, rows_per_person, "population")

    def _limits(
        self, noisy: tuple[Noisy, ...], n_rows: int, error: float, rows_per_person: int, of: str
    ) -> tuple[float, float]:
        curve = self.curve(noisy, n_rows, rows_per_person=rows_per_person)
        interval = curve.area_interval(confidence_level=1.0 - error, of=of)
        return interval.low, interval.high

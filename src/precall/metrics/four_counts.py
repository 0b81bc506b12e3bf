"""Measures of the four counts at a threshold, each written once.

The table of a threshold, the metrics that take a threshold and private releases all read from
here. Every function works element by element on arrays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import _validation
from .._cached import cached_property
from .._numerics import ratio
from ..exceptions import InputError

_NAN = float("nan")


class FourCounts(NamedTuple):
    """True positives, false positives, false negatives and true negatives."""

    tp: Any
    fp: Any
    fn: Any
    tn: Any


class CountMeasure:
    """A number made of the four counts.

    Attributes
    ----------
    bounds : (float, float)
        Its lowest and its highest value.
    lower_is_better : bool
    """

    bounds: tuple[float, float]
    lower_is_better: bool

    def of(self, counts: FourCounts) -> Any:
        """Return the measure; NaN where it has no value."""
        raise NotImplementedError

    def slopes(self, counts: FourCounts) -> tuple[Any, Any]:
        """Return the derivatives by true and by false positives, both classes of fixed size."""
        raise NotImplementedError


@dataclass(frozen=True)
class CountShare(CountMeasure):
    """``rise / (rise + rest)``, both weighted sums of the four counts.

    Attributes
    ----------
    rise, rest : tuple of float
        Weights of tp, fp, fn and tn. No count has a weight in both, so the measure rises in those
        of the first and falls in those of the second.
    """

    rise: tuple[float, float, float, float]
    rest: tuple[float, float, float, float]
    lower_is_better: bool = False
    bounds: tuple[float, float] = (0.0, 1.0)

    def _parts(self, counts: FourCounts) -> tuple[Any, Any]:
        return tuple(
            sum(weight * count for weight, count in zip(weights, counts, strict=True) if weight)
            for weights in (self.rise, self.rest)
        )

    def of(self, counts: FourCounts) -> Any:
        """Return the share; NaN where there is nothing to take a share of."""
        rise, rest = self._parts(counts)
        return divided(rise, rise + rest)

    def slopes(self, counts: FourCounts) -> tuple[Any, Any]:
        """Return the derivatives; a true positive more is a false negative less."""
        rise, rest = self._parts(counts)
        whole = rise + rest
        value = ratio(rise, whole)
        total = [up + down for up, down in zip(self.rise, self.rest, strict=True)]
        pairs = ((0, 2), (1, 3))
        return tuple(  # type: ignore[return-value]
            ratio(self.rise[a] - self.rise[b] - value * (total[a] - total[b]), whole)
            for a, b in pairs
        )

    @cached_property
    def weights(self) -> tuple[float, float] | None:
        """The one weight of all counts of `rise`, and of `rest`; None if they differ.

        With one weight each the measure is a function of a plain share of rows.
        """
        pair = [{weight for weight in part if weight} for part in (self.rise, self.rest)]
        if any(len(found) != 1 for found in pair):
            return None
        return float(pair[0].pop()), float(pair[1].pop())

    def rows(self, counts: FourCounts) -> tuple[Any, Any]:
        """Return how many rows count for it, and how many there are to count."""
        up = sum(count for weight, count in zip(self.rise, counts, strict=True) if weight)
        down = sum(count for weight, count in zip(self.rest, counts, strict=True) if weight)
        return up, up + down

    @property
    def of_one_class(self) -> bool:
        """Whether only positives, or only negatives, are in it."""
        used = [bool(up or down) for up, down in zip(self.rise, self.rest, strict=True)]
        return not (used[0] or used[2]) or not (used[1] or used[3])


@dataclass(frozen=True)
class Combination(CountMeasure):
    """A weighted sum of shares, and a constant."""

    parts: tuple[tuple[float, CountShare], ...]
    bounds: tuple[float, float]
    constant: float = 0.0
    lower_is_better: bool = False

    def of(self, counts: FourCounts) -> Any:
        """Return the sum."""
        return self.constant + sum(weight * share.of(counts) for weight, share in self.parts)

    def slopes(self, counts: FourCounts) -> tuple[Any, Any]:
        """Return the derivatives."""
        by_tp, by_fp = zip(*(share.slopes(counts) for _, share in self.parts), strict=True)
        weights = [weight for weight, _ in self.parts]
        return (
            sum(weight * slope for weight, slope in zip(weights, by_tp, strict=True)),
            sum(weight * slope for weight, slope in zip(weights, by_fp, strict=True)),
        )


@dataclass(frozen=True)
class Correlation(CountMeasure):
    """Matthews correlation; 0 where a row or a column of the table is empty."""

    bounds: tuple[float, float] = (-1.0, 1.0)
    lower_is_better: bool = False

    def of(self, counts: FourCounts) -> Any:
        """``(TPR - FPR) sqrt(n m / (selected rejected))``: no product that overflows."""
        return self._parts(counts)[0]

    def _parts(self, counts: FourCounts) -> tuple[Any, ...]:
        tp, fp, fn, tn = (np.asarray(count, dtype=np.float64) for count in counts)
        n, m, selected, rejected = tp + fn, fp + tn, tp + fp, fn + tn
        # Weights that cancel leave rounding in a column that is empty.
        least = np.minimum(np.minimum(n, m), np.minimum(selected, rejected))
        all_there = least > 1e-12 * (n + m)
        n, m, selected, rejected = (
            np.where(all_there, size, 1.0) for size in (n, m, selected, rejected)
        )
        scale = np.where(all_there, np.sqrt(n / selected * (m / rejected)), 0.0)
        return (tp / n - fp / m) * scale, scale, n, m, selected, rejected

    def slopes(self, counts: FourCounts) -> tuple[Any, Any]:
        """Return the derivatives."""
        value, scale, n, m, selected, rejected = self._parts(counts)
        turn = 0.5 * value * (1.0 / selected - 1.0 / rejected)
        return scale / n - turn, -scale / m - turn


def divided(part: Any, whole: Any) -> Any:
    """Return ``part / whole``, and NaN where the whole is 0."""
    if np.ndim(whole) == 0:  # one ranking: a tenth of the time of arrays
        return float(part) / float(whole) if whole > 0 else _NAN
    return np.where(np.asarray(whole) > 0, ratio(part, whole), _NAN)[()]


#: Shares by the name that a :class:`precall.Confusion` has for them.
SHARES: dict[str, CountShare] = {
    "prevalence": CountShare((1, 0, 1, 0), (0, 1, 0, 1)),
    "accuracy": CountShare((1, 0, 0, 1), (0, 1, 1, 0)),
    "recall": CountShare((1, 0, 0, 0), (0, 0, 1, 0)),
    "false_negative_rate": CountShare((0, 0, 1, 0), (1, 0, 0, 0), lower_is_better=True),
    "false_positive_rate": CountShare((0, 1, 0, 0), (0, 0, 0, 1), lower_is_better=True),
    "specificity": CountShare((0, 0, 0, 1), (0, 1, 0, 0)),
    "precision": CountShare((1, 0, 0, 0), (0, 1, 0, 0)),
    "negative_predictive_value": CountShare((0, 0, 0, 1), (0, 0, 1, 0)),
    "f1": CountShare((2, 0, 0, 0), (0, 1, 1, 0)),
    "jaccard": CountShare((1, 0, 0, 0), (0, 1, 1, 0)),
}


def _of_both_rates(weight: float, constant: float, bounds: tuple[float, float]) -> Combination:
    parts = ((weight, SHARES["recall"]), (weight, SHARES["specificity"]))
    return Combination(parts, bounds, constant)


#: Every measure by the same names.
MEASURES: dict[str, CountMeasure] = {
    **SHARES,
    "balanced_accuracy": _of_both_rates(0.5, 0.0, (0.0, 1.0)),
    "informedness": _of_both_rates(1.0, -1.0, (-1.0, 1.0)),
    "matthews_correlation": Correlation(),
}


def f_beta(share: float) -> CountShare:
    """Return the F-measure in which recall has this share of the harmonic mean."""
    return CountShare((1, 0, 0, 0), (0, 1.0 - share, share, 0))


def recall_share(beta: object) -> float:
    """Weight of recall in the harmonic mean: ``beta**2 / (1 + beta**2)``."""
    number = _validation.as_number(beta, "beta")
    if number < 0:
        raise InputError(f"beta must not be negative, got {beta!r}.")
    return 1.0 if math.isinf(number) else number * number / (1.0 + number * number)

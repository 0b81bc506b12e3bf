"""Every metric of one confusion matrix (Boyd 2014, Table 2.3), from noisy counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..exceptions import InputError
from ..metrics.four_counts import SHARES, f_beta, recall_share
from .covering import NOISE_SHARE, OF_VALUES, with_sampling
from .mechanisms import Noisy

# No count of rows comes near it.
_NO_LIMIT = 2**62
CELLS = ("tp", "fp", "fn", "tn")
CONFUSION_METRICS = (
    "accuracy",
    "recall",
    "false_positive_rate",
    "specificity",
    "precision",
    "negative_predictive_value",
    "f1",
    "f_beta",
)


@dataclass(frozen=True)
class Ratio:
    """A metric that is ``rise / (rise + rest)``, both weighted sums of cells of the matrix.

    Attributes
    ----------
    name : str
        Name of the metric.
    rise, rest : tuple of float
        Weights of tp, fp, fn and tn in the two sums. No cell has a weight in both, so the metric
        rises in the cells of the first and falls in those of the second.
    """

    name: str
    rise: tuple[float, float, float, float]
    rest: tuple[float, float, float, float]

    @property
    def covers(self) -> Mapping[str, str]:
        """What an interval contains, by what it is about."""
        return OF_VALUES

    def value(self, noisy: tuple[Noisy, ...], n_rows: int) -> float:
        """Value of the metric on plausible counts; NaN where its denominator is 0."""
        return self.of(self.counts(noisy, n_rows))

    def counts(self, noisy: tuple[Noisy, ...], n_rows: int) -> list[float]:
        """Noisy counts as they can have been."""
        return plausible(noisy, n_rows)

    def error(self, noisy: tuple[Noisy, ...], n_rows: int) -> float:
        """Standard deviation of the noise in it, to first order."""
        counts = self.counts(noisy, n_rows)
        value = self.of(counts)
        total = _dot(self.rise, counts) + _dot(self.rest, counts)
        if math.isnan(value):
            return math.nan
        slopes = [up - value * (up + down) for up, down in zip(self.rise, self.rest, strict=True)]
        return noisy[0].spread(slopes) / total

    def bounds(self, noisy: tuple[Noisy, ...], n_rows: int, error: float) -> tuple[float, float]:
        """Limits of the metric of the true counts, wrong with probability `error` at most."""
        used = sum(weight > 0 for weight in (*self.rise, *self.rest))
        boxes = [cell.bounds(error / used) for cell in noisy]
        lows = [min(max(low, 0.0), n_rows) for low, _ in boxes]
        highs = [min(max(high, 0.0), n_rows) for _, high in boxes]
        worst = [low if up else high for up, low, high in zip(self.rise, lows, highs, strict=True)]
        best = [high if up else low for up, low, high in zip(self.rise, lows, highs, strict=True)]
        low, high = self.of(worst), self.of(best)
        return (0.0 if math.isnan(low) else low, 1.0 if math.isnan(high) else high)

    def sampled(
        self, noisy: tuple[Noisy, ...], n_rows: int, error: float, rows_per_person: int
    ) -> tuple[float, float]:
        """Limits for the population that rows were drawn from.

        The metric grows with the share of its first cells among all its cells, which is binomial.
        """
        weights = {weight for weight in self.rest if weight}, {w for w in self.rise if w}
        if any(len(distinct) > 1 for distinct in weights):
            raise InputError(
                f"{self.name} with this beta has no interval for the population: it is no share of "
                'one kind of rows. Use of="rows", or f1.'
            )
        (down,), (up,) = weights
        noise = NOISE_SHARE * error
        share = Ratio(self.name, _switched(self.rise), _switched(self.rest))
        used = [i for i, on in enumerate(map(max, share.rise, share.rest)) if on]
        fewest = sum(max(noisy[i].bounds(noise / len(used))[0], 0.0) for i in used)
        low, high = with_sampling(
            *share.bounds(noisy, n_rows, noise), fewest / rows_per_person, error - noise
        )
        return _weighted(low, up, down), _weighted(high, up, down)

    def of(self, counts: Sequence[float]) -> float:
        """Value on given counts; NaN where its denominator is 0."""
        rise = _dot(self.rise, counts)
        total = rise + _dot(self.rest, counts)
        return rise / total if total > 0 else math.nan


class FreeRatio(Ratio):
    """The same where the number of rows is private: it limits no count."""

    def counts(self, noisy: tuple[Noisy, ...], n_rows: int) -> list[float]:
        """Noisy counts, none below 0."""
        return [max(cell.value, 0.0) for cell in noisy]

    def bounds(self, noisy: tuple[Noisy, ...], n_rows: int, error: float) -> tuple[float, float]:
        """Limits of the metric of the true counts, wrong with probability `error` at most."""
        return super().bounds(noisy, _NO_LIMIT, error)

    def sampled(
        self, noisy: tuple[Noisy, ...], n_rows: int, error: float, rows_per_person: int
    ) -> tuple[float, float]:
        """Limits for the population that rows were drawn from."""
        return super().sampled(noisy, _NO_LIMIT, error, rows_per_person)


def ratio(metric: str, *, beta: float = 1.0, free: bool = False) -> Ratio:
    """Return a metric of the confusion matrix by its name.

    Parameters
    ----------
    metric : str
        One of :data:`CONFUSION_METRICS`.
    beta : float, default 1.0
        Weight of recall in ``f_beta``.
    free : bool, default False
        Whether the number of rows is private.

    Examples
    --------
    >>> ratio("precision")
    Ratio(name='precision', rise=(1, 0, 0, 0), rest=(0, 1, 0, 0))
    """
    if metric not in CONFUSION_METRICS:
        raise InputError(f"metric must be one of {', '.join(CONFUSION_METRICS)}, got {metric!r}.")
    if not 0.0 < beta < math.inf:
        raise InputError(f"beta must be a finite number above 0, got {beta!r}.")
    share = f_beta(recall_share(beta)) if metric == "f_beta" else SHARES[metric]
    return (FreeRatio if free else Ratio)(metric, share.rise, share.rest)


def plausible(noisy: tuple[Noisy, ...], n_rows: int) -> list[float]:
    """Noisy counts made to add up to the public number of rows, none below 0.

    The nearest such counts: what is missing is spread evenly over the cells that stay above 0.
    """
    counts = sorted((cell.value for cell in noisy), reverse=True)
    for used in range(len(counts), 0, -1):
        shift = (n_rows - sum(counts[:used])) / used
        if counts[used - 1] + shift >= 0:
            break
    return [max(cell.value + shift, 0.0) for cell in noisy]


def _switched(weights: Sequence[float]) -> tuple[float, float, float, float]:
    one, two, three, four = (float(weight > 0) for weight in weights)
    return one, two, three, four


def _weighted(share: float, up: float, down: float) -> float:
    return up * share / (up * share + down * (1.0 - share))


def _dot(weights: Sequence[float], counts: Sequence[float]) -> float:
    return sum(weight * count for weight, count in zip(weights, counts, strict=True))

"""Average precision and AUROC through statistics that every row moves by about one.

Neither metric can be released well as it is: one row among few positives moves it far, and how
many positives there are is itself private. But a rescaled metric has a small *global* sensitivity,
so plain Laplace noise does; a noisy number of positives then turns it back. Proofs: ``PROOFS.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from ..exceptions import InputError
from ..ranking import Ranking
from ._ledger import Amount, exact
from ._persons import MOST_ROWS
from .covering import NOISE_SHARE, OF_VALUES, with_sampling
from .mechanisms import (
    Noise,
    Noisy,
    add_to_count,
    add_to_real,
    grid_sensitivity,
    pair_sensitivity,
)
from .sensitivity import AUROC_LABEL_CHANGE, AUROC_SAME_LABEL, auroc_weight, lost_precision_bound

# Share of an average precision's epsilon for the statistic; the rest is for the positives.
_STATISTIC_SHARE = Fraction(85, 100)
# The same for the two statistics of a comparison: a difference depends little on the positives.
_PAIR_SHARE = Fraction(9, 10)
# Share of an interval's error for the statistic; the rest is for the positives.
_ERROR_SHARE = 0.8


class PairedForm(Protocol):
    """What a comparison of two models asks of a metric: ``metric = centre + statistic gain(n)``."""

    @property
    def name(self) -> str:
        """Name of the metric."""
        ...

    @property
    def centre(self) -> float:
        """Value of the metric where the statistic is 0."""
        ...

    def exact(self, ranking: Ranking) -> float:
        """The statistic of the rows, which one row moves by at most 1."""
        ...

    def inside(self, n_pos: float, n_rows: int) -> int:
        """A number of positives for which there is a metric, nearest to a noisy one."""
        ...

    def gain(self, n_pos: int, n_rows: int) -> float:
        """How much of the metric one of the statistic is."""
        ...

    def gains(self, few: float, many: float, n_rows: int) -> list[float]:
        """Gains that include the least and the largest between two numbers of positives."""
        ...

    def deciding(self, few: float, many: float, n_rows: int) -> float:
        """Fewest rows that the metric's sampling error depends on."""
        ...

    def pair_shares(self, n_rows: int, epsilon: Amount) -> tuple[Fraction, Fraction]:
        """Scale of the noise in sum and difference, in grid steps, and epsilon of the positives."""
        ...


@dataclass(frozen=True)
class AveragePrecision:
    """Average precision from the rescaled lost precision and the number of positives."""

    name: str = "average_precision"

    centre: float = 1.0

    @property
    def covers(self) -> Mapping[str, str]:
        """What an interval contains, by what it is about."""
        return OF_VALUES

    def release(self, ranking: Ranking, *, epsilon: Amount, noise: Noise) -> tuple[Noisy, ...]:
        """Release ``n (1 - AP) / L(n)`` and the number of positives `n`."""
        n_rows = row_count(ranking)
        return self.add_noise(self.exact(ranking), int(ranking.n_pos), n_rows, epsilon, noise)

    def exact(self, ranking: Ranking) -> float:
        """The statistic of the rows, which one row moves by at most 1."""
        return lost_precision(ranking) / float(lost_precision_bound(ranking.n_pos))

    def inside(self, n_pos: float, n_rows: int) -> int:
        """A number of positives for which there is a metric."""
        return _inside(n_pos, 1, n_rows)

    def gain(self, n_pos: int, n_rows: int) -> float:
        """How much of the metric one of the statistic is."""
        return -float(lost_precision_bound(n_pos)) / n_pos

    def gains(self, few: float, many: float, n_rows: int) -> list[float]:
        """Gains at both ends: they rise in between."""
        return [self.gain(self.inside(count, n_rows), n_rows) for count in (few, many)]

    def deciding(self, few: float, many: float, n_rows: int) -> float:
        """The fewest positives."""
        return few

    def pair_shares(self, n_rows: int, epsilon: Amount) -> tuple[Fraction, Fraction]:
        """What noise the two statistics and the positives get."""
        share = _PAIR_SHARE * exact(epsilon)
        return pair_sensitivity(2.0, n_rows) / share, exact(epsilon) - share

    def statistic(self, value: float, n_pos: int, n_rows: int) -> float:
        """What would be released of rows with this average precision."""
        return float(n_pos * (1.0 - value) / lost_precision_bound(n_pos))

    def add_noise(
        self, statistic: float, n_pos: int, n_rows: int, epsilon: Amount, noise: Noise
    ) -> tuple[Noisy, ...]:
        """Add noise to both numbers."""
        share = _STATISTIC_SHARE * exact(epsilon)
        return (
            add_to_real(statistic, sensitivity=1.0, epsilon=share, n_rows=n_rows, noise=noise),
            add_to_count(n_pos, sensitivity=1.0, epsilon=exact(epsilon) - share, noise=noise),
        )

    def value(self, noisy: tuple[Noisy, ...], n_rows: int) -> float:
        """Turn the two numbers back into an average precision."""
        statistic, positives = noisy
        n_pos = _inside(positives.value, 1, n_rows)
        return _unit(1.0 - statistic.value * lost_precision_bound(n_pos) / n_pos)

    def error(self, noisy: tuple[Noisy, ...], n_rows: int) -> float:
        """Standard deviation of the noise in it, to first order."""
        statistic, positives = noisy
        n_pos = _inside(positives.value, 1, n_rows)
        lost = 1.0 - self.value(noisy, n_rows)
        spread = math.hypot(lost_precision_bound(n_pos) * statistic.scale, lost * positives.scale)
        return math.sqrt(2.0) * spread / n_pos

    def bounds(self, noisy: tuple[Noisy, ...], n_rows: int, error: float) -> tuple[float, float]:
        """Limits of the average precision of the data, wrong with probability `error` at most."""
        (low, high), (fewest, most) = _boxes(noisy, error)
        # Noise can put both limits of the count beyond all rows.
        few, many = (_inside(limit, 1, n_rows) for limit in (fewest, most))
        lowest = 0.0
        if fewest >= 1:  # without positives the metric is 0 by convention
            lowest = 1.0 - max(high, 0.0) * lost_precision_bound(few) / few
        return _unit(lowest), _unit(1.0 - max(low, 0.0) * lost_precision_bound(many) / many)

    def sampled(
        self, noisy: tuple[Noisy, ...], n_rows: int, error: float, rows_per_person: int
    ) -> tuple[float, float]:
        """Limits for the population that rows were drawn from."""
        noise = NOISE_SHARE * error
        fewest = _boxes(noisy, noise)[1][0] / rows_per_person
        return with_sampling(*self.bounds(noisy, n_rows, noise), fewest, error - noise)


@dataclass(frozen=True)
class Auroc:
    """AUROC from its rescaled distance to one half and the number of positives."""

    name: str = "auroc"

    centre: float = 0.5

    @property
    def covers(self) -> Mapping[str, str]:
        """What an interval contains, by what it is about."""
        return OF_VALUES

    def release(self, ranking: Ranking, *, epsilon: Amount, noise: Noise) -> tuple[Noisy, ...]:
        """Release ``h(n) (AUROC - 1/2)`` and the number of positives `n`."""
        n_rows = row_count(ranking)
        return self.add_noise(self.exact(ranking), int(ranking.n_pos), n_rows, epsilon, noise)

    def exact(self, ranking: Ranking) -> float:
        """The statistic of the rows, which one row moves by at most 1."""
        return float(auroc_weight(ranking.n_pos, row_count(ranking))) * centred_auroc(ranking)

    def inside(self, n_pos: float, n_rows: int) -> int:
        """A number of positives for which there is a metric."""
        return _inside(n_pos, 1, max(n_rows - 1, 1))

    def gain(self, n_pos: int, n_rows: int) -> float:
        """How much of the metric one of the statistic is."""
        return 1.0 / float(auroc_weight(n_pos, n_rows)) if n_rows > 1 else 0.0

    def gains(self, few: float, many: float, n_rows: int) -> list[float]:
        """Gains at both ends and in the middle of the rows, where they are least."""
        ends = [self.inside(count, n_rows) for count in (few, many)]
        return [self.gain(n, n_rows) for n in (*ends, min(max(ends[0], n_rows // 2), ends[1]))]

    def deciding(self, few: float, many: float, n_rows: int) -> float:
        """The fewest rows of the smaller class."""
        return min(few, n_rows - many)

    def pair_shares(self, n_rows: int, epsilon: Amount) -> tuple[Fraction, Fraction]:
        """What noise the two statistics and the positives get; a label change saves some."""
        same = pair_sensitivity(2.0 * AUROC_SAME_LABEL, n_rows)
        changed = pair_sensitivity(2.0 * AUROC_LABEL_CHANGE, n_rows)
        return same / exact(epsilon), exact(epsilon) * (1 - Fraction(changed, same))

    def statistic(self, value: float, n_pos: int, n_rows: int) -> float:
        """What would be released of rows with this AUROC."""
        return float(auroc_weight(n_pos, n_rows) * (value - 0.5))

    def add_noise(
        self, statistic: float, n_pos: int, n_rows: int, epsilon: Amount, noise: Noise
    ) -> tuple[Noisy, ...]:
        """Add noise to both numbers.

        A row that keeps its label moves only the first. A row that changes it moves the first by
        less, and what that saves is spent on the second.
        """
        same = grid_sensitivity(AUROC_SAME_LABEL, n_rows)
        changed = grid_sensitivity(AUROC_LABEL_CHANGE, n_rows)
        share = exact(epsilon) * (1 - Fraction(changed, same))
        return (
            add_to_real(
                statistic,
                sensitivity=AUROC_SAME_LABEL,
                epsilon=epsilon,
                n_rows=n_rows,
                noise=noise,
            ),
            add_to_count(n_pos, sensitivity=1.0, epsilon=share, noise=noise),
        )

    def value(self, noisy: tuple[Noisy, ...], n_rows: int) -> float:
        """Turn the two numbers back into an AUROC."""
        if n_rows < 2:
            return 0.5
        statistic, positives = noisy
        n_pos = _inside(positives.value, 1, n_rows - 1)
        return _unit(0.5 + statistic.value / auroc_weight(n_pos, n_rows))

    def error(self, noisy: tuple[Noisy, ...], n_rows: int) -> float:
        """Standard deviation of the noise in it, to first order."""
        if n_rows < 2:
            return 0.0
        statistic, positives = noisy
        n_pos = _inside(positives.value, 1, n_rows - 1)
        slope = (auroc_weight(n_pos + 1, n_rows) - auroc_weight(n_pos - 1, n_rows)) / 2.0
        centred = self.value(noisy, n_rows) - 0.5
        spread = math.hypot(statistic.scale, centred * slope * positives.scale)
        return math.sqrt(2.0) * spread / float(auroc_weight(n_pos, n_rows))

    def bounds(self, noisy: tuple[Noisy, ...], n_rows: int, error: float) -> tuple[float, float]:
        """Limits of the AUROC of the data, wrong with probability `error` at most.

        They presume that the data have both classes: otherwise there is no AUROC to cover.
        """
        (low, high), (fewest, most) = _boxes(noisy, error)
        fewest, most = max(fewest, 1.0), min(most, n_rows - 1.0)
        if fewest > most:
            return 0.0, 1.0
        # The weight rises up to one half of the rows and falls after.
        top = min(max(fewest, n_rows // 2), most)
        weights = [auroc_weight(count, n_rows) for count in (fewest, most, top)]
        ratios = [limit / weight for limit in (low, high) for weight in weights]
        return _unit(0.5 + min(ratios)), _unit(0.5 + max(ratios))

    def sampled(
        self, noisy: tuple[Noisy, ...], n_rows: int, error: float, rows_per_person: int
    ) -> tuple[float, float]:
        """Limits for the population that rows were drawn from."""
        noise = NOISE_SHARE * error
        few, many = _boxes(noisy, noise)[1]
        fewest = min(few, n_rows - many) / rows_per_person
        return with_sampling(*self.bounds(noisy, n_rows, noise), fewest, error - noise)


PAIRED: dict[str, PairedForm] = {"average_precision": AveragePrecision(), "auroc": Auroc()}


def row_count(ranking: Ranking) -> int:
    """Public number of rows."""
    return check_rows(int(ranking.n_pos) + int(ranking.n_neg))


def check_rows(n_rows: int) -> int:
    """Refuse a public number of rows that the proofs do not cover."""
    if n_rows > MOST_ROWS:
        raise InputError(f"a private release is made for at most {MOST_ROWS} rows, got {n_rows}.")
    return n_rows


def lost_precision(ranking: Ranking) -> float:
    """``n (1 - AP)``: one minus precision, summed over the positives."""
    return float(np.sum(ranking.positives * (ranking.fp / (ranking.tp + ranking.fp))))


def centred_auroc(ranking: Ranking) -> float:
    """``AUROC - 1/2``, from an exact count of misplaced pairs; 0 if a class is empty."""
    pairs = int(ranking.n_pos) * int(ranking.n_neg)
    if pairs == 0:
        return 0.0
    # At most n_rows**2 / 2, which fits an int64 for as many rows as row_count allows.
    misplaced_twice = int(ranking.positives @ (2 * ranking.fp - ranking.tied))
    return (pairs - misplaced_twice) / (2 * pairs)


def _boxes(
    noisy: tuple[Noisy, ...], error: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    statistic, positives = noisy
    return statistic.bounds(_ERROR_SHARE * error), positives.bounds((1.0 - _ERROR_SHARE) * error)


def _inside(value: float, low: int, high: int) -> int:
    return int(min(max(value, low), high))


def _unit(value: float) -> float:
    return float(min(max(value, 0.0), 1.0))

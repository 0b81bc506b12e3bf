"""What slices give: a metric in every slice, the worst of them, and what is certain about it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._interval import Interval
from .._notebook import Rich
from .._result_frame import columns_of
from .._words import plural
from ..exceptions import InputError
from ..inference.simultaneous import level_of

# Prevalences within this factor of each other are taken as alike.
_ALIKE = 2.0
# Standard errors beyond which the largest of some differences is not taken for chance.
_BY_CHANCE = 3.0


@dataclass(frozen=True, kw_only=True, repr=False)
class Slice(Rich):
    """One slice of the rows.

    Attributes
    ----------
    levels : mapping
        From column to level; several columns in a crossing.
    n_rows, n_pos, n_neg : int
        Rows, positive and negative ones.
    prevalence : float
        Its own share of positives (of their weight).
    too_small : bool
        Whether there are too few rows of a class to say anything; then there is nothing below.
    interval : Interval, optional
        The metric at the common prevalence, with limits that hold for all slices at once.
    difference : Interval, optional
        The metric here minus that of all other rows, limits as above; None where the rest is too
        small.
    p_value, unadjusted_p_value : float, optional
        Of no difference from the rest, two-sided; adjusted for the number of slices by Holm's
        method.
    """

    levels: Mapping[str, str]
    n_rows: int
    n_pos: int
    n_neg: int
    prevalence: float
    too_small: bool
    interval: Interval | None = None
    difference: Interval | None = None
    p_value: float | None = None
    unadjusted_p_value: float | None = None

    @property
    def name(self) -> str:
        """Columns with their levels, such as ``country=DE, device=phone``."""
        return ", ".join(f"{column}={level}" for column, level in self.levels.items())

    @property
    def estimate(self) -> float:
        """The metric at the common prevalence; NaN in a slice that is too small."""
        return float("nan") if self.interval is None else self.interval.estimate

    def __repr__(self) -> str:
        """Return one line."""
        if self.interval is None:
            return f"Slice({self.name}: {self.n_pos} of {self.n_rows} rows positive, too small)"
        return (
            f"Slice({self.name}: {self.estimate:.4g}, low={self.interval.low:.4g}, "
            f"high={self.interval.high:.4g}, {self.n_pos} of {self.n_rows} rows positive)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "name": self.name,
            "levels": dict(self.levels),
            "n_rows": self.n_rows,
            "n_pos": self.n_pos,
            "n_neg": self.n_neg,
            "prevalence": self.prevalence,
            "too_small": self.too_small,
            **_ends(self.interval, ("estimate", "low", "high")),
            **_ends(self.difference, ("difference", "difference_low", "difference_high")),
            "p_value": self.p_value,
            "unadjusted_p_value": self.unadjusted_p_value,
        }


def _ends(interval: Interval | None, names: tuple[str, str, str]) -> dict[str, float | None]:
    if interval is None:
        return dict.fromkeys(names)
    return dict(zip(names, (interval.estimate, interval.low, interval.high), strict=True))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Slices(Rich):
    """A metric in every slice of the rows, at one prevalence.

    Iterate over it to get every :class:`Slice` that was large enough, the lowest metric first.

    Attributes
    ----------
    metric : str
        In the words of :func:`precall.metrics.parse`.
    title : str
        What the metric is called in tables.
    by : tuple of str
        The columns.
    depth : int
        How many of them were crossed at most.
    model : str
    prevalence : float
        The prevalence at which all slices are compared.
    method : str
        The interval rule.
    confidence_level : float
        Probability that all intervals hold at once.
    critical_value : float
        Standard errors from an estimate to its limits, to which that leads; None without slices.
    min_positives : int
        Rows of each class that a slice needs.
    slices : tuple of Slice
        Those that were large enough, the lowest metric first.
    too_small : tuple of Slice
        The others.
    with_prevalence : bool
        Whether the metric of all rows depends on how prevalences differ between slices.
    """

    metric: str
    title: str
    by: tuple[str, ...]
    depth: int
    model: str
    prevalence: float
    method: str
    confidence_level: float
    critical_value: float | None
    min_positives: int
    slices: tuple[Slice, ...]
    too_small: tuple[Slice, ...]
    with_prevalence: bool = field(default=True, repr=False)

    @property
    def pointwise_level(self) -> float | None:
        """The level of each interval by itself, ``1 - 2 Phi(-c)``; None without slices."""
        return None if self.critical_value is None else level_of(self.critical_value)

    @property
    def worst(self) -> Slice | None:
        """The slice with the lowest metric; None if all are too small."""
        return self.slices[0] if self.slices else None

    @property
    def below(self) -> tuple[Slice, ...]:
        """Slices shown to be worse than the rest: their adjusted p-value is below 1 - level."""
        return tuple(one for one, difference in self._shown if difference < 0)

    @property
    def above(self) -> tuple[Slice, ...]:
        """Slices shown to be better than the rest."""
        return tuple(one for one, difference in self._shown if difference > 0)

    @property
    def _shown(self) -> list[tuple[Slice, float]]:
        """Slices with an adjusted p-value below 1 - level, and their differences."""
        alpha = 1.0 - self.confidence_level
        return [
            (one, one.difference.estimate)
            for one in self.slices
            if one.difference is not None and one.p_value is not None and one.p_value <= alpha
        ]

    @property
    def lowest(self) -> Interval | None:
        """Limits of the lowest metric that any of the slices truly has.

        Both hold with the confidence of all intervals: no slice is below the lowest of the lower
        limits, and one is below the lowest of the upper ones.
        """
        intervals = [one.interval for one in self.slices if one.interval is not None]
        if not intervals:
            return None
        return Interval(
            estimate=intervals[0].estimate,
            low=min(interval.low for interval in intervals),
            high=min(interval.high for interval in intervals),
            confidence_level=self.confidence_level,
            method=intervals[0].method,
        )

    def of(self, **levels: object) -> Slice:
        """Return the slice of these levels, too small or not: ``result.of(country="DE")``."""
        wanted = {column: str(level) for column, level in levels.items()}
        for one in (*self.slices, *self.too_small):
            if dict(one.levels) == wanted:
                return one
        shown = ", ".join(f"{column}={level}" for column, level in wanted.items())
        raise InputError(f"there is no slice {shown!r}: see to_frame() for those there are.")

    @property
    def statement(self) -> str:
        """What is certain about the worst slice, in words; it was looked for, and still holds."""
        worst = self.worst
        if worst is None or worst.interval is None:
            return (
                f"All {plural(len(self.too_small), 'slice')} have fewer than {self.min_positives} "
                "rows of a class: nothing is said about them."
            )
        level = f"{100 * self.confidence_level:.6g} %"
        return (
            f"The lowest {self.title} at prevalence {self.prevalence:.3g} is that of {worst.name}: "
            f"{_limits(worst.interval)}. With {level} confidence the limits of all "
            f"{plural(len(self.slices), 'slice')} hold at once, so they hold for the one that was "
            f"picked. {self._against_the_rest(worst)}"
        )

    def _against_the_rest(self, worst: Slice) -> str:
        others = [one for one in self.below if one is not worst]
        found = f"in all, {plural(len(self.below), 'slice')} are shown to be worse than the rest."
        if worst.difference is None or worst.p_value is None:
            return "It was not compared with the rest."
        by = f"(difference {_limits(worst.difference)}, p = {worst.p_value:.2g} adjusted)"
        if worst in self.below:
            return f"It is worse than the rest {by}{'; ' + found if others else '.'}"
        opening = f"It is not shown to be worse than the rest {by}"
        return f"{opening}; {found}" if others else f"{opening}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before believing the metric of all rows."""
        levels = [one for one in self.slices if len(one.levels) == 1]
        if not levels or not self.with_prevalence:
            return ()
        low = min(levels, key=lambda one: one.prevalence)
        high = max(levels, key=lambda one: one.prevalence)
        if not _differ(low, high):
            return ()
        sentence = (
            f"Prevalence differs between slices, from {low.prevalence:.3g} ({low.name}) to "
            f"{high.prevalence:.3g} ({high.name}). AUCPR of the whole rewards high-prevalence "
            "slices: an improvement there counts more than the same one elsewhere (McDermott et "
            "al. 2024). Choose between models by the slices at one prevalence, as here."
        )
        return (sentence,)

    def __len__(self) -> int:
        """Return how many slices were large enough."""
        return len(self.slices)

    def __iter__(self) -> Iterator[Slice]:
        """Yield the slices that were large enough, the lowest metric first."""
        return iter(self.slices)

    def __repr__(self) -> str:
        """Return one line."""
        small = f", {len(self.too_small)} too small" if self.too_small else ""
        lowest = ""
        if self.worst is not None and self.worst.interval is not None:
            lowest = f", lowest {self.worst.name} {_limits(self.worst.interval)}"
        return (
            f"Slices({self.metric} at prevalence {self.prevalence:.3g}: "
            f"{plural(len(self.slices), 'slice')} by {', '.join(self.by)}{lowest}{small})"
        )

    def plot(self, ax: Any = None, *, most: int = 40) -> Any:
        """Draw the `most` slices with the lowest metric, limits and all, and return the Axes.

        Those shown to be worse or better than the rest are drawn in their own colours.
        """
        from ..display.slices_plot import plot_slices

        return plot_slices(self, ax, most=most)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; slices that are too small come last and have no estimate."""
        return {
            "metric": self.metric,
            "model": self.model,
            "by": list(self.by),
            "depth": self.depth,
            "prevalence": self.prevalence,
            "method": self.method,
            "confidence_level": self.confidence_level,
            "critical_value": self.critical_value,
            "min_positives": self.min_positives,
            "statement": self.statement,
            "notes": list(self.notes),
            "worst": None if self.worst is None else self.worst.name,
            "below": [one.name for one in self.below],
            "slices": [one.to_dict() for one in (*self.slices, *self.too_small)],
        }

    def _table(self) -> dict[str, list[Any]]:
        def row(one: Slice) -> dict[str, Any]:
            plain = one.to_dict()
            del plain["levels"]
            return {**{column: one.levels.get(column) for column in self.by}, **plain}

        return columns_of(row(one) for one in (*self.slices, *self.too_small))

    def _facts(self) -> dict[str, Any]:
        return {
            "statement": self.statement,
            **({"notes": list(self.notes)} if self.notes else {}),
            "slices": {
                one.name: f"{_limits(one.interval)}, {one.n_pos} of {one.n_rows} positive"
                for one in self.slices[:_MOST_SHOWN]
                if one.interval is not None
            },
            "more": max(len(self.slices) - _MOST_SHOWN, 0),
            "too small": len(self.too_small),
        }


def _differ(low: Slice, high: Slice) -> bool:
    """Whether prevalences differ, by more than a factor and by more than chance.

    The logarithm of a ratio of two shares has about the variance ``1/n_1 + 1/n_2``.
    """
    if high.prevalence <= _ALIKE * low.prevalence:
        return False
    error = math.sqrt(1.0 / low.n_pos + 1.0 / high.n_pos)
    return math.log(high.prevalence / low.prevalence) > _BY_CHANCE * error


# Rows that a notebook shows.
_MOST_SHOWN = 30


def _limits(interval: Interval) -> str:
    shown = f"{interval.estimate:.3g} ({interval.low:.3g} to {interval.high:.3g})"
    return shown.replace("-", "\N{MINUS SIGN}")

"""What a private release gives back: a number, its cost, and how far noise may have moved it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from .._interval import Interval
from .._notebook import Rich
from .._validation import as_choice, as_fraction
from .mechanisms import Noisy


class NoisyMetric(Protocol):
    """How a metric follows from noisy statistics. None of this looks at the data."""

    @property
    def name(self) -> str:
        """Name of the metric."""
        ...

    @property
    def covers(self) -> Mapping[str, str]:
        """What an interval contains, by what it is about."""
        ...

    def value(self, noisy: tuple[Noisy, ...], n_rows: int) -> float:
        """Best value."""
        ...

    def error(self, noisy: tuple[Noisy, ...], n_rows: int) -> float:
        """Standard deviation of the noise in it, to first order."""
        ...

    def bounds(self, noisy: tuple[Noisy, ...], n_rows: int, error: float) -> tuple[float, float]:
        """Limits that miss the metric of the data with probability `error` at most."""
        ...

    def sampled(
        self, noisy: tuple[Noisy, ...], n_rows: int, error: float, rows_per_person: int
    ) -> tuple[float, float]:
        """Limits for the population that rows were drawn from, wrong as rarely."""
        ...


def mark(seeded: bool) -> str:
    """What the one-line form of a release says of its noise."""
    return ", seeded: not private" if seeded else ""


def persons_mark(rows_per_person: int, n_persons: int | None) -> str:
    """What the one-line form of a release says of who is protected, if that is no single row."""
    if n_persons is not None:
        return f", {n_persons} persons"
    return f", rows_per_person={rows_per_person}" if rows_per_person > 1 else ""


@dataclass(frozen=True, kw_only=True, repr=False)
class PrivateValue(Rich):
    """A metric released with noise. Everything in it was paid for: it may be published as it is.

    Attributes
    ----------
    value : float
        The released value.
    epsilon, delta : float
        What it cost.
    mechanism : str
        How it was made.
    scale : float
        Standard deviation of the noise in `value`, to first order and computed from the release
        itself.
    metric : NoisyMetric
        What it is a value of.
    n_rows : int
        Public number of rows.
    noisy : tuple of Noisy
        The noisy statistics that the value was computed from.
    seeded : bool
        Whether the noise came from a seed: then the value is for simulation, and not private.
    rows_per_person : int
        How many rows of one person are protected together.
    n_persons : int or None
        Public number of persons, if rows were drawn from each.
    """

    value: float
    epsilon: float
    delta: float
    mechanism: str
    scale: float
    metric: NoisyMetric
    n_rows: int
    noisy: tuple[Noisy, ...]
    seeded: bool = False
    rows_per_person: int = 1
    n_persons: int | None = None

    def interval(self, *, confidence_level: float = 0.95, of: str = "rows") -> Interval:
        """Interval for the metric, given the release: it costs nothing more.

        Parameters
        ----------
        confidence_level : float, default 0.95
            Probability of covering.
        of : {"rows", "population"}
            "rows" covers the metric of these rows, what would have been released without noise: the
            probability is over the noise only. Read off a curve, it allows for every order of the
            rows within the bins. "population" covers the metric of the population
            that the rows were drawn from, one by one (or by persons): noise and sampling together,
            with the score interval of a binomial share, whose variance is an upper bound for
            the AUROC and an approximation for average precision. It is measured in the
            documentation.

        Returns
        -------
        Interval
        """
        level = as_fraction(confidence_level, "confidence_level")
        method = self.metric.covers[as_choice(of, "of", self.metric.covers)]
        if of == "rows":
            low, high = self.metric.bounds(self.noisy, self.n_rows, 1.0 - level)
        else:
            low, high = self.metric.sampled(
                self.noisy, self.n_rows, 1.0 - level, self.rows_per_person
            )
        return Interval(
            low=low, high=high, estimate=self.value, confidence_level=level, method=method
        )

    def __float__(self) -> float:
        """Return the value."""
        return self.value

    def __repr__(self) -> str:
        """Return one line."""
        return (
            f"PrivateValue({self.metric.name}={self.value:.4g} ± {self.scale:.2g}, "
            f"epsilon={self.epsilon:.6g}, delta={self.delta:.6g}, mechanism={self.mechanism!r}"
            f"{persons_mark(self.rows_per_person, self.n_persons)}{mark(self.seeded)})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary of what may be published."""
        numbers = ("value", "epsilon", "delta", "mechanism", "scale", "n_rows", "seeded")
        names = (*numbers, "rows_per_person", "n_persons")
        return {"metric": self.metric.name, **{name: getattr(self, name) for name in names}}

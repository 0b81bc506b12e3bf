"""How many rows it takes to show that one model is better than another."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._notebook import Rich
from .._words import plural
from ..exceptions import InputError, PrecallWarning
from ..inference.influence import sample_factor
from ..inference.units import contributions, covariance_of
from ..metrics import Metric, as_metric
from ..metrics.registry import title_of
from ..rows import Rows
from .expected import bisected, distance_of_aucpr, distance_of_auroc
from .sizes import FEWEST, smallest

FloatArray = npt.NDArray[np.float64]

# Rows that stand in for a pilot: positives, and negatives at most.
_DRAWN = (2_000, 200_000)
_SEED = 20140
_SHOWN, _AROUND = 25, 10.0


@dataclass(frozen=True, kw_only=True, repr=False)
class Power(Rich):
    """The chance to show a difference with a number of rows.

    Attributes
    ----------
    power : float
        Probability that the comparison rejects "no difference" at `confidence_level`.
    difference : float
        The true difference of the two models.
    positives, negatives, rows : int
    standard_error : float
        Of the difference, with that many rows.
    metric : str
    prevalence, confidence_level : float
    sizes, powers : arrays
        Numbers of rows around the answer, and their power: what `plot` shows.
    assumption : str
        What the answer rests on, in words.
    """

    power: float
    difference: float
    positives: int
    negatives: int
    rows: int
    standard_error: float
    metric: str
    prevalence: float
    confidence_level: float
    sizes: FloatArray
    powers: FloatArray
    assumption: str

    @property
    def message(self) -> str:
        """The answer in words."""
        return (
            f"{plural(self.rows, 'row')} with {plural(self.positives, 'positive')} show a "
            f"difference of {self.difference:.3g} in {title_of(self.metric)} with a probability of "
            f"{100 * self.power:.3g} % at the {100 * self.confidence_level:.6g} % level, if "
            f"{self.assumption}."
        )

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw the power over the number of rows with matplotlib and return the Axes."""
        from ..display.planning_plots import plot_power

        return plot_power(self, ax=ax, **style)

    def __repr__(self) -> str:
        """Return one line."""
        return (
            f"Power({self.power:.4g} to show {self.difference:.4g} in {self.metric} with "
            f"{self.rows} rows, {self.positives} positive, {100 * self.confidence_level:.6g} %)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("sizes", "powers"):
            plain[name] = plain[name].tolist()
        return plain | {"message": self.message}

    def _table(self) -> dict[str, Any]:
        return {"rows": self.sizes, "positives": self.prevalence * self.sizes, "power": self.powers}


class _Noise(NamedTuple):
    """The variance of a difference, for one positive and for one negative."""

    positive: float
    negative: float
    prevalence: float
    words: str

    def error(self, rows: float) -> float:
        """Return the standard error of the difference with so many rows."""
        n, m = rows * self.prevalence, rows * (1.0 - self.prevalence)
        return math.sqrt(self.positive / n + self.negative / m)

    def power(self, difference: float, rows: float, level: float) -> float:
        """Return the probability to reject, by a t test with the positives less one."""
        from scipy.special import ndtr

        standardised = difference / self.error(rows)
        cut = _critical(rows * self.prevalence, level)
        return float(ndtr(standardised - cut) + ndtr(-standardised - cut))


def power(
    *,
    difference: float | None = None,
    rows: int | None = None,
    power: float | None = None,
    pilot: Any = None,
    candidate: str | None = None,
    baseline: str | None = None,
    metric: Metric | type[Metric] | str = "aucpr",
    prevalence: float | None = None,
    aucpr: float | None = None,
    auroc: float | None = None,
    correlation: float = 0.5,
    confidence_level: float = 0.95,
) -> Power:
    """Return the power of a comparison of two models, or what it takes to have it.

    Give two of `difference`, `rows` and `power`, and the third is the answer. The comparison is
    that of :func:`precall.compare` on the same rows, by influence values: its variance is
    ``v_1/n + v_0/m`` with ``n`` positives and ``m`` negatives, and `v_1` and `v_0` are those of the
    pilot.

    Parameters
    ----------
    difference : float, optional
        The true difference, or the smallest one that matters.
    rows : int, optional
        Number of rows.
    power : float, optional
        Probability to show the difference; 0.8 if only one of the three is given.
    pilot : Rows, optional
        Rows with both models' scores.
    candidate, baseline : str, optional
        Which models of the pilot, where it has more than two.
    metric : Metric or str, default "aucpr"
        With influence values.
    prevalence : float, optional
        Share of positives among the rows to come; that of the pilot if not given.
    aucpr, auroc : float, optional
        Without a pilot: the area of the worse model. Scores are then taken as normal, with equal
        spread in both classes.
    correlation : float, default 0.5
        Without a pilot: of the two models' scores within a class. Models that agree more differ
        less by chance.
    confidence_level : float, default 0.95

    Examples
    --------
    >>> import precall as pr
    >>> example = pr.load_example()
    >>> rows = pr.Rows(example.label, example.scores)
    >>> plan = pr.planning.power(difference=0.1, power=0.9, pilot=rows)
    >>> again = pr.planning.power(difference=0.1, rows=plan.rows, pilot=rows)
    >>> round(again.power, 2)
    0.9
    """
    what, level = as_metric(metric), _validation.as_fraction(confidence_level, "confidence_level")
    apart = None if difference is None else _as_difference(difference)
    wanted = None if power is None else _validation.as_fraction(power, "power")
    if wanted is None and (apart is None or rows is None):
        wanted = 0.8
    count = None if rows is None else _validation.as_count(rows, "rows", minimum=1)
    if [apart, count, wanted].count(None) != 1:
        raise InputError("give two of difference, rows and power: the third is the answer.")
    share = None if prevalence is None else _validation.as_prevalence(prevalence)
    if pilot is not None:
        if aucpr is not None or auroc is not None:
            raise InputError("give exactly one of pilot, aucpr and auroc.")
        noise = _of_pilot(what, pilot, candidate, baseline, share)
    else:
        noise = _of_model(what, share, aucpr, auroc, correlation, apart)
    if wanted is not None and not 1.0 - level < wanted:
        raise InputError(f"power must be above {1.0 - level:g}, the level of the test.")
    apart, count = _solved(noise, apart, count, wanted or 0.0, level)
    positives = round(count * noise.prevalence)
    sizes = np.unique(np.rint(np.geomspace(max(count / _AROUND, 2.0), count * _AROUND, _SHOWN)))
    return Power(
        power=noise.power(apart, count, level),
        difference=apart,
        positives=positives,
        negatives=count - positives,
        rows=count,
        standard_error=noise.error(count),
        metric=str(what),
        prevalence=noise.prevalence,
        confidence_level=level,
        sizes=sizes,
        powers=np.array([noise.power(apart, each, level) for each in sizes]),
        assumption=noise.words,
    )


def _solved(
    noise: _Noise, difference: float | None, rows: int | None, power: float, level: float
) -> tuple[float, int]:
    """Return the difference and the number of rows, of which one may be missing."""
    if rows is not None and difference is not None:
        return difference, rows
    if rows is not None:
        most = 100.0 * noise.error(rows)
        return bisected(lambda d: noise.power(d, rows, level) >= power, 0.0, most), rows
    shown = difference or 0.0
    least = FEWEST / min(noise.prevalence, 1.0 - noise.prevalence)
    return shown, math.ceil(smallest(lambda n: noise.power(shown, n, level) >= power, least))


def _as_difference(difference: object) -> float:
    value = abs(_validation.as_number(difference, "difference"))
    if not 0.0 < value < math.inf:
        raise InputError(f"difference must not be 0 and must be finite, got {difference!r}.")
    return value


def _critical(positives: float, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(max(positives - 1.0, 1.0), 0.5 + 0.5 * level))


def _of_pilot(
    metric: Metric,
    pilot: object,
    candidate: str | None,
    baseline: str | None,
    prevalence: float | None,
) -> _Noise:
    if not isinstance(pilot, Rows):
        raise InputError(
            f"pilot must be Rows with the scores of both models, got {type(pilot).__name__}: pass "
            "pr.Rows(y_true, {'a': s_a, 'b': s_b})."
        )
    names = _pair(pilot, candidate, baseline)
    count = int(np.count_nonzero(pilot.positive))
    if count in (0, len(pilot)):
        missing = "negatives" if count else "positives"
        raise InputError(f"pilot has no {missing}: nothing can be learned from one class.")
    own = count / len(pilot)
    if prevalence is not None:
        pilot = pilot.at_prevalence(prevalence)
    words = f"new rows score like those of the pilot, which had {plural(count, 'positive')}"
    return _noise(metric, pilot, names, own if prevalence is None else prevalence, words)


def _pair(pilot: Rows, candidate: str | None, baseline: str | None) -> tuple[str, str]:
    if candidate is None and baseline is None and len(pilot.names) == 2:
        return pilot.names[0], pilot.names[1]
    listed = ", ".join(map(repr, pilot.names))
    known = all(isinstance(each, str) and each in pilot.scores for each in (candidate, baseline))
    if not known or candidate == baseline:
        raise InputError(
            f"candidate and baseline must be two models of the pilot, which has {listed}."
        )
    return str(candidate), str(baseline)


def _noise(
    metric: Metric, rows: Rows, names: tuple[str, str], prevalence: float, words: str
) -> _Noise:
    """Variance of the difference of two models, by class, from the rows' own contributions."""
    if not metric.smooth:
        raise metric.no_gradient()
    columns, slopes = [], []
    for name in names:
        ranking = rows.ranking(name, metric.thresholds)
        bound = metric.on_both_classes(ranking)
        place = rows.place(name, metric.thresholds)
        columns.append(contributions(rows, place, bound.gradient(ranking.cells), 0.0))
        slopes.append(float(bound.prevalence_slope(ranking.cells)))
    moved = (columns[0] - columns[1])[:, np.newaxis]
    slope = (slopes[0] - slopes[1]) ** 2
    positive = int(np.count_nonzero(rows.positive))
    negative = len(rows) - positive
    if rows.cluster is None:
        classes = zip((rows.positive, ~rows.positive), rows.effective_sizes, strict=True)
        parts = [float(np.sum(moved[mask] ** 2) * sample_factor(size)) for mask, size in classes]
    else:  # rows of both classes vary together
        whole = float(covariance_of(rows, moved, rows.effective_sizes)[0, 0])
        parts = [0.5 * whole, 0.5 * whole]
    if not sum(parts):
        raise InputError("the two models of the pilot rank the rows alike: they never differ.")
    return _Noise(
        positive=parts[0] * positive + slope,
        negative=parts[1] * negative + slope,
        prevalence=prevalence,
        words=words,
    )


def _of_model(
    metric: Metric,
    prevalence: float | None,
    aucpr: object,
    auroc: object,
    correlation: object,
    difference: float | None,
) -> _Noise:
    given = {"aucpr": aucpr, "auroc": auroc}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise InputError("give exactly one of pilot, aucpr and auroc.")
    if prevalence is None:
        raise InputError(f"{named[0]} needs prevalence=, the share of positives to come.")
    if metric.thresholds:
        raise InputError(f"{metric} depends on the scores themselves: give a pilot.")
    area = _validation.as_fraction(given[named[0]], named[0])
    shared = _validation.as_number(correlation, "correlation")
    if not -1.0 <= shared < 1.0:
        raise InputError(f"correlation must be at least -1 and under 1, got {correlation!r}.")
    better = area + (difference or 0.0)
    if better >= 1.0:
        raise InputError(f"{named[0]} and difference add up to {better:g}: no area is above 1.")
    distances = [
        distance_of_auroc(each) if auroc is not None else distance_of_aucpr(each, prevalence)
        for each in (better, area)
    ]
    rows = _drawn(distances, shared, prevalence)
    words = (
        f"scores are normal with equal spread in both classes and a correlation of {shared:g} "
        f"within each, the worse model with {named[0].upper()} {area:g} at prevalence "
        f"{prevalence:g}"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecallWarning)
        return _noise(metric, rows, ("better", "worse"), prevalence, words)


def _drawn(distances: list[float], correlation: float, prevalence: float) -> Rows:
    """Rows that stand in for a pilot, the same for the same question."""
    rng = np.random.default_rng(_SEED)
    n = _DRAWN[0]
    m = int(min(max(n * (1.0 - prevalence) / prevalence, 2.0 * FEWEST), _DRAWN[1]))
    y = np.arange(n + m) < n
    first = rng.standard_normal(n + m)
    other = rng.standard_normal(n + m)
    second = correlation * first + math.sqrt(1.0 - correlation**2) * other
    scores = {"better": first + distances[0] * y, "worse": second + distances[1] * y}
    return Rows(y, scores).at_prevalence(prevalence)

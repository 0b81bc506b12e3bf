"""How many rows an interval of a given width takes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._notebook import Rich
from .._words import plural
from ..exceptions import InputError, PrecallWarning
from ..metrics import Metric, as_metric
from ..metrics.registry import title_of
from .guesses import Guess, as_guess

FloatArray = npt.NDArray[np.float64]

#: With fewer rows of a class no interval is relied on.
FEWEST = 10
# No plan has more positives.
_MOST = 10**9
# Sizes that a picture shows: so many, up to so many times the answer and down to as small a part.
_SHOWN, _AROUND = 25, 10.0
_RATIOS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)


@dataclass(frozen=True, kw_only=True, repr=False)
class SampleSize(Rich):
    """How many rows are needed, and what that rests on.

    Attributes
    ----------
    positives, negatives, rows : int
        What is needed.
    width : float
        The width that was asked for.
    expected_width : float
        The width that is to be expected with that many rows.
    metric : str
    expected : float
        The value that the metric is assumed to have.
    prevalence, confidence_level : float
    sizes, widths : arrays
        Numbers of rows around the answer, and the widths to be expected: what `plot` shows.
    if_wrong : dict of float to float
        If the area was guessed: the width of this many rows if it is another one.
    assumption : str
        What the answer rests on, in words.
    """

    positives: int
    negatives: int
    rows: int
    width: float
    expected_width: float
    metric: str
    expected: float
    prevalence: float
    confidence_level: float
    sizes: FloatArray
    widths: FloatArray
    if_wrong: dict[float, float]
    assumption: str

    @property
    def message(self) -> str:
        """The answer in words."""
        text = (
            f"{plural(self.rows, 'row')} with {plural(self.positives, 'positive')} give "
            f"{title_of(self.metric)} a {100 * self.confidence_level:.6g} % interval of width "
            f"{self.expected_width:.3g}, if {self.assumption}."
        )
        if self.if_wrong:
            off = ", ".join(f"{w:.3g} if it is {value:.2g}" for value, w in self.if_wrong.items())
            text = f"{text} If the guess is wrong, the width is {off}."
        return text

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw the width over the number of rows with matplotlib and return the Axes."""
        from ..display.planning_plots import plot_size

        return plot_size(self, ax=ax, **style)

    def __repr__(self) -> str:
        """Return one line."""
        return (
            f"SampleSize({self.rows} rows, {self.positives} positive, "
            f"{self.metric} {self.expected:.4g}, width {self.expected_width:.4g}, "
            f"{100 * self.confidence_level:.6g} %)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("sizes", "widths"):
            plain[name] = plain[name].tolist()
        plain["if_wrong"] = [{"value": v, "width": w} for v, w in self.if_wrong.items()]
        return plain | {"message": self.message}

    def _table(self) -> dict[str, Any]:
        share = self.prevalence
        return {"rows": self.sizes, "positives": share * self.sizes, "width": self.widths}


def size(
    *,
    width: float,
    metric: Metric | type[Metric] | str = "aucpr",
    prevalence: float | None = None,
    pilot: Any = None,
    model: str | None = None,
    aucpr: float | None = None,
    auroc: float | None = None,
    confidence_level: float = 0.95,
) -> SampleSize:
    """Return how many rows an interval of a given width takes.

    The sample that is to be expected is made for a number of rows, and :func:`precall.interval`
    itself is asked for its width; the smallest number that is wide enough is found by bisection.

    Parameters
    ----------
    width : float
        Upper minus lower limit, as wanted.
    metric : Metric or str, default "aucpr"
    prevalence : float, optional
        Share of positives among the rows to come; that of the pilot if not given.
    pilot : Ranking or Rows, optional
        Rows that score like those to come. With weights or clusters the answer is in rows of the
        same kind.
    model : str, optional
        Which model of the pilot.
    aucpr, auroc : float, optional
        Without a pilot: the area that is guessed. Scores are then taken as normal, with equal
        spread in both classes.
    confidence_level : float, default 0.95

    Returns
    -------
    SampleSize
        At least 10 positives and 10 negatives.

    Examples
    --------
    >>> import precall as pr
    >>> plan = pr.planning.size(width=0.1, prevalence=0.01, aucpr=0.4)
    >>> plan
    SampleSize(... rows, ... positive, aucpr ..., width ..., 95 %)
    """
    what, level = as_metric(metric), _validation.as_fraction(confidence_level, "confidence_level")
    wanted = as_width(width, what)
    guess = as_guess(
        what,
        pilot=pilot,
        model=model,
        aucpr=aucpr,
        auroc=auroc,
        prevalence=prevalence,
        level=level,
    )

    def width_of(rows: float, of: Guess = guess) -> float:
        share = of.prevalence
        return _quiet_width(of, what, rows * share, rows * (1.0 - share), confidence_level=level)

    fewest = FEWEST / min(guess.prevalence, 1.0 - guess.prevalence)
    rows = math.ceil(smallest(lambda n: width_of(n) <= wanted, fewest))
    positives = round(rows * guess.prevalence)
    sizes = np.unique(np.rint(np.geomspace(max(rows / _AROUND, fewest), rows * _AROUND, _SHOWN)))
    return SampleSize(
        positives=positives,
        negatives=rows - positives,
        rows=rows,
        width=wanted,
        expected_width=width_of(rows),
        metric=str(what),
        expected=_expected_value(guess, what, positives, rows - positives),
        prevalence=guess.prevalence,
        confidence_level=level,
        sizes=sizes,
        widths=np.array([width_of(each) for each in sizes]),
        if_wrong={value: width_of(rows, other) for value, other in guess.others.items()},
        assumption=guess.words,
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class CaseControl(Rich):
    """What sampling fewer negatives costs and saves.

    Attributes
    ----------
    ratios : array
        Negatives per positive; the last is what the prevalence gives by itself.
    positives, negatives, rows : arrays of int
        What is needed at each ratio for an interval of `width`.
    width : float
    metric : str
    prevalence, confidence_level : float
    assumption : str
    """

    ratios: FloatArray
    positives: npt.NDArray[np.int64]
    negatives: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    width: float
    metric: str
    prevalence: float
    confidence_level: float
    assumption: str

    @property
    def best(self) -> float:
        """The ratio with the fewest rows."""
        return float(self.ratios[int(np.argmin(self.rows))])

    @property
    def message(self) -> str:
        """The answer in words."""
        at = int(np.argmin(self.rows))
        return (
            f"{self.ratios[at]:.4g} negatives per positive take the fewest rows, "
            f"{self.rows[at]:,} with {self.positives[at]:,} positives; rows as they come take "
            f"{self.rows[-1]:,} with {self.positives[-1]:,}. The prevalence of "
            f"{self.prevalence:g} has to be known, and given to interval(prevalence=)."
        )

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw rows and positives over the ratio with matplotlib and return the Axes."""
        from ..display.planning_plots import plot_case_control

        return plot_case_control(self, ax=ax, **style)

    def __repr__(self) -> str:
        """Return one line."""
        return (
            f"CaseControl({self.metric}, width {self.width:g}: {self.rows.min()} rows at "
            f"{self.best:g} negatives per positive, {self.rows[-1]} as they come)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("ratios", "positives", "negatives", "rows"):
            plain[name] = plain[name].tolist()
        return plain | {"best": self.best, "message": self.message}

    def _table(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("ratios", "positives", "negatives", "rows")}


def case_control(
    *,
    width: float,
    metric: Metric | type[Metric] | str = "aucpr",
    prevalence: float | None = None,
    pilot: Any = None,
    model: str | None = None,
    aucpr: float | None = None,
    auroc: float | None = None,
    ratios: Sequence[float] = _RATIOS,
    confidence_level: float = 0.95,
) -> CaseControl:
    """Return how many rows are needed if only some of the negatives are sampled.

    All positives and a few negatives for each, then ``interval(prevalence=...)`` with the known
    prevalence: fewer rows to label or to keep, but the negatives that outrank positives are few,
    and every one that is missing makes the interval wider.

    Parameters
    ----------
    ratios : sequence of float
        Negatives per positive. Those above what the prevalence gives are left out.
    width, metric, prevalence, pilot, model, aucpr, auroc, confidence_level
        As in :func:`size`.

    Examples
    --------
    >>> import precall as pr
    >>> plan = pr.planning.case_control(width=0.2, prevalence=0.01, aucpr=0.4)
    >>> bool(plan.rows[0] < plan.rows[-1])
    True
    """
    what, level = as_metric(metric), _validation.as_fraction(confidence_level, "confidence_level")
    wanted = as_width(width, what)
    guess = as_guess(
        what,
        pilot=pilot,
        model=model,
        aucpr=aucpr,
        auroc=auroc,
        prevalence=prevalence,
        level=level,
    )
    natural = guess.negatives(1.0)
    asked = [_as_ratio(ratio) for ratio in _validation.as_numbers(ratios, "ratios").ravel()]
    needed = []
    for ratio in (*sorted({each for each in asked if each < natural}), natural):
        known = {} if ratio == natural else {"prevalence": guess.prevalence}

        def narrow(n: float, ratio: float = ratio, known: dict[str, float] = known) -> bool:
            found = _quiet_width(guess, what, n, ratio * n, confidence_level=level, **known)
            return found <= wanted

        positives = math.ceil(smallest(narrow, FEWEST * max(1.0, 1.0 / ratio)))
        needed.append((ratio, positives, math.ceil(ratio * positives)))
    table = np.array(needed)
    counts = table[:, 1:].astype(np.int64)
    return CaseControl(
        ratios=table[:, 0],
        positives=counts[:, 0],
        negatives=counts[:, 1],
        rows=counts.sum(axis=1),
        width=wanted,
        metric=str(what),
        prevalence=guess.prevalence,
        confidence_level=level,
        assumption=guess.words,
    )


def _as_ratio(ratio: object) -> float:
    value = _validation.as_number(ratio, "ratios")
    if not 0.0 < value < math.inf:
        raise InputError(f"ratios must hold positive numbers, got {ratio!r}.")
    return value


def as_width(width: object, metric: Metric) -> float:
    """Return a width that an interval of the metric can have."""
    wanted = _validation.as_number(width, "width")
    zero, one = metric.unit
    if not 0.0 < wanted < one - zero:
        raise InputError(
            f"width must be between 0 and {one - zero:g}, all that {metric} can be off, got "
            f"{width!r}."
        )
    return wanted


def smallest(enough: Callable[[float], bool], start: float) -> float:
    """Return the smallest number that is enough, to a thousandth, from `start` on."""
    if enough(start):
        return start
    low = high = start
    while not enough(high):
        if high > _MOST:
            raise InputError(
                f"more than {_MOST:,} would be needed: ask for less (a wider interval, a larger "
                "difference)."
            )
        low, high = high, 2.0 * high
    while high - low > max(1e-3 * high, 1.0):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _quiet_width(guess: Guess, metric: Metric, n: float, m: float, **asked: Any) -> float:
    """A width without the warnings that small samples on the way would give."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecallWarning)
        return guess.width(metric, n, m, **asked)


def _expected_value(guess: Guess, metric: Metric, n: float, m: float) -> float:
    ranking = guess.ranking(n, m)
    return metric.on_both_classes(ranking).estimate(ranking)

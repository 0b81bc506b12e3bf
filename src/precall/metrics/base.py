"""What a metric is: one number as a function of the cells of a ranking.

A metric has a value and, where it is smooth enough, a gradient: its derivative by the weight of
each cell. Both work on the last axis with any number of leading axes, so the same code serves one
data set, a thousand bootstrap replicates, a hundred thousand groups and a simulation.
"""

from __future__ import annotations

import warnings
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from ..exceptions import InputError, UndefinedMetricError, UndefinedMetricWarning
from ..ranking import Ranking, as_ranked
from ..ranking.checks import require_scored
from ..ranking.number_layout import Cells
from ..ranking.reflex import takes_one

FloatArray = npt.NDArray[np.float64]

# Of the log odds of the prevalence, in differences.
_STEP = 1e-4


@dataclass(frozen=True)
class Metric:
    """A metric with its options; the fields of a subclass are the options.

    A subclass needs `name`, `title`, `summary`, `rules` and :meth:`value`; everything else has a
    default. Whoever takes ``metric=`` asks these and knows no metric by its name.

    Attributes
    ----------
    name : str
        What the metric is called in Python, on the command line and in JSON.
    title : str
        What it is called in tables and pictures.
    summary : str
        What it is, in a few words.
    explanation : str
        What it is, in a sentence for the report; the summary if there is none.
    rules : tuple of str
        Keys of the interval rules that fit it, the default first; empty if there is none.
    shown : bool
        Whether the report and ``precall evaluate`` show it unasked.
    needs_negatives : bool
        Whether it has no value without negatives.
    poolable : bool
        Whether the rows of several groups can be taken together for it.
    bounds : (float, float)
        The smallest and the largest value that a ranking can have.
    unit : (float, float)
        The values that stand for 0 and 1 on the unit scale, on which intervals are made.
    merges_runs : bool
        Whether positives with no negative between them count by their sum alone.
    ignores_ties : bool
        Whether a tied negative counts as one above the positive would.
    smooth : bool
        Whether it has a gradient.
    counts_top : bool
        Whether its variance has room for one more negative at the top.
    of_ranks : bool
        Whether the order of the rows is all it depends on, not the values of the scores.
    thresholds : tuple of float
        Scores at which it needs the exact counts.
    places : tuple of int
        Ranks at which it needs the exact counts.
    lower_is_better : bool
        Whether a smaller value is the better one: rates of errors, costs.
    only_counts : bool
        Whether the counts at its thresholds are all it depends on.
    counts_missed : bool
        Whether it counts the positives of a ranking that were never scored.
    with_prevalence : str
        What to know when groups of different prevalence are averaged; ``{dominated}`` stands for
        the groups that weigh most.
    """

    name: ClassVar[str]
    title: ClassVar[Any]
    summary: ClassVar[str]
    explanation: ClassVar[str] = ""
    rules: ClassVar[Any] = ()
    shown: ClassVar[bool] = False
    needs_negatives: ClassVar[bool] = True
    poolable: ClassVar[bool] = True
    bounds: ClassVar[Any] = (0.0, 1.0)
    unit: ClassVar[Any] = (0.0, 1.0)
    merges_runs: ClassVar[Any] = False
    ignores_ties: ClassVar[Any] = False
    smooth: ClassVar[Any] = False
    counts_top: ClassVar[bool] = True
    of_ranks: ClassVar[bool] = True
    thresholds: ClassVar[Any] = ()
    places: ClassVar[Any] = ()
    lower_is_better: ClassVar[bool] = False
    only_counts: ClassVar[Any] = False
    counts_missed: ClassVar[Any] = False
    with_prevalence: ClassVar[str] = ""

    # What a subclass defines.

    def value(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the metric of one ranking, or of many along the leading axes."""
        raise NotImplementedError(f"{type(self).__name__} needs value(cells, squares).")

    def sampled_value(self, cells: Cells, squares: Cells) -> Any:
        """Return the metric where every row stands for as many as its weight says."""
        return self.value(cells, squares)

    def gradient(self, cells: Cells) -> Cells:
        """Return the derivative by the weight of each cell, up to one constant per class."""
        raise self.no_gradient()

    def on(self, data: Any) -> Metric:
        """Return the metric on data of one shape: a Ranking, or a set of them.

        Its value may need what is fixed there, such as the floor of the observed class sizes or
        the row of a threshold.
        """
        return self

    def take(self, groups: npt.NDArray[np.int64]) -> Metric:
        """Return the metric on some of the groups of the set that it was put on."""
        return self

    def check_scores(self, rows: Any, model: str | None = None) -> None:
        """Raise where the scores of a model are of a kind that it cannot take; `rows` may be None.

        Rows know the score of every negative, which a ranking does not keep.
        """

    def convention(self, ranking: Ranking) -> float:
        """Return the value where a class is empty, by convention; NaN if there is none."""
        return float("nan")

    def floor(self, ranking: Ranking) -> float | None:
        """Return what the worst ranking of the same rows has; None if there is no lowest value."""
        return 0.0

    def ceiling(self, ranking: Ranking) -> float:
        """Return the highest value: that of the perfect ranking, unless less is better."""
        return float(self.bounds[1])

    def random(self, ranking: Ranking) -> float | None:
        """Return what a random order of the same rows is expected to have; None if unknown."""
        return None

    def counted(self, ranking: Ranking) -> tuple[float, float] | None:
        """Return the rows that count and those they are counted in; None if it is no such share."""
        return None

    def trials(self, n: Any, m: Any) -> Any:
        """Return how many independent trials an estimate of exactly 0 or 1 has passed."""
        return n

    def unbiased(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return a less biased estimate on the unit scale; None if there is none."""
        return None

    @property
    def share_of_positives(self) -> float:
        """The share of the positives that decide its value; 1 but for parts of a curve."""
        return 1.0

    def blind_spot(self, ranking: Ranking) -> str:
        """Return a warning where too little was observed for an interval; empty otherwise."""
        return ""

    def prevalence_slope(self, cells: Cells) -> Any:
        """Return the derivative by the log odds of the prevalence, both classes as they are."""
        down, up = (self.value(cells.scaled(1.0, np.exp(sign * _STEP))) for sign in (1.0, -1.0))
        return (up - down) / (2.0 * _STEP)

    def no_gradient(self) -> InputError:
        """Return the error that says what to do instead."""
        return InputError(f"{self} has no influence values: use method='bootstrap_percentile'.")

    @classmethod
    def shown_with(cls, recall: float) -> Metric:
        """Return the metric as a report shows it, `recall` being the recall of interest."""
        return cls()

    # What follows from that.

    @takes_one("pr.rank(y_true, y_score)", method=True)
    def __call__(self, data: Any) -> float:
        """Return the metric of a Ranking, or of Rows with one model.

        With an empty class it is a convention's value, with a warning.
        """
        return self.called(data, 5)

    def called(self, data: Any, stacklevel: int) -> float:
        """Do what a call does, and let warnings point to the caller's line."""
        ranking = self.ranked(data)
        self.require_all_scored(ranking)
        if not (ranking.all_positives and ranking.n_neg):
            warn_undefined(ranking, self.title, stacklevel)
            return self.convention(ranking)
        return self.on(ranking).of_ranking(ranking)

    def ranked(self, data: Any) -> Ranking:
        """Return the ranking that it is computed on, with the rows that it needs."""
        asked = {"missed": True, "counted": self.only_counts}
        found = as_ranked(data, None, self.thresholds, **asked)
        self.check_scores(found.rows)
        return found.ranking

    def on_both_classes(self, ranking: Ranking) -> Metric:
        """Put the metric on a ranking; raise where a class is empty."""
        if not (ranking.n_pos and ranking.n_neg):
            missing = "negatives" if ranking.n_pos else "positives"
            raise UndefinedMetricError(
                f"{self.name} has no interval with no {missing}: check the labels and pos_label."
            )
        return self.on(ranking)

    def of_ranking(self, ranking: Ranking) -> float:
        """Return the metric of the ranking that it was put on."""
        return float(self.value(ranking.cells, ranking.squares))

    def estimate(self, ranking: Ranking) -> float:
        """Return the same within its bounds, whatever the rounding; NaN stays what it is."""
        low, high = self.bounds
        return float(min(max(self.of_ranking(ranking), low), high))

    def per_group(self, rankings: Any) -> FloatArray:
        """Return the metric of every ranking of a set, all groups at once."""
        self.require_all_scored(rankings)
        bound, values = self.on(rankings), np.zeros(len(rankings))
        for groups, cells, squares in rankings.lines():
            values[groups] = bound.take(groups).value(cells, squares)
        return values

    def require_all_scored(self, rankings: Any) -> None:
        """Raise where positives were never scored and the metric cannot do without their scores."""
        if not self.counts_missed:
            require_scored(rankings, self)

    def unit_value(self, cells: Cells, squares: Cells | None = None) -> Any:
        """Return the metric on the unit scale."""
        return self.to_unit(self.value(cells, squares))

    def to_unit(self, value: Any) -> Any:
        """Move values of the metric to the unit scale."""
        zero, one = self.unit
        return (value - zero) / (one - zero)

    def from_unit(self, value: Any) -> Any:
        """Move limits on the unit scale to the metric, within its bounds."""
        zero, one = self.unit
        return np.clip(zero + (one - zero) * np.asarray(value), *self.bounds)

    @property
    def unnormalised(self) -> Metric:
        """The area under the precision-recall curve to show beside it."""
        from .precision_recall import PrecisionRecallArea

        return PrecisionRecallArea()

    @property
    def options(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.default is MISSING or getattr(self, field.name) != field.default
        }

    def __str__(self) -> str:
        """Return the words that :func:`precall.metrics.parse` reads."""
        required = [field.name for field in fields(self) if field.default is MISSING]
        words = [
            _shown(value) if name in required else f"{name}={_shown(value)}"
            for name, value in self.options.items()
        ]
        return f"{self.name}({', '.join(words)})" if words else self.name

    @classmethod
    def parsed(cls, *arguments: Any, **options: Any) -> Self:
        """Return the metric with these options; say what it takes where they do not fit."""
        known = [field.name for field in fields(cls)]
        wrong = [name for name in options if name not in known]
        required = [field.name for field in fields(cls) if field.default is MISSING]
        missing = [name for name in required[len(arguments) :] if name not in options]
        if wrong or missing or len(arguments) > len(known):
            takes = ", ".join(known) if known else "no options"
            what = f"has no option {wrong[0]}" if wrong else "was given too many options"
            if missing:
                example = _EXAMPLES.get(missing[0], f"{missing[0]}=...")
                what = f"needs {missing[0]}, such as {cls.name}({example})"
            raise InputError(f"metric {cls.name!r} {what}: it takes {takes}.")
        return cls(*arguments, **options)


@dataclass(frozen=True)
class OnData(Metric):
    """A metric that was put on data: what is said of it is what the metric itself says."""

    at: Metric = field(repr=False)

    @property
    def bounds(self) -> tuple[float, float]:
        """Those of the metric."""
        low, high = self.at.bounds
        return low, high

    @property
    def unit(self) -> tuple[float, float]:
        """Its unit scale."""
        zero, one = self.at.unit
        return zero, one

    @property
    def name(self) -> str:  # type: ignore[override]
        """Its name."""
        return self.at.name

    @property
    def title(self) -> str:
        """Its title."""
        return str(self.at.title)

    @property
    def rules(self) -> tuple[str, ...]:
        """Its interval rules."""
        return tuple(self.at.rules)

    def __str__(self) -> str:
        """Return its words."""
        return str(self.at)


def warn_undefined(ranking: Ranking, title: str, stacklevel: int) -> None:
    """Say which class is empty; the caller then returns the convention's value."""
    missing = "negatives" if ranking.n_pos else "positives"
    warnings.warn(
        f"{title} is not defined with no {missing}: the value returned is a convention; "
        "check the labels and pos_label.",
        UndefinedMetricWarning,
        stacklevel=stacklevel,
    )


_EXAMPLES = {
    "recall": "0.8",
    "precision": "0.9",
    "threshold": "0.5",
    "k": "100",
    "probability": "0.1",
    "cost_ratio": "20",
}


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    return f"{value:g}" if isinstance(value, float) and value == float(f"{value:g}") else str(value)


def totals(cells: Cells) -> tuple[Any, Any]:
    """Total weight of positives and of negatives, as floats: their products outgrow int64.

    Missed positives are positives.
    """
    negatives = np.sum(cells.tied, axis=-1) + np.sum(cells.above, axis=-1) + cells.below
    positives = cells.all_positives
    return np.asarray(positives, dtype=np.float64), np.asarray(negatives, dtype=np.float64)

"""Scenarios whose scores are tied: a few levels, or the scores of a sample drawn again.

A threshold takes whole groups of equal scores. The true curve has one point per group that holds
positives; between two points it is what choosing between the two thresholds at random achieves, a
straight line in ROC space (Davis & Goadrich 2006). The area under that curve is the limit of the
``davis_goadrich`` estimator. Average precision has another limit: it gives every positive of a
group the precision at that group.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from precall._cached import cached_property
from precall._numerics import segment_area
from precall._validation import (
    as_count,
    as_number,
    as_positive_mask,
    as_scores,
    require_same_length,
)
from precall.exceptions import InputError, UndefinedMetricError

from .distributions import FloatArray, Mixture
from .ranks import rank_batch
from .scenarios import Binormal, ContinuousScenario, Scenario, precision_at


class TiedGroups(NamedTuple):
    """Groups of equal scores that hold positives, highest first, as shares of each class.

    Taking a group moves recall from `recall_before` to `recall` and the false-positive rate from
    `rate_before`, all negatives above the group, to `rate`, those tied with it included.
    """

    recall_before: FloatArray
    recall: FloatArray
    rate_before: FloatArray
    rate: FloatArray

    @property
    def slope(self) -> FloatArray:
        """Rise of the false-positive rate per unit of recall inside each group."""
        return (self.rate - self.rate_before) / (self.recall - self.recall_before)


class TiedScenario(Scenario):
    """A scenario with finitely many scores: a subclass gives `groups` and its own draws."""

    @property
    def groups(self) -> TiedGroups:
        """The scores that positives can have, as shares of each class."""
        raise NotImplementedError

    def auroc(self) -> float:
        """Probability that a positive outranks a negative, a tie counting one half."""
        groups = self.groups
        shares = groups.recall - groups.recall_before
        return float(np.sum(shares * (1.0 - 0.5 * (groups.rate_before + groups.rate))))

    def asymptotic_variance(
        self, recall: npt.ArrayLike, prevalence: float, *, random_prevalence: bool = True
    ) -> Any:
        """Not defined: the formula needs densities, and tied scores have none."""
        raise UndefinedMetricError(
            "the asymptotic variance of precision needs continuous scores, and these are tied: "
            "use a continuous scenario, or simulate."
        )

    def _false_positive_rate(self, recall: FloatArray) -> FloatArray:
        groups = self.groups
        row = np.searchsorted(groups.recall, recall)
        return groups.rate_before[row] + groups.slope[row] * (recall - groups.recall_before[row])

    def _aucpr(self, prevalence: float, low: float, high: float, estimator: str) -> float:
        groups = self.groups
        start, stop = groups.recall_before.clip(low, high), groups.recall.clip(low, high)
        if estimator == "average_precision":
            precision = precision_at(groups.recall, groups.rate, prevalence)
            return float(np.sum((stop - start) * precision))
        rate_start, rate_stop = (
            groups.rate_before + groups.slope * (end - groups.recall_before)
            for end in (start, stop)
        )
        areas = segment_area(
            prevalence * start,
            (1.0 - prevalence) * rate_start,
            prevalence * stop,
            (1.0 - prevalence) * rate_stop,
        )
        return float(np.sum(areas) / prevalence)


@dataclass(frozen=True)
class Levels(TiedScenario):
    """Scores 0, 1, 2, ... with given probabilities per class: heavy ties.

    Parameters
    ----------
    positives, negatives : tuple of float
        Probability of each level in that class, lowest level first.

    Examples
    --------
    >>> from precall.simulate import Binormal, Levels
    >>> grades = Levels(positives=(0.1, 0.3, 0.6), negatives=(0.7, 0.2, 0.1))
    >>> grades.aucpr(0.1), grades.aucpr(0.1, estimator="davis_goadrich")
    (0.325, 0.3461287920)
    >>> ten = Levels.cut(Binormal(), 10)
    >>> ten.aucpr(0.1), Binormal().aucpr(0.1)
    (0.2552939093, 0.2928356435)
    """

    positives: tuple[float, ...]
    negatives: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check the probabilities."""
        for name in ("positives", "negatives"):
            values = [as_number(value, name) for value in getattr(self, name)]
            if not values or min(values) < 0.0 or abs(sum(values) - 1.0) > 1e-12:
                raise InputError(
                    f"{name} must be probabilities that sum to 1, got {getattr(self, name)}: "
                    "divide them by their sum."
                )
        if len(self.positives) != len(self.negatives):
            raise InputError(
                "positives and negatives must have one probability per level each, got "
                f"{len(self.positives)} and {len(self.negatives)}."
            )

    @classmethod
    def cut(cls, base: ContinuousScenario | None = None, n_levels: int = 10) -> Levels:
        """Cut continuous scores into levels that are equally frequent at prevalence 1/2.

        `base` is ``Binormal()`` by default.
        """
        n_levels = as_count(n_levels, "n_levels", minimum=2)
        positive, negative = (Binormal() if base is None else base).distributions()
        shares = np.arange(n_levels - 1, 0, -1) / n_levels
        edges = Mixture((positive, negative), (0.5, 0.5)).upper_quantile(shares)
        tails = [
            np.concatenate([[1.0], distribution.survival(edges), [0.0]])
            for distribution in (positive, negative)
        ]
        return cls(*(tuple((-np.diff(tail)).tolist()) for tail in tails))

    @cached_property
    def groups(self) -> TiedGroups:
        """The levels that positives can have, as shares of each class."""
        positive, negative = np.array(self.positives)[::-1], np.array(self.negatives)[::-1]
        return _groups(positive, negative, np.cumsum(negative))

    def _draw(
        self, positive: bool, rng: np.random.Generator, shape: tuple[int, int]
    ) -> npt.NDArray[Any]:
        probabilities = self.positives if positive else self.negatives
        level = np.searchsorted(np.cumsum(probabilities)[:-1], rng.random(shape), side="right")
        return level.astype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Empirical(TiedScenario):
    """The scores of a sample taken for the population: draws are with replacement, per class.

    Its areas are those that :func:`precall.aucpr` gives the sample, moved to the prevalence asked
    for. A simulation from it tells what to expect of samples of other sizes.

    Parameters
    ----------
    y_true, y_score : array-like
        As in :func:`precall.rank`.
    pos_label : label, default 1
        The label of the positive class.

    Examples
    --------
    >>> from precall.simulate import Empirical
    >>> model = Empirical([1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.3, 0.1])
    >>> model
    Empirical(n_pos=2, n_neg=3)
    >>> model.aucpr(prevalence=0.4)
    0.833333
    """

    y_true: InitVar[object]
    y_score: InitVar[object]
    pos_label: InitVar[object] = 1
    positives: npt.NDArray[Any] = field(init=False)
    negatives: npt.NDArray[Any] = field(init=False)

    def __post_init__(self, y_true: object, y_score: object, pos_label: object) -> None:
        """Split the scores by class and check that neither class is empty."""
        positive, scores = as_positive_mask(y_true, pos_label), as_scores(y_score)
        require_same_length(y_true=positive, y_score=scores)
        for name, chosen in (("positives", positive), ("negatives", ~positive)):
            if not chosen.any():
                raise UndefinedMetricError(f"y_true must have {name}, got none.")
            values = scores[chosen]
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        _ = self.groups

    @cached_property
    def groups(self) -> TiedGroups:
        """The distinct scores of positives, as shares of each class."""
        batch = rank_batch(self.positives[np.newaxis], self.negatives[np.newaxis])
        rows = slice(0, int(batch.n_thresholds[0]))
        return _groups(
            batch.positives[0, rows] / batch.n_pos,
            batch.tied[0, rows] / batch.n_neg,
            batch.fp[0, rows] / batch.n_neg,
        )

    def __repr__(self) -> str:
        """Return one line with the sizes."""
        return f"Empirical(n_pos={self.positives.size}, n_neg={self.negatives.size})"

    def _draw(
        self, positive: bool, rng: np.random.Generator, shape: tuple[int, int]
    ) -> npt.NDArray[Any]:
        scores = self.positives if positive else self.negatives
        return scores[rng.integers(scores.size, size=shape)]


def _groups(positives: FloatArray, tied: FloatArray, rate: FloatArray) -> TiedGroups:
    """Cumulate the shares of positives; groups without positives only add to the rate."""
    held = positives > 0.0
    recall = np.cumsum(positives[held])
    recall[-1] = 1.0  # whatever rounding made of it
    before = np.concatenate([[0.0], recall[:-1]])
    return TiedGroups(before, recall, np.maximum(rate - tied, 0.0)[held], rate[held])

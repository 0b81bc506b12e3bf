"""What is assumed of scores to come: those of a pilot, or a model with a guessed area."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _validation
from ..exceptions import InputError
from ..inference.intervals import interval
from ..inference.result import MetricInterval
from ..metrics import Metric
from ..ranking import Ranking
from . import expected

#: Guesses that are tried beside the one given: so far away on the logit scale.
_OFF = (-1.0, -0.5, 0.5, 1.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Guess:
    """Where expected samples come from.

    Attributes
    ----------
    shape : callable
        From a number of positives to the :class:`~.expected.Shape` to be scaled.
    prevalence : float
    words : str
        The assumption, as a part of a sentence.
    factor : float
        By how much less sure the pilot is than as many independent rows.
    others : mapping from float to Guess
        Other guesses of the same area.
    """

    shape: Callable[[float], expected.Shape]
    prevalence: float
    words: str
    factor: float
    others: dict[float, Guess]

    def ranking(self, positives: float, negatives: float) -> Ranking:
        """Return the sample that is to be expected."""
        return self.shape(positives).ranking(positives, negatives)

    def width(self, metric: Metric, positives: float, negatives: float, **asked: Any) -> float:
        """Return the width of the interval that is to be expected."""
        return self.factor * self.interval(metric, positives, negatives, **asked).width

    def interval(
        self, metric: Metric, positives: float, negatives: float, **asked: Any
    ) -> MetricInterval:
        """Return the interval that is to be expected of independent rows."""
        return interval(self.ranking(positives, negatives), metric, rng=0, **asked)

    def negatives(self, positives: float) -> float:
        """Return how many negatives come with so many positives."""
        return positives * (1.0 - self.prevalence) / self.prevalence


def as_guess(
    metric: Metric,
    *,
    pilot: Any,
    model: str | None,
    aucpr: object,
    auroc: object,
    prevalence: object,
    level: float,
) -> Guess:
    """Return what was assumed; exactly one of pilot, aucpr and auroc."""
    given = {"pilot": pilot, "aucpr": aucpr, "auroc": auroc}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        got = "none of them" if not named else " and ".join(named)
        raise InputError(f"give exactly one of pilot, aucpr and auroc, got {got}.")
    share = None if prevalence is None else _validation.as_prevalence(prevalence)
    if pilot is not None:
        return _from_pilot(metric, pilot, model, share, level)
    if model is not None:
        raise InputError("model= belongs to a pilot with several models: leave it out.")
    if share is None:
        raise InputError(f"{named[0]} needs prevalence=, the share of positives to come.")
    if metric.thresholds:
        raise InputError(f"{metric} depends on the scores themselves: give a pilot.")
    area = _validation.as_fraction(given[named[0]], named[0])
    shifted = 1.0 / (1.0 + (1.0 / area - 1.0) * np.exp(-np.asarray(_OFF)))
    others = {}
    for value in shifted.tolist():
        if auroc is not None or value > expected.area(-expected.FURTHEST, share):
            others[value] = _from_model(named[0], value, share, {})
    return _from_model(named[0], area, share, others)


def _from_model(name: str, area: float, prevalence: float, others: dict[float, Guess]) -> Guess:
    distance = (
        expected.distance_of_auroc(area)
        if name == "auroc"
        else expected.distance_of_aucpr(area, prevalence)
    )
    words = (
        f"scores are normal with equal spread in both classes, with {name.upper()} {area:g} at "
        f"prevalence {prevalence:g}"
    )
    return Guess(
        shape=lambda positives: expected.binormal(distance, positives, words),
        prevalence=prevalence,
        words=words,
        factor=1.0,
        others=others,
    )


def _from_pilot(
    metric: Metric, pilot: Any, model: str | None, prevalence: float | None, level: float
) -> Guess:
    shape, ranking = expected.of_pilot(pilot, model, metric.thresholds)
    counts = ranking.rows or ranking.cells
    positives = float(counts.all_positives)
    negatives = float(np.sum(counts.tied) + np.sum(counts.above) + counts.below)
    plain = Guess(
        shape=lambda _: shape,
        prevalence=ranking.overall_prevalence if prevalence is None else prevalence,
        words=shape.words,
        factor=1.0,
        others={},
    )
    # Rows that belong together, or have weights, tell less than as many others.
    seen = interval(pilot, metric, model=model, confidence_level=level, rng=0)
    alone = plain.interval(metric, positives, negatives, confidence_level=level)
    return Guess(**{**plain.__dict__, "factor": _less_sure(seen, alone)})


def _less_sure(seen: MetricInterval, alone: MetricInterval) -> float:
    """Standard error over standard error, or width over width for a rule that has none.

    Widths have room for rows that were not seen, which fades faster than chance does as rows
    become more.
    """
    if math.isfinite(seen.standard_error) and alone.standard_error > 0.0:
        return seen.standard_error / alone.standard_error
    return seen.width / alone.width

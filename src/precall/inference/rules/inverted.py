"""Recall at a precision: the recalls whose precision may be that one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...metrics.points import PrecisionAtRecall
from ...ranking import Cells
from .. import limits
from .mover import MOVER
from .rule import Case, ClosedForm, Rule, closed_form

# Recalls that are asked; an end is that of the next one.
_RECALLS = 128
# Numbers made at a time.
_BLOCK = 1 << 20


@dataclass(frozen=True)
class _AtRecalls(PrecisionAtRecall):
    """Precision at many recalls, one per leading axis of the cells."""

    recall: Any

    def __post_init__(self) -> None:
        """Take the recalls as they are."""


@dataclass(frozen=True, kw_only=True)
class Recalls:
    """Limits of precision at every recall of a grid, and the recall that was observed."""

    forms: tuple[ClosedForm, ...] = field(repr=False)
    recall: npt.NDArray[np.float64] = field(repr=False)
    observed: ClosedForm

    def limits(self, confidence_level: float) -> tuple[Any, Any]:
        """Return the last recall that is precise enough for sure, and the last that may be."""
        ends = [form.limits(confidence_level) for form in self.forms]
        low, high = (np.concatenate([pair[end] for pair in ends]) for end in (0, 1))
        grid = np.concatenate([[0.0], self.recall, [1.0]])
        observed, metric = self.observed, self.observed.metric
        surely, maybe = (
            int(np.max(np.flatnonzero(limit >= metric.precision), initial=-1))  # type: ignore[attr-defined]
            for limit in (low, high)
        )
        # To the next recall below, and to the next above: in between nothing was asked. And there
        # is room for a kind of rows above everything that the sample does not show.
        lower, upper = grid[surely + 1], grid[maybe + 2] if maybe >= 0 else grid[1]
        lower = _at_a_threshold(observed, lower, confidence_level)
        return (
            metric.from_unit(min(lower, observed.estimate, observed.guard(confidence_level))),
            metric.from_unit(max(upper, observed.estimate, observed.ceiling(confidence_level))),
        )

    @property
    def error(self) -> float:
        """Half of what an interval of plus and minus one has."""
        low, high = self.limits(math.erf(math.sqrt(0.5)))
        return float(high - low) / 2.0


def _at_a_threshold(form: ClosedForm, lower: float, level: float) -> float:
    """Return a lower limit of the recall of a threshold, from one of the curve.

    Between the thresholds of tied scores the curve goes on, and there is no threshold. The last one
    before has a recall that is a share of the positives; it is at most the tie away. The upper
    limit is that of the curve, so the lower one may take all of the error.
    """
    cells, n = form.cells, form.sizes[0]
    ends = np.concatenate([[0.0], np.cumsum(cells.positives) / cells.all_positives])
    row = int(np.searchsorted(ends[1:], lower, side="right"))
    if row + 1 >= ends.size:
        return lower
    start, tie = ends[row], ends[row + 1] - ends[row] - 1.0 / n
    z = limits.normal_quantile(max(2.0 * level - 1.0, 0.0))
    room = z * math.sqrt(start * (1.0 - start) / n)
    return float(min(lower, max(start - room, lower - max(tie, 0.0))))


@dataclass(frozen=True, kw_only=True)
class Inverted(Rule):
    """Where the curve falls under a precision, from the limits of precision at every recall.

    At the true recall the precision is that one, so that the upper limit there is not below it but
    with the error of one side: the last recall of which that holds is an upper limit. The last one
    whose lower limit is not below the precision is the lower limit. Neither limit is inside of what
    a kind of rows above everything that was not seen would make of the recall.
    """

    def evidence(self, case: Case) -> Recalls:
        """Gather precision at every recall of the grid."""
        recall = np.arange(1, _RECALLS + 1) / _RECALLS
        cells, sizes = case.ranking.cells, case.sizes
        step = max(1, _BLOCK // max(cells.positives.size, 1))
        forms = []
        for first in range(0, _RECALLS, step):
            some = recall[first : first + step]
            lines = [np.broadcast_to(part, (some.size, *np.shape(part))) for part in cells]
            forms.append(
                closed_form(
                    _AtRecalls(some), MOVER, Cells(*lines), sizes=sizes, varying=case.varying
                )
            )
        return Recalls(
            forms=tuple(forms),
            recall=recall,
            observed=closed_form(
                case.metric,
                MOVER,
                cells,
                sizes=sizes,
                varying=False,
                estimate=case.estimate,
                variance=0.0,
                local=case.local,
            ),
        )


INVERTED = Inverted(
    key="inverted_mover",
    name="mover",
    clustered=True,
    summary="the last recalls at which precision surely is so much, and may be, by its limits",
    source="Zou & Donner 2008, inverted",
    caution="in steps of 1/128; wide with few positives",
)

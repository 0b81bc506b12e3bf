"""Are scores probabilities? What was predicted beside what was observed, over all and in tenths.

A threshold probability, and what is computed at one (net benefit, expected cost), means what it
says only if rows with a score of .3 are positive three times in ten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._interval import Interval
from .._notebook import Rich
from .._words import plural
from ..exceptions import InputError, UndefinedMetricError
from ..metrics.utility import require_probabilities
from ..ranking import as_ranked
from .limits import share_limits

FloatArray = npt.NDArray[np.float64]

_PARTS = 10


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CalibrationCheck(Rich):
    """What scores predict beside what was observed.

    Attributes
    ----------
    predicted : float
        The mean score: the share of positives that the scores predict.
    observed : Interval
        The share of positives, with Clopper-Pearson limits.
    tenths : tuple of Interval
        The share of positives in each tenth of the rows by score, lowest first; tied rows stay
        together, so there may be fewer. Their limits hold for all tenths together.
    tenths_predicted : array
        The mean score of each.
    rows : array
        Rows in each.
    message : str
        The same in words.
    """

    predicted: float
    observed: Interval
    tenths: tuple[Interval, ...]
    tenths_predicted: FloatArray
    rows: npt.NDArray[np.int64]
    message: str

    @property
    def agrees(self) -> bool:
        """Whether the limits hold what was predicted, over all and in every tenth."""
        return self.predicted in self.observed and not self.disagreeing

    @property
    def disagreeing(self) -> tuple[int, ...]:
        """The tenths whose limits do not hold what was predicted, from 0 for the lowest."""
        pairs = zip(self.tenths_predicted.tolist(), self.tenths, strict=True)
        return tuple(i for i, (value, limits) in enumerate(pairs) if value not in limits)

    def __repr__(self) -> str:
        """Return one line."""
        off = len(self.disagreeing)
        return (
            f"CalibrationCheck(predicted={self.predicted:.4g}, observed="
            f"{self.observed.estimate:.4g} [{self.observed.low:.4g}, {self.observed.high:.4g}], "
            f"{off} of {len(self.tenths)} parts disagree)"
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw what was observed over what was predicted, tenth by tenth, and return the Axes."""
        from ..display.result_plots import plot_calibration

        return plot_calibration(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON."""
        table = {name: values.tolist() for name, values in self._table().items()}
        return {
            "predicted": self.predicted,
            "observed": self.observed.to_dict(),
            "agrees": self.agrees,
            "message": self.message,
            "tenths": table,
        }

    def _table(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "predicted": self.tenths_predicted,
            "observed": np.array([part.estimate for part in self.tenths]),
            "low": np.array([part.low for part in self.tenths]),
            "high": np.array([part.high for part in self.tenths]),
        }


def calibration_check(
    rows: Any, *, model: str | None = None, confidence_level: float = 0.95
) -> CalibrationCheck:
    """Say in words whether scores can be taken for probabilities.

    Parameters
    ----------
    rows : Rows
        With scores between 0 and 1, without weights and without clusters. A ranking does not keep
        the scores of negatives.
    model : str, optional
        Which model, where the rows have several.
    confidence_level : float, default 0.95
        Of the overall limits, and of those of all tenths together (each tenth has its part of the
        error).

    Returns
    -------
    CalibrationCheck
        Look at its `message` before you read a net-benefit curve or a cost at a probability.

    Examples
    --------
    >>> import precall as pr
    >>> example = pr.load_example()
    >>> rows = pr.Rows(example.label, example.scores["gradient_boosting"])
    >>> pr.calibration_check(rows).agrees
    True
    """
    level = _validation.as_fraction(confidence_level, "confidence_level")
    found = as_ranked(rows, model)
    if found.rows is None:
        raise InputError(
            "calibration_check needs every score, and a ranking does not keep those of negatives: "
            "pass pr.Rows(y_true, y_score)."
        )
    if found.rows.weight is not None or found.rows.cluster is not None:
        kind = "weights" if found.rows.weight is not None else "clusters"
        raise InputError(f"calibration_check counts rows by themselves, and these have {kind}.")
    scores = found.rows.scores[found.rows.model_named(model)].astype(np.float64)
    if not scores.size:
        raise UndefinedMetricError("calibration_check needs rows, got none.")
    require_probabilities(scores, "calibration_check", "ask what needs no probabilities")
    positive = found.rows.positive
    part = _tenths(scores)
    size = np.bincount(part)
    sums, hits = np.bincount(part, scores), np.bincount(part, positive)
    alpha = 1.0 - level
    tenths = _shares(hits, size, level, alpha / size.size)
    overall = _shares(hits.sum(keepdims=True), size.sum(keepdims=True), level, alpha)[0]
    predicted = float(np.mean(scores))
    return CalibrationCheck(
        predicted=predicted,
        observed=overall,
        tenths=tenths,
        tenths_predicted=sums / size,
        rows=size,
        message=_message(predicted, overall, sums / size, tenths, int(hits.sum())),
    )


def _tenths(scores: FloatArray) -> npt.NDArray[np.int64]:
    """Return the tenth of each row by score; equal scores are in the same one."""
    order = np.sort(scores)
    edges = np.unique(order[(np.arange(1, _PARTS) * scores.size) // _PARTS])
    part = np.searchsorted(edges, scores, side="right")
    return np.asarray(np.unique(part, return_inverse=True)[1], dtype=np.int64)


def _shares(hits: Any, size: Any, level: float, alpha: float) -> tuple[Interval, ...]:
    low, high = share_limits(hits, size, 0.5 * alpha)
    return tuple(
        Interval(
            low=float(bottom),
            high=float(top),
            estimate=float(hit / count),
            confidence_level=level,
            method="clopper_pearson",
        )
        for bottom, top, hit, count in zip(low, high, hits, size, strict=True)
    )


def _message(
    predicted: float,
    observed: Interval,
    means: FloatArray,
    tenths: tuple[Interval, ...],
    positives: int,
) -> str:
    first = (
        f"The scores predict {100 * predicted:.3g} % positives; {100 * observed.estimate:.3g} % "
        f"were observed ({100 * observed.low:.3g} to {100 * observed.high:.3g} %)"
    )
    high, low = predicted > observed.high, predicted < observed.low
    if high or low:
        first += f": they are too {'high' if high else 'low'} on the whole."
    else:
        first += ", which agrees."
    off = [i for i, (mean, part) in enumerate(zip(means, tenths, strict=True)) if mean not in part]
    if len(tenths) == 1:
        second = " All rows have about the same score, so there are no parts to compare."
    elif off:
        worst = max(off, key=lambda i: abs(means[i] - tenths[i].estimate))
        part = tenths[worst]
        second = (
            f" In {len(off)} of {len(tenths)} parts of the rows by score they disagree, most where "
            f"{100 * means[worst]:.3g} % were predicted and {100 * part.estimate:.3g} % observed "
            f"({100 * part.low:.3g} to {100 * part.high:.3g} %)."
        )
    elif high or low:
        second = (
            f" None of the {len(tenths)} parts of the rows by score shows it alone: their limits "
            "are wider."
        )
    else:
        second = f" So it does in all {len(tenths)} parts of the rows by score."
    if high or low or off:
        third = " A threshold probability does not mean what it says: calibrate the scores first."
    else:
        seen = plural(positives, "positive")
        third = f" As far as {seen} can tell, the scores can be taken for probabilities."
    return first + second + third

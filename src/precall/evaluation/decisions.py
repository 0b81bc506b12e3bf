"""What decisions by probabilities are worth: net benefit over all thresholds, cost at one ratio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..curves import DecisionCurve, net_benefit_curve
from ..exceptions import InputError
from ..inference.intervals import interval
from ..inference.result import MetricInterval
from ..metrics import expected_cost
from ..rows import Rows
from .few import too_few
from .settings import Settings

if TYPE_CHECKING:
    from ..inference.bands import Band


class Decisions(NamedTuple):
    """What is asked of decisions; both may be left out.

    `net_benefit` asks for the curve, `cost_ratio` is what a miss costs over a false alarm.
    """

    net_benefit: bool = False
    cost_ratio: float | None = None

    def __bool__(self) -> bool:
        """Whether anything is asked."""
        return self.net_benefit or self.cost_ratio is not None


class DecisionValue(NamedTuple):
    """One model's decisions.

    `note` says why there is nothing else: its scores are no probabilities. `calibration` says
    whether they agree with what was observed; without that, the threshold means nothing.
    `calibrated` is the same as a switch, None if that was not checked. With `few_positives` there
    is no band, and the limits of the cost are not to be quoted.
    """

    name: str
    title: str
    curve: DecisionCurve | None = None
    band: Band | None = None
    cost: MetricInterval | None = None
    calibration: str = ""
    note: str = ""
    calibrated: bool | None = None
    few_positives: bool = False


def decision_values(
    rows: Rows, titles: dict[str, str], asked: Decisions, settings: Settings
) -> tuple[DecisionValue, ...]:
    """Return what is asked, for every model whose scores are probabilities."""
    free = rows.unclustered()
    found = [_decision(free, name, title, asked, settings) for name, title in titles.items()]
    if found and all(one.note for one in found):
        raise InputError(
            f"net benefit and costs need scores that are probabilities. {found[0].note} Calibrate "
            "the scores first."
        )
    return tuple(found)


def _decision(
    rows: Rows, name: str, title: str, asked: Decisions, settings: Settings
) -> DecisionValue:
    from ..inference.bands import band
    from ..inference.calibration import calibration_check

    given: dict[str, Any] = {"model": name, "confidence_level": settings.confidence_level}
    scores = rows.scores[name]
    low, high = float(scores.min()), float(scores.max())
    if low < 0.0 or high > 1.0:
        note = f"The scores of {title} go from {low:g} to {high:g}: they are no probabilities."
        return DecisionValue(name, title, note=note)
    curve = net_benefit_curve(rows, model=name, prevalence=settings.prevalence)
    cost = None
    if asked.cost_ratio is not None:
        metric = expected_cost(asked.cost_ratio)
        cost = interval(rows, metric, prevalence=settings.prevalence, **given)
    limits, few = None, too_few(rows[name])
    plain = rows.weight is None and settings.prevalence is None
    if asked.net_benefit and plain and not few:
        limits = band(rows, "net_benefit", rng=settings.seed, **given)
    value = DecisionValue(name, title, curve, limits, cost, few_positives=few)
    if rows.weight is not None:
        return value
    check = calibration_check(rows, **given)
    return value._replace(calibration=check.message, calibrated=check.agrees)


def decision_dict(value: DecisionValue) -> dict[str, Any]:
    """Return plain values that survive JSON."""
    unquoted = {"low": None, "high": None} if value.few_positives else {}
    return {
        "name": value.name,
        "expected_cost": value.cost and value.cost.to_dict() | unquoted,
        "net_benefit": value.curve
        and {"probability": value.curve.x.tolist(), "net_benefit": value.curve.y.tolist()},
        "calibration": value.calibration,
        "note": value.note,
    }

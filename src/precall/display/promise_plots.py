"""Pictures of promises: what holds at a threshold, and whether a candidate keeps its rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..points.constraints import Constraint
from .mpl import COLOURS, GREY, framed, legend_below, name_rows, new_axes, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._interval import Interval
    from ..gates.verdicts import Gate
    from ..points.abstention import TwoThresholds
    from ..points.constraints import CertifiedBound, OperatingPoint

_OBSERVED, _PROMISED, _ASKED = COLOURS[0], COLOURS[2], COLOURS[1]
# A promise stands a little under what was observed.
_UNDER = 0.25
#: How each verdict of a rule is drawn: colour and marker.
_VERDICTS = {
    "passed": (COLOURS[2], "o"),
    "failed": (COLOURS[1], "X"),
    "undecided": (GREY, "D"),
}


def plot_operating_point(point: OperatingPoint, ax: Axes | None = None) -> Axes:
    """Draw what was observed at the threshold, what can be promised, and what was asked."""
    level = f"{100 * point.confidence_level:.6g} %"
    title = (
        f"Scores of {point.threshold:.6g} and above ({level} each)"
        if point.certified
        else f"No threshold can be promised ({level})"
    )
    bounds = {
        each.name.replace("_", " "): each
        for each in point.bounds
        if point.certified or isinstance(each, Constraint)
    }
    return _promises(bounds, {}, title, ax)


def plot_two_thresholds(found: TwoThresholds, ax: Axes | None = None) -> Axes:
    """Draw both promises with what was observed, and the share that is left to review."""
    lower, upper = (None if one is None else f"{one:.6g}" for one in (found.lower, found.upper))
    level = f"{100 * found.confidence_level:.6g} % together"
    title = f"Positive from {upper or 'nowhere'}, negative below {lower or 'nowhere'}\n({level})"
    bounds = {each.name.replace("_", " "): each for each in found.constraints}
    return _promises(bounds, {"left to review": found.reviewed}, title, ax)


def plot_gate(gate: Gate, ax: Axes | None = None) -> Axes:
    """Draw how far every rule is from being broken, with its limits; to the right is better.

    A rule that asks for at most so much is turned around.
    """
    names = [rule.title for rule in gate.rules]
    axes = new_axes(ax, names=names, more=4)
    axes.axvline(0.0, color="black", linewidth=1.0)
    named: set[str] = set()
    for row, rule in enumerate(gate.rules):
        colour, marker = _VERDICTS[rule.verdict]
        turned = 1.0 if rule.sign == ">=" else -1.0
        low, middle, high = (
            turned * (value - rule.target) for value in (rule.low, rule.estimate, rule.high)
        )
        axes.plot([low, high], [row, row], color=colour, linewidth=1.6)
        label = None if rule.verdict in named else rule.verdict
        axes.plot([middle], [row], marker, color=colour, markersize=7, label=label, linestyle="")
        named.add(rule.verdict)
    name_rows(axes, names)
    framed(axes, "distance from what the rule asks: better to the right", "")
    versus = "" if gate.baseline is None else f" against {shown(gate.baseline)}"
    axes.set_title(f"{shown(gate.candidate)}{versus}\n{gate.verdict}", fontsize=10)
    legend_below(axes, columns=3)
    return axes


def _promises(
    bounds: Mapping[str, CertifiedBound],
    others: Mapping[str, Interval],
    title: str,
    ax: Axes | None,
) -> Axes:
    """Draw shares under each other: observed with limits, promised, asked for."""
    names = [*bounds, *others]
    axes = new_axes(ax, names=names, more=len(names) + 5)
    rows: list[tuple[Interval | None, CertifiedBound | None]] = [
        *((each.observed, each) for each in bounds.values()),
        *((each, None) for each in others.values()),
    ]
    seen: set[str] = set()

    def mark(x: float, row: float, marker: str, label: str, **look: Any) -> None:
        axes.plot(
            [x],
            [row],
            marker,
            label=None if label in seen else label,
            **({"markersize": 8, "markeredgewidth": 2} | look),
        )
        seen.add(label)

    for row, (observed, bound) in enumerate(rows):
        if observed is not None:
            axes.plot([observed.low, observed.high], [row, row], color=_OBSERVED, linewidth=1.6)
            mark(
                observed.estimate,
                row,
                "o",
                "observed",
                color=_OBSERVED,
            )
        if bound is None:
            continue
        if bound.bound is not None:
            at_least = bound.sign == ">="
            marker, words = (">", "at least") if at_least else ("<", "at most")
            mark(
                bound.bound,
                row + _UNDER,
                marker,
                f"promised: {words}",
                color=_PROMISED,
                markersize=9,
            )
        if isinstance(bound, Constraint):
            mark(
                bound.required,
                row,
                "|",
                "asked for",
                color=_ASKED,
                markersize=28,
                markeredgewidth=2,
            )
    name_rows(axes, names)
    # A net benefit is no share, and may be negative.
    lowest = min([0.0, *(float(np.min(line.get_xdata())) for line in axes.lines)])
    axes.set_xlim(lowest - 0.01, 1.01)
    framed(axes, "value (shares are between 0 and 1)", "")
    axes.set_title(title, fontsize=10)
    if seen:
        legend_below(axes, columns=2)
    return axes

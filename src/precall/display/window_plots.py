"""Drawings of what happens over time: window by window, and decision by decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import UndefinedMetricError
from ..metrics.registry import title_of
from ..monitoring import sequences
from ..monitoring.watching import WATCHED
from .mpl import COLOURS, framed, legend_above, legend_below, new_axes, reference_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..monitoring.watching import Watch
    from ..monitoring.windows import Windows

# How far the two bars of a window stand apart.
_APART = 0.12


def plot_windows(found: Windows, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw every window's interval as it is and at the first window's prevalence.

    `style` goes to ``Axes.errorbar``.
    """
    axes = new_axes(ax)
    kinds = (
        ("interval", "as it is", -_APART),
        ("at_reference", f"at a prevalence of {found.prevalence:.3g}", _APART),
    )
    for (name, label, shift), colour in zip(kinds, COLOURS, strict=False):
        seen = [
            (place + shift, part)
            for place, window in enumerate(found.windows)
            if (part := getattr(window, name)) is not None
        ]
        middles = [part.estimate for _, part in seen]
        errors = [
            [part.estimate - part.low for _, part in seen],
            [part.high - part.estimate for _, part in seen],
        ]
        look: Any = {"fmt": "o", "color": colour, "markersize": 5, "linewidth": 1.6} | style
        axes.errorbar([x for x, _ in seen], middles, yerr=errors, label=label, **look)
    if found.reference.interval is not None:
        reference_line(axes, y=found.reference.interval.estimate)
    places = range(len(found.windows))
    axes.set_xticks(places, [window.start for window in found.windows], rotation=30, ha="right")
    framed(axes, "", title_of(found.metric))
    legend_above(axes)
    return axes


def plot_watch(found: Watch, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the share over the trials with the limits that hold at all times, and the target.

    `style` goes to ``Axes.plot``.
    """
    if not found.path:
        raise UndefinedMetricError("nothing was counted yet, so there is nothing to draw.")
    axes = new_axes(ax)
    trials, successes = np.array(found.path, dtype=np.float64).T
    low, high = np.array(
        [
            sequences.limits(part[:1], part[1:], found.target, 1.0 - found.confidence_level)
            for part in np.stack([successes, trials], axis=1)
        ]
    ).T
    look: Any = {"color": COLOURS[0], "linewidth": 1.6, "label": f"{found.watches} so far"} | style
    (line,) = axes.plot(trials, successes / trials, **look)
    level = f"{100 * found.confidence_level:.6g} % limits, at all times"
    axes.fill_between(
        trials, low, high, color=line.get_color(), alpha=0.2, linewidth=0, label=level
    )
    axes.axhline(found.target, color="0.3", linestyle=(0, (4, 3)), label=f"target {found.target:g}")
    if found.alarm_at is not None:
        when = "" if found.alarm_time is None else f" (at {found.alarm_time})"
        axes.axvline(
            found.alarm_at,
            color=COLOURS[1],
            linestyle=":",
            linewidth=2,
            label=f"alarm after {found.alarm_at:,}{when}",
        )
    axes.set_ylim(-0.01, 1.01)
    framed(axes, f"{WATCHED[found.watches].trial}s counted", found.watches)
    axes.set_title(f"Scores of {found.threshold:.6g} and above: {found.state}", fontsize=10)
    legend_below(axes, columns=2)
    return axes

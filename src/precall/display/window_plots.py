"""Drawing of a metric window by window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .mpl import COLOURS, framed, new_axes, reference_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    framed(axes, "", found.metric)
    axes.legend(frameon=False, fontsize=9)
    return axes

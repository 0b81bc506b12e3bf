"""Drawing with matplotlib.

Colours are those of Okabe and Ito, which stay apart for colour-blind readers and in grey; the
unachievable region is always drawn under a precision-recall curve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..curves import Curve, minimum_pr_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Blue, vermilion, green, orange, purple, sky blue, black.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000")
GREY = "#767676"
SHADE = "#D9D9D9"


def new_axes(ax: Axes | None = None) -> Axes:
    """Return the given Axes, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'sawtooth[plot]'") from error
    return plt.subplots(figsize=(6.0, 4.5), layout="constrained")[1]


def shade_unachievable(ax: Axes, prevalence: float) -> None:
    """Shade what lies below the minimum precision-recall curve."""
    floor = minimum_pr_curve(prevalence)
    ax.fill_between(
        floor.recall, floor.precision, color=SHADE, linewidth=0, label="unachievable", zorder=0
    )
    ax.plot(floor.recall, floor.precision, color=GREY, linewidth=0.8, zorder=1)


def plot_curve(curve: Curve, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw a curve with its baselines; thinned, so that no eye sees the difference.

    Baselines are drawn once per Axes, so several curves can share them. `style` goes to
    ``Axes.plot``.
    """
    axes = new_axes(ax)
    if not axes.has_data():
        _baselines(axes, curve)
    thin = curve.thin(5e-4)
    style.setdefault("linewidth", 1.6)
    axes.plot(thin.x, thin.y, **style)
    return axes


def _baselines(axes: Axes, curve: Curve) -> None:
    axes.set_prop_cycle(color=COLOURS)
    dashed: dict[str, Any] = {
        "color": GREY,
        "linewidth": 1.0,
        "linestyle": (0, (4, 3)),
        "zorder": 1,
    }
    if curve.kind == "pr":
        shade_unachievable(axes, curve.prevalence)
        axes.axhline(curve.prevalence, label="random", **dashed)
        axes.set_ylim(0, 1.02)
    else:
        random, perfect = curve.random(), curve.perfect()
        axes.plot(random.x, random.y, label="random", **dashed)
        if curve.kind in ("hit", "lift"):
            axes.plot(perfect.x, perfect.y, label="perfect", **(dashed | {"linestyle": ":"}))
        if curve.kind == "gain":
            axes.set_ylim(max(-1.0, float(np.min(curve.y)) - 0.02), 1.02)
    axes.set_xlim(-0.002, 1.002)
    axes.set_xlabel(curve.labels[0])
    axes.set_ylabel(curve.labels[1])
    axes.spines[["top", "right"]].set_visible(False)

"""Drawings of plans: what more rows would bring, and where labels are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..metrics.registry import title_of
from .mpl import COLOURS, GREY, framed, legend_below, name_rows, new_axes, reference_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..audit.label_plan import LabelPlan
    from ..planning.powers import Power
    from ..planning.sizes import CaseControl, SampleSize


def plot_size(plan: SampleSize, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the width over the number of rows; `style` goes to ``Axes.plot``."""
    axes = _line(plan.sizes, plan.widths, (plan.rows, plan.expected_width), ax, style)
    axes.set_yscale("log")
    reference_line(axes, y=plan.width)
    level = f"{100 * plan.confidence_level:.6g} %"
    framed(axes, "rows", f"width of the {level} interval of {title_of(plan.metric)}")
    return axes


def plot_power(plan: Power, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the power over the number of rows; `style` goes to ``Axes.plot``."""
    axes = _line(plan.sizes, plan.powers, (plan.rows, plan.power), ax, style)
    axes.set_ylim(0.0, 1.02)
    framed(
        axes,
        "rows",
        f"power to show a difference of {plan.difference:.3g} in {title_of(plan.metric)}",
    )
    return axes


def plot_case_control(plan: CaseControl, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw rows and positives over the ratio; `style` goes to ``Axes.plot``."""
    axes = new_axes(ax)
    for name, colour in zip(("rows", "positives"), COLOURS, strict=False):
        look: Any = {"color": colour, "marker": "o", "linewidth": 1.6, "label": name} | style
        axes.plot(plan.ratios, getattr(plan, name), **look)
    axes.set_xscale("log")
    axes.set_yscale("log")
    framed(axes, "negatives per positive", f"needed for a width of {plan.width:g}")
    axes.legend(frameon=False, fontsize=9)
    return axes


def plot_label_plan(plan: LabelPlan, ax: Axes | None = None) -> Axes:
    """Draw, of every stratum, how many rows it has and how many of them get a label."""
    names = [stratum["name"] for stratum in plan.strata]
    axes = new_axes(ax, names=names, more=4)
    places = range(len(plan.strata))
    rows, labels, new = (
        [stratum[name] for stratum in plan.strata] for name in ("rows", "labels", "new")
    )
    axes.hlines(places, labels, rows, color="0.75", linewidth=1.2, zorder=1)
    axes.plot(rows, places, "s", color=GREY, fillstyle="none", label="rows")
    axes.plot(labels, places, "o", color=COLOURS[0], label="labels when the plan is done")
    if plan.round > 1:
        axes.plot(new, places, "|", color=COLOURS[1], markersize=12, label="of these, new")
    axes.set_xscale("symlog" if min(new) == 0 else "log")
    name_rows(axes, names)
    framed(axes, "number of rows (logarithmic)", "")
    width = "" if plan.expected_width is None else f", expected width {plan.expected_width:.2g}"
    chosen = f"{plan.rows.size:,} of {plan.inclusion.size:,} rows to label"
    axes.set_title(f"{chosen}\n{title_of(plan.metric)}{width}", fontsize=10)
    legend_below(axes, columns=2)
    return axes


def _line(x: Any, y: Any, answer: tuple[float, float], ax: Axes | None, style: Any) -> Axes:
    axes = new_axes(ax)
    look = {"color": COLOURS[0], "linewidth": 1.6} | style
    axes.plot(x, y, **look)
    axes.plot(*([each] for each in answer), "o", color=look["color"], markersize=6)
    axes.set_xscale("log")
    return axes

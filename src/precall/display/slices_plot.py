"""Slices drawn under each other, the lowest metric on top."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _validation
from .mpl import COLOURS, GREY, legend_above, name_rows, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..groups.slices_result import Slices

_BELOW, _ABOVE = COLOURS[1], COLOURS[0]


def plot_slices(slices: Slices, ax: Axes | None = None, *, most: int = 40) -> Axes:
    """Draw the limits of slices; at most so many, the lowest metric first."""
    shown = slices.slices[: _validation.as_count(most, "most", minimum=1)]
    names = [f"{one.name}  ({one.n_pos:,})" for one in shown]
    axes = new_axes(ax, names=names, more=1)
    colours = {id(one): GREY for one in shown}
    colours |= {id(one): _BELOW for one in slices.below}
    colours |= {id(one): _ABOVE for one in slices.above}
    for row, one in enumerate(shown):
        if one.interval is not None:
            colour = colours[id(one)]
            axes.plot([one.interval.low, one.interval.high], [row, row], color=colour)
            axes.plot([one.estimate], [row], "o", color=colour, markersize=5)
    name_rows(axes, names, size=8)
    left_out = len(slices) - len(shown)
    more = f", {left_out} more not shown" if left_out else ""
    axes.set_xlabel(
        f"{slices.title} at prevalence {slices.prevalence:.3g}\n"
        f"{100 * slices.confidence_level:.6g} % for all {len(slices)} slices{more}"
    )
    for colour, words in ((_BELOW, "worse than the rest"), (_ABOVE, "better than the rest")):
        if colour in [colours[id(one)] for one in shown]:
            axes.plot([], [], "o-", color=colour, markersize=5, label=words)
    if axes.get_legend_handles_labels()[1]:
        legend_above(axes)
    axes.spines[["top", "right"]].set_visible(False)
    return axes

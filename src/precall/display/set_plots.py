"""Pictures of many rankings: their curves, and what they come to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._words import plural
from ..curves import pr_curve
from ..exceptions import UndefinedMetricError
from ..metrics.areas import aucpr
from ..metrics.registry import title_of
from .mpl import (
    COLOURS,
    GREY,
    framed,
    legend_below,
    legend_beside,
    new_axes,
    shade_unachievable,
    shown,
    styles,
)
from .result_plots import draw_groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..groups.averages import Aggregate
    from ..ranking.ranking_set import RankingSet

# More curves than this cannot be distinguished by colour and dash, so they are drawn alike.
_MOST_NAMED = 12
_THIN = 5e-4


def plot_ranking_set(rankings: RankingSet, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw precision over recall of every group with both classes; `style` goes to ``Axes.plot``.

    Groups may differ in prevalence. What is shaded is unachievable for all of them, and a group's
    mark at the right end is its prevalence, which is what a random order of it has.
    """
    drawn = [
        (str(label), ranking)
        for label, ranking in zip(rankings.labels.tolist(), rankings, strict=True)
        if ranking.n_pos > 0 and ranking.n_neg > 0
    ]
    if not drawn:
        raise UndefinedMetricError(
            "no group has both positives and negatives, so there is no curve to draw."
        )
    axes = new_axes(ax)
    shade_unachievable(axes, min(ranking.prevalence for _, ranking in drawn))
    named = len(drawn) <= _MOST_NAMED
    looks: list[dict[str, Any]] = (
        styles(len(drawn))
        if named
        else [{"color": COLOURS[0], "alpha": max(0.15, 4.0 / len(drawn))}] * len(drawn)
    )
    for place, ((label, ranking), look) in enumerate(zip(drawn, looks, strict=True)):
        curve = pr_curve(ranking).thin(_THIN)
        text = f"{shown(label)}  AP {aucpr(ranking):.3f}" if named else None
        text = f"one of {len(drawn):,} groups" if not named and place == 0 else text
        axes.plot(curve.x, curve.y, **({"linewidth": 1.4, "label": text} | look | style))
        colour = look["color"] if named else GREY
        axes.plot([1.0], [ranking.prevalence], "_", color=colour, markersize=9, clip_on=False)
    axes.plot([], [], "_", color=GREY, markersize=9, label="prevalence (random order)")
    axes.set_xlim(-0.002, 1.002)
    axes.set_ylim(0, 1.02)
    framed(axes, "recall", "precision")
    without = len(rankings) - len(drawn)
    missing = f" ({without:,} with one class only, not drawn)" if without else ""
    axes.set_title(f"{plural(len(rankings), 'group')}{missing}", fontsize=10)
    if named:
        legend_beside(axes)
    else:
        legend_below(axes, columns=2)
    return axes


def plot_aggregate(found: Aggregate, ax: Axes | None = None) -> Axes:
    """Draw the metric of every group, lowest first, with what they come to and its limits."""
    axes = draw_groups(ax, found.per_group, found.labels)
    how = f"{found.how} {found.estimate:.4g}"
    axes.axvline(found.estimate, color=COLOURS[1], linestyle="--", linewidth=1.4, label=how)
    if found.interval is not None:
        level = f"{100 * found.interval.confidence_level:.6g} % interval"
        axes.axvspan(
            found.interval.low, found.interval.high, color=COLOURS[1], alpha=0.15, label=level
        )
    framed(axes, title_of(found.metric), axes.get_ylabel())
    undefined = f", {found.n_undefined:,} undefined" if found.n_undefined else ""
    axes.set_title(f"{plural(int(np.size(found.labels)), 'group')}{undefined}", fontsize=10)
    legend_below(axes, columns=2)
    return axes

"""Pictures of results that are no curves: differences, tests, calibration, groups, conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..metrics.registry import title_of
from .mpl import COLOURS, framed, legend_below, name_rows, new_axes, plot_forest, plot_pr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..evaluation.model_result import ModelEvaluation
    from ..groups.group_values import GroupValues
    from ..inference.calibration import CalibrationCheck
    from ..inference.chance import ChanceTest
    from ..inference.comparison import Comparison
    from ..metrics.conventions import Conventions

_BINS = 40
# With more models than this, bands of all would bury the curves.
MOST_BANDS = 3
# With more dots than this, their names would lie on each other.
_MOST_NAMES = 40


def plot_comparison(comparison: Comparison, ax: Axes | None, *, simultaneous: bool) -> Axes:
    """Draw every difference with its interval, and zero."""
    intervals = comparison.simultaneous if simultaneous else comparison.intervals
    named = {f"{first} − {second}": one for (first, second), one in intervals.items()}
    level = f"{100 * comparison.confidence_level:g} %"
    together = ", all together" if simultaneous else ""
    label = f"difference of {title_of(comparison.metric)} ({level}{together})"
    return plot_forest(named, reference=0.0, label=label, ax=ax)


def plot_models(models: tuple[ModelEvaluation, ...], ax: Axes | None, **options: Any) -> Axes:
    """Draw precision over recall of each model; with few models, with their bands."""
    rankings = {model.title: model.there for model in models if model.has_both_classes}
    bands = None
    if len(models) <= MOST_BANDS:
        bands = {model.title: model.band for model in models if model.band is not None}
    return plot_pr(rankings, bands=bands or None, ax=ax, **options)


def plot_chance(test: ChanceTest, ax: Axes | None) -> Axes:
    """Draw the distribution over random orders, what they have on average, and the estimate."""
    axes = new_axes(ax)
    axes.hist(
        test.distribution,
        bins=min(_BINS, np.unique(test.distribution).size),
        weights=test.probabilities,
        color=COLOURS[0],
        alpha=0.5,
        label="random orders",
    )
    axes.axvline(test.expected, color="0.45", linestyle="--", linewidth=1, label="their mean")
    axes.axvline(test.estimate, color=COLOURS[1], linewidth=2, label="these rows")
    framed(axes, title_of(test.metric), "probability")
    axes.legend(frameon=False, fontsize=9)
    return axes


def plot_calibration(check: CalibrationCheck, ax: Axes | None) -> Axes:
    """Draw the observed share over the predicted one, in each tenth of the rows."""
    axes = new_axes(ax)
    observed = np.array([one.estimate for one in check.tenths])
    low = observed - [one.low for one in check.tenths]
    high = np.array([one.high for one in check.tenths]) - observed
    top = min(1.0, 1.1 * float(max(np.max(observed + high), np.max(check.tenths_predicted))))
    axes.plot([0, top], [0, top], color="0.45", linestyle="--", linewidth=1, label="calibrated")
    axes.errorbar(
        check.tenths_predicted,
        observed,
        yerr=np.maximum([low, high], 0.0),
        fmt="o",
        color=COLOURS[0],
        capsize=3,
        label="tenths of the rows",
    )
    axes.set_xlim(-0.02 * top, 1.02 * top)
    axes.set_ylim(-0.02 * top, 1.02 * top)
    framed(axes, "predicted share of positives", "observed share of positives")
    axes.legend(frameon=False, fontsize=9)
    return axes


def plot_values(values: GroupValues, ax: Axes | None) -> Axes:
    """Draw the metric of every group, lowest first; those without one are left out."""
    axes = draw_groups(ax, values.values, values.labels)
    axes.axvline(values.mean(), color="0.45", linestyle="--", linewidth=1, label="mean")
    framed(axes, title_of(values.metric), axes.get_ylabel())
    legend_below(axes)
    return axes


def plot_conventions(table: Conventions, ax: Axes | None) -> Axes:
    """Draw what every tool prints, lowest first; those without a number are left out."""
    rows = sorted((row for row in table if row.value is not None), key=_value)
    axes = _dots(
        ax, np.array([row.value for row in rows]), [f"{one.tool} {one.call}" for one in rows]
    )
    framed(axes, "area", "")
    return axes


def draw_groups(ax: Axes | None, values: Any, labels: Any) -> Axes:
    """Draw one value per group, lowest first; groups without one are left out."""
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    return _dots(ax, values[order], labels[order].tolist())


def _value(row: Any) -> float:
    return float(row.value)


def _dots(ax: Axes | None, values: Any, names: list[object]) -> Axes:
    many = len(names) > _MOST_NAMES
    axes = new_axes(ax, names=None if many else names, more=2)
    axes.plot(values, range(len(names)), "o", color=COLOURS[0], markersize=3 if many else 6)
    if many:
        axes.set_yticks([])
        axes.set_ylabel("groups, lowest first")
        axes.set_ylim(len(names) - 0.5, -0.5)
    else:
        name_rows(axes, names)
    return axes

"""Drawing with matplotlib.

Colours are those of Okabe and Ito, which stay apart for colour-blind readers; lines also differ
in dash, so that they stay apart in grey. The unachievable region is always drawn under a
precision-recall curve, and baselines are drawn once per Axes, however many curves share them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._optional import missing
from .._text import visible
from ..curves import Curve, DecisionCurve, is_achievable, minimum_pr_curve, pr_curve
from ..exceptions import InputError
from ..metrics.areas import aucpr, minimum_aucpr
from ..points.contours import Contour, iso_f_contours
from ..ranking import Ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..inference.bands import Band

# Lift of rarer positives is drawn on logarithmic axes.
_RARE = 0.05
# Places on a logarithmic axis at which a curve is drawn.
_LOG_POINTS = 1001
#: Blue, vermilion, green, orange, purple, sky blue, black (Okabe & Ito 2008); brown, violet, olive.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000"),
    *("#8A5A2B", "#6A51C7", "#7D8B00"),
)
DASHES: tuple[Any, ...] = (
    "-",
    (0, (6, 2)),
    (0, (2, 1.5)),
    (0, (6, 2, 1.5, 2)),
    "-",
    (0, (6, 2)),
    "-",
)
GREY = "#767676"
SHADE = "#D9D9D9"
_DASHED: dict[str, Any] = {"color": GREY, "linewidth": 1.0, "linestyle": (0, (4, 3)), "zorder": 1}
_TOLERANCE = 5e-4


def new_axes(
    ax: Axes | None = None, *, names: Sequence[object] | None = None, more: float = 0.0
) -> Axes:
    """Return the given Axes, or those of a new figure.

    One with `names` under each other at its side is as high and as wide as they need; `more` is
    how many lines a title and a legend take.
    """
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise missing("drawing", "matplotlib", "plot") from error
    if names is None:
        size = (6.0, 4.5)
    else:
        longest = max((len(str(name)) for name in names), default=0)
        size = (5.0 + 0.08 * min(longest, 90), 1.2 + 0.26 * (max(len(names), 3) + more))
    return plt.subplots(figsize=size, layout="constrained")[1]


def shown(name: object) -> str:
    """Return a caller's name as text that matplotlib shows as it is.

    Two dollar signs would be read as a formula, and a label that begins with an underscore is
    left out of legends.
    """
    text = visible(name).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def styles(count: int) -> list[dict[str, Any]]:
    """Colour and dash of each of several lines."""
    return [
        # After one round of colours the dashes move on, so that no two lines look alike.
        {
            "color": COLOURS[k % len(COLOURS)],
            "linestyle": DASHES[(k + k // len(COLOURS)) % len(DASHES)],
        }
        for k in range(count)
    ]


def shade_unachievable(ax: Axes, prevalence: float) -> None:
    """Shade what lies below the minimum precision-recall curve."""
    floor = minimum_pr_curve(prevalence)
    recall, precision = floor.recall, floor.precision
    ax.fill_between(recall, precision, color=SHADE, linewidth=0, label="unachievable", zorder=0)
    ax.plot(recall, precision, color=GREY, linewidth=0.8, zorder=1)


def plot_curve(curve: Curve, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw a curve over its baselines; thinned, so that no eye sees the difference.

    `style` goes to ``Axes.plot``.
    """
    axes = new_axes(ax)
    _baselines(axes, curve.kind, curve)
    axes.plot(*_drawn(curve, axes), **({"linewidth": 1.6} | style))
    return axes


def _drawn(curve: Curve, axes: Axes) -> tuple[Any, Any]:
    """The points to draw: those that can be seen on the scale of the axes."""
    if axes.get_xscale() != "log":
        thin = curve.thin(_TOLERANCE)
        return thin.x, thin.y
    # Strips of equal width would leave nothing of what a logarithmic axis spreads.
    rows = max(float(curve.n_pos + curve.n_neg), 2.0)
    x = np.minimum(np.geomspace(1.0 / rows, 1.0, _LOG_POINTS), 1.0)
    y = curve.at(x)
    return x[y > 0], y[y > 0]


def plot_decision_curve(curve: DecisionCurve, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw a cost, net-benefit or Brier curve over what needs no scorer.

    `style` goes to ``Axes.plot``.
    """
    axes = new_axes(ax)
    if not any(line.get_label() in curve.references for line in axes.lines):
        axes.set_prop_cycle(color=COLOURS)
        for (name, values), dash in zip(curve.references.items(), ((0, (4, 3)), ":"), strict=True):
            axes.plot(curve.x, values, label=name, **(_DASHED | {"linestyle": dash}))
    axes.plot(curve.x, curve.y, **({"linewidth": 1.6} | style))
    axes.set_xlim(-0.002, 1.002)
    # Selecting everything falls without end where false alarms cost most.
    lowest, highest = float(np.min(curve.y)), float(np.max(curve.y))
    room = 0.05 * max(highest - lowest, curve.prevalence)
    axes.set_ylim(min(lowest, 0.0) - room, max(highest, curve.prevalence) + room)
    framed(axes, *curve.labels)
    return axes


def plot_band(band: Band, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw a band and the curve it was made from; `style` goes to ``Axes.fill_between``."""
    axes = new_axes(ax)
    (line,) = axes.plot(band.x, band.y, linewidth=1.6, color=style.get("color"))
    level = f"{100 * band.confidence_level:.6g} % " + ("band" if band.simultaneous else "pointwise")
    look = {"color": line.get_color(), "alpha": 0.2, "linewidth": 0, "label": level} | style
    axes.fill_between(band.x, band.low, band.high, **look)
    if band.kind.endswith("difference"):
        axes.axhline(0.0, **_DASHED)
    framed(axes, *band.labels)
    return axes


def plot_pr(
    models: Ranking | Mapping[str, Ranking],
    *,
    bands: Mapping[str, Band] | None = None,
    iso_f: Sequence[float] = (),
    points: Mapping[str, tuple[float, float]] | None = None,
    log_recall: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw precision-recall curves of one or several models.

    Parameters
    ----------
    models : Ranking or mapping of names to rankings
        All of one prevalence, since the unachievable region depends on it.
    bands : mapping of names to Band, optional
    iso_f : sequence of float
        Values of F1 whose contours are drawn.
    points : mapping of labels to (recall, precision), optional
        Operating points to mark.
    log_recall : bool
        Spread the low recalls.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    named = models if isinstance(models, Mapping) else {"": models}
    prevalences = [ranking.prevalence for ranking in named.values()]
    if max(prevalences) - min(prevalences) > 1e-9:
        raise InputError(
            "models have different prevalences, so their curves do not share a floor: "
            "bring them to one with Ranking.at_prevalence."
        )
    axes = new_axes(ax)
    for value in iso_f:
        _iso_f(axes, value, prevalences[0])
    for (name, ranking), style in zip(named.items(), styles(len(named)), strict=True):
        area = f"AP {aucpr(ranking):.3f}"
        plot_curve(
            pr_curve(ranking), axes, label=f"{shown(name)}  {area}" if name else area, **style
        )
        if bands and name in bands:
            band = bands[name]
            axes.fill_between(
                band.x, band.low, band.high, color=style["color"], alpha=0.2, linewidth=0
            )
    for label, (recall, precision) in (points or {}).items():
        axes.plot([recall], [precision], "o", color="black", markersize=6, zorder=5)
        axes.annotate(
            shown(label), (recall, precision), textcoords="offset points", xytext=(8, 6), fontsize=9
        )
    if log_recall:
        axes.set_xscale("log")
        axes.set_xlim(max(1e-3, 0.5 / max(r.n_pos for r in named.values())), 1.0)
    legend_apart(axes, ax)
    return axes


def plot_contour(contour: Contour, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw a line of equal F-measure, named at its end; `style` goes to ``Axes.plot``."""
    axes = new_axes(ax)
    _contour(axes, contour, contour.recall, contour.precision, {"color": GREY} | style)
    axes.set_xlim(-0.002, 1.002)
    axes.set_ylim(0, 1.02)
    framed(axes, "recall", "precision")
    return axes


def _iso_f(axes: Axes, value: float, prevalence: float) -> None:
    """Draw the contour of equal F1, where it is achievable."""
    (line,) = iso_f_contours([value], n_points=200)
    inside = is_achievable(line.recall, line.precision, prevalence)
    if inside.any():
        _contour(axes, line, line.recall[inside], line.precision[inside], {"color": SHADE})


def _contour(axes: Axes, contour: Contour, recall: Any, precision: Any, style: Any) -> None:
    axes.plot(recall, precision, **({"linewidth": 0.9, "zorder": 0} | style))
    axes.annotate(
        f"F{contour.beta:g} {contour.value:g}",
        (recall[-1], precision[-1]),
        color=GREY,
        fontsize=8,
        xytext=(0, 4),
        textcoords="offset points",
        ha="right",
        va="bottom",
    )


def plot_estimators(
    ranking: Ranking,
    estimators: Iterable[str] = (
        "average_precision",
        "lower_trapezoid",
        "upper_trapezoid",
        "interpolated_mean",
        "davis_goadrich",
        "interpolated_convex",
    ),
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw what each estimator integrates, so that their disagreement can be seen.

    The height drawn at a recall is the estimator's own area over a narrow range around it.
    """
    axes = new_axes(ax)
    _baselines(axes, "pr", pr_curve(ranking))
    chosen = list(estimators)
    edges = np.linspace(0.0, 1.0, 401)
    for name, style in zip(chosen, styles(len(chosen)), strict=True):
        height = [
            aucpr(ranking, estimator=name, recall=(float(a), float(b))) / (b - a)
            for a, b in zip(edges[:-1], edges[1:], strict=True)  # noqa: RUF007 - arrays
        ]
        area = aucpr(ranking, estimator=name)
        axes.stairs(
            height, edges, baseline=None, linewidth=1.4, label=f"{name}  {area:.3f}", **style
        )
    legend_apart(axes, ax)
    return axes


def plot_prevalence(
    models: Ranking | Mapping[str, Ranking],
    prevalences: npt.ArrayLike | None = None,
    *,
    estimator: str = "average_precision",
    ax: Axes | None = None,
) -> Axes:
    """Draw the area that each model would have at other prevalences, over its floor."""
    axes = new_axes(ax)
    named = models if isinstance(models, Mapping) else {"": models}
    grid = np.geomspace(1e-4, 0.5, 60) if prevalences is None else np.sort(np.asarray(prevalences))
    floor = minimum_aucpr(grid)
    axes.fill_between(grid, floor, color=SHADE, linewidth=0, label="unachievable", zorder=0)
    axes.plot(grid, grid, label="random", **_DASHED)
    for (name, ranking), style in zip(named.items(), styles(len(named)), strict=True):
        areas = [aucpr(ranking.at_prevalence(float(p)), estimator=estimator) for p in grid]
        axes.plot(grid, areas, label=shown(name) if name else estimator, linewidth=1.6, **style)
        axes.plot(
            [ranking.prevalence], [aucpr(ranking, estimator=estimator)], "o", color=style["color"]
        )
    axes.set_xscale("log")
    axes.set_ylim(0, 1.02)
    framed(axes, "prevalence", f"AUCPR ({estimator})")
    legend_apart(axes, ax)
    return axes


def plot_forest(
    intervals: Mapping[str, Any],
    *,
    reference: float | None = None,
    label: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw named intervals under each other; `reference` is a line to compare with."""
    axes = new_axes(ax, names=list(intervals))
    for row, interval in enumerate(intervals.values()):
        axes.plot([interval.low, interval.high], [row, row], color=COLOURS[0], linewidth=1.6)
        axes.plot([interval.estimate], [row], "o", color=COLOURS[0], markersize=6)
    if reference is not None:
        axes.axvline(reference, **_DASHED)
    name_rows(axes, list(intervals))
    framed(axes, label, "")
    return axes


def name_rows(axes: Axes, names: Sequence[object], **style: Any) -> None:
    """Write names at the heights 0, 1, 2, ... from the top down; `style` is that of the text."""
    axes.set_yticks(range(len(names)), [shown(name) for name in names], **style)
    axes.set_ylim(max(len(names), 1) - 0.5, -0.5)


def reference_line(axes: Axes, *, y: float) -> None:
    """Draw a dashed line to compare with."""
    axes.axhline(y, **_DASHED)


def framed(axes: Axes, x_label: str, y_label: str) -> None:
    """Name the axes, and leave out the lines that enclose nothing."""
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.spines[["top", "right"]].set_visible(False)


def legend_below(axes: Axes, *, columns: int = 1) -> None:
    """Put the legend under the Axes, where it hides nothing."""
    # In units of the font's size, so that the label of the axis has room at any height.
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        borderaxespad=4.5,
        ncols=columns,
        frameon=False,
        fontsize=9,
        markerscale=0.7,
    )


def legend_above(axes: Axes) -> None:
    """Put a short legend over the Axes, where it hides nothing."""
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False, fontsize=9)


def legend_apart(axes: Axes, given: Axes | None) -> None:
    """Put the legend under new Axes, which grow by its lines.

    Into Axes that were given it goes where it fits best: what is around them is the caller's.
    """
    if given is not None:
        axes.legend(frameon=False, fontsize=9)
        return
    legend_below(axes, columns=2)
    lines = -(-len(axes.get_legend_handles_labels()[0]) // 2)
    figure: Any = axes.figure
    figure.set_figheight(figure.get_figheight() + 0.2 * lines)


def legend_beside(axes: Axes) -> None:
    """Put the legend to the right of the Axes, where it hides nothing."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)


def _baselines(axes: Axes, kind: str, curve: Curve) -> None:
    """Draw what every curve of this kind is compared with, once per Axes."""
    if any(line.get_label() == "random" for line in axes.lines):
        return
    axes.set_prop_cycle(color=COLOURS)
    if kind == "pr":
        shade_unachievable(axes, curve.prevalence)
        axes.axhline(curve.prevalence, label="random", **_DASHED)
        axes.set_ylim(0, 1.02)
    else:
        random, perfect = curve.random(), curve.perfect()
        axes.plot(random.x, random.y, label="random", **_DASHED)
        if kind in ("hit", "lift"):
            axes.plot(perfect.x, perfect.y, label="perfect", **(_DASHED | {"linestyle": ":"}))
        if kind == "gain":
            axes.set_ylim(max(-1.0, float(np.min(curve.y)) - 0.02), 1.02)
    if kind == "lift" and curve.prevalence < _RARE:  # all that matters is in a corner otherwise
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(1.0 / max(float(curve.n_pos + curve.n_neg), 2.0), 1.0)
    else:
        axes.set_xlim(-0.002, 1.002)
    framed(axes, *curve.labels)

"""Pictures of private releases. Nothing here looks at data: all of it was paid for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .mpl import COLOURS, GREY, framed, legend_below, name_rows, new_axes, shade_unachievable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..privacy.crossval import PrivateCrossValidation
    from ..privacy.private_comparison import PrivateComparison
    from ..privacy.private_curve import PrivateCurve
    from ..privacy.values import PrivateValue

_LABELS = {"pr": ("recall", "precision"), "roc": ("false-positive rate", "true-positive rate")}


def plot_private_curve(curve: PrivateCurve, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw a released curve with error bars for its noise; `style` goes to ``Axes.plot``."""
    axes = new_axes(ax)
    x, y = curve.recall, curve.precision
    random = [curve.prevalence] * 2
    if curve.kind == "roc":
        x, y, random = curve.false_positive_rate, curve.recall, [0.0, 1.0]
    else:
        shade_unachievable(axes, curve.prevalence)
    axes.plot([0.0, 1.0], random, color=GREY, linestyle=(0, (4, 3)), linewidth=1.0, label="random")
    look: Any = {"color": COLOURS[0], "linewidth": 1.6, "label": f"area {curve.area():.3f}"} | style
    (line,) = axes.plot(x, y, **look)
    noise = curve.band(rng=0)  # a picture looks the same twice
    axes.fill_between(
        noise.x,
        noise.low,
        noise.high,
        color=line.get_color(),
        alpha=0.2,
        linewidth=0,
        label=f"{100 * noise.confidence_level:.6g} % for the noise, pointwise",
    )
    axes.set_xlim(-0.002, 1.002)
    axes.set_ylim(0, 1.02)
    framed(axes, *_LABELS[curve.kind])
    axes.set_title(_title(curve), fontsize=10)
    legend_below(axes, columns=2)
    return axes


def plot_private_comparison(found: PrivateComparison, ax: Axes | None = None) -> Axes:
    """Draw both values and their difference, each with its interval for the noise."""
    named = {name: getattr(found, name) for name in ("candidate", "baseline", "difference")}
    axes = _values(named, ax)
    axes.axvline(0.0, color=GREY, linestyle=(0, (4, 3)), linewidth=1.0)
    framed(axes, found.difference.metric.name.rpartition(" (")[0], "")
    axes.set_title(_title(found.difference), fontsize=10)
    legend_below(axes)
    return axes


def plot_private_folds(found: PrivateCrossValidation, ax: Axes | None = None) -> Axes:
    """Draw the release of every fold with its interval for the noise, and their mean."""
    axes = _values({f"fold {k}": fold for k, fold in enumerate(found.folds, start=1)}, ax)
    axes.axvline(
        found.value,
        color=COLOURS[1],
        linestyle="--",
        linewidth=1.4,
        label=f"mean {found.value:.4g}",
    )
    framed(axes, found.folds[0].metric.name, "")
    axes.set_title(_title(found), fontsize=10)
    legend_below(axes)
    return axes


def _values(named: dict[str, PrivateValue], ax: Axes | None) -> Axes:
    axes = new_axes(ax, names=list(named), more=5)
    for row, one in enumerate(named.values()):
        if one.noisy:  # other mechanisms have no interval that may be published
            limits = one.interval()
            axes.plot(
                [limits.low, limits.high],
                [row, row],
                color=COLOURS[0],
                linewidth=1.6,
                label=None if row else f"{100 * limits.confidence_level:.6g} % for the noise",
            )
        axes.plot([one.value], [row], "o", color=COLOURS[0], label=None if row else "released")
    name_rows(axes, list(named))
    return axes


def _title(released: Any) -> str:
    seeded = ", seeded: not private" if released.seeded else ""
    delta = f", delta {released.delta:.3g}" if released.delta else ""
    return f"Released with epsilon {released.epsilon:.6g}{delta}{seeded}"

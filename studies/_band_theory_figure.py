"""The figure of the study of theorems, drawn from its table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._band_rows import KINDS, chosen, pairs_of, points_of
from ._results import Results

#: The sample prevalence whose weights are drawn.
_PREVALENCE = 0.1
_DRAWN = [kind for kind in KINDS if kind[0] not in ("pooled", "per_class")]


def draw(results: Results) -> None:
    """Draw the weights, four panels of distances, and the variances."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(15, 9), layout="constrained")
    _draw_weights(results, axes[0, 0])
    for ax, pair in zip(axes[0, 1:], pairs_of(results, "fixed"), strict=False):
        _draw_distances(results, ax, *pair, design="fixed")
    for ax, pair in zip(axes[1, 1:], pairs_of(results, "random"), strict=False):
        _draw_distances(results, ax, *pair, design="random")
    _draw_variances(results, axes[1, 0])
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    handles, labels = axes[0, 1].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=3,
        frameon=False,
        title="bootstrap from, its error measured",
    )
    results.save_figure(figure)
    plt.close(figure)


def _draw_weights(results: Results, ax: Any) -> None:
    from precall.display.mpl import styles

    rows = chosen(
        results,
        part="weights",
        method="paper",
        prevalence=_PREVALENCE,
        quantity="log10_effective_share",
    )
    proposals = sorted({row["proposal"] for row in rows})
    for proposal, look in zip(proposals, styles(len(proposals)), strict=True):
        here = [row for row in rows if row["proposal"] == proposal]
        sizes = np.geomspace(1.0, here[-1]["rows"], 200)
        gap = (_PREVALENCE - proposal) ** 2 / (proposal * (1.0 - proposal))
        ax.plot(sizes, (1.0 + gap) ** -sizes, label=f"p̃ = {proposal:g}", **look)
        seen = [10.0 ** row["value"] for row in here]
        ax.plot([row["rows"] for row in here], seen, "o", color=look["color"], markersize=5)
    count = results.settings["weight_replicates"]
    ax.axhline(1.0 / count, color="#767676", linewidth=0.8)
    ax.annotate(
        f"one replicate of {count:,}",
        (1.0, 1.0 / count),
        xycoords=("axes fraction", "data"),
        ha="right",
        va="top",
        xytext=(0, -3),
        textcoords="offset points",
        fontsize=9,
        color="#555555",
    )
    ax.set(xscale="log", yscale="log", xlim=(1.0, None), ylim=(1e-7, 2.0), xlabel="rows")
    ax.set_ylabel("effective share of the replicates")
    ax.set_title(f"importance weights, sample prevalence {_PREVALENCE:g}\n(dots: simulated)")
    ax.legend(frameon=False, fontsize=9, loc="lower left")


def _draw_distances(results: Results, ax: Any, model: str, prevalence: float, design: str) -> None:
    from precall.display.mpl import styles

    key = {"model": model, "prevalence": prevalence, "design": design}
    for kind, look in zip(_DRAWN, styles(len(_DRAWN)), strict=True):
        words = ("distance",) if design == "fixed" else ("low", "high")
        lines = [points_of(results, kind, word, **key) for word in words]
        sizes = [row["rows"] for row in lines[0]]
        ends = np.array([[max(row["value"], 1e-4) for row in line] for line in lines])
        ax.plot(sizes, np.sqrt(ends[0] * ends[-1]), marker=".", label=_typeset(KINDS[kind]), **look)
        error = [2.0 * row["standard_error"] for row in lines[-1]]
        low, high = np.maximum(ends[0] - error, 1e-4), ends[-1] + error
        ax.fill_between(sizes, low, high, color=look["color"], alpha=0.15, linewidth=0)
    if design == "random":
        chance = points_of(results, ("chance", "smoothed"), "high", **key)
        ax.plot(
            [row["rows"] for row in chance],
            [row["value"] for row in chance],
            color="#767676",
            linestyle=":",
            linewidth=1.0,
        )
        ax.annotate(
            "what chance alone gives",
            (chance[0]["rows"], chance[0]["value"]),
            xytext=(0, -12),
            textcoords="offset points",
            fontsize=9,
            color="#555555",
        )
    _draw_guides(ax, design)
    what = "at recall .5 (exact)" if design == "fixed" else "largest over recall .1 to .9"
    ax.set(xscale="log", yscale="log", xlabel="rows", ylim=(1e-3, 1.0))
    ax.set_ylabel("distance of bootstrap distribution from true distribution")
    ax.set_title(f"{model.replace('_', ' ')}, prevalence {prevalence:g}:\nerror {what}")


def _typeset(name: str) -> str:
    return name.replace("^(−1/5)", "$^{-1/5}$")


def _draw_guides(ax: Any, design: str) -> None:
    """Draw the rates that the paper has: slopes only, their height means nothing."""
    if design == "random":
        return
    sizes = np.array([16_000.0, 256_000.0])
    for power, height, text in ((-0.25, 0.13, "-1/4"), (-0.4, 0.005, "-2/5")):
        ax.plot(sizes, height * (sizes / sizes[0]) ** power, color="black", linewidth=0.8)
        ax.annotate(
            f"$n^{{{text}}}$",
            (sizes[0], height),
            xytext=(-4, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=10,
        )


def _draw_variances(results: Results, ax: Any) -> None:
    from precall.display.mpl import COLOURS

    rows = chosen(results, part="variance", design="random")
    largest = max(row["rows"] for row in rows)
    looks = (
        ("over_printed", "^", COLOURS[1], "equation (9) as printed"),
        ("over_corrected", "o", COLOURS[0], "corrected"),
    )
    prevalences = sorted({row["prevalence"] for row in rows})
    for quantity, marker, colour, label in looks:
        for place, prevalence in enumerate(prevalences):
            here = [
                row
                for row in rows
                if (row["rows"], row["quantity"], row["prevalence"])
                == (largest, quantity, prevalence)
            ]
            # Side by side, so that no prevalence hides another.
            recall = [row["recall"] + 0.05 * (place - 1) for row in here]
            ax.plot(
                recall,
                [row["value"] for row in here],
                marker,
                color=colour,
                alpha=0.7,
                markersize=5,
                label=label if place == 0 else None,
            )
    ax.axhline(1.0, color="#767676", linewidth=0.8)
    ax.set(yscale="log", xlabel="recall (side by side: prevalence .02, .1, .5)")
    ax.set_ylabel("simulated variance / theorem 1")
    ax.set_title(f"variance of the precision, {largest:,} rows\n(a mark is a score model)")
    ax.legend(frameon=False, fontsize=9)

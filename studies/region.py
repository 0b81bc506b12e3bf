"""The unachievable region: its curves, its areas, and what it does to F1.

Boyd (2014), figures 3.1 to 3.4 (Boyd et al. 2012, figures 1 to 4). Nothing is random here except
the sample curve of figure 3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from precall.curves import minimum_pr_curve, pr_curve
from precall.metrics.areas import minimum_aucpr
from precall.ranking import rank
from precall.simulate import Binormal

from ._results import Results, Row, markdown_table

PREVALENCES = (0.01, 0.05, 0.1, 0.2, 0.33, 0.5, 0.75, 0.9)
RANGES = ((0.0, 1.0), (0.5, 1.0), (0.8, 1.0))
_SAMPLE_PREVALENCE = 0.33


def rows_of(prevalence: float) -> list[Row]:
    """Return the smallest area over each range of recall, plain and over the largest."""
    return [
        {
            "prevalence": prevalence,
            "recall_from": low,
            "recall_to": high,
            "minimum_aucpr": float(minimum_aucpr(prevalence, recall=(low, high))),
            "share_of_maximum": float(minimum_aucpr(prevalence, recall=(low, high)) / (high - low)),
        }
        for low, high in RANGES
    ]


def run(
    output: str | Path,
    *,
    quick: bool = False,
    seed: int = 20120626,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Write the table, the four figures and the page; `quick` and `workers` change nothing."""
    results = Results(output, "region", {"study": "region", "seed": seed})
    for done, prevalence in enumerate(PREVALENCES, start=1):
        if not results.has(prevalence=prevalence):
            results.add(rows_of(prevalence))
        if progress is not None:
            progress(done, len(PREVALENCES))
    draw(results, seed)
    return write_page(results)


def draw(results: Results, seed: int) -> None:
    """Draw figures 3.1 to 3.4 as four panels."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11, 8.5), layout="constrained")
    _sample(axes[0, 0], seed)
    for prevalence in (0.1, 0.2, 0.33, 0.5, 0.75, 0.9):
        floor = minimum_pr_curve(prevalence)
        axes[0, 1].plot(floor.recall, floor.precision, label=f"{prevalence:g}")
    axes[0, 1].set(xlabel="recall", ylabel="precision", title="minimum curves by prevalence (3.2)")
    axes[0, 1].legend(frameon=False, fontsize=9)
    grid = np.linspace(0.0, 1.0, 201)
    for low, high in RANGES:
        name = f"recall {low:g} to {high:g}"
        line = axes[1, 0].plot(grid, minimum_aucpr(grid, recall=(low, high)), label=name)[0]
        scaled = np.asarray(minimum_aucpr(grid, recall=(low, high))) / (high - low)
        axes[1, 0].plot(grid, scaled, color=line.get_color(), linestyle="--")
    axes[1, 0].set(
        xlabel="prevalence", ylabel="minimum AUCPR (dashed: over maximum)", title="areas (3.3)"
    )
    axes[1, 0].legend(frameon=False, fontsize=9)
    _contours(axes[1, 1])
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    results.save_figure(figure)
    plt.close(figure)


def _sample(ax: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranking = rank(*Binormal().sample(33, 67, rng))
    pr_curve(ranking).plot(ax, label="a sample")
    ax.set_title("a curve, random and minimum (3.1)")
    ax.legend(frameon=False, fontsize=9)


def _contours(ax: Any) -> None:
    from precall.display.mpl import shade_unachievable

    shade_unachievable(ax, _SAMPLE_PREVALENCE)
    for value in (0.2, 0.4, 0.6, 0.8):
        recall = np.linspace(value / (2 - value), 1.0, 200)
        ax.plot(recall, value * recall / (2 * recall - value), color="#767676", linewidth=0.9)
    for name, point in f1_twins().items():
        ax.plot(*point, "o", color="black")
        ax.annotate(name, point, textcoords="offset points", xytext=(6, 6))
    ax.set(xlabel="recall", ylabel="precision", ylim=(0, 1.02), title="contours of F1 (3.4)")


def f1_twins(value: float = 0.4) -> dict[str, tuple[float, float]]:
    """Two points of equal F1: A with good precision, B on the minimum curve."""
    pi = _SAMPLE_PREVALENCE
    # On the minimum curve F1 = 2 pi r / (1 + pi r): solve for r.
    recall = value / (pi * (2 - value))
    good = value / (2 - value) * 1.1
    return {
        "A": (good, value * good / (2 * good - value)),
        "B": (recall, pi * recall / (1 - pi + pi * recall)),
    }


def write_page(results: Results) -> Path:
    """Write the table of floors and the verdicts."""
    rows = [
        [f"{p:g}"]
        + [
            f"{row['minimum_aucpr']:.4f} ({row['share_of_maximum']:.3f})"
            for row in results.rows
            if row["prevalence"] == p
        ]
        for p in PREVALENCES
    ]
    twins = f1_twins()
    page = results.path(".md")
    results.save_page(
        "# The unachievable region\n\n"
        "The smallest area that any ranking can have, over three ranges of recall; in brackets as "
        "a share of the largest.\n\n"
        + markdown_table(["prevalence", *(f"recall {a:g} to {b:g}" for a, b in RANGES)], rows)
        + "\n\n![Four figures of the unachievable region](region.svg)\n\n"
        "Boyd et al. (2012) say that the minimum area is about .05 at a prevalence of .1 and grows "
        "towards balance: reproduced (0.0518). Figure 3.4's points A and B have the same F1 of .4 "
        f"although B lies on the minimum curve: reproduced, A = ({twins['A'][0]:.3f}, "
        f"{twins['A'][1]:.3f}) and B = ({twins['B'][0]:.3f}, {twins['B'][1]:.3f}) at a prevalence "
        "of .33. Table 3.1 is a worked impossible confusion matrix: `pr.is_achievable` gives its "
        "verdict.\n"
    )
    return page

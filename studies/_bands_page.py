"""The figure and the page of the study of bands, drawn from its table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._results import Results, Row, markdown_table, read_rows

FloatArray = npt.NDArray[np.float64]

_DESIGNS = ("random", "fixed")
#: The methods that the default's width is compared with.
_WIDTHS_OF = ("clemencon_vayatis", "bootstrap", "exact")
# Coverage is drawn on a scale that spreads what is near 1.
_NEAR_ONE = 0.01


def write_tables(results: Results, methods: Sequence[str]) -> Path:
    """Write a summary over the score models and, below it, every case."""
    found: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in results.rows:
        key = row["design"], row["rows"], row["prevalence"], row["model"]
        found.setdefault(key, {})[row["method"]] = row
    settings = results.settings
    error = float(np.sqrt(0.95 * 0.05 / settings["data_sets"]))
    lines = [
        [design, f"{size:,}", f"{prevalence:g}", model, *(_case([rows.get(m)]) for m in methods)]
        for (design, size, prevalence, model), rows in sorted(found.items())
    ]
    page = results.path(".md")
    results.save_page(
        "# Coverage of the bands\n\n"
        f"95 % bands over recall .1 to .9 on {settings['n_points']} points, "
        f"{settings['n_resamples']:,} draws, {settings['data_sets']} data sets a case (seed "
        f"{settings['seed']}). Pointwise limits are judged at recall .5. The prevalence of a "
        "sample is random or fixed. What the theorems behind these bands are worth is "
        "[another study](band_theory.md).\n\n"
        "![Coverage and width of the bands over rows and prevalence](bands.svg)\n\n"
        f"{_widths(found)}\n\n"
        "<!-- summary begins -->\n\n"
        "Lowest coverage over the score models / mean width. The Monte Carlo error of one "
        f"coverage of .95 is {error:.3f}, so the lowest of nine that are all .95 is expected "
        f"near {0.95 - 1.5 * error:.3f}. The ratio is the mean width of `fiducial` over that of "
        "the paper's ball, `clemencon_vayatis`.\n\n"
        + markdown_table(
            ["prevalence is", "rows", "prevalence", "models", *methods, "ratio"],
            _summary(found, methods),
        )
        + _doubted(read_rows(results.folder / "bands_again.csv"), found)
        + "\n\n<!-- summary ends -->\n\n## Every case\n\nCoverage / mean width.\n\n"
        + markdown_table(["prevalence is", "rows", "prevalence", "scores", *methods], lines)
        + "\n"
    )
    return page


def _doubted(again: list[Row], found: dict[tuple[Any, ...], dict[str, Row]]) -> str:
    """Tell what became of the cases in which the default looked too low."""
    lines = []
    for row in again:
        key = row["design"], row["rows"], row["prevalence"], row["model"]
        if "fiducial" in found.get(key, {}):
            first = found[key]["fiducial"]
            design, size, prevalence, model = key
            lines.append(
                [design, f"{size:,}", f"{prevalence:g}", model]
                + [f"{r['coverage']:.4f} ± {r['standard_error']:.4f}" for r in (first, row)]
            )
    if not lines:
        held = [rows["fiducial"]["coverage"] for rows in found.values() if "fiducial" in rows]
        lowest = min(held, default=1.0)
        return f"\n\nThe lowest of the {len(held)} coverages of `fiducial` is {lowest:.4f}."
    low = float(np.mean([row["coverage"] for row in again]))
    return (
        f"\n\nThe lowest of {len(found)} cases is low by luck too, so cases in which `fiducial` "
        f"came out under .94 were run again with other draws and {again[0]['data_sets']:,} data "
        f"sets. Their mean is then {low:.3f}.\n\n"
        + markdown_table(
            ["prevalence is", "rows", "prevalence", "scores", "coverage", "again"], lines
        )
    )


def _widths(found: dict[tuple[Any, ...], dict[str, Row]]) -> str:
    """Tell the width of the default over that of others, as geometric means over cases."""
    ratios_shown = []
    for other in _WIDTHS_OF:
        ratios = width_ratios(found.values(), "fiducial", other)
        if ratios.size:
            mean = float(np.exp(np.mean(np.log(ratios))))
            ratios_shown.append(f"{mean:.2f} of `{other}` ({ratios.size} cases)")
    return (
        "Mean width of `fiducial`, geometric mean over all cases: " + ", ".join(ratios_shown) + "."
    )


def width_ratios(cases: Collection[dict[str, Row]], method: str, other: str) -> FloatArray:
    """Mean width of a method over that of another, in every case that has both."""
    return np.array(
        [
            rows[method]["mean_width"] / rows[other]["mean_width"]
            for rows in cases
            if method in rows and other in rows
        ]
    )


def _summary(
    found: dict[tuple[Any, ...], dict[str, Row]], methods: Sequence[str]
) -> list[list[str]]:
    groups: dict[tuple[Any, ...], list[dict[str, Row]]] = {}
    for key, rows in found.items():
        groups.setdefault(key[:3], []).append(rows)
    lines = []
    for (design, size, prevalence), members in sorted(groups.items()):
        pair = ("fiducial", "clemencon_vayatis")
        both = [rows for rows in members if set(pair) <= set(rows)]
        widths = [sum(rows[method]["mean_width"] for rows in both) for method in pair]
        lines.append(
            [design, f"{size:,}", f"{prevalence:g}", str(len(members))]
            + [_case([rows.get(method) for rows in members]) for method in methods]
            + [f"{widths[0] / widths[1]:.2f}" if both else "–"]
        )
    return lines


def _case(rows: list[Row | None]) -> str:
    """Lowest coverage and mean width; a dash where a method was not run."""
    there = [row for row in rows if row is not None]
    if not there:
        return "–"
    width = np.mean([row["mean_width"] for row in there])
    return f"{min(row['coverage'] for row in there):.3f} / {width:.3f}"


def draw_figure(results: Results, methods: Sequence[str], developed_on: Collection[str]) -> None:
    """Draw coverage by design and width, one column of panels per prevalence.

    Pointwise limits are left out: they promise something else.
    """
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    from precall.display.mpl import COLOURS

    drawn = [method for method in methods if method != "pointwise"]
    prevalences = sorted({row["prevalence"] for row in results.rows})
    sizes = sorted({row["rows"] for row in results.rows})
    designs = [d for d in _DESIGNS if any(row["design"] == d for row in results.rows)]
    figure, axes = plt.subplots(
        len(designs) + 1,
        len(prevalences),
        figsize=(5.2 * len(prevalences), 3.7 * (len(designs) + 1)),
        layout="constrained",
        sharey="row",
        squeeze=False,
    )
    for column, prevalence in enumerate(prevalences):
        rows = [row for row in results.rows if row["prevalence"] == prevalence]
        for ax, design in zip(axes[:, column], designs, strict=False):
            here = [row for row in rows if row["design"] == design]
            _draw_coverage(ax, here, drawn, sizes, developed_on)
            ax.set_title(f"prevalence {prevalence:g}, {design} in a sample")
        _draw_widths(axes[-1, column], rows, drawn, sizes, developed_on)
        axes[-1, column].set_title(f"prevalence {prevalence:g}")
        for ax in axes[:, column]:
            ax.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes])
            ax.set_xlim(-0.5, len(sizes) - 0.5)
            ax.set_xlabel("rows")
            ax.spines[["top", "right"]].set_visible(False)
            for edge in np.arange(len(sizes) - 1) + 0.5:
                ax.axvline(edge, color="#e6e6e6", linewidth=0.8, zorder=0)
    for ax in axes[:-1, 0]:
        ax.set_ylabel("share of data sets whose band\nholds the whole curve")
    axes[-1, 0].set_ylabel("width / width of the paper's ball")
    handles = [
        Line2D([], [], marker="o", linestyle="", color=colour, label=method)
        for method, colour in zip(drawn, COLOURS, strict=False)
    ]
    for label, face in (("developed on", "#555555"), ("unseen", "white")):
        handles.append(
            Line2D([], [], marker="o", linestyle="", color="#555555", mfc=face, label=label)
        )
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    results.save_figure(figure)
    plt.close(figure)


def _places(methods: Sequence[str]) -> list[tuple[str, bool, float]]:
    """Methods and groups of models side by side, around 0."""
    kinds = [(method, developed) for method in methods for developed in (True, False)]
    offsets = np.linspace(-0.4, 0.4, len(kinds))
    return [(*kind, float(offset)) for kind, offset in zip(kinds, offsets, strict=True)]


def _draw_coverage(
    ax: Any,
    rows: list[Row],
    methods: Sequence[str],
    sizes: list[int],
    developed_on: Collection[str],
) -> None:
    """Every score model as a dot with twice its Monte Carlo error."""
    from precall.display.mpl import COLOURS

    colours = dict(zip(methods, COLOURS, strict=False))
    for method, developed, offset in _places(methods):
        here = [
            row
            for row in rows
            if row["method"] == method and (row["model"] in developed_on) == developed
        ]
        if not here:
            continue
        coverage = np.array([row["coverage"] for row in here])
        error = 2.0 * np.array([row["standard_error"] for row in here])
        ax.errorbar(
            [sizes.index(row["rows"]) + offset for row in here],
            coverage,
            yerr=np.array([error, np.minimum(error, 1.0 - coverage)]),
            fmt="o",
            color=colours[method],
            mfc=colours[method] if developed else "white",
            markersize=4,
            elinewidth=0.6,
            alpha=0.85,
        )
    ax.axhline(0.95, color="#767676", linewidth=0.9, zorder=0)
    ax.set_yscale(
        "function",
        functions=(
            lambda c: -np.log(np.maximum(1.0 + _NEAR_ONE - c, 1e-9)),
            lambda y: 1.0 + _NEAR_ONE - np.exp(-y),
        ),
    )
    ax.set_ylim(0.3, 1.003)
    ax.set_yticks(
        [0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 1.0],
        ["40 %", "60 %", "80 %", "90 %", "95 %", "98 %", "100 %"],
    )
    ax.minorticks_off()


def _draw_widths(
    ax: Any,
    rows: list[Row],
    methods: Sequence[str],
    sizes: list[int],
    developed_on: Collection[str],
) -> None:
    """Every score model and design as a dot, over the paper's ball in the same case."""
    from precall.display.mpl import COLOURS

    colours = dict(zip(methods, COLOURS, strict=False))
    ball = {
        (row["model"], row["design"], row["rows"]): row["mean_width"]
        for row in rows
        if row["method"] == "clemencon_vayatis"
    }
    for method, developed, offset in _places(methods):
        here = [
            row
            for row in rows
            if row["method"] == method and (row["model"] in developed_on) == developed
        ]
        if method == "clemencon_vayatis":  # the ball itself
            continue
        ax.plot(
            [sizes.index(row["rows"]) + offset for row in here],
            [row["mean_width"] / ball[row["model"], row["design"], row["rows"]] for row in here],
            "o",
            color=colours[method],
            mfc=colours[method] if developed else "white",
            markersize=4,
            alpha=0.85,
        )
    ax.axhline(1.0, color="#767676", linewidth=0.9, zorder=0)

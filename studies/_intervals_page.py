"""The page and the figure of the study of intervals, made from the rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ._results import Results, Row, core_minutes, markdown_table

#: What the dissertation's figures show: three score models at one prevalence.
_MODELS = ("binormal_1", "bibeta", "offset_uniform")
_PREVALENCE = 0.1
_NAMES = {
    "binomial": "binomial",
    "logit": "logit",
    "guarded": "guarded (default)",
    "bootstrap_percentile": "bootstrap percentiles",
    "bootstrap_bca": "bootstrap BCa",
    "bootstrap_t": "bootstrap-t",
    "crossval": "cross-validation",
}
_LOWEST = 0.75
_MARKS = "os^vDPX"


class Sampling(NamedTuple):
    """Width of what holds 95 % of the estimates, and means of locations over the true area."""

    ideal_width: float
    locations: dict[str, float]


def write_page(
    results: Results,
    again: Results,
    *,
    groups: Mapping[str, Collection[str]],
    tuned_on: Collection[str],
    formulas: Collection[str],
    defaults: Collection[tuple[str, str, str]],
    level: float,
) -> Path:
    """Write the tables: least coverage, cases under .945 and width, by group of models."""
    page = results.path(".md")
    results.save_page(
        "# Coverage and width of the intervals\n\n"
        f"{results.settings['simulations']['formula']:,} data sets a case (formula methods; the "
        f"Monte Carlo error of a coverage of .95 is .0034), "
        f"{results.settings['simulations']['resampling']:,} with "
        f"{results.settings['n_resamples']} replicates (bootstrap), "
        f"seed {results.settings['seed']}. A case is a score model, a number of positives and a "
        "prevalence. Widths are geometric means over the cases, relative to logit's; every case is "
        "in the table `intervals.csv` beside this page. "
        f"{core_minutes([*results.rows, *again.rows])}\n\n"
        "![Coverage, width over the ideal width, and location](intervals.svg)\n\n"
        "The figure is that of Boyd (2014, figures 4.7 to 4.9) in kind. The ideal width is what "
        "holds 95 % of the estimates; an interval sits at the estimate (binomial, logit), at the "
        "median of the replicates (bootstrap) or at the mean of ten folds (cross-validation). "
        "Coverages under .75 are drawn at .75.\n\n"
        "## Average precision\n\n"
        + _formula_table(results.rows, groups, tuned_on, formulas)
        + "\n\n`beta`, exact binomial limits with as many trials as the influence variance is "
        "worth, is a candidate that was not adopted for areas. Its constants were chosen on the "
        "models called tuned on, and so was the one by which `guarded` leaves room for unseen "
        f"negatives and chance together ({', '.join(tuned_on)}). `NAME+K` has K negatives above "
        "everything on average.\n\n"
        + _frontier_table(results.rows, groups, formulas)
        + "\n\n"
        + _again_table(results.rows, again, defaults, level)
        + "\n\n"
        "## Resampling and cross-validation\n\n"
        + _resampling_table(results.rows)
        + "\n\n## Other estimators and metrics\n\n"
        + _other_table(results.rows)
        + "\n"
    )
    return page


def _summary(rows: list[Row], reference: dict[Any, float] | None = None) -> str:
    coverage = np.array([row["coverage"] for row in rows])
    under = int(np.sum(coverage < 0.945))
    text = f"{coverage.min():.3f} ({under})"
    if reference is not None:
        ratio = [np.log(row["width"] / reference[_case(row)]) for row in rows]
        text += f" ×{np.exp(np.mean(ratio)):.2f}"
    return text


def _case(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("model", "numbers", "prevalence", "n_pos"))


def _formula_table(
    rows: list[Row],
    groups: Mapping[str, Collection[str]],
    tuned_on: Collection[str],
    formulas: Collection[str],
) -> str:
    chosen = [row for row in rows if row["part"] == "formula"]
    reference = {_case(row): row["width"] for row in chosen if row["method"] == "logit"}
    lines = []
    for title, models in _by_tuning(groups, tuned_on).items():
        for kind in ("fixed", "random"):
            inside = [row for row in chosen if row["model"] in models and row["numbers"] == kind]
            if not inside:
                continue
            by_method = {m: [r for r in inside if r["method"] == m] for m in formulas}
            lines.append(
                [
                    f"{title}, {kind}",
                    str(len(by_method["logit"])),
                    *(_summary(found, reference) for found in by_method.values()),
                ]
            )
    return "Least coverage (cases under .945) ×width.\n\n" + markdown_table(
        ["models, numbers of rows", "cases", *formulas], lines
    )


def _frontier_table(
    rows: list[Row], groups: Mapping[str, Collection[str]], formulas: Collection[str]
) -> str:
    """What each method gives for its width, over the cases."""
    chosen = [row for row in rows if row["part"] == "formula"]
    reference = {_case(row): row["width"] for row in chosen if row["method"] == "logit"}
    later = {*groups["found since"], *groups["held out"]}
    parts = {
        "all cases": set[str]().union(*groups.values()),
        "without outlying negatives": set[str]().union(*groups.values()) - {*groups["outlying"]},
        "found since and held out": later,
    }
    header, lines = ["method"], [[f"`{method}`"] for method in formulas]
    for title, models in parts.items():
        count = sum(case[0] in models for case in reference)
        if not count:
            continue
        header.append(f"{title} ({count:,})")
        for line, method in zip(lines, formulas, strict=True):
            found = [row for row in chosen if row["method"] == method and row["model"] in models]
            width = np.median([row["width"] / reference[_case(row)] for row in found])
            coverage = np.array([row["coverage"] for row in found])
            line.append(f"{coverage.min():.3f}, {np.sum(coverage < 0.94)}, ×{width:.2f}")
    return "Least coverage, cases under .94, median width relative to logit's.\n\n" + (
        markdown_table(header, lines)
    )


def _again_table(
    rows: list[Row], again: Results, defaults: Collection[tuple[str, str, str]], level: float
) -> str:
    """The cases of a default that came out low, and which of them are significantly so."""
    from scipy.stats import binom

    def key(row: Row) -> tuple[str, str, str]:
        return row["metric"], row["estimator"], row["method"]

    every = [row for row in rows if key(row) in defaults]
    count = again.settings["simulations"]
    found = sorted(again.rows, key=lambda row: float(row["coverage"]))
    # Holm over all cases; those that were not doubted are not significant.
    significant = 0
    for place, row in enumerate(found):
        if binom.cdf(round(row["coverage"] * count), count, level) > 0.05 / (len(every) - place):
            break
        significant += 1
    said = (
        f"Of the {len(every):,} cases of a default interval {len(found)} came out under "
        f"{level:.2f}. Again with other draws and {count:,} data sets, {significant} are "
        f"significantly under it (Holm over all {len(every):,})."
    )
    first = {(key(row), _case(row)): row["coverage"] for row in every}
    lines = [
        [
            f"{row['model']}, {row['n_pos']} positives, {row['prevalence']:g}, {row['numbers']}",
            f"{row['metric']}, {row['method']}",
            f"{first[key(row), _case(row)]:.4f}",
            f"{row['coverage']:.4f} ± {row['error']:.4f}",
        ]
        for row in found
    ]
    return f"{said}\n\n" + markdown_table(["case", "interval", "coverage", "again"], lines)


def _by_tuning(
    groups: Mapping[str, Collection[str]], tuned_on: Collection[str]
) -> dict[str, list[str]]:
    """Split the groups that have models which constants were chosen on."""
    found = {}
    for title, models in groups.items():
        tuned = [model for model in models if model in tuned_on]
        if tuned:
            found[f"{title}, tuned on"] = tuned
        others = [model for model in models if model not in tuned_on]
        found[f"{title}, unseen" if tuned else title] = others
    return found


def _resampling_table(rows: list[Row]) -> str:
    chosen = [row for row in rows if row["part"] == "resampling"]
    guarded = {_case(r): r for r in rows if r["part"] == "formula" and r["method"] == "guarded"}
    methods = list(dict.fromkeys(row["method"] for row in chosen))
    lines = []
    for case in dict.fromkeys(_case(row) for row in chosen):
        found = {row["method"]: row for row in chosen if _case(row) == case}
        found["guarded"] = guarded[case]
        lines.append(
            [
                f"{case[0]}, {case[3]} positives, {case[2]:g}",
                *(
                    f"{found[m]['coverage']:.3f} / {found[m]['width']:.3f}"
                    for m in (*methods, "guarded")
                ),
            ]
        )
    return "Coverage / mean width.\n\n" + markdown_table(
        ["model, positives, prevalence", *methods, "guarded"], lines
    )


def _other_table(rows: list[Row]) -> str:
    chosen = [row for row in rows if row["part"] == "other"]
    lines = []
    for key in dict.fromkeys((r["metric"], r["estimator"], r["method"]) for r in chosen):
        found = [r for r in chosen if (r["metric"], r["estimator"], r["method"]) == key]
        worst = min(found, key=lambda row: row["coverage"])
        where = f"{worst['model']}, {worst['n_pos']}, {worst['prevalence']:g}"
        mean = float(np.mean([row["coverage"] for row in found]))
        lines.append(
            [
                " ".join(part for part in key[:2] if part),
                key[2],
                f"{mean:.3f}",
                f"{worst['coverage']:.3f} ({where})",
            ]
        )
    return markdown_table(["metric", "method", "mean coverage", "least coverage (where)"], lines)


def _shown(results: Results) -> list[Row]:
    return [
        row
        for row in results.rows
        if row["part"] in ("formula", "resampling")
        and row["model"] in _MODELS
        and row["prevalence"] == _PREVALENCE
        and row["numbers"] == "fixed"
        and row["method"] in _NAMES
    ]


def shown_cases(results: Results) -> list[tuple[str, float, int, bool]]:
    """Return model, prevalence and positives of what the figure shows, and whether resampled."""
    rows = _shown(results)
    resampled = {_case(row) for row in rows if row["part"] == "resampling"}
    cases = dict.fromkeys(_case(row) for row in rows)
    return [(case[0], case[2], case[3], case in resampled) for case in cases]


def draw_figure(
    results: Results,
    sampling: dict[tuple[str, float, int], Sampling],
    *,
    groups: Mapping[str, Collection[str]],
) -> None:
    """Draw figures 4.7 (above), 4.8 and 4.9, and coverage on all score models."""
    import matplotlib.pyplot as plt

    from precall.display.mpl import COLOURS

    looks = {
        method: {"color": COLOURS[place % len(COLOURS)], "marker": _MARKS[place]}
        for place, method in enumerate(_NAMES)
    }
    figure, axes = plt.subplots(2, 3, figsize=(15, 9), layout="constrained")
    for ax, model in zip(axes[0], _MODELS, strict=True):
        _draw_coverage(ax, [row for row in _shown(results) if row["model"] == model], looks)
        ax.set_title(f"{model.replace('_', ' ')} (4.7)")
    _draw_widths(axes[1, 0], _shown(results), sampling, looks)
    _draw_locations(axes[1, 1], sampling, looks)
    _draw_all_models(axes[1, 2], results.rows, groups, looks)
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_visible(ax.has_data())
    named = {
        label: handle
        for ax in axes[0]
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        named.values(), named, loc="outside lower center", ncols=len(_NAMES), frameon=False
    )
    results.save_figure(figure, dpi=200)
    plt.close(figure)


def _draw_coverage(ax: Any, rows: list[Row], looks: dict[str, Any]) -> None:
    for method, name in _NAMES.items():
        here = sorted((row for row in rows if row["method"] == method), key=lambda r: r["n_pos"])
        if not here:
            continue
        ax.errorbar(
            [row["n_pos"] / _PREVALENCE for row in here],
            [max(row["coverage"], _LOWEST) for row in here],
            yerr=[2.0 * row["error"] for row in here],
            linewidth=1.2,
            markersize=6,
            label=name,
            **looks[method],
        )
    if not rows:
        return
    ax.axhline(0.95, color="black", linewidth=1.2, zorder=0)
    ax.set(xscale="log", ylim=(_LOWEST - 0.005, 1.005))
    ax.set(xlabel=f"rows (prevalence {_PREVALENCE:g})", ylabel="coverage")


def _draw_widths(
    ax: Any,
    rows: list[Row],
    sampling: dict[tuple[str, float, int], Sampling],
    looks: dict[str, Any],
) -> None:
    for method in _NAMES:
        here = [row for row in rows if row["method"] == method]
        ratio = [
            row["width"] / sampling[row["model"], row["prevalence"], row["n_pos"]].ideal_width
            for row in here
        ]
        coverage = [max(row["coverage"], _LOWEST) for row in here]
        ax.plot(ratio, coverage, linestyle="", markersize=6, **looks[method])
    ax.axhline(0.95, color="black", linewidth=1.2, zorder=0)
    ax.axvline(1.0, color="#767676", linewidth=0.8, zorder=0)
    ax.set(ylim=(_LOWEST - 0.005, 1.005), ylabel="coverage")
    ax.set(xlabel="mean width / ideal width", title="width against coverage (4.8)")


def _draw_locations(
    ax: Any, sampling: dict[tuple[str, float, int], Sampling], looks: dict[str, Any]
) -> None:
    if not sampling:
        return
    for model, dash in zip(_MODELS, ("-", "--", ":"), strict=True):
        for method, look in looks.items():
            points = sorted(
                (n_pos / prevalence, found.locations[method])
                for (name, prevalence, n_pos), found in sampling.items()
                if name == model and method in found.locations
            )
            if points:
                ax.plot(*zip(*points, strict=True), linestyle=dash, markersize=6, **look)
        ax.plot([], [], color="#555555", linestyle=dash, label=model.replace("_", " "))
    ax.axhline(1.0, color="black", linewidth=1.2, zorder=0)
    ax.set(xscale="log", xlabel=f"rows (prevalence {_PREVALENCE:g})")
    ax.set(ylabel="mean location / true area", title="location (4.9)")
    ax.legend(frameon=False, fontsize=9)


def _draw_all_models(
    ax: Any, rows: list[Row], groups: Mapping[str, Collection[str]], looks: dict[str, Any]
) -> None:
    """Every case of the formula methods, by kind of score model and of sample."""
    places = [(title, kind) for title in groups for kind in ("fixed", "random")]
    methods = ("binomial", "logit", "guarded")
    for place, (title, kind) in enumerate(places):
        for offset, method in zip((-0.27, 0.0, 0.27), methods, strict=True):
            here = [
                row["coverage"]
                for row in rows
                if row["part"] == "formula"
                and row["method"] == method
                and row["numbers"] == kind
                and row["model"] in groups[title]
            ]
            # Spread a little, in the order of their coverage, so that dots do not hide each other.
            x = place + offset + np.linspace(-0.09, 0.09, max(len(here), 1))
            y = np.maximum(np.sort(here), 0.6)
            dots = ax.plot(
                x[: len(here)], y, linestyle="", markersize=3, alpha=0.6, **looks[method]
            )
            dots[0].set_rasterized(True)  # so many that as shapes they would be most of the file
    ax.axhline(0.95, color="black", linewidth=1.2, zorder=0)
    named = [f"{title}\n{kind}".replace(" ", "\n") for title, kind in places]
    ax.set_xticks(range(len(places)), named, fontsize=8)
    ax.set(ylim=(0.595, 1.01), ylabel="coverage", title="every case: score models, numbers of rows")

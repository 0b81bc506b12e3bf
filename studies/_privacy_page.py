"""The figure and the page of the privacy study, drawn from its table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ._results import Results, Row, markdown_table

SHOWN = (("printed_cauchy", 0.0), ("printed_laplace", 0.01), ("rescaled", 0.0), ("curve", 0.0))
METRIC_NAMES = {"auroc": "AUROC", "average_precision": "average precision"}
_SENSITIVITY_OF_AP = 1000


def described(mechanism: str, delta: float) -> str:
    """Name a mechanism for people."""
    names = {
        "printed_cauchy": "dissertation's Cauchy",
        "printed_laplace": "dissertation's Laplace",
        "smooth_cauchy": "tight Cauchy",
        "rescaled": "rescaled",
        "curve": "private curve",
    }
    return names[mechanism] + (f", δ = {delta:g}" if delta else "")


def chosen(results: Results, **key: Any) -> list[Row]:
    """Return the rows with these values."""
    return [row for row in results.rows if all(row[name] == key[name] for name in key)]


def draw(results: Results) -> None:
    """Draw figures 5.3 to 5.6, one per line of panels."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(4, 4, figsize=(15, 14), layout="constrained")
    _draw_sensitivity(results, axes[0])
    for line, metric in ((1, "auroc"), (2, "average_precision")):
        _draw_errors(results, metric, axes[line])
    _draw_histograms(results, axes[3])
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_visible(ax.has_data())
    results.save_figure(figure)
    plt.close(figure)


def _draw_sensitivity(results: Results, axes: Any) -> None:
    from precall.display.mpl import styles

    found = chosen(results, figure="sensitivity")
    sizes = sorted({row["rows"] for row in found})
    panels = [*(("auroc", n) for n in sizes[:3]), ("average_precision", _SENSITIVITY_OF_AP)]
    for ax, (metric, size) in zip(axes, panels, strict=False):
        rows = [row for row in found if row["metric"] == metric and row["rows"] == size]
        names = list(dict.fromkeys(row["mechanism"] for row in rows))
        if metric == "average_precision":
            names = [name for name in names if "beta" not in name or name.endswith("0.01")]
        for name, look in zip(names, styles(len(names)), strict=True):
            points = [(row["at"], row["value"]) for row in rows if row["mechanism"] == name]
            label = name.removeprefix("exact, ").replace("exact", "local").replace("beta", "β =")
            ax.plot(*zip(*points, strict=True), label=label, linewidth=1.4, **look)
        ax.set(yscale="log", xlabel="positives", ylabel="sensitivity")
        ax.set_title(f"{METRIC_NAMES[metric]}, {size:,} rows (5.3)", fontsize=10)
        if names:
            ax.legend(frameon=False, fontsize=8)


def _draw_errors(results: Results, metric: str, axes: Any) -> None:
    from precall.display.mpl import styles

    for ax, (mechanism, delta) in zip(axes, SHOWN, strict=True):
        rows = chosen(
            results, figure="rmse", metric=metric, mechanism=mechanism, delta=delta, prevalence=0.5
        )
        sizes = sorted({row["rows"] for row in rows})
        for size, look in zip(sizes, styles(len(sizes)), strict=True):
            points = sorted((row["at"], row["value"]) for row in rows if row["rows"] == size)
            ax.plot(*zip(*points, strict=True), marker=".", label=f"{size:,} rows", **look)
        number = "5.4" if metric == "auroc" else "5.5"
        ax.set_title(
            f"{METRIC_NAMES[metric]} ({number}):\n{described(mechanism, delta)}", fontsize=10
        )
        ax.set(xscale="log", xlabel="epsilon", ylim=(0, 0.7), ylabel="root-mean-square error")
    if axes[0].lines:
        axes[0].legend(frameon=False, fontsize=8)


def _draw_histograms(results: Results, axes: Any) -> None:
    from precall.display.mpl import COLOURS

    found = chosen(results, figure="histogram")
    sizes = sorted({row["rows"] for row in found}, reverse=True)
    for ax, size in zip(axes, sizes, strict=False):
        rows = [row for row in found if row["rows"] == size]
        for (mechanism, delta), colour in zip(SHOWN[1:3], COLOURS, strict=False):
            bars = [row for row in rows if row["mechanism"] == mechanism and row["at"] != "ends"]
            places, heights = ([row[name] for row in bars] for name in ("at", "value"))
            ax.bar(
                places,
                heights,
                width=1.0 / len(bars),
                align="edge",
                alpha=0.6,
                color=colour,
                label=described(mechanism, delta),
            )
        exact = next(row["value"] for row in rows if row["mechanism"] == "exact")
        ax.axvline(exact, color="black", linewidth=1, linestyle="--", label="exact")
        ax.set(xlabel="released average precision", ylabel="share", xlim=(0, 1))
        ax.set_title(f"{size:,} rows, ε = 1 (5.6)", fontsize=10)
        if size == sizes[0]:
            ax.legend(frameon=False, fontsize=8)


def write_page(results: Results) -> Path:
    """Write the errors at epsilon 1 and what became of the paper's statements."""
    settings = results.settings
    tables = []
    for metric, name in METRIC_NAMES.items():
        rows = chosen(results, figure="rmse", metric=metric, at=1.0)
        kinds = list(dict.fromkeys((row["mechanism"], row["delta"]) for row in rows))
        found = {
            (row["rows"], row["prevalence"], row["mechanism"], row["delta"]): row for row in rows
        }
        sizes = list(dict.fromkeys((row["rows"], row["prevalence"]) for row in rows))
        lines = [
            [f"{size:,}", f"{prevalence:g}"]
            + [_with_error(found[size, prevalence, *kind]) for kind in kinds]
            for size, prevalence in sizes
        ]
        header = ["rows", "prevalence", *(described(*kind) for kind in kinds)]
        tables.append(f"**{name[0].upper() + name[1:]}**\n\n" + markdown_table(header, lines))
    page = results.path(".md")
    count = settings["data_sets"] * settings["releases"]
    results.save_page(
        "# The price of privacy\n\n"
        "Root-mean-square error of a private release against the exact value of the same data, at "
        f"ε = 1, with twice its Monte Carlo error: {settings['releases']} releases of each of "
        f"{settings['data_sets']} data sets a case, {settings['scores']} scores, seed "
        f"{settings['seed']}. δ is 0 where none is named. All values of ε are in privacy.csv.\n\n"
        + "\n\n".join(tables)
        + "\n\n![Sensitivity, errors and histograms](privacy.svg)\n\n"
        + _verdict(results, count)
    )
    return page


def _with_error(row: Row) -> str:
    return f"{row['value']:.3f} ± {2 * row['standard_error']:.3f}"


def _verdict(results: Results, count: int) -> str:
    text = (
        "The paper says that errors fall with ε and with the rows, that Cauchy noise (δ = 0) needs "
        "more of both than Laplace noise, and that average precision has much larger errors than "
        "AUROC: reproduced, for the mechanisms as printed. "
    )
    laplace = {"figure": "rmse", "mechanism": "printed_laplace", "delta": 0.01, "prevalence": 0.5}
    quoted = chosen(results, metric="auroc", rows=2000, at=0.25, **laplace)
    if quoted:
        text += (
            "It finds AUROC usable above ε = .25 with 1,000 rows of each class: the error there is "
            f"{quoted[0]['value']:.3f} with δ = .01. "
        )
    ends = chosen(results, figure="histogram", mechanism="printed_laplace", at="ends")
    shares = [f"{100 * row['value']:.0f} % with {row['rows']:,} rows" for row in ends]
    text += (
        "It finds most private average precisions of small data sets truncated to 0 or 1; here "
        f"({count} releases, ε = 1, δ = .01) those are {', '.join(shares)}.\n\n"
    )
    if quoted:
        text += (
            "The rescaled mechanisms and the private curve need no δ. At ε = 1 with 2,000 rows and "
            f"a prevalence of .1 the error of average precision is {_gain(results)}.\n"
        )
    return text


def _gain(results: Results) -> str:
    rows = chosen(
        results, figure="rmse", metric="average_precision", rows=2000, prevalence=0.1, at=1.0
    )
    errors = {described(row["mechanism"], row["delta"]): row["value"] for row in rows}
    reference = errors[described("printed_cauchy", 0.0)]
    return "; ".join(
        f"{name} {error:.3f} (1/{reference / error:.1f} of the dissertation's Cauchy)"
        for name, error in errors.items()
        if name in (described("rescaled", 0.0), described("curve", 0.0))
    )

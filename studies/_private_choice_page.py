"""The figure and the page of the study of the choice of a mechanism, from its table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from precall.privacy import choose_mechanism

from ._results import Results, Row, markdown_table

#: Whoever guesses the prevalence may be wrong by this factor.
WRONG = 5.0
# Standard errors of a difference that chance explains, in one of some hundred cells.
_CHANCE = 3.0


def errors(results: Results, metric: str) -> dict[tuple[Any, ...], dict[str, Row]]:
    """Rows of a metric by (model, rows, prevalence, epsilon), then by mechanism."""
    found: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in results.rows:
        if row["metric"] == metric:
            cell = tuple(row[name] for name in ("model", "rows", "prevalence", "epsilon"))
            found.setdefault(cell, {})[row["mechanism"]] = row
    return found


def chosen(cell: tuple[Any, ...], metric: str, guess: float | None) -> str:
    """What "auto" chooses in a cell, for a guess of the prevalence."""
    _, n_rows, _, epsilon = cell
    return choose_mechanism(n_rows=n_rows, epsilon=epsilon, prevalence=guess, metric=metric)


def guesses(prevalence: float) -> dict[str, float | None]:
    """Guesses of a prevalence, by what to call them."""
    return {
        "auto": prevalence,
        "auto, no guess": None,
        f"auto, guess / {WRONG:g}": prevalence / WRONG,
        f"auto, guess × {WRONG:g}": min(prevalence * WRONG, 0.9),
    }


def draw(results: Results) -> None:
    """Draw the error of the curve over that of the rescaled metric, by epsilon."""
    import matplotlib.pyplot as plt

    from precall.display.mpl import styles

    cells = errors(results, "average_precision")
    models = list(dict.fromkeys(cell[0] for cell in cells))
    figure, axes = plt.subplots(2, 4, figsize=(14, 7), layout="constrained", squeeze=False)
    for ax, model in zip(axes.flat, models, strict=False):
        sizes = list(dict.fromkeys(cell[1:3] for cell in cells if cell[0] == model))
        for size, look in zip(sizes, styles(len(sizes)), strict=True):
            places = sorted(cell[3] for cell in cells if cell[:3] == (model, *size))
            at = [cells[model, *size, epsilon] for epsilon in places]
            ratio = [found["curve"]["error"] / found["rescaled"]["error"] for found in at]
            label = f"{size[0]:,} rows, {size[1]:g}"
            ax.plot(places, ratio, marker=".", label=label, **look)
        ax.axhline(1.0, color="black", linewidth=0.8)
        ax.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="error, curve / rescaled")
        ax.set_title(model, fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].legend(frameon=False, fontsize=7)
    results.save_figure(figure)
    plt.close(figure)


def write_page(results: Results) -> Path:
    """Write the tables: how much "auto" loses, and the 48 cells of models nothing was chosen on."""
    from .private_choice import CHOSEN_ON, LARGE, REPORTED_ON

    settings = results.settings
    introduction = (
        "# Which mechanism?\n\n"
        "Root-mean-square error of private average precision against the exact value of the same "
        f"rows: {settings['releases']} releases of each of {settings['data_sets']} data sets in "
        f"every cell ({settings['data_sets_of_many_rows']} with 200,000 rows), seed "
        f"{settings['seed']}. `auto` chooses from the number of rows, ε and a guess of the "
        "prevalence. Its rule was chosen on four models of scores: "
        f"{', '.join(CHOSEN_ON)}. It was changed once after the others had been looked at, to "
        "what is best on those four when the cells of 200,000 rows count too. All scores "
        "are probabilities, as a curve without edges of its own takes them to be.\n"
    )
    parts = [introduction]
    for title, models, large in (
        ("On models that nothing was chosen on", tuple(REPORTED_ON), False),
        ("On the models that the rule was chosen on", tuple(CHOSEN_ON), False),
        ("200,000 rows, all models", (*CHOSEN_ON, *REPORTED_ON), True),
    ):
        cells = {
            cell: found
            for cell, found in errors(results, "average_precision").items()
            if cell[0] in models and ((cell[1], cell[2]) in LARGE) == large
        }
        if cells:
            parts.append(f"## {title}\n\n{_losses(cells)}\n")
    parts.append("![Error of the curve over that of the rescaled metric](private_choice.svg)\n")
    parts.append(_cells(results, tuple(REPORTED_ON)))
    parts.append(_others(results))
    results.save_page("\n".join(parts))
    return results.path(".md")


def _losses(cells: dict[tuple[Any, ...], dict[str, Row]]) -> str:
    """Geometric mean of the error over that of the better mechanism, and its largest value."""
    ways = ["rescaled", "curve", *guesses(0.1)]
    over: dict[str, list[float]] = {way: [] for way in ways}
    for cell, found in cells.items():
        both = {way: found[way]["error"] for way in ("rescaled", "curve")}
        both |= {
            way: both[chosen(cell, "average_precision", guess)]
            for way, guess in guesses(cell[2]).items()
        }
        for way, error in both.items():
            over[way].append(error / min(both["rescaled"], both["curve"]))
    lines = [
        [
            way,
            f"{np.exp(np.mean(np.log(ratios))):.3f}",
            f"{max(ratios):.2f}",
            f"{sum(ratio <= 1.0 for ratio in ratios)} of {len(ratios)}",
        ]
        for way, ratios in over.items()
    ]
    header = ["", "error over the better one's, mean", "largest", "the better one in"]
    return markdown_table(header, lines)


def _cells(results: Results, models: tuple[str, ...]) -> str:
    """Table of the 48 cells, each the root of the mean squared error over the models."""
    from .private_choice import LARGE

    cells = errors(results, "average_precision")
    keys = dict.fromkeys(
        cell[1:] for cell in cells if cell[0] in models and (cell[1], cell[2]) not in LARGE
    )
    mechanisms = list(dict.fromkeys(m for found in cells.values() for m in found))
    lines = []
    for key in sorted(keys, key=lambda cell: (cell[2], cell[0], cell[1])):
        here = [cells[model, *key] for model in models if (model, *key) in cells]
        together = {m: _together([found[m] for found in here]) for m in mechanisms}
        way = chosen(("", *key), "average_precision", key[1])
        best = min(together.values())
        shown = [_shown(together[way], best), *(_shown(together[m], best) for m in mechanisms)]
        lines.append([f"{key[2]:g}", f"{key[0]:,}", f"{key[1]:g}", *shown])
    header = ["ε", "rows", "prevalence", "auto", *(m.replace("_", " ") for m in mechanisms)]
    return (
        f"## {len(lines)} cells\n\nOver the models that nothing was chosen on ({', '.join(models)}"
        f"), the root of their mean squared error; the least in bold. Monte Carlo errors are in "
        "private_choice.csv. Laplace noise on smooth sensitivity has δ = 10⁻⁶, all others have "
        "none.\n\n" + markdown_table(header, lines) + "\n"
    )


def _together(rows: list[Row]) -> float:
    return float(np.sqrt(np.mean([row["error"] ** 2 for row in rows])))


def _shown(value: float, best: float) -> str:
    return f"**{value:.3f}**" if value <= best else f"{value:.3f}"


def _others(results: Results) -> str:
    """How often each mechanism is the best, and by how much those on smooth sensitivity are."""
    lines, ahead = [], []
    for metric in ("average_precision", "auroc"):
        cells = errors(results, metric)
        best = [min(found.values(), key=lambda row: row["error"]) for found in cells.values()]
        names = [row["mechanism"] for row in best]
        said = ", ".join(f"{name} in {names.count(name)}" for name in dict.fromkeys(names))
        lines.append(f"- {metric.replace('_', ' ')}: {said}, of {len(cells)}")
        for row, found in zip(best, cells.values(), strict=True):
            if row["mechanism"] not in ("rescaled", "curve"):
                other = min((found[m] for m in ("rescaled", "curve")), key=lambda r: r["error"])
                spread = np.hypot(row["standard_error"], other["standard_error"])
                ahead.append((other["error"] - row["error"]) / spread)
    if ahead:
        lines.append(
            f"\nWhere noise on smooth sensitivity is ahead, it is by {max(ahead):.1f} standard "
            "errors of the difference at most: in no cell by more than chance."
            if max(ahead) < _CHANCE
            else f"\nNoise on smooth sensitivity is ahead by {max(ahead):.1f} standard errors."
        )
    return "## Who is best, over all models and sizes\n\n" + "\n".join(lines) + "\n"

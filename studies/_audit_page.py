"""The page and the figure of the study of few labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from scipy import stats

from ._results import Results, Row, markdown_table

#: What no case may be significantly below.
LEAST = 0.94
# One case in a hundred would be called too low although it is not.
_ERROR_RATE = 0.01
# Labelled positives without which a simple random sample says nothing.
_ENOUGH = 5
_LOOKED_AT = ("binormal_2", "mixture", "five_levels")


def p_value(row: Row) -> float:
    """Return how likely so few covering intervals are, were the coverage .94."""
    samples = int(row["samples"])
    covered = round(row["covered"] * samples)
    return float(stats.binom.cdf(covered, samples, LEAST))


def too_low(rows: Iterable[Row]) -> list[Row]:
    """Return the cases whose coverage is significantly below .94."""
    return [row for row in rows if p_value(row) < _ERROR_RATE]


def needed_width(row: Row) -> float:
    """Return the width that the sampling distribution of the estimate asks for."""
    variance = max(row["mean_square"] - row["bias"] ** 2, 0.0)
    return float(2.0 * stats.norm.isf(0.5 * (1.0 - 0.95)) * np.sqrt(variance))


def advantages(rows: Iterable[Row], design: str) -> list[float]:
    """Return how many times larger the mean squared error of a simple random sample is.

    One number for each case in which that sample has at least five labelled positives on average:
    with fewer its estimate is mostly 0, which is not far from a low truth.
    """
    by_case: dict[tuple[str, float, int], dict[str, Row]] = {}
    for row in rows:
        case = row["model"], row["prevalence"], row["budget"]
        by_case.setdefault(case, {})[row["design"]] = row
    return [
        found["simple"]["mean_square"] / found[design]["mean_square"]
        for found in by_case.values()
        if {"simple", design} <= set(found)
        and found["simple"]["positives"] >= _ENOUGH
        and found[design]["mean_square"] > 0
    ]


def draw(results: Results) -> None:
    """Draw coverage over the number of labelled positives."""
    import matplotlib.pyplot as plt

    from precall.display.mpl import styles

    figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
    designs = _in_order(results.rows, "design")
    for design, style in zip(designs, styles(len(designs)), strict=True):
        chosen = [row for row in results.rows if row["design"] == design]
        ax.plot(
            [row["positives"] + 1 for row in chosen],
            [row["covered"] for row in chosen],
            linestyle="none",
            marker="o",
            markersize=3.5,
            label=design,
            color=style["color"],
        )
    ax.axhline(0.95, color="0.5", linewidth=1)
    ax.set(xscale="log", xlabel="labelled positives on average, plus 1", ylabel="covered")
    ax.legend(frameon=False, fontsize=8, ncols=2)
    ax.spines[["top", "right"]].set_visible(False)
    results.save_figure(figure)
    plt.close(figure)


def write_page(results: Results, cases: int) -> Path:
    """Write the page; say how many of the cases are done."""
    rows, settings = results.rows, results.settings
    low = too_low(rows)
    below = sum(row["truth_below"] * row["samples"] for row in rows)
    above = sum(row["truth_above"] * row["samples"] for row in rows)
    results.save_page(
        "# Few labels\n\n"
        f"Each case is {_numbers(rows)} samples of populations of {settings['rows']:,} rows, a "
        "new population every 20 samples, and the 95 % interval of average precision from each: "
        "how often it covers the average precision of the whole population, and how wide it is. "
        f"The error of a share of .95 is {_errors(rows)}.{_left(rows, cases)}\n\n"
        "Designs: `plan` without a guess, with a `guess` (probabilities calibrated on other rows), "
        "`two rounds` (a fifth of the budget first), a `simple` random sample, `poisson` (each row "
        "by itself, with a probability that falls with its rank), and plans from a guess that is "
        "reversed or constant.\n\n"
        "## By design\n\n"
        + _summary(rows)
        + "\n\n"
        + _verdict(rows, low)
        + f" Of {above + below:,.0f} intervals that missed, {above:,.0f} were too low and "
        f"{below:,.0f} too high.\n\n"
        "*Width over needed* is the mean width over 2 × 1.96 standard deviations of the estimate, "
        "the median of the cases. *Simple over this* is the mean squared error of a simple "
        "random sample over that of the design at the same number of labels, the median and the "
        f"extremes of the cases in which the former has {_ENOUGH} labelled positives or more.\n\n"
        "![Coverage over the number of labelled positives](audit.svg)\n\n"
        "## Every case\n\n"
        "The share that covers, and the mean width. Models in italics were not looked at while the "
        "method was made; **bold** shares are significantly below .94.\n\n" + _cases(rows) + "\n"
    )
    return results.path(".md")


def _left(rows: list[Row], cases: int) -> str:
    if len(rows) == cases:
        return ""
    return (
        f" **{len(rows)} of {cases} cases are done**, and the table has no others: the same "
        "command goes on with the rest."
    )


def _numbers(rows: list[Row]) -> str:
    """Return how many samples cases have, with the budgets that have as many."""
    budgets: dict[int, list[str]] = {}
    for row in sorted(rows, key=lambda row: row["budget"]):
        own = budgets.setdefault(row["samples"], [])
        own += [f"{row['budget']:,}"] if f"{row['budget']:,}" not in own else []
    if len(budgets) == 1:
        return str(next(iter(budgets)))
    return " or ".join(f"{n} ({' and '.join(b)} labels)" for n, b in sorted(budgets.items()))


def _errors(rows: list[Row]) -> str:
    numbers = sorted({row["samples"] for row in rows})
    return " or ".join(f"{np.sqrt(0.95 * 0.05 / number):.3f}" for number in numbers)


def _in_order(rows: Iterable[Row], name: str) -> list[str]:
    return list(dict.fromkeys(row[name] for row in rows))


def _verdict(rows: list[Row], low: list[Row]) -> str:
    said = f"{len(low)} of {len(rows)} cases cover significantly less than .94 (one-sided, 1 %)"
    if not low:
        return said + "."
    return (
        said
        + ": "
        + "; ".join(
            f"{row['model']}, prevalence {row['prevalence']:g}, {row['budget']:,} labels, "
            f"{row['design']}: {row['covered']:.3f} with {row['positives']:.1f} labelled positives"
            for row in low
        )
        + "."
    )


def _summary(rows: list[Row]) -> str:
    lines = []
    for design in _in_order(rows, "design"):
        own = [row for row in rows if row["design"] == design]
        covered = [row["covered"] for row in own]
        wider = [row["width"] / needed_width(row) for row in own if needed_width(row) > 0]
        gain = advantages(rows, design)
        lines.append(
            [
                design,
                str(len(own)),
                f"{min(covered):.3f}",
                f"{np.mean(covered):.3f}",
                str(len(too_low(own))),
                f"{np.median(wider):.2f}" if wider else "",
                f"{np.median(gain):.1f} ({min(gain):.1f} to {max(gain):.0f})" if gain else "",
            ]
        )
    header = ["design", "cases", "lowest coverage", "mean coverage", "significantly below .94"]
    return markdown_table([*header, "width over needed", "simple over this"], lines)


def _cases(rows: list[Row]) -> str:
    designs = _in_order(rows, "design")
    found = {
        (row["model"], row["prevalence"], row["budget"], row["design"]): _shown(row) for row in rows
    }
    keys = sorted(
        {key[:3] for key in found},
        key=_by_model(_in_order(rows, "model")),
    )
    return markdown_table(
        ["model", "prevalence", "labels", *designs],
        (
            [
                model if model in _LOOKED_AT else f"*{model}*",
                f"{prevalence:g}",
                f"{budget:,}",
                *(found.get((model, prevalence, budget, design), "") for design in designs),
            ]
            for model, prevalence, budget in keys
        ),
    )


def _by_model(models: list[str]) -> Callable[[tuple[str, float, int]], tuple[int, float, int]]:
    return lambda key: (models.index(key[0]), key[1], key[2])


def _shown(row: Row) -> str:
    share = f"{row['covered']:.3f}"
    return f"{f'**{share}**' if row in too_low([row]) else share} ({row['width']:.2g})"

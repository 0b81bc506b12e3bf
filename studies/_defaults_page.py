"""The page of the study `defaults`: coverage by part, and the cells that were run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

from precall.inference.significance import holm

from ._results import Results, Row, core_minutes, markdown_table

#: What a default interval is not to be significantly under.
CLAIM = 0.94
_ERROR_RATE = 0.05
_KEY = ("part", "metric", "model", "positives", "prevalence", "design")


def significantly_low(row: Row, n_cells: int, others: list[Row]) -> bool:
    """Return whether a cell that was run again is under the claim, by Holm over all cells."""
    p_values = [_p_value(other) for other in [row, *(each for each in others if each is not row)]]
    # Cells that were not doubted are not significant, and count.
    return holm([*p_values, *[1.0] * (n_cells - len(p_values))])[0] < _ERROR_RATE


def _p_value(row: Row) -> float:
    count = row["data_sets"]
    return float(binom.cdf(round(row["coverage"] * count), count, CLAIM))


def write_page(results: Results, again: Results) -> Path:
    """Write the coverage of every part, and of the cells that were run again."""
    parts: dict[tuple[str, str], list[Row]] = {}
    for row in results.rows:
        parts.setdefault(_group(row), []).append(row)
    page = results.path(".md")
    results.save_page(
        "# Default intervals beyond the plain area\n\n"
        "Share of data sets whose default 95 % interval held the truth, on score models that "
        "nothing was tuned on. Numbers of positives are 20 and 100 (10 at the least with "
        "clusters), prevalences .5, .1 and .01 where rows came as they came; each row of the table "
        "has the cells of one question. A cell has "
        f"{_sizes(results)} data sets; ± is one standard error. "
        "With clusters the last number is the correlation of their rows' scores, with groups the "
        "spread is the standard deviation of the logarithm of their sizes (near the floor and near "
        "the ceiling their classes are hardly or far apart), and differences are of "
        "two models whose scores are correlated by .5. Laplace and t scores of groups were looked "
        "at while the rules for groups were chosen, and outlying ones (one in five with four times "
        "the spread) showed what summary curves lacked at high recalls; Cauchy scores are new. "
        f"Seed {results.settings['seed']}. {core_minutes([*results.rows, *again.rows])}\n\n"
        + markdown_table(
            ["question", "cells", "mean coverage", "least (where)", f"under {_cut(CLAIM)}"],
            [_line(" ".join(name).strip(), rows) for name, rows in parts.items()],
        )
        + f"\n\n## The lowest cells again\n\n{_again(results, again)}\n"
    )
    return page


def _group(row: Row) -> tuple[str, str]:
    """Cells that stand in one line: those of a metric, or of a kind of rows."""
    if row["part"] == "clusters":
        return "clusters:", row["design"].split(", ", 1)[1]
    if row["part"] == "differences":
        metric = "" if row["metric"] == "aucpr" else f" of {row['metric']}"
        return f"differences{metric}:", row["design"]
    if row["part"] in ("groups", "summary curves"):
        return f"{row['part']}, {row['metric']}:", row["design"].partition(", ")[2]
    return f"{row['part']}:", f"`{row['metric'].partition('(')[0]}`" + _option(row["metric"])


def _option(metric: str) -> str:
    """The recall or the precision that is asked; a share of the rows is the prevalence."""
    if "_at_k" in metric or "threshold" in metric or "(" not in metric:
        return ""
    return f", {metric.partition('(')[2][:-1]}"


def _sizes(results: Results) -> str:
    counts = sorted({row["data_sets"] for row in results.rows})
    return " or ".join(f"{count:,}" for count in counts)


def _cut(share: float, digits: int = 2) -> str:
    return f"{share:.{digits}f}".lstrip("0")


def _line(name: str, rows: list[Row]) -> list[str]:
    shares = np.array([row["coverage"] for row in rows])
    least = rows[int(np.argmin(shares))]
    return [
        name,
        str(len(rows)),
        f"{shares.mean():.3f}",
        f"{least['coverage']:.3f} ± {_error(least):.3f} ({_where(least)})",
        str(int(np.sum(shares < CLAIM))),
    ]


def _error(row: Row) -> float:
    share = min(row["coverage"], 1.0 - 0.5 / row["data_sets"])
    return float(np.sqrt(share * (1.0 - share) / row["data_sets"]))


def _where(row: Row) -> str:
    """The cell in words."""
    words = [row["model"].replace("_", " ")]
    if row["positives"]:
        words.append(str(row["positives"]))
    words.append(f"{row['prevalence']:g}")
    if row["design"] not in ("rows", "as many negatives"):
        words.append(row["design"])
    return ", ".join(words)


def _again(results: Results, again: Results) -> str:
    first: dict[Any, Row] = {tuple(row[name] for name in _KEY): row for row in results.rows}
    found = sorted(again.rows, key=lambda row: float(row["coverage"]))
    low = [row for row in found if significantly_low(row, len(results.rows), found)]
    said = (
        f"Of {len(results.rows):,} cells {len(found)} came out under "
        f"{_cut(again.settings['doubted_under'], 3)} and were run again, with "
        f"{again.settings['data_sets']:,} other data sets each. "
        f"{len(low)} of them {'is' if len(low) == 1 else 'are'} significantly under "
        f"{_cut(CLAIM)} (Holm over all cells)."
    )
    if not found:
        return said
    lines = [
        [
            f"{row['part']}: {row['metric']}, {_where(row)}",
            _cut(first[tuple(row[name] for name in _KEY)]["coverage"], 3),
            f"{_cut(row['coverage'], 3)} ± {_cut(_error(row), 3)}",
            f"{_cut(row['too_high'], 3)}, {_cut(row['too_low'], 3)}",
            f"{row['width']:.3g}",
            "yes" if row in low else "",
        ]
        for row in found
    ]
    header = [
        "cell",
        "first",
        "again",
        "interval above, below the truth",
        "width",
        f"under {_cut(CLAIM)}",
    ]
    return f"{said}\n\n{markdown_table(header, lines)}"

"""The page of the study of intervals: its tables, made from the rows."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from ._results import Results, Row, markdown_table


def write_page(
    results: Results,
    *,
    regular: Collection[str],
    tuned_on: Collection[str],
    formulas: Collection[str],
) -> Path:
    """Write the tables: least coverage, cells under .945 and width, by group of models."""
    page = results.path(".md")
    page.write_text(
        "# Coverage and width of the intervals\n\n"
        f"{results.settings['simulations']['formula']:,} data sets a cell (formula methods; the "
        f"Monte Carlo error of a coverage of .95 is .0034), "
        f"{results.settings['simulations']['resampling']:,} with "
        f"{results.settings['n_resamples']} replicates (bootstrap), "
        f"seed {results.settings['seed']}. A cell is a score model, a number of positives and a "
        "prevalence. Widths are geometric means over the cells, relative to logit's; every cell is "
        "in the table `intervals.csv` beside this page.\n\n"
        "## Average precision\n\n"
        + _formula_table(results.rows, regular, tuned_on, formulas)
        + "\n\n`beta`, exact binomial limits with as many trials as the influence variance is "
        "worth, is a candidate that was not adopted for areas. Its constants were chosen on the "
        f"models called tuned on ({', '.join(tuned_on)}). `NAME+K` has K negatives above "
        "everything on average.\n\n"
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
        ratio = [np.log(row["width"] / reference[_cell(row)]) for row in rows]
        text += f" ×{np.exp(np.mean(ratio)):.2f}"
    return text


def _cell(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("model", "numbers", "prevalence", "n_pos"))


def _formula_table(
    rows: list[Row], regular: Collection[str], tuned_on: Collection[str], formulas: Collection[str]
) -> str:
    chosen = [row for row in rows if row["part"] == "formula"]
    reference = {_cell(row): row["width"] for row in chosen if row["method"] == "logit"}
    lines = []
    for title, inner in (("regular", True), ("outlying", False)):
        for tuned in (True, False):
            for kind in ("fixed", "random"):
                inside = [
                    row
                    for row in chosen
                    if (row["model"] in regular) == inner
                    and (row["model"] in tuned_on) == tuned
                    and row["numbers"] == kind
                ]
                if not inside:
                    continue
                by_method = {m: [r for r in inside if r["method"] == m] for m in formulas}
                lines.append(
                    [
                        f"{title}, {'tuned on' if tuned else 'unseen'}, {kind}",
                        str(len(by_method["logit"])),
                        *(_summary(found, reference) for found in by_method.values()),
                    ]
                )
    return "Least coverage (cells under .945) ×width.\n\n" + markdown_table(
        ["models, numbers of rows", "cells", *formulas], lines
    )


def _resampling_table(rows: list[Row]) -> str:
    chosen = [row for row in rows if row["part"] == "resampling"]
    guarded = {_cell(r): r for r in rows if r["part"] == "formula" and r["method"] == "guarded"}
    methods = list(dict.fromkeys(row["method"] for row in chosen))
    lines = []
    for cell in dict.fromkeys(_cell(row) for row in chosen):
        found = {row["method"]: row for row in chosen if _cell(row) == cell}
        found["guarded"] = guarded[cell]
        lines.append(
            [
                f"{cell[0]}, {cell[3]} positives, {cell[2]:g}",
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

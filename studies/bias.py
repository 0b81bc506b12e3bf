"""How far each estimator of the area is from the truth, on average.

Boyd (2014), figures 4.5 (over the number of rows at a prevalence of .1) and 4.6 (over prevalence
at 1,000 rows), for his three scenarios and all ten estimators here. Beside them the scores that no
constant was chosen on, at 100 and 1,000 rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from precall.exceptions import UndefinedMetricError
from precall.metrics import ESTIMATORS
from precall.metrics._kernels import make_steps
from precall.metrics.areas import aucpr
from precall.ranking import Ranking
from precall.simulate import (
    HELD_OUT,
    UNSEEN,
    Bibeta,
    Binormal,
    OffsetUniform,
    Scenario,
    rank_batch,
    run_blocks,
)

from ._results import Results, Row, markdown_table

MODELS: dict[str, Scenario] = {
    "binormal": Binormal(),
    "bibeta": Bibeta(),
    "offset_uniform": OffsetUniform(),
}
#: Models of the table that are not in the figure.
OTHERS: dict[str, Scenario] = {**UNSEEN, **HELD_OUT}
TABULATED = (100, 1000)
SIZES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000)
PREVALENCES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
CASES = sorted({(size, 0.1) for size in SIZES} | {(1000, p) for p in PREVALENCES})
_SCORES_PER_BLOCK = 500_000


def estimates(
    scenario: Scenario, n_pos: int, n_neg: int, data_sets: int, rng: np.random.Generator
) -> dict[str, npt.NDArray[np.float64]]:
    """Draw data sets and return each estimator's values on all of them."""
    batch = rank_batch(*scenario.sample_scores(n_pos, n_neg, size=data_sets, rng=rng), moments=True)
    steps = make_steps(batch.cells)
    values = {
        name: np.asarray(kind.kernel(steps, 0.0, 1.0))
        for name, kind in ESTIMATORS.items()
        if kind.kernel is not None
    }
    values["binormal"] = np.array([_binormal(batch[k]) for k in range(data_sets)])
    return values


def _binormal(ranking: Ranking) -> float:
    """The estimate, or NaN where all scores of a class are tied."""
    try:
        return float(aucpr(ranking, estimator="binormal"))
    except UndefinedMetricError:
        return math.nan


def simulate_case(
    name: str,
    size: int,
    prevalence: float,
    simulations: int,
    seed: Any,
    workers: int | None = None,
) -> list[Row]:
    """Return one row per estimator: mean and standard deviation over the truth."""
    scenario = (MODELS | OTHERS)[name]
    n_pos = round(size * prevalence)
    per_block = max(1, min(simulations, _SCORES_PER_BLOCK // size))
    results = run_blocks(
        lambda rng: estimates(scenario, n_pos, size - n_pos, per_block, rng),
        -(-simulations // per_block),
        rng=np.random.default_rng(seed),
        workers=workers,
    )
    truth = scenario.aucpr(n_pos / size)
    rows = []
    for estimator in ESTIMATORS:
        values = np.concatenate([block[estimator] for block in results])[:simulations]
        ratio = values[~np.isnan(values)] / truth
        rows.append(
            {
                "model": name,
                "rows": size,
                "prevalence": prevalence,
                "estimator": estimator,
                "simulations": simulations,
                "truth": truth,
                "bias_ratio": float(ratio.mean()),
                "standard_error": float(ratio.std(ddof=1) / np.sqrt(ratio.size)),
                "relative_rmse": float(np.sqrt(np.mean((ratio - 1) ** 2))),
            }
        )
    return rows


def run(
    output: str | Path,
    *,
    quick: bool = False,
    seed: int = 20140401,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Run the study into a folder and return the page written there."""
    simulations = 300 if quick else 10_000
    cases = [case for case in CASES if case[0] <= 1000] if quick else CASES
    results = Results(output, "bias", {"study": "bias", "simulations": simulations, "seed": seed})
    todo = [(name, *case) for name in MODELS for case in cases]
    todo += [(name, size, 0.1) for name in OTHERS for size in TABULATED]
    for done, (name, size, prevalence) in enumerate(todo, start=1):
        if not results.has(model=name, rows=size, prevalence=prevalence):
            key = [seed, list(MODELS | OTHERS).index(name), size, round(1000 * prevalence)]
            results.add(simulate_case(name, size, prevalence, simulations, key, workers))
        if progress is not None:
            progress(done, len(todo))
    draw(results)
    return write_page(results)


def draw(results: Results) -> None:
    """Draw figures 4.5 and 4.6: one panel per scenario."""
    import matplotlib.pyplot as plt

    from precall.display.mpl import styles

    figure, axes = plt.subplots(2, 3, figsize=(13, 8), layout="constrained", sharey="row")
    looks = styles(len(ESTIMATORS))
    for column, model in enumerate(MODELS):
        for line, (over, fixed, value) in enumerate(
            (("rows", "prevalence", 0.1), ("prevalence", "rows", 1000))
        ):
            ax = axes[line, column]
            for estimator, look in zip(ESTIMATORS, looks, strict=True):
                chosen = sorted(
                    (row[over], row["bias_ratio"])
                    for row in results.rows
                    if row["model"] == model
                    and row["estimator"] == estimator
                    and row[fixed] == value
                )
                ax.plot(*zip(*chosen, strict=True), marker=".", label=estimator, **look)
            ax.axhline(1.0, color="#767676", linewidth=0.8)
            ax.set_xscale("log")
            ax.set_ylim(0.8, 1.5)
            ax.set_xlabel(f"{over} ({fixed} {value:g})")
            ax.set_title(model.replace("_", " "))
            ax.spines[["top", "right"]].set_visible(False)
        axes[0, 0].set_ylabel("mean estimate / true area")
        axes[1, 0].set_ylabel("mean estimate / true area")
    axes[0, 2].legend(fontsize=8, frameon=False)
    results.save_figure(figure)
    plt.close(figure)


def write_page(results: Results) -> Path:
    """Write the table of the bias at prevalence .1."""
    rows = []
    for model in MODELS | OTHERS:
        for size in TABULATED:
            found = {
                row["estimator"]: row
                for row in results.rows
                if row["model"] == model and row["rows"] == size and row["prevalence"] == 0.1
            }
            rows.append(
                [f"{model}, {size}"]
                + [
                    f"{found[e]['bias_ratio']:.3f} ± {2 * found[e]['standard_error']:.3f}"
                    for e in ESTIMATORS
                ]
            )
    page = results.path(".md")
    results.save_page(
        "# Bias of the estimators\n\n"
        "Mean estimate over the true area, at a prevalence of .1, with twice its Monte Carlo "
        f"error ({results.settings['simulations']:,} data sets a case, "
        f"seed {results.settings['seed']}). The scores after the first three are those that no "
        "constant was chosen on; where some are tied (zero_inflated, five_levels, one_decimal) the "
        "true area is that of average precision, and straight lines between thresholds have "
        "another.\n\n"
        + markdown_table(["scores, rows", *ESTIMATORS], rows)
        + "\n\n![Bias ratio over rows and over prevalence](bias.svg)\n\n"
        "Boyd (2014, figures 4.5 and 4.6) finds average precision, the lower trapezoid and the "
        "interpolated median nearly unbiased, the upper trapezoid, the interpolated maximum and "
        "the convex hull too high, and the binormal estimator wrong unless the scores are "
        "normal.\n\n" + "\n".join(_range(results, size) for size in TABULATED) + "\n"
    )
    return page


def _range(results: Results, size: int) -> str:
    """Say how far from the truth the usual estimator and the least biased one are."""
    ratios = [
        [
            row["bias_ratio"]
            for row in results.rows
            if (row["rows"], row["prevalence"], row["estimator"]) == (size, 0.1, estimator)
        ]
        for estimator in ("average_precision", "leave_one_out")
    ]
    usual, least = (f"{min(each):.3f} to {max(each):.3f}" for each in ratios)
    return (
        f"With {round(0.1 * size)} positives average precision is {usual} times the truth over all "
        f"of these scores, its leave-one-out form {least} times."
    )

"""What a released AUROC gives away about one row: Boyd (2014), section 5.2 and figure 5.1.

The adversary of :mod:`precall.privacy.attack` knows every row but one and the AUROC of all of
them, to some number of digits. Beside the paper's rounding stands the same attack on a private
release, and beside the paper's data, of which exactly half are positives, data in which the class
of the missing row was tossed, so that counting the known rows does not give it away.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from precall.privacy.attack import reidentification_curve, success_bound
from precall.simulate import Binormal, Scenario

from ._cells import compute
from ._results import Results, Row, markdown_table
from ._scores import read_scores

# Its AUROC, .898, is about that of a logistic regression on the paper's data (UCI adult).
SCENARIO = Binormal(1.8)
SIZES = (10, 20, 50, 100, 200, 500, 1000)
#: Digits after the point; 0 stands for all of them.
DIGITS = (1, 2, 3, 4, 5, 6, 0)
#: Private releases, by their epsilon.
EPSILONS = (0.1, 1.0)
#: The class of the missing row: given by the halves, or tossed.
DESIGNS = ("halves", "tossed")
KINDS = (*(("digits", digits) for digits in DIGITS), *(("epsilon", e) for e in EPSILONS))


def _sample(
    scenario: Scenario, size: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    return scenario.sample(size // 2, size - size // 2, rng)


def simulate_cell(design: str, size: int, scenario: Scenario, attacks: int, seed: Any) -> list[Row]:
    """Return one row per kind of release: how often the adversary is right."""
    found = reidentification_curve(
        partial(_sample, scenario),
        sizes=[size],
        digits=[digits or None for digits in DIGITS],
        epsilons=EPSILONS,
        n_trials=attacks,
        toss=design == "tossed",
        rng=np.random.default_rng(seed),
    )
    return [
        {
            "design": design,
            "rows": size,
            "release": release,
            "value": value,
            "attacks": attacks,
            "success": exposure.success,
            "standard_error": exposure.standard_error,
        }
        for (release, value), exposure in zip(KINDS, found, strict=True)
    ]


def run(
    output: str | Path,
    *,
    quick: bool = False,
    seed: int = 20140801,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    scores: str | Path | None = None,
) -> Path:
    """Run the study into a folder and return the page written there.

    `scores` is a CSV file with the columns ``label`` (0 or 1) and ``score``: data sets are then
    drawn from its rows, with replacement, instead of from two normal laws.
    """
    scenario: Scenario = SCENARIO if scores is None else read_scores(scores)
    attacks = 25 if quick else 500
    settings = {
        "study": "attack",
        "scores": "normal" if scores is None else Path(scores).name,
        "attacks": attacks,
        "seed": seed,
    }
    results = Results(output, "attack", settings)
    todo = [
        (design, size, scenario, attacks, [seed, DESIGNS.index(design), size])
        for design in DESIGNS
        for size in SIZES
        if not results.has(design=design, rows=size)
    ]
    total = len(DESIGNS) * len(SIZES)
    for done, rows in enumerate(compute(simulate_cell, todo, workers), start=total - len(todo) + 1):
        results.add(rows)
        if progress is not None:
            progress(done, total)
    draw(results)
    return write_page(results)


def _name(release: str, value: Any) -> str:
    if release == "epsilon":
        return f"private, ε = {value:g}"
    if value == 0:
        return "all digits"
    return f"{value} digit" if value == 1 else f"{value} digits"


def _shares(results: Results, design: str, release: str, value: Any) -> dict[int, float]:
    """Share of right guesses by number of rows."""
    return {
        row["rows"]: row["success"]
        for row in results.rows
        if row["design"] == design and row["release"] == release and row["value"] == value
    }


def draw(results: Results) -> None:
    """Draw figure 5.1, with halves and with tossed classes."""
    import matplotlib.pyplot as plt

    from precall.display.mpl import styles

    figure, axes = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained", sharey=True)
    titles = ("exactly half are positives (5.1)", "the class of the missing row is tossed")
    for ax, design, title in zip(axes, DESIGNS, titles, strict=True):
        for kind, look in zip(KINDS, styles(len(KINDS)), strict=True):
            points = sorted(_shares(results, design, *kind).items())
            width = 2.5 if kind[0] == "epsilon" else 1.2
            ax.plot(*zip(*points, strict=True), "-", marker=".", label=_name(*kind))
            ax.lines[-1].set(linewidth=width, **look)
        ax.axhline(0.5, color="black", linewidth=0.8)
        ax.set(xscale="log", xlabel="rows", ylim=(0.0, 1.02), title=title)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("share of right guesses")
    figure.legend(*axes[1].get_legend_handles_labels(), frameon=False, loc="outside right center")
    results.save_figure(figure)
    plt.close(figure)


def write_page(results: Results) -> Path:
    """Write how often the adversary is right."""
    lines = []
    for design in DESIGNS:
        columns = [_shares(results, design, *kind) for kind in KINDS]
        lines += [
            [design, f"{size:,}", *(f"{column[size]:.2f}" for column in columns)]
            for size in columns[0]
        ]
    settings = results.settings
    worst = max(row["standard_error"] for row in results.rows)
    page = results.path(".md")
    results.save_page(
        "# What an AUROC gives away\n\n"
        "Share of right guesses of the class of one row, by an adversary who knows all the others "
        "and the released AUROC, and rounds what he computes as the release was rounded "
        f"({settings['attacks']:,} attacks a cell, Monte Carlo error at most {worst:.3f}, seed "
        f"{settings['seed']}, {settings['scores']} scores).\n\n"
        + markdown_table(["classes", "rows", *(_name(*kind) for kind in KINDS)], lines)
        + "\n\n![Share of right guesses over the number of rows](attack.svg)\n\n"
        + _verdict(results)
    )
    return page


def _verdict(results: Results) -> str:
    def range_of(design: str, release: str, value: Any) -> str:
        shares = _shares(results, design, release, value).values()
        return f"{min(shares):.2f} to {max(shares):.2f}"

    private = "; ".join(
        f"at ε = {epsilon:g} no adversary can be right more often than "
        f"{success_bound(epsilon):.3f}, and this one is in "
        f"{range_of('tossed', 'epsilon', epsilon)} of the cases"
        for epsilon in EPSILONS
    )
    return (
        "The paper says that with many digits the class is found with high probability, less often "
        "the more rows there are, and that rounding helps: reproduced for every fixed number of "
        f"digits. With all of them it is found in {range_of('halves', 'digits', 0)} of the cases, "
        "and there more rows do not help: it is missed only with few, where both classes can "
        "explain one AUROC.\n\n"
        "A private release does not help where exactly half are positives: the numbers of known "
        "rows of each class help the adversary, and one who knows that the halves are equal needs "
        "no AUROC at all. What a private release promises is to add little to what is known "
        f"already, and where the class was tossed it keeps that promise: {private}.\n"
    )

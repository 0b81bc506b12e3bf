"""What released numbers give away about one row: Boyd (2014), section 5.2 and figure 5.1.

The adversary of :mod:`precall.privacy.attack` knows every row but one and the AUROC of all of
them, to some number of digits. Beside the paper's rounding stands the likeliest guess from private
releases, of the AUROC, the average precision, a confusion matrix and all three for one epsilon; and
beside the paper's data, of which exactly half are positives, data in which the class of the
missing row was tossed, so that counting the known rows does not give it away.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from precall.privacy.attack import Exposure, reidentification_curve, success_bound
from precall.simulate import Binormal, Empirical, Scenario

from ._cases import compute
from ._results import Results, Row, markdown_table
from ._scores import read_scores

# Its AUROC, .898, is about that of a logistic regression on the paper's data (UCI adult).
SCENARIO = Binormal(1.8)
SIZES = (10, 20, 50, 100, 200, 500, 1000)
#: Digits after the point; 0 stands for all of them.
DIGITS = (1, 2, 3, 4, 5, 6, 0)
#: Private releases: what is published, for each epsilon.
RELEASES: dict[str, tuple[str, ...]] = {
    "auroc": ("auroc",),
    "average precision": ("average_precision",),
    "confusion matrix": ("confusion",),
    "all three": ("auroc", "average_precision", "confusion"),
}
EPSILONS = (0.1, 1.0, 5.0, 10.0)
#: Threshold of the confusion matrix: halfway between the two normal distributions.
THRESHOLD = 0.9
#: The class of the missing row: given by the halves, or tossed.
DESIGNS = ("halves", "tossed")
# What the figure shows.
SHOWN = (*(("digits", digits) for digits in DIGITS), ("auroc", 1.0), ("auroc", 10.0))


def _sample(
    scenario: Scenario, size: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    return scenario.sample(size // 2, size - size // 2, rng)


def simulate_case(design: str, size: int, scenario: Scenario, attacks: int, seed: Any) -> list[Row]:
    """Return one row per kind of release: how often the adversary is right."""
    options: dict[str, Any] = {
        "sizes": [size],
        "n_trials": attacks,
        "toss": design == "tossed",
        "threshold": _threshold(scenario),
        "rng": np.random.default_rng(seed),
    }
    sample = partial(_sample, scenario)
    rounded = [digits or None for digits in DIGITS]
    curve = reidentification_curve(sample, digits=rounded, **options)
    found: dict[tuple[str, float], Exposure] = dict(
        zip([("digits", digits) for digits in DIGITS], curve, strict=True)
    )
    for name, metrics in RELEASES.items():
        curve = reidentification_curve(
            sample, digits=(), epsilons=EPSILONS, metrics=metrics, **options
        )
        found |= zip([(name, epsilon) for epsilon in EPSILONS], curve, strict=True)
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
        for (release, value), exposure in found.items()
    ]


def _threshold(scenario: Scenario) -> float:
    if isinstance(scenario, Empirical):  # nothing is published here, so the scores may choose it
        return float(np.median(np.concatenate([scenario.positives, scenario.negatives])))
    return THRESHOLD


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
    drawn from its rows, with replacement, instead of from two normal distributions.
    """
    scenario: Scenario = SCENARIO if scores is None else read_scores(scores)
    attacks = 10 if quick else 500
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
    for done, rows in enumerate(compute(simulate_case, todo, workers), start=total - len(todo) + 1):
        results.add(rows)
        if progress is not None:
            progress(done, total)
    draw(results)
    return write_page(results)


def _name(release: str, value: Any) -> str:
    if release != "digits":
        return f"private {release}, ε = {value:g}".replace("auroc", "AUROC")
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
        for kind, look in zip(SHOWN, styles(len(SHOWN)), strict=True):
            points = sorted(_shares(results, design, *kind).items())
            width = 1.2 if kind[0] == "digits" else 2.5
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
    sizes = sorted({row["rows"] for row in results.rows})
    rounded = [
        [design, _name("digits", digits), *_line(results, design, "digits", digits, sizes)]
        for design in DESIGNS
        for digits in DIGITS
    ]
    private = [
        [
            design,
            release.replace("auroc", "AUROC"),
            f"{epsilon:g}",
            *_line(results, design, release, epsilon, sizes),
            f"{success_bound(epsilon):.5f}",
        ]
        for design in DESIGNS
        for release in RELEASES
        for epsilon in EPSILONS
    ]
    settings = results.settings
    worst = max(row["standard_error"] for row in results.rows)
    columns = [f"{size:,} rows" for size in sizes]
    page = results.path(".md")
    results.save_page(
        "# What released numbers give away\n\n"
        "Share of right guesses of the class of one row, by an adversary who knows all the others "
        f"and what was released ({settings['attacks']:,} attacks a case, Monte Carlo error at most "
        f"{worst:.3f}, seed {settings['seed']}, {settings['scores']} scores).\n\n"
        "## A rounded AUROC\n\n"
        "He rounds what he computes as the release was rounded, and believes what comes closest."
        "\n\n"
        + markdown_table(["classes", "AUROC", *columns], rounded)
        + "\n\n![Share of right guesses over the number of rows](attack.svg)\n\n"
        + _verdict_on_rounding(results)
        + "\n## Private releases\n\n"
        "He knows the noise, and believes the class under which everything that was published is "
        "the likelier. The last column is what no adversary can exceed in the long run where the "
        "class was tossed.\n\n"
        + markdown_table(["classes", "released", "ε", *columns, "at most"], private)
        + "\n\n"
        + _verdict_on_privacy(results)
    )
    return page


def _line(results: Results, design: str, release: str, value: Any, sizes: list[int]) -> list[str]:
    shares = _shares(results, design, release, value)
    return [_share(shares[size]) for size in sizes]


def _share(share: float) -> str:
    """Two digits, or one more where they would make a share 1 that is not."""
    return f"{share:.3f}" if 0.995 <= share < 1.0 else f"{share:.2f}"


def _range_of(results: Results, design: str, release: str, value: Any) -> str:
    shares = _shares(results, design, release, value).values()
    return f"{_share(min(shares))} to {_share(max(shares))}"


def _verdict_on_rounding(results: Results) -> str:
    return (
        "The paper says that with many digits the class is found with high probability, less often "
        "the more rows there are, and that rounding helps: reproduced for every fixed number of "
        f"digits. With all of them it is found in {_range_of(results, 'halves', 'digits', 0)} of "
        "the cases, and there more rows do not help: it is missed only with few, where both "
        "classes can explain one AUROC.\n"
    )


def _verdict_on_privacy(results: Results) -> str:
    def mean(release: str, epsilon: float) -> str:
        return f"{np.mean(list(_shares(results, 'tossed', release, epsilon).values())):.2f}"

    auroc = "; ".join(
        f"in {mean('auroc', epsilon)} of the cases at ε = {epsilon:g}, where "
        f"{success_bound(epsilon):.5f} is possible"
        for epsilon in EPSILONS
    )
    others = ", ".join(f"{name} {mean(name, EPSILONS[-1])}" for name in RELEASES if name != "auroc")
    return (
        "On average over the sizes, where the class was tossed, he finds it from a private AUROC "
        f"{auroc}. The number of rows makes no difference: the noise is made for one row among "
        f"however many. From the other releases at ε = {EPSILONS[-1]:g}: {others}. All three share "
        "one ε.\n\n"
        "Where exactly half are positives this adversary gains the same, because he does not use "
        "that he could count: one who knows that the halves are equal needs no release at all, "
        "and no privacy of it hides that.\n"
    )

"""Whether a private threshold keeps the precision that it promises, and what recall it leaves.

Rows are drawn one by one: a score, and a label with a probability that depends on it. So the
precision of every threshold is known. Models that are just short of the promise at every threshold
are the hardest to resist; others show what recall is left beside ``precall.operating_point``, which
sees the rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import precall as pr
from precall.exceptions import DirectionWarning
from precall.privacy.edges import probability_edges
from precall.privacy.mechanisms import SeededNoise
from precall.privacy.private_threshold import PrecisionTest, counts_above

from ._cases import run_cases
from ._results import Results, Row, markdown_table

FloatArray = npt.NDArray[np.float64]

#: A violation is a precision that is lower than promised by more than rounding.
ROUNDING = 1e-12
CONFIDENCE_LEVEL = 0.95
BINS = 64
#: Promises and costs that are tried, by the number of rows.
SIZES = {2_000: ((0.5, 0.8, 0.9), (1.0, 4.0)), 20_000: ((0.8,), (0.1, 1.0))}
#: Data sets on which the threshold without privacy is asked for too.
COMPARED = 50
MANY_ROWS = 20_000


class Model(NamedTuple):
    """Scores from even quantiles, and the probability of a positive at a score and a promise."""

    quantile: Callable[[FloatArray], FloatArray]
    positive: Callable[[FloatArray, float], FloatArray]


def _even(share: FloatArray) -> FloatArray:
    return share


def _rare(share: FloatArray) -> FloatArray:
    """Most scores near 0."""
    return 1.0 - (1.0 - share) ** (1.0 / 6.0)


def _cliff(score: FloatArray, promise: float) -> FloatArray:
    """Kept by every threshold above one half, and just missed by all below a gap of negatives."""
    surplus = 0.8 * (1.0 - promise)
    gap = 1.001 * 0.5 * surplus / promise
    lower = np.where(score >= 0.5 - gap, 0.0, promise)
    return np.where(score >= 0.5, promise + surplus, lower)


#: Hard ones first: no threshold keeps the promise, or only high ones do.
MODELS = {
    "nothing to find": Model(_even, lambda s, p: np.full_like(s, p - 1e-6)),
    "cliff": Model(_even, _cliff),
    "calibrated": Model(_even, lambda s, p: s),
    "steep": Model(_even, lambda s, p: 1.0 / (1.0 + np.exp(-12.0 * (s - 0.6)))),
    "rare": Model(_rare, lambda s, p: s),
    "dip on top": Model(_even, lambda s, p: np.where(s > 0.97, 0.3, s**0.5)),
}


class Case(NamedTuple):
    """A model, a number of rows, a promise and a cost."""

    model: str
    rows: int
    min_precision: float
    epsilon: float


def cases(quick: bool) -> list[Case]:
    """Every case, in order."""
    if quick:
        return [Case("nothing to find", 500, 0.5, 1.0), Case("calibrated", 500, 0.7, 4.0)]
    return [
        Case(model, rows, promise, epsilon)
        for rows, (promises, epsilons) in SIZES.items()
        for model in MODELS
        for promise in promises
        for epsilon in epsilons
    ]


def precisions(case: Case, edges: FloatArray) -> FloatArray:
    """Precision of the population at every inner edge, from the highest down."""
    model = MODELS[case.model]
    share = (np.arange(2_000_000) + 0.5) / 2_000_000
    scores = model.quantile(share)
    found = model.positive(scores, case.min_precision)
    thresholds = edges[1:-1][::-1]
    rows = scores.size - np.searchsorted(scores, thresholds)
    above = np.concatenate([[0.0], np.cumsum(found[::-1])])[rows]
    # Beyond the highest of these scores: that of a row at the threshold.
    return np.where(
        rows > 0, above / np.maximum(rows, 1), model.positive(thresholds, case.min_precision)
    )


def simulate(case: Case, data_sets: int, seed: Any) -> list[Row]:
    """Return how often the promise was broken, how often one was made, and the recall."""
    rng = np.random.default_rng(seed)
    noise = SeededNoise(rng)
    edges = probability_edges(BINS)
    true = precisions(case, edges)
    test = PrecisionTest.of(
        case.min_precision, 1.0 - CONFIDENCE_LEVEL, case.epsilon, edges.size - 2
    )
    model = MODELS[case.model]
    broken, made, recalls, without = 0, 0, [], []
    for number in range(data_sets):
        scores = model.quantile(rng.random(case.rows))
        positive = rng.random(case.rows) < model.positive(scores, case.min_precision)
        tp, selected = counts_above(positive, scores, edges)
        place = test.first(tp, selected, case.rows, noise)
        if place is not None:
            broken += bool(true[::-1][place] < case.min_precision - ROUNDING)
        made += place is not None
        recalls.append(0.0 if place is None else tp[::-1][place] / max(positive.sum(), 1))
        if number < COMPARED and 0 < positive.sum() < case.rows:
            point = _without_privacy(positive, scores, case.min_precision)
            found = point.threshold if point.certified else np.inf
            without.append(float(np.mean(scores[positive] >= found)))
    return [
        {
            **case._asdict(),
            "data_sets": data_sets,
            "broken": broken / data_sets,
            "made": made / data_sets,
            "recall": float(np.mean(recalls)),
            "recall_error": float(np.std(recalls, ddof=1) / np.sqrt(data_sets)),
            "recall_without_privacy": float(np.mean(without)),
        }
    ]


def _without_privacy(
    positive: npt.NDArray[np.bool_], scores: FloatArray, promise: float
) -> pr.OperatingPoint:
    with warnings.catch_warnings():  # some scores are no better than chance on purpose
        warnings.simplefilter("ignore", DirectionWarning)
        return pr.operating_point(pr.rank(positive, scores), min_precision=promise)


def run(
    output: str | Path,
    *,
    quick: bool = False,
    seed: int = 20261118,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Run the study into a folder and return the page written there."""
    many, few = (20, 20) if quick else (2_000, 300)
    settings = {
        "study": "private_threshold",
        "data_sets": many,
        "data_sets_of_many_rows": few,
        "seed": seed,
    }
    results = Results(output, "private_threshold", settings)
    run_cases(
        results,
        cases(quick),
        simulate,
        lambda case: many if case.rows < MANY_ROWS else few,
        workers,
        progress,
    )
    draw(results)
    return write_page(results)


def draw(results: Results) -> None:
    """Draw the recall with privacy over that without."""
    import matplotlib.pyplot as plt

    from precall.display.mpl import styles

    epsilons = sorted({row["epsilon"] for row in results.rows})
    figure, axes = plt.subplots(1, len(epsilons), figsize=(11, 4), squeeze=False)
    models = list(dict.fromkeys(row["model"] for row in results.rows))
    for ax, epsilon in zip(axes.flat, epsilons, strict=True):
        for model, look in zip(models, styles(len(models)), strict=True):
            rows = [r for r in results.rows if r["model"] == model and r["epsilon"] == epsilon]
            places = [[r[name] for r in rows] for name in ("recall_without_privacy", "recall")]
            ax.plot(*places, marker="o", color=look.get("color"), linestyle="none", label=model)
        ax.plot([0, 1], [0, 1], color="black", linewidth=0.8)
        ax.set(xlabel="recall without privacy", ylabel="recall", title=f"ε = {epsilon:g}")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    results.save_figure(figure)
    plt.close(figure)


def write_page(results: Results) -> Path:
    """Write how often promises were broken, and the recalls."""
    settings = results.settings
    worst = max(results.rows, key=lambda row: row["broken"])
    spread = np.sqrt(worst["broken"] * (1.0 - worst["broken"]) / worst["data_sets"])
    header = ["model", "rows", "promise", "ε", "broken", "made", "recall", "without privacy"]
    lines = [
        [
            row["model"],
            f"{row['rows']:,}",
            f"{row['min_precision']:g}",
            f"{row['epsilon']:g}",
            f"{100 * row['broken']:.2f} %",
            f"{100 * row['made']:.0f} %",
            f"{row['recall']:.3f}",
            f"{row['recall_without_privacy']:.3f}",
        ]
        for row in results.rows
    ]
    results.save_page(
        "# Private thresholds\n\n"
        f"`privacy.operating_point` at 95 %, with 63 thresholds: {settings['data_sets']} data sets "
        f"a line ({settings['data_sets_of_many_rows']} with {MANY_ROWS:,} rows), seed "
        f"{settings['seed']}. A promise is broken if the threshold that is released "
        "has a lower precision in the population than promised; 5 % of the data sets may. Recall "
        "is that of the rows, 0 where nothing was promised; beside it that of `operating_point`, "
        f"which sees the rows, on {COMPARED} of the data sets.\n\n"
        f"Broken most often: {100 * worst['broken']:.2f} % (± {100 * spread:.2f} %), in "
        f"{len(results.rows)} lines.\n\n"
        + markdown_table(header, lines)
        + "\n\n![Recall with and without privacy](private_threshold.svg)\n"
    )
    return results.path(".md")

"""Print how intervals and bands do where rows were kept with a chance that depends on the score.

A row that was kept with probability p weighs 1/p. The rules for such weights were chosen on the
scenarios of `UNSEEN` and `HELD_OUT`; the regular ones and the two below are for reports:

    .venv/bin/python -m scripts.weighted_coverage --data-sets 400
    .venv/bin/python -m scripts.weighted_coverage --data-sets 150 --bands --scenarios new
    .venv/bin/python -m scripts.weighted_coverage --data-sets 150 --thresholds --scenarios new
    .venv/bin/python -m scripts.weighted_coverage --data-sets 150 --top --scenarios new
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

import precall as pr
from precall.exceptions import DirectionWarning
from precall.simulate import HELD_OUT, REGULAR, UNSEEN, Scenario
from precall.simulate.distributions import Gamma, Mixture, Normal, Pareto, Uniform
from precall.simulate.scenarios import Pair
from studies._cells import shares_above

FloatArray = npt.NDArray[np.float64]

#: Rows before some are left out, by prevalence.
ROWS = {0.1: 4000, 0.01: 12_000}

#: Where bands are asked.
RECALLS = np.linspace(0.1, 0.9, 41)

#: Chance to be kept, by the share of rows at or above.
DESIGNS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "all at the top, 1 in 80 at the bottom": lambda share: np.select(
        [share < 0.05, share < 0.2], [1.0, 0.2], 1 / 80
    ),
    "densely at the top, falling smoothly": lambda share: np.clip(0.02 / share**0.7, 0.0, 1.0),
    "1 in 10 at the top, all others": lambda share: np.where(share < 0.05, 0.1, 1.0),
    "1 in 5 at the top, all others": lambda share: np.where(share < 0.05, 0.2, 1.0),
    "1 in 20 in the middle, all others": lambda share: np.where(
        (share > 0.03) & (share < 0.3), 0.05, 1.0
    ),
    "in inverse proportion to the rank": lambda share: np.clip(0.01 / share, 0.0, 1.0),
}
NOISE = "all, with lognormal weights"

#: Two that nothing about weights was chosen on, nor looked at before it was finished.
NEW: dict[str, Scenario] = {
    "shelf": Pair(
        Mixture((Uniform(location=3.0), Normal()), (0.6, 0.4)),
        Mixture((Normal(), Uniform(location=2.5)), (0.97, 0.03)),
    ),
    "far_below": Pair(
        Mixture((Pareto(2.0, scale=1.5), Normal(location=-1.0, scale=0.3)), (0.85, 0.15)),
        Gamma(1.0),
    ),
}
SETS = {"regular": REGULAR, "new": NEW, "chosen on": {**UNSEEN, **HELD_OUT}}


def sample(
    scenario: Scenario, prevalence: float, design: str, rng: np.random.Generator, **options: Any
) -> pr.Ranking:
    """Draw rows, leave some out, and rank the others; five positives at least."""
    rows = ROWS[prevalence]
    while True:
        if design == NOISE:
            labels, scores = _drawn(scenario, rows // 6, prevalence, rng)
            weight = np.exp(rng.normal(size=labels.size))
        else:
            labels, scores = _drawn(scenario, rows, prevalence, rng)
            chance = DESIGNS[design](rankdata(-scores) / rows)
            kept = rng.random(rows) < chance
            labels, scores, weight = labels[kept], scores[kept], 1.0 / chance[kept]
        if labels.sum() >= 5:
            return pr.rank(labels, scores, sample_weight=weight, **options)


def _drawn(
    scenario: Scenario, rows: int, prevalence: float, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], FloatArray]:
    n_pos = rng.binomial(rows, prevalence)
    return scenario.sample(n_pos, rows - n_pos, rng=rng)


def interval_holds(ranking: pr.Ranking, truth: Any) -> tuple[bool, float]:
    """Return whether the default interval has the truth, and its width."""
    found = pr.interval(ranking)
    return found.low <= truth <= found.high, found.high - found.low


def band_holds(ranking: pr.Ranking, truth: Any) -> tuple[bool, float]:
    """Return whether the default band has the curve at all recalls, and its mean width."""
    found = pr.band(ranking, n_points=RECALLS.size, n_resamples=1000, rng=0)
    inside = (found.low <= truth + 1e-12) & (truth - 1e-12 <= found.high)
    return bool(inside.all()), float(np.mean(found.high - found.low))


#: What is asked at the thresholds that have these recalls in the population.
AT_THRESHOLDS = (
    "recall",
    "precision",
    "f1",
    "f_beta",
    "balanced_accuracy",
    "mcc",
    "negative_predictive_value",
)
AT_RECALLS = (0.5, 0.8)
#: What is asked of so many of the rows.
AT_TOP = ("precision_at_k", "recall_at_k")
TOP_SHARES = (0.05, 0.2)
#: Coverage, mean width, and where.
Cell = tuple[float, float, str]


def at_thresholds(
    models: dict[str, Scenario], data_sets: int, design: str, number: int
) -> dict[str, list[Cell]]:
    """Return coverage and mean width of every metric at a threshold, for every case."""
    cells: dict[str, list[Cell]] = {name: [] for name in AT_THRESHOLDS}
    for (name, model), prevalence, recall in itertools.product(models.items(), ROWS, AT_RECALLS):
        rng = np.random.default_rng([number, round(1000 * prevalence), *map(ord, name)])
        many = model.sample_scores(200_000, 1, rng=rng)[0][0]
        threshold = float(np.quantile(many, 1.0 - recall, method="lower"))
        tpr, fpr = map(float, shares_above(model, threshold))
        metrics: dict[str, Any] = {
            each: pr.METRICS[f"{each}_at_threshold"](threshold) for each in AT_THRESHOLDS
        }
        metrics["f_beta"] = pr.METRICS["f_beta_at_threshold"](threshold, beta=2.0)
        truths = {
            each: float(
                metric.of(prevalence * tpr, (1 - prevalence) * fpr, prevalence, 1 - prevalence)
            )
            for each, metric in metrics.items()
        }
        found = [
            [pr.interval(ranking, metric) for metric in metrics.values()]
            for ranking in (
                sample(model, prevalence, design, rng, thresholds=[threshold])
                for _ in range(data_sets)
            )
        ]
        for place, (each, truth) in enumerate(truths.items()):
            column = [row[place] for row in found]
            held = np.mean(
                [one.low <= truth + 1e-12 and truth <= one.high + 1e-12 for one in column]
            )
            width = np.mean([one.high - one.low for one in column])
            cells[each].append(
                (float(held), float(width), f"{name}, {prevalence:g}, {recall:g}, {design}")
            )
    return cells


def at_top(
    models: dict[str, Scenario], data_sets: int, design: str, number: int
) -> dict[str, list[Cell]]:
    """Return the same of what is counted among the rows with the highest scores."""
    cells: dict[str, list[Cell]] = {name: [] for name in AT_TOP}
    recalls = np.linspace(0.0, 1.0, 20_001)
    for (name, model), prevalence, share in itertools.product(models.items(), ROWS, TOP_SHARES):
        rng = np.random.default_rng([number, round(1000 * prevalence), *map(ord, name)])
        selected = prevalence * recalls + (1.0 - prevalence) * model.false_positive_rate(recalls)
        recall = float(np.interp(share, selected, recalls))
        truths = {"precision_at_k": recall * prevalence / share, "recall_at_k": recall}
        rankings = [sample(model, prevalence, design, rng) for _ in range(data_sets)]
        for each, truth in truths.items():
            found = [pr.interval(ranking, pr.METRICS[each](share)) for ranking in rankings]
            held = np.mean([one.low <= truth <= one.high for one in found])
            width = np.mean([one.high - one.low for one in found])
            where = f"{name}, {prevalence:g}, {share:g}, {design}"
            cells[each].append((float(held), float(width), where))
    return cells


def main() -> None:
    """Draw, ask and print a table."""
    parser = argparse.ArgumentParser(description="Coverage where weights vary along the score.")
    parser.add_argument("--data-sets", type=int, default=150)
    parser.add_argument("--bands", action="store_true")
    parser.add_argument("--thresholds", action="store_true", help="metrics at thresholds")
    parser.add_argument("--top", action="store_true", help="metrics of the highest scores")
    parser.add_argument("--scenarios", choices=SETS, nargs="+", default=["regular", "new"])
    chosen = parser.parse_args()
    # Weights move the classes, and so may turn which of them is above the other.
    warnings.simplefilter("ignore", DirectionWarning)
    holds = band_holds if chosen.bands else interval_holds
    models = {name: model for key in chosen.scenarios for name, model in SETS[key].items()}
    asking = at_thresholds if chosen.thresholds else at_top if chosen.top else None
    first = "rows were kept" if asking is None else "metric"
    print(f"| {first} | cases | mean coverage | least | cases under .94 | mean width |")
    print("|---|---|---|---|---|---|")
    asked: dict[str, list[Cell]] = {name: [] for name in (*AT_THRESHOLDS, *AT_TOP)}
    for number, design in enumerate([*DESIGNS, NOISE]):
        if asking is not None:
            for name, cells in asking(models, chosen.data_sets, design, number).items():
                asked[name] += cells
            continue
        cells = []
        for (name, model), prevalence in itertools.product(models.items(), ROWS):
            rng = np.random.default_rng([number, round(1000 * prevalence), *map(ord, name)])
            truth = model.aucpr(prevalence)
            if chosen.bands:
                truth = model.precision(RECALLS, prevalence)
            found = [
                holds(sample(model, prevalence, design, rng), truth)
                for _ in range(chosen.data_sets)
            ]
            held, width = np.mean(found, axis=0)
            cells.append((held, width, f"{name}, {prevalence:g}"))
        print_line(design, cells)
    for name, cells in asked.items():
        if cells:
            print_line(name, cells)


def print_line(title: str, cells: list[Cell]) -> None:
    """Print a line of the table."""
    held = np.array([cell[0] for cell in cells])
    least = cells[int(np.argmin(held))]
    print(
        f"| {title} | {len(cells)} | {held.mean():.3f} | {least[0]:.3f} ({least[2]}) | "
        f"{np.sum(held < 0.94)} | {np.mean([cell[1] for cell in cells]):.3f} |",
        flush=True,
    )


if __name__ == "__main__":
    main()

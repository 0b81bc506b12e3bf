"""Error of every private mechanism, side by side: python -m benchmarks.privacy [--quick].

Root-mean-square error of what is released against the exact value of the same data, over rows,
prevalence and epsilon, for average precision and the AUROC, with the Monte Carlo error of the last
digits. Bibeta scores unless another model is named. Noise is seeded: nothing here is private.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

import precall as pr
from precall import privacy
from precall.exceptions import PrecallWarning
from precall.privacy.mechanisms import SeededNoise
from precall.simulate import Bibeta, Binormal, OffsetUniform, Scenario
from studies._smooth_sensitivity import CALIBRATIONS, local_sensitivity, releases

CELLS = (
    (500, 0.1),
    (500, 0.5),
    (2_000, 0.01),
    (2_000, 0.1),
    (2_000, 0.5),
    (20_000, 0.01),
    (20_000, 0.1),
    (20_000, 0.5),
)
EPSILONS = (0.1, 1.0, 4.0)
DELTA = 1e-6
# What was promised: rows, prevalence, epsilon, and how often our error fits into the printed one.
PROMISE = (2_000, 0.1, 1.0)
PROMISED = {"average_precision": 6.0, "auroc": 2.0}

SCENARIOS: dict[str, Callable[[], Scenario]] = {
    "bibeta": Bibeta,
    "binormal": partial(Binormal, 1.0),
    "offset": OffsetUniform,
}
METRICS = {
    "average_precision": (privacy.average_precision, privacy.pr_curve, pr.aucpr),
    "auroc": (privacy.auroc, privacy.roc_curve, pr.auroc),
}
WAYS = ("rescaled", *CALIBRATIONS, "curve", "curve, private edges")

Rows = tuple[np.ndarray, np.ndarray]


def release(
    metric: str,
    way: str,
    rows: Rows,
    epsilon: float,
    rng: np.random.Generator,
) -> float:
    """Release a metric once, in one of WAYS."""
    value, curve, _ = METRICS[metric]
    budget = privacy.Budget(epsilon=epsilon, delta=DELTA)
    if way == "curve":
        return curve(*rows, epsilon=epsilon, budget=budget, rng=rng).area()
    if way == "curve, private edges":
        share = 0.3 * epsilon
        bins = privacy.bin_count(rows[0].size, epsilon=epsilon - share)
        edges = privacy.private_edges(
            rows[1], low=-100, high=100, n_bins=bins, epsilon=share, budget=budget, rng=rng
        )
        return curve(*rows, edges=edges, epsilon=epsilon - share, budget=budget, rng=rng).area()
    if way in CALIBRATIONS:
        return _by_smooth_sensitivity(metric, way, rows, epsilon, rng)
    return value(*rows, epsilon=epsilon, budget=budget, mechanism=way, rng=rng).value


def _by_smooth_sensitivity(
    metric: str, way: str, rows: Rows, epsilon: float, rng: np.random.Generator
) -> float:
    ranking = pr.rank(*rows)
    (found,) = releases(
        METRICS[metric][2](ranking),
        local=local_sensitivity(metric, way, rows[0].size),
        mechanism=way,
        n_pos=int(ranking.n_pos),
        n_rows=rows[0].size,
        epsilon=epsilon,
        delta=DELTA,
        times=1,
        noise=SeededNoise(rng),
    )
    return float(found)


def errors(
    metric: str,
    ways: Sequence[str],
    scenario: Scenario,
    n_rows: int,
    prevalence: float,
    epsilon: float,
    *,
    data_sets: int,
    releases: int,
    seed: Sequence[int],
) -> dict[str, tuple[float, float]]:
    """Root-mean-square error and its Monte Carlo error for each way, on the same data sets."""
    rng = np.random.default_rng(seed)
    n_pos = round(n_rows * prevalence)
    squares: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(data_sets):
        rows = scenario.sample(n_pos, n_rows - n_pos, rng)
        truth = METRICS[metric][2](pr.rank(*rows))
        for way in ways:
            found = [release(metric, way, rows, epsilon, rng) for _ in range(releases)]
            squares[way].append(float(np.mean((np.array(found) - truth) ** 2)))
    result = {}
    for way, values in squares.items():
        root = math.sqrt(np.mean(values))
        error = np.std(values, ddof=1) / math.sqrt(data_sets) / (2 * root) if root else 0.0
        result[way] = root, float(error)
    return result


def table(
    metric: str, scenario: str, *, quick: bool
) -> dict[tuple, dict[str, tuple[float, float]]]:
    """Print the table of one metric, and return it."""
    cells = [PROMISE[:2]] if quick else CELLS
    epsilons = [PROMISE[2]] if quick else EPSILONS
    print(f"\n{metric}, {scenario} scores (delta = {DELTA:g} where Laplace needs one)\n")
    print(f"{'rows':>7} {'prev.':>6} {'eps':>5}", *(f"{way:>16.16}" for way in WAYS))
    found = {}
    for n_rows, prevalence in cells:
        for epsilon in epsilons:
            promised = (n_rows, prevalence, epsilon) == PROMISE
            data_sets, releases = (10, 5) if quick else (60, 25) if promised else (20, 10)
            cell = errors(
                metric,
                WAYS,
                SCENARIOS[scenario](),
                n_rows,
                prevalence,
                epsilon,
                data_sets=data_sets,
                releases=releases,
                seed=[n_rows, round(1000 * prevalence), round(1000 * epsilon)],
            )
            found[n_rows, prevalence, epsilon] = cell
            shown = (f"{root:9.4f} ±{error:6.4f}" for root, error in cell.values())
            print(f"{n_rows:7,} {prevalence:6.2f} {epsilon:5.1f}", *shown, flush=True)
    return found


def verdicts(metric: str, cell: dict[str, tuple[float, float]]) -> None:
    """Print how our errors compare with the printed Cauchy mechanism's where it was promised."""
    printed = cell["printed_cauchy"][0]
    ways = ("rescaled", "curve") if metric == "average_precision" else ("rescaled",)
    for way in ways:
        times = printed / cell[way][0]
        holds = "holds" if times >= PROMISED[metric] else "MISSED"
        print(
            f"{metric}, {way}: error {times:.1f} times smaller than printed_cauchy's, at pure "
            f"epsilon; promised {PROMISED[metric]:g}: {holds}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.privacy", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one cell, few data sets: seconds")
    parser.add_argument("--scenario", choices=SCENARIOS, default="bibeta")
    arguments = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecallWarning)
        for metric in METRICS:
            found = table(metric, arguments.scenario, quick=arguments.quick)
            if arguments.scenario == "bibeta":
                print()
                verdicts(metric, found[PROMISE])


if __name__ == "__main__":
    main()

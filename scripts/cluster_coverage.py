"""Print how the default interval of AUCPR does on rows in clusters.

The scores of a cluster's rows depend on each other by a normal copula, whatever the score model.
The rule for clusters was chosen on normal scores; these models were looked at when it was finished:

    .venv/bin/python -m scripts.cluster_coverage --data-sets 150
"""

from __future__ import annotations

import argparse
import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

import precall as pr
from precall.simulate import HELD_OUT, REGULAR, UNSEEN
from precall.simulate.scenarios import Pair

Array = npt.NDArray[Any]

CATALOGUE = {**REGULAR, **UNSEEN, **HELD_OUT}
MODELS = ("gamma", "laplace", "exponential", "mixture", "pareto", "two_sided", "narrow_top", "comb")
#: Clusters, and rows in each: a number, or the mean of a geometric distribution.
SIZES = ((15, 12, False), (60, 5, False), (40, 8, True))
CORRELATIONS = (0.0, 0.4, 0.8)
PREVALENCE = 0.2


def clusters(count: int, size: int, uneven: bool, rng: np.random.Generator) -> Array:
    """Draw the cluster of each row."""
    rows = rng.geometric(1.0 / size, count) if uneven else np.full(count, size)
    return np.repeat(np.arange(count), rows)


def labels(kind: str, cluster: Array, count: int, rng: np.random.Generator) -> Array:
    """Draw labels: row by row, cluster by cluster, or with a share of positives per cluster."""
    share = {
        "rows": np.full(count, PREVALENCE),
        "clusters": (rng.random(count) < PREVALENCE).astype(float),
        "shares": rng.beta(3 * PREVALENCE, 3 * (1 - PREVALENCE), count),
    }[kind]
    return rng.random(cluster.size) < share[cluster]


def scores(model: Pair, positive: Array, cluster: Array, correlation: float, rng: Any) -> Array:
    """Draw scores: those of a cluster have this correlation before they get their distribution."""
    shared = rng.normal(size=cluster.max() + 1)[cluster]
    own = rng.normal(size=cluster.size)
    above = ndtr(-np.sqrt(correlation) * shared - np.sqrt(1 - correlation) * own)
    ours, theirs = model.distributions()
    return np.where(positive, ours.upper_quantile(above), theirs.upper_quantile(above))


def main() -> None:
    """Draw, ask and print a table."""
    parser = argparse.ArgumentParser(description="Coverage of AUCPR with rows in clusters.")
    parser.add_argument("--data-sets", type=int, default=150)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    chosen = parser.parse_args()
    print("| labels by | correlation | cases | mean coverage | least | under .94 | mean width |")
    print("|---|---|---|---|---|---|---|")
    for kind, correlation in itertools.product(("rows", "clusters", "shares"), CORRELATIONS):
        cells = []
        for name, (count, size, uneven) in itertools.product(chosen.models, SIZES):
            model: Any = CATALOGUE[name]
            rng = np.random.default_rng([*map(ord, name + kind), count, round(10 * correlation)])
            truth, found = model.aucpr(PREVALENCE), []
            while len(found) < chosen.data_sets:
                cluster = clusters(count, size, uneven, rng)
                positive = labels(kind, cluster, count, rng)
                # Three clusters with positives are the least that say anything.
                if positive.sum() < 10 or np.unique(cluster[positive]).size < 3:
                    continue
                score = scores(model, positive, cluster, correlation, rng)
                got = pr.interval(pr.Rows(positive, score, clusters=cluster))
                found.append((got.low <= truth <= got.high, got.width))
            held, width = np.mean(found, axis=0)
            cells.append((held, width, f"{name}, {count} clusters"))
        held = np.array([cell[0] for cell in cells])
        least = cells[int(np.argmin(held))]
        print(
            f"| {kind} | {correlation:g} | {len(cells)} | {held.mean():.3f} | {least[0]:.3f} "
            f"({least[2]}) | {np.sum(held < 0.94)} | {np.mean([cell[1] for cell in cells]):.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

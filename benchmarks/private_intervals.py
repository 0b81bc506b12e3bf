"""How often intervals of private values cover: python -m benchmarks.private_intervals [--quick].

Each line is a score model, a number of rows and an epsilon, with the coverage of 95 % intervals and
their mean width, for the area of the rows at hand ("rows") and of the population ("population"). In
every data set the number of positives is drawn as well. The old interval of a curve, for the noise
only, stands beside the others.
"""

from __future__ import annotations

import argparse
import math
import warnings
from itertools import product

import numpy as np

import precall as pr
from precall import privacy
from precall.simulate import Bibeta, Binormal, OffsetUniform, Scenario

MODELS: dict[str, Scenario] = {
    "bibeta": Bibeta(),
    "binormal": Binormal(1.0),
    "offset-uniform": OffsetUniform(),
}
ROWS, EPSILONS, PREVALENCE = (2000, 20_000), (0.1, 1.0), 0.1


def intervals(
    model: Scenario, n_rows: int, epsilon: float, rng: np.random.Generator
) -> dict[str, tuple[bool, float]]:
    """Whether each interval of one data set covers, and its width."""
    n_pos = int(rng.binomial(n_rows, PREVALENCE))
    y_true, y_score = model.sample(n_pos, n_rows - n_pos, rng)
    y_score = 1.0 / (1.0 + np.exp(-y_score)) if isinstance(model, Binormal) else y_score
    ranking = pr.rank(y_true, y_score)
    truth = {
        ("average_precision", "rows"): pr.aucpr(ranking),
        ("auroc", "rows"): pr.auroc(ranking),
        ("average_precision", "population"): model.aucpr(PREVALENCE),
        ("auroc", "population"): model.auroc(),
    }
    budget = privacy.Budget(epsilon=3 * epsilon)
    rows = {"y_true": y_true, "y_score": y_score, "epsilon": epsilon, "budget": budget, "rng": rng}
    curve = privacy.pr_curve(**rows)
    released = {
        "average_precision": privacy.average_precision(**rows),
        "auroc": privacy.auroc(**rows),
    }
    found = {}
    for metric, of in truth:
        kind = "roc" if metric == "auroc" else "pr"
        ways = {
            "rescaled": released[metric].interval(of=of),
            "curve": curve.to(kind).area_interval(of=of),
        }
        if (metric, of) == ("average_precision", "rows"):
            ways["curve, noise only"] = curve.area_interval(of="noise", n_resamples=100, rng=rng)
        for way, interval in ways.items():
            covered = truth[metric, of] in interval
            found[f"{metric}, {of}, {way}"] = covered, interval.width
    return found


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.private_intervals", description=__doc__
    )
    parser.add_argument("--quick", action="store_true", help="few data sets")
    parser.add_argument("--data-sets", type=int, default=200, help="data sets for each line")
    options = parser.parse_args(arguments)
    data_sets = 10 if options.quick else options.data_sets
    warnings.simplefilter("ignore", pr.exceptions.PrecallWarning)
    for name, n_rows, epsilon in product(MODELS, ROWS, EPSILONS):
        rng = np.random.default_rng([n_rows, round(100 * epsilon), sorted(MODELS).index(name)])
        found = [intervals(MODELS[name], n_rows, epsilon, rng) for _ in range(data_sets)]
        for kind in found[0]:
            covered = float(np.mean([line[kind][0] for line in found]))
            width = float(np.mean([line[kind][1] for line in found]))
            spread = math.sqrt(covered * (1 - covered) / data_sets)
            print(
                f"{name:15} {n_rows:6} {epsilon:4g}  {kind:45} {covered:.3f} ± {spread:.3f}  "
                f"width {width:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

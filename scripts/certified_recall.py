"""Print how much recall can be certified at a precision, beside MAPIE on the same data.

Scores are the true probabilities of two normal distributions, so nobody loses to calibration. For
each data set a threshold with a precision of at least so much is certified with 95 % confidence;
its true recall counts, 0 where nothing is certified. A violation is a true precision under the
promise. MAPIE has to be installed:

    .venv/bin/python scripts/certified_recall.py --data-sets 200
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

import precall as pr

# Rows, prevalence, standard deviations apart, precision to promise.
SETTINGS = (
    (2000, 0.1, 2.0, 0.7),
    (2000, 0.1, 2.0, 0.8),
    (1000, 0.3, 2.0, 0.8),
    (5000, 0.02, 3.0, 0.7),
)
METHODS = ("bonferroni_holm", "fixed_sequence")
# MAPIE's own grid, from the strictest threshold to the loosest: the order that a sequence of tests
# needs here.
_THRESHOLDS = np.arange(0.99, 0.0, -0.01)


def ours(y: np.ndarray, p: np.ndarray, precision: float) -> float | None:
    """Return the threshold that this library certifies."""
    return pr.operating_point(pr.rank(y, p), min_precision=precision).threshold


def theirs(y: np.ndarray, p: np.ndarray, precision: float, method: str) -> float | None:
    """Return the threshold that MAPIE certifies, on its hundred thresholds."""
    from mapie.risk_control import BinaryClassificationController

    def predict_proba(x: np.ndarray) -> np.ndarray:
        return np.column_stack([1.0 - x[:, 0], x[:, 0]])

    controller = BinaryClassificationController(
        predict_proba,
        risk="precision",
        target_level=precision,
        confidence_level=0.95,
        fwer_method=method,
        list_predict_params=_THRESHOLDS,
    )
    controller.calibrate(p[:, np.newaxis], y)
    best = controller.best_predict_param
    return None if best is None else float(best)


def main() -> None:
    """Draw, certify and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    for rows, prevalence, apart, precision in SETTINGS:
        rng = np.random.default_rng(chosen.seed)
        recall: dict[str, list[float]] = {name: [] for name in ("precall", *METHODS)}
        violated = dict.fromkeys(recall, 0)
        for _ in range(chosen.data_sets):
            y = (rng.random(rows) < prevalence).astype(int)
            z = rng.normal(size=rows) + apart * y
            p = expit(apart * z - 0.5 * apart**2 + logit(prevalence))
            found = {"precall": ours(y, p, precision)}
            found |= {method: theirs(y, p, precision, method) for method in METHODS}
            for name, threshold in found.items():
                if threshold is None:
                    recall[name].append(0.0)
                    continue
                cut = (logit(min(max(threshold, 1e-12), 1 - 1e-12)) - logit(prevalence)) / apart
                cut += 0.5 * apart
                hit, false = norm.sf(cut - apart), norm.sf(cut)
                recall[name].append(hit)
                true = prevalence * hit / (prevalence * hit + (1 - prevalence) * false)
                violated[name] += true < precision
        cells = [
            f"{np.mean(values):.3f} ± {np.std(values) / np.sqrt(len(values)):.3f}"
            f" ({violated[name]} of {chosen.data_sets})"
            for name, values in recall.items()
        ]
        print(f"| {rows:,} | {prevalence:g} | {apart:g} | {precision:g} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()

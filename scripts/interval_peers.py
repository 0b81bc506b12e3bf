"""Print how often intervals of AUCPR hold the truth, and their width, beside other tools'.

One test set of so many rows at a prevalence of .1, whose scores have a known area. This library's
default interval; its percentile bootstrap within classes, which is how precrec's documentation
describes `auc_boot`; confidenceinterval's bootstrap of average precision (percentile, and the
corrected one that is its default); the t interval over five folds of the same rows; and precrec's
over the same folds, and by `auc_boot` itself where its release has that. Whoever is not installed
is named:

    .venv-peers/bin/python -m scripts.interval_peers --data-sets 200
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import precall as pr
from precall.simulate import REGULAR, UNSEEN

# Score models by name, the second kind not looked at when the default was made.
MODELS = {"binormal_1": REGULAR, "three_modes": UNSEEN}
SIZES, PREVALENCE = (300, 1000), 0.1
FOLDS, RESAMPLES = 5, 500
_SCRIPT = Path(__file__).with_suffix(".R")

Limits = tuple[float, float]
Ask = Callable[[Any, Any, np.random.Generator], Limits]


def _area(y: Any, s: Any) -> float:
    return pr.aucpr(pr.rank(np.asarray(y), np.asarray(s)))


def _ours(y: Any, s: Any, rng: np.random.Generator) -> Limits:
    found = pr.interval(pr.rank(y, s))
    return found.low, found.high


def _percentiles(y: Any, s: Any, rng: np.random.Generator) -> Limits:
    found = pr.interval(
        pr.rank(y, s),
        method="bootstrap_percentile",
        sampling="classes",
        n_resamples=RESAMPLES,
        rng=rng,
    )
    return found.low, found.high


def _over_folds(y: Any, s: Any, rng: np.random.Generator) -> Limits:
    fold = dealt(y)
    parts = [pr.rank(y[fold == k], s[fold == k]) for k in range(FOLDS)]
    found = pr.crossval_interval(parts)
    return found.low, found.high


def _confidenceinterval(method: str) -> Ask:
    from confidenceinterval.bootstrap import bootstrap_ci

    def limits(y: Any, s: Any, rng: np.random.Generator) -> Limits:
        state = np.random.RandomState(int(rng.integers(2**31)))
        _, (low, high) = bootstrap_ci(
            y, s, _area, n_resamples=RESAMPLES, method=method, random_state=state
        )
        return float(low), float(high)

    return limits


def methods() -> dict[str, Ask]:
    """Every method of Python that is installed."""
    found: dict[str, Ask] = {
        "precall": _ours,
        "precall, percentiles within classes": _percentiles,
        "t over folds": _over_folds,
    }
    try:
        for name in ("bootstrap_percentile", "bootstrap_bca"):
            found[f"confidenceinterval, `{name}`"] = _confidenceinterval(name)
    except ImportError as error:
        print(f"not there: confidenceinterval ({error})")
    return found


def dealt(y: Any) -> Any:
    """Folds with as many positives each."""
    fold = np.empty(len(y), dtype=np.int64)
    for rows in (np.flatnonzero(y == 1), np.flatnonzero(y == 0)):
        fold[rows] = np.arange(rows.size) % FOLDS
    return fold


def precrec(sets: list[tuple[Any, Any]]) -> Iterator[tuple[str, Limits]]:
    """Yield the limits that precrec gives, with the method."""
    if not shutil.which("Rscript"):
        print("not there: precrec (there is no Rscript)")
        return
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "data.csv"), Path(folder, "results.csv")
        with given.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["set", "fold", "label", "score"])
            for number, (y, s) in enumerate(sets):
                for row in zip(dealt(y).tolist(), y.tolist(), s.tolist(), strict=True):
                    writer.writerow([number, *row])
        finished = subprocess.run(
            ["Rscript", str(_SCRIPT), str(given), str(found)], capture_output=True, text=True
        )
        if finished.returncode:
            reason = finished.stderr.strip().splitlines()[-1:] or ["it failed"]
            print(f"not there: precrec ({reason[0]})")
            return
        with found.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                folds = "" if row["method"] == "auc_boot" else ", folds"
                limits = (float(row["low"]), float(row["high"]))
                yield f"precrec, `{row['method']}`{folds}", limits


def main() -> None:
    """Draw, ask everybody and print a table: coverage, and mean width in brackets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--rows", nargs="+", type=int, default=SIZES)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    asked, header = methods(), False
    for model in chosen.models:
        for rows in chosen.rows:
            found = one_cell(model, rows, chosen.data_sets, chosen.seed, asked)
            if not header:
                print(f"| scores, rows | AUCPR | {' | '.join(found)} |")
                print("|---" * (2 + len(found)) + "|")
                header = True
            area = MODELS[model][model].aucpr(PREVALENCE)
            print(f"| {model}, {rows:,} | {area:.2f} | {' | '.join(found.values())} |", flush=True)


def one_cell(
    model: str, rows: int, data_sets: int, seed: int, asked: dict[str, Ask]
) -> dict[str, str]:
    """Return coverage and mean width by method."""
    scenario = MODELS[model][model]
    truth = scenario.aucpr(PREVALENCE)
    rng = np.random.default_rng([seed, rows, *model.encode()])
    counts = np.maximum(rng.binomial(rows, PREVALENCE, data_sets), FOLDS)
    sets = [scenario.sample(int(n), rows - int(n), rng=rng) for n in counts]
    limits: dict[str, list[Limits]] = {
        name: [ask(y, s, rng) for y, s in sets] for name, ask in asked.items()
    }
    for name, ends in precrec(sets):
        limits.setdefault(name, []).append(ends)
    found = {}
    for name, pairs in limits.items():
        low, high = np.array(pairs).T
        held = np.mean((low <= truth) & (truth <= high))
        found[name] = f"{held:.3f} ({np.mean(high - low):.3f})"
    return found


if __name__ == "__main__":
    main()

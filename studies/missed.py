"""How often intervals and bands hold when a share of the positives was never scored.

Every row is drawn by itself, and each positive is missed with probability 15 %, whatever its score
would have been. Then the curve of the population is that of the scored rows squeezed to a recall of
85 %, and precision is 0 beyond.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import precall as pr
from precall.inference.rules import rule_for
from precall.inference.rules.rule import closed_form
from precall.simulate import Bibeta, Binormal, OffsetUniform

from ._results import Results, Row, markdown_table

MISSED = 0.15
REACHED = 1.0 - MISSED
MODELS: dict[str, Any] = {
    "normal, 1 apart": Binormal(1.0),
    "normal, 2 apart": Binormal(2.0),
    "beta": Bibeta(),
    "uniform": OffsetUniform(),
}
POSITIVES = (20, 100)
PREVALENCES = (0.3, 0.05)
METRICS = {
    "AUCPR": "aucpr",
    "AUCNPR": "aucnpr",
    "AUROC": "auroc",
    "AUCPR, recall 0 to 0.5": "aucpr(recall=(0, 0.5))",
    "precision at recall 0.5": "precision_at_recall(0.5)",
}
BANDS = {"PR band": "pr", "ROC band": "roc"}
DATA_SETS = 4000
BAND_DATA_SETS = 200


def truths(model: Any, prevalence: float) -> dict[str, float]:
    """Return the metrics of the population, from those of its scored rows."""
    among = prevalence * REACHED / (prevalence * REACHED + 1.0 - prevalence)
    area, floor = REACHED * model.aucpr(among), REACHED * pr.minimum_aucpr(among)
    return {
        "AUCPR": area,
        "AUCNPR": (area - floor) / (1.0 - floor),
        "AUROC": REACHED * model.auroc(),
        "AUCPR, recall 0 to 0.5": REACHED * model.aucpr(among, recall=(0.0, 0.5 / REACHED)),
        "precision at recall 0.5": float(model.precision(0.5 / REACHED, among)),
    }


def true_curve(model: Any, prevalence: float, kind: str, x: Any) -> Any:
    """Return the height of the population's curve."""
    if kind == "roc":
        recall = np.linspace(0.0, 1.0, 200_001)
        return REACHED * np.interp(x, model.false_positive_rate(recall), recall)
    among = prevalence * REACHED / (prevalence * REACHED + 1.0 - prevalence)
    inside = x <= REACHED
    heights = model.precision(np.where(inside, x, 0.5 * REACHED) / REACHED, among)
    return np.where(inside, heights, 0.0)


def drawn_ranking(model: Any, rows: int, prevalence: float, rng: np.random.Generator) -> pr.Ranking:
    """Draw rows until both classes were scored."""
    while True:
        positives = int(rng.binomial(rows, prevalence))
        missed = int(rng.binomial(positives, MISSED))
        if positives > missed and rows > positives:
            y, s = model.sample(positives - missed, rows - positives, rng)
            return pr.rank(y, s, missed_positives=missed)


def held_by_intervals(rankings: list[pr.Ranking], words: str, truth: float) -> int:
    """Return how many default intervals hold the truth, all rankings at once."""
    rankings_set, metric = pr.RankingSet.from_rankings(rankings), pr.metrics.parse(words)
    rule: Any = rule_for(metric, None)
    bound, held = metric.on(rankings_set), 0
    for groups, cells, _ in rankings_set.lines():
        n, m = (sizes[groups] for sizes in rankings_set.effective_sizes)
        form = closed_form(bound.take(groups), rule, cells, sizes=(n, m), varying=True)
        low, high = form.limits(0.95)
        held += int(np.count_nonzero((low <= truth) & (truth <= high)))
    return held


def simulated(place: int, seed: int, data_sets: int, band_data_sets: int) -> list[Row]:
    """Return the rows of a case: one for each metric and band."""
    name, positives, prevalence = list(product(MODELS, POSITIVES, PREVALENCES))[place]
    model, rng = MODELS[name], np.random.default_rng([seed, place])
    truth, rows = truths(model, prevalence), round(positives / prevalence)
    rankings = [drawn_ranking(model, rows, prevalence, rng) for _ in range(data_sets)]
    counts = {
        title: (held_by_intervals(rankings, words, truth[title]), data_sets)
        for title, words in METRICS.items()
    }
    for title, kind in BANDS.items():
        held, curve = 0, None
        for ranking in rankings[:band_data_sets]:
            band = pr.band(ranking, kind, n_points=21, n_resamples=500, rng=rng)
            if curve is None:  # the points are the same in every band
                curve = true_curve(model, prevalence, kind, band.x)
            held += bool(np.all((band.low <= curve) & (curve <= band.high)))
        counts[title] = held, band_data_sets
    return [
        {"case": place, "what": what, "data_sets": size, "coverage": held / size}
        for what, (held, size) in counts.items()
    ]


def run(
    output: str | Path,
    *,
    quick: bool = False,
    seed: int = 20261117,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Run the study into a folder and return the page written there."""
    results = Results(output, "missed", {"study": "missed", "quick": quick, "seed": seed})
    sizes = (5, 2) if quick else (DATA_SETS, BAND_DATA_SETS)
    todo = [0, 15] if quick else range(len(MODELS) * len(POSITIVES) * len(PREVALENCES))
    for done, place in enumerate(todo, start=1):
        if not results.has(case=place):
            results.add(simulated(place, seed, *sizes))
        if progress is not None:
            progress(done, len(todo))
    return write_page(results)


def write_page(results: Results) -> Path:
    """Write the table: one line for each case."""
    cases = list(product(MODELS, POSITIVES, PREVALENCES))
    found = {(row["case"], row["what"]): float(row["coverage"]) for row in results.rows}
    table = []
    for place in sorted({case for case, _ in found}):
        name, positives, prevalence = cases[place]
        shares = [f"{found[place, what]:.3f}".lstrip("0") for what in (*METRICS, *BANDS)]
        table.append([name, str(positives), f"{prevalence:g}", *shares])
    results.save_page(
        "# Positives that nobody scored\n\n"
        f"Each positive is missed with probability {MISSED:g}; {DATA_SETS:,} data sets a cell for "
        f"intervals (standard error .003 at .95) and {BAND_DATA_SETS} for bands (.015). The PR "
        "band runs over recalls from 0.1 to 0.9, across the end of the curve at "
        f"{REACHED:g}. Seed {results.settings['seed']}; `python -m studies missed -o DIR` makes "
        "this page.\n\n"
        + markdown_table(["scores", "positives", "prevalence", *METRICS, *BANDS], table)
        + "\n"
    )
    return results.path(".md")

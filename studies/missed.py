"""How often intervals and bands hold when a share of the positives was never scored.

Every row is drawn by itself, and each positive is missed with probability 15 %, whatever its score
would have been. Then the curve of the population is that of the scored rows squeezed to a recall of
85 %, and precision is 0 beyond. A sample of 20 positives has none missed in 4 % of the cases, and
nothing in it says that the curve ends: bands are also judged where some were missed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import precall as pr
from precall.exceptions import DirectionWarning
from precall.inference.rules import rule_for
from precall.inference.rules.rule import closed_form
from precall.simulate import HELD_OUT, UNSEEN, Bibeta, Binormal, OffsetUniform

from ._cases import compute
from ._results import Results, Row, core_minutes, markdown_table, with_core_seconds

MISSED = 0.15
REACHED = 1.0 - MISSED
FIRST: dict[str, Any] = {
    "normal, 1 apart": Binormal(1.0),
    "normal, 2 apart": Binormal(2.0),
    "beta": Bibeta(),
    "uniform": OffsetUniform(),
}
#: The first four, then those that no constant was chosen on.
MODELS: dict[str, Any] = {**FIRST, **UNSEEN, **HELD_OUT}
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
#: The same band, judged by the samples that say that positives are missed.
SOME_MISSED = {"PR band, some missed": "PR band"}
DATA_SETS = 4000
BAND_DATA_SETS = 1000


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
    began = time.process_time()
    with warnings.catch_warnings():
        # Of small samples some rank the wrong way round, and one model does.
        warnings.simplefilter("ignore", DirectionWarning)
        rankings = [drawn_ranking(model, rows, prevalence, rng) for _ in range(data_sets)]
    counts = {
        title: (held_by_intervals(rankings, words, truth[title]), data_sets)
        for title, words in METRICS.items()
    }
    for title, kind in BANDS.items():
        held, curve = [], None
        for ranking in rankings[:band_data_sets]:
            band = pr.band(ranking, kind, n_points=21, n_resamples=500, rng=rng)
            if curve is None:  # the points are the same in every band
                curve = true_curve(model, prevalence, kind, band.x)
            held.append(bool(np.all((band.low <= curve) & (curve <= band.high))))
        counts[title] = sum(held), band_data_sets
        judged = [each for each, ranking in zip(held, rankings, strict=False) if ranking.missed]
        counts |= {
            name: (sum(judged), len(judged)) for name, band in SOME_MISSED.items() if band == title
        }
    found: list[Row] = [
        {
            "case": place,
            "what": what,
            "data_sets": size,
            "coverage": held / size if size else 1.0,
        }
        for what, (held, size) in counts.items()
    ]
    return with_core_seconds(found, began)


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
    places = [0, 15] if quick else range(len(MODELS) * len(POSITIVES) * len(PREVALENCES))
    todo = [place for place in places if not results.has(case=place)]
    found = compute(simulated, [(place, seed, *sizes) for place in todo], workers)
    for done, rows in enumerate(found, start=len(places) - len(todo) + 1):
        results.add(rows)
        if progress is not None:
            progress(done, len(places))
    return write_page(results)


def write_page(results: Results) -> Path:
    """Write the table: one line for each case."""
    cases = list(product(MODELS, POSITIVES, PREVALENCES))
    found = {(row["case"], row["what"]): float(row["coverage"]) for row in results.rows}
    columns = (*METRICS, *BANDS, *SOME_MISSED)
    table: dict[str, list[list[str]]] = {}
    for place in sorted({case for case, _ in found}):
        name, positives, prevalence = cases[place]
        shares = [_share(found[place, what]) for what in columns]
        part = "first" if name in FIRST else "others"
        table.setdefault(part, []).append([name, str(positives), f"{prevalence:g}", *shares])
    extremes = []
    for title, among in (("the first four", True), ("the others", False)):
        chosen = [place for place, _ in found if (cases[place][0] in FIRST) == among]
        if chosen:
            held = ([found[place, what] for place in chosen] for what in columns)
            lowest = (f"{_share(float(np.mean(each)))}, {_share(min(each))}" for each in held)
            extremes.append([title, *lowest])
    results.save_page(
        "# Positives that nobody scored\n\n"
        f"Each positive is missed with probability {MISSED:g}; {DATA_SETS:,} data sets a cell for "
        f"intervals (standard error .003 at .95) and {BAND_DATA_SETS:,} for bands (.007). The PR "
        "band runs over recalls from 0.1 to 0.9, across the end of the curve at "
        f"{REACHED:g}; with 20 positives none is missed in {100 * REACHED**20:.1f} % of the "
        "samples, and no band can say there that the curve ends. The last column leaves those out. "
        "The models after the first four are those that no constant was chosen on. "
        f"Seed {results.settings['seed']}; `python -m studies missed -o DIR` makes this page. "
        f"{core_minutes(results.rows)}\n\n"
        "Mean and lowest coverage of the cells:\n\n"
        + markdown_table(["scores", *columns], extremes)
        + "\n\nEvery cell:\n\n"
        + markdown_table(
            ["scores", "positives", "prevalence", *columns],
            [line for part in table.values() for line in part],
        )
        + "\n"
    )
    return results.path(".md")


def _share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")

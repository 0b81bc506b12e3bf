"""All that the command line and the report say of three models, in units of ranking each once."""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import precall as pr
from benchmarks.harness import Budget, Race, benchmark
from precall.display.report import write_report
from precall.evaluation import evaluate

SUBJECT = "precall"
RANKS = "ranking each column once"
CLUSTER = 10

Scores = dict[str, NDArray[np.float64]]


@benchmark
def evaluation(quick: bool) -> Iterator[Race]:
    """`evaluate` and the report of three models that scored the same rows, 2 % positives."""
    rows = 10**5 if quick else 10**6
    label, scores = models(rows, 0.02)
    cluster = np.arange(rows) // CLUSTER
    with tempfile.TemporaryDirectory() as folder:
        jobs: dict[str, tuple[Callable[[], object], float]] = {
            "evaluate": (partial(evaluate, label, scores), 10.0),
            "evaluate with clusters": (partial(evaluate, label, scores, clusters=cluster), 25.0),
            "report": (partial(report, label, scores, Path(folder) / "report.html"), 40.0),
        }
        for title, (job, at_most) in jobs.items():
            yield Race(
                title=f"{title}, {rows:,} rows, {len(scores)} models",
                jobs={SUBJECT: job, RANKS: partial(ranked, label, scores)},
                repeats=3,
                budgets=() if quick else (Budget(peer=RANKS, at_most=at_most),),
                bounds=(RANKS,),
            )


def models(rows: int, prevalence: float, count: int = 3) -> tuple[NDArray[np.bool_], Scores]:
    """Labels, and scores of models that have most in common."""
    rng = np.random.default_rng(0)
    label = rng.random(rows) < prevalence
    shared = rng.standard_normal(rows)
    scores = {
        f"model {k}": shared + 0.5 * rng.standard_normal(rows) + (1 + 0.3 * k) * label
        for k in range(count)
    }
    return label, scores


def report(label: NDArray[np.bool_], scores: Scores, page: Path) -> None:
    """Evaluate, and write the page."""
    write_report(evaluate(label, scores, curves=True), page)


def ranked(label: NDArray[np.bool_], scores: Scores) -> list[pr.Ranking]:
    """What everything starts with."""
    return [pr.rank(label, score) for score in scores.values()]

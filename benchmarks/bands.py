"""Bands of 1,000 replicates on a ranking, against ranking the data once."""

from collections.abc import Iterator
from functools import partial

import precall as pr
from benchmarks.harness import Budget, Race, benchmark
from benchmarks.rank_and_ap import data

RANK = "rank"
REPLICATES = 1000
METHODS = ("fiducial", "clemencon_vayatis", "bootstrap", "asymptotic", "pointwise")


@benchmark
def bands(quick: bool) -> Iterator[Race]:
    """Every band that draws, 1 % positives; the exact one after its calibration is cached."""
    rows = 10**5 if quick else 10**6
    label, score = data(rows, 0.01)
    ranking = pr.rank(label, score)
    budgets = () if quick else (Budget(peer=RANK, at_most=20),)
    jobs = {
        f"band, {method}": partial(pr.band, ranking, method=method, n_resamples=REPLICATES, rng=0)
        for method in METHODS
    }
    jobs["band, exact"] = partial(pr.band, ranking, method="exact")
    jobs["band of the ROC curve"] = partial(pr.band, ranking, "roc", n_resamples=REPLICATES, rng=0)
    for title, job in jobs.items():
        yield Race(
            title=f"{title}, {rows:,} rows",
            jobs={"band": job, RANK: partial(pr.rank, label, score)},
            repeats=3,
            budgets=budgets,
            bounds=(RANK,),
        )

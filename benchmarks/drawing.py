"""What draws or exchanges rows many times on a million rows, against ranking the data once."""

from collections.abc import Iterator
from functools import partial

import numpy as np

import precall as pr
from benchmarks.harness import Budget, Race, benchmark
from benchmarks.rank_and_ap import data

RANK = "rank"
SUBJECT = "precall"
CLUSTER = 100
GROUPS = 20
BAND = "difference band, 1,000 draws"
PERMUTATION = "permutation test, 20 draws"
# A third of what the two slowest took before, in units of ranking.
AT_MOST = {BAND: 9.5, PERMUTATION: 7.7}


@benchmark
def drawing(quick: bool) -> Iterator[Race]:
    """The slowest answers on rows that are ranked already, 1 % positives."""
    rows = 10**5 if quick else 10**6
    label, score = data(rows, 0.01)
    rng = np.random.default_rng(1)
    other = score + 0.5 * rng.standard_normal(rows)
    pair = pr.Rows(label, {"new": score, "old": other})
    clustered = pr.Rows(label, score, clusters=np.arange(rows) // CLUSTER)
    for ranked in (pair, clustered):
        for name in ranked.names:
            ranked.place(name)
    groups = pr.rank_groups(label, score, rng.integers(0, GROUPS, rows))
    jobs = {
        BAND: partial(
            pr.difference_band, pair, candidate="new", baseline="old", n_resamples=1000, rng=0
        ),
        "bootstrap of clusters, 100 draws": partial(
            pr.interval, clustered, method="bootstrap_percentile", n_resamples=100, rng=0
        ),
        PERMUTATION: partial(pr.compare, pair, method="permutation", n_resamples=20, rng=0),
        f"summary curve of {GROUPS} groups": partial(pr.summary_curve, groups),
    }
    for title, job in jobs.items():
        yield Race(
            title=f"{title}, {rows:,} rows",
            jobs={SUBJECT: job, RANK: partial(pr.rank, label, score)},
            repeats=3,
            budgets=() if quick else _budgets(title),
            bounds=(RANK,),
        )


def _budgets(title: str) -> tuple[Budget, ...]:
    return (Budget(peer=RANK, at_most=AT_MOST[title]),) if title in AT_MOST else ()

"""Every estimator of the area on a ranking that exists, against making the ranking."""

from collections.abc import Iterator
from functools import partial

import precall as pr
from benchmarks.harness import Budget, Race, benchmark
from benchmarks.rank_and_ap import data

PEER = "rank"


@benchmark
def estimators(quick: bool) -> Iterator[Race]:
    """All of `ESTIMATORS`, one after the other."""
    rows = 10**6 if quick else 10**7
    label, score = data(rows, 0.01)
    yield Race(
        title=f"{rows:,} rows, 1.0% positives",
        jobs={
            "all estimators": partial(_all, pr.rank(label, score)),
            PEER: partial(pr.rank, label, score),
        },
        repeats=5,
        budgets=() if quick else (Budget(peer=PEER, at_most=0.5),),
        bounds=(PEER,),
    )


def _all(ranking: pr.Ranking) -> list[float]:
    return [pr.aucpr(ranking, estimator=name) for name in pr.ESTIMATORS]

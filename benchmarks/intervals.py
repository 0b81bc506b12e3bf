"""A thousand bootstrap replicates of average precision: on counts, and on rows with scikit-learn.

The peer resamples the rows of each class and calls `average_precision_score`. A thousand of its
replicates at a million rows take minutes, so a few are timed, and scaled up: they all cost the
same.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

import precall as pr
from benchmarks.harness import Budget, Race, benchmark
from benchmarks.rank_and_ap import data

N_RESAMPLES = 1000
PEER_RESAMPLES = 5
PEER = f"scikit-learn, {PEER_RESAMPLES} of {N_RESAMPLES:,} scaled up"

# (rows, prevalence): how many times faster than the peer's thousand replicates.
SPEEDUPS = {(10**5, 0.5): 8, (10**6, 0.01): 100, (10**6, 0.001): 1000}


@benchmark
def intervals(quick: bool) -> Iterator[Race]:
    """Labels and scores in, a percentile interval of average precision out."""
    for (rows, prevalence), speedup in SPEEDUPS.items():
        if quick and rows > 10**5:
            continue
        label, score = data(rows, prevalence)
        yield Race(
            title=f"{rows:,} rows, {prevalence:.1%} positives",
            jobs={
                "precall, 1,000": partial(on_counts, label, score),
                PEER: partial(on_rows, label, score),
            },
            repeats=3,
            budgets=(Budget(peer=PEER, at_most=1 / speedup),),
            check=_agree,
            part={PEER: PEER_RESAMPLES / N_RESAMPLES},
        )


def on_counts(label: NDArray[np.int64], score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank once, then draw counts: ranking is part of the time."""
    ranking = pr.rank(label, score)
    interval = pr.interval(
        ranking, method="bootstrap_percentile", n_resamples=N_RESAMPLES, rng=0, sampling="classes"
    )
    return np.asarray(interval.evidence.values)


def on_rows(label: NDArray[np.int64], score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Draw rows of each class with replacement, then sort them anew, a few times."""
    rng = np.random.default_rng(0)
    classes = [np.flatnonzero(label == value) for value in (0, 1)]
    areas = []
    for _ in range(PEER_RESAMPLES):
        drawn = np.concatenate([rows[rng.integers(rows.size, size=rows.size)] for rows in classes])
        areas.append(average_precision_score(label[drawn], score[drawn]))
    return np.array(areas)


def _agree(returned: dict[str, object]) -> None:
    """The peer's few replicates lie where the many say."""
    many, few = (np.asarray(values) for values in returned.values())
    assert np.abs(few - many.mean()).max() < 6 * many.std()

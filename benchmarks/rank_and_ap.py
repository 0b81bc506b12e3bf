"""From raw labels and scores to average precision, against one sort and against scikit-learn."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

import precall as pr
from benchmarks.harness import Budget, Race, benchmark

SORT = "numpy.sort"
PEER = "scikit-learn"

# (rows, prevalence): what the subject may cost.
BUDGETS = {
    (10**4, 0.5): (Budget(at_most=300e-6),),
    (10**4, 0.01): (Budget(at_most=300e-6),),
    (10**4, 0.001): (Budget(at_most=300e-6),),
    (10**7, 0.5): (Budget(peer=SORT, at_most=6), Budget(peer=PEER, at_most=1 / 6)),
    (10**7, 0.01): (Budget(peer=SORT, at_most=2), Budget(peer=PEER, at_most=1 / 20)),
}
REPEATS = {10**4: 20, 10**6: 7, 10**7: 3}


@benchmark
def rank_and_ap(quick: bool) -> Iterator[Race]:
    """`rank` and `aucpr` together; rows and prevalences vary."""
    for rows in (10**4, 10**6) if quick else (10**4, 10**6, 10**7):
        for prevalence in (0.5, 0.01, 0.001):
            label, score = data(rows, prevalence)
            yield Race(
                title=f"{rows:,} rows, {prevalence:.1%} positives",
                jobs={
                    "precall": partial(_average_precision, label, score),
                    SORT: partial(np.sort, score),
                    PEER: partial(average_precision_score, label, score),
                },
                repeats=REPEATS[rows],
                budgets=BUDGETS.get((rows, prevalence), ()),
                check=_agree,
                bounds=(SORT,),
            )


def data(rows: int, prevalence: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Labels, and scores that are one standard deviation higher for positives."""
    rng = np.random.default_rng(2012)
    label = (rng.random(rows) < prevalence).astype(np.int64)
    return label, rng.standard_normal(rows) + label


def _average_precision(label: NDArray[np.int64], score: NDArray[np.float64]) -> float:
    return pr.aucpr(pr.rank(label, score))


def _agree(returned: dict[str, object]) -> None:
    np.testing.assert_allclose(returned["precall"], returned[PEER], rtol=1e-9)

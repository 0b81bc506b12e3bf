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

# (rows, prevalence): what the subject may cost. Ranking takes one sort at least. Few rows may take
# as much again for the rest, which two cores do not share: the split into classes, the search, the
# counts and their sum. How fast NumPy sorts differs by processor more than anything else here: by
# AVX2 in a fifth of the time of AVX-512 on AMD's Zen 4, where 10,000 rows then take 2.3 to 4.1
# sorts, and less time nevertheless. The ratio to the peer, who sorts without either, holds on both.
_FEW = (Budget(peer=SORT, at_most=2), Budget(peer=PEER, at_most=1 / 5))
BUDGETS = {
    (10**4, 0.5): _FEW,
    (10**4, 0.01): _FEW,
    (10**4, 0.001): _FEW,
    (10**7, 0.5): (Budget(peer=SORT, at_most=2.7),),
    (10**7, 0.01): (Budget(peer=SORT, at_most=1.1),),
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

"""Two models on the same rows: the influence test against a paired bootstrap with scikit-learn.

The peer would draw 10,000 replicates; a few are timed, and scaled up.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

import precall as pr
from benchmarks.harness import Budget, Race, benchmark

PEER_RESAMPLES = 10
OF_RESAMPLES = 10_000
PEER = f"scikit-learn, {PEER_RESAMPLES} of {OF_RESAMPLES:,} scaled up"
SPEEDUP = 500

SHAPES = ((1_000, 0.1), (10**5, 0.1), (10**6, 0.01))


@benchmark
def compare(quick: bool) -> Iterator[Race]:
    """The p-value of a difference of average precisions; rows and prevalences vary."""
    for rows, prevalence in SHAPES[:2] if quick else SHAPES:
        label, scores = two_models(rows, prevalence)
        yield Race(
            title=f"{rows:,} rows, {prevalence:.1%} positives",
            jobs={
                "precall": partial(by_influence, label, scores),
                PEER: partial(by_rows, label, scores),
            },
            repeats=3,
            budgets=(Budget(peer=PEER, at_most=1 / SPEEDUP),),
            check=_agree,
            part={PEER: PEER_RESAMPLES / OF_RESAMPLES},
        )


def two_models(
    rows: int, prevalence: float
) -> tuple[NDArray[np.int64], dict[str, NDArray[np.float64]]]:
    """Labels, and two scores that share half of their noise."""
    rng = np.random.default_rng(2014)
    label = (np.arange(rows) < rows * prevalence).astype(np.int64)
    rng.shuffle(label)
    common = rng.standard_normal(rows)
    scores = {name: common + rng.standard_normal(rows) + shift * label for name, shift in _MODELS}
    return label, scores


_MODELS = (("a", 1.5), ("b", 1.4))


def by_influence(
    label: NDArray[np.int64], scores: dict[str, NDArray[np.float64]]
) -> tuple[float, float]:
    result = pr.compare(label, scores, sampling="classes")
    return result.differences["a", "b"], result.intervals["a", "b"].width / 4


def by_rows(label: NDArray[np.int64], scores: dict[str, NDArray[np.float64]]) -> object:
    rng = np.random.default_rng(0)
    classes = [np.flatnonzero(label == value) for value in (0, 1)]
    differences = []
    for _ in range(PEER_RESAMPLES):
        drawn = np.concatenate([rows[rng.integers(rows.size, size=rows.size)] for rows in classes])
        a, b = (average_precision_score(label[drawn], s[drawn]) for s in scores.values())
        differences.append(a - b)
    return differences


def _agree(returned: dict[str, object]) -> None:
    """The peer's replicates lie within a few standard errors of the difference."""
    (difference, error), few = returned.values()
    assert np.abs(np.asarray(few) - difference).max() < 6 * error

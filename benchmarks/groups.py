"""Mean average precision over many queries, against ranx after its compilation."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

import precall as pr
from benchmarks.harness import Budget, Race, benchmark
from benchmarks.peers import RANX, need
from precall.groups.group_values import per_group

PEER = RANX
RELEVANT = 10
DOCUMENTS = 100


@benchmark
def groups(quick: bool) -> Iterator[Race]:
    """Queries of 100 documents, 10 of them relevant; the peer's functions are already compiled.

    Both start from raw rows; both start from what is already sorted; and raw rows here against the
    peer's sorted arrays, which is its fastest input: there only one of the two sorts.
    """
    need(PEER)
    import ranx

    for queries in (10**4,) if quick else (10**4, 10**5):
        relevant, score = data(queries)
        query = np.repeat(np.arange(queries), DOCUMENTS)
        rankings = pr.rank_groups(relevant.ravel(), score.ravel(), query)
        from_rows = partial(_from_rows, relevant.ravel(), score.ravel(), query)
        sorted_peer = partial(ranx.evaluate, *peer_input(relevant, score), "map")
        budget = (Budget(peer=PEER, at_most=1.0),) if queries == 10**5 else ()
        for title, job, peer, budgets in (
            ("both raw", from_rows, partial(_peer_from_rows, relevant, score), budget),
            ("both sorted", partial(_from_rankings, rankings), sorted_peer, budget),
            ("raw against sorted", from_rows, sorted_peer, budget),
        ):
            yield Race(
                title=f"{queries:,} queries, {title}",
                jobs={"precall": job, PEER: peer},
                repeats=5,
                budgets=budgets,
                check=_agree,
            )


def data(queries: int) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Relevance and scores, one line per query; relevant documents score higher."""
    rng = np.random.default_rng(2012)
    relevant = rng.permuted(np.tile(np.arange(DOCUMENTS) < RELEVANT, (queries, 1)), axis=1)
    return relevant, rng.standard_normal(relevant.shape) + relevant


def peer_input(
    relevant: NDArray[np.bool_], score: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Judgements and sorted run as (query, document, [name, number]) arrays."""
    order = np.argsort(-score, axis=1)
    run = np.stack([order.astype(float), np.take_along_axis(score, order, axis=1)], axis=2)
    names = np.nonzero(relevant)[1].reshape(-1, RELEVANT).astype(float)
    return np.stack([names, np.ones_like(names)], axis=2), run


def _from_rows(
    relevant: NDArray[np.bool_], score: NDArray[np.float64], query: NDArray[np.int64]
) -> float:
    return per_group(pr.rank_groups(relevant, score, query, pooled=False), "aucpr").mean()


def _peer_from_rows(relevant: NDArray[np.bool_], score: NDArray[np.float64]) -> float:
    import ranx

    return ranx.evaluate(*peer_input(relevant, score), "map")


def _from_rankings(rankings: pr.RankingSet) -> float:
    # A fresh view, so that counts cumulated by an earlier call are not reused.
    return per_group(rankings.select(slice(None)), "aucpr").mean()


def _agree(returned: dict[str, object]) -> None:
    np.testing.assert_allclose(returned["precall"], returned[PEER], rtol=1e-12)

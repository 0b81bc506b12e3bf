"""Search runs with their relevance judgements, as the Text REtrieval Conference keeps them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._notebook import Rich
from .._numerics import ratio
from ..exceptions import InputError
from ..metrics.top_k import DiscountedGain
from ..ranking import grouping as _grouping
from ..ranking.ranking_set import RankingSet
from ..readers import trec_files
from .group_values import GroupValues
from .ranking_by_group import ranked

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

TIES = ("threshold", "trec_eval")
MISSING_QUERIES = ("skip", "zero")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TrecRun(Rich):
    """The documents that a search returned, with the judgements that exist for its queries.

    Attributes
    ----------
    queries : array of str
        Every query that has judgements, ascending, whether the run answers it or not.
    query : array of int
        For each returned document, the position of its query in `queries`.
    document : array of str
    score : array of float
    relevance : array of int
        As judged; 0 where a document was not judged.
    judged_query, judged_relevance : arrays of int
        All judgements, returned or not.
    missed_query, missed_relevance : arrays of int
        The judgements of documents that were not returned.
    n_unjudged_queries : int
        Queries of the run without judgements; they are left out.
    """

    queries: Array
    query: IntArray
    document: Array
    score: FloatArray
    relevance: IntArray
    judged_query: IntArray
    judged_relevance: IntArray
    missed_query: IntArray
    missed_relevance: IntArray
    n_unjudged_queries: int

    def __repr__(self) -> str:
        """Return one line."""
        return (
            f"TrecRun(queries={self.queries.size}, answered={np.unique(self.query).size}, "
            f"documents={self.score.size}, judgements={self.judged_query.size})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists."""
        fields = ("queries", "query", "document", "score", "relevance")
        judgements = ("judged_query", "judged_relevance", "missed_query", "missed_relevance")
        plain = {name: getattr(self, name).tolist() for name in (*fields, *judgements)}
        return {**plain, "n_unjudged_queries": self.n_unjudged_queries}

    def _table(self) -> dict[str, Any]:
        return {
            "query": self.queries[self.query],
            "document": self.document,
            "score": self.score,
            "relevance": self.relevance,
        }

    def _facts(self) -> dict[str, Any]:
        return {
            "queries": self.queries.size,
            "answered": np.unique(self.query).size,
            "documents": self.score.size,
            "judgements": self.judged_query.size,
            "unjudged queries": self.n_unjudged_queries,
        }

    def rankings(
        self,
        *,
        ties: str = "threshold",
        min_relevance: int = 1,
        missing_queries: str = "skip",
    ) -> RankingSet:
        """Rank the documents of every query.

        Parameters
        ----------
        ties : {"threshold", "trec_eval"}
            ``"threshold"``: documents of one score are tied, and no order among them is assumed.
            ``"trec_eval"``: what that program does: scores are rounded to single precision, and
            documents of one score are ordered by their names, the last in the alphabet first.
        min_relevance : int, default 1
            The lowest judgement that counts as relevant.
        missing_queries : {"skip", "zero"}
            Queries with judgements that the run does not answer: leave them out, or keep them, so
            that they count 0 (``trec_eval -c``).

        Returns
        -------
        RankingSet
            Relevant documents that were not returned are in ``missed``. To reproduce
            ``trec_eval``'s means, pass ``undefined="zero"`` on: it counts 0 for a query without
            relevant documents.
        """
        _validation.as_choice(ties, "ties", TIES)
        _validation.as_choice(missing_queries, "missing_queries", MISSING_QUERIES)
        scores = self.score if ties == "threshold" else -self._trec_eval_places()
        codes, kept = self._codes(missing_queries)
        order = _grouping.stable_order(codes, kept.size)
        sizes = np.bincount(codes, minlength=kept.size)
        grouping = _grouping.Grouping(
            self.queries[kept], np.concatenate([[0], np.cumsum(sizes)]), order
        )
        rankings = ranked(self.relevance >= min_relevance, scores, None, grouping, False)
        query = self.missed_query[self.missed_relevance >= min_relevance]
        missed = np.bincount(query, minlength=self.queries.size)[kept]
        return replace(rankings, missed=missed)

    def ndcg(
        self, k: int | None = None, *, ties: str = "threshold", missing_queries: str = "skip"
    ) -> GroupValues:
        """Normalised discounted cumulative gain with graded relevance.

        The gain of a document is its judgement (negative ones count 0), its discount
        ``1 / log2(rank + 1)``; the ideal order has all judged documents of the query, returned or
        not. Tied documents share the discounts of their places. A query without relevant documents
        counts 0, as in ``trec_eval``.
        """
        _validation.as_choice(ties, "ties", TIES)
        _validation.as_choice(missing_queries, "missing_queries", MISSING_QUERIES)
        cut = np.inf if k is None else _validation.as_count(k, "k", minimum=1)
        scores = self.score if ties == "threshold" else -self._trec_eval_places().astype(float)
        gained = _discounted(self.query, scores, self.relevance, self.queries.size, cut)
        ideal = _discounted(
            self.judged_query,
            self.judged_relevance.astype(float),
            self.judged_relevance,
            self.queries.size,
            cut,
        )
        _, kept = self._codes(missing_queries)
        return GroupValues(
            metric=str(DiscountedGain(k)),
            labels=self.queries[kept],
            values=ratio(gained, ideal)[kept],
            n_undefined=int(np.count_nonzero(ideal[kept] == 0)),
            undefined="zero",
        )

    def _codes(self, missing_queries: str) -> tuple[IntArray, IntArray]:
        """Query of each document among the queries kept, and which are kept."""
        answered = np.bincount(self.query, minlength=self.queries.size) > 0
        keep = answered | (missing_queries == "zero")
        if not keep.any():
            raise InputError(
                "the run answers none of the judged queries: check that both files use the "
                "same names, or pass missing_queries='zero'."
            )
        return (np.cumsum(keep) - 1)[self.query], np.flatnonzero(keep)

    def _trec_eval_places(self) -> IntArray:
        """Place of each document in its query's list: score in single precision, then name."""
        with np.errstate(over="ignore"):
            single = self.score.astype(np.float32)
        order = np.lexsort((-single, self.query))
        same = (single[order][1:] == single[order][:-1]) & (
            self.query[order][1:] == self.query[order][:-1]
        )
        tied = order[np.append(same, False) | np.append(False, same)]
        # Only names that decide a tie are compared.
        name = np.zeros(self.score.size, dtype=np.int64)
        if tied.size:
            name[tied] = _grouping.factorise(self.document[tied])[1]
            order = np.lexsort((-name, -single, self.query))
        places = np.empty(order.size, dtype=np.int64)
        places[order] = np.arange(order.size)
        return places


def _discounted(
    query: IntArray, score: FloatArray, relevance: IntArray, n_queries: int, cut: float
) -> FloatArray:
    """Discounted cumulative gain of each query; tied documents share their places' discounts."""
    order = np.lexsort((-score, query))
    group, value = query[order], score[order]
    gain = np.maximum(relevance[order], 0).astype(np.float64)
    if not group.size:
        return np.zeros(n_queries)
    starts = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    place = np.arange(group.size) - np.repeat(starts, np.diff(starts, append=group.size))
    discount = np.where(place < cut, 1.0 / np.log2(place + 2.0), 0.0)
    runs = np.flatnonzero(np.append(True, (value[1:] != value[:-1]) | (group[1:] != group[:-1])))
    size = np.diff(runs, append=group.size)
    shared = np.add.reduceat(gain, runs) * np.add.reduceat(discount, runs) / size
    return np.bincount(group[runs], weights=shared, minlength=n_queries).astype(np.float64)


def read_trec(run: object, qrels: object) -> TrecRun:
    """Read a run and its relevance judgements.

    Parameters
    ----------
    run : path or iterable of lines
        ``query Q0 document rank score name`` on each line, separated by blanks or tabs. The rank is
        not used: the score decides, as in ``trec_eval``.
    qrels : path or iterable of lines
        ``query iteration document relevance`` on each line.

    Returns
    -------
    TrecRun
        Its method `rankings` gives the :class:`~precall.RankingSet` for
        :func:`~precall.per_group` and :func:`~precall.aggregate`.

    Raises
    ------
    InputError
        For a line that does not fit, with its number, and for a document that is named twice in a
        query.

    Examples
    --------
    >>> import precall as pr
    >>> run = ["1 Q0 d1 1 9.5 mine", "1 Q0 d2 2 9.1 mine", "1 Q0 d3 3 7.7 mine"]
    >>> qrels = ["1 0 d1 0", "1 0 d2 2", "1 0 d4 1"]
    >>> searched = pr.read_trec(run, qrels)
    >>> pr.per_group(searched.rankings(), "aucpr").mean()
    0.25
    >>> round(searched.ndcg(k=10).mean(), 4)
    0.4796
    """
    judged = trec_files.columns(qrels, trec_files.QRELS, "qrels", np.int64)
    found = trec_files.columns(run, trec_files.RUN, "run", np.float64)
    judgements = dict(zip(zip(judged[0], judged[1], strict=True), judged[2].tolist(), strict=True))
    if len(judgements) < len(judged[0]):
        _reject_twice(judged[0], judged[1], "qrels")
    queries, judged_query = _grouping.factorise(np.array(judged[0], dtype=object))
    position = {query: index for index, query in enumerate(queries.tolist())}
    code = np.fromiter(map(position.get, found[0], repeat(-1)), dtype=np.int64, count=len(found[0]))
    kept = np.flatnonzero(code >= 0)
    pairs = list(zip(found[0], found[1], strict=True))
    returned = set(pairs)
    if len(returned) < len(pairs):
        _reject_twice(found[0], found[1], "run")
    relevance = np.fromiter(map(judgements.get, pairs, repeat(0)), dtype=np.int64, count=len(pairs))
    missed = ~np.fromiter(map(returned.__contains__, judgements), np.bool_, count=len(judgements))
    return TrecRun(
        queries=queries,
        query=code[kept],
        document=np.array(found[1], dtype=object)[kept],
        score=found[2][kept],
        relevance=relevance[kept],
        judged_query=judged_query,
        judged_relevance=judged[2],
        missed_query=judged_query[missed],
        missed_relevance=judged[2][missed],
        n_unjudged_queries=len(set(found[0])) - int(np.unique(code[kept]).size),
    )


def _reject_twice(queries: list[str], documents: list[str], name: str) -> None:
    seen: set[tuple[str, str]] = set()
    for line, pair in enumerate(zip(queries, documents, strict=True), start=1):
        if pair in seen:
            raise InputError(
                f"{name} must name a document once in a query, but {pair[1]!r} comes twice in "
                f"query {pair[0]!r}, the second time as entry {line}: remove one of them."
            )
        seen.add(pair)

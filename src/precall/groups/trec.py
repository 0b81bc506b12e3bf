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
from ..metrics.by_rank import DiscountedGain
from ..ranking import grouping as _grouping
from ..ranking.ranking_set import RankingSet
from ..readers import trec_files
from .group_values import GroupValues
from .judged import Order, inferred_precision, preference
from .ranking_by_group import ranked

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

# What a score is rounded to before documents are ordered; None: equal scores have no order.
TIES: dict[str, type[np.floating[Any]] | None] = {
    "threshold": None,
    "trec_eval": np.float32,
    "trec_eval_10": np.float64,
}
ORDERS = tuple(name for name, precision in TIES.items() if precision is not None)
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
    judged : array of bool
        Whether the document is named in the judgements.
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
    judged: Mask
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
        fields = ("queries", "query", "document", "score", "relevance", "judged")
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
        ties : {"threshold", "trec_eval", "trec_eval_10"}
            ``"threshold"``: documents of one score are tied, and no order among them is assumed.
            ``"trec_eval"``: what that program does up to release 9: scores are rounded to single
            precision, and documents of one score are ordered by their names, the last in the
            alphabet first. ``"trec_eval_10"``: the same since release 10, which rounds no scores.
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
        scores = self._ordered_scores(ties)
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
        scores = self._ordered_scores(ties)
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

    def bpref(
        self, *, ties: str = "trec_eval", min_relevance: int = 1, missing_queries: str = "skip"
    ) -> GroupValues:
        """Binary preference: how many judged documents that are not relevant come first.

        Documents that were not judged are passed over, so it needs no assumption about them. Each
        of the R relevant documents counts ``1 - min(above, R) / min(N, R)``, where `above` of the N
        documents judged not relevant are above it, and 0 if it was not returned (Buckley &
        Voorhees 2004). It needs an order of the documents, so equal scores are ordered as `ties`
        says: ``"trec_eval"`` or ``"trec_eval_10"``.
        """
        order, relevant, other = self._judged_order(ties, min_relevance)
        return self._of_judged(
            "bpref", preference(order, relevant, other), relevant, missing_queries
        )

    def inferred_ap(
        self, *, ties: str = "trec_eval", min_relevance: int = 1, missing_queries: str = "skip"
    ) -> GroupValues:
        """Inferred average precision, for a pool of which a random part was judged.

        A document of the pool that was not judged has a negative judgement (-1). Relevance above a
        rank is inferred from the judged documents there; documents outside the pool count as not
        relevant (Yilmaz & Aslam 2006). With a pool judged whole it is average precision, up to an
        epsilon of 1e-5 that ``trec_eval`` adds to the counts. `ties` as in :meth:`bpref`.
        """
        order, relevant, _ = self._judged_order(ties, min_relevance)
        values = inferred_precision(order, relevant)
        return self._of_judged("inferred_ap", values, relevant, missing_queries)

    def _judged_order(self, ties: str, min_relevance: int) -> tuple[Order, IntArray, IntArray]:
        """Documents in order, and how many of each query were judged relevant and not relevant."""
        _validation.as_choice(ties, "ties", ORDERS)
        at = np.argsort(self._places(ties))
        relevance, judged = self.relevance[at], self.judged[at]
        relevant = judged & (relevance >= min_relevance)
        order = Order(
            query=self.query[at],
            relevant=relevant,
            other=judged & (relevance >= 0) & ~relevant,
            open=judged & (relevance < 0) & ~relevant,
        )
        grade, size = self.judged_relevance, self.queries.size
        wanted = grade >= min_relevance
        rest = (grade >= 0) & ~wanted
        return (
            order,
            np.bincount(self.judged_query[wanted], minlength=size),
            np.bincount(self.judged_query[rest], minlength=size),
        )

    def _of_judged(
        self, name: str, values: FloatArray, relevant: IntArray, missing_queries: str
    ) -> GroupValues:
        """Keep the queries that count; one without relevant documents counts 0."""
        _validation.as_choice(missing_queries, "missing_queries", MISSING_QUERIES)
        _, kept = self._codes(missing_queries)
        return GroupValues(
            metric=name,
            labels=self.queries[kept],
            values=values[kept],
            n_undefined=int(np.count_nonzero(relevant[kept] == 0)),
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

    def _ordered_scores(self, ties: str) -> FloatArray:
        """Scores in which only documents that `ties` leaves tied are equal."""
        return self.score if TIES[ties] is None else -self._places(ties).astype(np.float64)

    def _places(self, ties: str) -> IntArray:
        """Place of each document among all: by query, then score as rounded, then name."""
        with np.errstate(over="ignore"):
            rounded = self.score.astype(TIES[ties])
        order = np.lexsort((-rounded, self.query))
        score, query = rounded[order], self.query[order]
        same = np.zeros(order.size + 1, dtype=np.bool_)
        same[1:-1] = (score[1:] == score[:-1]) & (query[1:] == query[:-1])
        tied = order[same[1:] | same[:-1]]
        # Only names that decide a tie are compared.
        name = np.zeros(self.score.size, dtype=np.int64)
        if tied.size:
            name[tied] = _grouping.factorise(self.document[tied])[1]
            order = np.lexsort((-name, -rounded, self.query))
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
        not used: the score decides, as in ``trec_eval``. What follows the name is not read.
    qrels : path or iterable of lines
        ``query iteration document relevance`` on each line. In both, blank lines and lines that
        begin with ``#`` are passed over.

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
    judged_pair = np.fromiter(map(judgements.__contains__, pairs), np.bool_, count=len(pairs))
    missed = ~np.fromiter(map(returned.__contains__, judgements), np.bool_, count=len(judgements))
    return TrecRun(
        queries=queries,
        query=code[kept],
        document=np.array(found[1], dtype=object)[kept],
        score=found[2][kept],
        relevance=relevance[kept],
        judged=judged_pair[kept],
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

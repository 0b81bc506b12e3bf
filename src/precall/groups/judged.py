"""Measures of a search that tell documents not judged from documents judged not relevant."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._numerics import ratio

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

# Added to the counts of relevant and of other judged documents, as trec_eval does.
_EPSILON = 0.00001


class Order(NamedTuple):
    """Documents in the order of their queries and, within a query, of their places.

    `relevant`, `other` and `open` are exclusive: judged relevant, judged not relevant, in the pool
    but not judged. A document that is none of them was not in the pool.
    """

    query: IntArray
    relevant: Mask
    other: Mask
    open: Mask


def before(marks: Mask, query: IntArray, n_queries: int) -> IntArray:
    """Count the marked documents of the same query before each document."""
    counts: IntArray = np.cumsum(marks) - marks
    sizes = np.bincount(query, minlength=n_queries)
    filled = sizes > 0
    starts = (np.cumsum(sizes) - sizes)[filled]
    return np.asarray(counts - np.repeat(counts[starts], sizes[filled]), dtype=np.int64)


def preference(order: Order, n_relevant: IntArray, n_other: IntArray) -> FloatArray:
    """Share of the pairs (relevant, other) in the right order, of R others at most (bpref).

    Each relevant document that was returned counts ``1 - min(above, R) / min(N, R)``, where R and N
    are the numbers judged relevant and not relevant, and `above` is how many of the latter are
    above it (Buckley & Voorhees 2004, as trec_eval computes it).
    """
    n = n_relevant.size
    at = np.flatnonzero(order.relevant)
    query = order.query[at]
    above = before(order.other, order.query, n)[at]
    most = n_relevant[query]
    lost = ratio(np.minimum(above, most), np.minimum(n_other[query], most))
    return np.asarray(ratio(np.bincount(query, weights=1.0 - lost, minlength=n), n_relevant))


def inferred_precision(order: Order, n_relevant: IntArray) -> FloatArray:
    """Average precision estimated from a pool of which a random part was judged (infAP).

    The precision at rank k is ``1/k + (k-1)/k * (pooled above)/(k-1) * (share relevant of those
    judged above)`` (Yilmaz & Aslam 2006, with trec_eval's epsilon).
    """
    n = n_relevant.size
    at = np.flatnonzero(order.relevant)
    query = order.query[at]
    everything = np.ones(order.query.size, dtype=np.bool_)
    place, relevant, other, open_ = (
        before(marks, order.query, n)[at].astype(np.float64)
        for marks in (everything, order.relevant, order.other, order.open)
    )
    judged = relevant + other
    share = (relevant + _EPSILON) / (judged + 2.0 * _EPSILON)
    precision = (1.0 + (judged + open_) * share) / (place + 1.0)
    return np.asarray(ratio(np.bincount(query, weights=precision, minlength=n), n_relevant))

"""Is a ranking better than chance? A test of any metric against random orders of the same rows.

Under chance every way to place the positives on the rows is as likely as any other, the scores and
their ties staying as they are. With few placements all of them are counted; a metric at a threshold
is a function of a hypergeometric number; otherwise placements are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._notebook import Rich
from .._rounding import at_least, at_most
from ..exceptions import InputError
from ..metrics import Metric, as_metric
from ..metrics.confusion import OfCounts
from ..ranking import Cells, Ranking, as_ranked
from .resampling import Progress

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# With this many placements of the positives at most, all are counted, if they are not too large.
_ALL = 50_000
_ALL_PLACES = 2_000_000
# Positives placed at once: what is held in memory does not grow with the number of orders.
_BLOCK = 200_000
# More positives than that are not placed.
_MOST = 50_000_000


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ChanceTest(Rich):
    """How a metric compares with its values for random orders of the same rows.

    Attributes
    ----------
    metric : str
    estimate : float
        What the ranking has.
    expected : float
        The mean over random orders.
    p_value : float
        Probability that a random order is at least as good: that it has at least the estimate, or
        at most, where less is better.
    distribution : array
        Values of the metric for random orders, ascending.
    probabilities : array
        The probability of each.
    exact : bool
        Whether every order was counted; otherwise orders were drawn, and the p-value is
        ``(1 + those that reach the estimate) / (1 + those drawn)``.
    """

    metric: str
    estimate: float
    expected: float
    p_value: float
    distribution: FloatArray
    probabilities: FloatArray
    exact: bool

    def __repr__(self) -> str:
        """Return one line."""
        how = "exact" if self.exact else f"{self.distribution.size} random orders"
        return (
            f"ChanceTest({self.metric}={self.estimate:.6g}, expected {self.expected:.6g}, "
            f"p={self.p_value:.4g}, {how})"
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the distribution over random orders with the estimate, and return the Axes."""
        from ..display.result_plots import plot_chance

        return plot_chance(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("distribution", "probabilities"):
            plain[name] = plain[name].tolist()
        return plain

    def _table(self) -> dict[str, Any]:
        return {"value": self.distribution, "probability": self.probabilities}

    def _facts(self) -> dict[str, Any]:
        left_out = ("distribution", "probabilities")
        return {name: value for name, value in self.to_dict().items() if name not in left_out}


class _Ties(NamedTuple):
    """The rows by falling score: where each group of equal scores starts and ends.

    A row outside of these groups has a score of its own.
    """

    starts: IntArray
    ends: IntArray
    rows: int

    def around(self, places: IntArray) -> tuple[IntArray, IntArray]:
        """Return where the group of each place starts and ends."""
        if not self.starts.size:
            return places, places + 1
        group = np.maximum(np.searchsorted(self.starts, places, side="right") - 1, 0)
        inside = (places >= self.starts[group]) & (places < self.ends[group])
        start = np.where(inside, self.starts[group], places)
        return start, np.where(inside, self.ends[group], places + 1)


def chance_test(
    data: Any,
    metric: Any = "aucpr",
    *,
    model: str | None = None,
    n_resamples: int = 9999,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> ChanceTest:
    """Test whether a ranking is better than a random order of the same rows.

    Parameters
    ----------
    data : Ranking or Rows
        Without weights and without clusters. A ranking does not know which of its negatives are
        tied with each other, and takes them as untied; rows know. Missed positives stay missed in
        every order.
    metric : metric or its words, default "aucpr"
        Any metric of the order of the rows, or of a threshold.
    model : str, optional
        Which model, where the rows have several.
    n_resamples : int, default 9999
        Random orders to draw where not all can be counted.
    rng : None, int or Generator
    progress : callable, optional
        Called with the number of orders done and of all.

    Returns
    -------
    ChanceTest
        One-sided: small p-values mean better than chance.

    Examples
    --------
    >>> import precall as pr
    >>> test = pr.chance_test(pr.rank([1, 1, 0, 1, 0, 0, 0, 0], range(8, 0, -1)))
    >>> test
    ChanceTest(aucpr=0.916667, expected 0.52838, p=0.03571, exact)
    """
    chosen = as_metric(metric)
    _validation.require_progress(progress)
    count = _validation.as_count(n_resamples, "n_resamples", minimum=1)
    generator = _validation.as_generator(rng)
    ranking, rows, _ = as_ranked(data, model, chosen.thresholds, missed=True)
    _require_exchangeable(ranking, rows)
    chosen.require_all_scored(ranking)
    bound = chosen.on_both_classes(ranking)
    estimate = float(bound.of_ranking(ranking))
    if isinstance(chosen, OfCounts):
        return _at_threshold(chosen, ranking, estimate)
    if not chosen.of_ranks:
        raise InputError(f"chance_test needs a metric of the order of the rows, got {chosen}.")
    ties = _ties(ranking, None if rows is None else rows.scores[rows.model_named(model)])
    n_pos = _as_placeable(ranking)
    exact = _few_placements(ties.rows, n_pos)
    blocks = (
        _every_place(ties, n_pos)
        if exact
        else _random_places(ties, n_pos, count, generator, progress)
    )
    values = np.concatenate([_values(bound, ties, places, ranking.missed) for places in blocks])
    reached = int(np.count_nonzero(_as_good(chosen, values, estimate)))
    return ChanceTest(
        metric=str(chosen),
        estimate=estimate,
        expected=float(np.mean(values)),
        p_value=reached / values.size if exact else (1 + reached) / (1 + values.size),
        distribution=np.sort(values),
        probabilities=np.full(values.size, 1.0 / values.size),
        exact=exact,
    )


def _as_good(metric: Metric, values: FloatArray, estimate: float) -> Any:
    return (at_most if metric.lower_is_better else at_least)(values, estimate)


def _require_exchangeable(ranking: Ranking, rows: Any) -> None:
    if rows is not None and rows.cluster is not None:
        raise InputError(
            "chance_test takes every row as free to be positive, and rows of one cluster are not: "
            "pass one row per cluster, or rows.unclustered() if they do not resemble each other."
        )
    if ranking.squares is not None or (rows is not None and rows.weight is not None):
        raise InputError(
            "chance_test places positives on rows that count alike, and these have weights: pass "
            "rows without weights."
        )
    if ranking.coarsened:
        raise InputError("chance_test needs every score, and this ranking was coarsened.")


def _as_placeable(ranking: Ranking) -> int:
    if ranking.n_pos > _MOST:
        raise InputError(
            f"chance_test places every positive, at most {_MOST:,} of them, and there are "
            f"{ranking.n_pos:,.0f}: test a random sample of the rows."
        )
    return int(ranking.n_pos)


def _few_placements(rows: int, n_pos: int) -> bool:
    """Whether all placements can be counted; the binomial coefficient may be astronomic."""
    # C(rows, few) is at least rows if few is 1 and at least 2^few; past either it is too large.
    few = min(n_pos, rows - n_pos)
    if rows > _ALL or few > math.log2(_ALL):
        return False
    placements = math.comb(rows, few)
    return placements <= _ALL and placements * n_pos <= _ALL_PLACES


def _ties(ranking: Ranking, scores: Any) -> _Ties:
    if scores is None:
        sizes = ranking.positives + ranking.tied
        ends = np.cumsum(ranking.above + sizes)
        rows = int(ranking.n_pos + ranking.n_neg)
    else:
        sizes = np.unique(scores, return_counts=True)[1][::-1]
        ends, rows = np.cumsum(sizes), int(scores.size)
    several = sizes > 1
    return _Ties((ends - sizes)[several], ends[several], rows)


def _every_place(ties: _Ties, n_pos: int) -> Iterator[IntArray]:
    every = combinations(range(ties.rows), n_pos)
    while part := list(islice(every, max(_BLOCK // n_pos, 1))):
        yield np.array(part, dtype=np.int64)


def _random_places(
    ties: _Ties, n_pos: int, count: int, rng: np.random.Generator, progress: Progress | None
) -> Iterator[IntArray]:
    at_once = max(_BLOCK // n_pos, 1)
    for done in range(0, count, at_once):
        size = min(at_once, count - done)
        drawn = [rng.choice(ties.rows, n_pos, replace=False, shuffle=False) for _ in range(size)]
        yield np.sort(drawn, axis=1)
        if progress is not None:
            progress(done + size, count)


def _values(metric: Metric, ties: _Ties, places: IntArray, missed: int) -> FloatArray:
    """Return the metric for positives at these places, one order per line."""
    starts, ends = ties.around(places)
    size = places.shape[1]
    # Positives of one group are one row; the rows that are left over then hold nothing.
    row = np.cumsum(np.diff(starts, axis=1, prepend=-1) > 0, axis=1) - 1
    line = np.arange(len(places))[:, np.newaxis]
    positives = np.bincount((line * size + row).ravel(), minlength=line.size * size)
    positives = positives.reshape(places.shape)
    start, end = np.zeros((2, *places.shape), dtype=np.int64)
    start[line, row], end[line, row] = starts, ends
    held = positives > 0
    before = np.concatenate([np.zeros((len(places), 1), dtype=np.int64), end[:, :-1]], axis=1)
    above = np.where(held, start - before, 0)
    tied = np.where(held, end - start - positives, 0)
    below = ties.rows - ends[:, -1]
    cells = Cells(positives, tied, above, below, missed)
    return np.asarray(metric.value(cells), dtype=np.float64)


def _at_threshold(metric: OfCounts, ranking: Ranking, estimate: float) -> ChanceTest:
    """Among so many rows selected, the number of positives is hypergeometric."""
    n, m = int(ranking.n_pos), int(ranking.n_neg)
    reached = ranking.rows_reaching(metric.cut)
    selected = int(np.sum(ranking.positives[:reached]))
    selected += int(np.sum((ranking.above + ranking.tied)[:reached]))
    tp = np.arange(max(selected - m, 0), min(n, selected) + 1)
    probability = _hypergeometric(tp, n, m, selected)
    # Random orders are of the rows that have a score: missed positives stay missed.
    everyone = float(n + ranking.missed)
    values = np.asarray(metric.of(tp, selected - tp, everyone, float(m)), dtype=np.float64)
    order = np.argsort(values, kind="stable")
    return ChanceTest(
        metric=str(metric),
        estimate=estimate,
        expected=float(np.sum(probability * values)),
        p_value=float(min(np.sum(probability[_as_good(metric, values, estimate)]), 1.0)),
        distribution=values[order],
        probabilities=probability[order],
        exact=True,
    )


def _hypergeometric(tp: IntArray, n: int, m: int, selected: int) -> FloatArray:
    """Probability of `tp` positives among rows selected blindly: ``C(n, tp) C(m, fp) / C(N, k)``.

    The logarithms of large binomials lose digits to each other, so the probabilities are taken
    relative to the most likely number and then add up to 1.
    """
    from scipy.special import gammaln

    fp = selected - tp
    parts = tp, n - tp, fp, m - fp
    logarithm = -sum(gammaln(part + 1.0) for part in parts)
    probability = np.exp(logarithm - np.max(logarithm))
    return np.asarray(probability / np.sum(probability), dtype=np.float64)

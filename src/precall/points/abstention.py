"""Two thresholds: decide above the one and below the other, review what lies between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._interval import Interval
from .._notebook import Rich
from .._numerics import ratio
from .._rounding import at_least
from .._words import listed, plural
from ..metrics.four_counts import SHARES, CountShare
from ..ranking import Ranking, rank_checked
from ..ranking.reflex import takes_one_ranking
from .constraints import Constraint
from .independent import IndependentCounts, independent_counts
from .matrix import plain_number
from .operating import independent_rows, require_countable
from .requirements import MinPrecision
from .share_bounds import (
    FALSE_POSITIVE_RATE,
    OVERLOOKED,
    PRECISION,
    RECALL,
    REJECTED,
    observed_share,
    observed_weight,
)

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]

NPV = "negative_predictive_value"


@dataclass(frozen=True, kw_only=True, repr=False)
class TwoThresholds(Rich):
    """Where to decide without looking, and what is left to review.

    Attributes
    ----------
    certified : bool
        Whether both thresholds could be certified. If only one could, the other is None, and its
        side is reviewed.
    upper : number or None
        ``score >= upper`` is decided positive.
    lower : number or None
        ``score < lower`` is decided negative. Never above `upper`; equal if nothing is reviewed.
    constraints : tuple of Constraint
        The precision above and the negative predictive value below, with what was observed.
    reviewed : Interval
        The share of these rows that lies between, with Clopper-Pearson limits for thresholds fixed
        in advance.
    true_positives, false_positives : float
        Rows decided positive.
    true_negatives, false_negatives : float
        Rows decided negative.
    reviewed_positives, reviewed_negatives : float
        Rows between.
    confidence_level : float
        Of both promises together.
    prevalence : float or None
        The prevalence that the promises refer to, if it is not that of the data.
    n_candidates : int
        Number of models that the promises were corrected for.
    exact : bool
        False for rows whose weights differ within a class.
    message : str
        The result in words.
    """

    certified: bool
    upper: Any
    lower: Any
    constraints: tuple[Constraint, ...]
    reviewed: Interval
    true_positives: float
    false_positives: float
    true_negatives: float
    false_negatives: float
    reviewed_positives: float
    reviewed_negatives: float
    confidence_level: float
    prevalence: float | None
    n_candidates: int
    exact: bool
    message: str

    def __repr__(self) -> str:
        """Return one line."""
        lower, upper = (_shown(each) for each in (self.lower, self.upper))
        return (
            f"TwoThresholds(lower={lower}, upper={upper}, "
            f"reviewed={100 * self.reviewed.estimate:.4g} %, {100 * self.confidence_level:.6g} %)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("upper", "lower"):
            plain[name] = None if plain[name] is None else plain_number(plain[name])
        plain["constraints"] = [each.to_dict() for each in self.constraints]
        return {**plain, "reviewed": self.reviewed.to_dict()}

    def plot(self, ax: Any = None) -> Any:
        """Draw both promises and the share left to review, and return the Axes."""
        from ..display.promise_plots import plot_two_thresholds

        return plot_two_thresholds(self, ax)

    def _table(self) -> dict[str, list[Any]]:
        """One row per decision."""
        columns = ("decision", "from", "below", "positives", "negatives")
        rows = [
            ("positive", self.upper, None, self.true_positives, self.false_positives),
            ("review", self.lower, self.upper, self.reviewed_positives, self.reviewed_negatives),
            ("negative", None, self.lower, self.false_negatives, self.true_negatives),
        ]
        return {name: [row[place] for row in rows] for place, name in enumerate(columns)}

    def _facts(self) -> dict[str, Any]:
        facts = {
            name: value
            for name, value in self.to_dict().items()
            if name not in ("constraints", "reviewed")
        }
        share = self.reviewed
        facts["reviewed"] = f"{share.estimate:.4g} ({share.low:.4g} to {share.high:.4g})"
        return facts


class _Side(NamedTuple):
    """Thresholds that are certified on one side, and what each decides: right and wrong rows.

    Their share is `share` of `counts` at a row of these.
    """

    counts: IndependentCounts
    share: CountShare
    thresholds: Array
    right: FloatArray
    wrong: FloatArray
    row: Any

    def take(self, chosen: Any) -> _Side:
        return _Side(self.counts, self.share, *(values[chosen] for values in self[2:]))

    def observed(self, level: float) -> Interval:
        """Return the share that is right, with limits for a threshold fixed in advance."""
        return self.counts.observed(self.share, int(self.row), level)


@takes_one_ranking
def two_thresholds(
    data: Any,
    *,
    model: str | None = None,
    min_precision: float,
    min_npv: float,
    confidence_level: float = 0.95,
    prevalence: float | None = None,
    n_candidates: int = 1,
) -> TwoThresholds:
    """Decide where it can be promised, and review the rest: the fewest rows between two thresholds.

    Rows at or above the upper threshold are decided positive, and at least `min_precision` of them
    are; rows under the lower one are decided negative, and at least `min_npv` of them are. Both
    hold together with `confidence_level`, although the thresholds are chosen on this data.

    Parameters
    ----------
    data : Ranking or Rows
        As in :func:`precall.operating_point`. Rows leave less to review: a ranking does not keep
        the scores of negatives, so its lower threshold comes from bounds at all thresholds at once.
        Missed positives count as decided negative, which they are if nobody looks for them.
    model : str, optional
        Which model, where the rows have several.
    min_precision : float
        The least share of positives among the rows decided positive.
    min_npv : float
        The least share of negatives among the rows decided negative: the negative predictive value.
        It has to be over the share of negatives to mean anything.
    confidence_level : float, default 0.95
        Each promise is made with half of the error.
    prevalence, n_candidates
        As in :func:`precall.operating_point`.

    Returns
    -------
    TwoThresholds

    Notes
    -----
    The lower threshold is the upper one of the same rows upside down: negatives are looked for,
    from the lowest score up, by the same fixed-sequence test.

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(5000) < 0.2
    >>> rows = pr.Rows(y, rng.normal(size=5000) + 2 * y)
    >>> pr.two_thresholds(rows, min_precision=0.8, min_npv=0.98)
    TwoThresholds(lower=0.0962602, upper=1.83356, reviewed=42.72 %, 95 %)
    """
    ranking, rows = independent_rows(data, model, "two_thresholds")
    asked = (
        _validation.as_fraction(min_precision, "min_precision"),
        _validation.as_fraction(min_npv, "min_npv"),
    )
    level = _validation.as_fraction(confidence_level, "confidence_level")
    n_candidates = _validation.as_count(n_candidates, "n_candidates", minimum=1)
    part = 0.5 * (1.0 - level) / n_candidates
    if prevalence is not None:
        prevalence = _validation.as_fraction(prevalence, "prevalence")
    require_countable(ranking, "two_thresholds")
    counts = independent_counts(ranking, prevalence)
    above = _above(ranking, counts, asked[0], part)
    if rows is None:
        below = _below_by_bounds(ranking, counts, asked[1], part)
    else:
        below = _below_by_tests(rows, model, asked[1], part, prevalence)
    upper, lower = _fewest_between(above, below)
    return _result(ranking, counts, asked, upper, lower, level, n_candidates)


def _above(ranking: Ranking, counts: IndependentCounts, required: float, part: float) -> _Side:
    rows = MinPrecision(required).certified(counts, part)
    every = np.arange(len(ranking))
    side = _Side(counts, PRECISION, ranking.threshold, ranking.tp * 1.0, ranking.fp * 1.0, every)
    return side.take(rows)


def _below_by_bounds(
    ranking: Ranking, counts: IndependentCounts, required: float, part: float
) -> _Side:
    """Sets under the scores of positives, both shares bounded at all thresholds at once."""
    if counts.prevalence is None:
        right = counts.share(REJECTED).everywhere(part / 2.0)
        wrong = 1.0 - counts.share(OVERLOOKED).turned.everywhere(part / 2.0)
    else:
        rest = counts.share(FALSE_POSITIVE_RATE).turned.everywhere(part / 2.0)
        right = (1.0 - counts.prevalence) * rest
        wrong = counts.prevalence * (1.0 - counts.share(RECALL).everywhere(part / 2.0))
    certified = at_least(ratio(right, right + wrong), required) & (right > 0.0)
    right, wrong = ranking.n_neg - ranking.fp, ranking.all_positives - ranking.tp
    every = np.arange(len(ranking))
    side = _Side(counts, SHARES[NPV], ranking.threshold, right * 1.0, wrong * 1.0, every)
    return side.take(certified)


def _below_by_tests(
    rows: Any, model: str | None, required: float, part: float, prevalence: float | None
) -> _Side:
    """The same rows upside down: negatives are looked for, from the lowest score up."""
    scores = rows.scores[rows.model_named(model)]
    turned = rank_checked(~rows.positive, _turned(scores), rows.weight)
    elsewhere = None if prevalence is None else 1.0 - prevalence
    counts = independent_counts(turned, elsewhere)
    certified = MinPrecision(required).certified(counts, part)
    highest = _turned(turned.threshold)  # of the scores decided negative
    # The next score above: what lies under it are the same rows.
    ordered = np.unique(scores)
    after = np.searchsorted(ordered, highest, side="right")
    inside = after < ordered.size
    thresholds = ordered[np.minimum(after, ordered.size - 1)]
    every = np.arange(len(turned))
    side = _Side(counts, PRECISION, thresholds, turned.tp * 1.0, turned.fp * 1.0, every)
    return side.take(certified & inside)


def _turned(scores: Array) -> Array:
    """Turn the order of scores around without losing any: ``-s - 1`` for integers."""
    turned: Array = ~scores if scores.dtype.kind in "iu" else -scores
    return turned


def _fewest_between(above: _Side, below: _Side) -> tuple[_Side | None, _Side | None]:
    """Return the lowest upper and the highest lower threshold, which may not cross."""
    upper = above.take(-1) if above.thresholds.size else None
    lower = below.take(int(np.argmax(below.thresholds))) if below.thresholds.size else None
    if upper is None or lower is None or lower.thresholds <= upper.thresholds:
        return upper, lower
    # Both sides are certified beyond each other: bring them together where they meet.
    under = np.flatnonzero(below.thresholds <= upper.thresholds)
    over = np.flatnonzero(above.thresholds >= lower.thresholds)
    if under.size:
        return upper, below.take(int(under[np.argmax(below.thresholds[under])]))
    return (above.take(int(over[-1])), lower) if over.size else (upper, None)


def _result(
    ranking: Ranking,
    counts: IndependentCounts,
    asked: tuple[float, float],
    upper: _Side | None,
    lower: _Side | None,
    level: float,
    n_candidates: int,
) -> TwoThresholds:
    sides = (upper, lower)
    right = [0.0 if side is None else float(side.right) for side in sides]
    wrong = [0.0 if side is None else float(side.wrong) for side in sides]
    # Positives that were never scored are taken for negatives, and nobody reviews them.
    unseen = float(ranking.missed)
    left = ranking.all_positives - right[0] - (unseen if lower is None else wrong[1])
    between = (left, ranking.n_neg - wrong[0] - right[1])
    total = float(ranking.n_pos + ranking.n_neg)
    shares = [None if side is None else side.observed(level) for side in sides]
    constraints = tuple(
        Constraint(
            name=name,
            bound=None if side is None else required,
            observed=share if counts.prevalence is None else None,
            required=required,
            holds=side is not None,
        )
        for name, side, required, share in zip(
            ("precision", NPV), sides, asked, shares, strict=True
        )
    )
    reviewed = _reviewed(counts, sum(between) / total, sides, level)
    thresholds = [None if side is None else side.thresholds[()] for side in sides]
    return TwoThresholds(
        certified=all(side is not None for side in sides),
        upper=thresholds[0],
        lower=thresholds[1],
        constraints=constraints,
        reviewed=reviewed,
        true_positives=right[0],
        false_positives=wrong[0],
        true_negatives=right[1],
        false_negatives=unseen if lower is None else wrong[1],
        reviewed_positives=float(between[0]),
        reviewed_negatives=float(between[1]),
        confidence_level=level,
        prevalence=counts.prevalence,
        n_candidates=n_candidates,
        exact=counts.exact,
        message=_message(thresholds, asked, sum(between), total, level, n_candidates),
    )


def _reviewed(
    counts: IndependentCounts, share: float, sides: tuple[_Side | None, ...], level: float
) -> Interval:
    """The share of the rows that neither side decides, with limits."""
    if counts.weighted is None:
        return observed_share(share * counts.n_rows, counts.n_rows, level)
    decided = [
        side.counts.weighted.share(side.share, int(side.row) + 1)
        for side in sides
        if side is not None and side.counts.weighted is not None
    ]
    return observed_weight(counts.weighted.without(decided), level)


def _message(
    thresholds: list[Any],
    asked: tuple[float, float],
    between: float,
    total: float,
    level: float,
    n_candidates: int,
) -> str:
    upper, lower = thresholds
    promised, missing = [], []
    if upper is None:
        missing.append(f"no threshold can be promised a precision of {asked[0]:g}")
    else:
        promised.append(f"at least {asked[0]:g} of the rows with score >= {upper:.6g} are positive")
    if lower is None:
        missing.append(f"no threshold can be promised a negative predictive value of {asked[1]:g}")
    else:
        promised.append(f"at least {asked[1]:g} of those with score < {lower:.6g} are negative")
    best = f", as the best of {n_candidates} models" if n_candidates > 1 else ""
    both = " together" if len(promised) == 2 else ""
    text = f"{listed(promised, 'and')}{both} with {100 * level:.6g} % confidence{best}; "
    text = f"{text if promised else ''}{listed(missing, 'and')}{'; ' if missing else ''}"
    rows = plural(between, "row", shown=f"{between:.12g}")
    share = 100.0 * between / total
    return f"{text}{rows} of {total:.12g} ({share:.3g} %) are left to review."


def _shown(threshold: Any) -> str:
    return "None" if threshold is None else f"{threshold:.6g}"

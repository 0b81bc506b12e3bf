"""Operating points: a threshold whose precision or recall can be promised."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._interval import Interval
from .._numerics import ratio
from ..exceptions import InputError, UndefinedMetricError
from ..ranking import Ranking, as_ranked
from .certificates import (
    binomial_tail,
    passing_run,
    sequences,
    share_limits,
    smallest_rank,
    uniform_share,
)
from .constraints import CertifiedBound, Constraint, OperatingPoint
from .independent import IndependentCounts, independent_counts
from .matrix import Confusion, at_row

FloatArray = npt.NDArray[np.float64]

# Data this many times larger is as good as out of reach.
_LARGEST_SCALE = 2.0**20


class _Certificate(NamedTuple):
    """The certified row and its bounds; or no row, and what is missing."""

    row: int | None
    precision: float | None = None
    recall: float | None = None
    positives_needed: int | None = None
    reason: str = ""


class _Target(NamedTuple):
    """What was asked: at least `required` of `name`; `other` is bounded beside it."""

    name: str
    other: str
    required: float


def operating_point(
    data: Any,
    *,
    model: str | None = None,
    min_precision: float | None = None,
    min_recall: float | None = None,
    confidence_level: float = 0.95,
    prevalence: float | None = None,
    n_candidates: int = 1,
) -> OperatingPoint:
    """Find a threshold whose precision or recall is guaranteed, though chosen on this data.

    With `min_precision`, the lowest threshold (most recall) that can be certified; with
    `min_recall`, the highest (most precision). The rows are taken as independent draws from the
    population that the promise is about, other than the ones the scorer was trained on.

    Parameters
    ----------
    data : Ranking or Rows
        Not coarsened: testing has to see every score. Rows with clusters are refused, because the
        bounds hold for independent rows only.
    model : str, optional
        Which model, where the rows have several; see `n_candidates` if it was chosen among them.
    min_precision, min_recall : float
        The target: exactly one of them.
    confidence_level : float, default 0.95
        ``1 - delta``: the certified threshold misses its target with probability at most delta.
    prevalence : float, optional
        Promise the precision at this prevalence instead of that of the data, as after a
        case-control sample. It is then bounded through recall and the false-positive rate.
        A ranking from :meth:`precall.Ranking.at_prevalence` brings its own.
    n_candidates : int, default 1
        Number of models that this one was chosen from on the same rows. Each is then certified
        with an error of ``delta / n_candidates``, so that the promise at `confidence_level` holds
        for whichever of them was chosen.

    Returns
    -------
    OperatingPoint
        Says so in `certified` and `message` if nothing can be certified. Its `constraints` are
        what was asked.

    Raises
    ------
    InputError
        For a coarsened ranking, and for rows that have clusters.
    UndefinedMetricError
        If a class is empty.

    Warns
    -----
    ReliabilityWarning
        With weights that differ within a class: no exact distribution is known for them, effective
        sample sizes are used, and the level is approximate.

    Notes
    -----
    Fixed-sequence testing with exact binomial tails; the proof stands at the top of
    ``precall/points/certificates.py``.
    Compared with a Bonferroni correction over 30 thresholds it certifies far more: at 2,000 rows
    with 10 % positives, two normal score distributions two standard deviations apart and a
    precision of 0.8, a mean recall of .16 instead of .04 (.38 is possible if the distribution is
    known).

    References
    ----------
    Clopper & Pearson 1934; Massart 1990 (the constant of the Dvoretzky-Kiefer-Wolfowitz
    inequality); Angelopoulos et al., *Learn then test*, 2021 (fixed-sequence testing of
    thresholds).

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(5000) < 0.2
    >>> ranking = pr.rank(y, rng.normal(size=5000) + 2 * y)
    >>> point = pr.operating_point(ranking, min_precision=0.8)
    >>> point
    OperatingPoint(threshold=1.82099, precision >= 0.8, recall >= 0.5512, 95 % each, 90 % both)
    >>> point.constraints
    (Constraint(precision >= 0.8: holds),)
    >>> pr.operating_point(ranking, min_recall=0.8)
    OperatingPoint(threshold=1.09461, precision >= 0.5699, recall >= 0.8, 95 % each, 90 % both)
    >>> pr.operating_point(ranking, min_precision=0.8, prevalence=0.05).positives_needed
    1794
    """
    ranking = _independent_rows(data, model)
    target = _target(min_precision, min_recall)
    level = _validation.as_fraction(confidence_level, "confidence_level")
    n_candidates = _validation.as_count(n_candidates, "n_candidates", minimum=1)
    delta = (1.0 - level) / n_candidates  # their errors add up, whichever model is chosen
    if prevalence is not None:
        prevalence = _validation.as_fraction(prevalence, "prevalence")
    if not (ranking.n_pos and ranking.n_neg):
        missing = "positives" if not ranking.n_pos else "negatives"
        raise UndefinedMetricError(
            f"operating_point needs both classes, got no {missing}: check the labels and pos_label."
        )
    if ranking.coarsened:
        raise InputError(
            "operating_point must see every score, and this ranking was coarsened: rank all the "
            "rows, with an engine without max_rows where they do not fit into memory."
        )
    counts = independent_counts(ranking, prevalence)
    if target.name == "recall":
        certificate = _certify_recall(counts, target.required, delta)
    elif counts.prevalence is None:
        certificate = _certify_precision(counts, target.required, delta)
    else:
        certificate = _certify_elsewhere(counts, target.required, delta, counts.prevalence)
    return _result(ranking, counts, certificate, target, level, n_candidates)


def _independent_rows(data: Any, model: str | None) -> Ranking:
    ranking, rows, _ = as_ranked(data, model)
    if rows is not None and rows.cluster is not None:
        raise InputError(
            "operating_point takes rows as independent, and these rows have clusters, so its "
            "bounds would promise too much: pass one row per cluster, or rows.unclustered() if "
            "rows of one cluster do not resemble each other."
        )
    return ranking.of_positives


def _target(min_precision: object, min_recall: object) -> _Target:
    if (min_precision is None) == (min_recall is None):
        raise InputError("give exactly one of min_precision and min_recall.")
    if min_precision is not None:
        required = _validation.as_fraction(min_precision, "min_precision")
        return _Target("precision", "recall", required)
    return _Target("recall", "precision", _validation.as_fraction(min_recall, "min_recall"))


def _certify_precision(counts: IndependentCounts, required: float, delta: float) -> _Certificate:
    """Fixed-sequence testing; of the rows that the sequences certify, the lowest."""
    tp, fp = counts.cut_tp, counts.cut_fp
    selected = tp + fp
    certified = -1
    for rank, share in sequences(required, delta, counts.n_rows):
        first = _first_cut(selected, rank)
        end = int(passing_run(tp, fp, first, required, share))
        row = (end - 2) // 2  # the last row whose lower edge passed
        # Only sets of more than `rank` rows are certified, never one that was not tested.
        if row >= 0 and selected[2 * row + 1] > rank:
            certified = max(certified, row)
    if certified >= 0:
        recall = float(uniform_share(counts.tp[certified], counts.n_pos, delta))
        return _Certificate(certified, required, recall)

    def passes(scale: float) -> bool:
        found, wrong = scale * tp[1::2], scale * fp[1::2]
        tail = binomial_tail(found, wrong, required)
        return any(
            bool(np.any((found + wrong > rank) & (tail <= share)))
            for rank, share in sequences(required, delta, scale * counts.n_rows)
        )

    return _not_certified(counts, passes)


def _first_cut(selected: FloatArray, rank: int) -> int:
    """Index of the cut ``{score > s}``, or of ``{score >= s}`` if no row scores above s.

    s is the score of rank `rank` + 1. Inside a tie the first cut is the tie's upper edge (even
    index), or its lower edge if the tie is the highest of all. Inside a gap of negatives, which
    may be tied too, it is the end of the gap: whoever passes there passes before. In the gap above
    the first positive nothing passes, tied or not, because every set there is without positives.
    """
    first = int(np.searchsorted(selected, rank))
    inside_tie = first < selected.size and selected[first] > rank and first % 2 == 1
    return first - 1 if inside_tie and selected[first - 1] > 0 else first


def _certify_elsewhere(
    counts: IndependentCounts, required: float, delta: float, share: float
) -> _Certificate:
    """Precision at another prevalence, through both classes' bounds at all thresholds at once."""

    def bounds(scale: float) -> tuple[FloatArray, FloatArray]:
        n, m = scale * counts.n_pos, scale * counts.n_neg
        recall = uniform_share(scale * counts.tp, n, delta / 2.0)
        specificity = uniform_share(m - scale * counts.fp, m, delta / 2.0)
        return recall, _precision(recall, 1.0 - specificity, share)

    recall, precision = bounds(1.0)
    rows = np.flatnonzero(precision >= required)
    if rows.size:
        row = int(rows[-1])
        return _Certificate(row, float(precision[row]), float(recall[row]))
    return _not_certified(counts, lambda scale: bool(np.any(bounds(scale)[1] >= required)))


def _certify_recall(counts: IndependentCounts, required: float, delta: float) -> _Certificate:
    """The score of a positive whose rank was fixed beforehand."""
    n, m = counts.n_pos, counts.n_neg
    rank = smallest_rank(n, required, delta)
    if rank is None:
        needed = math.ceil(math.log(delta) / math.log(required))
        return _Certificate(None, positives_needed=needed, reason="there are too few positives")
    row = min(int(np.searchsorted(counts.tp, rank)), len(counts.tp) - 1)
    # Given the threshold, false positives are binomial: the negatives had no part in it.
    part = delta / (3.0 if counts.prevalence is None else 2.0)
    recall, _ = share_limits(rank, n, part)
    _, false_positive_rate = share_limits(counts.fp[row], m, part)
    share = counts.prevalence
    if share is None:
        share = float(share_limits(n, n + m, part)[0])
    return _Certificate(row, float(_precision(recall, false_positive_rate, share)), required)


def _precision(recall: Any, false_positive_rate: Any, prevalence: float) -> Any:
    found = prevalence * recall
    return ratio(found, found + (1.0 - prevalence) * false_positive_rate)


def _not_certified(counts: IndependentCounts, passes: Callable[[float], bool]) -> _Certificate:
    """Find how many times larger the same data would have to be for some threshold to pass."""
    if passes(1.0):
        return _Certificate(
            None,
            reason="the highest-scoring rows already fail the test, so nothing below them can be "
            "certified although some threshold would have passed alone",
        )
    enough, observed = 2 * math.ceil(counts.n_pos), counts.n_pos
    while enough <= _LARGEST_SCALE * observed and not passes(enough / observed):
        enough *= 2
    if enough > _LARGEST_SCALE * observed:
        return _Certificate(
            None, reason="no threshold has clearly more on this data, so more of it would not help"
        )
    sizes = range(enough // 2, enough + 1)
    needed = sizes[bisect_left(sizes, True, key=lambda size: passes(size / observed))]
    return _Certificate(None, positives_needed=needed, reason="there are too few positives")


def _result(
    ranking: Ranking,
    counts: IndependentCounts,
    certificate: _Certificate,
    target: _Target,
    level: float,
    n_candidates: int,
) -> OperatingPoint:
    row = certificate.row
    shared = target.name == "precision" and counts.prevalence is not None
    joint = level if shared else max(2.0 * level - 1.0, 0.0)
    at = None if row is None else at_row(ranking, row)
    bounds = {"precision": certificate.precision, "recall": certificate.recall}
    observed: dict[str, Interval | None] = dict.fromkeys(bounds)
    if row is not None:
        observed["recall"] = _observed(counts.tp[row], counts.n_pos, level)
        observed["precision"] = _observed_precision(counts, row, level)
    constraint = Constraint(
        name=target.name,
        bound=bounds[target.name],
        observed=observed[target.name],
        required=target.required,
        holds=row is not None,
    )
    other = CertifiedBound(
        name=target.other, bound=bounds[target.other], observed=observed[target.other]
    )
    return OperatingPoint(
        certified=row is not None,
        threshold=None if at is None else at.threshold,
        constraints=(constraint,),
        other_bounds=(other,),
        confidence_level=level,
        joint_confidence_level=joint,
        confusion=at,
        prevalence=counts.prevalence,
        positives_needed=certificate.positives_needed,
        n_candidates=n_candidates,
        exact=counts.exact,
        message=_message(ranking, certificate, at, target, level, n_candidates),
    )


def _observed(successes: float, total: float, level: float) -> Interval:
    low, high = share_limits(successes, total, (1.0 - level) / 2.0)
    return Interval(
        low=float(low),
        high=float(high),
        estimate=float(successes / total),
        confidence_level=level,
        method="clopper_pearson",
    )


def _observed_precision(counts: IndependentCounts, row: int, level: float) -> Interval:
    tp, fp = counts.cut_tp[2 * row + 1], counts.cut_fp[2 * row + 1]
    if counts.prevalence is None:
        return _observed(tp, tp + fp, level)
    # Both classes' limits at once, then the precision of their corners.
    recall = _observed(counts.tp[row], counts.n_pos, 0.5 * (1.0 + level))
    fpr = _observed(counts.fp[row], counts.n_neg, 0.5 * (1.0 + level))
    low, estimate, high = (
        float(_precision(r, f, counts.prevalence))
        for r, f in (
            (recall.low, fpr.high),
            (recall.estimate, fpr.estimate),
            (recall.high, fpr.low),
        )
    )
    return Interval(
        low=low, high=high, estimate=estimate, confidence_level=level, method="clopper_pearson"
    )


def _message(
    ranking: Ranking,
    certificate: _Certificate,
    at: Confusion | None,
    target: _Target,
    level: float,
    n_candidates: int,
) -> str:
    wanted, other, required = target
    sure = f"{100 * level:.6g} % confidence"
    chosen = f" This holds for the best of {n_candidates} models." if n_candidates > 1 else ""
    if at is not None:
        bound = getattr(certificate, other)
        return (
            f"score >= {at.threshold:.6g} has a {wanted} of at least {required:g} with {sure}, "
            f"and a {other} of at least {bound:.3g} with {sure}.{chosen}"
        )
    choice = f", as the best of {n_candidates} models," if n_candidates > 1 else ""
    text = (
        f"no threshold can be promised a {wanted} of {required:g} with {sure}{choice} on "
        f"{ranking.n_pos:.12g} positives: {certificate.reason}"
    )
    if certificate.positives_needed is None:
        return f"{text}."
    return f"{text}; about {certificate.positives_needed} would be needed."

"""Where a model is worse: a metric in every slice of the rows, with limits that hold for all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._interval import Interval
from .._rounding import settled, tied
from ..exceptions import InputError
from ..inference.rules import Rule, rule_for
from ..inference.significance import holm
from ..inference.simultaneous import critical_value, independent_critical_value, level_of
from ..metrics import Metric, as_metric
from ..rows import Rows
from .levels import Cut, as_column_names, cuts_of
from .slice_evidence import OneByOne, Rests, SliceEvidence, SliceQuestion
from .slices_at_once import AtOnce, fits
from .slices_result import Slice, Slices

FloatArray = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

#: Rows of each class that a slice needs if nothing else is said.
MIN_POSITIVES = 10
# Rows of all the rests together that an evaluation adds up in clusters, one rest after the other.
_MOST_ADDED = 40_000_000
# Whole numbers within a range this many times their number are counted, not sorted.
_DENSE = 16
# Nearer to 1 the worst and the perfect ranking have the same precision in every digit.
_LARGEST_PREVALENCE = 1.0 - 1e-12


def slices(
    data: object,
    by: str | list[str] | tuple[str, ...],
    metric: Metric | type[Metric] | str = "aucnpr",
    *,
    depth: int = 2,
    model: str | None = None,
    prevalence: float | None = None,
    min_positives: int = MIN_POSITIVES,
    quantiles: int = 4,
    confidence_level: float = 0.95,
    method: str | None = None,
    n_resamples: int = 1000,
    rng: np.random.Generator | int | None = None,
) -> Slices:
    """Compute a metric in every slice of the rows, at one prevalence and with one guarantee.

    Parameters
    ----------
    data : Rows
        With the columns to cut by. Where rows have clusters, limits respect them.
    by : str or list of str
        Columns. A slice is a level of one of them, or a crossing of levels of several. Numbers and
        dates with more than 20 distinct values are cut at quantiles. Rows without a value are a
        level of their own, ``(missing)``.
    metric : Metric or str, default "aucnpr"
        As in :func:`precall.interval`.
    depth : int, default 2
        The largest number of columns that are crossed.
    model : str, optional
        Which model, where the rows have several.
    prevalence : float, optional
        The prevalence at which all slices are compared; by default that of all rows. In every slice
        the negatives are weighted so that it has this prevalence: precision and the areas made of
        it cannot be compared otherwise.
    min_positives : int, default 10
        Slices with fewer positives or fewer negatives (with clusters: fewer clusters that have one)
        are counted and listed, but nothing is said about them.
    quantiles : int, default 4
        Into how many parts of about equally many rows numbers are cut.
    confidence_level : float, default 0.95
        Probability that *all* the intervals of slices hold at once.
    method, n_resamples, rng
        As in :func:`precall.interval`.

    Returns
    -------
    Slices
        Slices with the lowest metric first. ``result.worst`` is the first of them, and
        ``result.statement`` says what is certain about it, although it was picked.

    Raises
    ------
    InputError
        For a column that is not there (the nearest is suggested), one with more than 1,000 levels,
        and more than 10,000 slices.

    Notes
    -----
    The critical value c is a quantile of the largest of as many standardised normal numbers as
    there are slices, correlated like the estimates: slices share rows, so the influence values of
    the rows give the covariance. Each slice then has the default interval of its metric at the
    level ``1 - 2 Phi(-c)``. Metrics without influence values, and more than 1,000 slices, have the
    critical value of independent slices, which is never too small (Sidak 1967).

    The difference from the rest is that between the slice and all rows outside of it. Its limits
    are recovered from the limits of both (Zou & Donner 2008), its p-value is two-sided, with the
    standard error that those limits stand for, and adjusted for the number of slices (Holm 1979).

    References
    ----------
    Sidak, *Rectangular confidence regions for the means of multivariate normal distributions*,
    1967; Zou & Donner, *Construction of confidence limits about effect measures*, 2008; McDermott
    et al., *A closer look at AUROC and AUPRC under class imbalance*, 2024.

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> rng = np.random.default_rng(0)
    >>> y, device = rng.random(4000) < 0.1, rng.choice(["phone", "tablet"], 4000)
    >>> score = rng.normal(size=4000) + np.where(device == "phone", 2.5, 0.5) * y
    >>> found = pr.slices(pr.Rows(y, score, columns={"device": device}), "device")
    >>> found
    Slices(aucnpr at prevalence 0.104: 2 slices by device, lowest device=tablet 0.146 (...))
    >>> found.worst.name, found.worst.p_value < 0.001
    ('device=tablet', True)
    """
    if not isinstance(data, Rows):
        raise InputError(
            "data must be Rows with columns, such as precall.Rows(y_true, y_score, "
            f"columns={{'country': country}}), got {type(data).__name__}."
        )
    what = as_metric(metric)
    what.check_scores(data, model)
    columns = as_column_names(by, data)
    depth = _validation.as_count(depth, "depth", minimum=1)
    if depth > max(2, len(columns)):
        raise InputError(f"depth must be at most the number of columns in by, got {depth}.")
    least = _validation.as_count(min_positives, "min_positives", minimum=2)
    quantiles = _validation.as_count(quantiles, "quantiles", minimum=2)
    level = _validation.as_fraction(confidence_level, "confidence_level")
    request = SliceRequest(
        metric=what,
        model=data.model_named(model),
        rule=rule_for(what, method, clustered=data.cluster is not None),
        prevalence=_common_prevalence(data, prevalence),
        min_positives=least,
        level=level,
        n_resamples=_validation.as_count(n_resamples, "n_resamples", minimum=2),
        rng=_validation.as_generator(rng),
    )
    cuts = cuts_of(data, columns, depth=depth, quantiles=quantiles)
    return slices_of(data, cuts, request, depth=depth)


class SliceRequest(NamedTuple):
    """What to compute in slices, checked."""

    metric: Metric
    model: str
    rule: Rule
    prevalence: float
    min_positives: int
    level: float
    n_resamples: int
    rng: Any
    with_rests: bool = True


def slices_by_group(
    rows: Rows, column: str, names: list[str], code: IntArray, *, model: str, **options: Any
) -> Slices:
    """Return the slices of groups that are known: the position of each row's group in `names`.

    Rows with a position beyond are in none of the slices, but in the rest of each. The options are
    `prevalence` and `confidence_level`. Where rows belong together, every rest adds up all
    clusters, which is left out where that would take long.
    """
    metric = as_metric("aucnpr")
    request = SliceRequest(
        metric=metric,
        model=model,
        rule=rule_for(metric, None, clustered=rows.cluster is not None),
        prevalence=_common_prevalence(rows, options["prevalence"]),
        min_positives=MIN_POSITIVES,
        level=options["confidence_level"],
        n_resamples=2,
        rng=None,
        with_rests=rows.cluster is None or len(names) * len(rows) <= _MOST_ADDED,
    )
    return slices_of(rows, [Cut((column,), [(name,) for name in names], code)], request, depth=1)


def slices_of(rows: Rows, cuts: list[Cut], request: SliceRequest, *, depth: int) -> Slices:
    """Return the slices of rows that are cut already."""
    every = [counted_slices(rows, cut, request.min_positives) for cut in cuts]
    question = SliceQuestion(
        rows=rows,
        model=request.model,
        metric=request.metric,
        rule=request.rule,
        prevalence=request.prevalence,
        n_resamples=request.n_resamples,
        rng=request.rng,
        cuts=cuts,
        tested=[_positions([not one.too_small for one in found]) for found in every],
    )
    counted = [one for found in every for one in found if not one.too_small]
    tested: list[Slice] = []
    critical = None
    if counted:
        evidence: SliceEvidence = AtOnce(question) if fits(question) else OneByOne(question)
        known = np.zeros(len(counted), dtype=np.bool_)
        if request.with_rests:
            known = _rest_is_large(question, request.min_positives)
        tested, critical = tested_slices(evidence, counted, known, request)
    by = tuple(dict.fromkeys(column for cut in cuts for column in cut.columns))
    small = [one for found in every for one in found if one.too_small]
    return result_of(request, tested, small, critical, by=by, depth=depth)


def result_of(
    request: SliceRequest,
    tested: list[Slice],
    small: list[Slice],
    critical: float | None,
    *,
    by: tuple[str, ...],
    depth: int,
) -> Slices:
    """Put slices together, the lowest metric first."""
    return Slices(
        metric=str(request.metric),
        title=str(request.metric.title),
        by=by,
        depth=depth,
        model=request.model,
        prevalence=request.prevalence,
        method=request.rule.name,
        confidence_level=request.level,
        critical_value=critical,
        min_positives=request.min_positives,
        slices=tuple(tested[index] for index in _rising([one.estimate for one in tested])),
        too_small=tuple(small),
        with_prevalence=bool(request.metric.with_prevalence),
    )


def _positions(chosen: list[bool]) -> IntArray:
    return np.flatnonzero(chosen)


def _common_prevalence(rows: Rows, prevalence: object) -> float:
    if prevalence is not None:
        target = _validation.as_prevalence(prevalence)
        if target > _LARGEST_PREVALENCE:
            raise InputError(
                f"prevalence must leave room for negatives, at most 1 - 1e-12, got {target!r}."
            )
        return target
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    share = float(weight[rows.positive].sum() / weight.sum())
    if not 0.0 < share < 1.0:
        missing = "negatives" if share else "positives"
        raise InputError(f"slices need both classes, and there are no {missing}: check the labels.")
    return share


def counted_slices(rows: Rows, cut: Cut, least: int) -> list[Slice]:
    """Count every slice of a cut, and say which are too small."""
    count = len(cut.names)
    size = np.bincount(cut.code, minlength=count)
    ours = np.bincount(cut.code[rows.positive], minlength=count)
    total, positive = size, ours
    if rows.weight is not None:
        total = np.bincount(cut.code, rows.weight, count)
        positive = np.bincount(cut.code, rows.weight * rows.positive, count)
    small = np.minimum(*(_independent(rows, cut, own) for own in _classes(rows))) < least
    return [
        Slice(
            levels=dict(zip(cut.columns, names, strict=True)),
            n_rows=int(size[index]),
            n_pos=int(ours[index]),
            n_neg=int(size[index] - ours[index]),
            prevalence=float(positive[index] / total[index]),
            too_small=bool(small[index]),
        )
        for index, names in enumerate(cut.names)
    ]


def _classes(rows: Rows) -> tuple[Mask, Mask]:
    return rows.positive, ~rows.positive


def _independent(rows: Rows, cut: Cut, own: Mask) -> IntArray:
    """Number of rows of a class in each slice; of clusters that have one, where there are some."""
    code = cut.code[own]
    if rows.cluster is not None:
        code = _distinct(code * rows.n_clusters + rows.cluster[own]) // rows.n_clusters
    return np.bincount(code, minlength=len(cut.names))[: len(cut.names)]


def tested_slices(
    evidence: SliceEvidence, counted: list[Slice], known: Mask, request: SliceRequest
) -> tuple[list[Slice], float]:
    """Give every slice its interval and, where `known`, its difference from the rest."""
    level = request.level
    covariance = evidence.covariance
    critical = (
        independent_critical_value(len(counted), level)
        if covariance is None
        else critical_value(covariance, level)
    )
    at = level_of(critical)
    estimate, (low, high) = evidence.estimate, evidence.limits(at)
    low, high = np.minimum(low, estimate), np.maximum(high, estimate)
    test = difference_limits(estimate, (low, high), evidence.rests(at, known))
    raw = _p_values(test, critical)
    adjusted = np.full(known.size, np.nan)
    adjusted[known] = holm(raw[known].tolist())

    def interval(*numbers: float) -> Interval:
        names = ("estimate", "low", "high")
        method = f"{request.rule.name}, simultaneous"
        ends = dict(zip(names, numbers, strict=True))
        return Interval(**ends, confidence_level=level, method=method)

    columns = (estimate, low, high, *test, adjusted, raw)
    found = []
    for one, compared, numbers in zip(
        counted, known.tolist(), np.transpose(columns).tolist(), strict=True
    ):
        rest = {
            "difference": interval(*numbers[3:6]),
            "p_value": numbers[6],
            "unadjusted_p_value": numbers[7],
        }
        found.append(replace(one, interval=interval(*numbers[:3]), **(rest if compared else {})))
    return found, critical


def _rest_is_large(question: SliceQuestion, least: int) -> Mask:
    """Whether there is enough of both classes outside of each slice."""
    rows = question.rows
    found = []
    for cut, tested in zip(question.cuts, question.tested, strict=True):
        for own in _classes(rows):
            if rows.cluster is None:
                count = np.bincount(cut.code[own], minlength=len(cut.names))
                outside = np.count_nonzero(own) - count
            else:
                outside = _clusters_outside(rows.cluster[own], cut.code[own], len(cut.names))
            found.append(outside[tested] >= least)
    pairs = zip(found[::2], found[1::2], strict=True)
    return np.concatenate([np.logical_and(ours, theirs) for ours, theirs in pairs])


def _clusters_outside(cluster: IntArray, code: IntArray, count: int) -> IntArray:
    """Number of clusters with a row outside of each slice: all but those inside with all rows."""
    width = max(count, int(code.max()) + 1)
    owner, slot = np.divmod(_distinct(cluster * width + code), width)
    slices_of_cluster = np.bincount(owner)
    alone = slot[slices_of_cluster[owner] == 1]
    return np.count_nonzero(slices_of_cluster) - np.bincount(alone, minlength=count)


def _distinct(keys: IntArray) -> IntArray:
    """Distinct whole numbers, counted where their range is not much larger than their number."""
    if int(keys.max()) < _DENSE * keys.size:
        return np.flatnonzero(np.bincount(keys))
    return np.unique(keys)


def difference_limits(
    estimate: FloatArray, ends: tuple[FloatArray, FloatArray], rests: Rests
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return slice minus rest with limits, recovered from the limits of both.

    Zou & Donner 2008; `rests` has the correlation of the two estimates.
    """
    largest = np.maximum(np.abs(estimate), np.abs(rests.estimate))
    difference = settled(estimate - rests.estimate, largest)

    def distance(own: FloatArray, other: FloatArray) -> FloatArray:
        crossed = 2.0 * rests.correlation * own * other
        return np.asarray(np.sqrt(np.maximum(own**2 + other**2 - crossed, 0.0)))

    down = distance(estimate - ends[0], np.maximum(rests.high - rests.estimate, 0.0))
    up = distance(ends[1] - estimate, np.maximum(rests.estimate - rests.low, 0.0))
    return difference, difference - down, difference + up


def _p_values(test: tuple[FloatArray, FloatArray, FloatArray], critical: float) -> FloatArray:
    """Two-sided, with the standard error that the limit on the side of 0 stands for."""
    from scipy.special import ndtr

    difference, low, high = test
    distance = np.where(difference > 0, difference - low, high - difference)
    certain = (difference == 0.0) | (distance <= 0.0)
    z = np.abs(difference) * critical / np.where(certain, 1.0, distance)
    return np.asarray(np.where(certain, 1.0, 2.0 * ndtr(-z)))


def _rising(values: list[float]) -> list[int]:
    """Order of values, lowest first; those that differ by rounding only stay as they were."""
    return np.argsort(tied(values, 1.0), kind="stable").tolist() if values else []

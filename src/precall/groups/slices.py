"""Where a model is worse: a metric in every slice of the rows, with limits that hold for all."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._interval import Interval
from .._rounding import tied
from ..exceptions import InputError
from ..inference.rules import rule_for
from ..inference.significance import holm
from ..inference.simultaneous import critical_value, independent_critical_value, level_of
from ..metrics import Metric, as_metric
from ..rows import Rows
from .levels import Cut, as_column_names, cuts_of
from .slice_evidence import SlicePart, SliceQuestion, covariance_between, difference_limits, part_of
from .slices_result import Slice, Slices

Mask = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

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
    min_positives: int = 10,
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
    columns = as_column_names(by, data)
    depth = _validation.as_count(depth, "depth", minimum=1)
    if depth > max(2, len(columns)):
        raise InputError(f"depth must be at most the number of columns in by, got {depth}.")
    least = _validation.as_count(min_positives, "min_positives", minimum=2)
    quantiles = _validation.as_count(quantiles, "quantiles", minimum=2)
    level = _validation.as_fraction(confidence_level, "confidence_level")
    question = SliceQuestion(
        rows=data,
        model=data.model_named(model),
        metric=what,
        rule=rule_for(what, method, clustered=data.cluster is not None),
        prevalence=_common_prevalence(data, prevalence),
        n_resamples=_validation.as_count(n_resamples, "n_resamples", minimum=2),
        rng=_validation.as_generator(rng),
    )
    cuts = cuts_of(data, columns, depth=depth, quantiles=quantiles)
    counted: list[Slice] = []
    small: list[Slice] = []
    members: list[Mask] = []
    for cut in cuts:
        for one, chosen in _counted(data, cut, least):
            (small if one.too_small else counted).append(one)
            if not one.too_small:
                members.append(chosen)
    found, critical = _tested(question, counted, members, least, level)
    return Slices(
        metric=str(what),
        title=str(what.title),
        by=columns,
        depth=depth,
        model=question.model,
        prevalence=question.prevalence,
        method=question.rule.name,
        confidence_level=level,
        critical_value=critical,
        min_positives=least,
        slices=tuple(found[index] for index in _rising([one.estimate for one in found])),
        too_small=tuple(small),
        with_prevalence=bool(what.with_prevalence),
    )


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


def _counted(rows: Rows, cut: Cut, least: int) -> list[tuple[Slice, Mask]]:
    """Count every slice of a cut, and say which are too small."""
    count = len(cut.names)
    size = np.bincount(cut.code, minlength=count)
    ours = np.bincount(cut.code[rows.positive], minlength=count)
    total, positive = size, ours
    if rows.weight is not None:
        total = np.bincount(cut.code, rows.weight, count)
        positive = np.bincount(cut.code, rows.weight * rows.positive, count)
    apart = [_independent(rows, cut, own) for own in (rows.positive, ~rows.positive)]
    found = []
    for index, names in enumerate(cut.names):
        one = Slice(
            levels=dict(zip(cut.columns, names, strict=True)),
            n_rows=int(size[index]),
            n_pos=int(ours[index]),
            n_neg=int(size[index] - ours[index]),
            prevalence=float(positive[index] / total[index]),
            too_small=bool(min(part[index] for part in apart) < least),
        )
        found.append((one, cut.code == index))
    return found


def _independent(rows: Rows, cut: Cut, own: Mask) -> IntArray:
    """Number of rows of a class in each slice; of clusters that have one, where there are some."""
    code = cut.code[own]
    if rows.cluster is not None:
        code = np.unique(code * rows.n_clusters + rows.cluster[own]) // rows.n_clusters
    return np.bincount(code, minlength=len(cut.names))


def _tested(
    question: SliceQuestion, counted: list[Slice], members: list[Mask], least: int, level: float
) -> tuple[list[Slice], float | None]:
    """Give every slice its interval and its difference from the rest."""
    if not counted:
        return [], None
    rows = question.rows
    parts = [part_of(question, chosen) for chosen in members]
    n_units = len(rows) if rows.cluster is None else rows.n_clusters
    covariance = covariance_between(parts, n_units)
    critical = (
        independent_critical_value(len(parts), level)
        if covariance is None
        else critical_value(covariance, level)
    )
    at = level_of(critical)
    tests = [
        _against_the_rest(question, part, chosen, least, n_units, at)
        for part, chosen in zip(parts, members, strict=True)
    ]
    raw = [_p_value(test, critical) if test is not None else 1.0 for test in tests]
    adjusted = iter(holm([p for p, test in zip(raw, tests, strict=True) if test is not None]))
    found = []
    for one, part, test, p_value in zip(counted, parts, tests, raw, strict=True):
        low, high = part.limits(at)
        found.append(
            one.with_results(
                interval=_interval(question, part.estimate, low, high, level),
                difference=None if test is None else _interval(question, *test, level),
                unadjusted_p_value=None if test is None else p_value,
                p_value=None if test is None else next(adjusted),
            )
        )
    return found, critical


def _interval(
    question: SliceQuestion, estimate: float, low: float, high: float, level: float
) -> Interval:
    return Interval(
        estimate=estimate,
        low=low,
        high=high,
        confidence_level=level,
        method=f"{question.rule.name}, simultaneous",
    )


def _against_the_rest(
    question: SliceQuestion, part: SlicePart, chosen: Mask, least: int, n_units: int, at: float
) -> tuple[float, float, float] | None:
    """Difference from the rest with its limits; None where the rest is too small."""
    whole = Cut((), [("slice",), ("rest",)], (~chosen).astype(np.int64))
    apart = (_independent(question.rows, whole, own) for own in _classes(question.rows))
    if min(int(count[1]) for count in apart) < least:
        return None
    rest = part_of(question, ~chosen)
    correlation = 0.0
    if question.rows.cluster is not None:
        shared = covariance_between([part, rest], n_units)
        scale = 0.0 if shared is None else math.sqrt(shared[0, 0] * shared[1, 1])
        correlation = float(shared[0, 1] / scale) if shared is not None and scale > 0 else 0.0
    return difference_limits(
        part.estimate, rest.estimate, part.limits(at), rest.limits(at), correlation
    )


def _classes(rows: Rows) -> tuple[Mask, Mask]:
    return rows.positive, ~rows.positive


def _p_value(test: tuple[float, float, float], critical: float) -> float:
    """Two-sided, with the standard error that the limit on the side of 0 stands for."""
    from scipy.special import ndtr

    difference, low, high = test
    distance = difference - low if difference > 0 else high - difference
    if difference == 0.0 or distance <= 0.0:
        return 1.0
    return 2.0 * float(ndtr(-abs(difference) * critical / distance))


def _rising(values: list[float]) -> list[int]:
    """Order of values, lowest first; those that differ by rounding only stay as they were."""
    return np.argsort(tied(values, 1.0), kind="stable").tolist() if values else []

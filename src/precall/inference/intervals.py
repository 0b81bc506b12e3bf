"""Intervals about one number: areas under curves, points on them, scores of a threshold."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import _validation
from .._rounding import TOLERANCE
from ..exceptions import InputError, ReliabilityWarning
from ..ranking import Ranking
from .evidence import ClosedForm, Folds, Replicates, closed_form, resampled
from .functionals import Metric
from .methods import INTERVALS, METHODS, PREVALENCE, RESAMPLING
from .resampling import Progress, resampler_for
from .result import MetricInterval, from_evidence

__all__ = [
    "INTERVALS",
    "METHODS",
    "MetricInterval",
    "aucpr_interval",
    "auroc_interval",
    "crossval_interval",
    "metric_interval",
]


def metric_interval(
    ranking: Ranking,
    *,
    metric: str = "aucpr",
    method: str | None = None,
    estimator: str = "average_precision",
    recall: Any = None,
    precision: float | None = None,
    threshold: float | None = None,
    beta: float = 1.0,
    at_prevalence: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    prevalence: str = "fixed",
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> MetricInterval:
    """Return an interval for any metric of one ranking.

    Parameters
    ----------
    ranking : Ranking
        With at least one row of each class.
    metric : str
        - ``aucpr``, ``aucnpr``: areas, with `estimator` and a range of `recall`;
        - ``auroc``, ``auprg``;
        - ``precision_at_recall``: the curve's precision at one `recall`, by default with limits
          recovered from those of the recall and of the number of negatives above (``mover``);
        - ``recall_at_precision``: the largest recall of a threshold whose precision is at least
          `precision`;
        - ``f_beta``: F-beta of the rows with ``score >= threshold``; ``beta=0`` is precision,
          and negatives between `threshold` and the next higher score of a positive, whose scores a
          ranking does not keep, count as below it.
    method : str, optional
        By default the first of :data:`METHODS` for the metric.
    at_prevalence : float, optional
        The metric as it would be at this known prevalence.
    confidence_level : float, default 0.95
    n_resamples : int, default 1000
        Replicates of the bootstrap methods.
    prevalence : {"fixed", "random"}
        Whether another sample would have the same numbers of positives and negatives, or the same
        number of rows with whatever classes they come to have.
    rng : None, int or Generator
        For the bootstrap methods; the result does not depend on the number of cores.
    progress : callable, optional
        Called as ``progress(done, total)`` while replicates are drawn.

    Returns
    -------
    MetricInterval
        An :class:`~precall.Interval`; :meth:`~MetricInterval.at_level` gives other levels. An
        estimate of exactly 0 or 1 has a one-sided interval: ``alpha**(1/n)`` to 1, or mirrored,
        where the method itself has nothing to say.

    Raises
    ------
    UndefinedMetricError
        If a class is empty.

    Warns
    -----
    ReliabilityWarning
        For auprg when the number of positives times the prevalence is under 1.

    Notes
    -----
    With weights, `influence` and its kin treat them as importance weights: squared in the variance
    and through Kish's effective sizes in the small-sample terms. How the bootstrap treats them:
    :class:`~precall.inference.resampling.RankingResampler`.

    Examples
    --------
    >>> import precall as pr
    >>> example = pr.load_example()
    >>> ranking = pr.rank(example.label, example.scores["gradient_boosting"])
    >>> pr.metric_interval(ranking, metric="precision_at_recall", recall=0.5)
    Interval(...)
    >>> pr.metric_interval(ranking, metric="aucnpr", at_prevalence=0.01).method
    'guarded'
    """
    _validation.require_ranking(ranking)
    _validation.require_progress(progress)
    what = Metric(
        name=metric,
        estimator=estimator,
        recall=recall,
        precision=precision,
        threshold=threshold,
        beta=beta,
    )
    options = METHODS[what.name]
    method = options[0] if method is None else _validation.as_choice(method, "method", options)
    prevalence = _validation.as_choice(prevalence, "prevalence", PREVALENCE)
    if at_prevalence is not None:
        if prevalence == "random":
            raise InputError(
                "at_prevalence is a known prevalence, so it cannot be prevalence='random': leave "
                "one of the two out."
            )
        ranking = ranking.at_prevalence(at_prevalence)
    functional = what.of(ranking)
    _warn_if_blind(what, ranking)
    estimate = functional.estimate(ranking)
    zero, one = functional.unit
    evidence: ClosedForm | Replicates
    if method in RESAMPLING:
        evidence = resampled(
            functional,
            method,
            ranking,
            resampler_for(functional, ranking, prevalence),
            n_resamples=_validation.as_count(n_resamples, "n_resamples", minimum=2),
            prevalence=prevalence,
            rng=_validation.as_generator(rng),
            progress=progress,
        )
        error = float(np.std(evidence.values, ddof=1))
        _warn_if_alike(evidence)
    else:
        evidence = closed_form(
            functional,
            method,
            ranking.cells,
            ranking.squares,
            sizes=ranking.effective_sizes,
            prevalence=prevalence,
            estimate=functional.to_unit(estimate),
        )
        error = evidence.error
    return from_evidence(what, method, estimate, (one - zero) * error, evidence, confidence_level)


def _warn_if_blind(metric: Metric, ranking: Ranking) -> None:
    """The gain area weighs recalls near the prevalence most; with n pi < 1 none was observed."""
    seen = ranking.effective_sizes[0] * ranking.prevalence
    if metric.name == "auprg" and seen < 1.0:
        warnings.warn(
            "the precision-recall-gain area depends most on recalls near the prevalence, where "
            f"{seen:.2g} positives are expected: its interval covers the truth far too rarely "
            "here; use aucpr or aucnpr.",
            ReliabilityWarning,
            stacklevel=3,
        )


def _warn_if_alike(evidence: Replicates) -> None:
    """A bootstrap that always draws the same value says nothing of how sure it is."""
    if np.ptp(evidence.values) <= TOLERANCE and not evidence.at_the_ends:
        warnings.warn(
            "every bootstrap replicate has the same value, so the interval has no width: that is "
            "not evidence of certainty; use method='guarded'.",
            ReliabilityWarning,
            stacklevel=3,
        )


def aucpr_interval(
    ranking: Ranking,
    *,
    method: str = "guarded",
    estimator: str = "average_precision",
    recall: tuple[float, float] = (0.0, 1.0),
    at_prevalence: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    prevalence: str = "fixed",
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> MetricInterval:
    """Return an interval for the area under the precision-recall curve.

    Parameters
    ----------
    ranking : Ranking
        With at least one row of each class.
    method : str, default "guarded"
        A name in :data:`precall.INTERVALS`. Formula intervals take no time; `bootstrap_percentile`
        serves every estimator but ``binormal``, `binomial` and `logit` serve all.
    estimator, recall
        As in :func:`precall.aucpr`.
    at_prevalence, confidence_level, n_resamples, prevalence, rng, progress
        As in :func:`precall.metric_interval`.

    Returns
    -------
    MetricInterval
        An :class:`~precall.Interval` with ``at_level``.

    References
    ----------
    Boyd, *Mitigating the risks of thresholdless metrics in machine learning evaluation*, 2014,
    section 4.3.3.

    Examples
    --------
    >>> import precall as pr
    >>> ranking = pr.rank([1, 1, 0, 1, 0, 1, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
    >>> pr.aucpr_interval(ranking, method="logit")
    Interval(0.854167, low=0.267181, high=0.989484, 95 %, logit)
    """
    return metric_interval(
        ranking,
        metric="aucpr",
        method=method,
        estimator=estimator,
        recall=recall,
        at_prevalence=at_prevalence,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        prevalence=prevalence,
        rng=rng,
        progress=progress,
    )


def auroc_interval(
    ranking: Ranking,
    *,
    method: str = "logit",
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> MetricInterval:
    """Return an interval for the area under the ROC curve.

    Parameters
    ----------
    ranking : Ranking
        With at least one row of each class.
    method : {"logit", "delong", "beta", "bootstrap_percentile", "bootstrap_bca", "bootstrap_t"}
        The first three have DeLong's variance: on the logit scale, on the plain scale, and as the
        exact binomial limits of as many trials as the variance is worth. With few positives and an
        AUROC near 1 the first two fall short (.87 at the lowest); ``beta`` did not (.95).
    confidence_level, n_resamples, rng, progress
        As in :func:`precall.metric_interval`.

    Notes
    -----
    When every positive outranks every negative the variance is 0. The limit is then exact: k =
    min(n, m) pairs without a common row are all in order with probability at most ``AUROC**k``, so
    ``alpha**(1/k)`` is a lower limit.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson, *Comparing the areas under two or more correlated receiver
    operating characteristic curves*, 1988.

    Examples
    --------
    >>> import precall as pr
    >>> ranking = pr.rank([1, 1, 0, 1, 0, 0], [6, 5, 4, 3, 2, 1])
    >>> pr.auroc_interval(ranking)
    Interval(0.888889, low=0.261373, high=0.994501, 95 %, logit)
    """
    return metric_interval(
        ranking,
        metric="auroc",
        method=method,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        rng=rng,
        progress=progress,
    )


def crossval_interval(
    folds: Iterable[Ranking],
    *,
    metric: str = "aucpr",
    estimator: str = "average_precision",
    recall: Any = None,
    precision: float | None = None,
    threshold: float | None = None,
    beta: float = 1.0,
    confidence_level: float = 0.95,
) -> MetricInterval:
    """Return the interval about the mean of the folds of a cross-validation.

    ``mean -+ t s / sqrt(k)`` with the t quantile of k - 1 degrees of freedom. It is what many
    papers print, and it is often far from its level: every fold is small, so every fold's area is
    biased upwards, and the mean of the folds is as biased as one of them. Prefer
    :func:`precall.aucpr_interval` on a test set.

    Parameters
    ----------
    folds : iterable of Ranking
        At least two.
    metric, estimator, recall, precision, threshold, beta, confidence_level
        As in :func:`precall.metric_interval`.

    Examples
    --------
    >>> import precall as pr
    >>> folds = [
    ...     pr.rank([1, 1, 0, 0], scores) for scores in ([4, 3, 2, 1], [4, 2, 3, 1], [4, 1, 3, 2])
    ... ]
    >>> interval = pr.crossval_interval(folds)
    >>> round(interval.estimate, 4), interval.high
    (0.8611, 1.0)
    """
    what = Metric(
        name=metric,
        estimator=estimator,
        recall=recall,
        precision=precision,
        threshold=threshold,
        beta=beta,
    )
    functionals = [
        (what.of(fold), fold) for fold in _validation.as_rankings(folds, "folds", minimum=2)
    ]
    values = np.array([functional.estimate(fold) for functional, fold in functionals])
    evidence = Folds(values=values, bounds=functionals[0][0].bounds)
    return from_evidence(
        what, "crossval", float(values.mean()), evidence.error, evidence, confidence_level
    )

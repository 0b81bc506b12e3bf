"""Intervals about one number: areas under curves, points on them, scores of a threshold."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import _validation
from ..exceptions import ReliabilityWarning
from ..metrics import Metric, as_metric
from ..ranking import Ranked, Ranking, as_ranked, own_answer
from .resampling import Progress
from .result import MetricInterval, from_evidence
from .rules import Rule, rule_for, rules_of
from .rules.rule import Case, Formula
from .sampling import varying_prevalence

__all__ = ["MetricInterval", "interval"]


def interval(
    data: Any,
    metric: Metric | type[Metric] | str = "aucpr",
    *,
    model: str | None = None,
    method: str | None = None,
    confidence_level: float = 0.95,
    sampling: str | None = None,
    prevalence: float | None = None,
    n_resamples: int = 1000,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> MetricInterval:
    """Return an interval for a metric.

    Parameters
    ----------
    data : Ranking, Rows or audit.Sample
        With at least one row of each class. With :class:`~precall.Rows` that have clusters the
        formulas add up the influence values of a cluster's rows, and the bootstrap draws whole
        clusters: rows that repeat each other make it wider, as they should.
        A :class:`~precall.audit.Sample` answers for its whole population, from the labels it has.
    metric : Metric or str, default "aucpr"
        From :mod:`precall.metrics`, or its words, such as ``"precision_at_recall(0.8)"``.
    model : str, optional
        Which model, where the rows have several.
    method : str, optional
        The name of a rule that fits the metric: :func:`precall.inference.rules.rules_of` lists
        them, the default first. Those of areas are in :data:`precall.INTERVALS`. Formulas take no
        time.
    confidence_level : float, default 0.95
    sampling : {"rows", "classes"}, optional
        ``rows``: rows came as they came, so that another sample of as many would have other numbers
        of positives and negatives; the default. ``classes``: each class was sampled by itself, and
        its number is part of the design; the default where `prevalence` is given.
    prevalence : float, optional
        The known prevalence that the answer is about: the metric as it would be there.
    n_resamples : int, default 1000
        Replicates of the bootstrap methods.
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
    :class:`~precall.inference.resampling.RankingResampler`. To resample unequal weights exactly,
    give :class:`~precall.Rows` in which each row is its own cluster.

    References
    ----------
    Boyd, *Mitigating the risks of thresholdless metrics in machine learning evaluation*, 2014,
    section 4.3.3; DeLong, DeLong & Clarke-Pearson, *Comparing the areas under two or more
    correlated receiver operating characteristic curves*, 1988.

    Examples
    --------
    >>> import precall as pr
    >>> ranking = pr.rank([1, 1, 0, 1, 0, 1, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
    >>> pr.interval(ranking, method="logit")
    Interval(0.854167, low=0.267181, high=0.989484, 95 %, logit)
    >>> pr.interval(ranking, "precision_at_recall(0.5)", prevalence=0.01).method
    'mover'
    >>> example = pr.load_example()
    >>> rows = pr.Rows(example.label, example.scores, clusters=example.label.cumsum())
    >>> pr.interval(rows, pr.metrics.auroc, model="gradient_boosting").method
    'beta'
    """
    what = as_metric(metric)
    _validation.require_progress(progress)
    if (own := own_answer(data, "interval")) is not None:
        found: MetricInterval = own(
            what,
            model=model,
            method=method,
            confidence_level=confidence_level,
            sampling=sampling,
            prevalence=prevalence,
        )
        return found
    varying = varying_prevalence(sampling, prevalence)
    rule = rule_for(what, method, clustered=getattr(data, "cluster", None) is not None)
    counted = what.only_counts and rule.only_counts
    sample = as_ranked(data, model, what.thresholds, missed=True, counted=counted)
    what.require_all_scored(sample.ranking)
    what.check_scores(sample.rows, model)
    if prevalence is not None:
        sample = _at_prevalence(sample, prevalence)
    _warn_if_blind(what, sample.ranking)
    case = Case(
        sample=sample,
        metric=what.on_both_classes(sample.ranking),
        varying=varying,
        n_resamples=_validation.as_count(n_resamples, "n_resamples", minimum=2),
        rng=rng,
        progress=progress,
    )
    return _by_rule(rule, what, case, confidence_level)


def usual_interval(ranking: Ranking, metric: Metric, *, varying: bool) -> MetricInterval | None:
    """Return the default interval of a ranking at 95 %; None where it is no formula, but drawn."""
    rule = next(iter(rules_of(metric).values()), None)
    if not isinstance(rule, Formula):
        return None
    sample = as_ranked(ranking, None, metric.thresholds, missed=True)
    case = Case(
        sample=sample,
        metric=metric.on_both_classes(sample.ranking),
        varying=varying,
        n_resamples=0,
        rng=None,
        progress=None,
    )
    return _by_rule(rule, metric, case, 0.95)


def _by_rule(rule: Rule, metric: Metric, case: Case, level: object) -> MetricInterval:
    evidence = rule.evidence(case)
    zero, one = case.metric.unit
    error = (one - zero) * evidence.error
    return from_evidence(metric, rule.name, case.value, error, evidence, level)


def _at_prevalence(sample: Ranked, prevalence: float) -> Ranked:
    rows = sample.rows and sample.rows.at_prevalence(prevalence)
    return Ranked(sample.ranking.at_prevalence(prevalence), rows, sample.place)


def _warn_if_blind(metric: Metric, ranking: Ranking) -> None:
    """Let a metric say where too little was observed for its interval."""
    if warning := metric.blind_spot(ranking):
        warnings.warn(warning, ReliabilityWarning, stacklevel=3)

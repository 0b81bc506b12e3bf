"""From labels and scores, or from rankings, to an :class:`Evaluation`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import _threads, _validation
from ..exceptions import InputError
from ..inference.comparison import Comparison
from ..metrics import Metric, as_metric, aucpr, expected_cost
from ..ranking import Ranking
from ..ranking.checks import as_ranking
from ..ranking.ranking_set import RankingSet
from ..rows import Rows, as_rows
from . import wording
from .answer import answer
from .by_group import group_evaluations, group_sets, group_slices, group_slices_of_sets
from .decisions import Decisions, decision_values
from .findings import find, with_decisions
from .measures import Intervals, intervals_of, measure, shown_metrics
from .model_result import ModelEvaluation, ranked_models
from .over_time import over_time
from .prevalences import elsewhere
from .quiet import quietly
from .results import Evaluation
from .settings import Settings

# Slices, bands, comparisons and windows are loaded where they are asked for: starting takes longer
# than evaluating a small file.
if TYPE_CHECKING:
    from ..groups.slices_result import Slices
    from ..inference.bands import Band
    from ..monitoring.windows import Windows

Progress = Callable[[str], object]

# What is computed of thresholds are many short steps, between which threads wait for the
# interpreter: a second one pays from twice as many thresholds on as rows that are sorted.
_ROWS_PER_THRESHOLD = 0.5

# Beyond this, bands around differences take seconds each.
_MANY_ROWS = 200_000


def evaluate(
    data: object,
    scores: object = None,
    *,
    sample_weight: object = None,
    groups: object = None,
    group_names: Mapping[Any, str] | None = None,
    clusters: object = None,
    pos_label: object = 1,
    confidence_level: float = 0.95,
    recall: float = 0.8,
    metrics: Iterable[Metric | type[Metric] | str] = (),
    prevalence: float | None = None,
    net_benefit: bool = False,
    cost_ratio: float | None = None,
    time: object = None,
    every: object = None,
    seed: int = 0,
    curves: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate one or several models on the same rows, and put the results into words.

    Parameters
    ----------
    data : Rows or array-like
        Rows, or the labels; then `scores`, `sample_weight`, `clusters` and `pos_label` are those of
        :class:`precall.Rows`.
    scores : array-like or mapping from name to array-like, optional
        The scores of each model, where `data` are labels.
    groups : str or array-like, optional
        Rows of one group are also evaluated by themselves, and against the others with intervals
        that hold for all groups at once, as in :func:`precall.slices`: the name of a column of the
        rows, or the group of each row.
    group_names : mapping, optional
        Names to show for the values in `groups`.
    confidence_level : float, default 0.95
        Of every interval.
    recall : float, default 0.8
        Recall at which precision is reported.
    metrics : iterable of Metric or str
        Metrics to show beside those that are always shown.
    prevalence : float, optional
        The known prevalence that the answer is about, where it is not that of the data: every
        measure, promise and comparison is as it would be there.
    net_benefit : bool, default False
        Whether to show what decisions by the scores are worth, over all threshold probabilities.
        The scores have to be probabilities; whether they are calibrated is said beside it.
    cost_ratio : float, optional
        What a miss costs over a false alarm: the expected cost is shown too.
    time : str or array-like, optional
        When each row happened: the name of a column of the rows, or numbers or dates. AUCPR is then
        shown window by window as well, as in :func:`precall.monitoring.windows`, with limits that
        hold for all windows and models at once.
    every : str, number or timedelta, optional
        Length of a window, as there.
    seed : int, default 0
        For the draws of the bands.
    curves : bool, default False
        Compare whole curves too: a band around the difference between the best model and each
        other one.
    progress : callable, optional
        Called with a few words before each step.

    Returns
    -------
    Evaluation
        Also for data with one class only or with no rows worth a chart: it then says why. Warnings
        about the data are among its findings and are not given as Python warnings.

    Examples
    --------
    >>> import precall as pr
    >>> example = pr.load_example()
    >>> result = pr.evaluate(example.label, {"points": example.scores["scorecard"]})
    >>> result
    Evaluation(4000 rows, 78 positive, AUCPR: points=...)
    >>> result.findings[0].text[:40]
    '47.2 % of the rows share their score wit'
    >>> import tempfile
    >>> path = result.report(f"{tempfile.mkdtemp()}/page.html")
    >>> path.name
    'page.html'
    """
    rows = as_rows(
        data, scores, sample_weight=sample_weight, clusters=clusters, pos_label=pos_label
    )
    settings = _settings(
        confidence_level,
        recall,
        seed,
        rows.cluster is not None,
        len(rows.names),
        metrics,
        prevalence,
    )
    _validation.require_progress(progress)
    curves = _validation.as_flag(curves, "curves")
    asked = Decisions(
        _validation.as_flag(net_benefit, "net_benefit"),
        None if cost_ratio is None else expected_cost(cost_ratio).cost_ratio,
    )
    say: Progress = progress if progress is not None else lambda words: None
    titles = wording.clean_names(rows.names)
    with quietly():
        say("ranking")
        # Places and parts need the order of the rows, and the ranking then follows from it.
        ordered = len(rows.names) > 1 or rows.cluster is not None or groups is not None
        ranked = partial(_ranked, rows, ordered=ordered)
        _threads.in_threads([partial(ranked, name) for name in rows.names], len(rows))
        builds = [
            partial(_model_of_rows, rows, name, title, settings)
            for name, title in zip(rows.names, titles, strict=True)
        ]
        # Clusters count row by row.
        steps = len(rows) if rows.cluster is not None else _steps(rows[name] for name in rows.names)
        models = _threads.in_threads(builds, steps)
        several = len(models) > 1 and models[0].has_both_classes
        several = several and not models[0].few_positives
        say("comparing" if several else "evaluating")
        tasks: list[Callable[[], Any]] = [
            partial(_compared, rows, settings) if several else lambda: None,
            partial(group_sets, rows, groups),
            partial(group_slices, rows, groups, group_names, settings)
            if groups is not None and models[0].has_both_classes
            else tuple,
            partial(_difference_bands, rows, models, settings)
            if several and curves and rows.weight is None and settings.prevalence is None
            else dict,
            partial(over_time, rows, time, every, settings)
            if time is not None and models[0].has_both_classes
            else tuple,
        ]
        comparison, per_group, slices, bands, windows = _threads.in_threads(tasks, len(rows))
    evaluation = _finished(
        models, comparison, per_group, group_names, settings, bands, slices, windows
    )
    if not (asked and models[0].has_both_classes):
        return evaluation
    say("weighing decisions")
    with quietly():
        values = decision_values(rows, dict(zip(rows.names, titles, strict=True)), asked, settings)
    return with_decisions(evaluation, values)


def evaluate_rankings(
    rankings: Mapping[str, Ranking],
    *,
    groups: Mapping[str, RankingSet] | None = None,
    confidence_level: float = 0.95,
    recall: float = 0.8,
    metrics: Iterable[Metric | type[Metric] | str] = (),
    prevalence: float | None = None,
    seed: int = 0,
) -> Evaluation:
    """Evaluate models whose rows are not at hand, such as rankings from an engine.

    Everything is as from :func:`evaluate`, except that models cannot be compared row by row.

    Parameters
    ----------
    rankings : mapping from name to Ranking
    groups : mapping from name to RankingSet, optional
        The same models ranked group by group. Groups are slices, as from :func:`evaluate`; each is
        compared with the rows outside of it where it was counted at the thresholds that this takes
        (``rest_thresholds`` in ``precall.groups.slices_of_rankings``).
    confidence_level, recall, metrics, prevalence, seed
        As in :func:`evaluate`.

    Examples
    --------
    >>> import precall as pr
    >>> from precall.evaluation import evaluate_rankings
    >>> evaluate_rankings({"a": pr.rank([1, 0, 1, 0, 0], [5, 4, 3, 2, 1])})
    Evaluation(5 rows, 2 positive, AUCPR: a=0.83)
    """
    if not rankings:
        raise InputError("rankings must be a mapping from at least one name to a Ranking.")
    rankings = {name: as_ranking(ranking) for name, ranking in rankings.items()}
    settings = _settings(confidence_level, recall, seed, False, len(rankings), metrics, prevalence)
    titles = wording.clean_names(list(rankings))
    with quietly():
        models = [
            _model(name, title, ranking, settings, intervals_of(ranking, settings))
            for title, (name, ranking) in zip(titles, rankings.items(), strict=True)
        ]
    slices: tuple[Slices, ...] = ()
    if groups is None:
        return _finished(models, None, [], None, settings, {})
    from ..groups.slices_of_rankings import of_positives

    if models[0].has_both_classes:
        slices = group_slices_of_sets(rankings, groups, settings)
    per_group = [of_positives(groups[name]) for name in rankings]
    return _finished(models, None, per_group, None, settings, {}, slices)


def _settings(
    confidence_level: object,
    recall: object,
    seed: object,
    clustered: bool,
    candidates: int,
    metrics: Iterable[Any] = (),
    prevalence: object = None,
) -> Settings:
    if isinstance(metrics, (str, Metric, type)):
        metrics = (metrics,)
    given: Any = metrics
    if not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0:
        raise InputError(f"metrics must be a list of metrics, got {metrics!r}.")
    return Settings(
        confidence_level=_validation.as_fraction(confidence_level, "confidence_level"),
        recall=_validation.as_fraction(recall, "recall"),
        seed=_validation.as_count(seed, "seed"),
        clustered=clustered,
        candidates=candidates,
        metrics=tuple(as_metric(metric) for metric in metrics),
        prevalence=None if prevalence is None else _validation.as_prevalence(prevalence),
    )


def _steps(rankings: Iterable[Ranking]) -> int:
    """As many rows as take as long to sort as these thresholds take."""
    return int(_ROWS_PER_THRESHOLD * sum(len(ranking) for ranking in rankings))


def _ranked(rows: Rows, name: str, *, ordered: bool) -> Ranking:
    if ordered:
        rows.order(name)
    return rows[name]


def _model_of_rows(rows: Rows, name: str, title: str, settings: Settings) -> ModelEvaluation:
    model = _model(name, title, rows[name], settings, intervals_of(rows, settings, name))
    return model if rows.cluster is None else replace(model, rows=rows)


def _compared(rows: Rows, settings: Settings) -> Comparison:
    from ..inference.compare import compare

    return compare(
        rows,
        prevalence=settings.prevalence,
        confidence_level=settings.confidence_level,
        rng=settings.seed,
    )


def _difference_bands(
    rows: Rows, models: list[ModelEvaluation], settings: Settings
) -> dict[str, Band]:
    """The best model against the next two; on large data against the next one only."""
    from ..inference.bands import difference_band

    ordered = ranked_models(models)
    best, others = ordered[0].name, [model.name for model in ordered[1:]]
    large = len(rows) > _MANY_ROWS
    free = rows.unclustered()
    return {
        name: difference_band(
            free,
            candidate=best,
            baseline=name,
            confidence_level=settings.confidence_level,
            n_resamples=1000 if large else 2000,
            rng=settings.seed,
        )
        for name in others[: 1 if large else 2]
    }


def _model(
    name: str, title: str, ranking: Ranking, settings: Settings, intervals: Intervals
) -> ModelEvaluation:
    shown = shown_metrics(settings.recall)
    there = elsewhere(ranking, settings.prevalence)
    asked = {metric.name: metric for metric in shown}
    asked |= {str(metric): metric for metric in settings.metrics if metric not in shown}
    found = _threads.each_in_threads(
        lambda metric: measure(metric, there, intervals),
        list(asked.values()),
        _steps([ranking]),
    )
    measures = dict(zip(asked, found, strict=True))
    effect = None
    clustered = measures["aucpr"].interval
    if settings.clustered and clustered is not None:
        independent = intervals_of(ranking, settings)(aucpr())
        effect = clustered.width / independent.width
    return ModelEvaluation(
        name=name,
        title=title,
        ranking=ranking,
        measures=measures,
        settings=settings,
        cluster_effect=effect,
    )


def _finished(
    models: list[ModelEvaluation],
    comparison: Comparison | None,
    per_group: list[RankingSet],
    group_names: Mapping[Any, str] | None,
    settings: Settings,
    difference_bands: Mapping[str, Band],
    slices: tuple[Slices, ...] = (),
    windows: tuple[Windows, ...] = (),
) -> Evaluation:
    groups, left_out = group_evaluations(per_group, group_names, settings)
    evaluation = Evaluation(
        models=tuple(models),
        comparison=comparison,
        groups=groups,
        left_out=left_out,
        slices=slices,
        windows=windows,
        difference_bands=difference_bands,
        settings=settings,
    )
    with quietly():
        tasks: list[Callable[[], Any]] = [
            partial(find, evaluation, per_group),
            partial(answer, evaluation),
        ]
        findings, said = _threads.in_threads(tasks, _steps(model.ranking for model in models))
    return replace(evaluation, findings=findings, answer=said)

"""Intervals when rows belong together: patients with several images, users with several clicks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from ..ranking import Cells
from .evidence import ClosedForm, Replicates, closed_form
from .functionals import Functional, Metric
from .influence import gradient, prevalence_slope
from .methods import METHODS, PREVALENCE
from .resampling import Progress, replicate
from .result import MetricInterval, from_evidence
from .units import (
    Rows,
    Units,
    check_rows,
    contributions,
    covariance_of,
    effective_sizes,
    locate,
    rank_rows,
    rebalanced,
    row_values,
)

# What is defined for clusters: formulas with a variance of their own, and plain quantiles.
_METHODS = ("mover", "guarded", "influence", "logit", "beta", "delong", "bootstrap_percentile")


def cluster_interval(
    y_true: object,
    y_score: object,
    clusters: object,
    *,
    metric: str = "aucpr",
    method: str | None = None,
    estimator: str = "average_precision",
    recall: Any = None,
    precision: float | None = None,
    threshold: float | None = None,
    beta: float = 1.0,
    sample_weight: object = None,
    pos_label: object = 1,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    prevalence: str = "fixed",
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> MetricInterval:
    """Return an interval when rows of one cluster are not independent of each other.

    The formula methods add up the influence values of a cluster's rows; the bootstrap draws whole
    clusters, without sorting again. Rows that repeat each other make an interval from
    :func:`precall.aucpr_interval` too narrow, this one not.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As in :func:`precall.rank`.
    clusters : array-like
        The cluster of every row: numbers or strings, at least two different ones. With
        ``range(len(y_true))`` every row is its own, which resamples weighted rows exactly.
    metric, estimator, recall, precision, threshold, beta
        As in :func:`precall.metric_interval`.
    method : str, optional
        ``guarded`` (the default for areas), ``influence``, ``bootstrap_percentile``; for auroc
        ``logit`` (the default), ``delong`` and ``beta``, with the variance of Obuchowski (1997);
        for precision_at_recall ``mover`` (the default).
    confidence_level, n_resamples, rng, progress
        As in :func:`precall.metric_interval`.
    prevalence : {"fixed", "random"}
        With ``fixed``, clusters of one class are drawn class by class; clusters of both classes are
        drawn together and each replicate's negatives weighted to the sample's prevalence.

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> example = pr.load_example()
    >>> label, score = example.label, example.scores["gradient_boosting"]
    >>> customer = np.arange(label.size) // 2
    >>> twice = pr.cluster_interval(
    ...     np.repeat(label, 2), np.repeat(score, 2), np.repeat(np.arange(label.size), 2)
    ... )
    >>> once = pr.aucpr_interval(pr.rank(label, score))
    >>> abs(twice.standard_error / once.standard_error - 1) < 0.02
    True
    """
    what = Metric(
        name=metric,
        estimator=estimator,
        recall=recall,
        precision=precision,
        threshold=threshold,
        beta=beta,
    )
    options = [name for name in METHODS[what.name] if name in _METHODS and _defined(what, name)]
    method = options[0] if method is None else _validation.as_choice(method, "method", options)
    prevalence = _validation.as_choice(prevalence, "prevalence", PREVALENCE)
    n_resamples = _validation.as_count(n_resamples, "n_resamples", minimum=2)
    _validation.require_progress(progress)
    rows, scores = check_rows(y_true, sample_weight, clusters, pos_label, {"y_score": y_score})
    ranking = rank_rows(rows, scores["y_score"])
    functional = what.of(ranking)
    place = locate(ranking.threshold, scores["y_score"])
    sizes = effective_sizes(rows)
    estimate = functional.estimate(ranking)
    zero, one = functional.unit
    evidence: ClosedForm | Replicates
    if method == "bootstrap_percentile":
        units = Units(rows, [place], [len(ranking)], together=prevalence == "random")
        drawn = draw_cells(
            units,
            [functional],
            odds=None if prevalence == "random" else ranking.n_pos / ranking.n_neg,
            n_resamples=n_resamples,
            rng=_validation.as_generator(rng),
            progress=progress,
        )
        evidence = Replicates(
            functional=functional,
            method=method,
            estimate=float(functional.to_unit(estimate)),
            values=functional.to_unit(drawn[0]),
            sizes=sizes,
        )
        error = float(np.std(evidence.values, ddof=1))
    else:
        evidence = closed_form(
            functional,
            method,
            ranking.cells,
            ranking.squares,
            sizes=sizes,
            prevalence=prevalence,
            estimate=functional.to_unit(estimate),
            # The parts of mover know clusters by their effective sizes.
            variance=None
            if method == "mover"
            else _variance(functional, rows, place, ranking.cells, sizes, prevalence),
        )
        error = evidence.error
    return from_evidence(what, method, estimate, (one - zero) * error, evidence, confidence_level)


def _defined(metric: Metric, method: str) -> bool:
    """The logit method of areas knows only the number of positives, so clusters would be lost."""
    return method != "logit" or metric.name == "auroc"


def _variance(
    functional: Functional,
    rows: Rows,
    place: npt.NDArray[np.int64],
    cells: Cells,
    sizes: tuple[float, float],
    prevalence: str,
) -> float:
    """Variance from the influence values summed in clusters, on the unit scale."""
    slope = float(prevalence_slope(functional, cells)) if prevalence == "random" else 0.0
    values = contributions(rows, place, gradient(functional, cells), slope)
    variance = float(covariance_of(rows, values[:, np.newaxis], sizes)[0, 0])
    if functional.metric.name != "auroc":
        variance += _top_cluster(rows, place, gradient(functional, cells)) ** 2
    zero, one = functional.unit
    return variance / (one - zero) ** 2


def _top_cluster(rows: Rows, place: npt.NDArray[np.int64], values: Cells) -> float:
    """What the negatives of the cluster with the top-ranked negative contribute together.

    Measured from a negative below every positive. At least what one row of average weight does
    there: the top-ranked one may happen to weigh little.
    """
    negative = ~rows.positive
    weight = np.ones(place.size) if rows.weight is None else rows.weight
    weight, place = weight[negative], place[negative]
    excess = row_values(place, np.zeros(place.size, dtype=np.bool_), values) - values.below
    top = place == place.min()
    cluster = np.arange(place.size) if rows.cluster is None else rows.cluster[negative]
    sums = np.bincount(cluster, weight * excess)
    one_row = excess[top][0] * np.sum(weight**2) / np.sum(weight)
    return float(max(np.abs(sums[cluster[top]]).max(), abs(one_row)))


def draw_cells(
    units: Units,
    functionals: list[Functional],
    *,
    odds: float | None,
    n_resamples: int,
    rng: np.random.Generator,
    progress: Progress | None,
) -> npt.NDArray[np.float64]:
    """Return replicates of every model's metric, (models, replicates).

    `odds` keeps the prevalence where clusters hold both classes.
    """
    models = _Models(units, functionals, odds if units.mixed else None)
    replicates: npt.NDArray[np.float64] = replicate(
        models, models.statistic, n_resamples, rng=rng, progress=progress
    )
    return replicates


class _Models:
    """A resampler whose replicates are numbers of draws; the statistic turns them into metrics."""

    def __init__(self, units: Units, functionals: list[Functional], odds: float | None) -> None:
        self._units, self._functionals, self._odds = units, functionals, odds
        self.n_cells = units.n_cells

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Any, Cells | None]:
        """Draw units until every replicate has both classes."""
        drawn = self._units.draw(rng, size)
        while True:
            cells = self._units.cells(drawn)
            n = np.sum(cells.positives, axis=-1)
            m = np.sum(cells.above, axis=-1) + np.sum(cells.tied, axis=-1) + cells.below
            empty = np.flatnonzero((n == 0) | (m == 0))
            if not empty.size:
                return drawn, None
            drawn[empty] = self._units.draw(rng, empty.size)

    def statistic(self, drawn: Any, _: Cells | None) -> npt.NDArray[np.float64]:
        """Metric of every model in every replicate."""
        values = []
        for model, functional in enumerate(self._functionals):
            cells = self._units.cells(drawn, model)
            if self._odds is not None:
                cells = rebalanced(cells, self._odds)
            values.append(functional.value(cells))
        return np.stack(values)

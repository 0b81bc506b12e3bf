"""Which of several models is better on the same rows, by how much, and how surely."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._interval import Interval
from .._notebook import Rich
from .._rounding import TOLERANCE, falling, settled
from .._words import plural
from ..exceptions import InputError, ReliabilityWarning
from ..ranking import Ranking
from .clusters import draw_cells
from .functionals import Functional, Metric
from .influence import gradient, has_gradient, prevalence_slope
from .methods import PREVALENCE
from .permutation import swap_differences
from .resampling import Progress
from .significance import bootstrap_test, holm, probability_best, share_best, student_test
from .units import (
    Rows,
    Units,
    check_rows,
    contributions,
    covariance_of,
    effective_sizes,
    locate,
    rank_rows,
)

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
Pair = tuple[str, str]

#: Metrics that models can be compared by.
COMPARED_METRICS = (
    "aucpr",
    "aucnpr",
    "auroc",
    "auprg",
    "precision_at_recall",
    "recall_at_precision",
)
COMPARISONS = ("influence", "bootstrap", "permutation")
#: Distributions that the statistic of the influence test can be referred to.
DISTRIBUTIONS = ("t", "normal")
_FEW_POSITIVES = 20


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Comparison(Rich):
    """Models compared on the same rows.

    Attributes
    ----------
    metric, method : str
    estimates : dict
        Metric of each model, by name.
    differences : dict
        First minus second, by pair of names, in the order in which the models were given.
    intervals : dict
        An interval for each difference, each at `confidence_level` by itself. With ``permutation``
        they are those of ``influence`` (of ``bootstrap`` where that is not defined): permutations
        test, they do not estimate.
    p_values : dict
        Two-sided, adjusted over all pairs by Holm's method.
    unadjusted_p_values : dict
    covariance : array
        Of the estimates, in the order of `estimates`.
    probability_best : dict
        Probability that each model is the best of them: from the joint normal law of the estimates,
        or the share of replicates in which it is, ties shared.
    confidence_level : float
    """

    metric: str
    method: str
    estimates: dict[str, float]
    differences: dict[Pair, float]
    intervals: dict[Pair, Interval]
    p_values: dict[Pair, float]
    unadjusted_p_values: dict[Pair, float]
    covariance: FloatArray
    probability_best: dict[str, float]
    confidence_level: float

    @property
    def ranked(self) -> list[str]:
        """Names of the models, best estimate first; of equal ones, the one given first."""
        names = list(self.estimates)
        return [names[index] for index in falling(list(self.estimates.values()))]

    @property
    def standard_errors(self) -> dict[str, float]:
        """Standard error of each estimate."""
        errors = np.sqrt(np.diag(self.covariance))
        return dict(zip(self.estimates, errors.tolist(), strict=True))

    def __repr__(self) -> str:
        """Return one line: the estimates, then the pair of the two best."""
        told = ", ".join(f"{name}={self.estimates[name]:.4g}" for name in self.ranked)
        first, second = self.ranked[:2]
        pair = (first, second) if (first, second) in self.differences else (second, first)
        interval = self.intervals[pair]
        return (
            f"Comparison({self.metric}: {told}; {pair[0]} - {pair[1]} = {interval.estimate:.4g} "
            f"[{interval.low:.4g}, {interval.high:.4g}], p={self.p_values[pair]:.3g}, "
            f"{self.method})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary; pairs become a list."""
        return {
            "metric": self.metric,
            "method": self.method,
            "confidence_level": self.confidence_level,
            "estimates": dict(self.estimates),
            "standard_errors": self.standard_errors,
            "probability_best": dict(self.probability_best),
            "covariance": self.covariance.tolist(),
            "pairs": [
                {
                    "first": pair[0],
                    "second": pair[1],
                    "difference": self.differences[pair],
                    "low": self.intervals[pair].low,
                    "high": self.intervals[pair].high,
                    "p_value": self.p_values[pair],
                    "unadjusted_p_value": self.unadjusted_p_values[pair],
                }
                for pair in self.differences
            ],
        }


def compare(
    y_true: object,
    scores: Mapping[str, object],
    *,
    metric: str = "aucpr",
    method: str = "influence",
    distribution: str = "t",
    estimator: str = "average_precision",
    recall: Any = None,
    precision: float | None = None,
    clusters: object = None,
    sample_weight: object = None,
    pos_label: object = 1,
    prevalence: str = "fixed",
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare two or more models on the same rows.

    Parameters
    ----------
    y_true : array-like
        Labels, as in :func:`precall.rank`.
    scores : mapping from name to array-like
        The scores of each model, at least two models.
    metric : str
        ``aucpr`` or ``aucnpr`` (with `estimator` and a range of `recall`), ``auroc``, ``auprg``,
        ``precision_at_recall`` (with `recall`), ``recall_at_precision`` (with `precision`).
    method : {"influence", "bootstrap", "permutation"}
        - ``influence``: a test of the difference of the influence values of each row. No
          resampling; when the metric is auroc, difference and standard error are those of the
          paired test of DeLong et al.
        - ``bootstrap``: rows (or clusters) drawn with replacement, the same for all models.
        - ``permutation``: the two models' ranks swapped at random row by row. Its null hypothesis
          is stronger than equal areas: the two models' ranks are exchangeable in every row. Two
          models with equal areas and differently shaped curves are not; it may then reject.
    distribution : {"t", "normal"}
        What the difference over its standard error is compared with, in p-values and intervals of
        influence values. ``t`` has as many degrees of freedom as there are positives, less one: the
        standard error is estimated too, and with ``normal`` a test of average precision at level
        .05 rejects up to .069 of true null hypotheses. With ``normal`` and the metric auroc the
        numbers are those that other tools print for DeLong's test, such as R's pROC.
    clusters : array-like, optional
        Rows that belong together are taken together, as in :func:`precall.cluster_interval`.
    sample_weight, pos_label
        As in :func:`precall.rank`.
    prevalence : {"fixed", "random"}
        As in :func:`precall.metric_interval`.
    confidence_level, n_resamples, rng, progress
        As in :func:`precall.metric_interval`.

    Returns
    -------
    Comparison

    Warns
    -----
    ReliabilityWarning
        With fewer than 20 positives.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson 1988; Holm, *A simple sequentially rejective multiple test
    procedure*, 1979; Bandos, Rockette & Gur, *A permutation test sensitive to differences in areas
    for comparing ROC curves from a paired design*, 2005.

    Examples
    --------
    >>> import precall as pr
    >>> example = pr.load_example()
    >>> result = pr.compare(example.label, example.scores)
    >>> result
    Comparison(aucpr: ...)
    >>> len(result.differences) == len(result.estimates) * (len(result.estimates) - 1) // 2
    True
    """
    metric = _validation.as_choice(metric, "metric", COMPARED_METRICS)
    what = Metric(name=metric, estimator=estimator, recall=recall, precision=precision)
    method = _validation.as_choice(method, "method", COMPARISONS)
    distribution = _validation.as_choice(distribution, "distribution", DISTRIBUTIONS)
    prevalence = _validation.as_choice(prevalence, "prevalence", PREVALENCE)
    level = _validation.as_fraction(confidence_level, "confidence_level")
    _validation.require_progress(progress)
    n_resamples = _validation.as_count(n_resamples, "n_resamples", minimum=2)
    names = list(_require_models(scores))
    labelled = {f"scores[{name!r}]": values for name, values in scores.items()}
    rows, columns = check_rows(y_true, sample_weight, clusters, pos_label, labelled)
    models = _Models.rank(what, rows, columns)
    _warn_if_few(models.sizes[0], method)
    generator = _validation.as_generator(rng)
    estimates = models.estimates
    apart = _apart(estimates[:, np.newaxis], estimates)
    pairs = list(combinations(range(len(columns)), 2))
    smooth = all(has_gradient(functional) for functional in models.functionals)
    if method == "influence" and not smooth:
        raise InputError(
            f"{what.describe()} has no influence values: use method='bootstrap' or 'permutation'."
        )
    resampled = method == "bootstrap" or not smooth
    if resampled and distribution != "t":
        raise InputError(
            f"distribution={distribution!r} belongs to influence values, and the intervals of "
            f"{what.describe()} with method={method!r} are quantiles of replicates: leave it out."
        )
    if resampled:
        drawn = models.bootstrap(prevalence, n_resamples, generator, progress)
        covariance = np.cov(drawn)
        tests = [bootstrap_test(_apart(drawn[i], drawn[j]), level) for i, j in pairs]
        best = share_best(drawn)
    else:
        covariance, variances = models.covariance(prevalence)
        own = np.diag(covariance)
        scales = own[:, np.newaxis] + own
        degrees = max(models.sizes[0] - 1.0, 1.0) if distribution == "t" else None
        tests = [
            student_test(
                float(apart[i, j]), float(variances[i, j]), float(scales[i, j]), level, degrees
            )
            for i, j in pairs
        ]
        best = probability_best(apart, variances, scales)
    interval_method = method
    if method == "permutation":
        interval_method = "influence" if smooth else "bootstrap"
        p_values = models.permutation(columns, pairs, n_resamples, generator, progress)
        tests = [(low, high, p) for (low, high, _), p in zip(tests, p_values, strict=True)]
    keys = [(names[i], names[j]) for i, j in pairs]
    differences = [float(apart[i, j]) for i, j in pairs]
    raw = [p for _, _, p in tests]
    return Comparison(
        metric=metric,
        method=method,
        estimates=dict(zip(names, estimates.tolist(), strict=True)),
        differences=dict(zip(keys, differences, strict=True)),
        intervals={
            key: Interval(
                low=low,
                high=high,
                estimate=difference,
                confidence_level=level,
                method=interval_method,
            )
            for key, difference, (low, high, _) in zip(keys, differences, tests, strict=True)
        },
        p_values=dict(zip(keys, holm(raw), strict=True)),
        unadjusted_p_values=dict(zip(keys, raw, strict=True)),
        covariance=covariance,
        probability_best=dict(zip(names, best.tolist(), strict=True)),
        confidence_level=level,
    )


def _apart(first: FloatArray, second: FloatArray) -> FloatArray:
    """First minus second; 0 where they differ by rounding only."""
    return settled(first - second, np.maximum(np.abs(first), np.abs(second)))


def _require_models(scores: object) -> Mapping[str, object]:
    if isinstance(scores, Mapping) and len(scores) > 1:
        return scores
    raise InputError(
        "scores must be a mapping from the names of at least two models to their scores, such as "
        f"{{'a': s_a, 'b': s_b}}, got {type(scores).__name__}."
    )


# What few positives do to each method.
_WITH_FEW = {
    "influence": "the first-order approximation is rough, so read intervals and p-values as a hint",
    "bootstrap": "the draws see too little of what other rows would bring, so read intervals and "
    "p-values as a hint",
    "permutation": "the intervals, which are not from the permutations, are rough; the p-values "
    "need no approximation, but only large differences can be shown",
}


def _warn_if_few(n_positives: float, method: str) -> None:
    if n_positives < _FEW_POSITIVES:
        few = plural(n_positives, "independent positive", shown=f"{n_positives:.3g}")
        warnings.warn(
            f"only {few}: with fewer than {_FEW_POSITIVES} {_WITH_FEW[method]}.",
            ReliabilityWarning,
            stacklevel=3,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Models:
    """All models ranked, with the place of every row in every ranking."""

    rows: Rows
    rankings: list[Ranking]
    functionals: list[Functional]
    places: list[npt.NDArray[np.int64]]
    sizes: tuple[float, float]

    @classmethod
    def rank(cls, metric: Metric, rows: Rows, columns: Mapping[str, Array]) -> _Models:
        rankings = [rank_rows(rows, scores) for scores in columns.values()]
        return cls(
            rows=rows,
            rankings=rankings,
            functionals=[metric.of(ranking) for ranking in rankings],
            places=[
                locate(ranking.threshold, scores)
                for ranking, scores in zip(rankings, columns.values(), strict=True)
            ],
            sizes=effective_sizes(rows),
        )

    @property
    def estimates(self) -> FloatArray:
        pairs = zip(self.functionals, self.rankings, strict=True)
        return np.array([functional.estimate(ranking) for functional, ranking in pairs])

    def covariance(self, prevalence: str) -> tuple[FloatArray, FloatArray]:
        """Covariance of the estimates, and the variance of every difference of two of them.

        The latter is taken from the differences of the rows' contributions, not from the former:
        models that order the rows alike then differ by exactly nothing.
        """
        columns, slopes = [], []
        for functional, ranking, place in zip(
            self.functionals, self.rankings, self.places, strict=True
        ):
            slope = (
                float(prevalence_slope(functional, ranking.cells))
                if prevalence == "random"
                else 0.0
            )
            # Clusters hold rows of both classes, so the numbers of each vary with the clusters.
            inner = slope if self.rows.cluster is not None else 0.0
            values = gradient(functional, ranking.cells)
            columns.append(contributions(self.rows, place, values, inner))
            slopes.append(slope - inner)
        share = 1.0 / self.sizes[0] + 1.0 / self.sizes[1]
        total = covariance_of(self.rows, np.stack(columns, axis=-1), self.sizes)
        variances = np.zeros_like(total)
        for i, j in combinations(range(len(columns)), 2):
            moved = (columns[i] - columns[j])[:, np.newaxis]
            within = covariance_of(self.rows, moved, self.sizes)[0, 0]
            variances[i, j] = variances[j, i] = within + (slopes[i] - slopes[j]) ** 2 * share
        return total + np.outer(slopes, slopes) * share, variances

    def bootstrap(
        self, prevalence: str, n_resamples: int, rng: np.random.Generator, progress: Progress | None
    ) -> FloatArray:
        sizes = [len(ranking) for ranking in self.rankings]
        units = Units(self.rows, self.places, sizes, together=prevalence == "random")
        odds = self.rankings[0].n_pos / self.rankings[0].n_neg
        return draw_cells(
            units,
            self.functionals,
            odds=None if prevalence == "random" else odds,
            n_resamples=n_resamples,
            rng=rng,
            progress=progress,
        )

    def permutation(
        self,
        columns: Mapping[str, Array],
        pairs: list[tuple[int, int]],
        n_resamples: int,
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> list[float]:
        scores = list(columns.values())
        observed = self.estimates
        p_values = []
        for done, (i, j) in enumerate(pairs):
            part = progress and _part(progress, done, len(pairs))
            swapped = swap_differences(
                self.rows, self.functionals[i], scores[i], scores[j], n_resamples, rng, part
            )
            # Sums in another order differ in the last digits: beside the metric, those are ties.
            limit = abs(observed[i] - observed[j]) - TOLERANCE * np.abs(observed[[i, j]]).max()
            reached = np.abs(swapped) >= limit
            p_values.append(float((1 + np.count_nonzero(reached)) / (n_resamples + 1)))
        return p_values


def _part(progress: Progress, done: int, parts: int) -> Progress:
    """Report the progress of one part of several equal ones."""
    return lambda step, total: progress(done * total + step, parts * total)

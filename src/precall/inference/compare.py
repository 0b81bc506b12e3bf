"""Which of several models is better on the same rows, by how much, and how surely."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._rounding import TOLERANCE
from .._words import plural
from ..exceptions import InputError, ReliabilityWarning
from ..metrics import Metric, as_metric
from ..ranking import Ranking, own_answer
from ..rows import Rows, as_rows
from .clusters import draw_cells, jackknife
from .comparison import Comparison
from .influence import centred_values, vary_prevalence, with_prevalence
from .pairwise import PairwiseEvidence, as_distribution, assembled, by_influence, difference
from .permutation import swap_differences
from .reach import usual_limits
from .resampling import Progress
from .sampling import varying_prevalence
from .significance import bootstrap_test, share_best
from .units import Units, contributions, per_unit, products

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]

COMPARISONS = ("influence", "bootstrap", "permutation")
_FEW_POSITIVES = 20
# With more clusters than this the jackknife takes long, and influence values agree with it.
_MOST_LEFT_OUT = 1000


def compare(
    data: object,
    scores: object = None,
    metric: Metric | type[Metric] | str = "aucpr",
    *,
    method: str = "influence",
    distribution: str = "t",
    clusters: object = None,
    sample_weight: object = None,
    pos_label: object = 1,
    sampling: str | None = None,
    prevalence: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare two or more models on the same rows.

    Parameters
    ----------
    data : Rows, array-like or audit.Sample
        Rows with at least two models: ``compare(rows)``, ``compare(rows, "auroc")``. Or the labels,
        as in :func:`precall.rank`; then `scores`, `clusters`, `sample_weight` and `pos_label` are
        those of :class:`precall.Rows`. A :class:`~precall.audit.Sample` with at least two models
        compares them on its whole population, from the labels it has; it has one method of its
        own, ``mover``.
    scores : mapping from name to array-like, optional
        The scores of each model, at least two models; or a data frame with a column for each.
    metric : Metric or str, default "aucpr"
        As in :func:`precall.interval`.
    method : {"influence", "bootstrap", "permutation"}
        - ``influence``: a test of the difference of the influence values of each row. No
          resampling; when the metric is auroc, difference and standard error are those of the
          paired test of DeLong et al. With clusters, of which up to 1,000 are left out one by one,
          the variance is the sum of the squares of what each of them moves. For metrics of the
          top, all but auroc, limits and p-values allow for what the models' own intervals know
          beyond their standard errors: few positives, and rows that were not seen.
        - ``bootstrap``: rows (or clusters) drawn with replacement, the same for all models.
        - ``permutation``: the two models' ranks swapped at random row by row. Its null hypothesis
          is stronger than equal areas: the two models' ranks are exchangeable in every row. Two
          models with equal areas and differently shaped curves are not; it may then reject.
    distribution : {"t", "normal"}
        What the difference over its standard error is compared with, in p-values and intervals of
        influence values. ``t`` has as many degrees of freedom as there are positives, or clusters,
        less one: the
        standard error is estimated too, and with ``normal`` a test of average precision at level
        .05 rejects up to .069 of true null hypotheses. ``normal`` is the plain test, by standard
        errors alone; with the metric auroc its numbers are those that other tools print for
        DeLong's test, such as R's pROC.
    sampling : {"rows", "classes"}, optional
    prevalence : float, optional
        As in :func:`precall.interval`: the known prevalence that the answer is about.
    confidence_level, n_resamples, rng, progress
        As in :func:`precall.interval`.

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
    own = own_answer(data, "compare")
    if (own or isinstance(data, Rows)) and isinstance(scores, (str, Metric, type)):
        metric, scores = scores, None
    what = as_metric(metric)
    if own is not None:
        level = _validation.as_fraction(confidence_level, "confidence_level")
        given = {
            "scores": scores,
            "method": None if method == "influence" else method,
            "distribution": None if distribution == "t" else distribution,
            "clusters": clusters,
            "sample_weight": sample_weight,
            "sampling": sampling,
            "prevalence": prevalence,
        }
        found: Comparison = own(what, level, given)
        return found
    method = _validation.as_choice(method, "method", COMPARISONS)
    distribution = as_distribution(distribution)
    varying = varying_prevalence(sampling, prevalence)
    level = _validation.as_fraction(confidence_level, "confidence_level")
    _validation.require_progress(progress)
    n_resamples = _validation.as_count(n_resamples, "n_resamples", minimum=2)
    if not isinstance(data, Rows) and not _has_columns(scores):
        raise _too_few(type(scores).__name__)
    rows = as_rows(
        data, scores, sample_weight=sample_weight, clusters=clusters, pos_label=pos_label
    )
    names = rows.names
    if len(names) < 2:
        raise _too_few(f"{len(names)} model")
    if prevalence is not None:
        rows = rows.at_prevalence(prevalence)
    models = RankedModels.rank(what, rows)
    warn_if_few(models.sizes[0], method)
    generator = _validation.as_generator(rng)
    estimates = models.estimates
    pairs = list(combinations(range(len(names)), 2))
    smooth = what.smooth
    if method == "influence" and not smooth:
        raise InputError(
            f"{what} has no influence values: use method='bootstrap' or 'permutation'."
        )
    if method == "permutation" and not what.of_ranks:
        raise InputError(
            f"{what} depends on the scores themselves, and permutations exchange ranks: use "
            "method='influence' or 'bootstrap'."
        )
    resampled = method == "bootstrap" or not smooth
    if resampled and distribution != "t":
        raise InputError(
            f"distribution={distribution!r} belongs to influence values, and the intervals of "
            f"{what} with method={method!r} are quantiles of replicates: leave it out."
        )
    if resampled:
        drawn = models.bootstrap(varying, n_resamples, generator, progress)
        evidence = PairwiseEvidence(
            covariance=np.cov(drawn),
            variances=np.array([np.var(difference(drawn, own), axis=1, ddof=1) for own in drawn]),
            degrees=models.degrees,
            tests=[bootstrap_test(difference(drawn[i], drawn[j]), level) for i, j in pairs],
            best=share_best(-drawn if what.lower_is_better else drawn),
        )
    else:
        evidence = by_influence(
            what,
            estimates,
            *models.covariance(varying),
            level,
            distribution,
            partial(usual_limits, models.rankings, what, varying=varying),
        )
    interval_method = method
    if method == "permutation":
        interval_method = "influence" if smooth else "bootstrap"
        p_values = models.permutation(pairs, n_resamples, generator, progress)
        tests = [(low, high, p) for (low, high, _), p in zip(evidence.tests, p_values, strict=True)]
        evidence = evidence._replace(tests=tests)
    return assembled(
        what,
        names,
        estimates,
        evidence,
        level=level,
        method=method,
        interval_method=interval_method,
    )


def _has_columns(scores: object) -> bool:
    """Whether scores are named: a mapping, or a data frame, which Rows knows how to read."""
    kind = type(scores)
    return isinstance(scores, Mapping) or hasattr(kind, "columns") or hasattr(kind, "column_names")


def _too_few(got: str) -> InputError:
    return InputError(
        "scores must be a mapping from the names of at least two models to their scores, such as "
        f"{{'a': s_a, 'b': s_b}}, or Rows with them, got {got}."
    )


# What few positives do to each method.
_WITH_FEW = {
    "influence": "the first-order approximation is rough, so read intervals and p-values as a hint",
    "bootstrap": "the draws see too little of what other rows would bring, so read intervals and "
    "p-values as a hint",
    "permutation": "the intervals, which are not from the permutations, are rough; the p-values "
    "need no approximation, but only large differences can be shown",
}


def warn_if_few(n_positives: float, method: str) -> None:
    """Warn of what few positives do to a method."""
    if n_positives < _FEW_POSITIVES:
        few = plural(n_positives, "independent positive", shown=f"{n_positives:.3g}")
        warnings.warn(
            f"only {few}: with fewer than {_FEW_POSITIVES} {_WITH_FEW[method]}.",
            ReliabilityWarning,
            stacklevel=3,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class RankedModels:
    """Models of the same rows ranked, with the place of every row in every ranking."""

    rows: Rows
    rankings: list[Ranking]
    metrics: list[Metric]
    sizes: tuple[float, float]
    thresholds: tuple[float, ...]

    @classmethod
    def rank(cls, metric: Metric, rows: Rows) -> RankedModels:
        """Rank every model of the rows, in an order that their places need too."""
        for name in rows.names:
            rows.order(name)
            metric.check_scores(rows, name)
        rankings = [rows.ranking(name, metric.thresholds) for name in rows.names]
        return cls(
            rows=rows,
            rankings=rankings,
            metrics=[metric.on_both_classes(ranking) for ranking in rankings],
            sizes=rows.effective_sizes,
            thresholds=metric.thresholds,
        )

    @property
    def places(self) -> list[npt.NDArray[np.int64]]:
        """The place of every row among the thresholds of each model."""
        return [self.rows.place(name, self.thresholds) for name in self.rows.names]

    @property
    def estimates(self) -> FloatArray:
        """The metric of each model."""
        pairs = zip(self.metrics, self.rankings, strict=True)
        return np.array([metric.estimate(ranking) for metric, ranking in pairs])

    @property
    def degrees(self) -> float:
        """As many degrees of freedom as there are independent positives, less one."""
        return max(self.sizes[0] - 1.0, 1.0)

    def covariance(self, varying: bool) -> tuple[FloatArray, FloatArray, float]:
        """Covariance of the estimates, variances of all differences, and degrees of freedom.

        The second is taken from the differences of the contributions, not from the first: models
        that order the rows alike then differ by exactly nothing.
        """
        left_out = self._without_each_cluster(varying)
        if left_out is not None:
            variances = np.array([np.sum((left_out - own) ** 2, axis=1) for own in left_out])
            return left_out @ left_out.T, variances, self.rows.n_clusters - 1.0
        columns, slopes, together = [], [], []
        for metric, ranking, place in zip(self.metrics, self.rankings, self.places, strict=True):
            slope = float(metric.prevalence_slope(ranking.cells)) if varying else 0.0
            # Clusters hold rows of both classes, so the numbers of each vary with the clusters.
            inner = slope if self.rows.cluster is not None else 0.0
            values = metric.gradient(ranking.cells)
            moved = contributions(self.rows, place, values, inner)
            columns.append(per_unit(self.rows, moved, self.sizes))
            slopes.append(slope - inner)
            centred = centred_values(values, ranking.cells)
            together.append(float(with_prevalence(centred, ranking.cells, ranking.squares)))
        share = 1.0 / self.sizes[0] + 1.0 / self.sizes[1]
        total = products(columns)
        variances = np.zeros_like(total)
        for i, j in combinations(range(len(columns)), 2):
            moved = columns[i] - columns[j]
            variances[i, j] = variances[j, i] = moved @ moved
        total, variances = vary_prevalence(total, variances, slopes, together, share)
        return total, variances, self.degrees

    def _without_each_cluster(self, varying: bool) -> FloatArray | None:
        """Jackknife contributions of the clusters; None where rows do not belong together.

        None too where there are so many clusters that leaving each out takes long: there the sums
        of influence values say the same.
        """
        if self.rows.cluster is None or self.rows.n_clusters > _MOST_LEFT_OUT:
            return None
        return jackknife(self._units(varying), self.metrics, odds=self._odds(varying))

    def _units(self, varying: bool) -> Units:
        sizes = [len(ranking) for ranking in self.rankings]
        return Units(self.rows, self.places, sizes, together=varying)

    def _odds(self, varying: bool) -> float | None:
        """Return the odds to keep in mixed clusters, or None where they may vary."""
        return None if varying else self.rankings[0].n_pos / self.rankings[0].n_neg

    def bootstrap(
        self, varying: bool, n_resamples: int, rng: np.random.Generator, progress: Progress | None
    ) -> FloatArray:
        """Return replicates of every model's metric, the same rows drawn for all."""
        return draw_cells(
            self._units(varying),
            self.metrics,
            odds=self._odds(varying),
            n_resamples=n_resamples,
            rng=rng,
            progress=progress,
        )

    def permutation(
        self,
        pairs: list[tuple[int, int]],
        n_resamples: int,
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> list[float]:
        """Return the p-value of every pair."""
        names = self.rows.names
        observed = self.estimates
        p_values = []
        for done, (i, j) in enumerate(pairs):
            part = progress and _part(progress, done, len(pairs))
            swapped = swap_differences(
                self.rows, self.metrics[i], names[i], names[j], n_resamples, rng, part
            )
            # Sums in another order differ in the last digits: beside the metric, those are ties.
            limit = abs(observed[i] - observed[j]) - TOLERANCE * np.abs(observed[[i, j]]).max()
            reached = np.abs(swapped) >= limit
            p_values.append(float((1 + np.count_nonzero(reached)) / (n_resamples + 1)))
        return p_values


def _part(progress: Progress, done: int, parts: int) -> Progress:
    """Report the progress of one part of several equal ones."""
    return lambda step, total: progress(done * total + step, parts * total)

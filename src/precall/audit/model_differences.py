"""Which of two models is better on a whole population, from one set of labels.

Both models score every row, so a labelled row says something about both, and what the labels leave
open is mostly common to them. The population is cut by the better of a row's two ranks: a positive
that only one of the models finds is in a piece near its top. The difference of the models is then
a function of the positives in each piece, and has limits as any other number has.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .._interval import Interval
from .._rounding import settled
from ..inference.comparison import Comparison
from ..inference.limits import normal_quantile
from ..inference.pairwise import PairwiseEvidence, assembled, difference
from ..inference.significance import probability_best
from ..inference.simultaneous import level_of
from ..metrics import Metric
from .sample_limits import SampleEvidence
from .sampled_cells import SampledMetric, placement_variance
from .strata_pieces import Array, cut, tied_shares, zones

if TYPE_CHECKING:
    from .sample import Sample

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# No p-value is below that of so many standard errors, and none is finer than this part of it.
_FARTHEST, _HALVINGS = 8.0, 14


def compare_models(sample: Sample, metric: Metric, level: float) -> Comparison:
    """Compare every pair of models of a sample."""
    names = sample.names
    alone = [sample.evidence(sample.sampled(name, metric)) for name in names]
    estimates = np.array([each.estimate for each in alone])
    pairs = list(combinations(range(len(names)), 2))
    found = [evidence_of_pair(sample, metric, names[i], names[j]) for i, j in pairs]
    apart = difference(estimates[:, np.newaxis], estimates)
    variances = np.zeros(apart.shape)
    for (i, j), each in zip(pairs, found, strict=True):
        variances[i, j] = variances[j, i] = each.error**2
    own = np.array([each.error**2 for each in alone])
    covariance = (own[:, np.newaxis] + own - variances) / 2.0
    together = 1.0 - (1.0 - level) / len(pairs)
    limits = {
        at: [
            _shifted(each, float(apart[pair]), at) for pair, each in zip(pairs, found, strict=True)
        ]
        for at in {level, together}
    }
    better = -apart if metric.lower_is_better else apart
    evidence = PairwiseEvidence(
        covariance=covariance,
        variances=variances,
        degrees=None,
        tests=[
            (*ends, _p_value(each, float(apart[pair])))
            for pair, each, ends in zip(pairs, found, limits[level], strict=True)
        ],
        best=probability_best(better, variances, own[:, np.newaxis] + own),
    )
    result = assembled(
        metric, names, estimates, evidence, level=level, method="mover", interval_method="mover"
    )
    intervals = zip(result.intervals.items(), limits[together], strict=True)
    return replace(
        result,
        simultaneous={pair: _with_ends(each, ends) for (pair, each), ends in intervals},
    )


def _with_ends(interval: Interval, ends: tuple[float, float]) -> Interval:
    return replace(interval, low=ends[0], high=ends[1])


def evidence_of_pair(sample: Sample, metric: Metric, first: str, second: str) -> SampleEvidence:
    """Return what the limits of first minus second are computed from."""
    models = _on_common_pieces(sample, metric, first, second)
    pieces = models[0].pieces

    def value(positives: FloatArray) -> FloatArray:
        one, other = (model.value(positives) for model in models)
        return np.asarray(settled(one - other, np.maximum(np.abs(one), np.abs(other))))

    ours, theirs = (model.slopes for model in models)
    slopes = (ours[0] - theirs[0], ours[1] - theirs[1])
    variance = placement_variance(models[0], slopes)
    if sample.target == "process":
        if not metric.smooth:
            raise metric.no_gradient()
        turn = models[0].prevalence_slope() - models[1].prevalence_slope()
        variance += models[0].process_variance(slopes, turn)
    low, high = models[0].metric.bounds
    return SampleEvidence(
        value=value,
        pieces=pieces,
        variance=variance,
        bounds=(low - high, high - low),
        looks=sample.looks,
    )


def _on_common_pieces(
    sample: Sample, metric: Metric, first: str, second: str
) -> list[SampledMetric]:
    scores = [sample.scores[name] for name in (first, second)]
    falling = [sample.descending(name) for name in (first, second)]
    asked = [
        zones(each, order, tuple(metric.thresholds), tuple(metric.places))
        for each, order in zip(scores, falling, strict=True)
    ]
    zone = asked[0] * (int(asked[1].max()) + 1) + asked[1]
    height = -np.minimum(*(_rank(*pair) for pair in zip(scores, falling, strict=True)))
    common = sample.helped(
        cut(height, np.sort(height)[::-1], sample.design, sample.known, zone=zone)
    )
    rows = np.append(sample.known.rows, common.stand_ins)
    return [
        sample.sampled(
            name, metric, common._replace(tied=tied_shares(each, common.of_row, rows, common.size))
        )
        for name, each in zip((first, second), scores, strict=True)
    ]


def _rank(scores: Array, descending: Array) -> IntArray:
    """Return how many rows are above each, and one more."""
    above = descending.size - np.searchsorted(descending[::-1], scores, side="right")
    return np.asarray(above + 1, dtype=np.int64)


def _shifted(evidence: SampleEvidence, apart: float, level: float) -> tuple[float, float]:
    """Return limits about the difference of the models' own estimates."""
    low, high = evidence.limits(level)
    moved = apart - evidence.estimate
    least, most = evidence.bounds
    return max(low + moved, least), min(high + moved, most)


def _p_value(evidence: SampleEvidence, apart: float) -> float:
    """Return the largest error probability whose interval still holds 0."""
    near, far = 0.0, _FARTHEST

    def holds(deviations: float) -> bool:
        low, high = _shifted(evidence, apart, level_of(deviations))
        return low <= 0.0 <= high

    if holds(normal_quantile(1e-9)):
        return 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (near + far)
        near, far = (near, middle) if holds(middle) else (middle, far)
    return 1.0 - level_of(far)

"""Kernel-smoothed class distributions, on pooled normal scores or on the raw scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from precall._validation import (
    as_choice,
    as_number,
    as_numbers,
    as_positive_mask,
    as_scores,
    require_same_length,
)
from precall.exceptions import InputError
from precall.ranking import Ranking
from precall.ranking.checks import require_scored

FloatArray = npt.NDArray[np.float64]

KERNELS = ("gaussian", "uniform")
BANDWIDTHS = ("per_class", "pooled", "undersmoothed")

# Grid points per bandwidth: a tenth of it changes a smoothed cdf by well under one row in 10⁶.
_POINTS_PER_BANDWIDTH = 10
_FEWEST_POINTS = 512
_MOST_POINTS = 1 << 20
# The Gaussian kernel is cut here; its mass beyond is 6e-9.
_GAUSSIAN_REACH = 5.8
# Bandwidths whose squares, and grids, are still floats.
_BANDWIDTHS_IN = (1e-100, 1e100)


@dataclass(frozen=True, kw_only=True, eq=False)
class SmoothDistribution:
    """A class's score distribution, smoothed: its survival function and density on an even grid."""

    grid: FloatArray
    survival_values: FloatArray
    density_values: FloatArray
    bandwidth: float

    def survival(self, score: Any) -> FloatArray:
        """Probability of a score above `score`."""
        return np.asarray(np.interp(score, self.grid, self.survival_values, left=1.0, right=0.0))

    def upper_quantile(self, probability: Any) -> FloatArray:
        """The score that is exceeded with this probability."""
        return np.asarray(np.interp(probability, self.survival_values[::-1], self.grid[::-1]))

    def density(self, score: Any) -> FloatArray:
        """Probability density."""
        return np.asarray(np.interp(score, self.grid, self.density_values, left=0.0, right=0.0))


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassScores:
    """Scores of a class as pieces of mass, each spread evenly between two scores, ascending."""

    edges: FloatArray
    cumulated: FloatArray
    size: float

    @property
    def mean_and_variance(self) -> tuple[float, float]:
        """Mean and variance of the scores."""
        mass = np.diff(self.cumulated)
        low, high = self.edges[:-1], self.edges[1:]
        mean = float(mass @ (low + high) / 2.0)
        spread = (low - mean) ** 2 + (low - mean) * (high - mean) + (high - mean) ** 2
        return mean, float(mass @ spread / 3.0)


def smooth(scores: ClassScores, bandwidth: float, kernel: str) -> SmoothDistribution:
    """Convolve a class's score distribution with a kernel."""
    reach = _GAUSSIAN_REACH * bandwidth if kernel == "gaussian" else bandwidth
    low, high = scores.edges[0] - reach, scores.edges[-1] + reach
    points = int(np.ceil(_POINTS_PER_BANDWIDTH * (high - low) / bandwidth))
    points = min(max(points, _FEWEST_POINTS), _MOST_POINTS)
    step = (high - low) / points
    edges = low + step * np.arange(points + 1)
    mass = np.diff(np.interp(edges, scores.edges, scores.cumulated))
    half = int(np.ceil(reach / step)) + 1
    taps = _kernel_mass(step * (np.arange(-half, half + 2) - 0.5), bandwidth, kernel)
    length = points + taps.size
    product = np.fft.rfft(mass, length) * np.fft.rfft(taps, length)
    smoothed = np.maximum(np.fft.irfft(product, length), 0.0)[half : half + points]
    cumulated = np.concatenate([[0.0], np.cumsum(smoothed)])
    cumulated /= cumulated[-1]
    return SmoothDistribution(
        grid=edges,
        survival_values=1.0 - cumulated,
        density_values=np.gradient(cumulated, step),
        bandwidth=bandwidth,
    )


def _kernel_mass(edges: FloatArray, bandwidth: float, kernel: str) -> FloatArray:
    from scipy import special

    if kernel == "gaussian":
        return np.diff(special.ndtr(edges / bandwidth))
    return np.diff(np.clip(0.5 * (edges / bandwidth + 1.0), 0.0, 1.0))


def class_distributions(
    ranking: Ranking, scores: tuple[object, object] | None, bandwidth: object, kernel: object
) -> tuple[SmoothDistribution, SmoothDistribution]:
    """Smoothed distributions of positives and negatives.

    Without `scores` the ranking's own pooled normal scores are smoothed, with them the raw ones.
    """
    kernel = as_choice(kernel, "kernel", KERNELS)
    require_scored(ranking, "a smoothed distribution of scores")
    classes = normal_scores(ranking) if scores is None else raw_scores(ranking, scores)
    widths = _bandwidths(classes, bandwidth)
    distributions = [smooth(*pair, kernel) for pair in zip(classes, widths, strict=True)]
    return distributions[0], distributions[1]


def normal_scores(ranking: Ranking) -> tuple[ClassScores, ClassScores]:
    """Both classes on the scale z = ndtri(pooled rank / N), each row spread over its rank.

    Tied rows share their ranks evenly. The scale depends on ranks only, as the curve does.
    """
    from scipy import special

    rows = len(ranking)
    positives = np.zeros(2 * rows + 1)
    negatives = np.empty(2 * rows + 1)
    positives[1::2] = ranking.positives
    negatives[0:-1:2], negatives[1::2], negatives[-1] = ranking.above, ranking.tied, ranking.below
    total = float(ranking.n_pos + ranking.n_neg)
    # Ascending, and finely enough that a long run of negatives keeps its shape on the z scale.
    edge = 0.25 / sum(ranking.effective_sizes)
    share = np.concatenate([[0.0], np.cumsum((positives + negatives)[::-1])]) / total
    fine = special.ndtr(np.linspace(special.ndtri(edge), -special.ndtri(edge), 2001))
    knots = np.unique(np.concatenate([share, fine]).clip(edge, 1.0 - edge))
    z = special.ndtri(knots)
    classes = []
    sizes = ranking.effective_sizes
    for counts, size in zip((positives, negatives), sizes, strict=True):
        cumulated = np.concatenate([[0.0], np.cumsum(counts[::-1])])
        cumulated = np.interp(knots, share, cumulated / cumulated[-1])
        cumulated[0], cumulated[-1] = 0.0, 1.0
        classes.append(ClassScores(edges=z, cumulated=cumulated, size=size))
    return classes[0], classes[1]


def raw_scores(ranking: Ranking, scores: tuple[object, object]) -> tuple[ClassScores, ClassScores]:
    """Both classes on the scale of the scores given."""
    try:
        y_true, y_score = scores
    except (TypeError, ValueError):
        raise InputError("scores must be a pair (y_true, y_score).") from None
    positive = as_positive_mask(y_true, 1, "scores[0]")
    values = as_scores(y_score, "scores[1]").astype(np.float64)
    require_same_length(**{"scores[0]": positive, "scores[1]": values})
    if not np.isfinite(values).all():
        raise InputError("scores[1] must be finite for smoothing on the raw scale.")
    if ranking.weighted:
        raise InputError("scores must not be given with a weighted ranking: leave them out.")
    counts = int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))
    if counts != (ranking.n_pos, ranking.n_neg):
        raise InputError(
            f"scores must be the rows of the ranking ({ranking.n_pos} positives, {ranking.n_neg} "
            f"negatives), got {counts[0]} and {counts[1]}."
        )
    classes = []
    for chosen in (positive, ~positive):
        points = np.sort(values[chosen])
        # A point is a piece of mass without width.
        edges = np.repeat(points, 2)
        cumulated = np.repeat(np.arange(points.size + 1) / points.size, 2)[1:-1]
        classes.append(ClassScores(edges=edges, cumulated=cumulated, size=float(points.size)))
    return classes[0], classes[1]


def _bandwidths(classes: tuple[ClassScores, ClassScores], bandwidth: object) -> tuple[float, float]:
    """One bandwidth per class by rule, or as given.

    ``per_class`` is σ_c n_c^(-1/5) in each class; ``pooled`` σ N^(-1/5) and ``undersmoothed``
    σ (N log³ N)^(-1/5) with the standard deviation σ of all rows.
    """
    if bandwidth is None:
        bandwidth = "per_class"
    if isinstance(bandwidth, str):
        rule = as_choice(bandwidth, "bandwidth", BANDWIDTHS)
        sizes = [scores.size for scores in classes]
        moments = [scores.mean_and_variance for scores in classes]
        total = sum(sizes)
        mean = sum(size * m for size, (m, _) in zip(sizes, moments, strict=True)) / total
        pooled = sum(
            size * (v + (m - mean) ** 2) for size, (m, v) in zip(sizes, moments, strict=True)
        )
        deviation = np.sqrt(pooled / total)
        if rule == "per_class":
            # A class of one row, or of equal scores, has no spread of its own.
            own = [np.sqrt(v) or deviation for _, v in moments]
            pair = [d * size**-0.2 for d, size in zip(own, sizes, strict=True)]
        elif rule == "pooled":
            pair = [deviation * total**-0.2] * 2
        else:
            pair = [deviation * (total * max(np.log(total), 1.0) ** 3) ** -0.2] * 2
    else:
        given = as_numbers(bandwidth, "bandwidth")
        if given.shape not in ((), (1,), (2,)):
            raise InputError(
                f"bandwidth must be a name, a number or one number per class, got {bandwidth!r}."
            )
        pair = [as_number(value, "bandwidth") for value in np.broadcast_to(given, (2,))]
    if not _BANDWIDTHS_IN[0] <= min(pair) <= max(pair) <= _BANDWIDTHS_IN[1]:
        raise InputError(
            f"bandwidth must be positive and between {_BANDWIDTHS_IN[0]:g} and "
            f"{_BANDWIDTHS_IN[1]:g}, got {bandwidth!r} (that is {tuple(map(float, pair))}): "
            "all scores are equal, or a number was not positive."
        )
    return float(pair[0]), float(pair[1])

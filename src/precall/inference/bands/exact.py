"""A band with a finite-sample guarantee for any continuous scores, and nothing drawn at random.

Both classes' true rates at their own order statistics are uniform order statistics, whatever the
scores. Limits that hold for all of them at once (see `crossing`) bound where the threshold of a
recall lies, and what the false-positive rate is there. The guarantee is for the grid points of the
band together; tied rows are taken in both extreme orders, so it survives ties.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from precall.exceptions import InputError
from precall.ranking import Ranking

from ..local_weights import weights_vary
from .crossing import beta_limits, chosen_ranks, local_level
from .paths import Path
from .request import BandRequest, Limits, precision

FloatArray = npt.NDArray[np.float64]

# Share of the logarithm of the confidence level that an unknown prevalence takes.
_PREVALENCE_SHARE = 0.2
# Order statistics this many standard deviations beyond the range of the band still get limits.
_MARGIN = 5.0
# Recalls at which limits are made before they are read off at shares of rows selected.
_HIT_POINTS = 1001
# Rows of a class beyond which the joint distribution would fill gigabytes.
_MOST_ROWS = 2**28


def exact_limits(request: BandRequest) -> Limits:
    """Joint Beta limits of both classes' order statistics, mapped to the curve."""
    _require_equal_weights(request.ranking)
    rows = max(request.path.size, int(request.path.total))
    if rows > _MOST_ROWS:
        raise InputError(
            f"method='exact' needs memory in proportion to the rows of a class and is made for at "
            f"most {_MOST_ROWS} of them, got {rows}: use method='fiducial'."
        )
    known = not request.varying or request.kind == "roc"
    share = 0.0 if known else _PREVALENCE_SHARE
    # Three independent events: each class's limits hold given the class sizes, whatever these are.
    class_level = request.confidence_level ** (0.5 * (1.0 - share))
    grid = request.grid
    if request.kind == "hit":
        grid = np.linspace(0.0, 1.0, _HIT_POINTS)
    rate_low, rate_high, levels = rate_limits(request.path, grid, class_level)
    diagnostics = {"local_levels": levels, "class_confidence_level": class_level}
    if request.kind == "roc":
        return Limits(rate_low, rate_high, diagnostics)

    least = most = request.ranking.overall_prevalence
    if not known:
        least, most = clopper_pearson(request.ranking, request.confidence_level**share)
        diagnostics["prevalence_limits"] = (least, most)
    if request.kind == "pr":
        low, high = precision(grid, rate_high, least), precision(grid, rate_low, most)
        return Limits(low, high, diagnostics)
    low = _hits(grid, rate_high, least, request.grid, after=0)
    high = _hits(grid, rate_low, most, request.grid, after=1)
    return Limits(low, np.minimum(high, request.grid), diagnostics)


def rate_limits(
    path: Path, grid: FloatArray, class_level: float
) -> tuple[FloatArray, FloatArray, tuple[float, float]]:
    """Limits of the other class's rate at rates of the own class, and the two local levels."""
    n, m = path.size, int(path.total)
    fewest, most = path.bounds()

    # Which own rows surely lie before, and surely at or after, each rate of the grid.
    first = max(math.floor(n * grid[0] - _margin(n, grid[0])), 1)
    last = min(math.ceil(n * grid[-1] + _margin(n, grid[-1])), n)
    ranks = chosen_ranks(n, first, last)
    own_level = local_level(n, class_level, first, last)
    low, high = beta_limits(n, ranks, own_level)
    before = np.concatenate([[0], ranks])[np.searchsorted(high, grid, side="right")]
    after = np.concatenate([ranks, [n + 1]])[np.searchsorted(low, grid, side="left")]
    count_before, count_after = fewest.value(before), most.value(after)

    # The other class's rate at a threshold with that many of its rows above.
    ranks = chosen_ranks(m)
    other_level = local_level(m, class_level)
    low, high = beta_limits(m, ranks, other_level)
    rate_low = np.concatenate([[0.0], low])[np.searchsorted(ranks, count_before, side="right")]
    rate_high = np.concatenate([high, [1.0]])[np.searchsorted(ranks, count_after + 1, side="left")]
    if path.missed:  # own rows without a score surely lie before the rate, or perhaps
        rate_low = np.where(before > path.reach, np.inf, rate_low)
        rate_high = np.where(after > path.reach, np.inf, rate_high)
    return rate_low, rate_high, (own_level, other_level)


def _margin(n: int, rate: float) -> float:
    return 3.0 + _MARGIN * math.sqrt(n * max(rate * (1.0 - rate), 1.0 / n)) + 2.0 * _MARGIN


def clopper_pearson(ranking: Ranking, level: float) -> tuple[float, float]:
    """Exact limits of the prevalence from the number of positives."""
    from scipy import special

    n, m = ranking.effective_sizes
    tail = 0.5 * (1.0 - level)
    return (
        float(special.betaincinv(n, m + 1.0, tail)),
        float(1.0 - special.betaincinv(m, n + 1.0, tail)),
    )


def _hits(
    recall: FloatArray, rate: FloatArray, prevalence: float, selected: FloatArray, after: int
) -> FloatArray:
    """Share selected and positive at shares selected; `after` 0 rounds down on the grid, 1 up."""
    shares = prevalence * recall + (1.0 - prevalence) * rate
    index = np.searchsorted(shares, selected, side="right") - 1 + after
    return np.asarray(prevalence * recall[np.clip(index, 0, recall.size - 1)])


def _require_equal_weights(ranking: Ranking) -> None:
    if weights_vary(ranking):
        raise InputError(
            "ranking must have equal weights within each class for method='exact': its guarantee "
            "is about whole rows; use method='fiducial', which draws rows with their weights."
        )

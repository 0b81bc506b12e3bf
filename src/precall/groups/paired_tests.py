"""Is one model better than another, judged group by group: paired tests over queries or folds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._interval import Interval
from .._notebook import Rich
from .._rounding import TOLERANCE, settled, tied
from ..exceptions import InputError
from ..metrics import Metric
from ..ranking import Ranking
from ..ranking.ranking_set import RankingSet
from .group_limits import t_quantile
from .group_values import GroupValues, per_group

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]

# Up to this many differences, every assignment of signs is tried.
_EXACT_SIGNS = 16
_BLOCK = 1 << 20


@dataclass(frozen=True, kw_only=True, repr=False)
class GroupComparison(Rich):
    """A paired comparison of two models over groups.

    Attributes
    ----------
    difference : float
        Mean over groups of first minus second.
    interval : Interval or None
        For the mean difference, by Student's t (with the corrected variance for
        ``test="corrected_t"``); None with a single group.
    statistic, p_value : float
        Of the test, two-sided.
    test, metric : str
    n : int
        Groups compared: those in which both models have a value.
    wins, losses, ties : int
        Groups in which the first is higher, lower, or equal.
    """

    difference: float
    interval: Interval | None
    statistic: float
    p_value: float
    test: str
    metric: str
    n: int
    wins: int
    losses: int
    ties: int

    def __repr__(self) -> str:
        """Return one line."""
        spread = (
            ""
            if self.interval is None
            else f", {self.interval.low:.4g} to {self.interval.high:.4g}"
        )
        return (
            f"GroupComparison({self.metric} {self.difference:+.4g}{spread}, p={self.p_value:.3g}, "
            f"{self.test}, n={self.n})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary."""
        return asdict(self)


def compare_groups(
    first: object,
    second: object,
    metric: Metric | type[Metric] | str = "aucnpr",
    *,
    test: str = "t",
    undefined: str = "skip",
    test_to_train: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    rng: object = None,
) -> GroupComparison:
    """Compare two models on the same groups.

    Parameters
    ----------
    first, second : RankingSet
        The two models' rankings of the same groups (equal labels); or plain arrays with one value
        per group, for any metric of your own.
    metric, undefined
        As in :func:`precall.per_group`; not used for plain arrays.
    test : str
        - ``"t"``: paired t test; the usual choice for queries or tasks.
        - ``"corrected_t"``: for cross-validation, whose training sets overlap: the variance of the
          mean is ``(1/G + test_to_train) s^2`` instead of ``s^2 / G`` (Nadeau & Bengio 2003).
        - ``"randomisation"``: flips the signs of the differences; exact up to 16 groups, else with
          `n_resamples` random assignments.
        - ``"wilcoxon"``: signed ranks; robust against single groups that differ wildly.
        - ``"sign"``: counts wins and losses only.
    test_to_train : float, optional
        Rows in a test set over rows in its training set, for ``"corrected_t"``; ``1 / (G - 1)`` by
        default, which is right for one run of G-fold cross-validation.
    confidence_level : float, default 0.95
    n_resamples : int, default 9999
    rng : None, int or Generator
        For ``"randomisation"`` beyond 16 groups.

    Returns
    -------
    GroupComparison

    Notes
    -----
    Groups in which a model has no value are left out of both. Values that differ by less than
    1e-12 of their size differ by rounding only and count as equal. ``"wilcoxon"`` and ``"sign"``
    leave out groups without a difference. When nothing differs at all, the p-value is 1.

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> rng = np.random.default_rng(1)
    >>> query = np.repeat(np.arange(30), 50)
    >>> y = rng.random(1500) < 0.2
    >>> noise = rng.normal(size=1500)
    >>> good = pr.rank_groups(y, noise + 2 * y, query)
    >>> poor = pr.rank_groups(y, noise + y, query)
    >>> result = pr.compare_groups(good, poor, "aucpr")
    >>> result.wins, result.losses, result.p_value < 1e-6
    (30, 0, True)
    """
    _validation.as_choice(test, "test", TESTS)
    level = _validation.as_fraction(confidence_level, "confidence_level")
    values, name = _paired_values(first, second, metric, undefined)
    scale = np.maximum(np.abs(values[0]), np.abs(values[1]))
    difference = settled(values[0] - values[1], scale)
    difference, scale = difference[~np.isnan(difference)], scale[~np.isnan(difference)]
    if difference.size == 0:
        raise InputError(f"there is no group in which both models have a value of {name}.")
    if test_to_train is None:
        overlap = 1.0 / max(difference.size - 1, 1)
    else:
        overlap = _validation.as_number(test_to_train, "test_to_train")
        if not 0.0 <= overlap < math.inf:
            raise InputError(
                f"test_to_train must be finite and not negative, got {test_to_train!r}."
            )
    task = _Task(
        difference,
        float(np.max(scale)),
        overlap,
        _validation.as_count(n_resamples, "n_resamples", minimum=99),
        rng,
    )
    statistic, p_value = TESTS[test](task)
    mean = float(difference.mean())
    return GroupComparison(
        difference=mean,
        interval=_interval(mean, task, level, test),
        statistic=statistic,
        p_value=p_value,
        test=test,
        metric=name,
        n=difference.size,
        wins=int(np.count_nonzero(difference > 0)),
        losses=int(np.count_nonzero(difference < 0)),
        ties=int(np.count_nonzero(difference == 0)),
    )


def _paired_values(
    first: object, second: object, metric: Any, undefined: str
) -> tuple[list[FloatArray], str]:
    if isinstance(first, RankingSet) and isinstance(second, RankingSet):
        if not np.array_equal(first.labels, second.labels):
            raise InputError(
                "first and second must rank the same groups: their labels differ "
                f"({len(first)} and {len(second)} groups)."
            )
        found = [per_group(rankings, metric, undefined=undefined) for rankings in (first, second)]
        return [values.values for values in found], found[0].metric
    if isinstance(first, RankingSet) or isinstance(second, RankingSet):
        raise InputError("first and second must both be RankingSets, or both arrays of values.")
    values, name = [], "difference"
    for side, given in (("first", first), ("second", second)):
        if isinstance(given, GroupValues):
            name = given.metric
        column = given.values if isinstance(given, GroupValues) else given
        listed = column if isinstance(column, Iterable) and getattr(column, "ndim", 1) > 0 else ()
        if any(isinstance(member, Ranking) for member in listed):
            raise InputError(
                f"{side} must be a RankingSet, or one number per group, got rankings in a "
                f"{type(column).__name__}: pass RankingSet.from_rankings({side})."
            )
        values.append(_validation.as_numbers(_validation.as_vector(column, side), side))
    _validation.require_same_length(first=values[0], second=values[1])
    return values, name


class _Task(NamedTuple):
    """What a test works on."""

    difference: FloatArray
    scale: float  # the largest value: differences are known to some digits of it
    overlap: float
    n_resamples: int
    rng: object


def _standard_error(task: _Task, test: str) -> float:
    """Standard error of the mean difference; NaN for a single group."""
    size = task.difference.size
    if size < 2:
        return float("nan")
    inflation = 1.0 / size + (task.overlap if test == "corrected_t" else 0.0)
    return math.sqrt(inflation * float(task.difference.var(ddof=1)))


def _interval(mean: float, task: _Task, level: float, test: str) -> Interval | None:
    error = _standard_error(task, test)
    if math.isnan(error):
        return None
    half = t_quantile(level, task.difference.size - 1) * error
    return Interval(
        low=mean - half,
        high=mean + half,
        estimate=mean,
        confidence_level=level,
        method="corrected t over groups" if test == "corrected_t" else "t over groups",
    )


def _student(task: _Task, test: str) -> tuple[float, float]:
    from scipy.special import stdtr

    error, mean = _standard_error(task, test), float(task.difference.mean())
    if math.isnan(error):
        raise InputError(f"test={test!r} needs at least two groups, got one.")
    if mean == 0:
        return 0.0, 1.0
    alike = error <= TOLERANCE * task.scale
    statistic = math.copysign(math.inf, mean) if alike else mean / error
    return statistic, float(2.0 * stdtr(task.difference.size - 1, -abs(statistic)))


def _t(task: _Task) -> tuple[float, float]:
    return _student(task, "t")


def _corrected_t(task: _Task) -> tuple[float, float]:
    return _student(task, "corrected_t")


def _sign(task: _Task) -> tuple[float, float]:
    """Exact binomial test of wins against losses."""
    from scipy.special import bdtr

    wins = int(np.count_nonzero(task.difference > 0))
    losses = int(np.count_nonzero(task.difference < 0))
    return float(wins), min(1.0, float(2.0 * bdtr(min(wins, losses), wins + losses, 0.5)))


def _wilcoxon(task: _Task) -> tuple[float, float]:
    from scipy.stats import wilcoxon

    moved = task.difference[task.difference != 0]
    if moved.size == 0:
        return 0.0, 1.0
    result = wilcoxon(np.copysign(tied(np.abs(moved), task.scale), moved))
    return float(result.statistic), float(result.pvalue)


def _randomisation(task: _Task) -> tuple[float, float]:
    """Share of sign assignments whose mean is at least as far from zero as the observed one."""
    size = task.difference.size
    observed = float(task.difference.mean())
    # Sums in another order that miss it by rounding only have reached it.
    limit = abs(observed) * size - TOLERANCE * task.scale * size
    if size <= _EXACT_SIGNS:
        codes = np.arange(1 << size)[:, np.newaxis] >> np.arange(size)
        sums = (1.0 - 2.0 * (codes & 1)) @ task.difference
        return observed, float(np.mean(np.abs(sums) >= limit))
    generator = _validation.as_generator(task.rng)
    extreme, left = 0, task.n_resamples
    while left:
        count = min(left, max(1, _BLOCK // size))
        signs = 1.0 - 2.0 * generator.integers(0, 2, size=(count, size))
        extreme += int(np.count_nonzero(np.abs(signs @ task.difference) >= limit))
        left -= count
    # The observed assignment is one of those that could have been drawn.
    return observed, (extreme + 1) / (task.n_resamples + 1)


TESTS: dict[str, Callable[[_Task], tuple[float, float]]] = {
    "t": _t,
    "corrected_t": _corrected_t,
    "randomisation": _randomisation,
    "wilcoxon": _wilcoxon,
    "sign": _sign,
}

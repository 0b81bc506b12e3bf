"""Bands of net-benefit curves: of one model, and of the difference of two on the same rows.

The net benefit at every threshold probability is a mean over rows, so its influence contributions
are the rows' own terms. Weighting them with independent normal numbers draws the whole curve (the
multiplier bootstrap); the largest deviation in units of standard errors says how much wider than
an interval at one probability the band has to be. The limits are then counted ones at that stricter
level, which stay right where few rows are selected, or where two models part in few rows or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from precall._validation import as_count, as_fraction, as_generator, as_range
from precall.exceptions import InputError, UndefinedMetricError
from precall.metrics.utility import require_probabilities
from precall.ranking import as_ranked
from precall.rows import Rows

from ..rules.counted import CLOPPER_PEARSON, SeveralShares, ShareOfTrials
from ..sampling import varying_prevalence
from .band import Band

FloatArray = npt.NDArray[np.float64]

#: Over which threshold probabilities a band runs by default.
PROBABILITIES = (0.05, 0.5)
METHOD = "multiplier"
# Standard errors under this share of the largest are those of no rows at all.
_NOTHING = 1e-9


@dataclass(frozen=True)
class _Along:
    """Net benefit as a function of counts, at every probability of a grid."""

    odds: FloatArray

    def of(self, tp: Any, fp: Any, n: Any, m: Any) -> Any:
        return (tp - self.odds * fp) / (n + m)

    @property
    def bounds(self) -> tuple[Any, Any]:
        return -self.odds, 1.0


@dataclass(frozen=True)
class _Terms:
    """What each kind of rows adds to the net benefit at every probability.

    Rows are of one kind if they have the same class and no probability of the grid parts them, for
    any of the models. `terms` has one line per kind, `counts` how many rows each has.
    """

    terms: FloatArray
    counts: FloatArray
    positive: npt.NDArray[np.bool_]

    @property
    def curve(self) -> FloatArray:
        """The mean over all rows."""
        return np.asarray(self.counts @ self.terms / self.counts.sum())

    def covariance(self, varying: bool) -> FloatArray:
        """Return the covariance of the curve; with classes of fixed size the rest within them."""
        total = self.counts.sum()
        parts = [slice(None)] if varying else [self.positive, ~self.positive]
        found = np.zeros((self.terms.shape[1],) * 2)
        for part in parts:
            counts, terms = self.counts[part], self.terms[part]
            centred = terms - counts @ terms / counts.sum()
            found += (centred.T * counts) @ centred
        return np.asarray(found / total**2)


def _terms(rows: Rows, names: list[str], grid: FloatArray, signs: list[float]) -> _Terms:
    odds = grid / (1.0 - grid)
    code = rows.positive.astype(np.int64)
    for name in names:
        # As many probabilities as a score reaches.
        reached = np.searchsorted(grid, rows.scores[name].astype(np.float64), side="right")
        code = code * (grid.size + 1) + reached
    kinds, counts = np.unique(code, return_counts=True)
    terms = np.zeros((kinds.size, grid.size))
    left = kinds
    reach = []
    for _ in names:
        reach.append(left % (grid.size + 1))
        left = left // (grid.size + 1)
    positive = left == 1
    value = np.where(positive[:, np.newaxis], 1.0, -odds)
    for reached, sign in zip(reach[::-1], signs, strict=True):
        terms += sign * value * (np.arange(grid.size) < reached[:, np.newaxis])
    return _Terms(terms, counts.astype(np.float64), positive)


def _critical(covariance: FloatArray, level: float, draws: int, rng: np.random.Generator) -> float:
    """Quantile of the largest deviation, in standard errors, of normal multipliers.

    Normal weights of the rows' contributions have exactly this covariance, so the sums are drawn
    and not the weights.
    """
    errors = np.sqrt(np.diag(covariance))
    some = errors > _NOTHING * errors.max(initial=0.0)
    if not some.any():
        return 0.0
    scaled = covariance[np.ix_(some, some)] / np.outer(errors[some], errors[some])
    spread, axes = np.linalg.eigh(scaled)
    factor = axes * np.sqrt(np.maximum(spread, 0.0))
    largest = np.abs(rng.standard_normal((draws, spread.size)) @ factor.T).max(axis=1)
    return float(np.quantile(largest, level))


def _grid(probability: Any, n_points: object) -> FloatArray:
    low, high = as_range(PROBABILITIES if probability is None else probability, "probability")
    if not 0.0 < low < high < 1.0:
        raise InputError(
            f"probability must run between 0 and 1, both left out, got {(low, high)!r}: at 0 "
            "acting costs nothing, at 1 nothing is worth it."
        )
    return np.linspace(low, high, as_count(n_points, "n_points", minimum=2))


def _checked(rows: Any, names: list[str], what: str) -> Rows:
    if not isinstance(rows, Rows):
        raise InputError(f"{what} needs every score: pass pr.Rows(y_true, y_score).")
    if rows.weight is not None or rows.cluster is not None:
        kind = "weights" if rows.weight is not None else "clusters"
        raise InputError(f"{what} knows no {kind}: give Rows without them.")
    if not (rows.positive.any() and not rows.positive.all()):
        missing = "negatives" if rows.positive.any() else "positives"
        raise UndefinedMetricError(f"{what} needs both classes, got no {missing}.")
    for name in names:
        require_probabilities(rows.scores[name], what, "take a band of another curve")
    return rows


def net_benefit_band(
    data: Any,
    *,
    model: str | None,
    confidence_level: float,
    probability: Any,
    sampling: str | None,
    prevalence: float | None,
    n_resamples: int,
    rng: Any,
    n_points: int,
) -> Band:
    """Return the band of one model's net benefit."""
    as_ranked(data, model)  # says what to pass instead of labels
    grid = _grid(probability, n_points)
    level = as_fraction(confidence_level, "confidence_level")
    varying = varying_prevalence(sampling, prevalence)
    name = data.model_named(model) if isinstance(data, Rows) else ""
    rows = _checked(data, [name], "a band of net benefit")
    draws = as_count(n_resamples, "n_resamples", minimum=100)
    terms = _terms(rows, [name], grid, [1.0])
    generator = as_generator(rng)
    scores, positive = rows.scores[name].astype(np.float64), rows.positive
    tp, fp = (
        chosen.size - np.searchsorted(np.sort(chosen), grid)
        for chosen in (scores[positive], scores[~positive])
    )
    n, m = float(np.count_nonzero(positive)), float(np.count_nonzero(~positive))
    share = n / (n + m) if prevalence is None else as_fraction(prevalence, "prevalence")
    if prevalence is not None:
        moved = np.where(terms.positive, share * (n + m) / n, (1.0 - share) * (n + m) / m)
        terms = _Terms(terms.terms * moved[:, np.newaxis], terms.counts, terms.positive)
    critical = _critical(terms.covariance(varying), level, draws, generator)
    parts: list[tuple[Any, Any]] = [(tp / n, n), (fp / m, m)]
    parts += [(np.full(grid.size, share), n + m)] if varying else []
    evidence = SeveralShares(
        at=_Along(grid / (1.0 - grid)),  # type: ignore[arg-type]
        parts=tuple(
            ShareOfTrials(value, trials, CLOPPER_PEARSON.share_limits) for value, trials in parts
        ),
        prevalence=share,
    )
    low, high = evidence.limits(_two_sided(critical, level))
    return Band(
        kind="net_benefit",
        x=grid,
        low=low,
        y=evidence.estimate,
        high=high,
        confidence_level=level,
        method=METHOD,
        diagnostics={"critical_value": critical},
        settings=_settings(grid, draws, varying, prevalence, rng),
    )


def net_benefit_difference(
    rows: Any,
    *,
    candidate: str,
    baseline: str,
    confidence_level: float,
    probability: Any,
    sampling: str | None,
    n_resamples: int,
    rng: Any,
    n_points: int,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, dict[str, Any]]:
    """Return the grid, the limits, the difference of two models' net benefit, and the settings."""
    grid = _grid(probability, n_points)
    level = as_fraction(confidence_level, "confidence_level")
    varying = varying_prevalence(sampling, None)
    names = [candidate, baseline]
    draws = as_count(n_resamples, "n_resamples", minimum=100)
    terms = _terms(
        _checked(rows, names, "a band of the difference of net benefit"), names, grid, [1.0, -1.0]
    )
    covariance = terms.covariance(varying)
    critical = _critical(covariance, level, draws, as_generator(rng))
    low, high = _parted_limits(terms, grid, varying, _two_sided(critical, level))
    return grid, low, terms.curve, high, _settings(grid, draws, varying, None, rng)


def _parted_limits(
    terms: _Terms, grid: FloatArray, varying: bool, level: float
) -> tuple[FloatArray, FloatArray]:
    """Limits of a difference from the exact limits of its parts.

    Rows of each class that one model selects and the other does not: four counts, whose distances
    add in squares. A count of 0 has an upper limit too.
    """
    total = terms.counts.sum()
    below, above = np.zeros(grid.size), np.zeros(grid.size)
    for chosen in (terms.positive, ~terms.positive):
        size = total if varying else terms.counts[chosen].sum()
        worth = np.ones(grid.size) if chosen is terms.positive else grid / (1.0 - grid)
        for side in (1.0, -1.0):
            parted = terms.terms[chosen] * side > 0.0
            count = terms.counts[chosen] @ parted
            low, high = CLOPPER_PEARSON.share_limits(count, size, level)
            scale = worth * size / total
            less, more = scale * (count / size - low), scale * (high - count / size)
            below += (less if side > 0 else more) ** 2
            above += (more if side > 0 else less) ** 2
    middle = terms.curve
    return middle - np.sqrt(below), middle + np.sqrt(above)


def _two_sided(critical: float, level: float) -> float:
    """Level of an interval that many standard errors wide; at least that of the band."""
    from scipy.special import ndtr

    return float(max(2.0 * ndtr(critical) - 1.0, level))


def _settings(
    grid: FloatArray, draws: int, varying: bool, prevalence: float | None, rng: Any
) -> dict[str, Any]:
    return {
        "probability": (float(grid[0]), float(grid[-1])),
        "n_points": grid.size,
        "n_resamples": draws,
        "sampling": "rows" if varying else "classes",
        "prevalence": prevalence,
        "seed": int(rng) if isinstance(rng, int | np.integer) else None,
    }

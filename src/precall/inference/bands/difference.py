"""The paired difference of two models' precision-recall curves, and which one dominates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from precall._threads import in_threads
from precall._validation import as_choice, as_count, as_fraction, as_generator, as_range
from precall.exceptions import InputError, UndefinedMetricError
from precall.ranking import Ranking
from precall.ranking.reflex import takes_one
from precall.rows import Rows

from ..sampling import varying_prevalence
from .band import Band
from .envelope import rank_envelope
from .interpolation import interpolate_rows
from .joint_cells import JointUnits, falling_rows, joint_units
from .net_benefit import METHOD, net_benefit_difference
from .paths import Path, positives_path
from .request import precision

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Result = TypeVar("Result")

# Numbers drawn at a time, so that memory does not grow with the number of draws.
_BLOCK = 1 << 20
# Standard deviations, and rows, within which drawn recall stays.
_SURE = 8.0


@takes_one("pr.Rows(y_true, {'old': s_old, 'new': s_new})")
def difference_band(
    rows: Rows,
    *,
    candidate: str,
    baseline: str,
    curve: str = "pr",
    confidence_level: float = 0.95,
    recall: tuple[float, float] | None = None,
    probability: tuple[float, float] | None = None,
    sampling: str | None = None,
    n_resamples: int = 2000,
    rng: np.random.Generator | int | None = None,
    n_points: int = 81,
) -> Band:
    """Simultaneous band for the precision of one model minus another's, at equal recall.

    Or, with ``curve="net_benefit"``, for the difference of their net benefit at equal threshold
    probability.

    Both models scored the same rows, so their curves rise and fall together. Every draw gives the
    rows random weights, once, as the pivotal distributions of order statistics have them
    (exponential spacings), and reads off both curves; the band is the weighted rank envelope of the
    differences, as in ``band(method="fiducial")``.

    Clémençon & Vayatis (2009, § 2.2) call a scorer more accurate than another if its curve is
    nowhere lower. The band decides that partial order on the range of recall asked for, with one
    error rate for the whole statement.

    Parameters
    ----------
    rows : Rows
        With both models, unweighted and without clusters.
    candidate, baseline : str
        The two models.
    curve : {"pr", "net_benefit"}
        What is subtracted. Net benefit needs calibrated probabilities as scores of both models;
        its band comes from a multiplier bootstrap over the rows' contributions.
    confidence_level, recall, probability, sampling, n_resamples, rng, n_points
        As in :func:`precall.band`; `recall` goes with ``pr``, `probability` with ``net_benefit``.

    Returns
    -------
    Band
        Of kind ``"difference"`` or ``"net_benefit_difference"``. Its diagnostics hold the
        `verdict`, one of ``"candidate dominates"``, ``"baseline dominates"``, ``"the curves
        cross"`` and ``"undecided"``, and the ranges of recall or probability `candidate_better`,
        `baseline_better` and `undecided`. A model dominates if it is better somewhere and the other
        nowhere can be: ``low >= 0`` on the whole range. Curves cross if each is better somewhere.

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([1, 0], [300, 700])
    >>> good = rng.normal(size=1000) + 2.0 * y
    >>> poor = good + rng.normal(size=1000)
    >>> rows = pr.Rows(y, {"good": good, "poor": poor})
    >>> band = pr.difference_band(rows, candidate="good", baseline="poor", recall=(0.3, 0.8), rng=0)
    >>> band.diagnostics["verdict"]
    'candidate dominates'
    """
    if not isinstance(rows, Rows):
        raise InputError(f"rows must be precall.Rows with two models, got {type(rows).__name__}.")
    for name, given in (("candidate", candidate), ("baseline", baseline)):
        if not isinstance(given, str) or given not in rows.scores:  # type: ignore[redundant-expr]
            listed = ", ".join(map(repr, rows.names))
            raise InputError(f"{name} must be one of the models {listed}, got {given!r}.")
    as_choice(curve, "curve", ("pr", "net_benefit"))
    foreign, own = ("recall", "probability") if curve != "pr" else ("probability", "recall")
    if {"recall": recall, "probability": probability}[foreign] is not None:
        raise InputError(f"{foreign} does not run along a {curve} curve: give {own}=.")
    if curve == "net_benefit":
        return _of_net_benefit(
            rows,
            candidate=candidate,
            baseline=baseline,
            confidence_level=confidence_level,
            probability=probability,
            sampling=sampling,
            n_resamples=n_resamples,
            rng=rng,
            n_points=n_points,
        )
    if rows.weight is not None or rows.cluster is not None:
        what = "weights" if rows.weight is not None else "clusters"
        raise InputError(f"difference_band knows no {what}: give Rows without them.")
    positive, models = rows.positive, [rows.scores[candidate], rows.scores[baseline]]
    n, m = int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))
    if not (n and m):
        raise UndefinedMetricError("rows must have positives and negatives for a band.")
    span = as_range((0.1, 0.9) if recall is None else recall, "recall")
    if span[0] == 0.0:
        raise InputError(f"recall must start above 0, got {recall!r}: nothing is selected there.")
    grid = np.linspace(*span, as_count(n_points, "n_points", minimum=2))
    level = as_fraction(confidence_level, "confidence_level")
    varying = varying_prevalence(sampling, None)
    generator = as_generator(rng)
    draws = as_count(n_resamples, "n_resamples", minimum=100)

    orders = [rows.order(name) for name in (candidate, baseline)]
    rankings = [rows[candidate], rows[baseline]]
    curves = _draw_differences(rankings, models, orders, positive, grid, draws, varying, generator)
    low, high = rank_envelope(*curves, 1.0 - level)
    share = n / (n + m)
    observed = [
        precision(grid, positives_path(ranking).observed(grid), share) for ranking in rankings
    ]
    return Band(
        kind="difference",
        x=grid,
        low=low,
        y=observed[0] - observed[1],
        high=high,
        confidence_level=level,
        method="fiducial",
        diagnostics=verdict(grid, low, high),
        settings={
            "recall": span,
            "n_points": grid.size,
            "n_resamples": draws,
            "sampling": "rows" if varying else "classes",
            "seed": int(rng) if isinstance(rng, int | np.integer) else None,
        },
    )


def _of_net_benefit(rows: Rows, *, confidence_level: float, **asked: Any) -> Band:
    grid, low, middle, high, settings = net_benefit_difference(
        rows, confidence_level=confidence_level, **asked
    )
    return Band(
        kind="net_benefit_difference",
        x=grid,
        low=low,
        y=middle,
        high=high,
        confidence_level=confidence_level,
        method=METHOD,
        diagnostics=verdict(grid, low, high),
        settings=settings,
    )


def verdict(grid: FloatArray, low: FloatArray, high: FloatArray) -> dict[str, Any]:
    """Say which curve is surely higher where, and what follows for the whole range."""
    candidate_better, baseline_better = low > 0.0, high < 0.0
    if candidate_better.any() and baseline_better.any():
        said = "the curves cross"
    elif candidate_better.any() and np.all(low >= 0.0):
        said = "candidate dominates"
    elif baseline_better.any() and np.all(high <= 0.0):
        said = "baseline dominates"
    else:
        said = "undecided"
    return {
        "verdict": said,
        "candidate_better": _ranges(grid, candidate_better),
        "baseline_better": _ranges(grid, baseline_better),
        "undecided": _ranges(grid, ~(candidate_better | baseline_better)),
    }


def _ranges(grid: FloatArray, chosen: npt.NDArray[np.bool_]) -> tuple[tuple[float, float], ...]:
    """Runs of chosen grid points as (first, last)."""
    change = np.diff(np.concatenate([[0], chosen.astype(np.int64), [0]]))
    first, last = np.flatnonzero(change == 1), np.flatnonzero(change == -1) - 1
    # As the points were asked for: 0.41, not 0.41000000000000003.
    shown = np.round(grid, 12).tolist()
    return tuple((shown[i], shown[j]) for i, j in zip(first, last, strict=True))


def _draw_differences(
    rankings: list[Ranking],
    models: list[npt.NDArray[Any]],
    orders: list[IntArray],
    positive: npt.NDArray[np.bool_],
    grid: FloatArray,
    draws: int,
    varying: bool,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Draw differences of precision, with copies for the lower and the upper limit."""
    first, second = (
        falling_rows(scores, order, positive, rng)
        for scores, order in zip(models, orders, strict=True)
    )
    ours, theirs = zip(first, second, strict=True)
    paths = (positives_path(rankings[0]), positives_path(rankings[1]))
    arrivals = _draw_arrivals(paths, ours, grid, draws, rng)
    curves = _draw_curves(paths, arrivals, theirs, grid, varying, rng)
    (a, a_low, a_high), (b, b_low, b_high) = curves
    return a - b, a_low - b_high, a_high - b_low


class _Arrival(NamedTuple):
    """Negatives above, and positives at or above, where one model's drawn recall reaches the grid.

    Both are (draws, points); positives are whole numbers.
    """

    negatives: FloatArray
    positives: IntArray


def _draw_arrivals(
    paths: tuple[Path, Path],
    falling: tuple[IntArray, IntArray],
    grid: FloatArray,
    draws: int,
    rng: np.random.Generator,
) -> tuple[_Arrival, _Arrival]:
    """Draw the true recall at every positive: cumulated spacings, one more below the last."""
    n = paths[0].size
    reach = _likely_rows(n, grid)
    units = joint_units(falling, (reach, reach))

    def block(part: slice, generator: np.random.Generator) -> list[_Arrival]:
        size = part.stop - part.start
        weights, below = units.draw(generator, size), generator.standard_exponential((size, 1))
        return [
            _arrival(units, model, weights, below, path, grid) for model, path in enumerate(paths)
        ]

    first, second = (
        _Arrival(*(np.concatenate(part) for part in zip(*each, strict=True)))
        for each in zip(*_by_blocks(block, draws, units.counts.size, rng), strict=True)
    )
    return first, second


def _arrival(
    units: JointUnits,
    model: int,
    weights: FloatArray,
    below: FloatArray,
    path: Path,
    grid: FloatArray,
) -> _Arrival:
    """Where the recall that these weights of the positives give one model reaches the grid."""
    n = path.size
    recall = units.cumulated(weights, model)
    total = recall[:, -1:] + below
    rows = interpolate_rows(
        grid * total, np.hstack([recall, total]), np.append(units.edges[model], n + 1.0)
    )
    whole = np.clip(np.floor(rows).astype(np.int64), 0, n)
    before, after = path.values(whole), path.values(whole + 1)
    count = np.maximum.accumulate(before + (rows - whole) * (after - before), axis=1)
    return _Arrival(count, whole)


def _likely_rows(n: int, grid: FloatArray) -> tuple[float, float]:
    """Positives between which the true recall passes the grid, but in one of 10^13 draws.

    By Bernstein's inequality; a draw that leaves them is interpolated over a wide cell.
    """
    low, high = float(grid[0]), float(grid[-1])
    down, up = (_SURE * (1.0 + np.sqrt(n * r * (1.0 - r))) for r in (low, high))
    return n * low - down, n * high + up


def _by_blocks(
    block: Callable[[slice, np.random.Generator], Result],
    draws: int,
    numbers: int,
    rng: np.random.Generator,
) -> list[Result]:
    """Call `block` for some draws of so many numbers at a time, each with a generator of its own.

    What is drawn depends neither on the threads nor on the order in which they finish.
    """
    size = max(_BLOCK // numbers, 1)
    parts = [slice(first, min(first + size, draws)) for first in range(0, draws, size)]
    tasks = [
        partial(block, part, generator)
        for part, generator in zip(parts, rng.spawn(len(parts)), strict=True)
    ]
    return in_threads(tasks, draws * numbers)


def _draw_curves(
    paths: tuple[Path, Path],
    arrivals: tuple[_Arrival, _Arrival],
    falling: tuple[IntArray, IntArray],
    grid: FloatArray,
    varying: bool,
    rng: np.random.Generator,
) -> list[list[FloatArray]]:
    """Draw each model's precision, and its copies for the lower and the upper limit."""
    n, m = paths[0].size, int(paths[0].total)
    first, second = (
        (float(each.negatives.min()), float(each.negatives.max())) for each in arrivals
    )
    units = joint_units(falling, (first, second))
    nothing = [path.last_row_under(1.0) for path in paths]
    everything = [path.last_row_under(np.nextafter(path.total - 1.0, np.inf)) for path in paths]

    def block(part: slice, generator: np.random.Generator) -> list[list[FloatArray]]:
        size = part.stop - part.start
        weights = units.draw(generator, size)
        share = np.full((size, 1), n / (n + m))
        if varying:
            share = generator.beta(n + 0.5, m + 0.5, size=(size, 1))
        # Half a negative more at the top and at the bottom, as in the distribution of one curve.
        # Each model draws its own: to share it would be hardly narrower, and assumes that models
        # agree.
        ends = generator.standard_gamma(0.5, (2, 2, size, 1))
        found = []
        for model, arrival in enumerate(arrivals):
            rate = _rates(units, model, weights, ends[model], arrival.negatives[part])
            positives = arrival.positives[part]
            low = np.where(positives <= nothing[model], 0.0, rate)
            high = np.where(positives >= everything[model], 1.0, rate)
            found.append([precision(grid, each, share) for each in (rate, high, low)])
        return found

    blocks = _by_blocks(block, len(arrivals[0].negatives), units.counts.size, rng)
    return [
        [np.concatenate(each) for each in zip(*part, strict=True)]
        for part in zip(*blocks, strict=True)
    ]


def _rates(
    units: JointUnits,
    model: int,
    weights: FloatArray,
    ends: FloatArray,
    negatives: FloatArray,
) -> FloatArray:
    """False-positive rates that these weights of the negatives give one model."""
    top, bottom = ends
    fall = units.cumulated(weights, model)
    above = interpolate_rows(negatives, units.edges[model], fall)
    return np.asarray((top + above) / (top + fall[:, -1:] + bottom))

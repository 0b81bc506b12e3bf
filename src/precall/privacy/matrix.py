"""The private confusion matrix at a public threshold, and every metric that follows from it."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_number
from ..exceptions import InputError, ReliabilityWarning
from ..ranking import Ranking
from . import smooth
from ._ledger import as_epsilon
from ._rows import read_rows
from .budget import Budget, Part, as_budget
from .mechanisms import Noise, Noisy, add_to_counts, heavy_tailed, laplace_scale, noise_source
from .metrics import check_ranking
from .ratios import CELLS, CONFUSION_METRICS, plausible, ratio
from .rescaled import row_count
from .values import PrivateValue

# Replacing a row takes one from a cell and gives one to another.
_SENSITIVITY = 2.0

# With a Ranking only: share of epsilon for the false positives, and smoothness over that share.
_FALSE_POSITIVE_SHARE = 0.75
_SMOOTHNESS = 1.0 / 6.0


@dataclass(frozen=True, kw_only=True, repr=False)
class PrivateConfusion:
    """A confusion matrix released with noise. It may be published as it is.

    Attributes
    ----------
    tp, fp, fn, tn : float
        Noisy counts, made to add up to the public number of rows and none below 0.
    threshold : float
        The public threshold: a row is called positive if its score is at least that.
    epsilon, delta : float
        What it cost.
    mechanism : str
        How it was made.
    scale : float or None
        Standard deviation of the noise in each count, before they were made to add up; None
        where it would give private counts away.
    n_rows : int
        Public number of rows.
    noisy : tuple of Noisy
        The four counts as they were released, where their scale may be known.
    """

    tp: float
    fp: float
    fn: float
    tn: float
    threshold: float
    epsilon: float
    delta: float
    mechanism: str
    scale: float | None
    n_rows: int
    noisy: tuple[Noisy, ...] = ()

    def measure(self, metric: str, *, beta: float = 1.0) -> PrivateValue:
        """Return a metric of this matrix; it costs nothing more, however many are asked for.

        Parameters
        ----------
        metric : str
            One of :data:`CONFUSION_METRICS`.
        beta : float, default 1.0
            Weight of recall in ``f_beta``.

        Returns
        -------
        PrivateValue
            NaN if its denominator is 0.
        """
        form = ratio(metric, beta=beta)
        return PrivateValue(
            value=form.of([getattr(self, cell) for cell in CELLS]),
            epsilon=self.epsilon,
            delta=self.delta,
            mechanism=self.mechanism,
            scale=form.error(self.noisy, self.n_rows) if self.noisy else None,
            metric=form,
            n_rows=self.n_rows,
            noisy=self.noisy,
        )

    def __repr__(self) -> str:
        """Return one line."""
        cells = ", ".join(f"{cell}={getattr(self, cell):.6g}" for cell in CELLS)
        return (
            f"PrivateConfusion({cells}, threshold={self.threshold:.6g}, "
            f"epsilon={self.epsilon:.6g}, delta={self.delta:.6g}, mechanism={self.mechanism!r})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary of what may be published, metrics included."""
        names = (*CELLS, "threshold", "epsilon", "delta", "mechanism", "scale", "n_rows")
        plain = {name: getattr(self, name) for name in names}
        return plain | {
            name: self.measure(name).value for name in CONFUSION_METRICS if name != "f_beta"
        }


def confusion(
    ranking: Ranking | tuple[object, object],
    threshold: float,
    *,
    epsilon: float,
    budget: Budget | Part,
    rng: object = None,
) -> PrivateConfusion:
    """Release the confusion matrix at a threshold that was chosen without the data.

    Pass the rows, ``(y_true, y_score)``, wherever they are at hand: replacing one moves two counts
    by one each, so little noise is needed. A Ranking knows the negatives only between one
    positive and the next; the false positives that it can give, those above the lowest positive
    at or over the threshold, change by a whole gap when that positive is replaced, and the noise
    must cover the gap: expect an error of hundreds of negatives.

    Parameters
    ----------
    ranking : (y_true, y_score) or Ranking
        The rows, with labels {0, 1}, {-1, 1} or booleans; or an unweighted Ranking of all of them.
    threshold : float
        Public; not a quantile or an optimum of the same data.
    epsilon : float
        Cost.
    budget : Budget
        What pays for it.
    rng : optional
        Seed or generator, for simulation only: the release is then not private.

    Returns
    -------
    PrivateConfusion

    Raises
    ------
    BudgetError
        If the budget does not allow it; nothing has been looked at then.

    Warns
    -----
    ReliabilityWarning
        If a Ranking was passed: the rows need far less noise.

    Examples
    --------
    >>> import numpy as np
    >>> from precall import privacy
    >>> y = np.arange(10_000) % 4 == 0
    >>> score = np.where(y, 0.8, np.linspace(0, 1, 10_000))
    >>> budget = privacy.Budget(epsilon=1.0)
    >>> matrix = privacy.confusion((y, score), 0.5, epsilon=1.0, budget=budget)
    >>> round(matrix.measure("precision").value, 1), round(matrix.measure("recall").value, 1)
    (0.4, 1.0)
    """
    epsilon = as_epsilon(epsilon)
    threshold = as_number(threshold, "threshold")
    budget = as_budget(budget)
    if isinstance(ranking, Ranking):
        check_ranking(ranking)
        n_rows, mechanism = row_count(ranking), "smooth_quartic"
        smooth.check(epsilon, n_rows)
        warnings.warn(
            "a Ranking does not know where negatives lie between positives, so its false positives "
            "need noise that covers whole gaps: pass (y_true, y_score) for far less noise.",
            ReliabilityWarning,
            stacklevel=2,
        )
    noise = noise_source(rng)
    noisy: tuple[Noisy, ...] = ()
    with budget.hold(epsilon=epsilon, delta=0.0, what="confusion matrix") as hold:
        if isinstance(ranking, Ranking):
            hold.look()
            counts = _from_ranking(ranking, threshold, epsilon, noise)
        else:
            positive, scores = read_rows(*_pair(ranking))
            n_rows, mechanism = positive.size, "laplace"
            hold.look()
            noisy = _from_rows(positive, scores >= threshold, epsilon, noise)
            counts = plausible(noisy, n_rows)
    return PrivateConfusion(
        **dict(zip(CELLS, counts, strict=True)),
        threshold=threshold,
        epsilon=epsilon,
        delta=0.0,
        mechanism=mechanism,
        scale=math.sqrt(2.0) * noisy[0].scale if noisy else None,
        n_rows=n_rows,
        noisy=noisy,
    )


def _pair(rows: object) -> tuple[object, object]:
    if not isinstance(rows, tuple) or len(rows) != 2:
        raise InputError(
            f"ranking must be a Ranking or a pair (y_true, y_score), got {type(rows).__name__}."
        )
    return rows


def _from_rows(
    positive: npt.NDArray[np.bool_], called: npt.NDArray[np.bool_], epsilon: float, noise: Noise
) -> tuple[Noisy, ...]:
    cells = (positive & called, ~positive & called, positive & ~called, ~positive & ~called)
    counts = np.array([np.count_nonzero(cell) for cell in cells], dtype=np.int64)
    released = add_to_counts(counts, sensitivity=_SENSITIVITY, epsilon=epsilon, noise=noise)
    scale = laplace_scale(_SENSITIVITY, epsilon)
    return tuple(Noisy(value=float(count), scale=scale, grid=1.0) for count in released)


def _from_ranking(ranking: Ranking, threshold: float, epsilon: float, noise: Noise) -> list[float]:
    share = _FALSE_POSITIVE_SHARE * epsilon
    called = int(np.count_nonzero(ranking.threshold >= threshold))
    tp = int(ranking.tp[called - 1]) if called else 0
    ours = np.array([tp, int(ranking.n_pos) - tp], dtype=np.int64)
    found, missed = add_to_counts(
        ours, sensitivity=_SENSITIVITY, epsilon=epsilon - share, noise=noise
    )
    calibration = smooth.heavy_tailed_calibration(
        4, _SMOOTHNESS, share * (1.0 - smooth.ROUNDING_SHARE)
    )
    n_rows = row_count(ranking)
    gaps = np.append(ranking.above + ranking.tied, ranking.below)
    spread = gap_sensitivity(gaps, called=called, n_rows=n_rows, beta=calibration.beta)
    unit = 2**smooth.GRID_BITS
    drawn = heavy_tailed(math.ceil(calibration.factor * spread * unit), degree=4, noise=noise)
    alarms = int(np.sum(gaps[:called])) + drawn / unit
    cells = [float(found), alarms, float(missed)]
    exact = [Noisy(value=value, scale=0.0, grid=1.0) for value in (*cells, n_rows - sum(cells))]
    return plausible(tuple(exact), n_rows)


def gap_sensitivity(gaps: npt.NDArray[Any], *, called: int, n_rows: int, beta: float) -> float:
    """Smooth sensitivity of the number of negatives in the first `called` gaps.

    Replacing one row moves it by at most the larger of the two gaps on either side of the
    threshold; after `j` replacements a gap is at most ``j + 1`` neighbouring gaps and `j` new
    negatives, and never more than all rows.

    Parameters
    ----------
    gaps : array of int
        Negatives from each distinct positive score up to the next, from the top; then those
        under the last.
    called : int
        Number of positive scores at or over the threshold; gap number `called`, from 0, lies
        across it.
    n_rows : int
        Number of rows.
    beta : float
        Smoothness.

    Returns
    -------
    float
        At least 1.
    """
    sums = np.concatenate([[0], np.cumsum(gaps)])
    best, steps = 1.0, 0
    while best < math.exp(-beta * steps) * n_rows:
        first = np.arange(max(called - 1 - steps, 0), called + 1)
        last = np.minimum(first + steps + 1, gaps.size)
        widest = min(int(np.max(sums[last] - sums[first])) + steps, n_rows)
        best = max(best, math.exp(-beta * steps) * widest)
        steps += 1
    return best

"""What a release will be worth, from public facts alone: nothing here looks at any row."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from .._notebook import Rich
from .._validation import as_choice, as_count, as_fraction, as_generator
from ..exceptions import InputError
from ..metrics.areas import aucpr, auroc
from ..ranking import Ranking, rank_checked
from ._ledger import as_epsilon
from ._persons import MOST_ROWS, as_rows_per_person, row_share
from ._rows import FloatArray, Mask
from .choice import as_mechanism, choose_mechanism
from .curve_release import noisy_curve
from .histograms import bin_counts
from .mechanisms import SeededNoise
from .rescaled import Auroc, AveragePrecision
from .site_plans import sites_edges

# Scores of positives and negatives in the guess: the beta distributions of simulate.Bibeta.
_SHAPES = ((5.0, 2.0), (2.0, 5.0))
# Rows that a curve is simulated with; noise in proportion stands for more of them.
_MOST_SIMULATED = 100_000
METRICS: dict[str, AveragePrecision | Auroc] = {
    "average_precision": AveragePrecision(),
    "auroc": Auroc(),
}


class _Area(NamedTuple):
    """A metric of the guess: its exact value, and the curve that a private one is read off."""

    value: Callable[[Ranking], float]
    curve: str


_AREAS = {"average_precision": _Area(aucpr, "pr"), "auroc": _Area(auroc, "roc")}


@dataclass(frozen=True, kw_only=True, repr=False)
class ExpectedError(Rich):
    """How far noise will move a release, for a guess of what the rows are like.

    Attributes
    ----------
    error : float
        Root-mean-square distance between what would be released and the exact value.
    uncertainty : float
        Standard error of `error`, from the number of simulated releases.
    metric, mechanism : str
        What would be released, and how.
    value : float
        Exact value of the metric in the guess.
    n_rows : int
        Public number of rows.
    epsilon : float
        What it would cost.
    prevalence : float
        Guess of the share of positives.
    n_simulations : int
        Simulated releases.
    """

    error: float
    uncertainty: float
    metric: str
    mechanism: str
    value: float
    n_rows: int
    epsilon: float
    prevalence: float
    n_simulations: int

    def __repr__(self) -> str:
        """Return one line."""
        return (
            f"ExpectedError({self.metric}: {self.error:.2g} around {self.value:.2g}, "
            f"{self.n_rows} rows, prevalence={self.prevalence:g}, epsilon={self.epsilon:g}, "
            f"mechanism={self.mechanism!r})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary."""
        return asdict(self)


def expected_error(
    *,
    n_rows: int,
    epsilon: float,
    prevalence: float,
    metric: str = "average_precision",
    mechanism: str = "rescaled",
    edges: object = None,
    rows_per_person: int = 1,
    n_sites: int = 1,
    n_simulations: int = 200,
    rng: object = 0,
) -> ExpectedError:
    """Simulate the error of a release before anything is spent.

    The guess is :class:`precall.simulate.Bibeta`, a scorer of middling quality, with the stated
    prevalence. The error is that of noise, and of binning if there is any, against the exact metric
    of the simulated rows.

    Parameters
    ----------
    n_rows : int
        Public number of rows.
    epsilon : float
        What the release would cost.
    prevalence : float
        A guess of the share of positives, which was not read off the private rows.
    metric : {"average_precision", "auroc"}
        What to release.
    mechanism : {"rescaled", "curve", "auto"}
        As for :func:`average_precision`; what "auto" chooses is in the result.
    edges : array-like, optional
        Public edges of the curve, as for :func:`pr_curve`.
    rows_per_person : int, default 1
        Rows of one person that are protected together; `n_rows` counts rows.
    n_sites : int, default 1
        For ``mechanism="curve"``: sites that release apart and are added up by :func:`combine`.
        `n_rows` are the rows of all.
    n_simulations : int, default 200
        Simulated releases.
    rng : optional, default 0
        Seed or generator of the simulation. No private row is involved.

    Returns
    -------
    ExpectedError

    Examples
    --------
    >>> from precall import privacy
    >>> ahead = privacy.expected_error(n_rows=20_000, epsilon=1.0, prevalence=0.1)
    >>> 0.003 < ahead.error < 0.01
    True
    """
    n_rows = as_count(n_rows, "n_rows", minimum=2)
    if n_rows > MOST_ROWS:
        raise InputError(f"n_rows must be at most {MOST_ROWS}, got {n_rows}.")
    epsilon = as_epsilon(epsilon)
    prevalence = as_fraction(prevalence, "prevalence")
    metric = as_choice(metric, "metric", METRICS)
    rows_per_person = as_rows_per_person(rows_per_person)
    asked = as_mechanism(mechanism)
    if edges is not None and asked == "rescaled":
        raise InputError('edges is for mechanism="curve" or "auto": leave it out.')
    mechanism = asked
    if asked == "auto":
        mechanism = choose_mechanism(
            n_rows=n_rows,
            epsilon=epsilon,
            prevalence=prevalence,
            metric=metric,
            rows_per_person=rows_per_person,
        )
    share = float(row_share(epsilon, rows_per_person))
    n_simulations = as_count(n_simulations, "n_simulations", minimum=2)
    n_sites = as_count(n_sites, "n_sites", minimum=1)
    if n_sites > 1 and asked != "curve":
        raise InputError('n_sites is for mechanism="curve": sites release nothing else.')
    noise = SeededNoise(as_generator(rng))
    value, values = _SIMULATIONS[mechanism](
        metric, n_rows, share, prevalence, edges, n_sites, n_simulations, noise
    )
    squares = np.square(np.array(values) - value)
    error = math.sqrt(squares.mean())
    spread = float(np.std(squares, ddof=1)) / math.sqrt(n_simulations)
    return ExpectedError(
        error=error,
        uncertainty=spread / (2 * error) if error else 0.0,
        metric=metric,
        mechanism=mechanism,
        value=value,
        n_rows=n_rows,
        epsilon=epsilon,
        prevalence=prevalence,
        n_simulations=n_simulations,
    )


Simulation = Callable[..., tuple[float, list[float]]]


def _rescaled(
    metric: str,
    n_rows: int,
    epsilon: float,
    prevalence: float,
    edges: object,
    n_sites: int,
    times: int,
    noise: SeededNoise,
) -> tuple[float, list[float]]:
    form, n_pos = METRICS[metric], _positives(n_rows, prevalence)
    value = _exact(metric, *guessed_rows(n_rows, prevalence))
    statistic = form.statistic(value, n_pos, n_rows)
    drawn = (form.add_noise(statistic, n_pos, n_rows, epsilon, noise) for _ in range(times))
    return value, [form.value(noisy, n_rows) for noisy in drawn]


def _curve(
    metric: str,
    n_rows: int,
    epsilon: float,
    prevalence: float,
    edges: object,
    n_sites: int,
    times: int,
    noise: SeededNoise,
) -> tuple[float, list[float]]:
    cuts = sites_edges(edges, n_rows, epsilon, n_sites)
    positive, scores = guessed_rows(n_rows, prevalence)
    fewer = scores.size
    counts = bin_counts(positive, scores, cuts)
    kind = _AREAS[metric].curve
    share = epsilon * (n_rows / fewer)
    curves = (noisy_curve(kind, counts, cuts, share, fewer, noise, n_sites) for _ in range(times))
    return _exact(metric, positive, scores), [curve.area() for curve in curves]


def guessed_rows(n_rows: int, prevalence: float) -> tuple[Mask, FloatArray]:
    """Rows of the guess, without chance: even quantiles of the scores of both classes."""
    from scipy.special import betaincinv

    n_rows = min(n_rows, _MOST_SIMULATED)
    n_pos = _positives(n_rows, prevalence)
    scores = [
        betaincinv(*shape, (np.arange(count) + 0.5) / count)
        for shape, count in zip(_SHAPES, (n_pos, n_rows - n_pos), strict=True)
    ]
    return np.arange(n_rows) < n_pos, np.concatenate(scores)


def _exact(metric: str, positive: Mask, scores: FloatArray) -> float:
    ranking = rank_checked(positive, scores, None)
    return _AREAS[metric].value(ranking)


def _positives(n_rows: int, prevalence: float) -> int:
    return min(max(round(prevalence * n_rows), 1), n_rows - 1)


_SIMULATIONS: dict[str, Simulation] = {"rescaled": _rescaled, "curve": _curve}

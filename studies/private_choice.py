"""Which mechanism has the smallest error: the table behind ``mechanism="auto"``.

Root-mean-square error of private average precision and AUROC against the exact value of the same
rows, over rows, prevalence and epsilon, for every mechanism of ``precall.privacy`` and for those on
smooth sensitivity. The rule of "auto" was chosen on some models of scores and is reported on
others. All scores are probabilities, as a curve without edges of its own takes them to be.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from precall.metrics.areas import aucpr, auroc
from precall.privacy.curve_release import noisy_curve
from precall.privacy.edges import as_edges
from precall.privacy.histograms import bin_counts
from precall.privacy.mechanisms import SeededNoise
from precall.privacy.rescaled import Auroc, AveragePrecision
from precall.ranking import Ranking, rank

from . import _smooth_sensitivity as smooth_sensitivity
from ._cases import run_cases
from ._private_choice_page import draw, write_page
from ._results import Results, Row

FloatArray = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], FloatArray]

#: (rows, prevalence), and the epsilons: 48 cells of a model.
SIZES = (
    (500, 0.1),
    (500, 0.5),
    (2_000, 0.01),
    (2_000, 0.1),
    (2_000, 0.5),
    (20_000, 0.01),
    (20_000, 0.1),
    (20_000, 0.5),
)
EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
#: More rows, where the noise is small and the bins are what is left.
LARGE = ((200_000, 0.01), (200_000, 0.1))
DELTA = 1e-6
RELEASES = 10


class Model(NamedTuple):
    """Scores of positives and of negatives, all probabilities."""

    positives: Draw
    negatives: Draw


def _normal(mean: float, deviation: float = 1.0) -> Draw:
    """Normal on the scale of log-odds."""
    return lambda rng, size: 1.0 / (1.0 + np.exp(-rng.normal(mean, deviation, size)))


def _student(shift: float) -> Draw:
    return lambda rng, size: 1.0 / (1.0 + np.exp(-(rng.standard_t(3, size) + shift)))


def _beta(first: float, second: float) -> Draw:
    return lambda rng, size: rng.beta(first, second, size)


def _uniform(low: float, high: float) -> Draw:
    return lambda rng, size: rng.uniform(low, high, size)


def _mixed(one: Draw, other: Draw, share: float) -> Draw:
    def drawn(rng: np.random.Generator, size: int) -> FloatArray:
        return np.where(rng.random(size) < share, one(rng, size), other(rng, size))

    return drawn


def _rounded(draws: Draw) -> Draw:
    return lambda rng, size: np.round(draws(rng, size), 1)


#: Models that the rule was chosen on.
CHOSEN_ON = {
    "bibeta": Model(_beta(5, 2), _beta(2, 5)),
    "log-odds normal": Model(_normal(1.5), _normal(0.0)),
    "poor scorer": Model(_beta(2.5, 2), _beta(2, 2.5)),
    "crowded near 0": Model(_normal(-2.5, 1.5), _normal(-5.0, 1.5)),
}
#: Models that nothing was chosen on.
REPORTED_ON = {
    "offset uniform": Model(_uniform(0.3, 1.0), _uniform(0.0, 0.7)),
    "half hidden": Model(_mixed(_beta(8, 2), _beta(2, 5), 0.5), _beta(2, 5)),
    "log-odds t": Model(_student(2.0), _student(-1.0)),
    "ten levels": Model(_rounded(_beta(4, 2)), _rounded(_beta(1.5, 4))),
}
MODELS = {**CHOSEN_ON, **REPORTED_ON}
MECHANISMS = ("rescaled", "curve", *smooth_sensitivity.CALIBRATIONS)
METRICS = ("average_precision", "auroc")
_FORMS: dict[str, AveragePrecision | Auroc] = {
    "average_precision": AveragePrecision(),
    "auroc": Auroc(),
}
_AREAS: dict[str, Callable[[Ranking], float]] = {"average_precision": aucpr, "auroc": auroc}
_KINDS = {"average_precision": "pr", "auroc": "roc"}


class Case(NamedTuple):
    """A cell of the table."""

    model: str
    rows: int
    prevalence: float
    epsilon: float


def cases(quick: bool) -> list[Case]:
    """Every case, in order."""
    if quick:
        return [Case(model, 500, 0.1, epsilon) for model in MODELS for epsilon in (0.1, 4.0)]
    sizes = [(model, size) for size in (*SIZES, *LARGE) for model in MODELS]
    return [Case(model, *size, epsilon) for model, size in sizes for epsilon in EPSILONS]


class Sample(NamedTuple):
    """Rows, with their ranking."""

    positive: npt.NDArray[np.bool_]
    scores: FloatArray
    ranking: Ranking

    @classmethod
    def drawn(cls, case: Case, rng: np.random.Generator) -> Sample:
        """Draw rows of a case, with a fixed number of positives."""
        n_pos = round(case.rows * case.prevalence)
        model = MODELS[case.model]
        scores = np.concatenate(
            [model.positives(rng, n_pos), model.negatives(rng, case.rows - n_pos)]
        )
        positive = np.arange(case.rows) < n_pos
        return cls(positive, scores, rank(positive, scores))


def releases(
    sample: Sample, metric: str, mechanism: str, epsilon: float, times: int, noise: SeededNoise
) -> FloatArray:
    """Release a metric several times, with noise that protects nobody."""
    form, n_rows = _FORMS[metric], sample.scores.size
    ranking = sample.ranking
    if mechanism == "rescaled":
        drawn = (form.release(ranking, epsilon=epsilon, noise=noise) for _ in range(times))
        return np.array([form.value(noisy, n_rows) for noisy in drawn])
    if mechanism == "curve":
        cuts = as_edges(None, n_rows, epsilon)
        counts = bin_counts(sample.positive, sample.scores, cuts)
        kind = _KINDS[metric]
        curves = (noisy_curve(kind, counts, cuts, epsilon, n_rows, noise) for _ in range(times))
        return np.array([curve.area() for curve in curves])
    return smooth_sensitivity.releases(
        _AREAS[metric](ranking),
        local=smooth_sensitivity.local_sensitivity(metric, mechanism, n_rows),
        mechanism=mechanism,
        n_pos=int(ranking.n_pos),
        n_rows=n_rows,
        epsilon=epsilon,
        delta=DELTA,
        times=times,
        noise=noise,
    )


def simulate(case: Case, runs: int, seed: Any) -> list[Row]:
    """Return the errors of every mechanism in one cell."""
    rng = np.random.default_rng(seed)
    noise = SeededNoise(rng)
    squares: dict[tuple[str, str], list[float]] = {}
    for _ in range(runs):
        sample = Sample.drawn(case, rng)
        for metric in METRICS:
            exact = _AREAS[metric](sample.ranking)
            for mechanism in MECHANISMS:
                found = releases(sample, metric, mechanism, case.epsilon, RELEASES, noise)
                squares.setdefault((metric, mechanism), []).append(
                    float(np.mean((found - exact) ** 2))
                )
    rows = []
    for (metric, mechanism), values in squares.items():
        error = float(np.sqrt(np.mean(values)))
        spread = float(np.std(values, ddof=1) / np.sqrt(runs) / (2.0 * error)) if error else 0.0
        rows.append(
            {
                **case._asdict(),
                "metric": metric,
                "mechanism": mechanism,
                "error": error,
                "standard_error": spread,
            }
        )
    return rows


def run(
    output: str | Path,
    *,
    quick: bool = False,
    seed: int = 20261117,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Run the study into a folder and return the page written there."""
    few, many = (4, 4) if quick else (10, 40)
    settings = {
        "study": "private_choice",
        "data_sets": many,
        "data_sets_of_many_rows": few,
        "releases": RELEASES,
        "seed": seed,
    }

    def data_sets(case: Case) -> int:
        return few if (case.rows, case.prevalence) in LARGE else many

    results = Results(output, "private_choice", settings)
    run_cases(results, cases(quick), simulate, data_sets, workers, progress)
    draw(results)
    return write_page(results)

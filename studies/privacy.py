"""How much a private release costs in accuracy: Boyd (2014), figures 5.3 to 5.6.

Smooth sensitivity over the number of positives (5.3), the root-mean-square error of private AUROC
(5.4) and average precision (5.5) over epsilon and the number of rows, and the distribution of what
is released (5.6): for the mechanisms of the dissertation, as printed and with the least noise that
the same sensitivity allows, and beside them the rescaled mechanisms and the private curve.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from precall import privacy
from precall.exceptions import ReliabilityWarning
from precall.metrics.areas import aucpr, auroc
from precall.privacy import sensitivity
from precall.privacy.mechanisms import SeededNoise, SeededReleaseWarning
from precall.ranking import Ranking, rank
from precall.simulate import Bibeta, Empirical, Scenario

from ._cases import compute
from ._privacy_page import draw, write_page
from ._results import Results, Row
from ._scores import read_scores
from ._smooth_sensitivity import CALIBRATIONS, local_sensitivity, releases

METRICS = ("auroc", "average_precision")
EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
#: (rows, prevalence): halves as in the paper, then rare positives.
SIZES = ((100, 0.5), (500, 0.5), (2000, 0.5), (10_000, 0.5), (2000, 0.1), (10_000, 0.1))
#: (rows, betas) of figure 5.3; infinity is the local sensitivity itself.
SENSITIVITY_ROWS = (100, 1000, 10_000)
BETAS = (np.inf, 1.0, 0.1, 0.01)
HISTOGRAM_EPSILON = 1.0
BINS = 25


class Mechanism(NamedTuple):
    """A way to release: its name, in the package or among CALIBRATIONS, and its delta."""

    name: str
    delta: float = 0.0


MECHANISMS = (
    Mechanism("printed_cauchy"),
    Mechanism("printed_laplace", 1e-6),
    Mechanism("printed_laplace", 0.01),
    Mechanism("smooth_cauchy"),
    Mechanism("rescaled"),
    Mechanism("curve"),
)
HISTOGRAM_MECHANISMS = (Mechanism("printed_laplace", 0.01), Mechanism("rescaled"))

Labels = npt.NDArray[np.int64]
Scores = npt.NDArray[Any]


class Sample(NamedTuple):
    """A data set, ranked."""

    labels: Labels
    scores: Scores
    ranking: Ranking

    @classmethod
    def draw(
        cls, scenario: Scenario, size: int, prevalence: float, rng: np.random.Generator
    ) -> Sample:
        """Draw a data set with a fixed number of positives."""
        n_pos = round(size * prevalence)
        labels, scores = scenario.sample(n_pos, size - n_pos, rng)
        return cls(labels, scores, rank(labels, scores))

    def exact(self, metric: str) -> float:
        """Value that a release without noise would give."""
        return float(auroc(self.ranking) if metric == "auroc" else aucpr(self.ranking))


def release(
    sample: Sample, metric: str, mechanism: Mechanism, epsilon: float, rng: np.random.Generator
) -> float:
    """Release a metric once, with noise from `rng`."""
    if mechanism.name in CALIBRATIONS:
        return _by_smooth_sensitivity(sample, metric, mechanism, epsilon, rng)
    if mechanism.name == "curve":
        return _read_off_curve(sample, metric, epsilon, rng)
    released = getattr(privacy, metric)(
        sample.labels,
        sample.scores,
        epsilon=epsilon,
        budget=privacy.Budget(epsilon=epsilon),
        mechanism=mechanism.name,
        rng=rng,
    )
    return float(released.value)


def _by_smooth_sensitivity(
    sample: Sample, metric: str, mechanism: Mechanism, epsilon: float, rng: np.random.Generator
) -> float:
    n_rows = sample.labels.size
    (value,) = releases(
        sample.exact(metric),
        local=local_sensitivity(metric, mechanism.name, n_rows),
        mechanism=mechanism.name,
        n_pos=int(sample.ranking.n_pos),
        n_rows=n_rows,
        epsilon=epsilon,
        delta=mechanism.delta,
        times=1,
        noise=SeededNoise(rng),
    )
    return float(value)


def _read_off_curve(sample: Sample, metric: str, epsilon: float, rng: np.random.Generator) -> float:
    """Area of a released curve, without the standard deviation that a value has."""
    budget = privacy.Budget(epsilon=epsilon)
    function = privacy.roc_curve if metric == "auroc" else privacy.pr_curve
    curve = function(sample.labels, sample.scores, epsilon=epsilon, budget=budget, rng=rng)
    return float(curve.area())


def _row(figure: str, metric: str, mechanism: object, **columns: Any) -> Row:
    blank = {
        "delta": 0.0,
        "rows": "",
        "prevalence": "",
        "at": "",
        "value": "",
        "standard_error": "",
    }
    return {"figure": figure, "metric": metric, "mechanism": mechanism, **blank, **columns}


def sensitivity_rows(size: int) -> list[Row]:
    """Figure 5.3: sensitivity over the number of positives.

    AUROC as in the paper; average precision by the dissertation's bound and by the tight one.
    """
    grid = np.unique(np.geomspace(1, size / 2, 20).round().astype(int))
    grid = np.unique(np.concatenate([grid, size - grid]))
    curves: dict[tuple[str, str], Callable[[Any], Any]] = {
        ("auroc", "exact"): lambda n: sensitivity.local_auroc(n, size - n),
        ("average_precision", "printed"): partial(
            sensitivity.local_average_precision_printed, logarithmic=True
        ),
        ("average_precision", "tight"): sensitivity.local_average_precision,
    }
    rows = []
    for (metric, bound), local in curves.items():
        for beta in BETAS:
            name = bound if np.isinf(beta) else f"{bound}, beta {beta:g}"
            for n_pos in grid:
                value = (
                    float(local(int(n_pos)))
                    if np.isinf(beta)
                    else sensitivity.smooth(local, n_pos=int(n_pos), n_rows=size, beta=beta)
                )
                rows.append(
                    _row("sensitivity", metric, name, rows=size, at=int(n_pos), value=value)
                )
    return rows


def mechanisms_for(scenario: Scenario) -> list[Mechanism]:
    """Return the mechanisms; without the curve if the scores are no probabilities.

    Its edges must be public, and those of other scores only their owner can know.
    """
    if isinstance(scenario, Empirical):
        scores = np.concatenate([scenario.positives, scenario.negatives])
        if scores.min() < 0.0 or scores.max() > 1.0:
            return [mechanism for mechanism in MECHANISMS if mechanism.name != "curve"]
    return list(MECHANISMS)


def error_rows(
    scenario: Scenario,
    size: int,
    prevalence: float,
    epsilon: float,
    *,
    data_sets: int,
    releases: int,
    seed: Any,
) -> list[Row]:
    """Figures 5.4 and 5.5: root-mean-square error against the exact value of the same data."""
    rng = np.random.default_rng(seed)
    samples = [Sample.draw(scenario, size, prevalence, rng) for _ in range(data_sets)]
    rows = []
    for metric in METRICS:
        exact = np.array([sample.exact(metric) for sample in samples])
        for mechanism in mechanisms_for(scenario):
            released = np.array(
                [
                    [release(sample, metric, mechanism, epsilon, rng) for _ in range(releases)]
                    for sample in samples
                ]
            )
            squares = np.mean((released - exact[:, None]) ** 2, axis=1)
            rmse = float(np.sqrt(squares.mean()))
            error = float(squares.std(ddof=1) / np.sqrt(data_sets) / (2.0 * rmse))
            rows.append(
                _row(
                    "rmse",
                    metric,
                    mechanism.name,
                    delta=mechanism.delta,
                    rows=size,
                    prevalence=prevalence,
                    at=epsilon,
                    value=rmse,
                    standard_error=error,
                )
            )
    return rows


def histogram_rows(scenario: Scenario, size: int, *, releases: int, seed: Any) -> list[Row]:
    """Figure 5.6: shares of what is released for one data set, by bin and at 0 or 1 exactly.

    The last row is the exact value.
    """
    rng = np.random.default_rng(seed)
    sample = Sample.draw(scenario, size, 0.5, rng)
    rows = []
    for mechanism in HISTOGRAM_MECHANISMS:
        released = [
            release(sample, "average_precision", mechanism, HISTOGRAM_EPSILON, rng)
            for _ in range(releases)
        ]
        counts, edges = np.histogram(released, bins=BINS, range=(0.0, 1.0))
        rows += [
            _row(
                "histogram",
                "average_precision",
                mechanism.name,
                delta=mechanism.delta,
                rows=size,
                prevalence=0.5,
                at=float(edge),
                value=float(count / releases),
                standard_error=float(np.sqrt(count * (releases - count) / releases**3)),
            )
            for edge, count in zip(edges, counts, strict=False)
        ]
        rows.append(
            _row(
                "histogram",
                "average_precision",
                mechanism.name,
                delta=mechanism.delta,
                rows=size,
                prevalence=0.5,
                at="ends",
                value=float(np.mean(np.isin(released, (0.0, 1.0)))),
            )
        )
    exact = sample.exact("average_precision")
    rows.append(
        _row("histogram", "average_precision", "exact", rows=size, prevalence=0.5, value=exact)
    )
    return rows


@contextmanager
def quietly() -> Iterator[None]:
    """Without the warnings that seeded releases and releases of few rows are right to give."""
    with warnings.catch_warnings():
        for category in (SeededReleaseWarning, ReliabilityWarning):
            warnings.simplefilter("ignore", category)
        yield


def compute_case(
    figure: str,
    size: int,
    prevalence: float,
    epsilon: float,
    scenario: Scenario,
    data_sets: int,
    releases: int,
    seed: int,
) -> list[Row]:
    """Return the rows of one case of one figure."""
    if figure == "sensitivity":
        return sensitivity_rows(size)
    key = [seed, len(figure), size, round(1000 * prevalence), round(1000 * epsilon)]
    with quietly():
        if figure == "histogram":
            return histogram_rows(scenario, size, releases=data_sets * releases, seed=key)
        return error_rows(
            scenario,
            size,
            prevalence,
            epsilon,
            data_sets=data_sets,
            releases=releases,
            seed=key,
        )


def cases() -> Iterator[tuple[str, int, float, float]]:
    """Yield (figure, rows, prevalence, epsilon) of every case."""
    for size in SENSITIVITY_ROWS:
        yield "sensitivity", size, 0.5, 1.0
    for size, prevalence in SIZES:
        for epsilon in EPSILONS:
            yield "rmse", size, prevalence, epsilon
    for size in _balanced():
        yield "histogram", size, 0.5, HISTOGRAM_EPSILON


def _balanced() -> list[int]:
    return [size for size, prevalence in SIZES if prevalence == 0.5]


def run(
    output: str | Path,
    *,
    quick: bool = False,
    seed: int = 20140805,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    scores: str | Path | None = None,
) -> Path:
    """Run the study into a folder and return the page written there.

    `scores` is a CSV file with the columns ``label`` (0 or 1) and ``score``: data sets are then
    drawn from its rows, with replacement, instead of from the bibeta model.
    """
    scenario: Scenario = Bibeta() if scores is None else read_scores(scores)
    data_sets, releases = (10, 4) if quick else (30, 10)
    settings = {
        "study": "privacy",
        "scores": "bibeta" if scores is None else Path(scores).name,
        "data_sets": data_sets,
        "releases": releases,
        "seed": seed,
    }
    results = Results(output, "privacy", settings)
    everything = list(cases())
    todo = [
        (*case, scenario, data_sets, releases, seed)
        for case in everything
        if not results.has(**_key(*case))
    ]
    finished = len(everything) - len(todo)
    for done, rows in enumerate(compute(compute_case, todo, workers), start=finished + 1):
        results.add(rows)
        if progress is not None:
            progress(done, len(everything))
    draw(results)
    return write_page(results)


def _key(figure: str, size: int, prevalence: float, epsilon: float) -> dict[str, Any]:
    key: dict[str, Any] = {"figure": figure, "rows": size}
    return key | ({"prevalence": prevalence, "at": epsilon} if figure == "rmse" else {})

"""How often the interval from the folds of a cross-validation holds the truth.

The room that ``standardised`` leaves for what folds share, z times ``sqrt(k / (k - 1))``, was
chosen by simulation. Here are features that were not looked at for that choice, with heavy tails,
and with classes that no line separates; and beside learners that were, one that was not.

The truth is the mean AUCPR of the folds' own models on new rows; beside it that of a model trained
again on all rows. Both are measured on new rows, brought to the prevalence.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import precall as pr
from precall.exceptions import DirectionWarning

from ._cases import run_cases
from ._results import Results, Row, core_minutes, markdown_table

FloatArray = npt.NDArray[np.float64]
Features = Callable[[np.random.Generator, npt.NDArray[np.bool_]], FloatArray]

FOLDS = 5
METHODS = ("crossval", "standardised")
DATA_SETS = 150
# Rows of each class that the truth is measured on.
_NEW = (2000, 8000)


class Case(NamedTuple):
    """A cell: features, rows, prevalence, learner, and how the rows were cross-validated."""

    features: str
    rows: int
    prevalence: float
    learner: str
    scheme: str = "plain"


def _heavy_tails(rng: np.random.Generator, y: npt.NDArray[np.bool_]) -> FloatArray:
    """Six features with t distributions of three degrees of freedom; four of them shift."""
    shift = np.array([1.4, 1.0, 0.7, 0.4, 0.0, 0.0])
    return np.asarray(rng.standard_t(3, size=(y.size, 6)) + y[:, np.newaxis] * shift)


def _shell(rng: np.random.Generator, y: npt.NDArray[np.bool_]) -> FloatArray:
    """Positives lie outside, in every direction, and a little to one side; two features are noise.

    A line finds only the little.
    """
    x = rng.normal(size=(y.size, 6))
    x[y, :4] *= 1.7
    x[y, 0] += 0.8
    return np.asarray(x)


FEATURES: dict[str, Features] = {"heavy tails": _heavy_tails, "shell": _shell}


def learner(name: str, seed: int) -> Any:
    """Return an estimator of scikit-learn."""
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    made: dict[str, Callable[[], Any]] = {
        "logistic regression": lambda: LogisticRegression(max_iter=500),
        "random forest": lambda: RandomForestClassifier(30, min_samples_leaf=2, random_state=seed),
        "boosted trees": lambda: HistGradientBoostingClassifier(
            max_iter=40, early_stopping=False, random_state=seed
        ),
        "quadratic discriminant": lambda: QuadraticDiscriminantAnalysis(reg_param=0.01),
    }
    return made[name]()


# What the inner folds of a nested cross-validation choose from.
GRIDS: dict[str, dict[str, list[Any]]] = {
    "logistic regression": {"C": [0.01, 0.1, 1.0]},
    "quadratic discriminant": {"reg_param": [0.01, 0.3]},
    "boosted trees": {"learning_rate": [0.03, 0.1]},
}
# How often the rows are dealt to folds.
SCHEMES = {"plain": 1, "nested": 1, "repeated": 3}

_LEARNERS = (
    "logistic regression",
    "random forest",
    "boosted trees",
    "quadratic discriminant",
)


def cases(quick: bool) -> list[Case]:
    """Every cell, in order."""
    if quick:
        return [
            Case("heavy tails", 300, 0.2, "logistic regression"),
            Case("heavy tails", 300, 0.2, "quadratic discriminant", "nested"),
            Case("heavy tails", 300, 0.2, "logistic regression", "repeated"),
        ]
    plain = [Case(features, 1000, 0.1, name) for features in FEATURES for name in _LEARNERS]
    nested = [Case("shell", 300, 0.2, name, "nested") for name in GRIDS]
    repeated = [Case("heavy tails", 300, 0.2, name, "repeated") for name in GRIDS]
    return [*plain, *nested, *repeated]


def _fitted(case: Case, x: FloatArray, y: npt.NDArray[np.bool_], seed: int) -> Any:
    """A model trained on these rows, its options chosen by inner folds where the scheme says so."""
    model = learner(case.learner, seed)
    if case.scheme == "nested":
        from sklearn.model_selection import GridSearchCV, StratifiedKFold

        inner = StratifiedKFold(3, shuffle=True, random_state=seed)
        grid = GRIDS[case.learner]
        model = GridSearchCV(model, grid, scoring="average_precision", cv=inner)
    return model.fit(x, y)


def _scores(model: Any, x: FloatArray) -> FloatArray:
    return np.asarray(model.predict_proba(x)[:, 1])


def one_data_set(case: Case, rng: np.random.Generator) -> dict[str, float]:
    """Return whether each interval held each truth, its width, and its error."""
    make = FEATURES[case.features]
    y = rng.random(case.rows) < case.prevalence
    y[: 2 * FOLDS] = [True] * FOLDS + [False] * FOLDS
    rng.shuffle(y)
    x = make(rng, y)
    new = np.repeat([True, False], _NEW)
    x_new = make(rng, new)

    def area(model: Any) -> float:
        return pr.aucpr(pr.rank(new, _scores(model, x_new)).at_prevalence(case.prevalence))

    columns: dict[str, Any] = {}
    scores: dict[str, FloatArray] = {}
    truths = []
    for repetition in range(SCHEMES[case.scheme]):
        fold = _dealt(y, rng)
        held_out = np.empty(case.rows)
        for k in range(FOLDS):
            seed = int(rng.integers(2**31))
            model = _fitted(case, x[fold != k], y[fold != k], seed)
            held_out[fold == k] = _scores(model, x[fold == k])
            truths.append(area(model))
        columns[f"fold {repetition}"] = fold
        scores[f"score {repetition}"] = held_out
    again = area(_fitted(case, x, y, int(rng.integers(2**31))))
    truth = float(np.mean(truths))
    rows = pr.Rows(y, scores, columns=columns)
    found: dict[str, float] = {"truth": truth}
    for method in METHODS:
        interval = pr.crossval_interval(rows, by=[*columns], model=[*scores], method=method)
        found[f"{method}_held"] = interval.low <= truth <= interval.high
        found[f"{method}_again"] = interval.low <= again <= interval.high
        found[f"{method}_width"] = interval.high - interval.low
        found[f"{method}_error"] = interval.estimate - truth
    return found


def _dealt(y: npt.NDArray[np.bool_], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Folds with about as many positives each."""
    fold = np.empty(y.size, dtype=np.int64)
    for rows in (np.flatnonzero(y), np.flatnonzero(~y)):
        fold[rng.permutation(rows)] = np.arange(rows.size) % FOLDS
    return fold


def simulate_case(case: Case, data_sets: int, seed: Any) -> list[Row]:
    """Return one row per method."""
    rng, began = np.random.default_rng(seed), time.process_time()
    with warnings.catch_warnings():
        # Of many small samples, some rank the wrong way round by chance.
        warnings.simplefilter("ignore", DirectionWarning)
        # Older releases of scikit-learn take heavy tails for columns that depend on each other.
        warnings.filterwarnings("ignore", "Variables are collinear", UserWarning)
        drawn = [one_data_set(case, rng) for _ in range(data_sets)]
    taken = round((time.process_time() - began) / len(METHODS), 2)
    column = {name: np.array([each[name] for each in drawn], dtype=float) for name in drawn[0]}
    return [
        {
            **case._asdict(),
            "method": method,
            "data_sets": data_sets,
            "truth": float(column["truth"].mean()),
            "held": float(column[f"{method}_held"].mean()),
            "held_again": float(column[f"{method}_again"].mean()),
            "width": float(column[f"{method}_width"].mean()),
            "bias": float(column[f"{method}_error"].mean()),
            "core_seconds": taken,
        }
        for method in METHODS
    ]


def run(
    output: str | Path,
    *,
    quick: bool = False,
    seed: int = 20260917,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Run the study into a folder and return the page written there."""
    data_sets = 2 if quick else DATA_SETS
    results = Results(output, "folds", {"study": "folds", "data_sets": data_sets, "seed": seed})
    run_cases(results, cases(quick), simulate_case, lambda case: data_sets, workers, progress)
    return write_page(results)


def write_page(results: Results) -> Path:
    """Write the coverage of every cell."""
    table: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in results.rows:
        table.setdefault(tuple(row[name] for name in Case._fields), {})[row["method"]] = row
    lines = []
    for (features, size, prevalence, name, scheme), found in table.items():
        ours, papers = found["standardised"], found["crossval"]
        lines.append(
            [
                f"{features}, {size:,}, {prevalence:g}",
                name if scheme == "plain" else f"{name}, {scheme}",
                f"{ours['truth']:.2f}",
                *(f"{each['held']:.3f} ({each['held_again']:.3f})" for each in (papers, ours)),
                *(f"{each['bias']:+.3f}" for each in (papers, ours)),
                f"{ours['width'] / papers['width']:.2f}",
            ]
        )
    data_sets = results.settings["data_sets"]
    error = np.sqrt(0.95 * 0.05 / data_sets)
    held = [row["held"] for row in results.rows if row["method"] == "standardised"]
    again = [row["held_again"] for row in results.rows if row["method"] == "standardised"]
    others = [row["held"] for row in results.rows if row["method"] == "crossval"]
    page = results.path(".md")
    results.save_page(
        "# Intervals from folds\n\n"
        f"Share of {data_sets} simulated cross-validations a cell whose 95 % interval held the "
        "true AUCPR of the folds' models, and in brackets that of a model trained again on all "
        f"rows; where the level holds exactly, a share has a Monte Carlo error of {error:.3f}. "
        f"{FOLDS} folds; nested ones choose the learner's options by three inner folds, repeated "
        "ones are dealt three times. None of these features was looked at when the method was "
        f"chosen. The truth is measured on {_NEW[0]:,} new positives and {_NEW[1]:,} negatives, "
        "whose error lowers a share by less than .01. Bias is the mean estimate less the truth, "
        "width that of `standardised` over that of `crossval`, the mean over folds with a t "
        f"quantile. Seed {results.settings['seed']}. {core_minutes(results.rows)}\n\n"
        + markdown_table(
            [
                "features, rows, prevalence",
                "learner",
                "true AUCPR",
                "`crossval`",
                "`standardised`",
                "bias, `crossval`",
                "bias, `standardised`",
                "width",
            ],
            lines,
        )
        + f"\n\n`standardised` held the truth in {min(held):.3f} to {max(held):.3f} of the data "
        f"sets, and the area of a model trained again in {min(again):.3f} to {max(again):.3f}; "
        f"`crossval` held it in {min(others):.3f} to {max(others):.3f}.\n"
    )
    return page

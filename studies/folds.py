"""How often the interval from the folds of a cross-validation holds the truth.

The room that ``standardised`` leaves for what folds share, z times ``sqrt(k / (k - 1))``, was
chosen by simulation. Here are features that were not looked at for that choice, with heavy tails,
with classes that no line separates, and distributed like the scores of the models that no constant
was chosen on; and beside learners that were, one that was not.

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
from scipy.special import logit

import precall as pr
from precall.exceptions import DirectionWarning
from precall.simulate import HELD_OUT, UNSEEN, Scenario

from ._cases import run_cases
from ._results import Results, Row, core_minutes, markdown_table, with_core_seconds
from ._scores import draw_scores

FloatArray = npt.NDArray[np.float64]
Features = Callable[[np.random.Generator, npt.NDArray[np.bool_]], FloatArray]

FOLDS = 5
METHODS = ("crossval", "standardised")
DATA_SETS = 300
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


def _scores_of(scenario: Scenario) -> Features:
    """Two features as the model's scores are, drawn apart, and two of noise."""

    def make(rng: np.random.Generator, y: npt.NDArray[np.bool_]) -> FloatArray:
        own = [draw_scores(scenario, y, rng) for _ in range(2)]
        return np.column_stack([*own, rng.normal(size=(y.size, 2))])

    return make


MODELS: dict[str, Scenario] = {**UNSEEN, **HELD_OUT}
FEATURES: dict[str, Features] = {
    "heavy tails": _heavy_tails,
    "shell": _shell,
    **{f"scores of {name}": _scores_of(model) for name, model in MODELS.items()},
}


def learner(name: str, seed: int) -> Any:
    """Return an estimator of scikit-learn."""
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    made: dict[str, Callable[[], Any]] = {
        "logistic regression": lambda: LogisticRegression(max_iter=500),
        "random forest": lambda: RandomForestClassifier(30, min_samples_leaf=2, random_state=seed),
        "boosted trees": lambda: HistGradientBoostingClassifier(
            max_iter=40, early_stopping=False, random_state=seed
        ),
        "quadratic discriminant": lambda: QuadraticDiscriminantAnalysis(reg_param=0.01),
        "naive Bayes": GaussianNB,
    }
    return made[name]()


# What the inner folds of a nested cross-validation choose from.
GRIDS: dict[str, dict[str, list[Any]]] = {
    "logistic regression": {"C": [0.01, 0.1, 1.0]},
    "quadratic discriminant": {"reg_param": [0.01, 0.3]},
    "boosted trees": {"learning_rate": [0.03, 0.1]},
}
# How often the rows are dealt to folds. With other scales, the log odds of every fold are moved and
# stretched by chance: folds of several teams, or of models that were trained in other ways.
SCHEMES = {"plain": 1, "nested": 1, "repeated": 3, "other scales": 1}
_MOVED, _STRETCHED = 2.0, 0.5

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
    own = ("heavy tails", "shell")
    plain = [Case(features, 1000, 0.1, name) for features in own for name in _LEARNERS]
    nested = [Case("shell", 300, 0.2, name, "nested") for name in GRIDS]
    repeated = [Case("heavy tails", 300, 0.2, name, "repeated") for name in GRIDS]
    others = [
        Case(name, 1000, 0.1, fitted, scheme)
        for scheme in ("plain", "other scales")
        for fitted in ("random forest", "naive Bayes")
        for name in FEATURES
        if name not in own
    ]
    return [*plain, *nested, *repeated, *others]


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
        if case.scheme == "other scales":
            held_out = _on_other_scales(held_out, fold, rng)
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


def _on_other_scales(
    probability: FloatArray, fold: npt.NDArray[np.int64], rng: np.random.Generator
) -> FloatArray:
    """Log odds that are moved and stretched in every fold."""
    odds = logit(np.clip(probability, 1e-6, 1.0 - 1e-6))
    stretch = np.exp(_STRETCHED * rng.normal(size=FOLDS))
    return np.asarray(stretch[fold] * odds + _MOVED * rng.normal(size=FOLDS)[fold])


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
    column = {name: np.array([each[name] for each in drawn], dtype=float) for name in drawn[0]}
    rows: list[Row] = [
        {
            **case._asdict(),
            "method": method,
            "data_sets": data_sets,
            "truth": float(column["truth"].mean()),
            "held": float(column[f"{method}_held"].mean()),
            "held_again": float(column[f"{method}_again"].mean()),
            "width": float(column[f"{method}_width"].mean()),
            "bias": float(column[f"{method}_error"].mean()),
        }
        for method in METHODS
    ]
    return with_core_seconds(rows, began)


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
    table: dict[Case, dict[str, Row]] = {}
    for row in results.rows:
        case = Case(*(row[name] for name in Case._fields))
        table.setdefault(case, {})[row["method"]] = row
    models = {f"scores of {name}" for name in MODELS}
    parts = {
        "": [case for case in table if case.features not in models],
        "## Features like the scores of models that no constant was chosen on": [
            case for case in table if case.features in models and case.scheme == "plain"
        ],
        "## Folds on scales of their own": [
            case for case in table if case.scheme == "other scales"
        ],
    }
    data_sets = results.settings["data_sets"]
    error = np.sqrt(0.95 * 0.05 / data_sets)
    page = results.path(".md")
    results.save_page(
        "# Intervals from folds\n\n"
        f"Share of {data_sets} simulated cross-validations a cell whose 95 % interval held the "
        "true AUCPR of the folds' models, and in brackets that of a model trained again on all "
        f"rows; where the level holds exactly, a share has a Monte Carlo error of {error:.3f}. "
        f"{FOLDS} folds; nested ones choose the learner's options by three inner folds, repeated "
        "ones are dealt three times. On scales of their own, the log odds of every fold are "
        f"stretched by exp({_STRETCHED:g} z) and moved by {_MOVED:g} z', both normal. The truth "
        f"is measured on {_NEW[0]:,} new positives and {_NEW[1]:,} negatives, whose error lowers a "
        "share by less than .01. Bias is the mean estimate less the truth, width that of "
        "`standardised` over that of `crossval`, the mean over folds with a t quantile. Features "
        "like the scores of a model: two columns, each drawn as that model's scores are, and two "
        f"of noise. Seed {results.settings['seed']}. {core_minutes(results.rows)}\n\n"
        + "\n\n".join(
            (f"{title}\n\n" if title else "") + _part({case: table[case] for case in cells})
            for title, cells in parts.items()
            if cells
        )
        + "\n"
    )
    return page


def _part(table: dict[Case, dict[str, Row]]) -> str:
    """Some cells, and in what range they are."""
    lines = []
    for case, found in table.items():
        ours, papers = found["standardised"], found["crossval"]
        named = {"plain": "", "other scales": ""}.get(case.scheme, f", {case.scheme}")
        lines.append(
            [
                f"{case.features}, {case.rows:,}, {case.prevalence:g}",
                case.learner + named,
                f"{ours['truth']:.2f}",
                *(f"{each['held']:.3f} ({each['held_again']:.3f})" for each in (papers, ours)),
                *(f"{each['bias']:+.3f}" for each in (papers, ours)),
                # The folds' areas may all be 1, and then their mean has no error at all.
                f"{ours['width'] / papers['width']:.2f}" if papers["width"] else "–",
            ]
        )
    held, again, printed = (
        np.array([found[method][name] for found in table.values()])
        for method, name in (
            ("standardised", "held"),
            ("standardised", "held_again"),
            ("crossval", "held"),
        )
    )
    return (
        markdown_table(
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
        + f"\n\n`standardised` held the truth in {held.min():.3f} to {held.max():.3f} of the data "
        f"sets ({held.mean():.3f} on average), and the area of a model trained again in "
        f"{again.min():.3f} to {again.max():.3f}; `crossval` held it in {printed.min():.3f} to "
        f"{printed.max():.3f} ({printed.mean():.3f})."
    )

"""Hostile calls: whatever is passed, a function answers with sound numbers or with our own error.

One sweep puts every hostile value into every argument of every public function, one at a time;
Hypothesis then puts several into one call, and asks functions of rankings that are hard to answer
about. Equal rows give equal rankings, however they are written down.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import precall as pr
from precall.exceptions import PrecallError, PrecallWarning, UndefinedMetricWarning
from tests.hostile import HOSTILE, S, Y, read_only, strided, swapped


def made(size: int, seed: int, **options: Any) -> pr.Ranking:
    rng = np.random.default_rng(seed)
    y = rng.random(size) < 0.4
    y[:2] = True, False
    return pr.rank(y, np.round(rng.normal(size=size) + 2 * y, 1), **options)


# Rankings that are allowed, and hard to answer about.
RANKINGS = {
    "plain": lambda: made(30, 9),
    "one positive": lambda: pr.rank([1, 0, 0, 0], [3, 2, 4, 1]),
    "one row of each class": lambda: pr.rank([1, 0], [2, 1]),
    "one negative": lambda: pr.rank([1, 1, 1, 0], [3, 2, 4, 1]),
    "only one row": lambda: pr.rank([1], [1.0]),
    "no positives": lambda: pr.rank([0, 0, 0], [1, 2, 3]),
    "no negatives": lambda: pr.rank([1, 1, 1], [1, 2, 3]),
    "all ties": lambda: pr.rank(Y, [1] * 8),
    "perfect": lambda: pr.rank(Y, Y),
    "worst": lambda: pr.rank(Y, [-v for v in Y]),
    "infinite scores": lambda: pr.rank(Y, [np.inf, -np.inf, 1, 0, np.inf, 2, 3, -np.inf]),
    "largest integers": lambda: pr.rank(Y, HOSTILE["largest uint64"]()),
    "far scores": lambda: pr.rank(Y, [1e308, -1e308, 5e-324, 0.0, -0.0, 1e-308, 1e300, -1e300]),
    "weighted": lambda: made(30, 9, sample_weight=np.linspace(0.0, 3.0, 30)),
    "light and heavy": lambda: pr.rank(Y, S, sample_weight=[1e-90, 1e90] * 4),
    "one weight that counts": lambda: pr.rank(Y, S, sample_weight=[1e-9] * 7 + [1e9]),
    "coarsened": lambda: made(60, 3).coarsen(3),
    "at a tiny prevalence": lambda: made(30, 9).at_prevalence(1e-90),
    "at a large prevalence": lambda: made(30, 9).at_prevalence(1 - 1e-9),
}


FOLDS = [made(20, seed) for seed in range(4)]
SETS = [pr.RankingSet.from_rankings(members) for members in (FOLDS, FOLDS[::-1])]
PLAIN = RANKINGS["plain"]()
ROWS_OF_TWO = pr.Rows(Y, {"a": S, "b": S[::-1]})
SLICED = pr.Rows(Y, S, columns={"half": list("aaaabbbb"), "number": [0.5, None] * 4})


# What the functions need, by the name of the argument.
NEEDED: dict[str, Any] = {
    "ranking": lambda: PLAIN,
    "data": lambda: PLAIN,
    "y_true": lambda: list(Y),
    "y_score": lambda: list(S),
    "scores": lambda: {"a": list(S), "b": list(S)[::-1]},
    "scores_matrix": lambda: np.stack([np.array(S), 1 - np.array(S)], axis=1),
    "groups": lambda: [0, 0, 0, 0, 1, 1, 1, 1],
    "clusters": lambda: [0, 0, 1, 1, 2, 2, 3, 3],
    "rows": lambda: ROWS_OF_TWO,
    "candidate": lambda: "a",
    "baseline": lambda: "b",
    "rankings": lambda: list(FOLDS),
    "folds": lambda: list(FOLDS),
    "first": lambda: SETS[0],
    "second": lambda: SETS[1],
    "recall": lambda: 0.5,
    "precision": lambda: 0.5,
    "min_precision": lambda: 0.5,
    "min_npv": lambda: 0.5,
    "threshold": lambda: 0.5,
    "ratio": lambda: 0.5,
    "prevalence": lambda: 0.3,
    "n_pos": lambda: 3,
    "n_neg": lambda: 5,
    "run": lambda: ["q Q0 d 1 0.5 x"],
    "qrels": lambda: ["q 0 d 1"],
    "frame": lambda: {"y": list(Y), "a": list(S)},
    "label": lambda: "y",
    "words": lambda: "aucpr",
    "k": lambda: 3,
    "probability": lambda: 0.3,
    "cost_ratio": lambda: 5.0,
}
ALSO = {
    "undo_downsampling": {"ratio": 0.5},
    "operating_point": {"min_precision": 0.4},
    "net_benefit_curve": {"data": ROWS_OF_TWO, "model": "a"},
    "brier_curve": {"model": "a"},
    # With few rows every order is counted, and progress is not called.
    "chance_test": {"data": pr.rank(Y, S)},
    "compare": {"data": list(Y), "scores": {"a": list(S), "b": list(S)[::-1]}},
    "evaluate": {"data": list(Y), "scores": {"a": list(S), "b": list(S)[::-1]}},
    "Rows.from_frame": {"scores": "a"},
    "per_group": {"data": list(FOLDS)},
    "aggregate": {"data": list(FOLDS)},
    "slices": {"data": SLICED, "by": ["half", "number"], "min_positives": 2},
}
FUNCTIONS = {
    name: function
    for name in pr.__all__
    if inspect.isfunction(function := getattr(pr, name)) and inspect.signature(function).parameters
}
FUNCTIONS |= {"Rows": pr.Rows, "Rows.from_frame": pr.Rows.from_frame, "parse": pr.metrics.parse}
FUNCTIONS |= {
    f"metrics.{name}": kind
    for name, kind in pr.METRICS.items()
    if inspect.signature(kind).parameters
}
# What may be infinite or NaN, as documented: scores, names of groups, and the standard error of an
# interval found without one.
NOT_FINITE = {"threshold", "moments", "labels", "standard_error"}
# Results that are shares or areas, or intervals and bands of them.
IN_UNIT = {
    "aucpr",
    "aucnpr",
    "auroc",
    "tie_bounds",
    "minimum_aucpr",
    "minimum_average_precision",
} | {
    "random_average_precision",
    "band",
    "f_beta",
}


@cache
def options_of(name: str) -> tuple[str, ...]:
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    return tuple("nonsense" if p.kind is p.VAR_KEYWORD else p.name for p in parameters)


def arguments_of(name: str) -> dict[str, Any]:
    """What a call needs, and few enough draws."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    also = ALSO.get(name, {})
    needed = {
        p.name: NEEDED[p.name]()
        for p in parameters
        if p.default is p.empty and p.kind is not p.VAR_KEYWORD and p.name not in also
    }
    few = {"n_resamples": 100, "rng": 0, "n_points": 9}
    options = {p.name: few[p.name] for p in parameters if p.name in few}
    return needed | options | also


def numbers(result: object, name: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Every number in a result, with the name of the field that holds it."""
    if isinstance(result, (bool, str, bytes, Path)) or result is None:
        return
    if isinstance(result, (int, float, np.number)):
        yield name, np.asarray(result, dtype=np.float64)
    elif isinstance(result, np.ndarray):
        if result.dtype.kind in "iuf":
            yield name, result.astype(np.float64)
    elif is_dataclass(result):
        for field in fields(result):
            if field.name != "evidence":  # what limits are computed from, with gaps where unused
                yield from numbers(getattr(result, field.name), field.name)
    elif isinstance(result, Mapping):
        for key, value in result.items():
            yield from numbers(value, str(key))
    elif isinstance(result, (list, tuple)):
        for value in result:
            yield from numbers(value, name)


def frozen(value: object) -> object:
    """A copy to compare with afterwards."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes() if value.dtype.kind != "O" else repr(value)
    return repr(value)


def checked(name: str, arguments: dict[str, Any], title: str) -> None:
    """Call, and judge the answer: numbers that are sound, or an error of ours."""
    before = {key: frozen(value) for key, value in arguments.items()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = FUNCTIONS[name](**arguments)
        except PrecallError:
            result = None
        except Exception as error:
            raise AssertionError(f"pr.{name}, {title}: {error!r}") from error
    assert {key: frozen(value) for key, value in arguments.items()} == before, title
    foreign = [str(w.message) for w in caught if not issubclass(w.category, PrecallWarning)]
    assert not foreign, (name, title, foreign)
    conventional = any(issubclass(w.category, UndefinedMetricWarning) for w in caught)
    for field, values in numbers(result):
        if field in NOT_FINITE:
            continue
        # What is undefined is NaN in an evaluation, which says so in words.
        conventional = conventional or name == "evaluate"
        assert np.isfinite(values).all() or (conventional and not np.isinf(values).any()), (
            f"pr.{name}, {title}: {field} is {values}"
        )
        if name in IN_UNIT and field in ("", "estimate", "low", "high", "y"):
            assert not ((values < 0.0) | (values > 1.0)).any(), (name, title, field, values)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_hostile_argument(name):
    for argument in options_of(name):
        for title, make in HOSTILE.items():
            arguments = arguments_of(name) | {argument: make()}
            checked(name, arguments, f"{argument}: {title}")


# What a function calls the ranking that it is asked about.
ABOUT_ONE_RANKING = {name: "ranking" for name in FUNCTIONS if "ranking" in options_of(name)}
ABOUT_ONE_RANKING |= dict.fromkeys(
    ("interval", "band", "operating_point", "two_thresholds", "chance_test"), "data"
)
ABOUT_ONE_RANKING |= dict.fromkeys(("cost_curve", "net_benefit_curve"), "data")


@pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")
@pytest.mark.parametrize("title", RANKINGS)
def test_every_question_about_a_ranking_that_is_hard_to_answer_about(title):
    ranking = RANKINGS[title]()
    for name, argument in ABOUT_ONE_RANKING.items():
        checked(name, arguments_of(name) | {argument: ranking}, title)


@settings(max_examples=settings.default.max_examples // 4)
@pytest.mark.parametrize("name", FUNCTIONS)
@given(data=st.data())
def test_several_hostile_arguments(name, data):
    chosen = data.draw(st.lists(st.sampled_from(options_of(name)), min_size=1, unique=True))
    titles = {argument: data.draw(st.sampled_from(sorted(HOSTILE))) for argument in chosen}
    hostile = {argument: HOSTILE[title]() for argument, title in titles.items()}
    checked(name, arguments_of(name) | hostile, str(titles))


ENCODINGS = {
    "tuple": tuple,
    "array": np.array,
    "float32": lambda v: np.array(v, dtype=np.float32),
    "float16": lambda v: np.array(v, dtype=np.float16),
    "objects": lambda v: np.array(v, dtype=object),
    "read-only": read_only,
    "strided": strided,
    "backwards twice": lambda v: np.array(v[::-1])[::-1],
    "byte-swapped": lambda v: swapped(v, "f8"),
    "byte-swapped float32": lambda v: swapped(v, "f4"),
    "nothing masked": np.ma.array,
    "pandas": pd.Series,
    "pandas nullable": lambda v: pd.Series(v, dtype="Float64"),
    "pandas Arrow": lambda v: pd.Series(v, dtype="float64[pyarrow]"),
    "pandas shuffled index": lambda v: pd.Series(v, index=range(len(v), 0, -1)),
    "Polars": pl.Series,
    "Polars float32": lambda v: pl.Series(v, dtype=pl.Float32),
    "Arrow": pa.array,
    "Arrow chunks": lambda v: pa.chunked_array([v[:1], [], v[1:]], type=pa.float64()),
    "Arrow dictionary": lambda v: pa.array(v).dictionary_encode(),
    "Arrow float32": lambda v: pa.array(v, type=pa.float32()),
    "torch": torch.tensor,
    "torch with gradient": lambda v: torch.tensor(v, requires_grad=True),
    "list of tensors": lambda v: [torch.tensor(value) for value in v],
}
ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0]), st.integers(-64, 64), st.integers(1, 9)), min_size=1
)


@pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")
@settings(max_examples=settings.default.max_examples // 4)
@given(rows=ROWS, weighted=st.booleans())
def test_the_same_rows_in_any_encoding_give_the_same_ranking(rows, weighted):
    # Eighths of small whole numbers are exact in every float.
    labels, scores, weights = ([row[0] for row in rows], [row[1] / 8 for row in rows], None)
    if weighted:
        weights = [row[2] / 8 for row in rows]
    expected = pr.rank(labels, scores, sample_weight=weights)
    for title, encode in ENCODINGS.items():
        encoded = None if weights is None else encode(weights)
        found = pr.rank(encode(labels), encode(scores), sample_weight=encoded)
        assert found == expected, title

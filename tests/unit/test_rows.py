"""Rows: checked once, ranked once per model, from arrays and from data frames."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import precall as pr
from precall import _threads, _validation
from precall.exceptions import DirectionWarning, InputError, ReliabilityWarning
from precall.ranking import grouping, sorting
from precall.ranking.places import locate

Y = [1, 0, 1, 0, 0, 1]
SCORES = {"new": [6.0, 5, 4, 3, 2, 1], "old": [6.0, 1, 5, 4, 2, 3]}


def test_a_ranking_is_made_once_and_is_that_of_rank():
    rows = pr.Rows(Y, SCORES)
    assert rows.names == list(rows) == ["new", "old"]
    assert len(rows) == 6
    for name, scores in SCORES.items():
        assert rows[name] == pr.rank(Y, scores)
        assert rows[name] is rows[name]
        assert rows.place(name) is rows.place(name)
    assert repr(rows) == "Rows(6 rows, 3 positive, models: new, old)"
    assert pr.Rows(Y, SCORES["new"]).names == ["score"]
    assert pr.metrics.aucpr()(pr.Rows(Y, SCORES["old"])) == pr.aucpr(pr.rank(Y, SCORES["old"]))


def test_a_direction_is_warned_of_once():
    rows = pr.Rows([1, 0] * 20, {"a": [1, 2] * 20})
    with pytest.warns(DirectionWarning):
        rows["a"]
    rows["a"]  # a warning is an error here


def test_several_models_and_none_chosen():
    rows = pr.Rows(Y, SCORES)
    with pytest.raises(InputError, match=r"the models 'new', 'old': say which \(model=\)"):
        pr.interval(rows)
    with pytest.raises(InputError, match="there is no model 'best'"):
        pr.interval(rows, model="best")
    with pytest.raises(InputError, match="a Ranking is of one"):
        pr.interval(rows["new"], model="new")
    with pytest.raises(InputError, match=r"got Rows: pass rows\['new'\]"):
        pr.aucpr(rows)


def test_rows_of_weight_zero_are_left_out_of_everything():
    weights = [1, 2, 0, 1, 1, 3]
    rows = pr.Rows(
        Y,
        SCORES,
        sample_weight=weights,
        clusters=["a", "a", "b", "c", "c", "d"],
        columns={"region": ["n", "n", "s", "s", "s", "n"]},
    )
    assert len(rows) == 5
    assert rows.n_clusters == 3
    assert rows.column("region").tolist() == ["n", "n", "s", "s", "n"]
    assert rows["new"] == pr.rank(Y, SCORES["new"], sample_weight=weights)
    assert rows.aligned(range(6), "groups").tolist() == [0, 1, 3, 4, 5]
    with pytest.raises(InputError, match="no column 'country': the columns are 'region'"):
        rows.column("country")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": {}}, "at least one model"),
        ({"scores": {"a": [1, 2]}}, "one value per row each"),
        ({"scores": {"a": [1, 2, 3, 4, 5, np.nan]}}, r"scores\['a'\] must not be missing"),
        ({"clusters": [1] * 6}, "at least two clusters"),
        ({"columns": ["region"]}, "mapping from name"),
        ({"columns": {"region": [1]}}, "one value per row each"),
        ({"sample_weight": [1, 1, 1, 1, 1, -1]}, "sample_weight"),
    ],
)
def test_what_is_wrong_is_named(options, message):
    arguments = {"scores": SCORES} | options
    with pytest.raises(InputError, match=message):
        pr.Rows(Y, **arguments)


def test_another_prevalence_keeps_the_order_and_weighs_the_negatives():
    rows = pr.Rows(Y, SCORES, clusters=[0, 0, 1, 1, 2, 2])
    moved = rows.at_prevalence(0.1)
    assert moved["new"].prevalence == pytest.approx(0.1)
    assert moved.weight[~rows.positive].sum() / moved.weight.sum() == pytest.approx(0.9)
    known = pr.interval(rows, model="new", prevalence=0.1)
    assert known.estimate == pytest.approx(pr.aucpr(rows["new"].at_prevalence(0.1)))


def test_some_rows_are_rows():
    rows = pr.Rows(Y, SCORES, clusters=[5, 5, 7, 7, 9, 9], columns={"n": range(6)})
    part = rows.select(np.array([True, True, False, False, True, True]))
    assert part["old"] == pr.rank([1, 0, 0, 1], [6.0, 1, 2, 3])
    assert part.cluster.tolist() == [0, 0, 1, 1]
    assert part.column("n").tolist() == [0, 1, 4, 5]
    assert rows.unclustered().cluster is None
    assert rows.unclustered()["new"] is rows["new"]


TABLE = {
    "label": ["bad", "good", "bad", "good", None],
    "a": [4.0, 3.0, np.nan, 1.0, 5.0],
    "weight": [1.0, 2.0, 1.0, 1.0, 1.0],
    "country": ["NA", "DE", "DE", None, "NA"],
}
FRAMES = {
    "pandas": pd.DataFrame,
    "Polars": lambda table: pl.DataFrame(table, nan_to_null=False),
    "PyArrow": pa.table,
    "mapping": lambda table: {key: np.array(value, dtype=object) for key, value in table.items()},
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=list(FRAMES))
def test_every_frame_gives_the_same_rows(make):
    frame = make(TABLE)
    columns = {"label": "label", "scores": "a", "sample_weight": "weight", "pos_label": "bad"}
    rows = pr.Rows.from_frame(frame, **columns, columns="country", missing="drop")
    assert (len(rows), rows.n_dropped) == (3, 2)
    assert rows["a"] == pr.rank([1, 0, 0], [4.0, 3.0, 1.0], sample_weight=[1.0, 2.0, 1.0])
    assert list(rows.column("country")[:2]) == ["NA", "DE"]
    with pytest.raises(InputError, match="missing"):
        pr.Rows.from_frame(frame, **columns)


def test_a_frame_that_only_narwhals_knows():
    pytest.importorskip("narwhals")
    import narwhals as nw

    frame = nw.from_native(pl.DataFrame({"y": [1, 0], "s": [2.0, 1.0]}))
    rows = pr.Rows.from_frame(frame, label="y", scores=["s"])
    assert rows["s"] == pr.rank([1, 0], [2.0, 1.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "z"}, "column 'z' is not there: the columns are 'y', 's'"),
        ({"scores": 3}, "scores must be the name of a column or a list"),
        ({"label": ["y"]}, "label must be the name of a column"),
        ({"missing": "skip"}, "missing must be one of"),
        ({"frame": 7}, "data frame"),
        ({"frame": pd.DataFrame([[1, 0]], columns=["y", "y"])}, "more than once"),
    ],
)
def test_a_wrong_frame_is_named(options, message):
    arguments = {"frame": {"y": [1, 0], "s": [2, 1]}, "label": "y", "scores": "s"} | options
    with pytest.raises(InputError, match=message):
        pr.Rows.from_frame(**arguments)


@pytest.mark.parametrize("options", [{}, {"curves": True}, {"sample_weight": True}])
def test_an_evaluation_checks_labels_once_and_sorts_every_column_once(options, monkeypatch):
    """With clusters, groups and a comparison; the groups and what is outside of each included."""
    counted = {"masks": 0, "sorted_scores": 0}

    def count(module, name, key, counts=lambda *_: True):
        original = getattr(module, name)

        def counting(*arguments, **options):
            counted[key] += counts(*arguments)
            return original(*arguments, **options)

        monkeypatch.setattr(module, name, counting)

    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.1
    scores = {"a": rng.normal(size=3000) + 2 * y, "b": rng.normal(size=3000) + y}
    known = {value for column in scores.values() for value in np.abs(column).tolist()}

    def of_scores(values, *_):
        """Whether an array has scores, of all rows or of some, as they are or negated."""
        return isinstance(values, np.ndarray) and known.issuperset(np.abs(values).flat)

    count(_validation, "as_positive_mask", "masks")
    count(sorting, "_sorted_classes", "sorted_scores")
    count(sorting, "_sorted_with_weights", "sorted_scores")
    count(grouping, "tabulate", "sorted_scores")
    for name in ("argsort", "sort", "unique"):
        count(np, name, "sorted_scores", of_scores)
    count(np, "lexsort", "sorted_scores", lambda keys: any(of_scores(key) for key in keys))
    if options.get("sample_weight"):
        options = {"sample_weight": rng.uniform(0.5, 2.0, 3000)}
    pr.evaluate(
        y, scores, clusters=np.arange(3000) // 3, groups=rng.integers(0, 5, 3000), **options
    )
    assert counted == {"masks": 1, "sorted_scores": 2}


def test_a_ranking_that_follows_from_an_order_is_the_same_to_the_last_bit(monkeypatch):
    monkeypatch.setattr(_threads, "THREADING_PAYS", 50)  # several shards of negatives
    rng = np.random.default_rng(3)
    y, score = rng.random(400) < 0.1, np.round(rng.normal(size=400), 1)
    for weight in (None, rng.uniform(0.5, 2.0, 400)):
        first, second = (pr.Rows(y, score, sample_weight=weight) for _ in range(2))
        second.order("score")
        assert first["score"] == second["score"]
        assert first["score"].moments == second["score"].moments
        for thresholds in ((), (0.05, 0.3)):
            ranking = first.ranking("score", thresholds)
            expected = locate(ranking.threshold, score)
            assert np.array_equal(second.place("score", thresholds), expected)


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_has_no_other_prevalence(label):
    with pytest.raises(InputError, match="prevalence cannot be changed with no"):
        pr.Rows([label, label], [1.0, 2.0]).at_prevalence(0.5)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_of_scores_has_a_model_in_every_column(library):
    columns = {"a": [4.0, 3.0, 2.0, 1.0], "b": [1.0, 4.0, 3.0, 2.0]}
    frame = {
        "pandas": lambda: pd.DataFrame(columns)[["a", "b"]],
        "polars": lambda: pl.DataFrame(columns),
        "pyarrow": lambda: pa.table(columns),
    }[library]()
    y = [1, 0, 1, 0]
    assert pr.Rows(y, frame).names == ["a", "b"]
    with pytest.warns(ReliabilityWarning, match="positives"):
        found = pr.compare(y, frame)
    assert found.estimates == {name: pr.aucpr(pr.rank(y, columns[name])) for name in columns}

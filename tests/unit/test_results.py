"""Every result class: in one place, frozen, as a dictionary, as a data frame, in a notebook."""

import dataclasses
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
import typing

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import precall as pr
from precall import privacy, results
from precall.evaluation import evaluate
from precall.exceptions import InputError

#: What a result class still lacks, and why.
LACKING: dict[str, str] = {}


def modules():
    """Every module that can be imported here; those of a missing library cannot."""
    for found in pkgutil.walk_packages(pr.__path__, "precall."):
        if not found.name.endswith("__main__"):
            try:
                yield importlib.import_module(found.name)
            except ImportError:
                continue


def result_classes():
    """Dataclasses that can be written down, and whatever dataclass a public function returns."""
    here = list(modules())
    for module in here:
        for value in vars(module).values():
            at_home = inspect.isclass(value) and value.__module__ == module.__name__
            if at_home and dataclasses.is_dataclass(value) and hasattr(value, "to_dict"):
                yield value
    for place in (pr, privacy):
        for name in place.__all__:
            function = getattr(place, name)
            if inspect.isfunction(function):
                returned = typing.get_type_hints(function).get("return")
                for kind in (returned, *typing.get_args(returned)):
                    if dataclasses.is_dataclass(kind):
                        yield kind


def test_every_result_class_is_in_one_place():
    found = {kind.__name__: kind for kind in result_classes()}
    assert set(found) == set(results.__all__)
    for name, kind in found.items():
        assert getattr(results, name) is kind


@pytest.mark.parametrize("name", results.__all__)
def test_a_result_is_frozen_and_can_be_taken_elsewhere(name):
    kind = getattr(results, name)
    assert kind.__dataclass_params__.frozen
    assert kind.__doc__
    wanted = {"to_dict", "to_frame", "_repr_html_"}
    if name in LACKING:
        assert wanted - set(dir(kind)) == {"to_frame", "_repr_html_"}
    else:
        assert wanted <= set(dir(kind))


EXAMPLE = pr.load_example()
RANKING = pr.rank(EXAMPLE.label, EXAMPLE.scores["gradient_boosting"])
GROUPS = pr.rank_groups(EXAMPLE.label, EXAMPLE.scores["scorecard"], EXAMPLE.group)


def evaluation():
    return evaluate(EXAMPLE.label, dict(EXAMPLE.scores), groups=EXAMPLE.group)


#: A result, and the columns of its frame (the first ones, of one row of everything).
TABLES = {
    "ranking": (RANKING, ["threshold", "positives", "tied", "above", "tp", "fp"]),
    "groups": (GROUPS, ["label", "n_pos", "n_neg", "prevalence"]),
    "curve": (pr.pr_curve(RANKING), ["x", "y", "tp", "fp", "threshold", "observed"]),
    "band": (pr.band(RANKING, rng=0), ["recall", "low", "precision", "high"]),
    "summary": (pr.summary_curve(GROUPS, prevalence=0.02), ["recall", "low", "precision", "high"]),
    "aggregate": (pr.aggregate(GROUPS), ["label", "value", "prevalence"]),
    "comparison": (
        pr.compare(EXAMPLE.label, EXAMPLE.scores, sampling="classes"),
        [
            *("first", "second", "difference", "low", "high"),
            *("simultaneous_low", "simultaneous_high", "p_value", "unadjusted_p_value"),
        ],
    ),
    "conventions": (
        pr.conventions(RANKING),
        ["name", "tool", "call", "value", "reason", "rule", "estimator"],
    ),
    "gate": (
        pr.gate(
            pr.Rows(EXAMPLE.label, EXAMPLE.scores),
            candidate="gradient_boosting",
            baseline="scorecard",
        ),
        [
            "rule",
            "slice",
            "verdict",
            "metric",
            "candidate",
            "baseline",
            "estimate",
            "low",
            "high",
            "sign",
            "target",
            "more_positives",
            "method",
            "message",
        ],
    ),
    "contour": (pr.iso_f_contours([0.5])[0], ["recall", "precision"]),
    "example": (
        EXAMPLE,
        ["payment_id", "card_id", "channel", "amount", "fraud", "gradient_boosting", "scorecard"],
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_becomes_a_frame_row_by_row(name):
    result, columns = TABLES[name]
    frame = result.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == columns
    assert len(frame) >= 1


def test_a_frame_holds_the_numbers_themselves():
    frame = RANKING.to_frame()
    np.testing.assert_array_equal(frame["tp"], RANKING.tp)
    np.testing.assert_array_equal(frame["threshold"], RANKING.threshold)
    band = pr.band(RANKING, rng=0)
    np.testing.assert_array_equal(band.to_frame()["low"], band.low)
    groups = GROUPS.to_frame().set_index("label")
    assert groups.loc["online", "n_pos"] == GROUPS.of("online").n_pos


@pytest.mark.parametrize("name", TABLES)
def test_the_frame_is_the_same_in_every_library(name):
    result, columns = TABLES[name]
    expected = result.to_frame()
    polars, arrow = result.to_frame("polars"), result.to_frame(library="pyarrow")
    assert isinstance(polars, pl.DataFrame)
    assert isinstance(arrow, pa.Table)
    for column in columns:
        plain = [None if value != value else value for value in expected[column].tolist()]
        for other in (polars[column].to_list(), arrow[column].to_pylist()):
            assert [None if value != value else value for value in other] == plain


def test_a_single_number_becomes_one_row():
    interval = pr.interval(RANKING, sampling="classes")
    [row] = interval.to_frame().to_dict("records")
    assert row == interval.to_dict()
    point = pr.best_threshold(RANKING)
    frame = point.to_frame()
    assert len(frame) == 1
    assert frame["confusion_precision"].item() == point.confusion.precision


def test_an_evaluation_is_a_row_for_each_measure():
    found = evaluation()
    frame = found.to_frame()
    whole = frame[frame["group"].isna()]
    inside = frame["group"].value_counts().to_dict()
    assert inside == {group.name: sum(map(len, group.measures)) for group in found.groups}
    assert whole.groupby("model").size().to_dict() == {
        model.name: len(model.measures) for model in found.models
    }
    best = whole[(whole["model"] == found.best.name) & (whole["measure"] == "aucpr")]
    assert best["estimate"].item() == found.best.measures["aucpr"].estimate
    assert "gradient_boosting" in found._repr_html_()


def test_plain_values_survive_json():
    for result, _ in TABLES.values():
        json.dumps(result.to_dict())


def test_an_unknown_library_is_refused():
    with pytest.raises(InputError, match="library must be one of"):
        RANKING.to_frame("excel")


def test_a_missing_library_is_named_with_a_way_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"needs pandas.*library='polars' or 'pyarrow'"):
        RANKING.to_frame()


def test_results_show_themselves_in_a_notebook():
    for result, _ in TABLES.values():
        assert f"<caption>{type(result).__name__}</caption>" in result._repr_html_()


LOADED = """
import sys
import precall as pr
before = set(sys.modules)
assert not {f"precall.{name}" for name in pr._SUBPACKAGES} & before
assert set(pr.__all__) | set(pr._SUBPACKAGES) | {"exceptions"} == set(dir(pr))
assert pr.simulate.Binormal().aucpr(0.5) > 0.5
assert pr.privacy.Budget(epsilon=1.0)
assert pr.results.Curve is pr.Curve
assert pr.engines.arrow.rank and {"arrow", "dask", "spark", "sql"} <= set(dir(pr.engines))
import inspect
assert {"privacy", "simulate"} <= {name for name, _ in inspect.getmembers(pr)}  # as help(pr) does
for place in (pr, pr.engines):
    try:
        place.nonsense
    except AttributeError as error:
        assert "nonsense" in str(error)
    else:
        raise SystemExit("an unknown name was found")
"""


def test_subpackages_load_when_first_used():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")

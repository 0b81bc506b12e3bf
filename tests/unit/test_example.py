"""The embedded example is what its script makes, and has what the documentation says of it."""

import csv
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

from precall.example import EXAMPLES, Example, example_path, load_example
from precall.exceptions import InputError

MAKER = Path(__file__).parents[2] / "scripts" / "make_example.py"


@pytest.fixture(scope="module")
def example() -> Example:
    return load_example()


def test_the_script_makes_the_same_bytes():
    make = runpy.run_path(str(MAKER))["example_csv"]
    assert make().encode("utf-8") == example_path().read_bytes()


def test_arrays_agree_with_the_file(example):
    with example_path().open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for field, column in example.columns.items():
        values = getattr(example, field)
        assert [type(values[0])(row[column]) for row in rows] == values.tolist()
    for name, score in example.scores.items():
        assert [float(row[name]) for row in rows] == score.tolist()
    assert {*example.columns.values(), *example.scores} == set(rows[0])


def test_it_is_a_rare_event(example):
    assert example.label.shape == (4000,)
    assert set(example.label.tolist()) == {0, 1}
    assert 0.015 < example.label.mean() < 0.025


def test_one_scorer_has_ties_between_the_classes_and_the_other_nearly_none(example):
    positive = example.label == 1
    scorecard = example.scores["scorecard"]
    assert np.isin(scorecard[positive], scorecard[~positive]).mean() > 0.5
    boosting = example.scores["gradient_boosting"]
    assert np.isin(boosting[positive], boosting[~positive]).mean() < 0.1


def test_every_group_has_both_classes_and_prevalences_differ(example):
    groups, inverse = np.unique(example.group, return_inverse=True)
    prevalence = np.bincount(inverse, example.label) / np.bincount(inverse)
    assert len(groups) == 5
    assert np.all((prevalence > 0) & (prevalence < 1))
    assert prevalence.max() > 10 * prevalence.min()


def test_cards_are_clusters_of_payments(example):
    _, inverse = np.unique(example.cluster, return_inverse=True)
    assert np.bincount(inverse).max() > 1
    assert np.bincount(inverse, example.label).max() > 1
    assert len(set(example.identifier.tolist())) == example.identifier.size


def test_nobody_can_change_it(example):
    for array in (example.label, example.amount, example.group, *example.scores.values()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    with pytest.raises(TypeError):
        example.scores["another"] = example.label


def test_to_dict_survives_json(example):
    back = json.loads(json.dumps(example.to_dict()))
    assert back["label"] == example.label.tolist()
    assert back["scores"]["scorecard"] == example.scores["scorecard"].tolist()
    assert back["columns"]["label"] == "fraud"


def test_the_tumours_are_what_their_script_makes():
    """Another release of scikit-learn may round a score differently, and split a tree elsewhere."""
    pytest.importorskip("sklearn")
    maker = Path(__file__).parents[2] / "scripts" / "make_tumours.py"
    made = list(csv.DictReader(runpy.run_path(str(maker))["tumours_csv"]().splitlines()))
    with example_path("tumours").open(encoding="utf-8", newline="") as file:
        stored = list(csv.DictReader(file))
    for column in ("tumour_id", "fold", "malignant"):
        assert [row[column] for row in made] == [row[column] for row in stored]
    for column, most in (("logistic_regression", 0), ("decision_tree", 30)):
        pairs = zip(made, stored, strict=True)
        far = [abs(float(a[column]) - float(b[column])) > 2e-3 for a, b in pairs]
        assert sum(far) <= most


def test_the_tumours_are_rows_with_folds():
    tumours = load_example("tumours")
    assert (tumours.label.size, int(tumours.label.sum())) == (569, 212)
    assert tumours.cluster is None
    assert tumours.amount is None
    assert sorted(set(tumours.group.tolist())) == [f"fold {k}" for k in range(1, 6)]
    assert json.loads(json.dumps(tumours.to_dict()))["label"] == tumours.label.tolist()
    assert list(tumours.to_frame().columns) == [*tumours.columns.values(), *tumours.scores]
    assert "tumours" in repr(tumours)
    assert "malignant" in tumours._repr_html_()


def test_an_example_that_is_not_there_is_named():
    assert EXAMPLES == ("payments", "tumours")
    for call in (load_example, example_path):
        with pytest.raises(InputError, match="name must be one of 'payments', 'tumours'"):
            call("payment")

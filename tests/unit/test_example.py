"""The embedded example is what its script makes, and has what the documentation says of it."""

import csv
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

from precall.example import Example, example_path, load_example

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

"""What decisions are worth, in evaluations, on the page and on the command line."""

import json

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError
from tests.cli.page import command_on

from .conftest import write_csv


@pytest.fixture(scope="module")
def example():
    return pr.load_example()


@pytest.fixture(scope="module")
def evaluation(example):
    return pr.evaluate(example.label, example.scores, net_benefit=True, cost_ratio=10)


def test_the_numbers_are_those_of_the_library(evaluation, example):
    rows = pr.Rows(example.label, example.scores)
    first, second = evaluation.decisions
    curve = pr.net_benefit_curve(rows, model="gradient_boosting")
    np.testing.assert_array_equal(first.curve.y, curve.y)
    band = pr.band(rows, "net_benefit", model="gradient_boosting", rng=0)
    np.testing.assert_array_equal(first.band.low, band.low)
    cost = pr.interval(rows, "expected_cost(10)", model="gradient_boosting")
    assert (first.cost.estimate, first.cost.low) == (cost.estimate, cost.low)
    assert first.calibration == pr.calibration_check(rows, model="gradient_boosting").message
    assert second.curve is None
    assert "go from 0 to 99" in second.note


def test_they_are_in_the_json_and_on_the_page(evaluation, tmp_path):
    plain = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))["decisions"]
    assert plain[0]["expected_cost"]["estimate"] == evaluation.decisions[0].cost.estimate
    assert len(plain[0]["net_benefit"]["probability"]) == 99
    assert plain[1]["net_benefit"] is None
    page = evaluation.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "What are its decisions worth?" in page
    assert "expected cost" in page
    assert "can be taken for probabilities" in page
    # What the band and the cost are about.
    assert "confidence at all the probabilities that it spans, for its model by itself." in page
    assert "what errors cost per row, in units of a false alarm." in page


def test_nothing_is_shown_unasked(example, tmp_path):
    quiet = pr.evaluate(example.label, example.scores)
    assert quiet.decisions == ()
    page = quiet.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "What are its decisions worth?" not in page


def test_the_command_line_asks_for_the_same(run, example, tmp_path):
    path = write_csv(
        tmp_path / "p.csv", {"y": example.label, "p": example.scores["gradient_boosting"]}
    )
    page = tmp_path / "page.html"
    words = ("report", path, "--label", "y", "--score", "p", "--net-benefit", "--cost-ratio", "10")
    assert run(*words, "-o", page).status == 0
    text = page.read_text(encoding="utf-8")
    assert "What are its decisions worth?" in text
    assert "--cost-ratio 10.0 --net-benefit" in command_on(text)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cost_ratio": 0}, "cost_ratio must be above zero"),
        ({"net_benefit": "yes"}, "net_benefit must be True or False"),
    ],
)
def test_what_cannot_be_asked_is_refused(example, options, said):
    with pytest.raises(InputError, match=said):
        pr.evaluate(example.label, example.scores, **options)


def test_scores_that_are_no_probabilities_are_refused_where_no_model_has_them(run, csv_file):
    result = run("report", csv_file, "--label", "y", "--score", "a", "--net-benefit")
    assert result.status == 2
    assert "they are no probabilities" in result.err
    assert run("report", "--net-benefit").status == 2


def test_weighted_rows_have_a_curve_without_limits(example):
    weights = np.linspace(0.5, 1.5, example.label.size)
    scores = {"p": example.scores["gradient_boosting"]}
    [one] = pr.evaluate(example.label, scores, sample_weight=weights, net_benefit=True).decisions
    assert one.curve is not None
    assert one.band is None
    assert one.calibration == ""

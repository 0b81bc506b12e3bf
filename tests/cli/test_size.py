"""``precall size``: what the library plans."""

import pytest

import precall as pr


def test_a_width_and_a_guess_give_rows(run):
    asked = ("size", "--width", 0.1, "--prevalence", 0.01, "--aucpr", 0.4)
    plan = pr.planning.size(width=0.1, prevalence=0.01, aucpr=0.4)
    assert run(*asked, "--json").json()["rows"] == plan.rows
    assert " ".join(run(*asked).out.split()) == plan.message


def test_a_pilot_and_a_metric(run):
    columns = ("--pilot", pr.example_path(), "--label", "fraud", "--score", "scorecard")
    found = run("size", "--width", 0.2, *columns, "--metric", "auroc", "--json").json()
    example = pr.load_example()
    pilot = pr.rank(example.label, example.scores["scorecard"])
    assert found["rows"] == pr.planning.size(width=0.2, pilot=pilot, metric="auroc").rows


def test_a_difference_of_two_models(run):
    asked = ("size", "--prevalence", 0.1, "--aucpr", 0.4, "--json")
    found = run(*asked, "--difference", 0.1, "--correlation", 0.8).json()
    plan = pr.planning.power(difference=0.1, prevalence=0.1, aucpr=0.4, correlation=0.8)
    assert (found["rows"], found["power"]) == (plan.rows, plan.power)
    assert run(*asked, "--difference", 0.1, "--rows", 5000).json()["power"] > 0.5
    assert run(*asked, "--rows", 5000).json()["difference"] > 0.0


def test_fewer_negatives(run):
    asked = ("size", "--width", 0.2, "--prevalence", 0.01, "--aucpr", 0.4, "--case-control")
    assert "negatives per positive" in run(*asked).out
    assert len(run(*asked, "--json").json()["ratios"]) == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give --width for an interval, or --difference"),
        (["--width", "0.1", "--difference", "0.1"], "give --width"),
        (["--width", "0.1"], "--aucpr or --auroc with a guess"),
        (["--width", "0.1", "--aucpr", "0.4"], "--aucpr needs --prevalence"),
        (["--width", "2", "--aucpr", "0.4", "--prevalence", "0.1"], "--width must be between"),
        (["--difference", "0.1", "--case-control"], "--case-control needs --width"),
        (["--width", "0.1", "--pilot", "x.csv"], "--pilot needs --label and --score"),
        (["--width", "0.1", "--label", "y"], "belong to a --pilot"),
        (["--width", "0.1", "--aucpr", "1"], "--aucpr"),
    ],
)
def test_bad_questions_are_one_line(run, options, message):
    result = run("size", *options)
    assert result.status == 2
    assert result.err.count("\n") == 1
    assert message in result.err

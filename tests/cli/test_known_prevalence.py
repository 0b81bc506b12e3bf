"""A known prevalence that is not that of the data: every number is as it would be there."""

import re

import numpy as np
import pytest

import precall as pr
from precall.evaluation import evaluate_rankings, wording
from precall.exceptions import InputError

OPTIONS = ("--label", "y", "--score", "a", "--score", "b")


def test_evaluate_gives_the_numbers_of_the_library_there(run, csv_file, rows):
    found = run("evaluate", csv_file, *OPTIONS, "--prevalence", "0.05", "--json").json()
    assert found["target_prevalence"] == 0.05
    for model in found["models"]:
        ranking = pr.rank(rows["y"], rows[model["name"]])
        area = pr.interval(ranking, prevalence=0.05)
        measure = model["measures"]["aucpr"]
        assert (measure["estimate"], measure["low"], measure["high"]) == (
            area.estimate,
            area.low,
            area.high,
        )
        moved = ranking.at_prevalence(0.05)
        assert measure["floor"] == pr.metrics.aucpr().floor(moved)
        assert measure["random"] == pr.metrics.aucpr().random(moved)
        assert model["estimators"]["davis_goadrich"] == pr.aucpr(moved, estimator="davis_goadrich")
    assert "where the prevalence is 5 %" in found["answer"][0]
    assert any("taken as known" in each["text"] for each in found["findings"])


def test_compare_gives_the_numbers_of_the_library_there(run, csv_file, rows):
    found = run("compare", csv_file, *OPTIONS, "--prevalence", "0.05", "--json").json()
    moved = {name: pr.rank(rows["y"], rows[name]).at_prevalence(0.05) for name in "ab"}
    assert found["estimates"] == pytest.approx({name: pr.aucpr(moved[name]) for name in "ab"})
    expected = pr.compare(rows["y"], {name: rows[name] for name in "ab"}, prevalence=0.05)
    assert found["pairs"][0]["p_value"] == expected.p_values["a", "b"]


def test_a_difference_elsewhere_is_that_of_rows_weighted_to_be_so(rows):
    """Classes are part of the design there: neither sampling nor another weight may add to it."""
    y, scores = rows["y"], {name: rows[name] for name in "ab"}
    found = pr.compare(y, scores, prevalence=0.05)
    weight = np.where(y == 1, 1.0, 19 * np.sum(y == 1) / np.sum(y == 0))
    expected = pr.compare(y, scores, sample_weight=weight, sampling="classes")
    assert found.differences == pytest.approx(expected.differences)
    assert found.standard_errors == pytest.approx(expected.standard_errors)
    with pytest.raises(InputError, match="leave sampling='rows' out"):
        pr.compare(y, scores, prevalence=0.05, sampling="rows")


def test_promises_and_curves_are_for_that_prevalence(rows):
    evaluation = pr.evaluate(rows["y"], {"a": rows["a"]}, prevalence=0.02)
    [model] = evaluation.models
    assert model.curve.at(0.5) == pr.pr_curve(model.ranking.at_prevalence(0.02)).at(0.5)
    assert model.band.x.size
    for point in model.certificates:
        assert point.constraints[0].required > 0.02
    strict = pr.evaluate(rows["y"], {"a": rows["a"]}).models[0].certificates
    assert max(p.constraints[0].required for p in model.certificates) < max(
        p.constraints[0].required for p in strict
    )


def test_rankings_are_evaluated_there_too(rows):
    ranking = pr.rank(rows["y"], rows["a"])
    found = evaluate_rankings({"a": ranking}, prevalence=0.05)
    assert found.best.measures["aucpr"].estimate == pr.interval(ranking, prevalence=0.05).estimate


def test_what_ties_allow_is_said_of_that_prevalence(rows, tmp_path):
    """One area has one value on a page: the range holds the estimate that stands beside it."""
    rough = np.round(2.0 * rows["a"])
    evaluation = pr.evaluate(rows["y"], {"a": rough}, prevalence=0.02)
    bounds = pr.tie_bounds(pr.rank(rows["y"], rough).at_prevalence(0.02))
    [model] = evaluation.models
    assert bounds.low <= model.measures["aucpr"].estimate <= bounds.high
    assert not pr.tie_bounds(model.ranking).low <= model.measures["aucpr"].estimate
    shown = wording.bounds(bounds.low, bounds.high)
    [said] = [each.text for each in evaluation.findings if "inside ties" in each.text]
    assert said.endswith(f"AUCPR could be {shown}.")
    page = evaluation.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count(shown) == 2
    assert "for a, at the prevalence of these rows</summary>" in page


def test_the_page_says_which_command_makes_it_again(run, csv_file, tmp_path):
    page = tmp_path / "page.html"
    assert run("report", csv_file, *OPTIONS, "--prevalence", "0.05", "-o", page).status == 0
    assert "--prevalence 0.05" in re.sub(r"</?span>", "", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("share", ["0", "1", "2", "x"])
def test_what_is_no_share_is_refused(run, csv_file, share):
    for command in ("evaluate", "compare"):
        result = run(command, csv_file, *OPTIONS, "--prevalence", share)
        assert result.status == 2
        assert "--prevalence" in result.err


def test_the_first_sentence_counts_the_alarms_at_its_threshold(rows):
    evaluation = pr.evaluate(rows["y"], {"a": rows["a"]})
    y, score = rows["y"] == 1, rows["a"]
    reached = np.sort(score[y])[::-1][int(np.ceil(0.8 * y.sum() - 1e-9)) - 1]
    alarms, right = np.sum(score >= reached), np.sum(y & (score >= reached))
    assert f"{alarms} alarms in these 600 rows, {right} of them right" in evaluation.answer[0]


def test_with_few_positives_a_comparison_is_a_hint():
    rng = np.random.default_rng(3)
    for positives, hint in ((14, True), (40, False)):
        y = np.arange(600) < positives
        scores = {"a": rng.normal(size=600) + 2 * y, "b": rng.normal(size=600) + y}
        assert ("a hint with so few positives" in pr.evaluate(y, scores).answer[1]) is hint


@pytest.mark.parametrize(
    ("prevalence", "said"),
    [(0.6, "where positives are rarer, "), (0.02, "where positives are more frequent, ")],
)
def test_alarms_counted_here_are_not_taken_for_those_elsewhere(rows, prevalence, said):
    """The share of them that is right is not the precision that is quoted."""
    y, score = rows["y"], {"a": rows["a"]}
    [first, *_] = pr.evaluate(y, score, prevalence=prevalence).answer
    assert f" alarms in these 600 rows, {said}" in first
    assert "where positives are" not in pr.evaluate(y, score).answer[0]

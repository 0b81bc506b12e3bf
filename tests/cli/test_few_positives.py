"""With under 10 positives there are counts, and no intervals: in words, numbers, JSON and pictures.

One rule decides it, for the page, the terminal and the plots alike.
"""

import json
import re

import numpy as np
import pytest

import precall as pr
from precall.display.payload import payload
from precall.display.report import render_report
from precall.evaluation.few import FEWEST_POSITIVES, too_few
from precall.evaluation.measures import measure
from precall.evaluation.model_result import Measure

from .conftest import write_csv


def made(n_pos, n_rows=500, shift=2.0, seed=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) < n_pos
    return y, {"new": rng.normal(size=n_rows) + shift * y, "old": rng.normal(size=n_rows) + y}


@pytest.fixture(scope="module")
def seven():
    y, scores = made(7)
    groups = np.where(np.arange(y.size) % 2, "odd", "even")
    return pr.evaluate(y, scores, groups=groups, curves=True)


def limits(text):
    """Intervals in words: 0.62 (0.51–0.73), +0.1 (−0.2 to +0.4)."""
    return re.findall(r"\([+−]?\d[\d.]*(?:–| to )[+−]?\d[\d.]*\)", text)


@pytest.mark.parametrize(("n_pos", "few"), [(9, True), (10, False)])
def test_the_rule_is_about_positives(n_pos, few):
    y, scores = made(n_pos)
    evaluation = pr.evaluate(y, scores, curves=True)
    assert evaluation.few_positives is few
    model = evaluation.models[0]
    assert model.few_positives is few
    assert all((one.interval is None) is few for one in model.measures.values())
    assert (model.band is None) is few
    assert (model.fixed_band is None) is few
    assert (evaluation.comparison is None) is few
    assert (not evaluation.difference_bands) is few
    assert bool(limits(" ".join(evaluation.answer))) is not few


def test_weights_count_as_what_they_are_worth():
    y, scores = made(30)
    weights = np.where(np.arange(y.size) < 3, 100.0, 1.0)
    assert too_few(pr.rank(y, scores["new"], sample_weight=weights))
    evaluation = pr.evaluate(y, scores["new"], sample_weight=weights)
    found = evaluation.models[0].measures["precision_at_recall"]
    assert found.interval is None
    assert found.counts is None  # shares are of weights, not of rows


def test_what_is_shown_is_counted(seven):
    y, scores = made(7)
    for model in seven.models:
        found = model.measures["precision_at_recall"]
        reached = np.sort(scores[model.name][y])[::-1][int(np.ceil(0.8 * 7)) - 1]
        selected = scores[model.name] >= reached
        assert found.counts == (np.sum(y[selected]), np.sum(selected))
        assert found.text == f"{np.sum(y[selected])} of {np.sum(selected)}"
        assert found.estimate == pr.metrics.precision_at_recall(0.8)(pr.rank(y, scores[model.name]))
    first = seven.best.measures["precision_at_recall"]
    assert (
        f"finds {first.counts[0]:g} of the 7 positives in the {first.counts[1]:g} rows"
        in (seven.answer[0])
    )


def test_elsewhere_counts_say_nothing_of_precision():
    y, scores = made(7)
    found = pr.evaluate(y, scores["new"], prevalence=0.2).models[0].measures["precision_at_recall"]
    assert found.counts is None
    assert found.interval is None


def test_nothing_that_is_said_has_limits(seven):
    said = [*seven.answer, *(finding.text for finding in seven.findings), repr(seven)]
    said += [model.measures[name].text for model in seven.models for name in model.measures]
    assert limits(" ".join(said)) == []
    assert "intervals" not in " ".join(finding.text for finding in seven.findings)
    assert "left open" in seven.answer[1]


def test_chance_is_tested_without_an_interval():
    """The interval of AUCPR would call 7 positives near the top no better than chance."""
    y, scores = made(7, shift=4.0)
    good = pr.evaluate(y, scores["new"])
    assert not any("chance" in finding.text for finding in good.findings)
    rng = np.random.default_rng(8)
    poor = pr.evaluate(y, rng.normal(size=y.size))
    [said] = [finding.text for finding in poor.findings if "chance" in finding.text]
    p = pr.chance_test(poor.models[0].ranking, rng=0).p_value
    assert p > 0.05
    assert f"with probability {p:.2f}" in said


def test_the_json_has_no_limits_and_says_why(seven):
    plain = json.loads(json.dumps(seven.to_dict()))
    for model in plain["models"]:
        for one in model["measures"].values():
            assert one["low"] is one["high"] is one["confidence_level"] is one["method"] is None
            assert one["note"] == f"no interval: fewer than {FEWEST_POSITIVES} positives"
    assert plain["models"][0]["measures"]["precision_at_recall"]["counts"][0] == 6
    assert plain["comparison"] is None


@pytest.fixture
def seven_file(tmp_path):
    y, scores = made(7)
    path = tmp_path / "rows.csv"
    write_csv(path, {"y": y.astype(int), **scores})
    return path


def test_the_terminal_says_it_once(run, seven_file):
    result = run("evaluate", seven_file, "--label", "y", "--score", "new")
    assert result.status == 0
    assert "Measures without intervals (fewer than 10 positives)" in result.out
    assert result.out.count("fewer than 10 positives") == 2  # and in the answer
    assert limits(result.out) == []
    assert "6 of " in result.out
    assert "●" in result.out
    assert "━" not in result.out


def test_a_picture_has_no_band_and_says_so(run, seven_file, tmp_path):
    plot = ("plot", seven_file, "--label", "y", "--score", "new", "-o", tmp_path / "curve.png")
    assert "no band: there are fewer than 10 positives" in run(*plot).err
    assert run(*plot, "--no-band").err == ""


def test_the_page_draws_no_interval(seven):
    page = render_report(seven)
    before_data = page[: page.index('<script type="application/json"')]
    body = before_data[before_data.index("<body") :]
    assert 'class="interval"' not in body
    assert limits(body) == []
    assert "95 % interval" not in body.replace("\N{NO-BREAK SPACE}", " ")
    assert 'id="show-bands"' not in body
    assert 'id="comparison"' not in body
    assert "none, with fewer than 10 positives" in body
    assert "6 of " in body
    embedded = payload(seven)
    assert embedded["few"] is True
    assert all(model["band"] is model["moving_band"] is None for model in embedded["models"])


def test_decisions_have_no_band_and_no_limits():
    rng = np.random.default_rng(5)
    y = np.arange(400) < 8
    probability = np.clip(0.02 + 0.3 * y * rng.random(400), 0, 1)
    evaluation = pr.evaluate(y, probability, net_benefit=True, cost_ratio=5.0)
    [value] = evaluation.decisions
    assert value.few_positives
    assert value.band is None
    plain = evaluation.to_dict()["decisions"][0]["expected_cost"]
    assert plain["low"] is plain["high"] is None
    assert plain["estimate"] == value.cost.estimate
    page = render_report(evaluation)
    assert f">{value.cost.estimate:.2f}</td>" in page


def test_groups_follow_the_same_rule():
    y, scores = made(40, 2000)
    group = np.where((np.arange(y.size) < 5) | (np.arange(y.size) > 1500), "few", "many")
    evaluation = pr.evaluate(y, scores["new"], groups=group)
    by_name = {one.name: one.measures[0]["aucnpr"] for one in evaluation.groups}
    assert not evaluation.few_positives
    assert by_name["many"].interval is not None
    assert by_name["few"].few_positives
    assert by_name["few"].interval is None


def test_a_metric_without_rules_keeps_its_own_digits():
    class Plain(type(pr.metrics.auroc())):
        rules = ()

    ranking = pr.rank([1, 0, 1, 0, 0], [5, 4, 3, 2, 1])
    found = measure(Plain(), ranking, lambda metric: None)
    assert isinstance(found, Measure)
    assert found.text == "0.833"

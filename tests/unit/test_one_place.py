"""A new metric, rule or estimator needs its own code and one line, and then it is everywhere."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import precall as pr
from precall.cli.app import app
from precall.inference.rules import RULES, rules_of
from precall.inference.rules.rule import ClosedForm, Counts, Formula
from precall.metrics import ESTIMATORS, METRICS, Estimator, Metric


@dataclass(frozen=True)
class FirstShare(Metric):
    """The share of positives above every negative."""

    scale: float = 1.0

    name = "first_share"
    title = "positives above all negatives"
    summary = "share of the positives above every negative"
    rules = ("bootstrap_percentile",)
    shown = True

    def value(self, cells: Any, squares: Any = None) -> Any:
        clean = np.cumsum(cells.above + cells.tied, axis=-1) == 0
        first = np.sum(np.where(clean, cells.positives, 0), axis=-1)
        return self.scale * first / np.sum(cells.positives, axis=-1)


@pytest.fixture
def added(monkeypatch):
    monkeypatch.setitem(METRICS, "first_share", FirstShare)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    y = rng.random(400) < 0.2
    scores = {"a": rng.normal(size=400) + 2 * y, "b": rng.normal(size=400) + y}
    return y, scores, np.repeat(["east", "west"], 200)


def by_hand(y, score):
    return np.mean(score[y] > score[~y].max())


def test_a_new_metric_is_in_every_function(added, data):
    y, scores, region = data
    rows = pr.Rows(y, scores, columns={"region": region})
    expected = {name: by_hand(y, score) for name, score in scores.items()}
    found = pr.interval(rows, "first_share", model="a", rng=0)
    assert (found.estimate, found.method) == (expected["a"], "bootstrap_percentile")
    assert pr.interval(rows, "first_share(scale=0.5)", model="a", rng=0).estimate == pytest.approx(
        0.5 * expected["a"]
    )
    compared = pr.compare(rows, "first_share", method="bootstrap", rng=0, n_resamples=200)
    assert compared.estimates == pytest.approx(expected)
    groups = pr.per_group(rows, "first_share", by="region", model="a")
    halves = [by_hand(y[part], scores["a"][part]) for part in (region == "east", region == "west")]
    np.testing.assert_allclose(groups.values, halves)
    assert pr.aggregate(rows, "first_share", by="region", model="a").estimate == pytest.approx(
        np.mean(halves)
    )
    folds = [pr.rank(y[part], scores["a"][part]) for part in (region == "east", region == "west")]
    assert pr.crossval_interval(folds, "first_share").estimate == pytest.approx(np.mean(halves))


def test_a_new_metric_is_in_the_evaluation_the_page_and_the_commands(added, data, tmp_path):
    y, scores, _ = data
    evaluation = pr.evaluate(y, scores)
    assert evaluation.models[0].measures["first_share"].estimate == by_hand(y, scores["a"])
    page = tmp_path / "page.html"
    evaluation.report(page)
    text = page.read_text(encoding="utf-8")
    assert FirstShare.title in text
    assert "Share of the positives above every negative." in text
    assert "– random" not in text  # what is not known is not shown
    table = tmp_path / "scores.csv"
    lines = [f"{int(a)},{b},{c}" for a, b, c in zip(y, scores["a"], scores["b"], strict=True)]
    table.write_text("\n".join(["y,a,b", *lines]))
    columns = ["--label", "y", "--score", "a", "--score", "b"]
    asked = ["--metric", "first_share(scale=0.5)", "--json"]
    more = json.loads(CliRunner().invoke(app, ["evaluate", str(table), *columns, *asked]).output)
    found = more["models"][0]["measures"]["first_share(scale=0.5)"]["estimate"]
    assert found == pytest.approx(0.5 * by_hand(y, scores["a"]))
    shown = CliRunner().invoke(app, ["evaluate", str(table), *columns])
    assert FirstShare.title in shown.output
    options = ["--metric", "first_share", "--method", "bootstrap", "--json"]
    printed = CliRunner().invoke(app, ["compare", str(table), *columns, *options])
    assert '"metric": "first_share"' in printed.output


@dataclass(frozen=True, kw_only=True)
class Wide(Formula):
    """The whole range."""

    def variance(self, counts: Counts) -> Any:
        return 0.0 * counts.estimate + 1.0

    def limits(self, form: ClosedForm, level: float) -> tuple[Any, Any]:
        return 0.0 * form.estimate, 0.0 * form.estimate + 1.0


def test_a_new_rule_is_one_line(monkeypatch, data):
    y, scores, _ = data
    rule = Wide(
        key="wide", name="wide", summary="", source="", caution="", serves=("aucpr", "auroc")
    )
    monkeypatch.setitem(RULES, "wide", rule)
    ranking = pr.rank(y, scores["a"])
    for metric in ("aucpr", "auroc"):
        found = pr.interval(ranking, metric, method="wide")
        assert (found.low, found.high, found.method) == (0.0, 1.0, "wide")
        assert list(rules_of(METRICS[metric]()))[-1] == "wide"
    assert "wide" not in rules_of(METRICS["auprg"]())


def test_a_new_estimator_is_one_line(monkeypatch, data):
    """Half of average precision: what it has of its own is the kernel."""
    y, scores, region = data
    own = Estimator(
        summary="half",
        source="",
        bias="",
        kernel=lambda steps, low, high: 0.5 * ESTIMATORS["average_precision"].kernel(steps, 0, 1),
    )
    monkeypatch.setitem(ESTIMATORS, "own", own)
    ranking = pr.rank(y, scores["a"])
    half = 0.5 * pr.aucpr(ranking)
    assert pr.aucpr(ranking, estimator="own") == pytest.approx(half)
    floor = pr.minimum_aucpr(ranking.prevalence)
    assert pr.aucnpr(ranking, estimator="own") == pytest.approx((half - floor) / (1 - floor))
    found = pr.interval(ranking, "aucpr(own)", method="bootstrap_percentile", rng=0)
    assert found.estimate == pytest.approx(half)
    rankings = pr.rank_groups(y, scores["a"], region)
    np.testing.assert_allclose(
        pr.per_group(rankings, "aucpr(own)").values,
        0.5 * pr.per_group(rankings, "aucpr").values,
    )
    assert pr.evaluate(y, scores).models[0].estimators["own"] == pytest.approx(half)


def test_nothing_asks_for_a_metric_by_its_name():
    """Branches on a metric's name are what objects are there to end."""
    import ast
    from pathlib import Path

    source = Path(pr.__file__).parent
    named = set(METRICS) - {"f_beta"}
    found = []
    for path in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare) and "metric" in ast.unparse(node):
                sides = [node.left, *node.comparators]
                listed = [part for side in sides for part in getattr(side, "elts", [side])]
                if any(isinstance(part, ast.Constant) and part.value in named for part in listed):
                    found.append(f"{path.relative_to(source)}:{node.lineno}")
    assert found == []

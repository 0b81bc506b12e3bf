"""What notebooks show: the library's own numbers, escaped."""

import re
from html import escape

import numpy as np
import pytest

import precall as pr

EXAMPLE = pr.load_example()
RANKING = pr.rank(EXAMPLE.label, EXAMPLE.scores["gradient_boosting"])


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (RANKING, ("Ranking", "0.0195", "78")),
        (pr.interval(RANKING, sampling="classes"), ("MetricInterval", "guarded", "0.6291")),
        (pr.pr_curve(RANKING), ("Curve", "<svg", "recall")),
        (pr.band(RANKING, rng=0), ("Band", "<polygon", "fiducial")),
        (
            pr.compare(EXAMPLE.label, EXAMPLE.scores, sampling="classes"),
            ("Comparison", "scorecard", "0.4105"),
        ),
        (
            pr.operating_point(RANKING, min_precision=0.5),
            (
                "OperatingPoint",
                "bound: 0.5<br>",
                "observed: 0.75 (0.6163 to 0.8561)",
                "tn: 3908</td>",
            ),
        ),
        (pr.confusion(RANKING, 0.5), ("Confusion", "precision")),
        (pr.best_threshold(RANKING), ("BestThreshold", "threshold")),
        (
            pr.conventions(RANKING),
            (
                "Conventions",
                "0.629121: scikit-learn average_precision_score(y_true, ",
            ),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_results_have_a_table(result, words):
    html = result._repr_html_()
    for word in words:
        assert word in html
    # Every tag that is opened is closed.
    for tag in ("table", "tbody", "tr", "td", "th", "svg"):
        assert len(re.findall(rf"<{tag}[ >]", html)) == html.count(f"</{tag}>")


def test_an_evaluation_shows_its_sentences_and_every_measure():
    found = pr.evaluate(EXAMPLE.label[::-1], EXAMPLE.scores)  # labels of other rows: useless models
    html = found._repr_html_()
    assert any(finding.level == "warning" for finding in found.findings)
    for text in (*found.answer, *(finding.text for finding in found.findings)):
        assert escape(text) in html
    assert ".," not in html  # sentences are one a line
    for model in found.models:
        for measure in model.measures.values():
            assert f"{model.title}: {measure.text}" in html
            assert f">{measure.title}<" in html


def test_a_model_shows_its_measures_as_the_evaluation_does_and_parts_take_a_line():
    evaluation = pr.evaluate(EXAMPLE.label, EXAMPLE.scores)
    model = evaluation.models[0]
    html = model._repr_html_()
    for measure in model.measures.values():
        assert f"{measure.title}: {measure.text}" in html
    assert ": estimate" not in html
    found = pr.compare(EXAMPLE.label, EXAMPLE.scores)._repr_html_()
    assert "gradient_boosting − scorecard: 0.2186 (0.1298 to 0.3009), p &lt; 0.001<" in found
    assert "gradient_boosting: 0.6291 (standard error 0.053, the best with probability " in found
    assert "covariance" not in found


def test_names_are_escaped():
    hostile = "</td><script>alert(1)</script>"
    html = pr.compare(
        EXAMPLE.label,
        {hostile: EXAMPLE.scores["scorecard"], "b": EXAMPLE.scores["gradient_boosting"]},
        sampling="classes",
    )._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_the_drawing_has_the_points_of_the_thinned_curve():
    curve = pr.pr_curve(RANKING)
    lines = re.findall(
        r"<polyline points='([^']*)' fill='none' stroke='#0072B2'", curve._repr_html_()
    )
    assert len(lines) == 1
    points = np.array([pair.split(",") for pair in lines[0].split()], dtype=float)
    assert len(points) == len(curve.thin(2e-3))
    assert np.all(np.diff(points[:, 0]) >= 0)


def test_a_report_is_shown_in_the_notebook_beside_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = pr.evaluate(EXAMPLE.label, EXAMPLE.scores["scorecard"]).report("a <page>.html")
    assert path == (tmp_path / "a <page>.html").resolve()
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    shown = path._repr_html_()
    assert "<iframe src='a%20%3Cpage%3E.html'" in shown
    assert "a &lt;page&gt;.html</a>" in shown
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert "<iframe" not in path._repr_html_()
    assert path.name.replace("<", "&lt;").replace(">", "&gt;") in path._repr_html_()

"""The page of few labels."""

import re

import numpy as np
import pytest

import precall as pr
from precall.evaluation import wording

pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.1
    scores = rng.normal(size=2000) + 2.0 * y
    plan = pr.audit.plan(scores, budget=150, rng=1)
    return scores, {row: bool(y[row]) for row in plan.rows.tolist()}, plan


def test_the_page_has_numbers_curve_and_strata(people, tmp_path):
    scores, labels, plan = people
    models = {"a<b>": scores, "other": -scores}
    sample = pr.audit.Sample(models, labels, plan=plan)
    text = sample.report(tmp_path / "page.html").read_text(encoding="utf-8")
    positives = sum(labels.values())
    assert f"stands on 150 labels of 2,000 rows, {positives} of them positive" in text
    assert "a&lt;b&gt;" in text
    assert "a<b>" not in text
    assert text.count("<polyline") == 2
    assert "Which model is better?" in text
    # Models differ in dash and mark too, and the numbers of the chart can be read.
    dashes = re.findall(r'<polyline points="[^"]*" stroke-dasharray="([^"]*)"', text)
    assert dashes == ["none", "5 2"]
    assert text.count('class="mark-of-model"') == 4  # above the page and above the curve
    [table] = re.findall(r'<details class="numbers">.*?</details>', text, flags=re.DOTALL)
    curve = pr.band(sample, model="other", n_points=41)
    low, high = curve.limits_at(0.5)
    row = re.search(r'<th scope="row">0.5</th>(.*?)</tr>', table).group(1)
    height = np.interp(0.5, curve.x, curve.y)
    assert f">{wording.interval(height, low, high)}<" in row
    found = pr.interval(sample, model="other")
    shown = wording.interval(found.estimate, found.low, found.high)
    assert f'<div class="value">{shown}</div>' in re.sub(r"</?span[^>]*>", "", text)
    for each in plan.strata:
        assert re.search(rf"{each['name']}</td><td class=\"number\">{each['rows']:,}</td>", text)
    assert "default-src 'none'" in text.replace("&#39;", "'")


def test_strata_of_one_model_say_which_scores_they_have(people, tmp_path):
    scores, labels, plan = people
    text = pr.audit.Sample(scores, labels, plan=plan).report(tmp_path / "p.html").read_text("utf-8")
    for code, each in enumerate(plan.strata):
        part = scores[plan.stratum == code]
        ends = " to ".join(wording.short(end) for end in (part.min(), part.max()))
        assert f'{each["name"]}</td><td class="number">{ends}</td>' in text


def test_the_page_is_the_same_for_the_same_labels(people, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    scores, labels, plan = people
    sample = pr.audit.Sample(scores, labels, plan=plan)
    one, two = (sample.report(tmp_path / f"{n}.html").read_bytes() for n in "ab")
    assert one == two
    other = dict(labels)
    other[int(plan.rows[0])] = not other[int(plan.rows[0])]
    changed = pr.audit.Sample(scores, other, plan=plan).report(tmp_path / "c.html").read_bytes()
    mark = re.compile(rb"Fingerprint</dt><dd><code>(\w+)")
    assert mark.search(one).group(1) != mark.search(changed).group(1)


def test_no_positive_is_an_upper_limit(tmp_path):
    labels = [None] * 60 + [0] * 40  # the highest scores
    sample = pr.audit.Sample(np.arange(100.0), labels, inclusion=0.4)
    text = sample.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "AUCPR over all rows is at most" in text
    assert "No labelled row is positive" in text
    assert "<polyline" not in text


def test_rounds_and_few_labels_are_said(people, tmp_path):
    scores, labels, plan = people
    sample = pr.audit.Sample(scores, labels, plan=plan, proxy=np.full(2000, 0.1))
    second = pr.audit.plan(scores, budget=50, already=sample, rng=2)
    both = pr.audit.Sample(
        scores, labels | dict.fromkeys(second.rows.tolist(), False), plan=second, target="process"
    )
    text = both.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "came in 2 rounds" in text
    assert "the process that the rows came from" in text
    assert "<polyline" not in text
    assert "Proxy</dt>" in sample.report(tmp_path / "p.html").read_text(encoding="utf-8")
    few = pr.audit.Sample([4, 3, 2, 1], [1, 0, None, None], strata=["x", "y", "x", "y"])
    assert "2 strata have fewer than 10 labels" in few.report(tmp_path / "f.html").read_text()


def test_labels_that_say_nothing_are_not_called_a_limit(tmp_path):
    sample = pr.audit.Sample(np.arange(20000.0), [0] * 8 + [None] * 19992, inclusion=8 / 20000)
    text = sample.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "8 labels of 20,000 rows, none of them positive" in text
    assert "AUCPR over all rows is not known." in text
    assert "Only 8 labels: intervals are wide." in text
    assert '<td class="pair">all rows</td>' in text

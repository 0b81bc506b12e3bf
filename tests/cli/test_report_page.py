"""The page as text: what is embedded, what may run, how large it is."""

import base64
import hashlib
import json
import re
from importlib import resources

import numpy as np
import pytest

import precall as pr
from precall._output import whole_file
from precall.display.payload import _path, payload
from precall.display.report import Origin, render_report
from precall.evaluation import evaluate, evaluate_rankings

HOSTILE = "</script><!-- <script> & ]]>"


@pytest.fixture(scope="module")
def page() -> str:
    rng = np.random.default_rng(1)
    y = rng.random(400) < 0.2
    scores = {HOSTILE: rng.normal(size=400) + y, "b": rng.normal(size=400) + y}
    return render_report(evaluate(y, scores, curves=True), origin=Origin(source=HOSTILE))


def test_an_evaluation_writes_its_page(tmp_path):
    rng = np.random.default_rng(4)
    y = rng.random(400) < 0.2
    evaluation = pr.evaluate(y, {"a": rng.normal(size=400) + y})
    target = tmp_path / "page.html"
    written = evaluation.report(str(target), source="scores.csv")
    assert written == target.resolve()
    text = target.read_text(encoding="utf-8")
    assert text == render_report(evaluation, origin=Origin(source="scores.csv"))
    assert "scores.csv" in text
    assert evaluation.report(target) == written  # in place of the page that was there
    assert target.read_text(encoding="utf-8") == render_report(evaluation)


def test_embedded_data_cannot_end_their_block(page):
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1]
    assert not set("<>&") & set(block)
    assert json.loads(block)["models"][0]["title"] == HOSTILE


def test_only_scripts_with_these_hashes_may_run(page):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="(.*?)"', page)[1]
    policy = policy.replace("&#39;", "'")
    assert policy.startswith("default-src 'none'")
    allowed = re.findall(r"'sha256-(.*?)'", policy)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert len(scripts) == 2
    assert hashes == allowed
    assert "unsafe-eval" not in policy
    assert not re.search(r"script-src[^;]*unsafe-inline", policy)


def test_nothing_outside_the_page_is_named_in_its_own_parts(page):
    own = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    assert not re.search(r"(src|href)=.?(https?:)?//", own)
    assert not re.search(r"@import|url\(", own)


def test_a_large_ranking_is_thinned_and_looks_the_same():
    rng = np.random.default_rng(2)
    y = rng.random(200_000) < 0.3
    ranking = pr.rank(y, rng.normal(size=y.size) + 1.5 * y)
    tp, fp = _path(ranking, np.array([0.005, 0.9]))
    assert tp.size < 3 * 4000
    assert np.all(np.diff(tp) >= 0)
    assert np.all(np.diff(fp) >= 0)
    curve = pr.pr_curve(ranking)
    recall, precision = tp / ranking.n_pos, tp / np.maximum(tp + fp, 1e-300)
    # No point of the curve is farther than a pixel from a drawn one at the same recall.
    for at in (0.01, 0.2, 0.5, 0.9, 0.999):
        near = np.abs(recall - at) <= 1e-3
        assert near.any()
        assert np.min(np.abs(precision[near] - curve.at(at))) < 2e-3
    assert np.trapezoid(precision, recall) == pytest.approx(curve.area(), abs=1e-3)


def test_three_models_on_many_rows_stay_under_six_megabytes():
    rng = np.random.default_rng(3)
    y = rng.random(40_000) < 0.5
    rankings = {name: pr.rank(y, rng.normal(size=y.size) + y) for name in "abc"}
    evaluation = evaluate_rankings(rankings)
    assert len(render_report(evaluation).encode()) < 6_000_000
    points = payload(evaluation)["models"][0]
    assert len(points["thresholds"]["threshold"]) <= 602


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "page.html"

    def fail() -> None:
        with whole_file(target) as unfinished:
            unfinished.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []
    with whole_file(target) as unfinished:
        unfinished.write_text("whole")
        assert not target.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert target.read_text() == "whole"


def test_groups_are_compared_with_the_rest_where_that_was_counted():
    rng = np.random.default_rng(5)
    y, group = rng.random(1800) < 0.5, rng.integers(0, 24, 1800)
    group[:3] = [30, 31, 32]  # groups of a single row
    score = rng.normal(size=1800) + y
    page = render_report(evaluate(y, {"a": score}, groups=group))
    assert "the limits of all groups hold at once" in page
    assert "4 more groups</summary>" in page
    assert "3 groups with fewer than 10 positives or negatives: too small to say" in page
    rankings = {"a": pr.rank(y, score)}
    alone = evaluate_rankings(rankings, groups={"a": pr.rank_groups(y, score, group)})
    page = render_report(alone)
    assert "the limits of all groups hold at once" in page
    assert "No group was compared with the rows outside of it" in page
    assert [one.difference for one in alone.slices[0]] == [None] * 24


def _luminance(colour: str) -> float:
    """Of WCAG 2.2: relative luminance of an sRGB colour."""
    shares = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(first: str, second: str) -> float:
    low, high = sorted([_luminance(first), _luminance(second)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1])
def test_colours_have_contrast(scheme):
    """Text 4.5 : 1 on page and panels, lines and borders 3 : 1, as WCAG 2.2 AA asks."""
    style = (resources.files("precall.display") / "templates" / "report.css").read_text("utf-8")
    block = style.split("{", 1)[1] if scheme == 0 else style.split("dark) {", 1)[1]
    colour = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block.split("}", 1)[0]))
    for text in ("ink", "soft", "accent", "warning", "good", "note"):
        for ground in ("paper", "panel"):
            assert _contrast(colour[text], colour[ground]) >= 4.5, (text, ground)
    for line in ("edge", *(f"m{k}" for k in range(10))):
        assert _contrast(colour[line], colour["paper"]) >= 3, line


def test_numbers_stay_with_their_sign():
    from precall.display.report import prose

    assert (
        prose("95 % of 3 rows, p = 0.65")
        == "95\N{NO-BREAK SPACE}% of 3 rows, p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.65"
    )
    assert prose("p < 0.001; a % sign") == "p\N{NO-BREAK SPACE}<\N{NO-BREAK SPACE}0.001; a % sign"


def test_dates_and_intervals_are_not_broken_at_their_hyphens():
    from precall.display.report import _unbroken

    assert _unbroken("since 2026-01-31, and 2026-02 too: 0.3 (0.2–0.4)") == (
        'since <span class="keep">2026-01-31</span>, and <span class="keep">2026-02</span> too: '
        '0.3 <span class="keep">(0.2–0.4)</span>'
    )


def test_rows_that_were_left_out_are_said_before_anything_is_quoted(run, tmp_path):
    rng = np.random.default_rng(2)
    y = rng.random(3000) < 0.2
    score = rng.normal(size=3000) + 2 * y
    lines = [
        f"{label:d};{value:.4f}".replace(".", ",") for label, value in zip(y, score, strict=True)
    ]
    lines[5] = "1;"
    (tmp_path / "a.csv").write_text("\n".join(["y;s", *lines]), encoding="utf-8")
    options = ("--label", "y", "--score", "s", "--missing", "drop", "-o", tmp_path / "page.html")
    assert run("report", tmp_path / "a.csv", *options).status == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    [said] = re.findall(r'<section id="findings".*?</section>', page, flags=re.DOTALL)
    assert "1 row of 3,000 with missing values left out." in said
    assert "Nothing stands out" not in said
    assert "was read with" not in said
    [how] = re.findall(r'<section id="how".*?</section>', page, flags=re.DOTALL)
    assert "was read with &#39;;&#39; between the columns and a decimal comma." in how
    assert "left out" not in how


def test_scores_in_percent_are_said_before_anything_is_quoted(run, tmp_path):
    rng = np.random.default_rng(2)
    y = rng.random(300) < 0.2
    score = 50 + 10 * rng.normal(size=300) + 20 * y
    lines = [f"{label:d},{value:.1f} %" for label, value in zip(y, score, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join(["y,s", *lines]), encoding="utf-8")
    options = ("--label", "y", "--score", "s", "-o", tmp_path / "page.html")
    assert run("report", tmp_path / "a.csv", *options).status == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    [said] = re.findall(r'<section id="findings".*?</section>', page, flags=re.DOTALL)
    assert f"was read as {round(score[0], 1) / 100:.3f}, and the others likewise." in said


def test_labels_that_count_as_negative_are_said_before_anything_is_quoted(run, tmp_path):
    rng = np.random.default_rng(2)
    label = rng.choice(["yes", "no", "unknown"], 3000)
    score = rng.normal(size=3000) + 2 * (label == "yes")
    lines = [f"{one},{value:.4f}" for one, value in zip(label, score, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join(["y,s", *lines]), encoding="utf-8")
    options = ("--label", "y", "--score", "s", "--pos-label", "yes", "-o", tmp_path / "page.html")
    assert run("report", tmp_path / "a.csv", *options).status == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8").replace("&#x27;", "'")
    [said] = re.findall(r'<section id="findings".*?</section>', page, flags=re.DOTALL)
    assert "Label column 'y': 'yes' is positive, and " in said
    assert " are negative." in said

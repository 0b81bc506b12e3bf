"""The section "Is it still true?": an evaluation with times, its words, tables and page."""

import json

import numpy as np
import pytest

import precall as pr
from precall.evaluation.over_time import best_windows, time_rows, time_sentences
from precall.exceptions import InputError


def drawn(shares, distances, seed=13, rows=1500):
    """Months of `rows` rows each, with these prevalences and distances between the classes."""
    rng = np.random.default_rng(seed)
    month = np.repeat(np.arange("2026-01", "2027-01", dtype="datetime64[M]")[: len(shares)], rows)
    y = rng.random(month.size) < np.repeat(shares, rows)
    return y, rng.normal(size=y.size) + np.repeat(distances, rows) * y, month


@pytest.fixture(scope="module")
def changed():
    """Fewer positives in the third month, a worse ranking in the fourth."""
    y, s, month = drawn([0.2, 0.2, 0.08, 0.2], [2.0, 2.0, 2.0, 0.8])
    return pr.Rows(y, {"net": s, "old": s + np.random.default_rng(1).normal(size=y.size)}), month


def test_fewer_positives_are_told_from_a_worse_ranking(changed):
    rows, month = changed
    result = pr.evaluate(rows, time=month, every="month")
    found = best_windows(result)
    assert found is result.windows[0]
    assert [window.verdict for window in found.windows] == [
        "no change shown",
        "no change shown",
        "fewer positives",
        "worse ranking",
    ]
    # The first window has nothing before it that could have changed.
    assert [row.verdict for row in time_rows(found)] == [
        "first window",
        *(window.verdict for window in found.windows[1:]),
    ]
    said = time_sentences(result, found, "net")
    assert said[0].startswith("net: the ranking is worse in 2026-04-01 than in the first window")
    assert said[1].startswith("The share of positives is different in 2026-03-01 than in")
    levels = {finding.text: finding.level for finding in result.findings}
    assert levels[said[0]] == "warning"
    assert levels[said[1]] == "note"


def test_windows_are_those_of_monitoring_at_the_level_of_all_models(changed):
    rows, month = changed
    named = pr.Rows(rows.positive, rows.scores, columns={"month": month})
    result = pr.evaluate(named, time="month", every="month")
    for model, windows in zip(("net", "old"), result.windows, strict=True):
        alone = pr.monitoring.windows(
            named, time="month", every="month", model=model, confidence_level=0.975
        )
        assert windows.to_dict() == alone.to_dict()
    assert json.dumps(result.to_dict()["windows"], allow_nan=False)


def test_windows_are_compared_at_a_known_prevalence(changed):
    rows, month = changed
    found = best_windows(pr.evaluate(rows, time=month, every="month", prevalence=0.05))
    assert found.prevalence == 0.05
    part = rows.select(month == np.datetime64("2026-01"))
    expected = pr.interval(part, model="net", prevalence=0.05).estimate
    assert found.windows[0].at_reference.estimate == pytest.approx(expected, rel=1e-12)
    # What is as it is stays as it is.
    assert found.windows[0].interval.estimate == pytest.approx(pr.aucpr(part["net"]), rel=1e-12)


def test_only_a_prevalence_that_moved_says_so():
    y, s, month = drawn([0.25, 0.1], [1.5, 1.5])
    result = pr.evaluate(y, s, time=month, every="month")
    ranking, share = time_sentences(result, result.windows[0], "model")
    assert ranking.startswith("The ranking is not shown to have changed since the first window")
    assert share.endswith("that by itself moves AUCPR.")
    assert all(
        finding.level != "warning" for finding in result.findings if "window" in finding.text
    )


def test_nothing_changed():
    y, s, month = drawn([0.2, 0.2], [1.5, 1.5])
    result = pr.evaluate(y, s, time=month, every="month")
    for sentence in time_sentences(result, result.windows[0], "model"):
        assert "not shown to have changed" in sentence


def test_a_better_ranking_and_many_windows():
    y, s, month = drawn([0.2] * 8, [0.8] + [2.5] * 7, rows=800)
    result = pr.evaluate(y, s, time=month, every="month")
    said = time_sentences(result, result.windows[0], "model")[0]
    assert "better in 2026-02-01, 2026-03-01, 2026-04-01, 2026-05-01 and 3 more than in" in said


def test_one_window_and_windows_that_are_too_small():
    y, s, month = drawn([0.2, 0.2], [1.5, 1.5], rows=200)
    y[200:] = False
    y[200] = True
    result = pr.evaluate(y, s, time=month, every="month")
    assert time_rows(result.windows[0])[1].own == "–"
    assert "nothing to compare" in time_sentences(result, result.windows[0], "model")[0]


def test_without_times_there_are_no_windows():
    y, s, month = drawn([0.2], [1.5], rows=100)
    assert pr.evaluate(y, s).windows == ()
    assert best_windows(pr.evaluate(y, s)) is None
    # One class: it says so, as it does without times.
    assert pr.evaluate(np.zeros(100), s, time=month).windows == ()


def test_bad_times():
    y, s, month = drawn([0.2], [1.5], rows=100)
    with pytest.raises(InputError, match="holds text, not times"):
        pr.evaluate(y, s, time=month.astype(str))
    with pytest.raises(InputError, match="no column 'when'"):
        pr.evaluate(y, s, time="when")
    with pytest.raises(InputError, match="time"):
        pr.evaluate(y, s, time=month[:50])
    with pytest.raises(InputError, match="every must be one of 'hour'"):
        pr.evaluate(y, s, time=month, every="fortnight")
    with pytest.raises(InputError, match="no window has 10 positives"):
        pr.evaluate(y, s, time=np.arange(100), every=5)


def test_rows_without_weight_need_no_time():
    y, s, month = drawn([0.2, 0.2], [1.5, 1.5], rows=300)
    weight = np.ones(y.size)
    weight[::3] = 0.0
    result = pr.evaluate(y, s, sample_weight=weight, time=month, every="month")
    assert [window.rows for window in result.windows[0].windows] == [200, 200]


def test_the_page_has_the_section_and_every_model(changed, tmp_path):
    rows, month = changed
    result = pr.evaluate(rows, time=month, every="month")
    text = result.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.count("Is it still true?") == 1
    assert text.count('<table class="slices times">') == 2
    assert '<b class="worse">worse ranking</b>' in text
    without = pr.evaluate(rows).report(tmp_path / "none.html").read_text(encoding="utf-8")
    assert 'id="time"' not in without

"""Populations read in pieces: the same strata, ranks and estimates as in memory."""

import numpy as np
import pytest

import precall as pr
from precall.audit import score_counts as counting
from precall.audit.in_pieces import plan_in_pieces, sample_in_pieces
from precall.audit.score_counts import count_scores
from precall.exceptions import InputError, ReliabilityWarning


def people(digits=None, size=30_000):
    rng = np.random.default_rng(0)
    y = rng.random(size) < 0.02
    scores = rng.normal(size=size) + 2.5 * y
    return y, scores if digits is None else np.round(scores, digits)


def reader(scores, rows=7000):
    return lambda: (scores[at : at + rows] for at in range(0, scores.size, rows))


@pytest.fixture(autouse=True)
def few_pivots(monkeypatch):
    """Gaps of a hundred rows and more, as in a population of millions."""
    monkeypatch.setattr(counting, "_PIVOTS", 200)


@pytest.mark.parametrize("digits", [None, 1, 0])
@pytest.mark.parametrize("metric", ["aucpr", "precision_at_k(777)", "precision_at_threshold(2.2)"])
def test_plan_and_estimate_are_those_in_memory(digits, metric):
    y, scores = people(digits)
    what = pr.metrics.parse(metric)
    found = plan_in_pieces(reader(scores), budget=300, metric=what, rng=1)
    whole = pr.audit.plan(scores, budget=300, metric=what, rng=1)
    assert found.names == tuple(each["name"] for each in whole.strata)
    assert np.array_equal(found.stratum, whole.stratum[found.rows])
    assert found.inclusion == pytest.approx(whole.inclusion[found.rows])
    assert np.array_equal(found.scores, scores[found.rows])
    numbers = np.bincount(found.stratum)
    assert numbers.tolist() == [each["labels"] for each in whole.strata]
    again = plan_in_pieces(reader(scores, 1234), budget=300, metric=what, rng=1)
    assert np.array_equal(again.rows, found.rows)
    counted = sample_in_pieces(
        reader(scores),
        found.scores,
        y[found.rows],
        found.inclusion,
        thresholds=what.thresholds,
        places=what.places,
    )
    labels = dict(zip(found.rows.tolist(), y[found.rows], strict=True))
    held = pr.audit.Sample(scores, labels, strata=whole.stratum)
    ours, theirs = pr.interval(counted, what), pr.interval(held, what)
    assert ours.estimate == pytest.approx(theirs.estimate, rel=1e-9)
    # Rows that stand for those without a labelled positive are found among fewer scores.
    assert tuple(ours) == pytest.approx(tuple(theirs), abs=0.02)
    assert (len(counted), counted.n_labelled) == (30_000, 300)


def test_counts_are_exact_at_and_between():
    _, scores = people(2, size=5000)
    found = count_scores(reader(scores), keep=[1.25, 1.005], ranks=[10, 2500, 10**9], rng=0)
    assert found.n_rows == 5000
    assert (np.diff(found.score) < 0).all()
    place = int(np.flatnonzero(found.score == 1.25)[0])
    assert found.count[place] == np.sum(scores == 1.25)
    assert found.count[:place].sum() == np.sum(scores > 1.25)
    assert found.count[found.score > 1.005].sum() == np.sum(scores > 1.005)
    falling = np.sort(scores)[::-1]
    assert (found.falling()[9], found.falling()[2499]) == (falling[9], falling[2499])
    for single, score, count in zip(found.single, found.score, found.count, strict=True):
        assert not single or count == np.sum(scores == score)


@pytest.mark.parametrize("scores", [[5.0], [2.0, 2.0, 2.0], [np.inf, 1.0, -np.inf, 0.0, 1.0]])
def test_small_and_infinite_populations(scores):
    values = np.array(scores)
    found = count_scores(reader(values, 2), ranks=range(1, 6))
    distinct, number = np.unique(values, return_counts=True)
    assert found.score.tolist() == distinct[::-1].tolist()
    assert found.count.tolist() == number[::-1].tolist()


def test_neighbouring_floats_have_a_gap_for_one():
    middle = np.nextafter(1.0, 2.0)
    values = np.array([1.0, middle, np.nextafter(middle, 2.0)])
    found = counting._at_and_between(reader(values), values[[0, 2]], values[:0])
    assert found.score[::-1].tolist() == values.tolist()
    assert found.single[::-1].tolist() == [True, False, True]


def test_no_labelled_positive_and_a_page(tmp_path):
    _, scores = people()
    found = plan_in_pieces(reader(scores), budget=100, metric=pr.metrics.aucpr(), rng=1)
    sample = sample_in_pieces(reader(scores), found.scores, np.zeros(100), found.inclusion)
    with pytest.warns(ReliabilityWarning, match="upper limit"):
        assert tuple(pr.interval(sample)) == (0.0, 1.0)
    pytest.importorskip("jinja2")
    text = sample.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "100 labels of 30,000 rows" in text


def test_what_was_not_counted_is_refused():
    y, scores = people()
    found = plan_in_pieces(reader(scores), budget=100, metric=pr.metrics.aucpr(), rng=1)
    given = (found.scores, y[found.rows], found.inclusion)
    sample = sample_in_pieces(reader(scores), *given)
    with pytest.raises(InputError, match=r"not counted at 1.5: give it in thresholds"):
        pr.interval(sample, "precision_at_threshold(1.5)")
    with pytest.raises(InputError, match="not counted at rank 20,001"):
        pr.interval(sample, "precision_at_k(20001)")
    with pytest.raises(InputError, match=r"stand for 30,000 rows in .*has 30,001"):
        sample_in_pieces(reader(np.append(scores, 0.0)), *given)
    with pytest.raises(InputError, match="of a labelled row is not in the population"):
        sample_in_pieces(reader(scores + 1e-9), *given)
    with pytest.raises(InputError, match="labels must not be missing"):
        sample_in_pieces(reader(scores), given[0], [None, *given[1][1:]], given[2])
    with pytest.raises(InputError, match="must not be missing, and that of row 8000 is"):
        count_scores(reader(np.where(np.arange(9000) == 8000, np.nan, 1.0)))
    with pytest.raises(InputError, match="at least one row"):
        count_scores(reader(np.zeros(0)))
    with pytest.raises(InputError, match="each stratum needs a label"):
        plan_in_pieces(reader(np.ones(5)), budget=6, metric=pr.metrics.aucpr(), rng=0)


def test_a_population_must_not_change_meanwhile():
    _, scores = people()
    sizes = iter([30_000, 20_000, 20_000])
    with pytest.raises(InputError, match="had 30,000 rows when it was first read, and then 20,000"):
        count_scores(lambda: [scores[: next(sizes)]])

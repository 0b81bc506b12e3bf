"""Populations that are somewhere else: the same rows, ranks and estimates as in memory."""

import numpy as np
import pytest

import precall as pr
from precall.audit import in_pieces
from precall.audit import score_counts as counting
from precall.audit.score_counts import count_scores
from precall.exceptions import InputError, ReliabilityWarning
from precall.ranking.scored_rows import ScoredRows, ScorePiece

METRICS = ["aucpr", "precision_at_k(777)", "precision_at_threshold(2.2)", "recall_at_threshold(7)"]


def people(digits=None, size=30_000, kind="f8"):
    rng = np.random.default_rng(0)
    y = rng.random(size) < 0.02
    scores = rng.normal(size=size) + 2.5 * y
    scores = scores if digits is None else np.round(scores, digits)
    return y, (scores * 1000 if kind[0] == "i" else scores).astype(kind)


def in_parts(scores, rows=7000):
    """The scores as one shard, read piece by piece."""
    return ScoredRows.from_pieces(
        lambda: (scores[at : at + rows] for at in range(0, scores.size, rows))
    )


def in_shards(scores, ends, rows=997):
    """The scores in shards, worked on from the last to the first and added up as a tree."""
    shards = np.split(scores, ends)

    def pieces(number):
        own = shards[number]
        for at in range(0, own.size, rows):
            yield ScorePiece(number, at, own[at : at + rows])

    def run(task):
        found = [task(pieces(number)) for number in reversed(range(len(shards)))]
        left = sum(found[: len(found) // 2], task.start())
        return sum(found[len(found) // 2 :], task.start()) + left

    return ScoredRows(score="s", run=run)


@pytest.fixture(autouse=True)
def few_pivots(monkeypatch):
    """Gaps of a hundred rows and more, as in a population of millions."""
    monkeypatch.setattr(counting, "_PIVOTS", 200)


@pytest.mark.parametrize(
    ("digits", "kind"), [(None, "f8"), (1, "f8"), (0, "f8"), (None, "f4"), (2, "i8"), (1, "i2")]
)
@pytest.mark.parametrize("metric", METRICS)
def test_plan_and_estimate_are_those_in_memory(digits, kind, metric):
    y, scores = people(digits, kind=kind)
    what = pr.metrics.parse(metric)
    whole = pr.audit.plan(scores, budget=300, metric=what, rng=1)
    labels = dict(zip(whole.rows.tolist(), y[whole.rows], strict=True))
    held = pr.interval(pr.audit.Sample(scores, labels, plan=whole), what)
    populations = (in_parts(scores), in_parts(scores, 1234), in_shards(scores, [1, 9000, 9000]))
    for population in populations:
        found = pr.audit.plan_of(population, budget=300, metric=what, rng=1)
        assert np.array_equal(found.rows, whole.rows)
        assert np.array_equal(found.scores, scores[whole.rows])
        assert np.array_equal(found.stratum, whole.stratum[whole.rows])
        assert found.inclusion == pytest.approx(whole.inclusion[whole.rows])
        for ours, theirs in zip(found.strata, whole.strata, strict=True):
            assert ours.items() <= theirs.items()
        counted = pr.audit.sample_of(
            population, found.scores, y[found.rows], inclusion=found.inclusion, metrics=[what]
        )
        ours = pr.interval(counted, what)
        assert ours.estimate == pytest.approx(held.estimate, rel=1e-9)
        assert tuple(ours) == pytest.approx(tuple(held), rel=1e-9, abs=1e-12)
        assert (len(counted), counted.n_labelled) == (30_000, 300)


def test_stand_ins_in_gaps_that_are_too_large_are_near(monkeypatch):
    y, scores = people()
    monkeypatch.setattr(in_pieces, "_MOST_FOR_STAND_INS", 0)
    plan = pr.audit.plan(scores, budget=1000, rng=1)
    labels = dict(zip(plan.rows.tolist(), y[plan.rows], strict=True))
    held = pr.audit.Sample(scores, labels, plan=plan)
    given = (scores[plan.rows], y[plan.rows])
    counted = pr.audit.sample_of(in_parts(scores), *given, inclusion=plan.inclusion[plan.rows])
    ours, theirs = pr.interval(counted), pr.interval(held)
    assert ours.estimate == pytest.approx(theirs.estimate, rel=1e-9)
    assert tuple(ours) != pytest.approx(tuple(theirs), rel=1e-9)
    assert tuple(ours) == pytest.approx(tuple(theirs), abs=0.02)


def test_a_plan_is_a_table():
    _, scores = people(size=5000)
    plan = pr.audit.plan_of(in_parts(scores), budget=60, rng=0)
    assert repr(plan) == "PlannedRows(60 rows of 5,000 in 6 strata, aucpr)"
    assert plan.to_dict()["population"] == 5000
    pytest.importorskip("pandas")
    frame = plan.to_frame()
    assert list(frame.columns) == ["row", "score", "stratum", "inclusion"]
    assert np.array_equal(frame["score"], scores[frame["row"]])


def test_counts_are_exact_at_and_between():
    _, scores = people(2, size=5000)
    found = count_scores(
        in_parts(scores), labelled=[1.25], thresholds=[1.005], ranks=[10, 2500, 10**9]
    )
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
    found = count_scores(in_parts(values, 2), ranks=range(1, 6))
    distinct, number = np.unique(values, return_counts=True)
    assert found.score.tolist() == distinct[::-1].tolist()
    assert found.count.tolist() == number[::-1].tolist()


def test_neighbouring_floats_have_a_gap_for_one():
    middle = np.nextafter(1.0, 2.0)
    values = np.array([1.0, middle, np.nextafter(middle, 2.0)])
    found = counting._at_and_between(in_parts(values), values[[0, 2]], values[:0])
    assert found.score[::-1].tolist() == values.tolist()
    assert found.single[::-1].tolist() == [True, False, True]


@pytest.mark.parametrize("kind", ["i8", "u8", "i1"])
def test_gaps_between_whole_numbers(kind):
    limits = np.iinfo(kind)
    values = np.array([limits.min, limits.min + 1, 3, 5, 6, limits.max - 2, limits.max], dtype=kind)
    between = counting._between(values)
    assert between.dtype == values.dtype
    inside = np.array([False, True, True, False, True, True])
    assert np.array_equal((between > values[:-1]) & (between < values[1:]), inside)


def test_no_labelled_positive_and_a_page(tmp_path):
    _, scores = people()
    rows = in_parts(scores)
    found = pr.audit.plan_of(rows, budget=100, rng=1)
    sample = pr.audit.sample_of(rows, found.scores, np.zeros(100), inclusion=found.inclusion)
    with pytest.warns(ReliabilityWarning, match="upper limit"):
        assert tuple(pr.interval(sample)) == (0.0, 1.0)
    pytest.importorskip("jinja2")
    text = sample.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "100 labels of 30,000 rows" in text


def test_what_was_not_counted_is_refused():
    y, scores = people()
    found = pr.audit.plan_of(in_parts(scores), budget=100, rng=1)
    given, shares = (found.scores, y[found.rows]), {"inclusion": found.inclusion}
    sample = pr.audit.sample_of(in_parts(scores), *given, **shares)
    with pytest.raises(InputError, match=r"not counted at 1.5: name the metric in metrics="):
        pr.interval(sample, "precision_at_threshold(1.5)")
    with pytest.raises(InputError, match="not counted at rank 20,001"):
        pr.interval(sample, "precision_at_k(20001)")
    with pytest.raises(InputError, match=r"stand for 30,000 rows in .*has 30,001"):
        pr.audit.sample_of(in_parts(np.append(scores, 0.0)), *given, **shares)
    with pytest.raises(InputError, match="of a labelled row is not in the population"):
        pr.audit.sample_of(in_parts(scores + 1e-9), *given, **shares)
    with pytest.raises(InputError, match="labels must not be missing"):
        pr.audit.sample_of(in_parts(scores), given[0], [None, *given[1][1:]], **shares)
    with pytest.raises(InputError, match="must not be missing, and that of row 8000 is"):
        count_scores(in_parts(np.where(np.arange(9000) == 8000, np.nan, 1.0)))
    with pytest.raises(InputError, match="at least one row"):
        count_scores(in_parts(np.zeros(0)))
    with pytest.raises(InputError, match="each stratum needs a label"):
        pr.audit.plan_of(in_parts(np.ones(5)), budget=6, rng=0)


def test_what_is_wrong_with_the_labelled_rows_is_said():
    y, scores = people(size=5000)
    rows = in_parts(scores)
    found = pr.audit.plan_of(rows, budget=60, rng=1)
    given, shares = (found.scores, y[found.rows]), found.inclusion
    with pytest.raises(InputError, match="one probability for each of the 60 labelled rows, got 2"):
        pr.audit.sample_of(rows, *given, inclusion=[0.5, 0.5])
    with pytest.raises(InputError, match="inclusion must not be missing"):
        pr.audit.sample_of(rows, *given, inclusion=np.where(shares == shares[0], np.nan, shares))
    with pytest.raises(InputError, match="inclusion must be above 0 and at most 1"):
        pr.audit.sample_of(rows, *given, inclusion=shares - shares.max())
    with pytest.raises(InputError, match="metrics must be a list of metrics, got 'aucpr'"):
        pr.audit.sample_of(rows, *given, inclusion=shares, metrics="aucpr")
    with pytest.raises(InputError, match=r"population must come from pr.engines.arrow.scores"):
        pr.audit.sample_of(scores, *given, inclusion=shares)
    with pytest.raises(InputError, match=r"got ndarray: pr.audit.plan and"):
        pr.audit.plan_of(scores, budget=10)
    with pytest.raises(InputError, match=r"take pr.audit.plan_of and pr.audit.sample_of"):
        pr.audit.plan(rows, budget=10)
    with pytest.raises(InputError, match="have no numbers: name a column"):
        pr.audit.plan_of(ScoredRows(score="s", ordered=False, run=rows.run), budget=10)


def test_a_population_must_not_change_meanwhile():
    _, scores = people()
    sizes = iter([30_000, 20_000, 20_000])
    with pytest.raises(InputError, match="had 30,000 rows when it was first read, and then 20,000"):
        count_scores(ScoredRows.from_pieces(lambda: [scores[: next(sizes)]]))


def test_rows_that_move_from_shard_to_shard_are_noticed():
    _, scores = people(size=5000)
    rising, passes = np.sort(scores), iter(range(99))

    def run(task):
        ends = [10, 4000] if next(passes) < 4 else [1000, 4990]
        return in_shards(rising, ends).run(task)

    with pytest.raises(InputError, match="in other places each time they are read"):
        pr.audit.plan_of(ScoredRows(score="s", run=run), budget=60, rng=0)

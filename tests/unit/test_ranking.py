"""The table of counts: against loops and fractions, and its own operations."""

import gc
import json
import pickle
import warnings
import weakref

import numpy as np
import pytest

import precall as pr
from precall.exceptions import DirectionWarning, InputError
from precall.ranking import counting
from tests import naive
from tests.datasets import random_data

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]


def assert_same_table(ranking, y, s, w):
    rows, below = naive.table(y.tolist(), s.tolist(), w)
    np.testing.assert_array_equal(ranking.threshold, [row[0] for row in rows])
    for name, column in (("positives", 1), ("tied", 2), ("above", 3)):
        # Weights are eighths, so float sums of them are exact.
        np.testing.assert_array_equal(getattr(ranking, name), [float(row[column]) for row in rows])
    assert ranking.below == float(below)


@pytest.mark.parametrize("weights", ["none", "real", "whole", "some_zero"])
def test_counts_agree_with_the_naive_table(weights):
    rng = np.random.default_rng(20240101)
    for _ in range(1000):
        y, s, w = random_data(rng, weights=weights)
        ranking = pr.rank(y, s, sample_weight=w)
        assert_same_table(ranking, y, s, w)
        if weights == "none":
            assert ranking.positives.dtype == ranking.tied.dtype == np.int64
            assert ranking.squares is None


@pytest.mark.parametrize("prevalence", [0.01, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_and_shards_change_nothing(prevalence, weighted, monkeypatch):
    rng = np.random.default_rng(3)
    size = 300_000
    y = rng.random(size) < prevalence
    s = np.round(rng.normal(size=size) + y, 3)
    w = rng.integers(1, 9, size) / 8 if weighted else None
    threaded = pr.rank(y, s, sample_weight=w)
    monkeypatch.setattr("precall._threads.available_cores", lambda: 1)
    monkeypatch.setattr("precall._threads.THREADING_PAYS", 10**9)
    plain = pr.rank(y, s, sample_weight=w)
    assert threaded == plain
    np.testing.assert_allclose(threaded.moments, plain.moments, rtol=1e-12)


def test_squares_and_rows_of_weighted_cells():
    y = np.array([0, 1, 1, 0, 0, 1])
    s = np.array([9.0, 8, 8, 8, 7, 6])
    w = np.array([2.0, 1, 3, 0.5, 4, 1])
    ranking = pr.rank(y, s, sample_weight=w)
    np.testing.assert_array_equal(ranking.squares.positives, [10, 1])
    np.testing.assert_array_equal(ranking.squares.tied, [0.25, 0])
    np.testing.assert_array_equal(ranking.squares.above, [4, 16])
    assert ranking.squares.below == 0
    np.testing.assert_array_equal(ranking.rows.positives, [2, 1])
    np.testing.assert_array_equal(ranking.rows.above, [1, 1])
    assert ranking.effective_sizes == (25 / 11, 6.5**2 / 20.25)


def test_members_of_several_shards_are_counted_together():
    shards = [np.array([1.0, 2.0, 2.0]), np.array([2.0, 3.0]), np.array([0.5])]
    under, upto = counting.count_below(shards, np.array([1.0, 2.0, 2.5, 3.0]))
    assert under.tolist() == [1, 2, 5, 5]
    assert upto.tolist() == [2, 5, 5, 6]


@pytest.mark.parametrize("labels", [[1, 1, 1], [0, 0, 0]])
def test_one_class_alone_has_no_moments(labels):
    scores = [0.1, 0.2, 0.4]
    kept = pr.RankingBuilder(thresholds=[0.3]).update(labels, scores).ranking()
    merged = pr.RankingBuilder(max_rows=10).update(labels, scores).ranking()
    both = pr.RankingBuilder(max_rows=10).update([1, 0, 1], scores).ranking()
    assert (kept.moments, merged.moments) == (None, None)
    assert both.moments is not None


def test_moments_match_numpy():
    rng = np.random.default_rng(8)
    y = rng.random(5000) < 0.3
    s = 1e6 + rng.normal(size=5000)
    w = rng.random(5000)
    plain, weighted = pr.rank(y, s).moments, pr.rank(y, s, sample_weight=w).moments
    for moments, weights in ((plain, np.ones(5000)), (weighted, w)):
        for (mean, squares), mask in zip(moments, (y, ~y), strict=True):
            expected = np.average(s[mask], weights=weights[mask])
            assert mean == pytest.approx(expected, rel=1e-14)
            # The shift by the median leaves relative errors of a few eps times 1e6 in the scores.
            assert squares == pytest.approx(
                np.sum(weights[mask] * (s[mask] - expected) ** 2), rel=1e-9
            )


@pytest.mark.parametrize("rows", [500, 20_000])
def test_moments_of_few_rows_come_when_asked_and_leave_no_scores(rows):
    rng = np.random.default_rng(rows)
    y = np.arange(rows) % 4 == 0
    s = rng.normal(size=rows)
    ranking, sent = pr.rank(y, s), pickle.loads(pickle.dumps(pr.rank(y, s)))
    for (mean, squares), mask in zip(ranking.moments, (y, ~y), strict=True):
        assert mean == pytest.approx(s[mask].mean(), abs=1e-12)
        assert squares == pytest.approx(s[mask].var() * mask.sum(), rel=1e-9)
    assert sent.moments == ranking.moments
    for one in (ranking, sent):
        assert one == pr.rank(y, s)
        sizes = [np.size(value) for value in vars(one).values() if isinstance(value, np.ndarray)]
        assert max(sizes) == len(one)
        assert not any(isinstance(value, list) and value for value in vars(one).values())
    assert pr.rank(y, s, missed_positives=1).moments == ranking.moments


def test_a_ranking_does_not_refer_to_itself():
    """Or its memory would wait for the garbage collector."""
    ranking = pr.rank([1, 0, 1, 0], [4, 3, 2, 1])
    assert pr.aucpr(ranking) == pytest.approx(5 / 6)
    gone = weakref.ref(ranking)
    assert ranking.of_positives is ranking
    gc.disable()
    try:
        del ranking
        assert gone() is None
    finally:
        gc.enable()


def test_the_direction_is_judged_by_whole_pairs_and_by_weights_alike():
    """A tie counts one half, and half of the pairs in order is no reason to warn."""
    rng = np.random.default_rng(5)
    warned = []
    for shift in np.linspace(-1.0, 1.0, 41):
        y = rng.random(60) < 0.4
        s = np.round(rng.normal(size=60) + shift * y, 1)
        found = []
        for weight in (None, np.ones(60)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                pr.rank(y, s, sample_weight=weight)
            found.append([str(each.message) for each in caught])
        assert found[0] == found[1]
        warned.append(bool(found[0]))
    assert warned[0]
    assert not warned[-1]


def test_infinite_scores_rank_at_the_ends_and_have_no_moments():
    ranking = pr.rank([1, 0, 1, 0], [np.inf, 1.0, 0.0, -np.inf])
    np.testing.assert_array_equal(ranking.threshold, [np.inf, 0.0])
    assert ranking.moments is None
    assert ranking.below == 1


def test_scores_whose_squares_could_add_up_to_infinity_have_no_moments():
    """Of four deviations of 1.2e154 every square is a float, and their sum is not."""
    y = [1, 1, 1, 1, 0]
    assert pr.rank(y, [6e153, 6e153, -6e153, -6e153, 0.0]).moments is None
    (mean, squares), _ = pr.rank(y, [6e152, 6e152, -6e152, -6e152, 0.0]).moments
    assert mean == 0.0
    assert squares == pytest.approx(4 * 6e152**2, rel=1e-12)


def test_integers_are_ranked_as_integers():
    big = 2**53
    ranking = pr.rank([1, 0, 1], [big + 1, big, big - 1])
    np.testing.assert_array_equal(ranking.threshold, [big + 1, big - 1])
    assert ranking.threshold.dtype.kind == "i"
    np.testing.assert_array_equal(ranking.tied, [0, 0])
    top = np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64)
    assert pr.rank([1, 0], top).tied.tolist() == [0]


def test_float32_stays_float32():
    ranking = pr.rank([1, 0, 1], np.array([0.5, 0.25, 0.1], dtype=np.float32))
    assert ranking.threshold.dtype == np.float32


def test_arrays_are_read_only_and_inputs_untouched():
    y, s = np.array([1, 0, 1, 0]), np.array([0.1, 0.4, 0.3, 0.2])
    before = y.copy(), s.copy()
    ranking = pr.rank(y, s)
    np.testing.assert_array_equal(y, before[0])
    np.testing.assert_array_equal(s, before[1])
    for array in (ranking.threshold, ranking.positives, ranking.tp, ranking.fp):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        ranking.below = 3


def test_cells_of_a_ranking_are_cumulated_once():
    y, scores, weights = random_data(np.random.default_rng(2), 50, weights="real")
    for given in (None, weights):
        ranking = pr.rank(y, scores, sample_weight=given)
        cells = pickle.loads(pickle.dumps(ranking.cells))
        for each in (ranking.cells, cells, cells._replace(below=0)):
            np.testing.assert_array_equal(each.tp, np.cumsum(ranking.positives))
            np.testing.assert_array_equal(each.fp, np.cumsum(ranking.above + ranking.tied))
        assert ranking.cells.tp is ranking.cells.tp is ranking.tp
        assert ranking.cells.fp is ranking.cells.fp is ranking.fp
        with pytest.raises(ValueError, match="read-only"):
            ranking.cells.fp[0] = 7
        half = cells._replace(positives=0.5 * ranking.positives)
        np.testing.assert_array_equal(half.tp, 0.5 * ranking.tp)


def test_repr_is_one_line_with_the_share_of_tied_rows():
    text = repr(pr.rank([1, 0, 1, 0, 0], [0.9, 0.8, 0.8, 0.3, 0.1]))
    assert text == "Ranking(n_pos=2, n_neg=3, prevalence=0.4, thresholds=2, tied=40 %)"
    assert "weighted" in repr(pr.rank([1, 0], [2, 1], sample_weight=[0.5, 2]))


def on_thresholds(thresholds, y, s, w):
    """Count a part of the data on given thresholds, the slow way."""
    fields = {"positives": [], "tied": [], "above": []}
    w = np.ones(len(y)) if w is None else w
    ceiling = np.inf
    for t in thresholds:
        fields["positives"].append(w[(y == 1) & (s == t)].sum())
        fields["tied"].append(w[(y == 0) & (s == t)].sum())
        fields["above"].append(w[(y == 0) & (s > t) & (s < ceiling)].sum())
        ceiling = t
    below = float(w[(y == 0) & (s < ceiling)].sum())
    return pr.Ranking(
        threshold=np.asarray(thresholds), **{k: np.array(v) for k, v in fields.items()}, below=below
    )


def test_shards_add_up_to_the_whole():
    rng = np.random.default_rng(5)
    for _ in range(200):
        y, s, _ = random_data(rng)
        whole = pr.rank(y, s)
        part = rng.integers(0, 3, len(y))
        shards = [
            on_thresholds(whole.threshold, y[part == k], s[part == k], None) for k in range(3)
        ]
        total = shards[0] + shards[1] + shards[2]
        assert total == whole
        for estimator in ("average_precision", "interpolated_mean", "interpolated_convex"):
            assert pr.aucpr(total, estimator=estimator) == pytest.approx(
                pr.aucpr(whole, estimator=estimator), rel=1e-14
            )


def test_adding_combines_weights_and_moments():
    rng = np.random.default_rng(6)
    y, s, w = rng.random(60) < 0.5, rng.integers(0, 4, 60).astype(float), rng.integers(1, 9, 60) / 8
    y[:8], s[:8] = True, np.tile(np.arange(4.0), 2)  # both halves have all thresholds
    order = np.r_[0:4, 8:34], np.r_[4:8, 34:60]
    halves = [pr.rank(y[i], s[i], sample_weight=w[i]) for i in order]
    whole = pr.rank(y, s, sample_weight=w)
    total = halves[0] + halves[1]
    assert total == whole
    np.testing.assert_allclose(total.moments, whole.moments, rtol=1e-13)
    mixed = pr.rank(y[order[0]], s[order[0]]) + halves[1]
    assert mixed.squares.below == pr.rank(y[order[0]], s[order[0]]).below + halves[1].squares.below


def test_rows_without_weights_add_to_weighted_ones_as_rows_of_weight_one():
    y, s = np.array([1, 0, 1, 0, 0]), np.array([5.0, 5.0, 3.0, 4.0, 1.0])
    weight = np.array([2.0, 0.5, 1.0, 3.0, 1.5])
    plain, weighted = pr.rank(y, s), pr.rank(y, s, sample_weight=weight)
    whole = pr.rank(np.tile(y, 2), np.tile(s, 2), sample_weight=np.append(weight, np.ones(5)))
    for total in (plain + weighted, weighted + plain):
        assert total == whole
        for found, expected in ((total.squares, whole.squares), (total.rows, whole.rows)):
            for part, same in zip(found, expected, strict=True):
                np.testing.assert_allclose(part, same, rtol=1e-14)


def test_adding_different_thresholds_is_an_error():
    with pytest.raises(InputError, match="same thresholds"):
        pr.rank([1, 0], [2, 1]) + pr.rank([1, 0], [3, 1])
    with pytest.raises(TypeError):
        pr.rank([1, 0], [2, 1]) + 1


@pytest.mark.parametrize("weights", ["none", "real"])
def test_dictionaries_survive_json(weights):
    rng = np.random.default_rng(7)
    for _ in range(50):
        y, s, w = random_data(rng, weights=weights)
        if w is None:
            s[np.argmax(s)] = np.inf
        ranking = pr.rank(y, s, sample_weight=w)
        again = pr.Ranking.from_dict(json.loads(json.dumps(ranking.to_dict(), allow_nan=False)))
        assert again == ranking
        assert again.moments == ranking.moments
        assert again.threshold.dtype == ranking.threshold.dtype
    with pytest.raises(InputError, match="not a ranking"):
        pr.Ranking.from_dict({"threshold": []})


@pytest.mark.parametrize("scores", [[np.inf, 1.5, -np.inf], [2**60 + 3, 2**60 + 2, 1]])
def test_infinite_and_large_whole_thresholds_survive_json(scores):
    ranking = pr.rank([1, 1, 1, 0], [*scores, 0])
    again = pr.Ranking.from_dict(json.loads(json.dumps(ranking.to_dict(), allow_nan=False)))
    assert again.threshold.tolist() == scores
    assert again == ranking


def test_pickle_round_trip():
    ranking = pr.rank([1, 0, 1], [3, 2, 1], sample_weight=[1, 2, 3])
    again = pickle.loads(pickle.dumps(ranking))
    assert again == ranking


@pytest.mark.parametrize("weights", ["none", "real"])
def test_coarsen_keeps_points_of_the_full_curve(weights):
    rng = np.random.default_rng(9)
    for _ in range(200):
        y, s, w = random_data(rng, weights=weights)
        ranking = pr.rank(y, s, sample_weight=w)
        limit = int(rng.integers(1, len(ranking) + 1))
        coarse = ranking.coarsen(limit)
        assert len(coarse) <= limit
        kept = np.isin(ranking.threshold, coarse.threshold)
        np.testing.assert_array_equal(coarse.threshold, ranking.threshold[kept])
        np.testing.assert_allclose(coarse.tp, ranking.tp[kept], rtol=1e-14)
        np.testing.assert_allclose(coarse.fp, ranking.fp[kept], rtol=1e-14)
        assert coarse.below == ranking.below
        assert coarse.above[0] == ranking.above[0]
        if w is not None:
            np.testing.assert_allclose(coarse.effective_sizes, ranking.effective_sizes, rtol=1e-13)


def test_coarsen_of_a_perfect_ranking_is_even():
    coarse = pr.rank(np.arange(100) >= 60, np.arange(100)).coarsen(4)
    assert coarse.positives.tolist() == [10, 10, 10, 10]


def test_at_prevalence_reweights_negatives_only():
    ranking = pr.rank([1, 0, 1, 0, 0], [5, 4, 3, 2, 1])
    other = ranking.at_prevalence(0.01)
    assert other.prevalence == pytest.approx(0.01, rel=1e-15)
    assert other.n_pos == ranking.n_pos
    np.testing.assert_array_equal(other.tp, ranking.tp)
    np.testing.assert_allclose(other.fp / other.n_neg, ranking.fp / ranking.n_neg, rtol=1e-15)
    np.testing.assert_allclose(other.effective_sizes, (2, 3), rtol=1e-15)
    back = other.at_prevalence(ranking.prevalence)
    np.testing.assert_allclose(back.fp, ranking.fp, rtol=1e-15)
    with pytest.raises(InputError, match="strictly between 0 and 1"):
        ranking.at_prevalence(1.0)
    with pytest.raises(InputError, match="one class is empty"):
        pr.rank([1, 1], [1, 2]).at_prevalence(0.5)


def test_a_table_that_breaks_the_rules_is_refused():
    good = {
        "threshold": [2.0, 1.0],
        "positives": [1, 1],
        "tied": [0, 0],
        "above": [0, 0],
        "below": 1,
    }
    for change, message in (
        ({"threshold": [1.0, 2.0]}, "descending"),
        ({"threshold": [2.0, np.nan]}, "descending"),
        ({"positives": [1]}, "one value per threshold"),
        ({"tied": [0, -1]}, "negative"),
        ({"below": np.nan}, "negative or NaN"),
    ):
        with pytest.raises(InputError, match=message):
            pr.Ranking(
                **{k: np.array(v) if k != "below" else v for k, v in (good | change).items()}
            )


def test_counts_of_a_table_are_numbers_of_their_own_kind():
    def table(positives, threshold):
        zeros = np.zeros(len(threshold))
        return pr.Ranking(
            threshold=threshold, positives=positives, tied=zeros, above=zeros, below=1.0
        )

    with pytest.raises(InputError, match="positives must hold counts or weights, got dtype object"):
        table(np.array([1.5], dtype=object), [1.0])
    assert table(np.array([2], dtype=np.int16), [1.0]).positives.dtype == np.int64
    assert table(np.array([], dtype=np.float32), []).positives.dtype == np.float64
    assert table(np.array([], dtype=object), []).positives.dtype == np.int64


def test_a_scorer_worse_than_random_warns_and_is_not_flipped():
    rng = np.random.default_rng(10)
    y = rng.random(200) < 0.3
    s = rng.normal(size=200) - y
    with pytest.warns(DirectionWarning, match="pass -y_score"):
        ranking = pr.rank(y, s)
    assert pr.auroc(ranking) < 0.5


def test_chance_alone_rarely_warns():
    """One-sided 5 %: of 400 random scorers, 20 warn on average; 2 and 45 are 4 and 5 sigma away."""
    rng = np.random.default_rng(11)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(400):
            pr.rank(rng.random(100) < 0.3, rng.normal(size=100))
    assert 2 <= len(caught) <= 45


def test_a_merged_ranking_says_so_and_goes_on_saying_so():
    y, s = random_scores(400)
    ranking = pr.rank(y, s)
    coarse = ranking.coarsen(20)
    assert not ranking.coarsened
    assert not ranking.coarsen(10_000).coarsened  # nothing was merged
    assert coarse.coarsened
    assert repr(coarse).endswith(", coarsened)")
    assert coarse.at_prevalence(0.01).coarsened
    assert (coarse + coarse).coarsened
    assert pr.Ranking.from_dict(json.loads(json.dumps(coarse.to_dict()))).coarsened


def test_what_needs_every_score_refuses_a_merged_ranking():
    coarse = pr.rank(*random_scores(400)).coarsen(20)
    for use in (
        lambda: pr.operating_point(coarse, min_precision=0.5),
        lambda: pr.conventions(coarse),
    ):
        with pytest.raises(InputError, match="coarsened"):
            use()


def test_builders_know_whether_they_merged():
    y, s = random_scores(400)
    for max_rows, merged in ((5, True), (1000, False)):
        builder = pr.RankingBuilder(max_rows=max_rows)
        builder.update(y, s)
        assert builder.ranking().coarsened == merged
    everything = np.unique(s[y])
    for left_out, merged in (([], False), ([7], True), ([0], True)):
        builder = pr.RankingBuilder(thresholds=np.delete(everything, left_out))
        builder.update(y, s)
        assert builder.ranking().coarsened == merged


def random_scores(rows):
    rng = np.random.default_rng(5)
    y = rng.random(rows) < 0.3
    return y, rng.normal(size=rows) + y

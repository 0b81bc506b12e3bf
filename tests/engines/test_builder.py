"""RankingBuilder: what it promises beyond its bounds, and what it refuses."""

import functools
import pickle
from fractions import Fraction

import numpy as np
import pytest

import precall as pr
from precall.exceptions import DirectionWarning, InputError
from precall.ranking.adaptive_cells import AdaptiveCells
from precall.ranking.builder import RankingBuilder


def data(rows=20_000, prevalence=0.1, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.random(rows) < prevalence
    return labels, rng.normal(size=rows) + 1.5 * labels


def width(ranking):
    bounds = pr.tie_bounds(ranking)
    return bounds.high - bounds.low


def fed(builder, labels, scores, n_batches=50):
    for rows in np.array_split(np.arange(labels.size), n_batches):
        builder.update(labels[rows], scores[rows])
    return builder


@pytest.mark.parametrize("prevalence", [0.5, 0.1, 0.01, 0.001])
@pytest.mark.parametrize("seed", range(5))
def test_a_stream_is_no_wider_than_the_worst_case_of_as_many_equal_cells(prevalence, seed):
    labels, scores = data(50_000, prevalence, seed)
    ranking = fed(RankingBuilder(max_rows=300), labels, scores).ranking()
    # Equal cells guarantee this width; adapted cells have no such guarantee, but should reach it.
    harmonic = np.sum(1 / np.arange(1, 301))
    assert width(ranking) < (1 + 2 * harmonic) / 300


def test_more_rows_give_tighter_bounds():
    labels, scores = data()
    widths = [
        width(fed(RankingBuilder(max_rows=rows), labels, scores).ranking())
        for rows in (25, 100, 400)
    ]
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


def test_the_price_of_a_merge_is_what_the_two_cells_lose():
    """One pair at a time, in whole numbers: p (p FP + q TP) / (TP + FP)^2, together less apart."""
    cells = AdaptiveCells.empty(100, "f").joined(
        AdaptiveCells.of_rows(
            100,
            np.array([1, 0, 1, 1, 0, 0, 1, 0], dtype=bool),
            np.array([4.0, 4.0, 3.0, 3.0, 2.0, 1.0, 1.0, 0.0]),
            None,
        )
    )
    # From the lowest score up, half of each cell's rows added to its positives.
    ours = [Fraction(p) + Fraction(p + q, 2) for p, q in ((0, 1), (1, 1), (0, 1), (2, 0), (1, 1))]
    theirs = [1, 1, 1, 0, 1]

    def width(p, q, place):
        tp, fp = sum(ours[place:]), sum(theirs[place:])
        return p * (p * fp + q * tp) / (tp + fp) ** 2

    expected = [
        width(ours[i] + ours[i + 1], theirs[i] + theirs[i + 1], i)
        - width(ours[i], theirs[i], i)
        - width(ours[i + 1], theirs[i + 1], i)
        for i in range(4)
    ]
    found = cells._price(np.arange(4))
    assert found.tolist() == pytest.approx([float(price) for price in expected], rel=1e-12)


def test_memory_is_bounded():
    labels, scores = data(100_000)
    builder = fed(RankingBuilder(max_rows=50), labels, scores)
    assert len(pickle.dumps(builder)) < 50 * 1000


def test_shards_on_common_thresholds_are_exact():
    labels, scores = data()
    thresholds = scores[labels]
    shards = [
        RankingBuilder(thresholds).update(labels[rows], scores[rows])
        for rows in np.array_split(np.arange(labels.size), 7)
    ]
    assert functools.reduce(RankingBuilder.merge, shards).ranking() == pr.rank(labels, scores)


def test_a_builder_goes_on_after_it_was_asked_and_after_pickling():
    labels, scores = data()
    half = labels.size // 2
    builder = RankingBuilder(scores[labels]).update(labels[:half], scores[:half])
    first = builder.ranking()
    builder = pickle.loads(pickle.dumps(builder)).update(labels[half:], scores[half:])
    assert first == pickle.loads(pickle.dumps(first))
    assert first.n_pos == labels[:half].sum()
    assert builder.ranking() == pr.rank(labels, scores)


def test_merging_leaves_the_other_alone():
    labels, scores = data(1000)
    other = RankingBuilder(max_rows=20).update(labels, scores)
    before = other.ranking()
    RankingBuilder(max_rows=20).update(labels, scores).merge(other).update(labels, scores)
    assert other.ranking() == before


def test_moments_are_those_of_all_rows():
    labels, scores = data()
    expected = pr.rank(labels, scores).moments
    for builder in (RankingBuilder(max_rows=30), RankingBuilder([0.0])):
        np.testing.assert_allclose(
            fed(builder, labels, scores).ranking().moments, expected, rtol=1e-9
        )


def test_weights_may_join_later():
    labels, scores = data(1000)
    weights = np.full(500, 2.0)
    builder = RankingBuilder(scores[labels]).update(labels[:500], scores[:500])
    builder.update(labels[500:], scores[500:], sample_weight=weights)
    every = np.concatenate([np.ones(500), weights])
    assert builder.ranking() == pr.rank(labels, scores, sample_weight=every)


def test_small_and_large_integers_and_booleans():
    for dtype in (np.uint8, np.int32, np.uint64, bool):
        scores = np.array([0, 1, 1, 0, 1]).astype(dtype)
        labels = np.array([0, 1, 1, 1, 0])
        assert RankingBuilder(max_rows=9).update(labels, scores).ranking() == pr.rank(
            labels, scores
        )
    large = np.array([2**63, 2**63 + 1, 2**63 + 2], dtype=np.uint64)
    ranking = RankingBuilder(max_rows=9).update([1, 0, 1], large).ranking()
    assert ranking == pr.rank([1, 0, 1], large)


def test_whole_thresholds_take_fractional_scores_unless_some_become_equal():
    labels, scores = [1, 0, 1, 0, 1, 1], [1.5, 2.5, 3.0, 0.5, 4.25, 2.0]
    for thresholds in ([2], [1, 2], [1, 2, 3], [0, 1, 2, 3, 4]):
        whole = RankingBuilder(np.array(thresholds)).update(labels, scores).ranking()
        real = RankingBuilder(np.array(thresholds, dtype=float)).update(labels, scores).ranking()
        assert whole == real
    for close in ([2**53, 2**53 + 1], [1, 2, 2**53, 2**53 + 1]):
        with pytest.raises(InputError, match="some thresholds become equal as float64"):
            RankingBuilder(np.array(close)).update(labels, scores)


def test_thresholds_that_positives_miss_become_cells():
    ranking = RankingBuilder([10.0, 0.5]).update([1, 0, 1, 0], [0.9, 0.8, 0.2, 0.1]).ranking()
    assert ranking.threshold.tolist() == [10.0, 0.5, -np.inf]
    assert ranking.positives.tolist() == [0, 1, 1]
    assert ranking.tied.tolist() == [0, 1, 1]
    assert (ranking.above.tolist(), ranking.below) == ([0, 0, 0], 0)
    assert ranking.of_positives.threshold.tolist() == [0.5, -np.inf]


def test_one_class_only():
    builder = RankingBuilder([0.5]).update([0, 0], [0.1, 0.9])
    assert (builder.ranking().n_pos, builder.ranking().n_neg) == (0, 2)
    assert RankingBuilder(max_rows=5).update([1, 1], [0.1, 0.9]).ranking().n_neg == 0


def test_a_scorer_worse_than_random_is_told():
    labels, scores = data(1000)
    with pytest.warns(DirectionWarning):
        RankingBuilder(max_rows=50).update(labels, -scores).ranking()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RankingBuilder(), "either thresholds or max_rows, got neither"),
        (lambda: RankingBuilder([1.0], max_rows=3), "either thresholds or max_rows, got both"),
        (lambda: RankingBuilder(max_rows=0), "max_rows must be a whole number of at least 1"),
        (lambda: RankingBuilder([np.nan]), "thresholds must not be missing"),
        (lambda: RankingBuilder(max_rows=3).ranking(), "no rows yet"),
        (lambda: RankingBuilder([1.0]).ranking(), "no rows of positive weight yet"),
        (lambda: RankingBuilder([1.0]).merge(RankingBuilder([2.0])), "same thresholds"),
        (lambda: RankingBuilder([1.0]).merge(RankingBuilder(max_rows=3)), "in the same way"),
        (lambda: RankingBuilder([1.0]).merge({}), "only a RankingBuilder"),
        (
            lambda: RankingBuilder(max_rows=3).merge(RankingBuilder(max_rows=3, pos_label="a")),
            "different positive labels",
        ),
        (lambda: RankingBuilder(max_rows=3).update([1, 0], [1.0, np.nan]), "1 bad row of 2"),
        (lambda: RankingBuilder(max_rows=3).update([1, 0], [1.0]), "one value per row"),
        (
            lambda: RankingBuilder(max_rows=3).update([1, 0], [1.0, 2.0]).update([-1], [2.0]),
            "0 in earlier batches and -1 now",
        ),
        (
            lambda: RankingBuilder(max_rows=3).update([1, 0], [1, 2]).update([0], [2.0]),
            "earlier batches held integers, this one floating-point numbers",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_refused_batch_adds_nothing():
    builder = RankingBuilder(max_rows=10).update([1, 0], [2.0, 1.0])
    with pytest.raises(InputError):
        builder.update([1, 2], [3.0, 4.0])
    assert builder.update([], []).ranking() == pr.rank([1, 0], [2.0, 1.0])

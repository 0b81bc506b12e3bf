"""Many data sets ranked at once: the same tables as one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import precall as pr
from precall.exceptions import InputError
from precall.metrics._kernels import make_steps
from precall.simulate import REGULAR, Binormal, Levels, rank_batch

pytestmark = pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")


def counted_one_by_one(positives, negatives):
    """The table of one data set, by counting in lists."""
    thresholds = sorted(set(positives), reverse=True)
    rows = []
    previous = None
    for threshold in thresholds:
        between = [x for x in negatives if x > threshold and (previous is None or x < previous)]
        rows.append((positives.count(threshold), negatives.count(threshold), len(between)))
        previous = threshold
    return thresholds, rows, len([x for x in negatives if x < thresholds[-1]])


def check(positives, negatives):
    batch = rank_batch(positives, negatives)
    n = positives.shape[1]
    assert len(batch) == len(positives)
    assert (batch.n_pos, batch.n_neg) == (n, negatives.shape[1])
    for name in ("threshold", "positives", "tied", "above", "tp", "fp"):
        assert getattr(batch, name).shape == (len(positives), n)
    any_tie = False
    for index, (ours, theirs) in enumerate(
        zip(positives.tolist(), negatives.tolist(), strict=True)
    ):
        thresholds, rows, below = counted_one_by_one(ours, theirs)
        left_over = n - len(rows)
        any_tie |= bool(left_over) or any(tied for _, tied, _ in rows)
        table = np.array(rows + [(0, 0, 0)] * left_over)
        padded = thresholds + thresholds[-1:] * left_over
        assert batch.threshold[index].tolist() == padded
        np.testing.assert_array_equal(batch.positives[index], table[:, 0])
        np.testing.assert_array_equal(batch.tied[index], table[:, 1])
        np.testing.assert_array_equal(batch.above[index], table[:, 2])
        np.testing.assert_array_equal(batch.tp[index], np.cumsum(table[:, 0]))
        np.testing.assert_array_equal(batch.fp[index], np.cumsum(table[:, 1] + table[:, 2]))
        assert batch.below[index] == below
        assert batch.n_thresholds[index] == len(rows)
        labels = [1] * len(ours) + [0] * len(theirs)
        dtype = np.result_type(positives, negatives)
        assert batch[index] == pr.rank(labels, np.array(ours + theirs, dtype=dtype))
    assert batch.has_ties == any_tie


@given(st.data())
def test_equals_counting_with_ties(data):
    sets, n, m = (data.draw(st.integers(low, 6)) for low in (1, 1, 0))
    scores = st.integers(0, 4)
    check(
        data.draw(arrays(np.int64, (sets, n), elements=scores)),
        data.draw(arrays(np.int64, (sets, m), elements=scores)),
    )


@given(st.data())
def test_equals_counting_for_any_floats(data):
    sets, n, m = (data.draw(st.integers(low, 9)) for low in (1, 1, 0))
    scores = st.floats(allow_nan=False)
    check(
        data.draw(arrays(np.float64, (sets, n), elements=scores)),
        data.draw(arrays(np.float64, (sets, m), elements=scores)),
    )


@pytest.mark.parametrize("name", REGULAR)
@pytest.mark.parametrize(("n_pos", "n_neg"), [(1, 1), (1, 33), (40, 7), (20, 64)])
def test_equals_counting_on_the_scenarios(name, n_pos, n_neg):
    check(*REGULAR[name].sample_scores(n_pos, n_neg, size=5, rng=0))


def test_only_ties_take_memory_for_constant_columns():
    batch = rank_batch(*Binormal().sample_scores(50, 50, size=20, rng=0))
    assert not batch.has_ties
    assert batch.positives.strides == batch.tied.strides == (0, 0)
    assert repr(batch) == "RankingBatch(20 data sets, n_pos=50, n_neg=50)"
    tied = rank_batch(*Levels.cut().sample_scores(50, 50, size=20, rng=0))
    assert repr(tied) == "RankingBatch(20 data sets, n_pos=50, n_neg=50, with ties)"


def test_integers_above_the_floats_keep_their_order():
    check(np.array([[2**53 + 1, 2**53 + 3]]), np.array([[2**53, 2**53 + 2, 2**53 + 3]]))


def test_the_scores_given_are_left_as_they_are():
    positives, negatives = Binormal().sample_scores(5, 9, size=3, rng=0)
    copies = positives.copy(), negatives.copy()
    rank_batch(positives, negatives)
    np.testing.assert_array_equal(positives, copies[0])
    np.testing.assert_array_equal(negatives, copies[1])


@pytest.mark.parametrize("name", ["binormal_1", "ten_levels"])
def test_moments_are_those_of_the_scores(name):
    positives, negatives = REGULAR[name].sample_scores(12, 30, size=4, rng=0)
    batch = rank_batch(positives, negatives, moments=True)
    for scores, (mean, squares) in zip((positives, negatives), batch.moments, strict=True):
        np.testing.assert_allclose(mean, scores.mean(axis=1), rtol=1e-14)
        np.testing.assert_allclose(squares, scores.var(axis=1) * scores.shape[1], rtol=1e-12)
    y_true = np.repeat([1, 0], [12, 30])
    one = pr.rank(y_true, np.concatenate([positives[2], negatives[2]]))
    assert pr.aucpr(batch[2], estimator="binormal") == pytest.approx(
        pr.aucpr(one, estimator="binormal"), rel=1e-12
    )
    assert rank_batch(positives, negatives).moments is None


@pytest.mark.parametrize("name", ["bibeta", "ten_levels"])
def test_estimators_take_a_batch_by_its_cells(name):
    batch = rank_batch(*REGULAR[name].sample_scores(15, 40, size=6, rng=0))
    steps = make_steps(batch.cells)
    kernels = {name: kind.kernel for name, kind in pr.ESTIMATORS.items() if kind.kernel}
    for estimator, kernel in kernels.items():
        values = kernel(steps, 0.0, 1.0)
        expected = [pr.aucpr(batch[index], estimator=estimator) for index in range(len(batch))]
        np.testing.assert_allclose(values, expected, rtol=1e-12, err_msg=estimator)


@pytest.mark.parametrize(
    ("positives", "negatives", "message"),
    [
        (np.zeros(3), np.zeros((1, 3)), r"got \(3,\) and \(1, 3\)"),
        (np.zeros((2, 3)), np.zeros((1, 3)), "must have shapes"),
        (np.zeros((2, 0)), np.zeros((2, 3)), "at least one score"),
        (np.array([[1.0, np.nan]]), np.zeros((1, 3)), "positives must not be NaN"),
        (np.zeros((1, 3)), np.array([[np.nan, 1.0]]), "negatives must not be NaN"),
    ],
)
def test_bad_scores_are_named(positives, negatives, message):
    with pytest.raises(InputError, match=message):
        rank_batch(positives, negatives)

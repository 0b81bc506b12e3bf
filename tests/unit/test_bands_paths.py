"""Counts of one class above the other: ties, weights, both directions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import precall as pr
from precall.curves import pr_curve
from precall.exceptions import UndefinedMetricError
from precall.inference.bands.paths import negatives_path, positives_path, require_both_classes
from tests import naive_bands

# Few distinct scores, so that ties of all sorts come up; few rows, so that orders can be listed.
scores = st.lists(st.integers(0, 5), min_size=1, max_size=4)
pytestmark = pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")


def make_ranking(positives, negatives, **options):
    labels = np.repeat([1, 0], [len(positives), len(negatives)])
    return pr.rank(labels, np.array([*positives, *negatives], dtype=float), **options)


@given(positives=scores, negatives=scores)
def test_counts_are_the_mean_over_all_orders_of_tied_rows(positives, negatives):
    ranking = make_ranking(positives, negatives)
    for path, own, other in (
        (positives_path(ranking), positives, negatives),
        (negatives_path(ranking), negatives, positives),
    ):
        expected = naive_bands.others_above(own, other)
        rows = np.arange(len(own) + 2)
        table = [0.0, *map(float, expected), float(len(other))]
        np.testing.assert_allclose(path.value(rows), table, rtol=1e-14)
        many = np.tile(rows, 3)  # more than the path has, so that they are looked up
        np.testing.assert_array_equal(path.values(many), path.value(many))


@given(positives=scores, negatives=scores)
def test_bounds_are_the_extreme_orders(positives, negatives):
    fewest, most = positives_path(make_ranking(positives, negatives)).bounds()
    for j, score in enumerate(sorted(positives, reverse=True), start=1):
        assert fewest.value(np.array(j)) == sum(x > score for x in negatives)
        assert most.value(np.array(j)) == sum(x >= score for x in negatives)


@given(positives=scores, negatives=scores)
def test_observed_is_the_curve(positives, negatives):
    ranking = make_ranking(positives, negatives)
    recall = np.linspace(0.07, 0.93, 11)
    rate = positives_path(ranking).observed(recall)
    p = ranking.prevalence
    expected = pr_curve(ranking).at(recall)
    np.testing.assert_allclose(p * recall / (p * recall + (1 - p) * rate), expected, rtol=1e-12)


def test_observed_takes_the_point_on_arrival_although_products_round():
    # 0.55 * 100 is 55.00000000000001: not yet the next tooth of the pr.
    ranking = make_ranking(range(200, 100, -1), [145.5])  # the negative is above the last 45
    assert positives_path(ranking).observed(np.array([0.55])) == 0.0
    assert positives_path(ranking).observed(np.array([0.5501])) == 1.0


@given(
    positives=scores,
    negatives=scores,
    weight=st.sampled_from([0.25, 1.0, 3.0]),
    c=st.floats(0.1, 9),
)
def test_equal_weights_change_nothing(positives, negatives, weight, c):
    plain = make_ranking(positives, negatives)
    weights = np.repeat([weight, weight * c], [len(positives), len(negatives)])
    weighted = make_ranking(positives, negatives, sample_weight=weights)
    for make in (positives_path, negatives_path):
        ours, theirs = make(plain), make(weighted)
        assert ours.size == theirs.size
        assert ours.total == theirs.total
        rows = np.arange(ours.size + 2)
        np.testing.assert_allclose(theirs.values(rows), ours.values(rows), rtol=1e-9, atol=1e-9)


def test_unequal_weights_keep_the_weighted_rates():
    rng = np.random.default_rng(1)
    positives, negatives = rng.normal(1, 1, 40), rng.normal(0, 1, 160)
    weights = rng.gamma(2.0, size=200)
    path = positives_path(make_ranking(positives, negatives, sample_weight=weights))
    ours, theirs = weights[:40], weights[40:]
    assert path.size == int(ours.sum() ** 2 / (ours**2).sum())
    assert path.total == int(theirs.sum() ** 2 / (theirs**2).sum())
    # The mean over all effective rows is the weighted mean over all rows: one minus the AUROC.
    above = theirs @ (negatives[:, None] > positives) / theirs.sum()
    inner = np.diff(path.edges) * 0.5 * (path.start + path.stop)
    mean = inner.sum() / (path.size * path.total)
    assert mean == pytest.approx(ours @ above / ours.sum(), rel=1e-12)


def test_first_rows_without_anything_above():
    path = positives_path(make_ranking([9, 8, 7, 3], [5, 4]))
    assert path.last_row_under(1.0) == 3
    assert path.last_row_under(2.0) == 3
    assert path.last_row_under(2.5) == 4
    assert positives_path(make_ranking([1], [5])).last_row_under(1.0) == 0


@pytest.mark.parametrize(("labels", "missing"), [([1, 1], "negatives"), ([0, 0], "positives")])
def test_one_class_has_no_band(labels, missing):
    with pytest.raises(UndefinedMetricError, match=f"no {missing}"):
        require_both_classes(pr.rank(labels, [1.0, 2.0]))

"""Precision, recall and lift among the k highest scores: counts, shares and ties."""

from itertools import combinations, permutations

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError
from tests import naive_inference
from tests.unit.test_influence import centred_row_values

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]
Y, S = [1, 0, 1, 1, 0, 0, 1, 0], [8, 7, 6, 5, 5, 5, 2, 1]
NAMES = ("precision_at_k", "recall_at_k", "lift_at_k")


def expected(name, k):
    """The mean over all orders of the three tied rows."""
    found = []
    for order in permutations([3, 4, 5]):
        labels = [Y[i] for i in (0, 1, 2, *order, 6, 7)]
        hits = sum(labels[:k])
        over = {"precision_at_k": k, "recall_at_k": 4, "lift_at_k": k * 4 / 8}[name]
        found.append(hits / over)
    return np.mean(found)


@pytest.mark.parametrize("name", NAMES)
def test_a_count_and_the_share_that_it_is_are_the_same(name):
    for k in range(1, 9):
        for data in (pr.rank(Y, S), pr.Rows(Y, S)):
            for given in (k, k / 8):
                assert pr.METRICS[name](given)(data) == pytest.approx(expected(name, k))


@pytest.mark.parametrize("name", NAMES)
def test_all_rows_and_one_row_are_told_apart(name):
    one, whole = pr.METRICS[name](1), pr.METRICS[name](1.0)
    assert (str(one), str(whole)) == (f"{name}(1)", f"{name}(1.0)")
    for metric in (one, whole, pr.METRICS[name](0.125)):
        assert pr.metrics.parse(str(metric)) == metric
        assert pr.metrics.parse(str(metric)).k == metric.k
        assert type(pr.metrics.parse(str(metric)).k) is type(metric.k)
    ranking = pr.rank(Y, S)
    assert whole(ranking) == {"precision_at_k": 0.5, "recall_at_k": 1, "lift_at_k": 1}[name]
    assert (one.title[-2:], whole.title[-5:]) == ("@1", "100 %")


@pytest.mark.parametrize("name", NAMES)
def test_groups_have_their_own_share(name):
    groups = np.repeat([0, 1], [8, 5])
    y, s = [*Y, 0, 1, 0, 1, 0], [*S, 5, 4, 3, 2, 1]
    rankings = pr.rank_groups(y, s, groups)
    for k in (3, 0.4):
        metric = pr.METRICS[name](k)
        alone = [metric(pr.rank(Y, S)), metric(pr.rank(y[8:], s[8:]))]
        np.testing.assert_allclose(pr.per_group(rankings, metric).values, alone, rtol=1e-12)


def test_weights_count_where_k_is_a_share():
    w = [1, 2, 3, 1, 2, 1, 2, 4]
    weighted = pr.rank(Y, S, sample_weight=w)
    repeated = pr.rank(np.repeat(Y, w), np.repeat(S, w))
    for name in NAMES:
        metric = pr.METRICS[name](0.5)
        assert metric(weighted) == pytest.approx(metric(repeated))
        with pytest.raises(InputError, match="these rows carry weights"):
            pr.METRICS[name](3)(weighted)
    elsewhere = pr.interval(pr.rank(Y, S), "recall_at_k(0.5)", prevalence=0.1, rng=0)
    moved = pr.metrics.recall_at_k(0.5)(pr.rank(Y, S).at_prevalence(0.1))
    assert elsewhere.estimate == pytest.approx(moved)


def test_missed_positives_are_not_found():
    ranking = pr.rank(Y, S, missed_positives=4)
    assert pr.metrics.recall_at_k(3)(ranking) == 2 / 8
    # Three rows at random of all twelve, the missed ones included.
    assert pr.metrics.lift_at_k(3)(ranking) == pytest.approx(2 / 8 / (3 / 12))
    assert pr.metrics.precision_at_k(3)(ranking) == 2 / 3


def test_k_has_to_fit():
    ranking = pr.rank(Y, S)
    for name in NAMES:
        with pytest.raises(InputError, match="asks for more rows than there are: 8"):
            pr.METRICS[name](9)(ranking)
        with pytest.raises(InputError, match="asks for more rows than there are: 8"):
            pr.interval(ranking, pr.METRICS[name](9))
        # A query with fewer documents than k is usual.
        assert len(pr.per_group([ranking], pr.METRICS[name](9)).values) == 1
        for k in (0, -1, 0.0, 1.5, 100.0, np.nan, True, "many"):
            with pytest.raises(InputError, match="k must be"):
                pr.METRICS[name](k)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [3, 0.5])
def test_random_orders_have_what_is_said(name, k):
    """The mean over all orders of these labels, every one counted."""
    metric = pr.METRICS[name](k)
    places = np.arange(len(Y))
    orders = [np.isin(places, found) for found in combinations(places, int(np.sum(Y)))]
    values = [metric(pr.rank(order, places)) for order in orders]
    assert metric.random(pr.rank(Y, S)) == pytest.approx(np.mean(values), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [0.3, 0.55])
def test_inside_one_large_tie_the_gradient_is_the_derivative(name, k):
    """There the share of positives about the cut is that of the tie, exactly."""
    rng = np.random.default_rng(1)
    y, s = rng.random(60) < 0.4, np.repeat([3.0, 2.0, 1.0], [10, 40, 10])
    w = rng.uniform(0.5, 1.5, 60)
    metric = pr.METRICS[name](k)

    def value(y_true, y_score, weights):
        return metric(pr.rank(y_true, y_score, sample_weight=weights))

    slow = naive_inference.derivatives(value, y, s, w)
    found = centred_row_values(metric, y, s, w)
    np.testing.assert_allclose(found, slow, rtol=1e-5, atol=1e-6 * np.abs(slow).max())
    cells = pr.rank(y, s, sample_weight=w).cells
    down, up = (metric.value(cells.scaled(1.0, np.exp(sign * 1e-4))) for sign in (1, -1))
    slope = metric.on(pr.rank(y, s, sample_weight=w)).prevalence_slope(cells)
    assert slope == pytest.approx((up - down) / 2e-4, rel=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_the_influence_variance_is_that_of_other_samples(name):
    """Of 400 rows, cut at 60: the variance of 1,200 samples is known to 4.1 %."""
    rng = np.random.default_rng(2)
    metric = pr.METRICS[name](60)
    values, variances = [], []
    for _ in range(1200):
        y = rng.random(400) < 0.2
        ranking = pr.rank(y, rng.normal(size=400) + 1.2 * y)
        values.append(metric(ranking))
        if len(variances) < 100:
            variances.append(variance_of(metric, ranking))
    assert np.mean(variances) == pytest.approx(np.var(values), rel=0.2)


def variance_of(metric, ranking):
    from precall.inference.influence import linearise

    linear = linearise(metric.on_both_classes(ranking), ranking.cells)
    sizes = 1.0 / ranking.n_pos + 1.0 / ranking.n_neg
    return linear.positives + linear.negatives + linear.slope**2 * sizes


def test_slices_take_a_share_and_refuse_a_count():
    rng = np.random.default_rng(4)
    y = rng.random(600) < 0.3
    rows = pr.Rows(y, rng.normal(size=600) + y, columns={"part": np.repeat(["x", "y"], 300)})
    for name in NAMES:
        found = pr.slices(rows, "part", pr.METRICS[name](0.2))
        elsewhere = pr.rank(y[:300], rows.scores["score"][:300]).at_prevalence(y.mean())
        expected = pr.METRICS[name](0.2)(elsewhere)
        first = next(each for each in found.to_dict()["slices"] if "x" in str(each))
        assert first["estimate"] == pytest.approx(expected)
        assert first["low"] < expected < first["high"]
    with pytest.raises(InputError, match="these rows carry weights"):
        pr.slices(rows, "part", "precision_at_k(20)")

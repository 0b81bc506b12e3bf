"""Shares of rows that do not all weigh the same: beside exact counts, integrals and each other."""

import numpy as np
import pytest
import scipy.stats

import precall as pr
from precall.evaluation.threshold_table import threshold_table
from precall.exceptions import ReliabilityWarning
from precall.inference.limits import share_limits
from precall.inference.local_weights import LocalWeights
from precall.inference.weighted_shares import WeightedCounts, WeightedShare, WeightOfRows
from precall.metrics.four_counts import SHARES
from precall.points.independent import independent_counts
from precall.points.share_bounds import ALARMS, FOUND, RECALL, SELECTED, ShareOfRows, ShareOfWeight
from tests.naive_points import ratio_quantile

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
    pytest.mark.filterwarnings("ignore::precall.exceptions.ReliabilityWarning"),
]


def data(seed=1, size=300, decimals=1):
    rng = np.random.default_rng(seed)
    y = rng.random(size) < 0.2
    return y, np.round(rng.normal(size=size) + 1.5 * y, decimals), np.exp(rng.normal(size=size))


@pytest.mark.parametrize("weight", [0.3, 1.0, 7.0])
@pytest.mark.parametrize("name", ["recall", "precision", "false_positive_rate", "prevalence"])
def test_equal_weights_have_clopper_and_pearsons_limits(name, weight):
    y, s, _ = data()
    plain = pr.rank(y, s)
    weighted = WeightedCounts.of(pr.rank(y, s, sample_weight=np.full(y.size, weight)))
    share = weighted.share(SHARES[name], slice(1, -1))
    tp, fp = plain.tp, plain.fp
    counts = type(weighted.rows)(tp, fp, plain.n_pos - tp, plain.n_neg - fp)
    low, high = share_limits(*SHARES[name].rows(counts), 0.025)
    assert share.lower(0.025) == pytest.approx(low, abs=1e-12)
    assert share.upper(0.025) == pytest.approx(high, abs=1e-12)
    assert share.limits(0.95)[1] == pytest.approx(high, abs=1e-12)


@pytest.mark.parametrize("share", [RECALL, FOUND, ALARMS, SELECTED])
def test_equal_weights_certify_what_counts_do(share):
    y, s, _ = data(seed=3)
    exact = independent_counts(pr.rank(y, s), None).share(share)
    same = WeightedCounts.of(pr.rank(y, s, sample_weight=np.full(y.size, 2.0)))
    weighted = ShareOfWeight(same.share(share, slice(1, -1)))
    assert isinstance(exact, ShareOfRows)
    for required in (0.05, 0.4, 0.9):
        for ours, theirs in ((weighted, exact), (weighted.turned, exact.turned)):
            assert np.array_equal(
                ours.certified(required, 0.05), theirs.certified(required, 0.05)
            ), required


@pytest.mark.parametrize("error", [0.001, 0.05, 0.5])
def test_limits_are_quantiles_of_what_gamma_numbers_make(error):
    share = WeightedShare(WeightOfRows(3, 7.0, 21.0, 2.0), WeightOfRows(2, 4.0, 10.0, 5.0))
    # One more row of weight 5 in the rest.
    low = ratio_quantile((7.0**2 / 21.0, 3.0), (9.0**2 / 35.0, 35.0 / 9.0), error)
    assert share.lower(error) == pytest.approx(low, abs=1e-9)
    assert share.chance_under(low) == pytest.approx(error, abs=1e-9)
    high = 1.0 - ratio_quantile((4.0**2 / 10.0, 2.5), (9.0**2 / 25.0, 25.0 / 9.0), error)
    assert share.upper(error) == pytest.approx(high, abs=1e-9)


def test_nothing_and_everything():
    none = WeightedShare(WeightOfRows(0, 0.0, 0.0, 2.0), WeightOfRows(4, 4.0, 4.0, 1.0))
    assert (none.value, none.lower(0.025), none.chance_under(0.1)) == (0.0, 0.0, 1.0)
    assert none.upper(0.025) == pytest.approx(1.0 - none.turned.lower(0.025))
    assert none.turned.upper(0.025) == 1.0


def test_weights_of_rows_not_seen_are_those_of_heavy_rows_beside():
    """Rows weigh 1 down to a score, and 5 below: a positive not seen there weighs 5."""
    y = np.tile([True, False], 20)
    s = np.repeat(np.arange(20.0, 0.0, -1.0), 2)
    counts = WeightedCounts.of(pr.rank(y, s, sample_weight=np.where(s > 10, 1.0, 5.0)))
    assert counts.unseen.fn[1:-2] == pytest.approx(np.full(19, 5.0))
    assert counts.unseen.tp[1:11] == pytest.approx(np.ones(10))
    assert counts.unseen.tp[11:] == pytest.approx(np.full(11, 5.0))
    assert counts.unseen.fp == pytest.approx(counts.unseen.tp)


def test_no_row_that_was_not_seen_is_lighter_than_those_that_were():
    """One negative of weight 1000 makes the others look like hundredths of positives."""
    y = [1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0]
    s = [3.0, 3.0, 3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0]
    counts = WeightedCounts.of(pr.rank(y, s, sample_weight=[1] * 5 + [1000] + [1] * 6))
    assert (counts.unseen.fn >= 1.0).all()
    assert (counts.unseen.tp >= 1.0).all()


def test_a_negative_not_seen_weighs_as_many_times_a_positive_as_those_that_were():
    y, s, _ = data()
    counts = WeightedCounts.of(pr.rank(y, s, sample_weight=np.where(y, 1.0, 20.0)))
    share = counts.share(SHARES["precision"])
    assert share.part.unseen[1:] == pytest.approx(np.ones(share.part.unseen.size - 1))
    assert share.rest.unseen[1:] == pytest.approx(np.full(share.part.unseen.size - 1, 20.0))


def test_bounds_at_all_thresholds_at_once_lie_under_those_at_one():
    y, s, weight = data(seed=5)
    counts = independent_counts(pr.rank(y, s, sample_weight=weight), None)
    for share in (RECALL, FOUND, ALARMS, SELECTED):
        for each in (counts.share(share), counts.share(share).turned):
            bound, alone = each.everywhere(0.05), each.share.lower(0.05)
            rising = np.diff(bound) >= 0
            assert rising.all() or (np.diff(bound) <= 0).all()
            assert (bound <= alone + 1e-12).all()
            assert bound.max() > 0.0


def test_bounds_of_equal_weights_hold_at_fixed_ranks():
    """Without ties, at the k-th of n rows of one weight: Beta(k, n - k + 1), each with its part."""
    n = 64
    y = np.append(np.ones(n, dtype=bool), np.zeros(n, dtype=bool))
    s = np.arange(2.0 * n, 0.0, -1.0)
    same = WeightedCounts.of(pr.rank(y, s, sample_weight=np.full(y.size, 3.0)))
    share = ShareOfWeight(same.share(RECALL, slice(1, -1)))
    ranks = np.unique([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 33, 41, 49, 53, 57, 59, 61, 62, 63, 64])
    expected = scipy.stats.beta.ppf(0.05 / ranks.size, ranks, n - ranks + 1)
    assert share.everywhere(0.05)[ranks - 1] == pytest.approx(expected, rel=1e-9)


def test_a_promised_share_is_that_of_the_weights():
    """A tenth of the weight is on top, and half of the rows."""
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.3
    s = np.arange(4000.0, 0.0, -1.0)
    weight = np.where(s > 2000, 1.0, 9.0) * rng.uniform(0.99, 1.01, 4000)
    point = pr.operating_point(pr.Rows(y, s, sample_weight=weight), max_selected=0.12)
    selected = weight[s >= point.threshold].sum() / weight.sum()
    assert point.of("selected").observed.estimate == pytest.approx(selected, rel=1e-12)
    assert 0.1 < selected < 0.12


def test_recall_is_not_promised_where_one_row_of_many_was_not_seen():
    """All seen positives are above, but a row below stands for fifty: one may well be missing."""
    y = np.append(np.ones(30, dtype=bool), np.zeros(30, dtype=bool))
    s = np.arange(60.0, 0.0, -1.0)
    heavy = pr.Rows(y, s, sample_weight=np.where(y, 1.0, 50.0) * np.linspace(1.0, 1.001, 60))
    mixed = pr.Rows(
        np.append(y, [True, False]),
        np.append(s, [100.0, 90.0]),
        sample_weight=np.append(np.where(y, 1.0, 50.0), [1.0, 1.0]),
    )
    assert pr.operating_point(heavy, min_recall=0.8).certified  # negatives weigh 50 everywhere
    assert not pr.operating_point(mixed, min_recall=0.8).certified


@pytest.mark.parametrize("decimals", [0, 6])
def test_the_table_of_thresholds_has_the_limits_of_intervals(decimals):
    y, s, weight = data(seed=9, decimals=decimals)
    ranking = pr.rank(y, s, sample_weight=weight)
    table = threshold_table(ranking, 0.95)
    for row in range(0, len(table), 7):
        cut = float(table.threshold[row])
        for name in ("precision", "recall"):
            found = pr.interval(ranking, f"{name}_at_threshold({cut!r})", sampling="rows")
            assert getattr(table, f"{name}_low")[row] == pytest.approx(found.low, abs=1e-12)
            assert getattr(table, f"{name}_high")[row] == pytest.approx(found.high, abs=1e-12)
    point = pr.operating_point(ranking, min_recall=0.5)
    cut = float(point.threshold)
    found = pr.interval(ranking, f"recall_at_threshold({cut!r})")
    seen = point.of("recall").observed
    assert (seen.low, seen.high) == pytest.approx((found.low, found.high), abs=1e-12)


def test_what_lies_between_two_thresholds_is_within_their_limits():
    y, s, weight = data(seed=11, decimals=6)
    table = threshold_table(pr.rank(y, s, sample_weight=weight), 0.95)
    between = table.between
    for name in ("precision", "recall"):
        low, high = (getattr(between, f"{name}_{end}") for end in ("low", "high"))
        assert (low[1:] <= getattr(table, f"{name}_low") + 1e-12).all()
        assert (high[1:] >= getattr(table, f"{name}_high") - 1e-12).all()
    assert between.recall_high[-1] == 1.0
    assert between.wide_rate_high[-1] == 1.0


@pytest.mark.parametrize("sampling", ["rows", "classes"])
def test_what_is_made_of_several_counts_follows_their_weights(sampling):
    """Four independent sums with rows as they came; recall and rate where classes are fixed."""
    y, s, weight = data(seed=13)
    ranking = pr.rank(y, s, sample_weight=weight, thresholds=[0.7])
    counts = WeightedCounts.of(ranking)
    row = int(np.sum(ranking.threshold >= 0.7))
    found = pr.interval(ranking, "balanced_accuracy_at_threshold(0.7)", sampling=sampling)
    if sampling == "rows":
        names = ("tp", "fp", "fn", "tn")
        parts = dict(zip(names, counts.masses(row), strict=True))

        def of(tp, fp, fn, tn):
            return 0.5 * (tp / (tp + fn) + tn / (fp + tn))

        own = {name: float(mass.weight) for name, mass in parts.items()}
    else:
        names = ("recall", "rate")
        shares = [counts.share(SHARES[name], row) for name in ("recall", "false_positive_rate")]
        parts = dict(zip(names, shares, strict=True))

        def of(recall, rate):
            return 0.5 * (recall + 1.0 - rate)

        own = {name: float(share.value) for name, share in parts.items()}
    estimate = of(**own)
    moved = [[of(**own | {name: end}) for end in parts[name].limits(0.95)] for name in names]
    below = np.sqrt(sum((estimate - min(ends)) ** 2 for ends in moved))
    above = np.sqrt(sum((max(ends) - estimate) ** 2 for ends in moved))
    assert found.estimate == pytest.approx(estimate)
    assert (found.low, found.high) == pytest.approx((estimate - below, estimate + above))


@pytest.mark.parametrize("name", ["f_beta", "mcc", "balanced_accuracy"])
def test_equal_weights_change_no_limits_of_several_counts(name):
    y, s, _ = data()
    same = pr.Rows(y, s, sample_weight=np.full(y.size, 2.5))
    metric = pr.METRICS[f"{name}_at_threshold"](0.7)
    ours, theirs = pr.interval(same, metric), pr.interval(pr.Rows(y, s), metric)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_weights_give_a_warning():
    y, s, weight = data()
    with pytest.warns(ReliabilityWarning, match="effective sample sizes|approximate"):
        pr.operating_point(pr.Rows(y, s, sample_weight=weight), min_recall=0.5)


def test_the_highest_rows_that_weigh_so_much_are_found_inside_of_ties_too():
    y = np.array([1, 0, 1, 1, 0, 0], dtype=bool)
    s = np.array([9.0, 8.0, 7.0, 5.0, 5.0, 1.0])
    weight = np.array([1.0, 2.0, 3.0, 4.0, 6.0, 5.0])
    ranking = pr.rank(y, s, sample_weight=weight)
    local = LocalWeights.of(ranking.cells, ranking.rows, ranking.squares)
    counts = WeightedCounts.of(ranking)
    for place, tp, fp in (
        (0.0, 0.0, 0.0),
        (1.0, 1.0, 0.0),
        (2.0, 1.0, 1.0),
        (6.0, 4.0, 2.0),
        (11.0, 6.0, 5.0),
        (16.0, 8.0, 8.0),
        (21.0, 8.0, 13.0),
    ):
        there = counts.at_place(ranking.cells, local, place)
        assert (there.weights.tp[0], there.weights.fp[0]) == pytest.approx((tp, fp))
        assert (there.weights.fn[0], there.weights.tn[0]) == pytest.approx((8 - tp, 13 - fp))
    half = counts.at_place(ranking.cells, local, 11.0)
    assert (half.rows.tp[0], half.squares.fp[0]) == pytest.approx((2.5, 4.0 + 18.0))
    # Above the last threshold heavy rows may be missing from what is left, not from nothing.
    gap = counts.at_place(ranking.cells, local, 17.0)
    assert gap.unseen.fn[0] == counts.unseen.fn[3]


@pytest.mark.parametrize("name", ["precision_at_k", "recall_at_k", "lift_at_k"])
def test_the_first_rows_by_weight_have_limits_around_their_share(name):
    y, s, weight = data(seed=21)
    ranking = pr.rank(y, s, sample_weight=weight)
    for k in (0.05, 0.3, 1.0):
        metric = pr.METRICS[name](k)
        found = pr.interval(ranking, metric)
        assert found.low <= found.estimate <= found.high
        wider = pr.interval(ranking, metric, confidence_level=0.99)
        assert wider.low <= found.low
        assert wider.high >= found.high


def test_two_thresholds_have_shares_of_weight_too():
    rng = np.random.default_rng(2)
    y = rng.random(3000) < 0.3
    s = rng.normal(size=3000) + 1.5 * y
    weight = np.where(s > 1.0, 1.0, 6.0) * np.exp(0.2 * rng.normal(size=3000))
    rows = pr.Rows(y, s, sample_weight=weight)
    for data_ in (rows, pr.rank(y, s, sample_weight=weight)):
        found = pr.two_thresholds(data_, min_precision=0.7, min_npv=0.9)
        assert found.certified
        for each, name, cut in zip(
            found.constraints,
            ("precision", "negative_predictive_value"),
            (found.upper, found.lower),
            strict=True,
        ):
            known = pr.interval(rows, f"{name}_at_threshold({float(cut)!r})")
            assert each.observed.estimate == pytest.approx(known.estimate)
            assert each.observed.low == pytest.approx(known.low, abs=0.01)
        between = weight[(s >= found.lower) & (s < found.upper)].sum() / weight.sum()
        assert found.reviewed.estimate == pytest.approx(between)
        assert found.reviewed.low < between < found.reviewed.high
        effective = weight.sum() ** 2 / (weight**2).sum()
        assert found.reviewed.high - found.reviewed.low < 6 * np.sqrt(0.25 / effective)


def test_nothing_to_review_has_a_share_of_nothing():
    counts = WeightedCounts.of(pr.rank([1, 0], [2.0, 1.0], sample_weight=[1.0, 3.0]))
    left = counts.without([counts.share(SHARES["prevalence"], -1)])
    assert (left.value, left.lower(0.025)) == (0.0, 0.0)
    assert 0.0 < left.upper(0.025) < 1.0

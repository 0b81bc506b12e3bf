"""Slices: every level and crossing at one prevalence, limits that hold for all of them."""

import json
import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

import precall as pr
from precall.exceptions import InputError, UndefinedMetricError
from precall.groups import slice_rests
from precall.groups.levels import cuts_of
from precall.groups.slice_evidence import OneByOne, SliceQuestion
from precall.groups.slices import slices_by_group
from precall.groups.slices_at_once import AtOnce, fits
from precall.groups.slices_of_rankings import rest_thresholds, slices_of_rankings
from precall.inference.rules import rule_for
from precall.inference.significance import holm
from precall.inference.simultaneous import critical_value, independent_critical_value, level_of
from precall.metrics import as_metric

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]


def sliced(seed=0, rows=1500, prevalence=0.2, weighted=False, clustered=False, decimals=None):
    """Rows of three countries and two devices; one crossing is worse than the others."""
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < prevalence
    country = rng.choice(["DE", "FR", "IT"], rows, p=[0.5, 0.3, 0.2])
    device = rng.choice(["phone", "tablet"], rows)
    bad = (country == "IT") & (device == "tablet")
    score = rng.normal(size=rows) + np.where(bad, 0.2, 2.0) * y
    return pr.Rows(
        y,
        score if decimals is None else np.round(score, decimals),
        sample_weight=rng.uniform(0.5, 2.0, rows) if weighted else None,
        clusters=rng.integers(0, rows // 4, rows) if clustered else None,
        columns={"country": country, "device": device},
    )


def chosen(rows, one):
    return np.logical_and.reduce([rows.columns[c] == level for c, level in one.levels.items()])


@pytest.mark.parametrize(
    "metric",
    ["aucnpr", "aucpr", "auroc", "auprg", "precision_at_recall(0.5)", "f1_at_threshold(1)"],
)
@pytest.mark.parametrize("options", [{}, {"weighted": True, "decimals": 1}])
def test_every_slice_has_the_interval_of_its_own_rows_at_the_common_prevalence(metric, options):
    rows = sliced(1, **options)
    found = pr.slices(rows, ["country", "device"], metric)
    assert len(found) == 3 + 2 + 6
    for one in found:
        alone = pr.interval(
            rows.select(chosen(rows, one)),
            metric,
            prevalence=found.prevalence,
            confidence_level=found.pointwise_level,
        )
        expected = alone.estimate, alone.low, alone.high
        assert (one.estimate, *one.interval) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_the_common_prevalence_is_that_of_all_rows_or_the_one_that_was_given():
    rows = sliced(2)
    share = np.mean(rows.positive)
    assert pr.slices(rows, "device").prevalence == pytest.approx(share, rel=1e-12)
    found = pr.slices(rows, "device", "aucpr", prevalence=0.01)
    assert found.prevalence == 0.01
    alone = rows.select(rows.columns["device"] == "phone")
    ranking = alone["score"].at_prevalence(0.01)
    assert found.of(device="phone").estimate == pytest.approx(pr.aucpr(ranking), rel=1e-12)


def test_counts_are_those_of_the_rows():
    rows = sliced(3)
    for one in pr.slices(rows, ["country", "device"], min_positives=2):
        mask = chosen(rows, one)
        ours = np.count_nonzero(mask & rows.positive)
        assert (one.n_rows, one.n_pos, one.n_neg) == (mask.sum(), ours, mask.sum() - ours)
        assert one.prevalence == pytest.approx(ours / mask.sum())


def test_the_difference_is_from_all_other_rows_and_its_limits_come_from_both_sides():
    rows = sliced(4)
    found = pr.slices(rows, ["country", "device"], "aucpr")
    for one in found:
        mask = chosen(rows, one)
        own, rest = (
            pr.interval(
                rows.select(part),
                prevalence=found.prevalence,
                confidence_level=found.pointwise_level,
            )
            for part in (mask, ~mask)
        )
        difference = own.estimate - rest.estimate
        down = math.hypot(own.estimate - own.low, rest.high - rest.estimate)
        up = math.hypot(own.high - own.estimate, rest.estimate - rest.low)
        assert one.difference.estimate == pytest.approx(difference, abs=1e-12)
        assert tuple(one.difference) == pytest.approx((difference - down, difference + up))
        reach = (down if difference > 0 else up) / found.critical_value
        assert one.unadjusted_p_value == pytest.approx(2 * norm.sf(abs(difference) / reach))
    assert [one.p_value for one in found] == pytest.approx(
        holm([one.unadjusted_p_value for one in found])
    )


def test_a_p_value_under_that_of_the_critical_value_means_that_the_limits_exclude_zero():
    found = pr.slices(sliced(5), ["country", "device"])
    single = 2 * norm.sf(found.critical_value)
    excluded = [not one.difference.low <= 0 <= one.difference.high for one in found]
    assert excluded == [one.unadjusted_p_value < single for one in found]
    assert any(excluded)
    assert not all(excluded)


def test_slices_that_share_no_rows_have_the_critical_value_of_independent_ones():
    found = pr.slices(sliced(6), "country")
    assert found.critical_value == pytest.approx(norm.ppf((1 + 0.95 ** (1 / 3)) / 2))
    assert level_of(found.critical_value) == pytest.approx(0.95 ** (1 / 3))


def test_two_columns_that_say_the_same_cost_nothing():
    rows = sliced(7)
    columns = dict(rows.columns) | {"again": rows.columns["country"]}
    doubled = pr.Rows(rows.positive, rows.scores["score"], columns=columns)
    once = pr.slices(rows, "country", depth=1).critical_value
    twice = pr.slices(doubled, ["country", "again"], depth=1).critical_value
    # Monte Carlo: 40,000 draws leave c a standard error of about .007.
    assert twice == pytest.approx(once, abs=0.03)
    assert twice < independent_critical_value(6, 0.95) - 0.1


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize(
    ("count", "shared"), [(2, 0.5), (3, 0.8), (30, 0.1), (50, 0.9), (200, 0.6)]
)
def test_the_critical_value_is_the_quantile_of_the_largest_of_correlated_normal_numbers(
    count, shared, level
):
    scale = np.sqrt(np.linspace(1.0, 9.0, count))
    correlation = np.full((count, count), shared) + (1 - shared) * np.eye(count)
    c = critical_value(correlation * np.outer(scale, scale), level)
    # Given the common part u, the others are independent: integrate over u.
    u = np.linspace(-9.0, 9.0, 20_001)
    reach = np.array([[-c], [c]]) - np.sqrt(shared) * u
    below, above = norm.cdf(reach / np.sqrt(1 - shared))
    error = 1 - np.sum(norm.pdf(u) * (above - below) ** count) * (u[1] - u[0])
    assert error == pytest.approx(1 - level, rel=0.05)


def test_the_critical_value_of_groups_of_equal_estimates_counts_each_group_once():
    groups = np.kron(np.eye(4), np.ones((15, 15)))
    expected = independent_critical_value(4, 0.95)
    assert critical_value(groups, 0.95) == pytest.approx(expected, abs=0.02)


def test_an_estimate_without_variance_counts_as_independent():
    covariance = np.array([[1.0, 0.0], [0.0, 0.0]])
    assert critical_value(covariance, 0.95) == independent_critical_value(2, 0.95)


def test_more_slices_are_less_sure_of_each():
    rows = sliced(8)
    few, many = pr.slices(rows, "device"), pr.slices(rows, ["device", "country"])
    assert few.critical_value < many.critical_value
    assert few.of(device="phone").interval.width < many.of(device="phone").interval.width


def test_the_lowest_comes_first_and_the_statement_names_it():
    found = pr.slices(sliced(9, rows=6000), ["country", "device"])
    estimates = [one.estimate for one in found]
    assert estimates == sorted(estimates)
    assert found.worst is found.slices[0]
    assert found.worst.name == "country=IT, device=tablet"
    assert found.worst in found.below
    assert not set(map(id, found.below)) & set(map(id, found.above))
    assert "all 11 slices hold at once" in found.statement
    assert "It is worse than the rest" in found.statement
    lows, highs = zip(*(one.interval for one in found), strict=True)
    assert (found.lowest.low, found.lowest.high) == (min(lows), min(highs))


def test_equal_slices_are_not_called_worse():
    rng = np.random.default_rng(10)
    y = rng.random(2000) < 0.2
    rows = pr.Rows(y, rng.normal(size=2000) + y, columns={"g": rng.integers(0, 5, 2000)})
    found = pr.slices(rows, "g")
    assert not found.below
    assert "It is not shown to be worse than the rest" in found.statement


def test_a_slice_that_is_everything_has_no_rest():
    rows = pr.Rows([1, 0] * 20, range(40), columns={"g": ["all"] * 40})
    (one,) = pr.slices(rows, "g")
    assert one.difference is None
    assert one.p_value is None
    assert "It was not compared with the rest." in pr.slices(rows, "g").statement


def test_small_and_one_class_slices_are_counted_and_nothing_else():
    y = np.repeat([1, 0, 1, 0, 1, 0], [30, 60, 9, 60, 40, 0])
    g = np.repeat(
        ["large", "large", "few", "few", "one class", "one class"], [30, 60, 9, 60, 40, 0]
    )
    found = pr.slices(pr.Rows(y, np.arange(y.size) % 17, columns={"g": g}), "g")
    assert [one.name for one in found] == ["g=large"]
    assert {one.name: (one.n_pos, one.n_neg) for one in found.too_small} == {
        "g=few": (9, 60),
        "g=one class": (40, 0),
    }
    assert all(one.interval is None and one.p_value is None for one in found.too_small)
    assert math.isnan(found.of(g="few").estimate)
    assert (
        len(pr.slices(pr.Rows(y, np.arange(y.size), columns={"g": g}), "g", min_positives=9)) == 2
    )


def test_with_nothing_large_enough_it_says_so():
    found = pr.slices(pr.Rows([1, 0, 1, 0], [4, 3, 2, 1], columns={"g": list("aabb")}), "g")
    assert len(found) == 0
    assert found.worst is None
    assert found.lowest is None
    assert found.critical_value is None
    assert found.pointwise_level is None
    assert found.statement.startswith("All 2 slices have fewer than 10 rows of a class")
    json.dumps(found.to_dict(), allow_nan=False)


def test_clusters_are_respected():
    rows = sliced(11, rows=600)
    plain = pr.slices(rows, "device", "aucpr").of(device="phone").interval
    own = np.arange(len(rows))
    alone = pr.Rows(rows.positive, rows.scores["score"], clusters=own, columns=dict(rows.columns))
    repeated = pr.Rows(
        np.tile(rows.positive, 4),
        np.tile(rows.scores["score"], 4),
        clusters=np.tile(own, 4),
        columns={name: np.tile(values, 4) for name, values in rows.columns.items()},
    )
    single = pr.slices(alone, "device", "aucpr").of(device="phone").interval
    four = pr.slices(repeated, "device", "aucpr").of(device="phone").interval
    assert four.estimate == pytest.approx(plain.estimate, rel=1e-12)
    assert four.width == pytest.approx(single.width, rel=0.02)
    # Were the repeats new rows, it would be half as wide.
    assert pr.slices(repeated.unclustered(), "device", "aucpr").of(
        device="phone"
    ).interval.width < 0.7 * (four.width)


def test_clusters_that_lie_on_both_sides_make_a_difference_surer():
    """Pairs of a good and a bad day of one patient: what they share cancels."""
    rng = np.random.default_rng(12)
    patients = 300
    y = np.repeat(rng.random(patients) < 0.4, 2)
    mood = np.repeat(rng.normal(size=patients), 2)
    score = y + mood + 0.1 * rng.normal(size=2 * patients)
    columns = {"day": np.tile(["first", "second"], patients)}
    patient = np.repeat(np.arange(patients), 2)
    paired = pr.slices(pr.Rows(y, score, clusters=patient, columns=columns), "day")
    apart = pr.slices(pr.Rows(y, score, columns=columns), "day")
    assert paired.worst.difference.width < 0.5 * apart.worst.difference.width
    assert paired.worst.interval.width == pytest.approx(apart.worst.interval.width, rel=0.1)


def test_rests_of_many_clustered_rows_are_left_out_where_groups_are_known(monkeypatch):
    rows = sliced(19, rows=400, clustered=True)
    names, code = np.unique(rows.columns["device"], return_inverse=True)
    asked = {"model": "score", "prevalence": None, "confidence_level": 0.95}
    full = slices_by_group(rows, "device", names.tolist(), code, **asked)
    assert full.to_dict() == pr.slices(rows, "device", depth=1).to_dict()
    monkeypatch.setitem(slices_by_group.__globals__, "_MOST_ADDED", 10)
    short = slices_by_group(rows, "device", names.tolist(), code, **asked)
    assert [one.interval for one in short] == [one.interval for one in full]
    assert all(one.difference is None and one.p_value is None for one in short)
    assert "It was not compared with the rest." in short.statement


def test_the_smallest_number_counts_clusters():
    y, g = np.tile([1, 0], 40), np.repeat(["a", "b"], 40)
    rows = pr.Rows(y, range(80), clusters=np.arange(80) // 8, columns={"g": g})
    assert len(pr.slices(rows, "g", min_positives=5)) == 2
    assert len(pr.slices(rows, "g", min_positives=6)) == 0


@pytest.mark.parametrize("dense", [0, 16])
def test_clusters_inside_and_outside_of_slices_are_counted(monkeypatch, dense):
    monkeypatch.setitem(slices_by_group.__globals__, "_DENSE", dense)
    y = [1, 1, 1, 1, 0, 0, 0, 0, 1, 0]
    cluster = [0, 0, 1, 2, 2, 3, 4, 4, 5, 5]
    g = list("aabbaabbcc")
    rows = pr.Rows(y, range(10), clusters=cluster, columns={"g": g})
    # Positives: a in cluster 0, b in 1 and 2, c in 5; negatives: a in 2 and 3, b in 4, c in 5.
    found = pr.slices(rows, "g", "auroc", min_positives=2)
    assert len(found.too_small) == 3
    expected = {"a": 3, "b": 2, "c": 3}
    own = rows.positive
    names, code = np.unique(g, return_inverse=True)
    outside = slices_by_group.__globals__["_clusters_outside"](rows.cluster[own], code[own], 3)
    assert dict(zip(names.tolist(), outside.tolist(), strict=True)) == expected


def test_equal_calls_give_equal_answers():
    rows = sliced(13)
    first, second = (pr.slices(rows, ["country", "device"]).to_dict() for _ in range(2))
    assert first == second


@pytest.mark.parametrize("method", ["logit", "bootstrap_percentile"])
def test_other_rules_of_the_metric(method):
    rows = sliced(14, rows=500)
    found = pr.slices(rows, "device", "aucpr", method=method, n_resamples=200, rng=1)
    assert found.method == method
    assert all(one.interval.low < one.estimate < one.interval.high for one in found)


def test_a_metric_without_influence_values_takes_the_bound_for_independent_slices():
    found = pr.slices(
        sliced(15), ["country", "device"], "recall_at_precision(0.5)", n_resamples=100, rng=0
    )
    assert found.critical_value == independent_critical_value(11, 0.95)


def both_ways(rows, by, metric, **options):
    """What is found at once, and slice by slice."""
    cuts = cuts_of(rows, tuple(by), depth=2, quantiles=4)
    what = as_metric(metric)
    question = SliceQuestion(
        rows=rows,
        model="score",
        metric=what,
        rule=rule_for(what, None, clustered=rows.cluster is not None),
        prevalence=0.1,
        n_resamples=10,
        rng=None,
        cuts=cuts,
        tested=[np.arange(len(cut.names))[options.get("leave_out", 0) :] for cut in cuts],
    )
    assert fits(question)
    return AtOnce(question), OneByOne(question)


@pytest.mark.parametrize("leave_out", [0, 1])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("options", [{}, {"decimals": 1}, {"weighted": True, "decimals": 1}])
@pytest.mark.parametrize(
    "metric",
    ["aucnpr", "aucpr(recall=(0.2, 0.7))", "aucpr(estimator=davis_goadrich)", "auroc", "auprg"],
)
def test_all_at_once_is_what_one_by_one_is(metric, options, clustered, leave_out):
    rows = sliced(20, rows=400, clustered=clustered, **options)
    fast, slow = both_ways(rows, ["country", "device"], metric, leave_out=leave_out)
    assert fast.estimate == pytest.approx(slow.estimate, rel=1e-9)
    assert np.array(fast.limits(0.99)) == pytest.approx(np.array(slow.limits(0.99)), rel=1e-8)
    assert fast.covariance == pytest.approx(slow.covariance, rel=1e-7, abs=1e-12)
    known = np.arange(fast.question.count) % 3 != 1
    rests = np.array(fast.rests(0.99, known))
    expected = np.array(slow.rests(0.99, known))
    assert rests[:3] == pytest.approx(expected[:3], rel=1e-8, nan_ok=True)
    assert np.isnan(rests[0]).tolist() == (~known).tolist()


@pytest.mark.parametrize("metric", ["aucnpr", "auroc", "precision_at_recall(0.5)"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rests_of_many_thresholds_are_counted_on_fewer_cells(metric, weighted, monkeypatch):
    rows = sliced(21, rows=6000, prevalence=0.3, weighted=weighted)
    fast, slow = both_ways(rows, ["country", "device"], metric)
    monkeypatch.setattr(slice_rests, "_BLOCK_CELLS", 600)
    known = np.ones(fast.question.count, dtype=bool)
    expected = np.array(slow.rests(0.99, known)[:3])
    errors = []
    for cells in (32, 512, 5000):
        monkeypatch.setattr(slice_rests, "_MOST_CELLS", cells)
        monkeypatch.setattr(slice_rests, "_FEWEST_CELLS", cells)
        errors.append(np.abs(np.array(fast.rests(0.99, known)[:3]) - expected).max())
    # To first order the error is that of a cell: sixteen times as many, a sixteenth of it. Limits
    # that are looked up at a row jump with it, so their error is that of a cell only at most.
    assert errors[1] < errors[0] / (2 if metric.startswith("precision") else 4)
    assert errors[2] == pytest.approx(0, abs=1e-9)


def counted_at(rows, column, thresholds):
    """The rankings of groups that keep thresholds, as an engine counts them."""
    labels = np.unique(rows.columns[column])
    rankings = []
    for label in labels:
        own = rows.columns[column] == label
        weight = None if rows.weight is None else rows.weight[own]
        options = {"sample_weight": weight, "thresholds": thresholds}
        rankings.append(pr.rank(rows.positive[own], rows.scores["score"][own], **options))
    return pr.RankingSet.from_rankings(rankings, labels=labels)


@pytest.mark.parametrize("cells", [None, 64])
@pytest.mark.parametrize("options", [{}, {"decimals": 1}, {"weighted": True}])
@pytest.mark.parametrize("metric", ["aucnpr", "auroc"])
def test_slices_of_rankings_are_those_of_the_rows(metric, options, cells, monkeypatch):
    if cells is not None:  # the rests are counted on fewer cells
        monkeypatch.setattr(slice_rests, "_MOST_CELLS", cells)
        monkeypatch.setattr(slice_rests, "_FEWEST_CELLS", cells)
    rows = sliced(23, **options)
    expected = pr.slices(rows, "country", metric, prevalence=0.1)
    ranking = rows["score"]
    sets = counted_at(rows, "country", rest_thresholds(ranking))
    found = slices_of_rankings(ranking, {"country": sets}, metric, prevalence=0.1)
    assert found.critical_value == expected.critical_value
    for one, other in zip(found, expected, strict=True):
        ours, theirs = one.to_dict(), other.to_dict()
        numbers = [name for name, value in theirs.items() if isinstance(value, float)]
        assert [ours.pop(name) for name in numbers] == pytest.approx(
            [theirs.pop(name) for name in numbers], rel=1e-9, abs=1e-12
        )
        assert ours == theirs


def test_rankings_that_cannot_be_subtracted_have_intervals_only():
    rows = sliced(24)
    sets = pr.rank_groups(rows.positive, rows.scores["score"], rows.columns["country"])
    found = slices_of_rankings(rows["score"], {"country": sets})
    expected = pr.slices(rows, "country")
    assert [one.interval.low for one in found] == pytest.approx(
        [one.interval.low for one in expected], rel=1e-9
    )
    assert all(one.difference is None and one.p_value is None for one in found)
    assert "It was not compared with the rest." in found.statement
    with pytest.raises(InputError, match="both must be of the same rows"):
        slices_of_rankings(rows["score"], {"country": sets.select([0, 1])})
    with pytest.raises(InputError, match="no formula for its limits"):
        slices_of_rankings(rows["score"], {"country": sets}, "recall_at_precision(0.5)")


def test_slices_of_several_columns_take_the_bound_for_independent_ones():
    rows = sliced(25)
    sets = {
        name: pr.rank_groups(rows.positive, rows.scores["score"], rows.columns[name])
        for name in ("country", "device")
    }
    found = slices_of_rankings(rows["score"], sets)
    assert found.critical_value == independent_critical_value(5, 0.95)
    assert found.critical_value >= pr.slices(rows, ["country", "device"], depth=1).critical_value


def test_rankings_of_a_set_move_to_a_prevalence_as_each_does():
    rng = np.random.default_rng(22)
    y, g = rng.random(300) < 0.3, rng.integers(0, 3, 300)
    weight = rng.uniform(0.5, 2, 300)
    for options in ({}, {"sample_weight": weight}):
        rankings = pr.rank_groups(y, rng.normal(size=300), g, **options)
        moved = rankings.at_prevalence(0.05)
        sizes = np.array(moved.effective_sizes).T
        for one, expected, size in zip(moved, rankings, sizes, strict=True):
            expected = expected.at_prevalence(0.05)
            assert pr.aucpr(one) == pytest.approx(pr.aucpr(expected), rel=1e-12)
            assert size == pytest.approx(expected.effective_sizes, rel=1e-12)
    with pytest.raises(UndefinedMetricError, match="select those first"):
        pr.rank_groups([1, 0, 0], [3, 2, 1], [0, 0, 1]).at_prevalence(0.1)


# Levels.


def names(values, **options):
    rows = pr.Rows(np.arange(len(values)) % 2, np.arange(len(values)), columns={"x": values})
    found = pr.slices(rows, "x", min_positives=2, **options)
    return {one.levels["x"]: one.n_rows for one in (*found.slices, *found.too_small)}


def test_numbers_are_cut_at_quantiles():
    assert names(np.arange(100.0)) == {
        "under 25": 25,
        "25 to under 50": 25,
        "50 to under 75": 25,
        "75 and over": 25,
    }
    assert names(np.arange(90), quantiles=3) == {
        "under 30": 30,
        "30 to under 60": 30,
        "60 and over": 30,
    }


def test_equal_numbers_stay_together():
    many = np.concatenate([np.zeros(80), np.arange(1.0, 41.0)])
    assert names(many) == {"under 11": 90, "11 and over": 30}
    most = np.concatenate([np.zeros(180), np.arange(1.0, 21.0)])
    assert names(most) == {"under 1": 180, "1 and over": 20}


def test_edges_have_as_many_digits_as_tell_them_apart():
    assert set(names(1000.0 + np.arange(100) / 1000)) == {
        "under 1000.025",
        "1000.025 to under 1000.05",
        "1000.05 to under 1000.075",
        "1000.075 and over",
    }


def test_few_numbers_are_levels():
    assert names([1, 2, 3] * 10) == {"1": 10, "2": 10, "3": 10}
    assert names([0.5, np.nan] * 10) == {"0.5": 10, "(missing)": 10}
    assert names([True, False] * 10) == {"False": 10, "True": 10}


def test_infinite_numbers_rank_first_or_last():
    values = np.append(np.arange(96.0), [np.inf, np.inf, -np.inf, -np.inf])
    assert list(names(values).values()) == [25, 25, 25, 25]


def test_dates_are_cut_too():
    days = np.datetime64("2024-01-01") + np.arange(60).astype("timedelta64[D]")
    found = names(np.append(days, np.datetime64("NaT", "D")), quantiles=2)
    assert found == {"under 2024-01-31": 30, "2024-01-31 and over": 30, "(missing)": 1}


@pytest.mark.parametrize("missing", [None, np.nan])
def test_rows_without_a_value_are_a_level(missing):
    assert names(np.array(["a", missing, "b", missing] * 5, dtype=object)) == {
        "a": 5,
        "b": 5,
        "(missing)": 10,
    }
    numbers = np.array([1, missing] * 30 + list(range(60)), dtype=object)
    assert names(numbers)["(missing)"] == 30
    assert len(names(numbers)) <= 5


def test_a_level_that_hides_itself_is_written_out():
    assert "a\\x1b" in names(["a\x1b", "b"] * 10)


def test_only_crossings_that_occur_are_slices():
    columns = {"a": list("xxyy") * 10, "b": list("ppqq") * 10, "c": list("stst") * 10}
    rows = pr.Rows([1, 0, 0, 1] * 10, range(40), columns=columns)
    for depth, expected in ((1, 6), (2, 6 + 2 + 4 + 4), (3, 16 + 4)):
        found = pr.slices(rows, ["a", "b", "c"], depth=depth, min_positives=2)
        assert len(found) + len(found.too_small) == expected
    crossed = {one.name for one in (*found.slices, *found.too_small) if len(one.levels) == 2}
    assert {f"a={a}, c={c}" for a, c in product("xy", "st")} <= crossed
    assert "a=x, b=q" not in crossed


# What one gets.


def test_the_frame_has_a_row_for_every_slice():
    found = pr.slices(sliced(16, rows=300), ["country", "device"])
    frame = found.to_frame()
    assert len(frame) == len(found) + len(found.too_small) == 11
    assert frame["name"].tolist()[0] == found.worst.name
    assert {"country", "device", "estimate", "low", "high", "difference", "p_value"} <= set(frame)
    assert frame["too_small"].sum() == len(found.too_small) == frame["estimate"].isna().sum()


def test_plain_values_survive_json():
    found = pr.slices(sliced(17), ["country", "device"])
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["worst"] == found.worst.name
    assert plain["slices"][0]["low"] == found.worst.interval.low
    assert "country=IT" in found._repr_html_()


def test_the_note_on_prevalence_is_there_where_prevalences_differ():
    rng = np.random.default_rng(18)
    g = rng.choice(["rich", "poor"], 4000)
    y = rng.random(4000) < np.where(g == "rich", 0.4, 0.05)
    rows = pr.Rows(y, rng.normal(size=4000) + 1.5 * y, columns={"g": g, "h": y[::-1] * 0})
    (note,) = pr.slices(rows, "g").notes
    assert "AUCPR of the whole rewards high-prevalence slices" in note
    assert "g=poor" in note
    assert pr.slices(rows, "h").notes == ()
    assert pr.slices(rows, "g", "auroc").notes == ()


def test_the_picture_has_a_line_for_every_slice_and_names_those_that_differ():
    plt = pytest.importorskip("matplotlib.pyplot")
    found = pr.slices(sliced(9, rows=6000), ["country", "device"])
    axes = found.plot()
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert len(names) == 11
    assert names[0].startswith("country=IT, device=tablet")
    assert "worse than the rest" in [text.get_text() for text in axes.get_legend().get_texts()]
    few = found.plot(plt.subplots()[1], most=3)
    assert len(few.get_yticks()) == 3
    assert "8 more not shown" in few.get_xlabel()
    plt.close("all")


# Bad input.


def columned(**columns):
    return pr.Rows([1, 0] * 20, range(40), columns=columns or None)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pr.slices(pr.rank([1, 0], [2, 1]), "g"), "data must be Rows with columns"),
        (lambda: pr.slices(columned(), "g"), "give them to precall.Rows as columns="),
        (lambda: pr.slices(columned(country=["x"] * 40), "contry"), "Did you mean 'country'"),
        (lambda: pr.slices(columned(g=["x"] * 40), []), "by must be a column"),
        (lambda: pr.slices(columned(g=["x"] * 40), ["g", "g"]), "'g' twice"),
        (lambda: pr.slices(columned(g=["x"] * 40), "g", depth=0), "depth must be"),
        (lambda: pr.slices(columned(g=["x"] * 40), "g", depth=3), "depth must be at most"),
        (lambda: pr.slices(columned(g=["x"] * 40), "g", quantiles=1), "quantiles must be"),
        (lambda: pr.slices(columned(g=["x"] * 40), "g", min_positives=1), "min_positives must"),
        (lambda: pr.slices(columned(g=["x"] * 40), "g", prevalence=1.0), "prevalence must"),
        (lambda: pr.slices(columned(g=["x"] * 40), "g", prevalence=1 - 1e-16), "leave room"),
        (lambda: pr.slices(columned(g=["x"] * 40), "g", "aucp"), "Did you mean 'aucpr'"),
        (lambda: pr.slices(columned(g=["x"] * 40), "g", "ndcg"), "no interval"),
        (lambda: pr.slices(columned(g=["x"] * 40), "g", model="b"), "there is no model 'b'"),
        (lambda: pr.slices(pr.Rows([1] * 9, [1] * 9, columns={"g": [1] * 9}), "g"), "no negatives"),
        (lambda: pr.slices(columned(g=["x"] * 40), "g").of(g="y"), "no slice 'g=y'"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_a_column_of_a_hundred_thousand_levels_is_refused():
    size = 100_000
    users = [f"user {i}" for i in range(size)]
    rows = pr.Rows(np.arange(size) % 2, np.arange(size) % 100, columns={"user": users})
    with pytest.raises(InputError, match="'user' has 100,000 levels, more than 1,000") as caught:
        pr.slices(rows, "user")
    assert "cluster" in str(caught.value)


def test_too_many_crossings_are_refused():
    size = 40_000
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, 300, size).astype(str) for name in "ab"}
    rows = pr.Rows(np.arange(size) % 2, np.arange(size) % 100, columns=columns)
    with pytest.raises(InputError, match=r"more than 10,000 slices .* of a and b"):
        pr.slices(rows, ["a", "b"])

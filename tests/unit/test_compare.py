"""Comparison of models: against pairs of rows, written-out covariances and exact permutations."""

import math
from itertools import combinations, product

import numpy as np
import pytest
import scipy.stats

import precall as pr
from precall.exceptions import InputError, ReliabilityWarning, UndefinedMetricError
from precall.inference.compare import RankedModels
from precall.inference.permutation import (
    _Bits,
    cells_of_both,
    swap_differences,
    twice_midranks,
)
from precall.inference.significance import bootstrap_test, holm, largest_deviation, student_test
from precall.ranking.places import locate
from tests import naive_inference

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]

COMPARED = (
    "aucpr",
    "aucnpr",
    "auroc",
    "auprg",
    "precision_at_recall(0.5)",
    "recall_at_precision(0.5)",
    "f1_at_threshold(0.5)",
)


def paired_data(n, m, *, models=2, correlation=0.5, rng=0, decimals=None):
    rng = np.random.default_rng(rng)
    y = np.arange(n + m) < n
    common = rng.normal(size=n + m)
    scores = {}
    for name in "abcdef"[:models]:
        own = rng.normal(size=n + m)
        s = math.sqrt(correlation) * common + math.sqrt(1 - correlation) * own + y
        scores[name] = s if decimals is None else np.round(s, decimals)
    return y.astype(int), scores


def test_two_models_by_hand():
    y, scores = paired_data(30, 70)
    result = pr.compare(y, scores, sampling="classes")
    contributions = [
        naive_inference.derivatives(naive_inference.average_precision, y, s)
        for s in scores.values()
    ]
    difference = contributions[0] - contributions[1]
    variance = 30 / 29 * np.sum(difference[y == 1] ** 2) + 70 / 69 * np.sum(difference[y == 0] ** 2)
    gap = pr.aucpr(pr.rank(y, scores["a"])) - pr.aucpr(pr.rank(y, scores["b"]))
    t = gap / math.sqrt(variance)
    assert result.differences["a", "b"] == pytest.approx(gap)
    # What each model's own interval has beyond its standard errors, less what the models share.
    own = [
        30 / 29 * np.sum(each[y == 1] ** 2) + 70 / 69 * np.sum(each[y == 0] ** 2)
        for each in contributions
    ]
    apart = 1 - (own[0] + own[1] - variance) / 2 / math.sqrt(own[0] * own[1])
    alone = [pr.interval(pr.rank(y, s), sampling="classes") for s in scores.values()]
    reach = scipy.stats.t.ppf(0.975, 29)

    def half(*distances):
        beyond = (max(d**2 - reach**2 * v, 0) for d, v in zip(distances, own, strict=True))
        return math.sqrt(reach**2 * variance + apart * sum(beyond))

    down = half(alone[0].estimate - alone[0].low, alone[1].high - alone[1].estimate)
    up = half(alone[0].high - alone[0].estimate, alone[1].estimate - alone[1].low)
    assert down > reach * math.sqrt(variance)
    interval = result.intervals["a", "b"]
    np.testing.assert_allclose(tuple(interval), [gap - down, gap + up], rtol=1e-6)
    side = down if gap > 0 else up
    p_value = 2 * scipy.stats.t.sf(reach * abs(gap) / side, 29)
    assert result.p_values["a", "b"] == pytest.approx(p_value, rel=1e-6)
    plain = pr.compare(y, scores, sampling="classes", distribution="normal").p_values["a", "b"]
    assert plain == pytest.approx(2 * scipy.stats.norm.sf(abs(t)), rel=1e-6)
    assert result.probability_best["a"] == pytest.approx(scipy.stats.norm.cdf(t), rel=1e-6)
    assert sum(result.probability_best.values()) == pytest.approx(1)


@pytest.mark.parametrize("decimals", [None, 0])
def test_auroc_covariance_is_delongs(decimals):
    y, scores = paired_data(25, 40, models=3, decimals=decimals)
    result = pr.compare(y, scores, sampling="classes", metric="auroc")
    np.testing.assert_allclose(
        result.covariance, naive_inference.delong(y, scores.values()), rtol=1e-9
    )


@pytest.mark.parametrize("decimals", [None, 0])
def test_the_normal_distribution_gives_delongs_test_as_it_is_published(decimals):
    y, scores = paired_data(25, 40, decimals=decimals)
    covariance = naive_inference.delong(y, scores.values())
    error = math.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    result = pr.compare(y, scores, distribution="normal", sampling="classes", metric="auroc")
    gap = result.differences["a", "b"]
    p_value = 2 * scipy.stats.norm.sf(abs(gap) / error)
    assert result.p_values["a", "b"] == pytest.approx(p_value, rel=1e-9)
    half = scipy.stats.norm.ppf(0.975) * error
    np.testing.assert_allclose(tuple(result.intervals["a", "b"]), [gap - half, gap + half], 1e-9)
    # The default has heavier tails.
    student = pr.compare(y, scores, sampling="classes", metric="auroc")
    assert student.p_values["a", "b"] > result.p_values["a", "b"]
    assert student.intervals["a", "b"].low < result.intervals["a", "b"].low


@pytest.mark.parametrize(
    ("z", "p_value", "limits"),
    [(2.20898, 0.0271758, (0.010406, 0.174214)), (2.797776, 0.0051456, None)],
)
def test_the_numbers_that_proc_publishes_for_its_data(z, p_value, limits):
    # ?roc.test in R's pROC, aSAH data: wfns against s100b, and wfns against ndka. The limits give
    # the difference and its standard error; the second pair has its statistic only.
    difference = 0.1 if limits is None else sum(limits) / 2
    error = difference / z
    low, high, p = student_test(difference, error**2, error**2, 0.95, None)
    assert p == pytest.approx(p_value, rel=2e-5)  # six digits are printed of each
    if limits is not None:
        np.testing.assert_allclose((low, high), limits, atol=1e-6)


def test_a_standard_error_is_rounding_only_at_1e_12_of_the_others():
    """Models that differ by a billionth of their errors still differ: their rows say so."""
    low, high, p = student_test(3e-9, 1e-18, 2.0, 0.95, None)
    half = scipy.stats.norm.ppf(0.975) * 1e-9
    assert (low, high) == pytest.approx((3e-9 - half, 3e-9 + half), rel=1e-9)
    assert p == pytest.approx(2 * scipy.stats.norm.cdf(-3), rel=1e-9)
    assert student_test(0.0, 1e-26, 2.0, 0.95, None) == (0.0, 0.0, 1.0)
    assert student_test(0.1, 1e-26, 2.0, 0.95, None) == (-1.0, 1.0, 1.0)


def test_a_distribution_where_there_is_none_is_refused():
    y, scores = paired_data(25, 40)
    with pytest.raises(InputError, match="distribution='normal' belongs to influence values"):
        pr.compare(y, scores, method="bootstrap", distribution="normal", sampling="classes")
    with pytest.raises(InputError, match="distribution must be one of 't', 'normal'"):
        pr.compare(y, scores, distribution="z", sampling="classes")


def test_many_models():
    y, scores = paired_data(40, 160, models=4)
    result = pr.compare(y, scores, sampling="classes")
    assert list(result.differences) == list(combinations("abcd", 2))
    assert list(result.estimates) == list("abcd")
    raw = list(result.unadjusted_p_values.values())
    assert list(result.p_values.values()) == pytest.approx(naive_inference.holm(raw))
    assert result.ranked == sorted("abcd", key=lambda name: -result.estimates[name])
    assert sum(result.probability_best.values()) == pytest.approx(1)
    assert max(result.probability_best, key=result.probability_best.get) == result.ranked[0]
    np.testing.assert_allclose(result.covariance, result.covariance.T)
    assert np.linalg.eigvalsh(result.covariance).min() > 0
    told = result.to_dict()
    assert len(told["pairs"]) == 6
    assert "Comparison(aucpr: " in repr(result)
    assert "\n" not in repr(result)


def test_a_bootstrap_counts_what_was_observed_once():
    """No replicate of 9 on the other side of 0: twice one in ten; two of them: twice three."""
    assert bootstrap_test(np.arange(1.0, 10.0), 0.5)[2] == pytest.approx(0.2)
    assert bootstrap_test(-np.arange(1.0, 10.0), 0.5)[2] == pytest.approx(0.2)
    assert bootstrap_test(np.arange(-2.0, 7.0) + 0.5, 0.5)[2] == pytest.approx(0.6)
    assert bootstrap_test(np.zeros(9), 0.5) == (0.0, 0.0, 1.0)
    assert bootstrap_test(np.arange(9.0), 0.5)[:2] == (2.0, 6.0)


def test_holm_against_stepping_down():
    rng = np.random.default_rng(1)
    for size in (1, 2, 5, 10):
        p = rng.random(size).tolist()
        assert holm(p) == pytest.approx(naive_inference.holm(p))


@pytest.mark.parametrize("method", ["influence", "bootstrap", "permutation"])
@pytest.mark.parametrize("metric", COMPARED)
def test_every_metric_and_method(metric, method):
    y, scores = paired_data(40, 160)
    options = {"metric": metric, "method": method, "n_resamples": 200, "rng": 0}
    if (metric, method) == ("f1_at_threshold(0.5)", "permutation"):
        with pytest.raises(InputError, match="permutations exchange ranks"):
            pr.compare(y, scores, sampling="classes", **options)
        return
    if metric == "recall_at_precision(0.5)" and method == "influence":
        with pytest.raises(InputError, match="use method='bootstrap'"):
            pr.compare(y, scores, sampling="classes", **options)
        return
    result = pr.compare(y, scores, sampling="classes", **options)
    again = pr.compare(y, scores, sampling="classes", **options)
    assert result.to_dict() == again.to_dict()
    interval = result.intervals["a", "b"]
    assert interval.low <= result.differences["a", "b"] <= interval.high
    assert 0 < result.p_values["a", "b"] <= 1


@pytest.mark.parametrize("sampling", ["classes", "rows"])
def test_bootstrap_and_influence_covariances_agree(sampling):
    y, scores = paired_data(200, 800, models=3)
    by_influence = pr.compare(y, scores, sampling=sampling).covariance
    drawn = pr.compare(
        y, scores, method="bootstrap", n_resamples=4000, rng=0, sampling=sampling
    ).covariance
    # 4,000 replicates know a variance to 2.2 %; and some percent of second order at n=200.
    np.testing.assert_allclose(by_influence, drawn, rtol=0.12)


@pytest.mark.parametrize("method", ["influence", "bootstrap", "permutation"])
def test_equal_models_are_equal(method):
    y, scores = paired_data(30, 90)
    same = {"a": scores["a"], "b": 3 * scores["a"] + 1, "c": scores["a"]}
    result = pr.compare(y, same, method=method, rng=0, n_resamples=100, sampling="classes")
    assert all(p == 1.0 for p in result.p_values.values())
    assert all(abs(d) < 1e-12 for d in result.differences.values())
    assert result.probability_best == pytest.approx(dict.fromkeys("abc", 1 / 3))


def test_a_difference_without_variance_is_not_significant():
    with pytest.warns(ReliabilityWarning, match="only 1 independent positive:"):
        result = pr.compare([1, 0], {"a": [2, 1], "b": [1, 2]}, sampling="classes")
    assert result.p_values["a", "b"] == 1.0
    assert tuple(result.intervals["a", "b"]) == (-1.0, 1.0)


def test_few_positives_warn():
    y, scores = paired_data(19, 100)
    with pytest.warns(ReliabilityWarning, match="fewer than 20"):
        pr.compare(y, scores, sampling="classes")


@pytest.mark.parametrize(
    ("method", "said", "not_said"),
    [
        ("influence", "first-order approximation is rough", "permutation"),
        ("bootstrap", "the draws see too little", "first-order"),
        ("permutation", "the p-values need no approximation", "first-order"),
    ],
)
def test_the_warning_says_what_is_true_of_the_method(method, said, not_said):
    y, scores = paired_data(19, 100)
    with pytest.warns(ReliabilityWarning) as caught:
        pr.compare(y, scores, method=method, n_resamples=100, rng=0, sampling="classes")
    message = str(caught[0].message)
    assert said in message
    assert not_said not in message


@pytest.mark.parametrize("weight", [None, np.full(6, 0.25)], ids=["counted", "weighted"])
def test_permutation_lists_all_swaps_of_small_data(weight):
    """Six rows: the 64 swaps listed, their distribution against many draws."""
    y = np.array([1, 0, 1, 0, 0, 1])
    a, b = np.array([6.0, 5, 4, 3, 2, 1]), np.array([3.0, 6, 5, 1, 2, 4])
    rows = pr.Rows(y, {"a": a, "b": b}, sample_weight=weight)
    drawn = swap_differences(rows, pr.metrics.aucpr(), "a", "b", 20_000, np.random.default_rng(2))
    listed = []
    for swaps in product([False, True], repeat=6):
        first, second = np.where(swaps, b, a), np.where(swaps, a, b)
        listed.append(
            naive_inference.average_precision(y, first)
            - naive_inference.average_precision(y, second)
        )
    values, counts = np.unique(np.round(listed, 9), return_counts=True)
    found, observed = np.unique(np.round(drawn, 9), return_counts=True)
    np.testing.assert_allclose(found, values)
    expected = counts / 64 * 20_000
    statistic = np.sum((observed - expected) ** 2 / expected)
    assert scipy.stats.chi2.sf(statistic, len(values) - 1) > 1e-4


def test_a_permutation_counts_what_was_observed_once():
    """No swap of 199 reaches the difference of a good and a useless model, but it is one of 200."""
    rng = np.random.default_rng(0)
    y = np.arange(300) < 100
    scores = {"good": rng.normal(size=300) + 4 * y, "useless": rng.normal(size=300)}
    result = pr.compare(y, scores, method="permutation", n_resamples=199, rng=0, sampling="classes")
    assert result.unadjusted_p_values["good", "useless"] == 1 / 200


def test_permutation_of_many_rows_that_stand_alike():
    """Of rows of one kind a binomial number is exchanged; here every row by itself is the rule."""
    rng = np.random.default_rng(8)
    y = np.arange(80) < 2
    scores = {name: np.where(y, 1, rng.choice([0, 2], 80, p=[0.8, 0.2])) for name in "ab"}
    rows = pr.Rows(y, scores)
    size, cells = cells_of_both(rows, "a", "b")
    assert (3 * size + 1) ** 2 <= 80
    assert np.unique(np.stack(cells), axis=1).shape[1] < 8
    drawn = swap_differences(rows, pr.metrics.aucpr(), "a", "b", 20_000, rng)
    ranks = [scipy.stats.rankdata(scores[name]) for name in "ab"]
    naive = []
    for swaps in rng.random((2000, 80)) < 0.5:
        first, second = np.where(swaps, ranks[1], ranks[0]), np.where(swaps, *ranks)
        naive.append(
            naive_inference.average_precision(y, first)
            - naive_inference.average_precision(y, second)
        )
    assert scipy.stats.ks_2samp(np.round(drawn, 9), np.round(naive, 9)).pvalue > 1e-4


@pytest.mark.parametrize("crowd", [1, 200, 300, 70_000])
@pytest.mark.parametrize("clustered", [False, True])
def test_bits_of_several_draws_are_counted_at_once(crowd, clustered):
    """As many draws share a word as the fullest cell allows; each counts as if it were alone."""
    rng = np.random.default_rng(4)
    cells = tuple(np.append(rng.integers(0, 7, 50), np.full(crowd, last)) for last in (8, 9))
    unit = rng.integers(0, 20, 50 + crowd) if clustered else None
    bits = _Bits(cells, 10, unit)
    most = max(np.bincount(cell).max() for cell in cells)
    assert bits.at_least == min(8, 64 // int(most).bit_length())
    size = 2 * bits.at_least + 1
    found = bits.draw(np.random.default_rng(5), size)
    again, expected = np.random.default_rng(5), []
    while len(expected) < size:
        drawn = np.frombuffer(again.bytes(20 if clustered else 50 + crowd), np.uint8)
        drawn = drawn if unit is None else drawn[unit]
        for lane in range(bits.at_least):
            swapped = drawn >> lane & 1 == 1
            came, went = (np.bincount(cell[swapped], minlength=10) for cell in cells[::-1])
            expected.append(came - went)
    np.testing.assert_array_equal(found, expected[:size])


def test_permutation_swaps_clusters_whole():
    y = np.array([1, 0, 1, 0])
    a, b = np.array([4.0, 3, 2, 1]), np.array([1.0, 4, 3, 2])
    rows = pr.Rows(y, {"a": a, "b": b}, clusters=np.array([0, 0, 1, 1]))
    drawn = swap_differences(rows, pr.metrics.aucpr(), "a", "b", 200, np.random.default_rng(3))
    listed = [
        naive_inference.average_precision(y, np.where(s, b, a))
        - naive_inference.average_precision(y, np.where(s, a, b))
        for s in ([0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1])
    ]
    np.testing.assert_allclose(
        np.unique(np.round(drawn, 9)), np.unique(np.round(listed, 9)), atol=1e-9
    )


def test_permutation_takes_ranks_so_scales_do_not_matter():
    y, scores = paired_data(30, 90)
    plain, scaled = (
        pr.compare(
            y,
            {"a": scores["a"], "b": b},
            method="permutation",
            rng=0,
            n_resamples=500,
            sampling="classes",
        )
        for b in (scores["b"], np.exp(scores["b"]) * 1e6)
    )
    assert plain.p_values == scaled.p_values
    ascending = np.array([1, 3, 3, 4, 4, 4])
    np.testing.assert_array_equal(twice_midranks(ascending), 2 * scipy.stats.rankdata(ascending))


@pytest.mark.parametrize("method", ["influence", "bootstrap", "permutation"])
def test_repeated_rows_teach_nothing_when_clustered(method):
    y, scores = paired_data(40, 160)
    plain = pr.compare(y, scores, method=method, rng=0, n_resamples=4000, sampling="classes")
    thrice = pr.compare(
        np.repeat(y, 3),
        {name: np.repeat(s, 3) for name, s in scores.items()},
        clusters=np.repeat(np.arange(200), 3),
        method=method,
        rng=0,
        n_resamples=4000,
        sampling="classes",
    )
    # Leaving out one of 40 positives counts for all of its square, not for 39/40.
    longer = 1.0 if method == "bootstrap" else math.sqrt(40 / 39)
    # 4,000 replicates know a standard error to 1.1 %.
    expected = pytest.approx(longer * plain.standard_errors["a"], rel=0.05)
    assert thrice.standard_errors["a"] == expected
    p, q = plain.p_values["a", "b"], thrice.p_values["a", "b"]
    assert q == pytest.approx(p, abs=5 * math.sqrt(0.25 / 4000))


def test_clusters_of_one_row_each_are_rows_drawn_at_random():
    """The numbers of both classes vary with the clusters, as they do with rows."""
    rng = np.random.default_rng(4)
    y = np.arange(2000) < 200
    scores = {"good": rng.normal(size=2000) + 3 * y, "bad": rng.normal(size=2000) + y}
    rows, fixed = (pr.compare(y, scores, sampling=choice) for choice in ("rows", "classes"))
    alone = pr.compare(y, scores, clusters=np.arange(2000), sampling="rows")
    # Here 2000/1999, there 200/199 and 1800/1799.
    np.testing.assert_allclose(alone.covariance, rows.covariance, rtol=0.01)
    pair = "good", "bad"
    assert alone.intervals[pair].width == pytest.approx(rows.intervals[pair].width, rel=0.005)
    assert np.all(np.diag(alone.covariance) > 1.05 * np.diag(fixed.covariance))


def test_weights_that_are_equal_change_nothing():
    y, scores = paired_data(40, 160)
    plain = pr.compare(y, scores, sampling="classes")
    weighted = pr.compare(y, scores, sample_weight=np.full(200, 3.0), sampling="classes")
    np.testing.assert_allclose(plain.covariance, weighted.covariance, rtol=1e-9)
    zero = pr.compare(
        np.append(y, 1),
        {name: np.append(s, 99) for name, s in scores.items()},
        sample_weight=np.append(np.ones(200), 0),
        sampling="classes",
    )
    np.testing.assert_allclose(plain.covariance, zero.covariance, rtol=1e-9)


def test_labels_and_errors():
    y, scores = paired_data(30, 60)
    words = np.where(y == 1, "yes", "no")
    assert (
        pr.compare(words, scores, pos_label="yes", sampling="classes").to_dict()
        == pr.compare(y, scores, sampling="classes").to_dict()
    )
    for bad in ({"a": scores["a"]}, [scores["a"], scores["b"]]):
        with pytest.raises(InputError, match="at least two models"):
            pr.compare(y, bad, sampling="classes")
    with pytest.raises(InputError, match="rows"):
        pr.compare(y, {"a": scores["a"], "b": scores["b"][1:]}, sampling="classes")
    with pytest.raises(InputError, match="metric must be one of"):
        pr.compare(y, scores, sampling="classes", metric="accuracy")
    with pytest.raises(UndefinedMetricError, match="no positives"):
        pr.compare(np.zeros(90), scores, sampling="classes")
    with pytest.raises(InputError, match=r"scores\['b'\] must not be missing"):
        pr.compare(
            y, {"a": scores["a"], "b": np.where(y == 1, np.nan, scores["b"])}, sampling="classes"
        )


def test_a_plain_dictionary_has_plain_numbers():
    y, scores = paired_data(25, 40)
    [pair] = pr.compare(y, scores, sampling="classes").to_dict()["pairs"]
    assert {type(value) for name, value in pair.items() if name not in ("first", "second")} == {
        float
    }


@pytest.mark.filterwarnings("ignore:only .* independent positives")
@pytest.mark.parametrize("sampling", ["rows", "classes"])
@pytest.mark.parametrize("mixed", [True, False])
def test_clusters_are_left_out_one_by_one(sampling, mixed):
    """The jackknife by hand: every cluster's rows taken away, every area computed again."""
    rng = np.random.default_rng(8)
    y, scores = paired_data(30, 60)
    cluster = rng.permutation(np.arange(90) % 15) if mixed else np.arange(90) // 6
    result = pr.compare(y, scores, clusters=cluster, sampling=sampling, distribution="normal")

    def difference(kept):
        n, m = np.sum(y[kept] == 1), np.sum(y[kept] == 0)
        # Sampling by classes keeps the sample's odds: with mixed clusters through weights.
        weight = np.where(
            y[kept] == 1, 1.0, n / m * 2.0 if sampling == "classes" and mixed else 1.0
        )
        areas = [pr.aucpr(pr.rank(y[kept], s[kept], sample_weight=weight)) for s in scores.values()]
        return areas[0] - areas[1]

    left_out = np.array([difference(cluster != one) for one in range(15)])
    kinds = np.array([y[cluster == one][0] for one in range(15)])
    together = mixed or sampling == "rows"
    strata = [np.ones(15, dtype=bool)] if together else [kinds == 1, kinds == 0]
    expected = sum(np.sum((left_out[part] - left_out[part].mean()) ** 2) for part in strata)
    half = scipy.stats.norm.ppf(0.975) * math.sqrt(expected)
    interval = result.intervals["a", "b"]
    assert interval.high - interval.low == pytest.approx(2 * half, rel=1e-9)
    assert result.simultaneous["a", "b"] == interval


@pytest.mark.filterwarnings("ignore:only .* independent positives")
def test_two_clusters_are_enough_to_leave_each_out():
    """The variance is half of the squared distance between what the two clusters say alone."""
    y, scores = paired_data(30, 60)
    cluster = np.random.default_rng(9).permutation(np.arange(90) % 2)
    alone = [
        [pr.aucpr(pr.rank(y[cluster == one], s[cluster == one])) for s in scores.values()]
        for one in (0, 1)
    ]
    (a, b), (c, d) = alone
    found = pr.compare(y, scores, clusters=cluster, sampling="rows", confidence_level=0.5)
    # The quartiles of t with one degree of freedom are -1 and 1.
    distance = abs((a - b) - (c - d))
    assert found.intervals["a", "b"].width == pytest.approx(math.sqrt(2) * distance, rel=1e-9)


@pytest.mark.parametrize(("n_clusters", "degrees"), [(1000, 999.0), (1001, 29.0)])
def test_up_to_a_thousand_clusters_are_left_out_one_by_one(n_clusters, degrees):
    """The jackknife has a degree of freedom per cluster less one, influence values per positive."""
    y, scores = paired_data(30, n_clusters - 30)
    rows = pr.Rows(y, scores, clusters=np.arange(n_clusters))
    models = RankedModels.rank(pr.metrics.auroc(), rows)
    assert models.covariance(True)[2] == degrees


def test_one_cluster_with_all_positives_leaves_influence_values():
    y, scores = paired_data(25, 60)
    cluster = np.where(y == 1, 0, np.arange(85))
    with pytest.warns(ReliabilityWarning, match="independent positive"):
        found = pr.compare(y, scores, clusters=cluster)
    assert 0.0 < found.intervals["a", "b"].width <= 2.0


def test_simultaneous_intervals_of_independent_estimates_are_tukeys():
    """Equal variances and no correlation: the studentised range over the root of 2."""
    variances = 2.0 * (1.0 - np.eye(4))
    scales = np.full((4, 4), 2.0)
    for degrees in (10.0, 1e6):
        got = largest_deviation(variances, scales, degrees, 0.95)
        expected = scipy.stats.studentized_range.ppf(0.95, 4, degrees) / math.sqrt(2)
        # 20,000 draws know the quantile to about .015.
        assert got == pytest.approx(expected, abs=0.06)
    # A copy of a model adds no difference; two models have one difference.
    copied = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    assert largest_deviation(copied, np.ones((3, 3)), None, 0.95) == pytest.approx(1.959964)


def test_simultaneous_intervals_are_the_wider_ones():
    y, scores = paired_data(40, 100)
    scores["c"] = scores["a"][::-1].copy()
    for method in ("influence", "bootstrap"):
        found = pr.compare(y, scores, method=method, rng=0, n_resamples=200)
        for key, interval in found.intervals.items():
            assert found.simultaneous[key].width > interval.width
        assert found.to_dict()["pairs"][0]["simultaneous_low"] == found.simultaneous["a", "b"].low


def test_rows_are_put_into_cells_as_by_searching():
    rng = np.random.default_rng(12)
    for decimals in (0, 1, 5):
        positive = rng.random(300) < 0.2
        scores = {name: np.round(rng.normal(size=300), decimals) for name in "ab"}
        size, cells = cells_of_both(pr.Rows(positive, scores), "a", "b")
        ranks = [scipy.stats.rankdata(scores[name]) for name in "ab"]
        threshold = np.unique(np.concatenate([rank[positive] for rank in ranks]))[::-1]
        assert size == threshold.size
        for cell, rank in zip(cells, ranks, strict=True):
            place = locate(threshold, rank)
            np.testing.assert_array_equal(cell, np.where(positive, place // 2, size + place))


@pytest.mark.parametrize("heavy", ["the top", "the rest"])
def test_heavy_rows_move_the_prevalence_and_the_ranking_at_once(heavy):
    """As leaving each row out does, which needs no derivative."""
    rng = np.random.default_rng(8)
    y = rng.random(3000) < 0.2
    a = rng.normal(size=y.size) + 1.5 * y
    scores = {"a": a, "b": 0.6 * a + 0.8 * rng.normal(size=y.size) + 0.3 * y}
    top = a >= np.quantile(a, 0.9)
    weight = np.where(top == (heavy == "the top"), 8.0, 1.0)
    found = pr.compare(pr.Rows(y, scores, sample_weight=weight))
    each = np.arange(y.size)
    jackknife = pr.compare(pr.Rows(y, scores, sample_weight=weight, clusters=each))
    np.testing.assert_allclose(found.covariance, jackknife.covariance, rtol=0.005)

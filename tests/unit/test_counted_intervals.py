"""Limits of what is counted at a threshold: beside scipy, and of several shares by their parts."""

import numpy as np
import pytest
import scipy.stats

import precall as pr
from precall.inference.limits import share_limits, wilson_limits
from precall.inference.rules import RULES, rules_of
from precall.metrics.confusion import OfCounts
from tests.naive_points import ratio_quantile

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]
# scipy's limits come from a root finder.
TOLERANCE = 1e-8
METHODS = {"clopper_pearson": "exact", "wilson": "wilson"}


def data(seed=1, size=300, share=0.2, scale=1.0):
    rng = np.random.default_rng(seed)
    y = rng.random(size) < share
    return y, rng.normal(size=size) + scale * y


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_shares_of_rows_are_those_of_scipy(method, level):
    y, s = data()
    rows, said = pr.Rows(y, s), s >= 0.7
    tp, fp = int(np.sum(y & said)), int(np.sum(~y & said))
    fn, tn = int(np.sum(y & ~said)), int(np.sum(~y & ~said))
    for name, (part, whole) in {
        "precision": (tp, tp + fp),
        "recall": (tp, tp + fn),
        "specificity": (tn, tn + fp),
        "false_positive_rate": (fp, tn + fp),
        "false_negative_rate": (fn, tp + fn),
        "negative_predictive_value": (tn, tn + fn),
        "accuracy": (tp + tn, y.size),
        "jaccard": (tp, tp + fp + fn),
    }.items():
        found = pr.interval(
            rows, f"{name}_at_threshold(0.7)", method=method, confidence_level=level
        )
        test = scipy.stats.binomtest(part, whole)
        expected = test.proportion_ci(level, method=METHODS[method])
        assert found.estimate == pytest.approx(part / whole)
        assert (found.low, found.high) == pytest.approx(tuple(expected), abs=TOLERANCE)
        assert found.standard_error == pytest.approx(
            np.sqrt(part / whole * (1 - part / whole) / whole)
        )
    # F = 2 J / (1 + J)
    share = scipy.stats.binomtest(tp, tp + fp + fn).proportion_ci(level, method=METHODS[method])
    found = pr.interval(rows, "f1_at_threshold(0.7)", method=method, confidence_level=level)
    expected = tuple(2 * j / (1 + j) for j in share)
    assert (found.low, found.high) == pytest.approx(expected, abs=TOLERANCE)


def test_clopper_pearson_is_the_default():
    for name, kind in pr.METRICS.items():
        if issubclass(kind, OfCounts):
            assert list(rules_of(kind(0.5)))[:2] == ["clopper_pearson", "wilson"], name
    ranking = pr.rank(*data(), thresholds=[0.7])
    assert pr.interval(ranking, "precision_at_k(20)").method == "clopper_pearson"


def test_a_ranking_that_kept_the_threshold_says_the_same_as_rows():
    y, s = data()
    for kept in ([0.7], [0.7, 0.1, -1.0]):
        for name in ("precision", "mcc"):
            metric = pr.METRICS[f"{name}_at_threshold"](0.7)
            ours = pr.interval(pr.Rows(y, s), metric)
            theirs = pr.interval(pr.rank(y, s, thresholds=kept), metric)
            assert (ours.low, ours.high) == (theirs.low, theirs.high)


@pytest.mark.parametrize("method", METHODS)
def test_all_right_and_all_wrong(method):
    rows = pr.Rows([1] * 10 + [0] * 30, np.arange(40)[::-1])
    for threshold, estimate in ((30, 1.0), (35, 1.0)):
        found = pr.interval(rows, f"precision_at_threshold({threshold})", method=method)
        assert (found.estimate, found.high) == (estimate, 1.0)
        assert 0.4 < found.low < 1.0
    worst = pr.Rows([0] * 30 + [1] * 10, np.arange(40)[::-1])
    found = pr.interval(worst, "precision_at_threshold(20)", method=method)
    assert (found.estimate, found.low) == (0.0, 0.0)
    assert 0.0 < found.high < 0.3


def test_nothing_selected_says_nothing_of_precision():
    found = pr.interval(pr.Rows(*data()), "precision_at_threshold(99)")
    assert (found.low, found.high) == (0.0, 1.0)
    assert pr.interval(pr.Rows(*data()), "recall_at_threshold(99)").high < 0.1


@pytest.mark.parametrize("method", METHODS)
def test_at_a_known_prevalence_two_rates_are_put_together(method):
    """Zou & Donner 2008: distances to the limits of recall and false-positive rate, in squares."""
    y, s = data()
    said = s >= 0.7
    limits = {"clopper_pearson": "exact", "wilson": "wilson"}[method]

    def rate(chosen):
        return scipy.stats.binomtest(int(np.sum(said & chosen)), int(np.sum(chosen)))

    recall, false = rate(y), rate(~y)
    (r0, r1), (f0, f1) = (
        tuple(found.proportion_ci(0.95, method=limits)) for found in (recall, false)
    )
    r, f = recall.statistic, false.statistic

    def precision(r, f, pi=0.01):
        return pi * r / (pi * r + (1 - pi) * f)

    value = precision(r, f)
    low = value - np.hypot(value - precision(r0, f), value - precision(r, f1))
    high = value + np.hypot(value - precision(r1, f), value - precision(r, f0))
    found = pr.interval(
        pr.Rows(y, s), "precision_at_threshold(0.7)", method=method, prevalence=0.01
    )
    assert found.estimate == pytest.approx(value)
    assert (found.low, found.high) == pytest.approx((low, high), abs=TOLERANCE)
    # What is of one class does not ask for the prevalence.
    here, there = (
        pr.interval(pr.Rows(y, s), "recall_at_threshold(0.7)", method=method, **options)
        for options in ({}, {"prevalence": 0.01})
    )
    assert (here.low, here.high) == pytest.approx((there.low, there.high))


@pytest.mark.parametrize("words", ["mcc_at_threshold(0.7)", "net_benefit(0.3, threshold=0.7)"])
def test_several_shares_agree_with_the_bootstrap_on_many_rows(words):
    """With 20,000 rows both are normal; 1,000 replicates know a width to 2.2 %."""
    rows = pr.Rows(*data(size=20_000))
    ours = pr.interval(rows, words, method="wilson")
    drawn = pr.interval(rows, words, method="bootstrap_percentile", rng=0)
    assert ours.width == pytest.approx(drawn.width, rel=0.12)
    assert ours.standard_error == pytest.approx(drawn.standard_error, rel=0.12)


def test_weights_of_equal_size_count_as_rows_and_unequal_ones_as_fewer():
    y, s = data()
    for name in ("precision", "recall", "f1", "mcc"):
        metric = pr.METRICS[f"{name}_at_threshold"](0.7)
        plain = pr.interval(pr.Rows(y, s), metric)
        twice = pr.interval(pr.Rows(y, s, sample_weight=np.full(300, 2.0)), metric)
        assert (twice.low, twice.high) == pytest.approx((plain.low, plain.high), abs=1e-9)
        weight = np.random.default_rng(3).exponential(size=300)
        unequal = pr.interval(pr.Rows(y, s, sample_weight=weight), metric)
        assert unequal.width > 1.1 * plain.width


def test_rows_that_repeat_each_other_count_once():
    y, s = data()
    clusters = np.arange(300)
    for words in (
        "precision_at_threshold(0.7)",
        "f1_at_threshold(0.7)",
        "mcc_at_threshold(0.7)",
        "recall_at_k(0.1)",
    ):
        once = pr.interval(pr.Rows(y, s), words)
        copies = pr.Rows(np.tile(y, 4), np.tile(s, 4), clusters=np.tile(clusters, 4))
        found = pr.interval(copies, words)
        assert found.width == pytest.approx(once.width, rel=0.2)
        assert pr.interval(copies.unclustered(), words).width < 0.7 * once.width


def test_top_k_is_as_sure_as_its_variance_says():
    """Cut inside a large tie: there the variance is known in closed form."""
    y = np.r_[np.tile([1, 0, 0, 0], 25), np.tile([1, 0, 0, 0, 0, 0, 0, 0, 0, 0], 30)]
    s = np.repeat([2.0, 1.0], [100, 300])
    found = pr.interval(pr.rank(y, s), "precision_at_k(200)", method="wilson")
    # 25 of the first 100 and a tenth of the next 100; about the cut a tenth is positive.
    p, rho, k, rows = 35 / 200, 0.1, 200, 400
    variance = p * (1 - p) / k + (p - rho) ** 2 * (1 / k - 1 / rows)
    assert found.estimate == pytest.approx(p)
    # Of the tied rows the expected half counts: less variance than that of 200 rows drawn.
    trials = p * (1 - p) / variance
    low, high = (float(end) for end in wilson_limits(p * trials, trials, 0.95))
    assert found.low == pytest.approx(low, abs=0.01)
    assert found.high == pytest.approx(high, abs=0.01)


def test_lift_is_recall_over_the_share():
    ranking = pr.rank(*data())
    lift, recall = (pr.interval(ranking, f"{name}_at_k(0.1)") for name in ("lift", "recall"))
    assert tuple(lift) == pytest.approx(tuple(end / 0.1 for end in recall))
    assert lift.standard_error == pytest.approx(recall.standard_error / 0.1)


def test_limits_of_shares_beside_each_other():
    for limits in (lambda x, k: share_limits(x, k, 0.025), lambda x, k: wilson_limits(x, k, 0.95)):
        low, high = limits(np.arange(11), 10)
        assert (low[0], high[-1]) == (0.0, 1.0)
        assert (np.diff(low) > 0).all()
        assert (np.diff(high) > 0).all()
        np.testing.assert_allclose(low, 1.0 - high[::-1], atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["precision", "recall", "specificity", "accuracy"])
def test_rows_seen_again_in_their_cluster_say_nothing_new(name, method):
    y, s = data()
    cluster = np.arange(y.size)
    columns = [np.repeat(column, 3) for column in (y, s, cluster)]
    single, copied = (
        pr.interval(
            pr.Rows(labels, scores, clusters=clusters),
            f"{name}_at_threshold(0.7)",
            method=method,
            sampling="rows",
        )
        for labels, scores, clusters in ((y, s, cluster), columns)
    )
    assert tuple(copied) == pytest.approx(tuple(single), rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_weighted_share_of_one(method):
    """Four positives above the threshold, whose weights are worth 3.6 rows.

    A negative that was not seen weighs what two heavy rows do: the classes are nowhere together,
    and a negative weighs twice as much as a positive on average.
    """
    weights = np.array([1.0, 1.0, 2.0, 2.0, 3.0])
    effective = 6.0**2 / 10.0
    found = pr.interval(
        pr.Rows([1, 1, 1, 1, 0], [4.0, 3.0, 2.0, 1.0, 0.0], sample_weight=weights),
        "precision_at_threshold(1)",
        method=method,
        sampling="rows",
    )
    z = scipy.stats.norm.ppf(0.975)
    low = {
        # The sum of 3.6 exponential numbers of 10 / 6, against one of the heavy rows' weight.
        "clopper_pearson": ratio_quantile((effective, 10.0 / 6.0), (1.0, 4.0), 0.025),
        "wilson": effective / (effective + z * z),
    }
    assert tuple(found) == pytest.approx((low[method], 1.0), rel=1e-9)


def test_a_weighted_share_is_worth_the_trials_of_its_variance():
    """The sum of squared weights times squared deviations, over the squared sum, row by row."""
    labels = [1, 1, 0, 1, 0, 0]
    weights = [1.0, 2.0, 1.0, 3.0, 4.0, 5.0]
    rows = pr.Rows(labels, [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], sample_weight=weights)
    found = pr.interval(rows, "precision_at_threshold(2)", method="wilson", sampling="rows")
    above = list(zip(labels, weights, strict=True))[:5]
    total = sum(w for _, w in above)
    share = sum(x * w for x, w in above) / total
    variance = sum((w * (x - share)) ** 2 for x, w in above) / total**2
    trials = share * (1 - share) / variance
    assert found.estimate == pytest.approx(share)
    low, high = wilson_limits(share * trials, trials, 0.95)
    assert tuple(found) == pytest.approx((float(low), float(high)), rel=1e-12)


def test_rules_of_one_name_quote_one_source():
    """Whether the rows are counted at a threshold or by rank, the limits are from one paper."""
    for name in METHODS:
        quoted = {(rule.source, rule.caution) for rule in RULES.values() if rule.name == name}
        assert len(quoted) == 1
        ((source, caution),) = quoted
        assert "Zou & Donner" in source
        assert "Zou" not in caution

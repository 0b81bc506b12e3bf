"""Intervals against recipes written out, exact small cases, and the policy at the edges."""

import itertools
import math
import pickle
from fractions import Fraction
from inspect import signature

import numpy as np
import pytest
import scipy.stats

import precall as pr
from precall.exceptions import InputError, ReliabilityWarning, UndefinedMetricError
from precall.inference import gain_limits, limits
from precall.inference.clusters import cluster_sizes, design_size
from precall.inference.intervals import MetricInterval
from precall.inference.rules import rules_of
from precall.simulate import Bibeta, Binormal
from tests import naive_inference
from tests.datasets import random_data

SMOOTH_ESTIMATORS = tuple(name for name, kind in pr.ESTIMATORS.items() if kind.gradient)

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]

METRICS = (
    pr.metrics.aucpr(),
    pr.metrics.aucnpr(),
    pr.metrics.auroc(),
    pr.metrics.auprg(),
    pr.metrics.precision_at_recall(0.5),
    pr.metrics.recall_at_precision(0.5),
    pr.metrics.f_beta_at_threshold(0.9),
)
ALL = [(metric, method) for metric in METRICS for method in rules_of(metric)]


@pytest.fixture(scope="module")
def ranking():
    return pr.rank(*Binormal(1.5).sample(40, 160, rng=1), thresholds=[0.9])


def interval_of(ranking, metric, method, **changes):
    options = {"rng": 0, "n_resamples": 400, "sampling": "classes"} | changes
    return pr.interval(ranking, metric, method=method, **options)


def test_names_of_the_contract():
    assert list(pr.INTERVALS) == [
        "binomial",
        "logit",
        "influence",
        "guarded",
        "bootstrap_percentile",
        "bootstrap_bca",
        "bootstrap_t",
    ]


@pytest.mark.parametrize("sampling", ["classes", "rows"])
@pytest.mark.parametrize("method", ["influence", "guarded"])
def test_influence_limits_as_the_recipe_says(method, sampling):
    rng = np.random.default_rng(2)
    for _ in range(30):
        y, s, _ = random_data(rng)
        got = pr.interval(pr.rank(y, s), method=method, sampling=sampling)
        expected = naive_inference.influence_limits(y, s, method=method, sampling=sampling)
        np.testing.assert_allclose(tuple(got), expected, rtol=1e-9)


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.9999])
def test_unseen_negatives_that_take_nothing_are_not_looked_at(level, one_sided):
    """As if each number of them were looked at by itself, however much one takes."""
    looked = []
    for estimate, each in itertools.product((0.05, 0.6, 0.99), (1e-6, 1e-3, 0.02, 0.3)):
        given = (estimate, 1e-4, 500, level)
        options = {"unbiased": estimate - 0.003, "one_sided": one_sided}

        def unseen(estimate=estimate, each=each):
            for number, allowed in limits.unseen_levels(level, one_sided=one_sided):
                yield lambda number=number: estimate * math.exp(-each * number), allowed

        alone = [limits.influence_limits(*given, **options, unseen=[one])[0] for one in unseen()]
        guard = [*unseen()][-1][0]() * 0.99
        counted = [(lambda v=v: looked.append(1) or v(), allowed) for v, allowed in unseen()]
        got, _ = limits.influence_limits(*given, **options, guard=guard, unseen=counted)
        assert got == min(*alone, guard)
        looked.append(-len(alone))
    assert sum(looked) < 0


def test_binomial_and_logit_by_hand():
    ranking = pr.rank([1, 0, 1, 0], [4, 3, 2, 1])
    estimate = Fraction(5, 6)
    z = scipy.stats.norm.ppf(0.95)
    half = z * math.sqrt(estimate * (1 - estimate) / 2)
    got = pr.interval(ranking, method="binomial", confidence_level=0.9, sampling="classes")
    assert got.estimate == pytest.approx(5 / 6)
    assert got.low == pytest.approx(5 / 6 - half)
    assert got.high == 1.0
    got = pr.interval(ranking, method="logit", confidence_level=0.9, sampling="classes")
    odds = [5 * math.exp(sign * z / math.sqrt(2 * 5 / 36)) for sign in (-1, 1)]
    np.testing.assert_allclose(tuple(got), [o / (1 + o) for o in odds])


def test_delong_against_pairs():
    rng = np.random.default_rng(3)
    for _ in range(10):
        y, s, _ = random_data(rng)
        if not 1 < sum(y) < len(y) - 1:
            continue
        got = pr.interval(pr.rank(y, s), "auroc", method="delong", sampling="classes")
        error = math.sqrt(naive_inference.delong(y, [s])[0, 0])
        assert got.standard_error == pytest.approx(error, abs=1e-12)
        if 0 < got.estimate < 1:
            assert got.low == pytest.approx(max(0, got.estimate - 1.959963985 * error))


def test_beta_limits_of_auroc():
    """Clopper and Pearson's limits for a share of as many trials as DeLong's variance is worth."""
    y, s = Binormal().sample(30, 50, rng=3)
    got = pr.interval(pr.rank(y, s), "auroc", method="beta", sampling="classes")
    t, k = got.estimate, 30
    variance = (k * naive_inference.delong(y, [s])[0, 0] + 3 * t * (1 - t) / k) / (k + 3)
    trials = t * (1 - t) / variance
    low = scipy.stats.beta.ppf(0.025, t * trials, (1 - t) * trials + 1)
    high = scipy.stats.beta.ppf(0.975, t * trials + 1, (1 - t) * trials)
    np.testing.assert_allclose(tuple(got), [low, high])


def test_limits_of_auroc_leave_room_for_a_kind_of_rows_not_seen():
    """Twenty positives in order but for one, by a hair: DeLong's variance sees next to nothing."""
    label, score = [1] * 20 + [0] * 400, [*range(500, 481, -1), 399.5, *range(400, 0, -1)]
    got = pr.interval(pr.rank(label, score), "auroc")
    assert got.method == "beta"
    assert got.estimate == pytest.approx(1 - 1 / 8000)
    assert got.low == pytest.approx(got.estimate * 0.05 ** (1 / 20))
    turned = pr.interval(pr.rank(label, np.negative(score)), "auroc")
    assert turned.high == pytest.approx(1 - got.low)


def test_auroc_of_one_has_an_exact_limit():
    for method in ("logit", "delong"):
        got = pr.interval(
            pr.rank([1] * 8 + [0] * 5, range(13, 0, -1)), "auroc", method=method, sampling="classes"
        )
        assert (got.low, got.high) == (pytest.approx(0.05 ** (1 / 5)), 1.0)


@pytest.mark.filterwarnings("ignore:every bootstrap replicate")
def test_bootstrap_ends_at_an_estimate_of_one_are_those_of_certain_trials():
    """No replicate says how sure a perfect ranking is: n trials that all succeeded do.

    For the area of the gain curve the limit is that of a curve of constant precision
    ``p = .05**(1/n)``, ``1 - (n/m)(1 - p)/p``; for AUROC there are only min(n, m) pairs.
    """
    n, m = 8, 5
    ranking = pr.rank([1] * n + [0] * m, range(n + m, 0, -1))
    precision = 0.05 ** (1 / n)
    expected = {
        "aucpr": precision,
        "auroc": 0.05 ** (1 / m),
        "auprg": 1 - (n / m) * (1 - precision) / precision,
    }
    for metric, low in expected.items():
        for method in rules_of(getattr(pr.metrics, metric)()):
            if method.startswith("bootstrap"):
                got = interval_of(ranking, metric, method)
                assert (got.low, got.high) == (pytest.approx(low, rel=1e-12), 1.0), (metric, method)


def test_poisson_limits_of_whole_and_interpolated_counts():
    """Garwood: quantiles of gamma distributions of shape k and k + 1, for any k above 0."""
    counts = np.array([0.0, 0.25, 1.0, 1.5, 7.0])
    low, high = limits.poisson_limits(counts, 0.9)
    expected = [scipy.stats.gamma.ppf(0.05, k) if k else 0.0 for k in counts]
    np.testing.assert_allclose(low, expected, rtol=1e-12)
    np.testing.assert_allclose(high, scipy.stats.gamma.ppf(0.95, counts + 1), rtol=1e-12)


def test_limits_of_a_metric_without_a_lower_bound_stay_numbers():
    """Plus and minus z sqrt(v) / (1 - t) on the scale of log(1 - t), and never more than 50."""
    z = scipy.stats.norm.ppf(0.975)
    low, high = gain_limits.log_limits(-1.0, 0.04, 0.95)
    assert low == pytest.approx(1 - 2 * math.exp(0.1 * z))
    assert high == pytest.approx(1 - 2 * math.exp(-0.1 * z))
    for variance in (1e6, 1e300):
        low, high = gain_limits.log_limits(-1.0, variance, 0.95)
        assert low == pytest.approx(1 - 2 * math.exp(50))
        assert high == 1.0


def test_limits_of_a_distance_that_is_a_sum_of_few_events():
    """Nine events of .1 each: between Garwood's upper limit and that of one event less."""
    low, high = gain_limits.gamma_limits(0.1, 0.09, 0.95)
    assert high == pytest.approx(1 - 0.1 * scipy.stats.gamma.ppf(0.025, 9))
    few, many = scipy.stats.gamma.ppf(0.975, [9, 10])
    assert low == pytest.approx(1 - 0.1 * (few + many) / 2)
    # Many small events: plus and minus z standard errors.
    z = scipy.stats.norm.ppf(0.975)
    ends = gain_limits.gamma_limits(0.5, 1e-8, 0.95)
    assert ends == pytest.approx((0.5 - 1e-4 * z, 0.5 + 1e-4 * z), abs=1e-7)
    assert gain_limits.gamma_limits(1.0, 0.0, 0.95) == pytest.approx((1.0, 1.0))


def test_the_gain_area_leaves_room_for_rows_that_were_not_seen():
    """Three negatives, or three positives, above everything: what the rule of three says."""
    y = np.repeat([1, 0, 1, 0], [30, 1, 10, 200])
    s = -np.arange(241.0)
    found = pr.interval(pr.rank(y, s), "auprg", sampling="classes")
    assert found.method == "guarded"
    unseen = [size * (1 - 0.05 ** (1 / size)) for size in (40, 201)]
    first = np.append(1000.0, s)
    more = np.append(unseen[1], np.where(y == 1, 1.0, 1.0 - unseen[1] / 201))
    topped = pr.auprg(pr.rank(np.append(0, y), first, sample_weight=more))
    assert found.low <= topped + 1e-12
    more = np.append(unseen[0], np.where(y == 0, 1.0, 1.0 - unseen[0] / 40))
    led = pr.auprg(pr.rank(np.append(1, y), first, sample_weight=more))
    assert found.high >= led - 1e-12
    narrow = pr.interval(pr.rank(y, s), "auprg", method="influence", sampling="classes")
    assert found.low < narrow.low


@pytest.mark.parametrize("metric", ["auprg", "aucpr(recall=(0.4, 0.8))"])
@pytest.mark.parametrize("sampling", ["rows", "classes"])
def test_rows_without_positives_move_no_limit(metric, sampling):
    """Thresholds above the first positive, between positives and below the last."""
    y, s = Binormal(1.0).sample(25, 75, rng=3)
    kept = pr.rank(y, s, thresholds=[9.0, 5.0, 0.31, 0.3, -8.0])
    plain = pr.rank(y, s)
    assert len(kept) == len(plain) + 5
    found, expected = (pr.interval(r, metric, sampling=sampling) for r in (kept, plain))
    assert tuple(found) == pytest.approx(tuple(expected), rel=1e-12)


@pytest.mark.parametrize("estimate", [-0.5, 0.4, 1.5])
def test_bca_limits_of_what_is_mirrored_are_mirrored(estimate):
    """Also where every replicate is on one side: then half a replicate counts as on the other."""
    replicates = np.random.default_rng(3).random(60)
    low, high = limits.bca_limits(estimate, replicates, 0.05, 0.6)
    mirrored = limits.bca_limits(-estimate, -replicates, -0.05, 0.6)
    assert mirrored == pytest.approx((-high, -low), rel=1e-9)
    assert replicates.min() <= low <= high <= replicates.max()
    if estimate == 1.5:
        z0, z = scipy.stats.norm.ppf([1 - 0.5 / 60, 0.2])
        level = scipy.stats.norm.cdf(z0 + (z0 + z) / (1 - 0.05 * (z0 + z)))
        assert low == pytest.approx(np.quantile(replicates, level), rel=1e-9)


def test_gain_areas_warn_where_less_than_one_positive_is_expected_near_the_prevalence():
    """n times the prevalence: 2 of 4 rows make one, 2 of 5 less."""
    pr.interval(
        pr.rank([1, 0, 1, 0], [4, 3, 2, 1]), "auprg", sampling="classes"
    )  # warnings are errors
    with pytest.warns(ReliabilityWarning, match="gain area .* 0.8 positives are expected"):
        pr.interval(pr.rank([1, 0, 1, 0, 0], [5, 4, 3, 2, 1]), "auprg", sampling="classes")


def test_gain_areas_have_bootstrap_limits_below_zero():
    """A gain area has no lower bound: its percentiles are those of the replicates, unclipped."""
    ranking = pr.rank([0, 1, 0, 0, 1, 1, 0, 1], range(8, 0, -1))
    got = interval_of(ranking, "auprg", "bootstrap_percentile")
    assert got.estimate < 0
    assert got.low == pytest.approx(np.quantile(got.evidence.values, 0.025), rel=1e-12)
    assert got.low < got.estimate


def test_bootstrap_t_and_bca_against_scipy_in_spirit():
    """BCa of a mean-like metric: F-beta at beta=inf is recall, a mean of 0 and 1."""
    ranking = pr.rank(*Binormal().sample(60, 60, rng=4), thresholds=[0.8])
    got = pr.interval(
        ranking,
        pr.metrics.f_beta_at_threshold(0.8, beta=1000000000.0),
        method="bootstrap_bca",
        n_resamples=20000,
        rng=0,
        sampling="classes",
    )
    caught = (np.repeat(ranking.threshold, ranking.positives) >= 0.8).astype(float)
    # SciPy called the argument `random_state` before 1.15.
    named = "rng" if "rng" in signature(scipy.stats.bootstrap).parameters else "random_state"
    expected = scipy.stats.bootstrap(
        (caught,), np.mean, method="BCa", n_resamples=20_000, **{named: np.random.default_rng(1)}
    ).confidence_interval
    # Recall of 60 positives moves in steps of 1/60.
    assert got.low == pytest.approx(expected.low, abs=0.5 / 60 + 1e-9)
    assert got.high == pytest.approx(expected.high, abs=0.5 / 60 + 1e-9)


@pytest.mark.parametrize(("metric", "method"), ALL)
def test_every_interval_holds_its_estimate_and_gives_other_levels(ranking, metric, method):
    got = interval_of(ranking, metric, method)
    assert isinstance(got, MetricInterval)
    assert isinstance(got, pr.Interval)
    assert (got.metric, got.method, got.confidence_level) == (str(metric), method, 0.95)
    assert got.low < got.estimate < got.high
    assert got.standard_error > 0
    wide, narrow = got.at_level(0.99), got.at_level(0.5)
    assert wide.low <= got.low < narrow.low
    assert narrow.high < got.high <= wide.high
    # Asked again at that level, with the same replicates, it says the same.
    again = interval_of(ranking, metric, method, confidence_level=0.5)
    assert (again.low, again.high) == (narrow.low, narrow.high)
    restored = pickle.loads(pickle.dumps(got)).at_level(0.5)
    assert (restored.low, restored.high) == (narrow.low, narrow.high)
    assert set(got.to_dict()) >= {"low", "high", "estimate", "confidence_level", "method", "metric"}


@pytest.mark.filterwarnings("ignore:every bootstrap replicate")
@pytest.mark.parametrize(("metric", "method"), ALL)
@pytest.mark.parametrize("kind", ["perfect", "worst"])
def test_extreme_estimates_have_one_sided_intervals(metric, method, kind):
    y = [1] * 12 + [0] * 30 if kind == "perfect" else [0] * 30 + [1] * 12
    ranking = pr.rank(y, np.linspace(1, 0, 42), thresholds=metric.thresholds)
    got = interval_of(ranking, metric, method)
    assert np.isfinite([got.low, got.high, got.estimate]).all()
    assert got.low <= got.high
    if not method.startswith("bootstrap"):  # quantiles of biased replicates may all lie above
        assert got.low <= got.estimate <= got.high
        assert got.low < got.high
    if got.estimate == 1.0:
        assert got.low < got.high == 1.0
    if got.estimate == 0.0:
        assert got.low == 0.0


@pytest.mark.filterwarnings("ignore:every bootstrap replicate")
@pytest.mark.parametrize("method", pr.INTERVALS)
def test_one_row_of_a_class_is_enough(method):
    for y in ([1, 0], [0, 1], [1, 0, 0, 0], [0, 1, 1, 1]):
        got = pr.interval(
            pr.rank(y, range(len(y), 0, -1)), method=method, rng=0, sampling="classes"
        )
        assert 0 <= got.low <= got.estimate <= got.high <= 1


@pytest.mark.parametrize("method", ["influence", "guarded", "bootstrap_t"])
def test_a_single_positive_under_many_negatives(method):
    """The estimate of 1e-5 lies far below a quarter of a positive, off which centres are kept."""
    ranking = pr.rank(np.append(np.zeros(100_000), 1), np.arange(100_001, 0, -1))
    if method == "bootstrap_t":
        with pytest.warns(ReliabilityWarning, match="every bootstrap replicate has the same value"):
            got = pr.interval(ranking, method=method, rng=0, sampling="classes")
        assert got.low == pytest.approx(got.estimate) == got.high
    else:
        got = pr.interval(ranking, method=method, sampling="classes")
        assert got.low < got.estimate < got.high


def test_an_empty_class_raises():
    for y in ([1, 1], [0, 0]):
        with pytest.raises(UndefinedMetricError, match="has no interval"):
            pr.interval(pr.rank(y, [1, 2]), sampling="classes")


@pytest.mark.parametrize("estimator", pr.ESTIMATORS)
def test_estimators_have_the_methods_that_are_defined_for_them(ranking, estimator):
    for method in ("binomial", "logit"):
        assert (
            pr.interval(
                ranking, pr.metrics.aucpr(estimator=estimator), method=method, sampling="classes"
            ).width
            > 0
        )
    smooth = estimator in SMOOTH_ESTIMATORS
    for method in ("guarded", "influence", "bootstrap_t", "bootstrap_bca"):
        if smooth:
            got = pr.interval(
                ranking,
                pr.metrics.aucpr(estimator=estimator),
                method=method,
                rng=0,
                n_resamples=200,
                sampling="classes",
            )
            assert got.low < got.estimate < got.high
        else:
            with pytest.raises(InputError, match="bootstrap_percentile"):
                pr.interval(
                    ranking,
                    pr.metrics.aucpr(estimator=estimator),
                    method=method,
                    sampling="classes",
                )
    if estimator == "binormal":
        with pytest.raises(InputError, match="method='logit' for its interval"):
            pr.interval(
                ranking,
                pr.metrics.aucpr(estimator=estimator),
                method="bootstrap_percentile",
                sampling="classes",
            )
    else:
        got = pr.interval(
            ranking,
            pr.metrics.aucpr(estimator=estimator),
            method="bootstrap_percentile",
            rng=0,
            n_resamples=200,
            sampling="classes",
        )
        assert got.width > 0


def test_aucnpr_interval_is_the_aucpr_interval_on_another_scale(ranking):
    for method in ("guarded", "logit", "bootstrap_percentile"):
        area = pr.interval(ranking, method=method, rng=0, sampling="classes")
        normalised = pr.interval(ranking, "aucnpr", method=method, rng=0, sampling="classes")
        floor = pr.minimum_average_precision(40, 160)
        for ours, theirs in zip(normalised, area, strict=True):
            assert ours == pytest.approx((theirs - floor) / (1 - floor), abs=1e-12)


def test_a_recall_range_scales_with_its_length(ranking):
    got = pr.interval(ranking, pr.metrics.aucpr(recall=(0.5, 1.0)), sampling="classes")
    assert got.estimate == pr.aucpr(ranking, recall=(0.5, 1.0))
    assert 0 <= got.low < got.high <= 0.5
    # The lower limit is centred half way to the estimate without its bias, over the same range.
    unbiased = pr.aucpr(ranking, estimator="leave_one_out", recall=(0.5, 1.0)) / 0.5
    assert got.evidence.unbiased == pytest.approx(unbiased, rel=1e-12)


def test_another_prevalence(ranking):
    """Known prevalence: the interval is that of the reweighted ranking, with its Kish sizes."""
    for method in ("guarded", "bootstrap_percentile"):
        got = pr.interval(ranking, method=method, rng=0, prevalence=0.02)
        assert got.estimate == pytest.approx(pr.aucpr(ranking.at_prevalence(0.02)))
    same = pr.interval(ranking, prevalence=ranking.prevalence)
    np.testing.assert_allclose(
        tuple(same), tuple(pr.interval(ranking, sampling="classes")), rtol=1e-9
    )
    with pytest.raises(InputError, match="prevalence is known"):
        pr.interval(ranking, prevalence=0.02, sampling="rows")


def test_random_prevalence_is_wider_for_what_depends_on_it(ranking):
    for metric in ("aucpr", "aucnpr", "auprg"):
        fixed, random = (
            pr.interval(ranking, metric, sampling=kind) for kind in ("classes", "rows")
        )
        assert random.standard_error > fixed.standard_error
    fixed, random = (
        interval_of(ranking, "auroc", "logit", sampling=k) for k in ("classes", "rows")
    )
    assert tuple(fixed) == tuple(random)


def test_equal_weights_change_nothing():
    y, s = Binormal().sample(30, 120, rng=6)
    plain, doubled = pr.rank(y, s), pr.rank(y, s, sample_weight=np.full(150, 2.5))
    for metric in ("aucpr", "auroc", "auprg"):
        for method in rules_of(getattr(pr.metrics, metric)()):
            if method.startswith("bootstrap"):
                continue
            np.testing.assert_allclose(
                tuple(pr.interval(plain, metric, method=method, sampling="classes")),
                tuple(pr.interval(doubled, metric, method=method, sampling="classes")),
                rtol=1e-9,
            )


def test_unequal_weights_widen():
    y, s = Binormal().sample(50, 200, rng=6)
    w = np.random.default_rng(6).exponential(size=250)
    plain = pr.interval(pr.rank(y, s), sampling="classes")
    weighted = pr.interval(pr.rank(y, s, sample_weight=w), sampling="classes")
    assert weighted.standard_error > 1.1 * plain.standard_error


def test_precision_at_recall_and_recall_at_precision_are_points_of_the_curve(ranking):
    curve = pr.pr_curve(ranking)
    for recall in (0.1, 0.5, 0.775, 1.0):
        got = pr.interval(ranking, pr.metrics.precision_at_recall(recall), sampling="classes")
        assert got.estimate == pytest.approx(float(curve.at(recall)))
    precision = ranking.tp / (ranking.tp + ranking.fp)
    for least in (0.3, 0.7, 1.0):
        got = pr.interval(ranking, pr.metrics.recall_at_precision(least), rng=0, sampling="classes")
        reached = ranking.tp[precision >= least]
        assert got.estimate == (reached.max() / 40 if reached.size else 0.0)


def test_precision_at_recall_from_its_parts(ranking):
    """Where recall .5 -+ z sd is reached, and Garwood's limits of the negatives above."""
    got = pr.interval(ranking, pr.metrics.precision_at_recall(0.5), sampling="classes")
    z = scipy.stats.norm.ppf(0.975)
    order = ranking.fp  # untied, so FP at j positives is that of row j
    off = z * math.sqrt(0.25 / 40)
    fp = order[19]
    near, far = (order[math.ceil(40 * (0.5 + s * off) - 1e-9) - 1] for s in (-1, 1))
    few, many = scipy.stats.chi2.ppf([0.025, 0.975], [2 * fp, 2 * (fp + 1)]) / 2
    p = lambda count: 20 / (20 + count)  # noqa: E731
    assert got.estimate == p(fp)
    assert got.low == pytest.approx(max(0, p(fp) - math.hypot(p(fp) - p(far), p(fp) - p(many))))
    assert got.high == pytest.approx(min(1, p(fp) + math.hypot(p(fp) - p(near), p(fp) - p(few))))


def test_limits_of_precision_at_recall_end_where_precision_does():
    ranking = pr.rank([1, 1, 0, 1, 1, 1, 0, 0], np.arange(8)[::-1])
    got = pr.interval(ranking, pr.metrics.precision_at_recall(0.6), sampling="classes")
    assert (got.estimate, got.high) == (0.75, 1.0)
    one = pr.interval(
        ranking,
        pr.metrics.precision_at_recall(0.6),
        sampling="classes",
        confidence_level=math.erf(math.sqrt(0.5)),
    )
    assert one.high == 1.0
    assert one.standard_error == pytest.approx((1.0 - one.low) / 2)
    ranking = pr.rank([1, 0, 1, 1] + [0] * 100 + [1, 1], np.arange(106)[::-1])
    low = pr.interval(ranking, pr.metrics.precision_at_recall(0.6), sampling="classes").low
    assert low == 0.0


def test_a_random_prevalence_adds_to_precision_at_recall_in_squares(monkeypatch):
    """The logit of precision moves with the logit of prevalence: by p (1 - p) sqrt(1/n + 1/m)."""
    # Where the curve is straight there is nothing else to look for.
    monkeypatch.setattr(limits, "two_errors", lambda level: ())
    ranking = pr.rank(*Binormal(1.5).sample(100, 160, rng=1))
    fixed, random = (
        pr.interval(ranking, pr.metrics.precision_at_recall(0.5), sampling=sampling)
        for sampling in ("classes", "rows")
    )
    p = fixed.estimate
    own = scipy.stats.norm.ppf(0.975) * p * (1 - p) * math.sqrt(1 / 100 + 1 / 160)
    assert 0.0 < random.low < random.high < 1.0
    assert p - random.low == pytest.approx(math.hypot(p - fixed.low, own), rel=1e-9)
    assert random.high - p == pytest.approx(math.hypot(fixed.high - p, own), rel=1e-9)


def _precision_with_two_errors(positives_before, recall, n, m, z_place, z_count, side):
    """Precision if the threshold is elsewhere and the count of negatives is off, by hand.

    `positives_before` has the negatives above each positive. `side` is -1 for the nearest place.
    """
    skew = (1 - 2 * recall) * max(z_place**2 - 1, 0) / 6
    skew = min(skew, 0) if side < 0 else max(skew, 0)
    rank = recall * n + side * z_place * math.sqrt(n * recall * (1 - recall)) + skew
    passed = positives_before[min(max(math.ceil(rank), 1), n) - 1]
    tail = scipy.stats.norm.sf(z_count)
    if side < 0:
        count = scipy.stats.gamma.ppf(tail, passed) if passed else 0.0
    else:
        count = scipy.stats.gamma.isf(tail, passed + 1)
    tp = recall * n
    there = tp / (tp + passed)
    own = z_count * there * (1 - there) * math.sqrt(1 / n + 1 / m)
    return there - side * math.hypot(there - tp / (tp + count), own)


def test_precision_at_a_recall_by_a_cliff_allows_for_place_and_count_together():
    """Precision .5 for 36 positives, and then 300 negatives before the last four."""
    y = [1, 0] * 36 + [0] * 300 + [1] * 4
    before = [*range(36), *[336] * 4]
    got = pr.interval(pr.rank(y, -np.arange(376)), "precision_at_recall(0.92)")
    z = scipy.stats.norm.ppf(0.975)
    shared = [
        _precision_with_two_errors(before, 0.92, 40, 336, z * one, z * other, -1)
        for one, other in ((math.sqrt(0.75), 0.5), (0.5, math.sqrt(0.75)))
    ]
    assert got.estimate == pytest.approx(36.8 / (36.8 + 336))
    assert got.high == pytest.approx(max(shared), rel=1e-9)
    assert got.high > 36.8 / (36.8 + 30)  # the precision before the cliff, and room
    early = pr.interval(pr.rank(y, -np.arange(376)), "precision_at_recall(0.88)")
    shared = [
        _precision_with_two_errors(before, 0.88, 40, 336, z * one, z * other, 1)
        for one, other in ((math.sqrt(0.75), 0.5), (0.5, math.sqrt(0.75)))
    ]
    assert early.low <= min(shared) + 1e-12


def test_f_beta_is_that_of_the_confusion_matrix(ranking):
    threshold = float(ranking.threshold[20])
    tp, fp = ranking.tp[20], ranking.fp[20]
    for beta in (0.5, 1.0, 2.0):
        got = pr.interval(
            ranking, pr.metrics.f_beta_at_threshold(threshold, beta=beta), sampling="classes"
        )
        square = beta**2
        assert got.estimate == pytest.approx((1 + square) * tp / (tp + fp + square * 40))
    got = pr.interval(ranking, pr.metrics.f_beta_at_threshold(1000000000.0), sampling="classes")
    assert (got.estimate, got.low) == (0.0, 0.0)


def test_crossval_by_hand():
    folds = [pr.rank([1, 1, 0, 0], s) for s in ([4, 3, 2, 1], [4, 2, 3, 1], [4, 1, 3, 2])]
    values = [1.0, 5 / 6, 0.75]
    got = pr.crossval_interval(folds, confidence_level=0.5)
    mean, error = np.mean(values), np.std(values, ddof=1) / math.sqrt(3)
    t = scipy.stats.t.ppf(0.75, 2)
    np.testing.assert_allclose(tuple(got), [mean - t * error, mean + t * error])
    assert got.method == "crossval"
    assert got.at_level(0.99).high == 1.0
    with pytest.raises(InputError, match="at least two"):
        pr.crossval_interval(folds[:1])


def test_f_beta_of_folds_is_f1_unless_beta_is_given():
    """One positive of two is selected: 2 TP / (TP + FP + n), and 5 TP / (TP + FP + 4 n)."""
    folds = [pr.rank([1, 1, 0, 0], s) for s in ([4, 3, 2, 1], [4, 2, 3, 1], [4, 1, 3, 2])]
    plain = pr.crossval_interval(folds, metric=pr.metrics.f_beta_at_threshold(4))
    assert plain.estimate == pytest.approx(2 / 3)
    twice = pr.crossval_interval(folds, metric=pr.metrics.f_beta_at_threshold(4, beta=2.0))
    assert twice.estimate == pytest.approx(5 / 9)


def test_what_is_wrong_is_said(ranking):
    cases = [
        ({"method": "wald"}, "method must be one of"),
        ({"metric": "aucpr(trapezoid)"}, "estimator must be one of"),
        ({"confidence_level": 1.0}, "confidence_level must be"),
        ({"sampling": "known"}, "sampling must be one of"),
        ({"prevalence": 2.0, "sampling": "classes"}, "prevalence must be"),
        ({"method": "bootstrap_t", "n_resamples": 1}, "n_resamples must be"),
        ({"method": "bootstrap_t", "rng": -1}, "rng must be"),
        ({"metric": "aucpr(recall=(0.5, 0.2))"}, "recall must satisfy"),
    ]
    for options, message in cases:
        with pytest.raises(InputError, match=message):
            pr.interval(ranking, **options)
    cases = [
        ({"metric": "accuracy"}, "metric must be one of"),
        ({"metric": "precision_at_recall"}, "needs recall, such as"),
        ({"metric": "precision_at_recall(0)"}, "recall must be above 0"),
        ({"metric": "auroc(recall=0.5)"}, "has no option recall"),
        ({"metric": "auprg(1)"}, "was given too many options"),
        ({"metric": "f_beta_at_threshold(0.5, beta=-1)"}, "beta must not be negative"),
        ({"metric": "aucpr(__import__('os'))"}, "cannot be read"),
        ({"metric": 3}, "metric must be a metric"),
        ({"metric": "ndcg"}, "has no interval"),
        ({"metric": "auroc", "method": "guarded"}, "method must be one of"),
    ]
    for options, message in cases:
        with pytest.raises(InputError, match=message):
            pr.interval(ranking, **options)


def test_clusters_of_one_row_each_are_rows():
    y, s = Bibeta().sample(60, 240, rng=8)
    alone = pr.interval(
        pr.Rows(y, s, clusters=np.arange(300)), method="influence", sampling="classes"
    )
    plain = pr.interval(pr.rank(y, s), method="influence", sampling="classes")
    # 300/299 here, 240/239 of the negatives there.
    assert alone.standard_error == pytest.approx(plain.standard_error, rel=0.01)
    assert alone.estimate == plain.estimate


@pytest.mark.parametrize("method", ["guarded", "influence", "bootstrap_percentile"])
def test_repeated_rows_teach_nothing(method):
    y, s = Bibeta().sample(40, 160, rng=9)
    plain = pr.interval(pr.rank(y, s), method=method, rng=0, n_resamples=4000, sampling="classes")
    y3, s3 = np.repeat(y, 3), np.repeat(s, 3)
    thrice = pr.interval(
        pr.Rows(y3, s3, clusters=np.repeat(np.arange(200), 3)),
        method=method,
        rng=0,
        n_resamples=4000,
        sampling="classes",
    )
    naive = pr.interval(pr.rank(y3, s3), method=method, rng=0, n_resamples=4000, sampling="classes")
    # 4,000 replicates know a standard error to 1.1 %; three of them for each of two.
    assert thrice.standard_error == pytest.approx(plain.standard_error, rel=0.05)
    assert naive.standard_error < 0.65 * plain.standard_error


def test_rows_that_only_share_a_name_lose_little():
    """Clusters made at random: the variance is that of the rows, up to what chance does."""
    y, s = Binormal(1.5).sample(80, 720, rng=11)
    shared = np.random.default_rng(12).integers(0, 200, size=800)
    plain = pr.interval(pr.rank(y, s), method="influence", sampling="rows")
    named = pr.interval(pr.Rows(y, s, clusters=shared), method="influence", sampling="rows")
    assert named.standard_error == pytest.approx(plain.standard_error, rel=0.2)


def test_cluster_names_may_be_strings_and_are_checked():
    y, s = Binormal().sample(20, 60, rng=10)
    names = np.array([f"patient {i % 17}" for i in range(80)])
    numbers = np.arange(80) % 17
    a, b = (pr.interval(pr.Rows(y, s, clusters=c), sampling="classes") for c in (names, numbers))
    assert (a.low, a.high) == (pytest.approx(b.low), pytest.approx(b.high))
    with pytest.raises(InputError, match="at least two clusters"):
        pr.interval(pr.Rows(y, s, clusters=np.zeros(80)), sampling="classes")
    with pytest.raises(InputError, match="rows"):
        pr.interval(pr.Rows(y, s, clusters=np.zeros(79)), sampling="classes")
    with pytest.raises(InputError, match="method must be one of"):
        pr.interval(pr.Rows(y, s, clusters=names), method="logit", sampling="classes")


def test_every_rule_of_auroc_but_two_bootstraps_knows_clusters():
    y, s = Binormal(1.5).sample(40, 160, rng=1)
    rows = pr.Rows(y, s, clusters=np.arange(200) // 2)
    known = rules_of(pr.metrics.auroc(), clustered=True)
    assert list(known) == ["beta", "logit", "delong", "bootstrap_percentile"]
    for method in known:
        found = pr.interval(rows, "auroc", method=method, rng=0, n_resamples=50)
        assert found.low < found.estimate < found.high


def test_the_error_of_drawn_curves_is_half_of_one_deviation_to_both_sides(ranking):
    found = pr.interval(ranking, "precision_at_recall(0.5)", method="fiducial", rng=0)
    inner = found.at_level(0.6826894921370859)  # of a normal distribution, plus and minus one
    assert found.standard_error == pytest.approx((inner.high - inner.low) / 2)


def test_weights_of_the_negatives_scale_their_number_at_a_recall():
    """Every negative of weight 2: as many of them were seen, and each counts twice."""
    y, s = Binormal(1.5).sample(40, 160, rng=1)
    twice = pr.rank(y, s, sample_weight=np.where(y, 1.0, 2.0))
    found = pr.interval(twice, "precision_at_recall(0.5)", sampling="classes")
    z = scipy.stats.norm.ppf(0.975)
    order = pr.rank(y, s).fp
    off = z * math.sqrt(0.25 / 40)
    fp = order[19]
    _, far = (order[math.ceil(40 * (0.5 + side * off) - 1e-9) - 1] for side in (-1, 1))
    many = scipy.stats.chi2.ppf(0.975, 2 * (fp + 1)) / 2
    p = lambda count: 20 / (20 + 2 * count)  # noqa: E731
    low = p(fp) - math.hypot(p(fp) - p(far), p(fp) - p(many))
    assert found.low == pytest.approx(max(0.0, low))


class TestClusterSizes:
    """Effective sizes by what clusters do to the metric."""

    def sizes(self, y, s, clusters, weight=None):
        rows = pr.Rows(y, s, clusters=clusters, sample_weight=weight)
        sample = rows.ranked()
        return cluster_sizes(pr.metrics.aucpr().on(sample.ranking), sample)

    def test_a_row_in_each_cluster_is_worth_itself(self):
        y, s = Binormal(1.0).sample(20, 60, rng=1)
        assert self.sizes(y, s, np.arange(80)) == pytest.approx((20, 60), rel=1e-12)

    def test_rows_that_repeat_each_other_are_worth_one(self):
        y, s = Binormal(1.0).sample(20, 60, rng=2)
        found = self.sizes(np.repeat(y, 4), np.repeat(s, 4), np.repeat(np.arange(80), 4))
        assert found == pytest.approx((20, 60), rel=1e-12)

    def test_rows_that_are_not_alike_are_worth_more_than_their_clusters(self):
        """With the design effect 1 and ten clusters, (10 + 4) / (10 + 4 * 20) of the rows."""
        assert design_size(200.0, 10.0, 3.0, 3.0) == pytest.approx(200 * 14 / 90)
        assert design_size(200.0, 10.0, 2.0, 3.0) == pytest.approx(200 * 14 / 90)
        assert design_size(200.0, 10.0, 90.0, 3.0) == pytest.approx(10)
        assert design_size(200.0, 10.0, 15.0, 3.0) == pytest.approx(200 * 14 / (50 + 80))
        y, s = Binormal(1.0).sample(400, 1600, rng=3)
        n, m = self.sizes(y, s, np.arange(2000) % 100)
        assert 150 < n < 400
        assert 400 < m < 1600

    def test_a_perfect_ranking_says_nothing_of_its_clusters(self):
        y = np.repeat([1, 0], [20, 60])
        found = self.sizes(y, -np.arange(80.0), np.arange(80) // 4)
        assert found == pytest.approx((5, 15), rel=1e-6)

    def test_the_unit_of_the_weights_does_not_matter(self):
        rng = np.random.default_rng(4)
        y, s = Binormal(1.0).sample(40, 160, rng=rng)
        weight, clusters = rng.exponential(size=200), np.arange(200) % 25
        assert self.sizes(y, s, clusters, weight) == pytest.approx(
            self.sizes(y, s, clusters, 7 * weight), rel=1e-9
        )

    def test_clusters_of_independent_rows_cost_little(self):
        y, s = Binormal(1.5).sample(100, 400, rng=5)
        one, grouped = (
            pr.interval(pr.Rows(y, s, clusters=clusters)).width
            for clusters in (None, np.arange(500) % 50)
        )
        assert grouped < 1.3 * one


def test_clusters_with_a_common_effect_hold_their_level():
    """Normal scores of 30 clusters; 0.95 of the variance between clusters would be Kish's case."""
    rng, held, truth = np.random.default_rng(8), 0, Binormal(1.5 / np.sqrt(1.5)).aucpr(0.2)
    cluster = np.repeat(np.arange(30), 8)
    for _ in range(200):
        y = rng.random(240) < rng.beta(0.6, 2.4, 30)[cluster]
        s = 1.5 * y + np.sqrt(0.5) * rng.normal(size=30)[cluster] + rng.normal(size=240)
        found = pr.interval(pr.Rows(y, s, clusters=cluster))
        held += found.low <= truth <= found.high
    assert held >= 178  # fewer once in 5,000 times if it covers with 0.95


def test_limits_of_an_estimate_at_an_end_stop_there():
    ends = np.array([0.0, 0.5, 1.0])
    low, high = limits.one_sided_ends(ends, ends - 2.0, ends + 2.0, 20.0, 0.95)
    certain = 0.05 ** (1 / 20)
    np.testing.assert_allclose(low, [0.0, 0.0, certain], rtol=1e-12)
    np.testing.assert_allclose(high, [1.0 - certain, 1.0, 1.0], rtol=1e-12)


def _range_behind_a_cliff(n, m, z, odds):
    """The area from recall .5 on, of which 14 positives are above all negatives, recalls moved."""
    recall = [0.0]
    for j in range(1, n + 1):
        # Wilson's lower limit of half a positive less: p with (k/n - p)^2 = z^2 p (1 - p) / n.
        k = j - 0.5
        roots = np.roots([1 + z**2 / n, -(2 * k / n + z**2 / n), (k / n) ** 2])
        recall.append(max(float(min(roots)), recall[-1]) if j < n else 1.0)
    area = 0.0
    for j in range(1, n + 1):
        negatives = (0 if j <= 14 else m) * odds
        if recall[j] > 0.5:
            inside = recall[j] - max(recall[j - 1], 0.5)
            area += inside * recall[j] * n / (recall[j] * n + negatives)
    return area


@pytest.mark.parametrize("sampling", ["rows", "classes"])
def test_a_range_of_recall_may_begin_before_a_cliff_or_behind_it(sampling):
    """14 of 20 positives are above all negatives: in the population it may have been 10."""
    n, m = 20, 180
    ranking = pr.rank([1] * 14 + [0] * m + [1] * 6, -np.arange(n + m))
    got = pr.interval(ranking, pr.metrics.aucpr(recall=(0.5, 1.0)), sampling=sampling)
    z, spread = scipy.stats.norm.ppf(0.975), math.sqrt(1 / n + 1 / m)
    ways = [(z, 0.0)]
    if sampling == "rows":
        ways = [(z, 1.0), (z * math.sqrt(0.75), z * 0.5), (z * 0.5, z * math.sqrt(0.75))]
    area = min(_range_behind_a_cliff(n, m, by, math.exp(off * spread)) for by, off in ways)
    assert got.low == pytest.approx(area, rel=1e-9)
    assert area < 0.06 < got.estimate


def test_guarded_limits_are_nested_at_every_level():
    """Limits for unseen negatives come and go with the level; the lower one never rises."""
    rng = np.random.default_rng(8)
    for _ in range(10):
        y, s, _ = random_data(rng)
        found = pr.interval(pr.rank(y, s))
        lows, highs = zip(*map(found.at_level, np.linspace(0.02, 0.9999, 300)), strict=True)
        assert (np.diff(lows) <= 1e-12).all()
        assert (np.diff(highs) >= -1e-12).all()
        assert lows[0] <= found.estimate + 1e-12


def test_two_errors_share_every_level_that_is_not_one():
    for level in (0.5, 0.95, float(np.nextafter(1.0, 0.0))):
        for shared in limits.two_errors(level):
            quantiles = [limits.normal_quantile(each) for each in shared]
            assert np.isfinite(quantiles).all()
            if level < 0.999:
                assert np.hypot(*quantiles) == pytest.approx(limits.normal_quantile(level))


@pytest.mark.parametrize("method", ["guarded", "influence"])
def test_limits_of_the_gain_area_that_hold_by_themselves_are_on_its_own_scale(method):
    """They were on that of shares: an area below 0 had a limit above it."""
    y, s = Binormal(0.1).sample(20, 180, rng=2)
    ranking = pr.rank(y, s)
    metric = pr.metrics.auprg()
    assert pr.auprg(ranking) < 0.0
    evidence = pr.interval(ranking, metric, method=method, sampling="classes").evidence
    both, each = evidence.limits(0.9), evidence.one_sided(0.9)
    assert each[0] <= both[0] < pr.auprg(ranking) < both[1] <= each[1] <= 1.0

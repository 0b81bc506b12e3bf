"""One number for many groups: estimates, intervals, words, and paired tests over groups."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import precall as pr
from precall import metrics
from precall.exceptions import InputError, UndefinedMetricError
from precall.groups.averages import aggregate, weighted_mean
from precall.groups.downsampling import downsample_effect, undo_downsampling
from precall.groups.group_limits import t_quantile
from precall.groups.group_values import per_group
from precall.groups.paired_tests import TESTS, compare_groups
from precall.groups.ranking_by_group import rank_groups
from precall.ranking import pooling
from tests import naive_groups
from tests.datasets import tasks

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]


# --- estimates and intervals ------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["aucnpr", "aucpr", "auroc", "ndcg"])
def test_mean_and_weighted_mean_equal_their_definition(metric):
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    rankings = rank_groups(*tasks(rng, [0.1, 0.3, 0.5, 0.2, 0.4]))
    values = per_group(rankings, metric).values
    result = aggregate(rankings, metric)
    assert result.estimate == pytest.approx(values.mean(), abs=1e-14)
    # Of the group with the lowest prevalence.
    floor = metrics.parse(metric).floor(rankings[int(np.argmin(rankings.prevalence))])
    limits = naive_groups.mean_limits(
        values.tolist(), lambda degrees: stats.t.ppf(0.975, degrees), floor
    )
    assert (result.interval.low, result.interval.high) == pytest.approx(limits, abs=1e-12)
    np.testing.assert_array_equal(result.per_group, values)
    weighted = aggregate(rankings, metric, how="weighted", confidence_level=0.8)
    assert weighted.estimate == pytest.approx(np.average(values, weights=rankings.n_pos), abs=1e-14)
    slower = naive_groups.limits_over_groups(
        lambda groups: sum(n * v for n, v in groups) / sum(n for n, _ in groups),
        list(zip(rankings.n_pos.tolist(), values.tolist(), strict=True)),
        lambda degrees: stats.t.ppf(0.9, degrees),
        (floor, 1.0),
        centred=False,
    )
    assert (weighted.interval.low, weighted.interval.high) == pytest.approx(slower, abs=1e-12)
    assert weighted.interval.confidence_level == 0.8


def test_weighted_mean_with_equal_weights_is_the_mean():
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(6), 50)
    y = np.tile(np.arange(50) < 10, 6)
    rankings = rank_groups(y, rng.normal(size=300) + y, group)
    mean, weighted = (aggregate(rankings, how=how) for how in ("mean", "weighted"))
    assert weighted.estimate == pytest.approx(mean.estimate, abs=1e-14)
    # All of what leaving out a group moves counts, in log odds: (G - 1)/G of it in a mean.
    values = mean.per_group
    odds = np.log(mean.estimate / (1 - mean.estimate))
    left = (values.sum() - values) / 5
    moved = odds - np.log(left / (1 - left))
    half = t_quantile(0.95, 5) * math.sqrt(np.sum(moved**2))
    down, up = naive_groups.farther(moved.tolist())
    expected = [1 / (1 + math.exp(-end)) for end in (odds - half * down, odds + half * up)]
    assert (weighted.interval.low, weighted.interval.high) == pytest.approx(expected, abs=1e-13)
    wider = math.sqrt(6 / 5)
    assert weighted.interval.width == pytest.approx(wider * mean.interval.width, rel=0.02)


@pytest.mark.parametrize("metric", ["aucnpr", "aucpr", "auroc"])
def test_pooled_is_the_metric_of_all_rows(metric):
    rng = np.random.default_rng(3)
    y, s, group = tasks(rng, [0.1, 0.3, 0.5, 0.2, 0.4, 0.3], size=60)
    alone = {"aucnpr": pr.aucnpr, "aucpr": pr.aucpr, "auroc": pr.auroc}[metric]
    result = aggregate(rank_groups(y, s, group), metric, how="pooled")
    assert result.estimate == pytest.approx(alone(pr.rank(y, s)), abs=1e-14)


def test_weighted_means_of_unequal_groups_cover():
    """Ten groups, the largest with a third of the weight: .88 if the residuals are taken as seen.

    With 2,000 sets coverage of .94 fails once in 10,000 runs; the seed is fixed.
    """
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(4)
    covered, trials = 0, 2000
    for _ in range(trials):
        values, weights = rng.normal(0.6, 0.1, 10), np.exp(rng.normal(size=10))
        low, high = weighted_mean(values, weights)[1].limits(0.95)
        covered += low <= 0.6 <= high
    assert covered >= stats.binom.ppf(1e-4, trials, 0.94)


def test_a_group_with_all_the_weight_says_nothing_of_others():
    assert weighted_mean(np.array([0.5, 0.9]), np.array([4.0, 0.0])) == (0.5, None)


def test_coarse_cells_hardly_change_the_jackknife(monkeypatch):
    rng = np.random.default_rng(4)
    y, s, group = tasks(rng, [0.1, 0.3, 0.5, 0.2], size=2000)
    coarse = aggregate(rank_groups(y, s, group), how="pooled").interval
    monkeypatch.setattr(pooling, "_CELLS", (10**6, 10**6))
    exact = aggregate(rank_groups(y, s, group), how="pooled").interval
    assert coarse.estimate == exact.estimate
    assert coarse.width == pytest.approx(exact.width, rel=0.01)


def test_other_ways_stand_beside():
    rng = np.random.default_rng(5)
    rankings = rank_groups(*tasks(rng, [0.1, 0.5]))
    result = aggregate(rankings)
    assert set(result.beside) == {"mean aucpr", "weighted aucnpr", "pooled aucnpr"}
    assert result.beside["mean aucpr"] == aggregate(rankings, "aucpr").estimate
    assert result.beside["pooled aucnpr"] == aggregate(rankings, how="pooled").estimate
    assert set(aggregate(rankings, "aucpr", how="pooled").beside) == {
        "mean aucpr",
        "weighted aucpr",
    }


def test_result_is_one_line_and_plain_data():
    rng = np.random.default_rng(6)
    result = aggregate(rank_groups(*tasks(rng, [0.3, 0.3, 0.3])), design="independent")
    assert repr(result).startswith("Aggregate(mean aucnpr=0.")
    assert repr(result).endswith(", n=3)")
    assert json.loads(json.dumps(result.to_dict()))["n"] == 3


def test_a_list_of_rankings_will_do_except_for_pooling():
    first, second = pr.rank([1, 0, 1], [3, 2, 1]), pr.rank([1, 0], [2, 1])
    assert aggregate([first, second], "aucpr").estimate == pytest.approx((5 / 6 + 1) / 2)
    assert aggregate({"a": first, "b": second}).labels.tolist() == ["a", "b"]
    with pytest.raises(InputError, match="pooled=True"):
        aggregate([first, second], how="pooled")


def test_one_group_has_no_interval():
    result = aggregate(rank_groups([1, 0, 1], [3, 2, 1], [0, 0, 0]))
    assert result.interval is None
    assert any("no interval" in sentence for sentence in result.warnings)
    pooled = aggregate(rank_groups([1, 0, 1], [3, 2, 1], [0, 0, 0]), how="pooled")
    assert pooled.interval is None


def test_pooled_without_one_group_may_lack_a_class():
    rankings = rank_groups([1, 1, 0, 0, 0], [5, 3, 4, 2, 1], [0, 0, 0, 1, 1])
    result = aggregate(rankings, how="pooled")
    assert result.estimate == pr.aucnpr(pr.rank([1, 1, 0, 0, 0], [5, 3, 4, 2, 1]))
    assert result.interval is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"how": "micro"}, "how must be one of"),
        ({"design": "cv"}, "design must be one of"),
        ({"metric": "ndcg", "how": "pooled"}, "cannot be pooled"),
        ({"confidence_level": 95}, "confidence_level must be strictly between 0 and 1"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(InputError, match=message):
        aggregate(rank_groups([1, 0, 1, 0], [4, 3, 2, 1], [0, 0, 1, 1]), **options)


def test_pooling_needs_both_classes():
    all_positive = rank_groups([1, 1, 1], [3, 2, 1], [0, 0, 1])
    with pytest.raises(UndefinedMetricError, match="needs positives and negatives"):
        aggregate(all_positive, "aucpr", how="pooled")
    assert "pooled aucpr" not in aggregate(all_positive, "aucpr").beside


def test_all_groups_undefined_raises():
    with pytest.raises(UndefinedMetricError, match="undefined in all 2 groups"):
        aggregate(rank_groups([0, 0], [1, 2], [0, 1]))


# --- words ------------------------------------------------------------------------------------


def words(result):
    return " ".join(result.warnings)


def test_prevalence_that_differs_is_told_with_the_groups_that_dominate():
    rng = np.random.default_rng(7)
    y, s, group = tasks(rng, [0.5, 0.02, 0.02, 0.02], size=2000, signal=1.0)
    names = np.array(["gender", "b", "c", "d"])[group]
    said = words(aggregate(rank_groups(y, s, names), "aucpr", design="independent"))
    assert "Prevalence differs between groups, from 0.0" in said
    assert "the 1 of 4 groups with the highest prevalence ('gender') make" in said
    assert "AUCNPR instead" in said
    alike = tasks(rng, [0.3, 0.35, 0.4])
    assert aggregate(rank_groups(*alike), "aucpr", design="independent").warnings == ()


def test_incomparable_scores_are_told_and_comparable_ones_are_not():
    rng = np.random.default_rng(8)
    shifted = aggregate(rank_groups(*tasks(rng, [0.3] * 5, shift=1.0)), how="pooled")
    assert "Pooled scores look incomparable" in words(shifted)
    assert shifted.comparability.p_value < 1e-6
    assert shifted.comparability.within > shifted.comparability.between + 0.05
    alike = aggregate(rank_groups(*tasks(rng, [0.3] * 5)), how="pooled", design="independent")
    assert alike.warnings == ()


def test_comparability_is_the_smaller_of_two_kruskal_wallis_tests_doubled():
    """Positives by their scores; negatives by the positives that they lie between or tie with."""
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(11)
    for shift in (0.0, 0.2, 0.5):
        y, s, group = tasks(rng, [0.3] * 3, size=60, shift=shift)
        levels = np.unique(s[y])
        place = np.searchsorted(levels, s) + np.searchsorted(levels, s, side="right")
        tests = [
            stats.kruskal(*(place[(y == label) & (group == g)] for g in np.unique(group))).pvalue
            for label in (True, False)
        ]
        found = aggregate(rank_groups(y, s, group), "aucpr", how="pooled").comparability
        assert found.p_value == pytest.approx(min(1.0, 2 * min(tests)), rel=1e-9)


def test_a_shift_of_the_negatives_alone_is_found():
    rng = np.random.default_rng(9)
    y, s, group = tasks(rng, [0.05] * 4, size=1000)
    moved = np.where(y, s, s + group)
    assert aggregate(rank_groups(y, moved, group), how="pooled").comparability.p_value < 1e-6


def test_folds_are_warned_about_with_the_number():
    rng = np.random.default_rng(11)
    rankings = rank_groups(*tasks(rng, [0.3] * 5))
    said = words(aggregate(rankings, design="folds"))
    assert "0.60 to 0.95" in said
    assert "If these 5 groups are folds" in words(aggregate(rankings))
    assert "folds" not in words(aggregate(rankings, design="independent"))
    many = rank_groups(*tasks(rng, [0.3] * 30, size=50))
    assert "folds" not in words(aggregate(many))


def test_undefined_groups_are_counted():
    y, s, g = [1, 0, 0, 0, 1, 0], [6, 5, 4, 3, 2, 1], [0, 0, 1, 1, 2, 2]
    skipped, zero = (aggregate(rank_groups(y, s, g), undefined=how) for how in ("skip", "zero"))
    assert (skipped.n, skipped.n_undefined, skipped.estimate) == (2, 1, 1.0)
    assert (zero.n, zero.estimate) == (3, pytest.approx(2 / 3))
    assert "1 of 3 groups have no value of aucnpr" in words(skipped)
    assert "they count as 0" in words(zero)
    assert "no width" in words(skipped)
    # Plain data have no NaN: a value that is not there is None, the others are themselves.
    listed = skipped.to_dict()["per_group"]
    assert listed.count(None) == 1
    assert [value for value in listed if value is not None] == [1.0, 1.0]


# --- what the paper's tables let us check -----------------------------------------------------


def test_arithmetic_of_boyd_2012_table_3():
    # AUCPR and AUCNPR at given ratios of positives to negatives, printed to three digits; the floor
    # of the area under the curve is that of the prevalence. Both columns are rounded, so the
    # recomputed AUCNPR may be off by half a digit of each.
    rows = {
        1: (0.851, 0.785, 0.330, 0.316),
        2: (0.740, 0.680, 0.329, 0.315),
        3: (0.678, 0.627, 0.343, 0.329),
        4: (0.701, 0.665, 0.314, 0.299),
        5: (0.599, 0.560, 0.334, 0.320),
        10: (0.383, 0.352, 0.258, 0.242),
    }
    for negatives, (here, normalised, original, original_normalised) in rows.items():
        for ratio, area, expected in (
            (negatives, here, normalised),
            (24, original, original_normalised),
        ):
            floor = pr.minimum_aucpr(1 / (1 + ratio))
            slack = 0.0005 + 0.0005 / (1 - floor)
            assert (area - floor) / (1 - floor) == pytest.approx(expected, abs=slack)


def test_arithmetic_of_boyd_2012_table_2():
    # The means of the six predicates, and the prevalences that the pairs imply: the text says that
    # gender's is close to .5 (range of AUCPR from .31) and genre's close to .05 (from .02).
    from scipy.optimize import brentq

    printed = {
        "actor": (1.000, 1.000),
        "director": (1.000, 1.000),
        "gender": (0.509, 0.325),
        "genre": (0.624, 0.611),
        "movie": (0.267, 0.141),
        "workedUnder": (1.000, 1.000),
    }
    mean_area, mean_normalised = np.mean(list(printed.values()), axis=0)
    assert mean_area == pytest.approx(0.733, abs=0.0005 + 1e-9)
    assert mean_normalised == pytest.approx(0.680, abs=0.0005 + 1e-9)
    assert pr.minimum_aucpr(0.5) == pytest.approx(0.31, abs=0.005)
    assert pr.minimum_aucpr(0.05) == pytest.approx(0.02, abs=0.006)

    def implied(name):
        def gap(prevalence):
            floor = pr.minimum_aucpr(prevalence)
            return (printed[name][0] - floor) / (1 - floor) - printed[name][1]

        return brentq(gap, 1e-6, 0.999)

    assert implied("gender") == pytest.approx(0.45, abs=0.02)
    assert implied("genre") == pytest.approx(0.065, abs=0.01)


# --- downsampling -----------------------------------------------------------------------------


@pytest.mark.parametrize("kept", range(1, 7))
def test_downsampled_average_precision_is_the_mean_over_all_subsets(kept):
    rng = np.random.default_rng(kept)
    y = np.array([1, 1, 1, 0, 0, 0, 0, 0, 0])
    for s in (rng.permutation(9), rng.integers(0, 4, 9)):
        effect = downsample_effect(pr.rank(y, s), ratio=kept / 6)
        expected = naive_groups.expected_downsampled_average_precision(y, s, kept)
        assert effect.n_kept == kept
        assert effect.downsampled.aucpr == pytest.approx(float(expected), abs=1e-14)
        floor = pr.minimum_average_precision(3, kept)
        assert effect.downsampled.floor == floor
        assert effect.downsampled.aucnpr == pytest.approx((float(expected) - floor) / (1 - floor))


def test_large_counts_are_summed_as_exactly_as_term_by_term():
    from precall.groups.downsampling import _expected_precision

    rng = np.random.default_rng(51)
    for _ in range(60):
        m = int(10 ** rng.uniform(1, 6))
        kept, tp = int(rng.integers(1, m + 1)), int(10 ** rng.uniform(0, 4))
        fp = int(min(m, 10 ** rng.uniform(0, 6)))
        expected = naive_groups.expected_precision(tp, fp, m, kept)
        found = _expected_precision(np.array([float(tp)]), np.array([float(fp)]), m, kept)[0]
        assert found == pytest.approx(expected, rel=1e-12)  # what the documentation promises


def test_keeping_everything_changes_nothing():
    rng = np.random.default_rng(52)
    y = rng.random(200) < 0.2
    ranking = pr.rank(y, rng.normal(size=200) + y)
    effect = downsample_effect(ranking, ratio=1.0)
    assert effect.downsampled.aucpr == pytest.approx(effect.original.aucpr, abs=1e-15)
    assert effect.downsampled.floor == effect.original.floor
    assert effect.original.aucpr == pr.aucpr(ranking)
    assert effect.original.aucnpr == pytest.approx(pr.aucnpr(ranking), abs=1e-15)
    assert undo_downsampling(ranking, ratio=1).aucpr == pytest.approx(pr.aucpr(ranking), abs=1e-15)
    assert json.loads(json.dumps(effect.to_dict()))["n_kept"] == ranking.n_neg


def test_a_downsampled_test_set_can_be_corrected_back():
    # Mean over 300 random halvings to a twentieth: within 4 standard errors plus 1 % of the truth,
    # and nearer than plain reweighting.
    rng = np.random.default_rng(53)
    y = rng.random(20_000) < 0.04
    s = rng.normal(size=20_000) + 2 * y
    full = pr.aucpr(pr.rank(y, s))
    ours, theirs = np.flatnonzero(y), np.flatnonzero(~y)
    corrected, plain = [], []
    for _ in range(300):
        rows = np.concatenate([ours, rng.choice(theirs, theirs.size // 20, replace=False)])
        ranking = pr.rank(y[rows], s[rows])
        corrected.append(undo_downsampling(ranking, prevalence=y.mean()).aucpr)
        plain.append(pr.aucpr(ranking.at_prevalence(y.mean())))
    error = np.std(corrected) / math.sqrt(300)
    assert np.mean(corrected) == pytest.approx(full, abs=4 * error + 0.01 * full)
    assert abs(np.mean(corrected) - full) < abs(np.mean(plain) - full)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: downsample_effect(r, ratio=0), "ratio must be above 0"),
        (lambda r: downsample_effect(r, ratio=1.5), "ratio must be above 0 and at most 1"),
        (lambda r: downsample_effect(r.at_prevalence(0.1), ratio=0.5), "no weights"),
        (lambda r: undo_downsampling(r), "either ratio or prevalence"),
        (lambda r: undo_downsampling(r, ratio=0.5, prevalence=0.1), "either ratio or prevalence"),
        (lambda r: undo_downsampling(r, prevalence=0.9), "at least the 2 negatives"),
        (lambda r: undo_downsampling(r, ratio=0.0), "at least the 2 negatives"),
    ],
)
def test_bad_downsampling_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call(pr.rank([1, 0, 1, 0], [4, 3, 2, 1]))


def test_downsampling_needs_both_classes():
    with pytest.raises(UndefinedMetricError, match="needs positives and negatives"):
        downsample_effect(pr.rank([1, 1], [1, 2]), ratio=0.5)


# --- paired tests -----------------------------------------------------------------------------


def test_paired_tests_equal_scipy():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(61)
    for size in (3, 12, 60):
        first, second = rng.normal(0.3, 1, size), rng.normal(size=size)
        ours = {test: compare_groups(first, second, test=test, rng=1) for test in TESTS}
        t = stats.ttest_rel(first, second)
        assert ours["t"].p_value == pytest.approx(t.pvalue, rel=1e-10)
        assert ours["t"].statistic == pytest.approx(t.statistic, rel=1e-10)
        limits = t.confidence_interval()
        assert tuple(ours["t"].interval) == pytest.approx((limits.low, limits.high), rel=1e-9)
        wins = int(np.sum(first > second))
        assert ours["sign"].p_value == pytest.approx(stats.binomtest(wins, size).pvalue, rel=1e-10)
        assert ours["wilcoxon"].p_value == pytest.approx(stats.wilcoxon(first, second).pvalue)
        assert (ours["t"].wins, ours["t"].losses) == (wins, size - wins)


def test_corrected_t_is_nadeau_and_bengios():
    difference = np.array([0.02, 0.05, -0.01, 0.04, 0.03])
    result = compare_groups(difference, np.zeros(5), test="corrected_t")
    expected = difference.mean() / math.sqrt((1 / 5 + 1 / 4) * difference.var(ddof=1))
    assert result.statistic == pytest.approx(expected, rel=1e-12)
    assert result.interval.width == pytest.approx(
        compare_groups(difference, np.zeros(5)).interval.width * math.sqrt((1 / 5 + 1 / 4) * 5)
    )
    repeated = compare_groups(difference, np.zeros(5), test="corrected_t", test_to_train=0.1)
    assert abs(repeated.statistic) > abs(result.statistic)


@pytest.mark.parametrize("test", ["t", "corrected_t"])
def test_exchanging_the_models_turns_the_sign_of_t(test):
    for difference in ([0.25, -0.25, 0.0], [0.25, -0.25, 0.25]):
        there = compare_groups(difference, np.zeros(3), test=test)
        back = compare_groups(np.zeros(3), difference, test=test)
        assert there.statistic == -back.statistic
        assert there.p_value == back.p_value
    balanced = compare_groups([0.25, -0.25, 0.0], np.zeros(3), test=test)
    assert (balanced.statistic, balanced.p_value) == (0.0, 1.0)


def test_two_groups_have_one_degree_of_freedom():
    """Whose quartiles are -1 and 1: half of the interval is the standard error."""
    found = compare_groups([0.5, 0.25], [0.25, 0.125], confidence_level=0.5).interval
    assert tuple(found) == pytest.approx((0.1875 - 0.0625, 0.1875 + 0.0625), rel=1e-12)


def test_an_interval_says_how_its_error_was_found():
    methods = {
        test: compare_groups([0.5, 0.25], [0.25, 0.5], test=test).interval.method
        for test in ("t", "corrected_t", "sign")
    }
    assert methods == {
        "t": "t over groups",
        "corrected_t": "corrected t over groups",
        "sign": "t over groups",
    }


def test_randomisation_is_exact_for_few_groups_and_random_for_many():
    rng = np.random.default_rng(62)
    for size in (1, 4, 9):
        difference = np.round(rng.normal(0.3, 1, size), 1)
        found = compare_groups(difference, np.zeros(size), test="randomisation").p_value
        assert found == pytest.approx(
            naive_groups.signed_permutation_p_value(difference), abs=1e-15
        )
    difference = rng.normal(0.4, 1, 25)
    drawn = compare_groups(difference, np.zeros(25), test="randomisation", rng=3)
    again = compare_groups(difference, np.zeros(25), test="randomisation", rng=3)
    assert drawn.p_value == again.p_value
    # Close to the t test, which is its large-sample form: 5 standard errors of the draws and .005.
    near = compare_groups(difference, np.zeros(25)).p_value
    assert drawn.p_value == pytest.approx(near, abs=5 * math.sqrt(near / 9999) + 0.005)


def exact_randomisation(difference):
    """Share of sign assignments of whole differences that reach the observed sum, one by one."""
    sums = {0: 1}
    for step in difference:
        added = {}
        for total, ways in sums.items():
            for moved in (total + step, total - step):
                added[moved] = added.get(moved, 0) + ways
        sums = added
    observed = abs(sum(difference))
    return sum(ways for total, ways in sums.items() if abs(total) >= observed) / 2 ** len(
        difference
    )


@pytest.mark.parametrize("seed", range(3))
def test_random_assignments_find_the_exact_share(seed):
    difference = np.random.default_rng(seed).integers(-3, 6, 20)
    expected = exact_randomisation(difference.tolist())
    found = compare_groups(
        difference, np.zeros(20), test="randomisation", n_resamples=40_000, rng=seed
    )
    # Six standard errors of the draws, and the observed assignment that is added to them.
    error = math.sqrt(expected * (1 - expected) / 40_000)
    assert found.p_value == pytest.approx(expected, abs=6 * error + 1 / 40_000)
    assert found.statistic == pytest.approx(difference.mean())


@pytest.mark.numerics
def test_assignments_that_miss_the_observed_mean_by_rounding_have_reached_it():
    """Tenths are not exact: their sums differ in the last digits, where those of ones are equal."""
    whole = np.where(np.arange(400) < 206, 1.0, -1.0)
    found = [
        compare_groups(unit * whole, np.zeros(400), test="randomisation", n_resamples=999, rng=5)
        for unit in (1.0, 0.1)
    ]
    assert found[0].p_value == found[1].p_value


def test_the_observed_assignment_is_one_of_those_drawn():
    """The smallest p-value is one in n + 1; with a mean of 0 every assignment reaches it."""
    same = compare_groups(np.ones(40), np.zeros(40), test="randomisation", n_resamples=199, rng=0)
    assert same.p_value == 1 / 200
    zero = compare_groups(
        np.tile([1.0, -1.0], 10), np.zeros(20), test="randomisation", n_resamples=199, rng=0
    )
    assert zero.p_value == 1.0


def test_assignments_that_miss_the_observed_sum_by_rounding_have_reached_it():
    """Differences of 0.1 to 0.3 as floats: turned sums differ in their last bits only."""
    values = np.array([0.1, 0.2, 0.3, 0.7, 0.1, 0.2]) * 3
    whole = np.rint(values * 10).astype(int)
    for signs in ([1, 1, -1, 1, 1, -1], [1, -1, 1, 1, -1, 1]):
        found = compare_groups(values * signs, np.zeros(6), test="randomisation")
        assert found.p_value == exact_randomisation((whole * signs).tolist())
    # A millionth of the largest is a difference, and not rounding.
    moved = np.array([1.0, 1.0, 1.0, 1.0 + 1e-6])
    turned = compare_groups(moved * [1, 1, 1, -1], np.zeros(4), test="randomisation")
    # Of the 16, the sums 2 - 1e-6 (this one), 2 + 1e-6 three times, 4 and their mirror images.
    assert turned.p_value == 10 / 16
    other = compare_groups(moved * [1, 1, -1, 1], np.zeros(4), test="randomisation")
    assert other.p_value == 8 / 16


def test_overlap_of_two_folds_is_one():
    difference = np.array([0.02, 0.05])
    result = compare_groups(difference, np.zeros(2), test="corrected_t")
    expected = difference.mean() / math.sqrt((1 / 2 + 1) * difference.var(ddof=1))
    assert result.statistic == pytest.approx(expected, rel=1e-12)
    three = np.array([0.02, 0.05, 0.03])
    result = compare_groups(three, np.zeros(3), test="corrected_t")
    expected = three.mean() / math.sqrt((1 / 3 + 1 / 2) * three.var(ddof=1))
    assert result.statistic == pytest.approx(expected, rel=1e-12)
    with pytest.raises(InputError, match="test_to_train"):
        compare_groups(three, np.zeros(3), test="corrected_t", test_to_train=-0.1)
    plain = compare_groups(three, np.zeros(3), test="corrected_t", test_to_train=0.0)
    assert plain.p_value == compare_groups(three, np.zeros(3)).p_value


def test_rankings_are_compared_group_by_group():
    rng = np.random.default_rng(64)
    y, s, query = tasks(rng, [0.2] * 10, size=30)
    good, poor = rank_groups(y, s + y, query), rank_groups(y, s, query)
    result = compare_groups(good, poor, pr.metrics.precision_at_k(5))
    expected = (
        per_group(good, pr.metrics.precision_at_k(5)).values
        - per_group(poor, pr.metrics.precision_at_k(5)).values
    )
    assert result.difference == pytest.approx(expected.mean(), abs=1e-14)
    assert (result.metric, result.n) == ("precision_at_k(5)", 10)
    assert repr(result).startswith("GroupComparison(precision_at_k(5) +")
    assert json.loads(json.dumps(result.to_dict()))["test"] == "t"


def test_rankings_in_a_list_are_no_values():
    rng = np.random.default_rng(65)
    y, s, query = tasks(rng, [0.2] * 3, size=30)
    listed = list(rank_groups(y, s, query))
    with pytest.raises(InputError, match=r"first .* rankings in a list: pass RankingSet\.from_"):
        compare_groups(listed, listed)


@pytest.mark.parametrize("number", [0.5, np.array(0.5), None])
def test_single_numbers_are_no_values_of_groups(number):
    with pytest.raises(InputError, match="first"):
        compare_groups(number, [0.1, 0.2])


def test_groups_without_a_value_are_left_out_of_both():
    result = compare_groups([0.5, np.nan, 0.7], [0.4, 0.2, 0.5])
    assert (result.n, result.wins) == (2, 2)


def test_no_difference_at_all():
    same = np.array([0.3, 0.4, 0.5])
    for test in TESTS:
        result = compare_groups(same, same, test=test)
        assert result.p_value == 1.0
        assert result.ties == 3
    constant = compare_groups(same + 0.25, same)
    assert constant.p_value < 1e-10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0], [1.0]), "first has 2, second has 1"),
        (([1.0], [0.5]), "needs at least two groups"),
        (([np.nan], [0.5]), "no group in which both"),
    ],
)
def test_bad_comparisons_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        compare_groups(*arguments)


def test_comparisons_need_the_same_groups():
    first, second = rank_groups([1, 0], [2, 1], [0, 0]), rank_groups([1, 0], [2, 1], [1, 1])
    with pytest.raises(InputError, match="same groups"):
        compare_groups(first, second)
    with pytest.raises(InputError, match="both be RankingSets"):
        compare_groups(first, [0.5])
    with pytest.raises(InputError, match="test_to_train must be finite"):
        compare_groups([1.0, 2.0], [0.0, 1.0], test="corrected_t", test_to_train=-1)


def test_limits_keep_to_the_range_of_the_metric_and_to_no_other():
    """Areas of precision-recall gain may be negative."""
    rng = np.random.default_rng(5)
    y, s, group = tasks(rng, [0.3, 0.5, 0.4])
    for how in ("mean", "weighted"):
        result = aggregate(rank_groups(y, -s, group), "auprg", how=how)
        assert result.estimate < 0
        assert result.interval.low < result.estimate < result.interval.high <= 1

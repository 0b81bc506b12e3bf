"""Rounding decides nothing: ties, verdicts and bounds are the same whatever added up the numbers.

These tests run under several BLAS kernels, with processor features switched off, and with one and
two threads (`make numerics`). Before a tolerance is widened here: find out what is not exact.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import precall as pr
from precall import _rounding, _threads
from precall.evaluation import evaluate
from precall.inference.limits import bca_limits
from precall.points.certificates import passes
from precall.ranking import counting
from tests.datasets import random_data

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.PrecallWarning"),
]


def weighted_rows(size, seed=0, levels=1000):
    rng = np.random.default_rng(seed)
    y = rng.random(size) < 0.1
    return y, rng.integers(0, levels, size) / levels, rng.random(size)


# --- comparing models -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sampling", ["classes", "rows"])
def test_models_that_order_the_rows_alike_share_the_probability_of_being_best(seed, sampling):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(500) < 60)
    a, b = rng.normal(size=500) + y, rng.normal(size=500) + y
    scores = {"a": a, "b": b, "a again": np.exp(a), "a thrice": 3 * a - 7}
    result = pr.compare(y, scores, sampling=sampling)
    alone = pr.compare(y, {"a": a, "b": b}, sampling=sampling)
    best = result.probability_best
    assert best["a"] == best["a again"] == best["a thrice"]
    assert sum(best.values()) == pytest.approx(1, abs=1e-12)
    assert best["b"] == pytest.approx(alone.probability_best["b"], abs=1e-12)
    for pair in (("a", "a again"), ("a", "a thrice"), ("a again", "a thrice")):
        assert result.differences[pair] == 0
        assert result.unadjusted_p_values[pair] == 1
        assert (result.intervals[pair].low, result.intervals[pair].high) == (0, 0)


def test_two_equal_models_are_a_coin_toss():
    y, score, _ = weighted_rows(300)
    for method in ("influence", "bootstrap", "permutation"):
        result = pr.compare(
            y,
            {"a": score, "b": 2 * score},
            method=method,
            n_resamples=99,
            rng=0,
            sampling="classes",
        )
        assert result.probability_best == {"a": 0.5, "b": 0.5}


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_what_counts_as_tied_grows_with_the_scale(scale):
    steps = np.array([0.0, 0.5e-12, 0.5, 0.5 + 4e-12, 1.0])
    assert (
        _rounding.tied(scale * steps, scale).tolist() == (scale * steps[[0, 0, 2, 3, 4]]).tolist()
    )


def test_models_of_equal_area_are_ranked_in_the_order_given():
    """(1 + 1/6) / 2 and (1/2 + 2/3) / 2 are both 7/12, and not the same floating-point number."""
    y, first, second = seven_twelfths()
    forward = pr.compare(
        y, {"one": first, "two": second, "none": np.zeros(y.size)}, sampling="classes"
    )
    backward = pr.compare(
        y, {"two": second, "one": first, "none": np.zeros(y.size)}, sampling="classes"
    )
    assert forward.ranked == ["one", "two", "none"]
    assert backward.ranked == ["two", "one", "none"]
    assert forward.differences["one", "two"] == 0


# --- groups -----------------------------------------------------------------------------------


def seven_twelfths():
    """Two orders of twelve rows with two positives: at ranks 1 and 12, and at ranks 2 and 3."""
    y = np.append(np.ones(2), np.zeros(10))
    first, second = np.empty(12), np.empty(12)
    first[:2], first[2:] = [12, 1], np.arange(2, 12)
    second[:2], second[2:] = [11, 10], [12, *range(1, 10)]
    return y, first, second


@pytest.mark.parametrize("test", ["t", "corrected_t", "randomisation", "wilcoxon", "sign"])
def test_areas_that_are_equal_in_every_group_are_no_evidence(test):
    y, first, second = (np.tile(column, 12) for column in seven_twelfths())
    groups = np.repeat(np.arange(12), 12)
    sets = [pr.rank_groups(y, column, groups) for column in (first, second)]
    result = pr.compare_groups(*sets, "aucpr", test=test)
    assert (result.wins, result.losses, result.ties) == (0, 0, 12)
    assert result.p_value == 1
    assert result.difference == 0


def test_wilcoxon_ranks_differences_that_are_equal_but_for_rounding_alike():
    exact = np.array([3, 3, 3, -3, 3, 4, -4, 5, 3, 3]) / 8  # halves of powers of two: exact
    tenths = np.array([0.1 + 0.2, 0.3, 0.5 - 0.2, -0.3, 0.7 - 0.4, 0.4, -0.4, 0.5, 0.3, 0.3])
    zero = np.zeros(10)
    expected = pr.compare_groups(exact, zero, test="wilcoxon")
    found = pr.compare_groups(tenths, zero, test="wilcoxon")
    assert found.statistic == expected.statistic
    assert found.p_value == expected.p_value


def test_groups_of_one_value_have_an_interval_without_width():
    y, first, _ = (np.tile(column, 7) for column in seven_twelfths())
    groups = pr.rank_groups(y, first, np.repeat(np.arange(7), 12))
    result = pr.aggregate(groups, "aucpr", how="mean", design="independent")
    assert result.interval.width == 0
    assert any("same value" in warning for warning in result.warnings)


# --- guaranteed bounds ------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ["average_precision", "davis_goadrich"])
def test_tie_bounds_contain_what_was_coarsened(estimator):
    rng = np.random.default_rng(3)
    for _ in range(1500):
        y, s, _ = random_data(rng)
        ranking = pr.rank(y, s)
        bounds = pr.tie_bounds(
            ranking.coarsen(1 + int(rng.integers(len(ranking)))), estimator=estimator
        )
        assert pr.aucpr(ranking, estimator=estimator) in bounds


@pytest.mark.parametrize("estimator", ["average_precision", "davis_goadrich"])
def test_tie_bounds_without_ties_are_as_tight_as_the_sums(estimator):
    rng = np.random.default_rng(4)
    y = rng.random(20_000) < 0.3
    ranking = pr.rank(y, rng.normal(size=y.size) + y)
    bounds = pr.tie_bounds(ranking, estimator=estimator)
    assert bounds.low < bounds.estimate < bounds.high
    assert bounds.width < 1e-13


def test_the_bound_on_the_error_of_a_sum_holds():
    """The exact average precision lies within the margin about the computed one."""
    rng = np.random.default_rng(5)
    for weighted in (False, True):
        for _ in range(100):
            y, s, _ = random_data(rng)
            w = rng.random(len(y)) if weighted else np.ones(len(y))
            exact = exact_average_precision(y, s, w)
            margin = _rounding.area_error(len(y), exact_counts=not weighted)
            computed = pr.aucpr(pr.rank(y, s, sample_weight=w if weighted else None))
            assert abs(Fraction(computed) - exact) <= Fraction(margin) * exact


def test_the_bound_on_the_error_grows_with_the_rows():
    """Twice 16 units per term and 16 per pairwise sum, one per halving, two per weighted row."""
    twice = 2.0 * np.finfo(float).eps
    assert _rounding.area_error(2**20 - 1, exact_counts=True) == (16 + 16 + 20) * twice
    assert _rounding.area_error(2**10 - 1, exact_counts=False) == (16 + 16 + 10 + 2 * 1023) * twice


def exact_average_precision(y, s, w):
    total, area = Fraction(0), Fraction(0)
    for label, score, weight in zip(y, s, w, strict=True):
        if label != 1 or weight == 0:
            continue
        chosen = [i for i in range(len(y)) if s[i] >= score]
        found = sum((Fraction(float(w[i])) for i in chosen if y[i] == 1), Fraction(0))
        selected = sum((Fraction(float(w[i])) for i in chosen), Fraction(0))
        total += Fraction(float(weight))
        area += Fraction(float(weight)) * found / selected
    return area / total


# --- weights, cores and zeros -----------------------------------------------------------------


def test_weighted_rankings_do_not_depend_on_the_order_of_the_rows():
    y, s, w = weighted_rows(20_000, levels=50)
    ranking = pr.rank(y, s, sample_weight=w)
    grouped = pr.rank_groups(y, s, np.zeros(y.size, dtype=int), sample_weight=w)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(y.size)
        again = pr.rank(y[order], s[order], sample_weight=w[order])
        assert again == ranking
        assert again.moments == ranking.moments
        groups = np.zeros(y.size, dtype=int)
        assert pr.rank_groups(y[order], s[order], groups, sample_weight=w[order])[0] == grouped[0]


@pytest.mark.parametrize("spread", [1, 1e8, 1e30])
def test_sums_are_exact_to_the_last_bit_or_two_in_any_order(spread):
    rng = np.random.default_rng(9)
    values = rng.random(5000) * spread ** rng.random(5000)
    edges = np.array([0, 0, 1, 1700, 1700, 5000])
    expected = [
        float(sum(map(Fraction, values[start:stop].tolist()), Fraction(0)))
        for start, stop in itertools.pairwise(edges)
    ]
    found = counting.segment_sums(values, edges)
    np.testing.assert_allclose(found, expected, rtol=3e-16, atol=0)
    shuffled = values.copy()
    rng.shuffle(shuffled[1:1700])
    rng.shuffle(shuffled[1700:])
    assert counting.segment_sums(shuffled, edges).tolist() == found.tolist()
    whole = np.rint(values[:100] / spread * 1000)
    assert counting.sum_of(whole) == int(sum(map(int, whole)))


@pytest.mark.parametrize("exponent", [-900, -300, -60, 60, 300, 900])
def test_sums_of_weights_keep_their_digits_on_every_scale(exponent):
    values = np.random.default_rng(5).random(50)
    edges = np.array([0, 7, 7, 30, 50])
    scaled = counting.segment_sums(np.ldexp(values, exponent), edges)
    assert scaled.tolist() == np.ldexp(counting.segment_sums(values, edges), exponent).tolist()


@pytest.mark.parametrize("weighted", [False, True])
def test_rankings_do_not_depend_on_the_number_of_cores(weighted, monkeypatch):
    y, s, w = weighted_rows(250_000)
    w = w if weighted else None
    found = []
    for cores in (1, 2, 3, 8):
        monkeypatch.setattr(_threads, "available_cores", lambda cores=cores: cores)
        found.append(pr.rank(y, s, sample_weight=w))
    for ranking in found[1:]:
        assert ranking == found[0]
        assert ranking.moments == found[0].moments


def test_sums_of_weights_are_the_same_on_every_machine():
    """Written down once; a processor that sorts or adds up otherwise must give the same bits."""
    y, s, w = weighted_rows(250_000, seed=7)
    ranking = pr.rank(y, s, sample_weight=w)
    assert ranking.n_pos.hex() == "0x1.82b5d629a16b0p+13"
    assert ranking.n_neg.hex() == "0x1.b7ca50d451520p+16"
    assert ranking.moments.positives[1].hex() == "0x1.059281e387b81p+10"
    assert ranking.moments.negatives[1].hex() == "0x1.2590710dbcc8bp+13"
    assert pr.aucpr(ranking).hex() == "0x1.9a3afb4f89333p-4"


@pytest.mark.parametrize("zeros", list(itertools.product([0.0, -0.0], repeat=3)), ids=str)
def test_there_is_one_zero(zeros):
    y, s = [1, 1, 0, 1], [*zeros, 1.0]
    weights = [1.5, 2.5, 0.5, 1.0]
    builder = pr.RankingBuilder(
        thresholds=[score for label, score in zip(y, s, strict=True) if label]
    )
    builder.update(y, s)
    found = [
        pr.rank(y, s),
        pr.rank(y, s, sample_weight=weights),
        pr.rank_groups(y, s, [0] * 4)[0],
        pr.rank_groups(y, s, [0] * 4, sample_weight=weights)[0],
        builder.ranking(),
    ]
    for ranking in found:
        assert ranking.threshold.tolist() == [1.0, 0.0]
        assert not np.signbit(ranking.threshold).any()


# --- thresholds -------------------------------------------------------------------------------


def exact_best(y, s, value):
    """First of the rows, highest threshold first, that has the highest exact value."""
    thresholds = sorted({score for label, score in zip(y, s, strict=True) if label}, reverse=True)
    n, m = sum(map(int, y)), sum(1 - int(label) for label in y)
    values = []
    for threshold in thresholds:
        chosen = [int(label) for label, score in zip(y, s, strict=True) if score >= threshold]
        tp = sum(chosen)
        values.append(value(tp, len(chosen) - tp, n, m))
    return thresholds[values.index(max(values))]


CRITERIA = {
    "f1": ({}, lambda tp, fp, n, m: Fraction(2 * tp, tp + fp + n)),
    "f_beta": ({"beta": 0.7}, lambda tp, fp, n, m: 149 * tp / Fraction(100 * (tp + fp) + 49 * n)),
    "balanced_accuracy": ({}, lambda tp, fp, n, m: Fraction(tp, n) - Fraction(fp, m)),
    "cost": ({"cost_ratio": 0.1}, lambda tp, fp, n, m: Fraction(tp, 10) - fp),
}


@pytest.mark.parametrize("metric", CRITERIA)
def test_of_equally_good_thresholds_the_highest_is_the_best(metric):
    options, value = CRITERIA[metric]
    rng = np.random.default_rng(11)
    for _ in range(400):
        size = int(rng.integers(8, 60))
        y = rng.integers(0, 2, size)
        y[:2] = 0, 1
        s = rng.permutation(size)
        found = pr.best_threshold(pr.rank(y, s), metric, **options).threshold
        expected = exact_best(y.tolist(), s.tolist(), value)
        if metric == "cost" and np.isinf(found):  # selecting nothing is a candidate here
            assert all(Fraction(int(y[s >= t].sum()), 10) <= int((1 - y)[s >= t].sum()) for t in s)
        else:
            assert found == expected


def test_a_precision_reached_but_for_rounding_is_reached():
    """Nine positives and one negative of weight 0.1 have a precision of 0.9."""
    y = [1] * 9 + [0, 1]
    s = list(range(11, 0, -1))
    ranking = pr.rank(y, s, sample_weight=[0.1] * 11)
    tp, fp = ranking.tp[-1], ranking.fp[-1]
    assert tp / (tp + fp) != 10 / 11 or ranking.tp[8] != 0.9  # rounding is at work
    precise = pr.best_threshold(ranking, "recall", min_precision=10 / 11)
    assert precise.threshold == 1
    reached = pr.best_threshold(ranking, "precision", min_recall=0.9)
    assert reached.confusion.recall == pytest.approx(0.9)
    whole = pr.interval(ranking, pr.metrics.recall_at_precision(10 / 11), sampling="classes")
    assert whole.estimate == pytest.approx(1)


def test_replicates_equal_to_the_estimate_but_for_rounding_are_equal_to_it():
    estimate = 0.3
    replicates = np.linspace(0.1, 0.5, 200)
    equal = np.append(replicates, [estimate] * 50)
    beside = np.append(replicates, [0.1 + 0.2] * 50)  # one unit in the last place above
    assert bca_limits(estimate, beside, 0.0, 0.9) == pytest.approx(
        bca_limits(estimate, equal, 0.0, 0.9), abs=1e-15
    )


@pytest.mark.parametrize("count", [3, 5, 8, 12])
def test_a_chance_that_is_the_level_passes(count):
    """As many successes as trials at one half have the chance 2**-count exactly."""
    assert passes(count, 0, 0.5, 0.5**count)
    assert not passes(count, 0, 0.5, 0.5**count * (1 - 1e-9))


def test_the_best_of_equally_good_models_is_the_first_given():
    y, first, second = (np.tile(column, 3) for column in seven_twelfths())
    # Tiled, the areas are those of thrice the rows of each score.
    for scores in ({"one": first, "two": second}, {"two": second, "one": first}):
        evaluation = evaluate(y, scores)
        values = [model.measures["aucpr"].estimate for model in evaluation.models]
        assert values[0] == pytest.approx(values[1], rel=1e-12)
        assert evaluation.best.name == next(iter(scores))


def test_a_perfect_order_of_weighted_rows_is_perfect():
    rng = np.random.default_rng(8)
    for _ in range(50):
        y = np.repeat([1, 0], 15)
        scores = np.arange(30, 0, -1)
        evaluation = evaluate(y, {"a": scores}, sample_weight=rng.random(30))
        assert any("every positive above every" in found.text for found in evaluation.findings)

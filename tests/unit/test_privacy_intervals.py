"""Intervals of private values: what they cover, and that they do."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

import precall as pr
from precall import privacy
from precall.exceptions import InputError
from precall.privacy.covering import (
    CountLimits,
    _largest_until,
    area_limits,
    count_limits,
    with_sampling,
)
from precall.privacy.histograms import bin_counts
from precall.privacy.mechanisms import SeededNoise
from precall.simulate import Bibeta

pytestmark = [
    pytest.mark.filterwarnings("ignore::precall.privacy.SeededReleaseWarning"),
    pytest.mark.filterwarnings("ignore::precall.exceptions.ReliabilityWarning"),
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
    pytest.mark.filterwarnings("ignore::precall.exceptions.UndefinedMetricWarning"),
]

EDGES = np.array([-math.inf, 1.5, 3.5, math.inf])


def around(y, score, slack, edges=EDGES):
    """Limits that hold the true counts, wider by a slack."""
    counts = bin_counts(y, score, edges)
    bins = edges.size - 1
    tp, fp = np.cumsum(counts[:bins]), np.cumsum(counts[bins:])
    below, above = slack
    return CountLimits(
        tp_low=np.maximum.accumulate(np.maximum(tp - below, 0)),
        tp_high=np.minimum(tp + above, y.size),
        fp_low=np.maximum.accumulate(np.maximum(fp - above, 0)),
        fp_high=np.minimum(fp + below, y.size),
        n_low=max(int(tp[-1]) - min(below, 1), 0),
        n_high=min(int(tp[-1]) + min(above, 1), y.size),
        n_rows=y.size,
    )


def areas(y, score):
    ranking = pr.rank(y.astype(int), score)
    both = 0 < ranking.n_pos < y.size
    return pr.aucpr(ranking) if ranking.n_pos else 0.0, pr.auroc(ranking) if both else None


def check(y, score, slack, edges=EDGES):
    limits = around(y, score, slack, edges)
    precision, roc = areas(y, score)
    low, high = area_limits(limits, roc=False)
    assert low <= precision <= high, (y, score, slack)
    if roc is not None:
        low, high = area_limits(limits, roc=True)
        assert low <= roc <= high, (y, score, slack)


@pytest.mark.parametrize("slack", [(0, 0), (1, 0), (0, 1)])
def test_no_rows_of_these_counts_are_outside_the_limits(slack):
    """Every data set of four rows with five levels of the score in three bins."""
    kinds = list(product((False, True), range(5)))
    for choice in product(range(len(kinds)), repeat=4):
        if list(choice) == sorted(choice):
            y, score = (
                np.array(column) for column in zip(*(kinds[i] for i in choice), strict=True)
            )
            check(y, score.astype(float), slack)


def test_larger_data_sets_stay_within_the_limits():
    rng = np.random.default_rng(0)
    for _ in range(300):
        size = int(rng.integers(2, 200))
        y = rng.random(size) < rng.random()
        score = np.round(rng.random(size) + 0.3 * y, int(rng.integers(1, 4)))
        edges = np.concatenate([[-math.inf], np.sort(rng.random(rng.integers(2, 9))), [math.inf]])
        check(y, score, rng.integers(0, 6, size=2), edges)


def test_with_a_bin_for_each_row_and_no_noise_the_limits_meet():
    rng = np.random.default_rng(1)
    y = rng.random(40) < 0.5
    score = np.arange(40.0)
    limits = around(y, score, (0, 0), np.concatenate([[-math.inf], score[1:] - 0.5, [math.inf]]))
    precision, roc = areas(y, score)
    assert area_limits(limits, roc=False) == pytest.approx((precision, precision), abs=1e-8)
    assert area_limits(limits, roc=True) == pytest.approx((roc, roc), abs=1e-8)


def test_many_numbers_of_positives_are_taken_together_outwards():
    """Five thousand possible numbers of positives are not tried one by one."""
    y = np.arange(20_000) % 4 == 0
    score = (np.arange(20_000) * 7919 % 20_000) / 2000 + y
    tight = around(y, score, (0, 0))
    wide = CountLimits(**(vars(tight) | {"n_low": 2500, "n_high": 7500}))
    for roc in (False, True):
        low, high = area_limits(tight, roc=roc)
        lower, higher = area_limits(wide, roc=roc)
        assert lower <= low <= high <= higher


@pytest.mark.parametrize("scale", [0.05, 2.0, 2000.0])
def test_the_limits_of_counts_hold_together_as_often_as_they_say(scale):
    noise = SeededNoise(np.random.default_rng(2))
    bins, runs, held = 8, 400, 0
    truth = np.full(2 * bins, 10**6)
    sums = np.cumsum(truth[:bins])
    for _ in range(runs):
        noisy = noise.add_laplace(truth, scale)
        limits = count_limits(
            noisy[:bins], noisy[bins:], n_rows=int(truth.sum()), scale=scale, error=0.1
        )
        held += bool(
            np.all((limits.tp_low <= sums) & (sums <= limits.tp_high))
            and np.all((limits.fp_low <= sums) & (sums <= limits.fp_high))
            and limits.n_low <= sums[-1] <= limits.n_high
        )
    assert stats.binomtest(held, runs, 0.9, alternative="less").pvalue > 1e-3
    if scale > 1:  # and hardly more often
        assert stats.binomtest(held, runs, 0.96, alternative="greater").pvalue > 1e-3


def test_a_tiny_error_has_limits_too():
    counts = np.full(4, 100)
    wide = count_limits(counts, counts, n_rows=800, scale=1.0, error=1e-9)
    usual = count_limits(counts, counts, n_rows=800, scale=1.0, error=0.05)
    assert np.all(wide.tp_low <= usual.tp_low)
    assert np.all(usual.tp_high <= wide.tp_high)
    assert wide.n_low < 400 < wide.n_high


@pytest.mark.parametrize(("hits", "rows"), [(0, 10), (3, 10), (10, 10), (40, 1000)])
def test_sampling_is_the_score_interval(hits, rows):
    share = hits / rows
    theirs = stats.binomtest(hits, rows).proportion_ci(0.9, method="wilson")
    assert with_sampling(share, share, rows, 0.1) == pytest.approx(theirs, abs=1e-12)
    assert with_sampling(share, share, 0, 0.1) == (0.0, 1.0)


def release(epsilon=1.0, n_rows=2000, **options):
    rows = Bibeta().sample(n_rows // 10, n_rows - n_rows // 10, rng=0)
    budget = privacy.Budget(epsilon=9 * epsilon)
    shared = {"epsilon": epsilon, "budget": budget, "rng": 0, **options}
    return (
        privacy.average_precision(*rows, **shared),
        privacy.auroc(*rows, **shared),
        privacy.confusion(*rows, threshold=0.5, **shared),
        privacy.pr_curve(*rows, **shared),
    )


def test_every_interval_says_what_is_in_it():
    precision, roc, matrix, curve = release()
    values = [precision, roc, *(matrix.measure(name) for name in ("precision", "f1", "accuracy"))]
    for value in values:
        rows, population = value.interval(), value.interval(of="population")
        assert (rows.method, population.method) == ("noise only", "noise and sampling")
        assert population.low <= rows.low <= rows.high <= population.high
        wider = value.interval(of="population", confidence_level=0.99)
        assert wider.low <= population.low <= population.high <= wider.high
        with pytest.raises(InputError, match="of must be one of"):
            value.interval(of="noise")
    for kind in ("pr", "roc"):
        drawn = curve.to(kind)
        found = [drawn.area_interval(of=of, rng=0) for of in ("noise", "rows", "population")]
        assert [interval.method for interval in found] == [
            "noise only, without binning error",
            "noise and binning",
            "noise, binning and sampling",
        ]
        assert found[0].width < found[1].width < found[2].width
        assert drawn.area_interval() == found[1]
        assert all(interval.estimate in interval for interval in found)
        with pytest.raises(InputError, match="of must be one of"):
            drawn.area_interval(of="everything")
    with pytest.raises(InputError, match="for the noise only"):
        curve.area_interval(estimator="interpolated_mean")
    assert curve.area_interval(estimator="interpolated_mean", of="noise", rng=0).width > 0


def test_persons_are_fewer_than_rows():
    ours, theirs = (release(rows_per_person=k) for k in (1, 2))
    for one, two in zip(ours[:2], theirs[:2], strict=True):
        assert two.interval(of="population").width > one.interval(of="population").width


def test_f_beta_is_no_share():
    matrix = release()[2]
    with pytest.raises(InputError, match="no share"):
        matrix.measure("f_beta", beta=2.0).interval(of="population")
    exact = matrix.measure("f_beta", beta=1.0).interval(of="population")
    f1 = matrix.measure("f1").interval(of="population")
    assert (exact.low, exact.high) == pytest.approx((f1.low, f1.high))


@pytest.mark.parametrize(("n_rows", "epsilon"), [(20, 0.01), (20, 1e6), (2000, 1e-9), (2000, 1e6)])
def test_intervals_of_next_to_nothing_and_of_all(n_rows, epsilon):
    precision, roc, matrix, curve = release(epsilon, n_rows)
    for value in (precision, roc, matrix.measure("recall")):
        assert 0.0 <= value.interval(of="population").low <= value.interval(of="rows").high <= 1.0
    for kind in ("pr", "roc"):
        interval = curve.to(kind).area_interval(of="population")
        assert 0.0 <= interval.low <= interval.high <= 1.0


def test_the_population_is_covered_as_often_as_promised():
    """Noise, binning and sampling together, over data sets that are drawn anew."""
    model, prevalence, runs = Bibeta(), 0.2, 150
    rng = np.random.default_rng(3)
    caught, false = stats.beta(5, 2).sf(0.5), stats.beta(2, 5).sf(0.5)
    truth = {
        "average_precision": model.aucpr(prevalence),
        "auroc": model.auroc(),
        "curve": model.aucpr(prevalence),
        "precision": prevalence * caught / (prevalence * caught + (1 - prevalence) * false),
        "recall": caught,
    }
    hits = dict.fromkeys(truth, 0)
    for _ in range(runs):
        n_pos = int(rng.binomial(600, prevalence))
        rows = model.sample(n_pos, 600 - n_pos, rng=rng)
        options = {"epsilon": 2.0, "budget": privacy.Budget(epsilon=9.0), "rng": rng}
        matrix = privacy.confusion(*rows, threshold=0.5, **options)
        found = {
            "average_precision": privacy.average_precision(*rows, **options),
            "auroc": privacy.auroc(*rows, **options),
            "precision": matrix.measure("precision"),
            "recall": matrix.measure("recall"),
        }
        intervals = {
            name: value.interval(of="population", confidence_level=0.8)
            for name, value in found.items()
        }
        curve = privacy.pr_curve(*rows, **options)
        intervals["curve"] = curve.area_interval(of="population", confidence_level=0.8)
        for name, interval in intervals.items():
            hits[name] += truth[name] in interval
    for name, count in hits.items():
        assert stats.binomtest(count, runs, 0.8, alternative="less").pvalue > 1e-3, (name, count)


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_few_rows_have_wilsons_limits_too(rows):
    for successes in (0, rows):
        expected = stats.binomtest(successes, rows).proportion_ci(method="wilson")
        share = successes / rows
        assert with_sampling(share, share, rows, 0.05) == pytest.approx(tuple(expected), abs=1e-12)
    assert with_sampling(0.2, 0.3, 0, 0.05) == (0.0, 1.0)


def test_the_largest_value_within_reach_is_found():
    rng = np.random.default_rng(3)
    values = rng.random((4, 9))
    last = np.minimum(np.arange(9) + rng.integers(0, 5, (4, 9)), 8)
    found = _largest_until(values, last)
    for row, column in np.ndindex(*values.shape):
        assert found[row, column] == values[row, column : last[row, column] + 1].max()

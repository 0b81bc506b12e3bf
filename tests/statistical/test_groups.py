"""What is said of many groups holds as often as claimed: intervals, tests, warnings."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

import precall as pr
from precall.groups.averages import aggregate, weighted_mean
from precall.groups.group_limits import mean_limits
from precall.groups.group_values import per_group
from precall.groups.paired_tests import compare_groups
from precall.groups.ranking_by_group import rank_groups
from precall.simulate import Binormal
from tests.datasets import tasks

pytestmark = pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")


def test_comparability_rejects_equal_distributions_no_more_often_than_it_may():
    # 600 data sets of one distribution: at level .05 the count is at most Binomial(600, .05); more
    # than 52 has probability below 1e-4 then.
    rng = np.random.default_rng(10)
    rejected = sum(
        aggregate(rank_groups(*tasks(rng, [0.3] * 4, size=40))).comparability.p_value < 0.05
        for _ in range(600)
    )
    assert rejected <= 52


def test_interval_over_tasks_covers_the_mean_of_random_tasks():
    # The AUROC of a task is Phi(d / sqrt 2) with d random: the truth is its mean. Coverage of a
    # t interval over 20 tasks; in 1,000 data sets, 927 or fewer hits have probability 1e-3 at .95.
    rng = np.random.default_rng(12)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    truth = np.sum(weights * ndtr((1 + 0.5 * nodes) / math.sqrt(2))) / weights.sum()
    group = np.repeat(np.arange(20), 60)
    hits = 0
    for _ in range(1000):
        y = rng.random(1200) < 0.3
        y[::60], y[1::60] = True, False
        s = rng.normal(size=1200) + y * (1 + 0.5 * rng.normal(size=20))[group]
        hits += truth in aggregate(rank_groups(y, s, group, pooled=False), "auroc").interval
    assert hits > 927


@pytest.mark.parametrize(("slope", "n_groups"), [(0.1, 10), (0.1, 20), (-0.1, 20)])
def test_weighted_means_cover_where_larger_groups_are_better_or_worse(slope, n_groups):
    """Without room for larger groups than these, .86 are covered.

    Log sizes are standard normal, so positives have a mean log size of 1. In 2,000 data sets .94
    gives fewer hits than this once in 10,000 times.
    """
    rng = np.random.default_rng(13)
    hits, trials = 0, 2000
    for _ in range(trials):
        size = rng.normal(size=n_groups)
        values = 0.5 + slope * size + 0.07 * rng.normal(size=n_groups)
        low, high = weighted_mean(values, np.exp(size))[1].limits(0.95)
        hits += low <= 0.5 + slope <= high
    assert hits >= binom.ppf(1e-4, trials, 0.94)


def test_bands_cover_where_some_tasks_are_much_worse():
    """Ten tasks whose signals vary, so that rates at recall .1 are skewed: .89 with even limits.

    In 1,000 data sets .93 gives fewer hits than this once in 10,000 times.
    """
    rng = np.random.default_rng(14)
    sizes, n_tasks, prevalence, recall, hits = (100, 400), 10, 0.1, 0.1, 0
    signals = 1.5 + rng.normal(size=200_000)
    found = prevalence * recall
    rate = float(np.mean(ndtr(-ndtri(1.0 - recall) - signals)))
    truth = found / (found + (1.0 - prevalence) * rate)
    y = np.tile(np.repeat([1, 0], sizes), n_tasks)
    task = np.repeat(np.arange(n_tasks), sum(sizes))
    for _ in range(1000):
        score = rng.normal(size=y.size) + (1.5 + rng.normal(size=n_tasks))[task] * y
        rankings = rank_groups(y, score, task, pooled=False)
        band = pr.summary_curve(rankings, prevalence=prevalence).band
        hits += band.low[9] <= truth <= band.high[9]
    assert hits >= binom.ppf(1e-4, 1000, 0.93)


def test_size_of_the_paired_t_over_queries():
    # Two scorers of equal quality on 30 queries: 1,000 data sets at level .05, more than 73
    # rejections have probability below 1e-3.
    rng = np.random.default_rng(63)
    query = np.repeat(np.arange(30), 20)
    rejected = 0
    for _ in range(1000):
        y = rng.random(600) < 0.3
        y[::20] = True
        first, second = (
            per_group(rank_groups(y, rng.normal(size=600) + y, query, pooled=False), "aucpr")
            for _ in range(2)
        )
        rejected += compare_groups(first, second).p_value < 0.05
    assert rejected <= 73


def test_averages_over_these_classes_are_in_their_interval():
    """Ten classes of twenty positives, whose areas are biased upwards alike."""
    rng, shift = np.random.default_rng(11), 1.0
    truth = Binormal(shift).aucpr(0.1)
    held = {"mean": 0, "weighted": 0, "pooled": 0}
    for _ in range(150):
        label = rng.choice(10, 200)
        scores = rng.normal(size=(200, 10)) + shift * (label[:, np.newaxis] == np.arange(10))
        rankings = pr.rank_classes(label, scores, classes=np.arange(10))
        for how in held:
            found = pr.aggregate(rankings, "aucpr", how=how).interval
            held[how] += found.low <= truth <= found.high
    assert min(held.values()) >= 132  # fewer once in 5,000 times if it covers with 0.95


@pytest.mark.parametrize("shape", [(9.0, 0.6), (0.6, 2.0)])
@pytest.mark.parametrize("count", [5, 20])
def test_the_mean_of_skewed_groups_is_held(shape, count):
    """Student's t by itself holds less than .9 of those near the end."""
    rng, trials = np.random.default_rng(5), 2000
    drawn = rng.beta(*shape, size=(trials, count))
    truth = shape[0] / sum(shape)
    limits = np.array([mean_limits(values, 0.95, (0.0, 1.0)) for values in drawn])
    held = np.count_nonzero((limits[:, 0] <= truth) & (truth <= limits[:, 1]))
    assert held >= binom.ppf(1e-4, trials, 0.93)


@pytest.mark.parametrize("shape", [(9.0, 0.6), (0.6, 2.0)])
def test_weighted_means_of_skewed_groups_are_held(shape):
    """Student's t of the values themselves holds .91 and .93 of these."""
    rng, trials, count = np.random.default_rng(6), 2000, 5
    truth = shape[0] / sum(shape)
    held = 0
    for _ in range(trials):
        sizes = np.ceil(20 * np.exp(0.5 * rng.normal(size=count)))
        left_out = weighted_mean(rng.beta(*shape, size=count), sizes)[1]
        low, high = replace(left_out, bounds=(0.0, 1.0)).limits(0.95)
        held += low <= truth <= high
    assert held >= binom.ppf(1e-4, trials, 0.93)

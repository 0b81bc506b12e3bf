"""One precision-recall curve for tasks of different prevalence."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

import precall as pr
from precall.exceptions import InputError, UndefinedMetricError
from precall.groups.group_values import per_group
from precall.groups.ranking_by_group import rank_groups
from precall.groups.summary import METHODS, summary_curve
from precall.groups.summary_bands import (
    GRID,
    false_positive_rates,
    rates_beyond,
    unbiased_rates,
)
from precall.simulate import Bibeta, Binormal
from tests import naive_groups

pytestmark = pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")

RECALLS = np.linspace(0, 1, 201)


def random_tasks(rng, n_tasks, size, levels=None):
    """Tasks that all have both classes."""
    y, s, group = naive_groups.random_groups(rng, n_tasks, size, levels)
    extra = np.arange(n_tasks)
    y = np.concatenate([y, np.ones(n_tasks, bool), np.zeros(n_tasks, bool)])
    s = np.concatenate([s, np.round(rng.normal(size=2 * n_tasks), 1)])
    return y, s, np.concatenate([group, extra, extra])


def distribution_tasks(rng, distribution, prevalences, sizes):
    """Tasks of one score distribution at different prevalences."""
    parts = []
    for task, (prevalence, size) in enumerate(zip(prevalences, sizes, strict=True)):
        n_pos = max(1, round(prevalence * size))
        y, s = distribution.sample(n_pos, size - n_pos, rng)
        parts.append((y, s, np.full(size, task)))
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


@pytest.mark.parametrize("levels", [None, 10, 1])
@pytest.mark.parametrize("copies", [1, 2, 7])
def test_equal_tasks_give_their_own_curve(levels, copies):
    rng = np.random.default_rng(1)
    y = rng.random(150) < 0.3
    s = rng.normal(size=150) + y
    s = s if levels is None else np.round(s * levels) / levels
    ranking = pr.rank(y, s)
    rankings = rank_groups(
        np.tile(y, copies), np.tile(s, copies), np.repeat(np.arange(copies), 150)
    )
    summary = summary_curve(rankings)
    own = pr.pr_curve(ranking)
    np.testing.assert_allclose(summary.at(RECALLS), own.at(RECALLS), atol=1e-14)
    assert summary.area() == pytest.approx(own.area(), abs=1e-14)
    assert summary.area() == pytest.approx(pr.aucpr(ranking, estimator="davis_goadrich"), abs=1e-14)
    assert summary.prevalence == pytest.approx(ranking.prevalence)
    elsewhere = summary_curve(rankings, prevalence=0.05)
    moved = pr.pr_curve(ranking.at_prevalence(0.05))
    assert elsewhere.area() == pytest.approx(moved.area(), abs=1e-14)


@pytest.mark.parametrize("levels", [None, 2])
def test_it_is_the_mean_false_positive_rate_at_every_recall(levels):
    rng = np.random.default_rng(2)
    y, s, group = random_tasks(rng, 6, 20, levels)
    rankings = rank_groups(y, s, group)
    summary = summary_curve(rankings, prevalence=0.2)
    tasks = naive_groups.split(y, s, group).values()
    for recall in np.unique(np.concatenate([np.linspace(0.01, 1, 40), [0.5, 1 / 3, 0.25]])):
        alpha = float(np.mean([naive_groups.false_positive_rate(rows, recall) for rows in tasks]))
        expected = 0.2 * recall / (0.2 * recall + 0.8 * alpha)
        assert float(summary.at(recall)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_tasks_changes_nothing(method):
    rng = np.random.default_rng(3)
    y, s, group = random_tasks(rng, 8, 30, 5)
    mixed = rng.permutation(8)
    first = summary_curve(rank_groups(y, s, group), prevalence=0.2, method=method)
    second = summary_curve(rank_groups(y, s, mixed[group]), prevalence=0.2, method=method)
    if method == "reference":  # to the last bit
        np.testing.assert_array_equal(first.tp, second.tp)
        np.testing.assert_array_equal(first.fp, second.fp)
    assert first.area() == pytest.approx(second.area(), abs=1e-14)
    for name in ("low", "precision", "high"):
        np.testing.assert_allclose(
            getattr(first.band, name), getattr(second.band, name), atol=1e-12
        )


@pytest.mark.parametrize("distribution", [Binormal(), Bibeta()], ids=["binormal", "bibeta"])
def test_tasks_of_one_distribution_at_any_prevalence_give_its_curve(distribution):
    rng = np.random.default_rng(4)
    prevalences = np.geomspace(0.01, 0.5, 24)
    rankings = rank_groups(*distribution_tasks(rng, distribution, prevalences, np.full(24, 10_000)))
    for reference in (0.02, 0.1, 0.5):
        summary = summary_curve(rankings, prevalence=reference)
        truth = distribution.aucpr(reference)
        # The spread of the tasks' own areas at this prevalence gives the error of the mean.
        own = [pr.aucpr(r.at_prevalence(reference), estimator="davis_goadrich") for r in rankings]
        error = np.std(own, ddof=1) / np.sqrt(24)
        assert summary.area() == pytest.approx(truth, abs=4 * error)
        assert error < 0.05 * truth  # or the test would prove little
        # Vertical averaging cannot: it stays where the tasks' own prevalences put it.
    assert abs(summary.beside["vertical"] - distribution.aucpr(0.5)) > 0.05


def test_area_of_the_vertical_mean_is_the_mean_area():
    rng = np.random.default_rng(5)
    rankings = rank_groups(*random_tasks(rng, 6, 40))
    vertical = summary_curve(rankings, method="vertical")
    expected = per_group(rankings, pr.metrics.aucpr(estimator="davis_goadrich")).mean()
    assert vertical.area() == pytest.approx(expected, abs=1e-14)
    mean = np.mean([pr.pr_curve(r).at(GRID) for r in rankings], axis=0)
    np.testing.assert_allclose(vertical.band.precision, mean, atol=1e-9)


def test_pooled_is_the_curve_of_all_rows():
    rng = np.random.default_rng(6)
    y, s, group = random_tasks(rng, 6, 40)
    pooled = summary_curve(rank_groups(y, s, group), method="pooled")
    ranking = pr.rank(y, s)
    assert pooled.area() == pytest.approx(pr.aucpr(ranking, estimator="davis_goadrich"), abs=1e-13)
    assert set(pooled.beside) == {"reference", "vertical"}
    with pytest.raises(InputError, match="pooled=True"):
        summary_curve([ranking, ranking], method="pooled")


@pytest.mark.parametrize("method", METHODS)
def test_band_contains_the_curve_and_stays_in_the_unit_square(method):
    rng = np.random.default_rng(7)
    for n_tasks, size, levels in ((2, 8, None), (5, 30, 2), (30, 60, None)):
        summary = summary_curve(
            rank_groups(*random_tasks(rng, n_tasks, size, levels)), method=method
        )
        assert np.all(summary.band.low >= 0)
        assert np.all(summary.band.high <= 1)
        band = summary.band
        assert np.all((band.low <= band.precision) & (band.precision <= band.high))
        np.testing.assert_allclose(band.precision, summary.at(band.recall), atol=1e-12)
    wide, narrow = (
        summary_curve(
            rank_groups(*random_tasks(np.random.default_rng(8), 9, 60)),
            method=method,
            confidence_level=level,
        )
        for level in (0.99, 0.5)
    )
    assert np.mean(wide.band.width) > np.mean(narrow.band.width)


def test_perfect_tasks_do_not_get_a_band_of_no_width():
    y = np.tile(np.repeat([1, 0], [5, 20]), 4)
    rankings = rank_groups(y, y, np.repeat(np.arange(4), 25))
    summary = summary_curve(rankings)
    assert summary.area() == 1.0
    assert np.all(summary.band.high == 1.0)
    # No false positive among 80 negatives: the rate is below 1 - .025^(1/80) with 97.5 %.
    alpha = 1 - 0.025 ** (1 / 80)
    pi, recall = summary.prevalence, summary.band.recall
    expected = pi * recall / (pi * recall + (1 - pi) * alpha)
    known = recall <= 0.8
    np.testing.assert_allclose(summary.band.low[known], expected[known])
    # Five positives say nothing about recalls above 5/6 of the distribution.
    assert np.all(summary.band.low[~known] <= expected[~known] * (1 + 1e-12))


def test_coverage_of_the_band_when_tasks_share_one_distribution():
    # 400 data sets of 10 tasks with 25 positives each; binomial with .95: 364 hits or fewer have
    # probability 1e-3. Without its correction for small tasks it covers recall .9 about .85.
    rng = np.random.default_rng(9)
    distribution, at = Binormal(), [19, 49, 79]
    truth = distribution.precision(GRID[at], 0.2)
    hits = np.zeros(3)
    for _ in range(400):
        rankings = rank_groups(
            *distribution_tasks(rng, distribution, np.full(10, 0.2), np.full(10, 125)), pooled=False
        )
        summary = summary_curve(rankings, prevalence=0.2)
        hits += (summary.band.low[at] <= truth) & (truth <= summary.band.high[at])
    assert np.all(hits > 364)


def test_coverage_of_the_band_when_tasks_differ():
    """Five tasks whose signal varies: rates are skewed, and press against 1 at high recall.

    With limits on the scale of the logarithm, from the rates' standard deviation, coverage was .80
    at recall .1 and .91 at recall .98.
    """
    rng = np.random.default_rng(9)
    prevalence, sizes, trials = 0.1, (300, 1200), 150
    places, recall = np.array([9, 97]), np.array([0.1, 0.98])
    signals = 1.5 + rng.normal(size=200_000)
    quantile = stats.norm.isf(recall)[:, np.newaxis]
    alpha = stats.norm.sf(quantile + signals).mean(axis=1)
    truth = prevalence * recall / (prevalence * recall + (1 - prevalence) * alpha)
    covered = np.zeros(2)
    y = np.tile(np.repeat([1, 0], sizes), 5)
    group = np.repeat(np.arange(5), sum(sizes))
    for _ in range(trials):
        signal = 1.5 + rng.normal(size=5)
        scores = rng.normal(size=y.size) + signal[group] * y
        band = summary_curve(rank_groups(y, scores, group), prevalence=prevalence).band
        covered += (band.low[places] <= truth) & (truth <= band.high[places])
    # True values .92 and .97: under these limits once in 10,000 runs, the old ones nearly always.
    assert covered[0] >= stats.binom.ppf(1e-4, trials, 0.92)
    assert covered[1] >= stats.binom.ppf(1e-4, trials, 0.97)


def test_the_band_goes_farther_where_tasks_are_skewed():
    """By hand, at three recalls: the more one task sticks out, the farther from it is the limit."""
    rng = np.random.default_rng(12)
    group = np.repeat(np.arange(6), 400)
    y = np.tile(np.arange(400) < 100, 6)
    signal = np.array([0.2, 2.0, 2.1, 2.2, 2.3, 2.4])
    tasks = rank_groups(y, rng.normal(size=y.size) + signal[group] * y, group)
    band = summary_curve(tasks, prevalence=0.2, confidence_level=0.9).band
    rates, skewed = unbiased_rates(tasks, GRID), 0
    for place in (19, 49, 79):
        rate = rates[:, place].tolist()
        left_out = [(sum(rate) - one) / 5 for one in rate]
        moved = [float(logit(one)) for one in left_out]
        moved = [sum(moved) / 6 - one for one in moved]
        squares, cubes = sum(one**2 for one in moved), sum(one**3 for one in moved)
        skewness = max(cubes / squares**1.5, 0.0)
        half = stats.t.ppf(0.95, 5) * math.sqrt(squares * 6 / 5)
        middle = float(logit(sum(rate) / 6))
        low, high = (
            0.2 * GRID[place] / (0.2 * GRID[place] + 0.8 * expit(middle + far))
            for far in (half * math.exp(skewness / 2), -half * math.exp(-skewness / 4))
        )
        assert (band.low[place], band.high[place]) == pytest.approx((low, high), rel=1e-9)
        skewed += skewness > 0.5
    assert skewed


def test_rates_are_nearly_unbiased_for_tasks_with_few_positives():
    # 20,000 tasks of 20 positives: the mean rate at each recall is within 3 % of the truth where
    # the plain one is off by more than 5 % somewhere.
    from scipy.special import ndtr, ndtri

    rng = np.random.default_rng(10)
    recall = np.array([0.3, 0.5, 0.7])
    y = np.tile(np.repeat([1, 0], [20, 100]), 20_000)
    rankings = rank_groups(y, rng.normal(size=y.size) + y, np.repeat(np.arange(20_000), 120))
    truth = ndtr(ndtri(recall) - 1)
    better = unbiased_rates(rankings, recall).mean(axis=0)
    plain = false_positive_rates(rankings, recall * 20).mean(axis=0)
    np.testing.assert_allclose(better, truth, rtol=0.03)
    assert np.max(np.abs(plain / truth - 1)) > 0.05


def test_weights_count_as_repetitions_in_the_curve():
    rng = np.random.default_rng(11)
    y, s, group = random_tasks(rng, 4, 20, 3)
    w = rng.integers(1, 4, y.size)
    weighted = summary_curve(rank_groups(y, s, group, sample_weight=w), prevalence=0.2)
    repeated = summary_curve(
        rank_groups(np.repeat(y, w), np.repeat(s, w), np.repeat(group, w)), prevalence=0.2
    )
    assert weighted.area() == pytest.approx(repeated.area(), abs=1e-12)
    inside = weighted.at(RECALLS), repeated.at(RECALLS)
    # Recall is a quotient of floats with weights: steps may sit a rounding apart.
    assert np.mean(np.isclose(*inside, atol=1e-9)) > 0.97
    assert np.all(weighted.band.low <= weighted.band.high)


def test_tasks_that_lack_a_class_are_left_out():
    y, s, g = [1, 0, 1, 0, 0, 1], [6, 5, 4, 3, 2, 1], [0, 0, 1, 1, 2, 3]
    summary = summary_curve(rank_groups(y, s, g))
    assert (summary.n, summary.n_undefined) == (2, 2)
    assert "2 left out" in repr(summary)
    with pytest.raises(UndefinedMetricError, match="every task lacks a class"):
        summary_curve(rank_groups([1, 0], [1, 2], [0, 1]))


def test_one_task_has_a_curve_but_no_band():
    ranking = pr.rank([1, 0, 1, 0], [4, 3, 2, 1])
    for method in ("reference", "vertical"):
        summary = summary_curve([ranking], method=method)
        assert np.isnan(summary.band.low).all()
        assert summary.to_dict()["band"]["low"][0] is None
        assert "polygon" not in summary._repr_html_()
    pooled = summary_curve(rank_groups([1, 0], [2, 1], [0, 0]), method="pooled")
    assert np.isnan(pooled.band.low).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_summary_is_a_curve(method):
    rng = np.random.default_rng(14)
    summary = summary_curve(rank_groups(*random_tasks(rng, 5, 40)), prevalence=0.2, method=method)
    assert isinstance(summary, pr.Curve)
    assert summary.kind == "pr"
    assert summary.prevalence == summary.reference == 0.2
    assert not summary.band.simultaneous
    band = summary.band
    np.testing.assert_allclose(summary.at(band.recall), band.precision, atol=1e-12)
    np.testing.assert_array_equal(summary.to_frame()["low"], band.low)
    assert summary.areas == {method: summary.area(), **summary.beside}
    # Part of the points are a plain curve: the band and the area are those of all of them.
    for part in (summary.subset(slice(0, 3)), summary.convex_hull()):
        assert type(part) is pr.Curve
    whole = summary.subset(slice(None))
    np.testing.assert_array_equal(whole.at(RECALLS), summary.at(RECALLS))
    assert whole.to_dict() == summary.to_dict()["curve"]
    if method != "vertical":  # that one is known on a grid only
        assert whole.area() == summary.area()
    assert "<polygon" in summary._repr_html_()


def test_plain_data_and_a_picture():
    rng = np.random.default_rng(12)
    summary = summary_curve(rank_groups(*random_tasks(rng, 4, 30)))
    assert json.loads(json.dumps(summary.to_dict()))["n"] == 4
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, axes = pyplot.subplots()
    assert summary.plot(axes) is axes
    assert axes.collections
    pyplot.close(figure)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prevalence": 0}, "prevalence must be strictly between 0 and 1"),
        ({"method": "mean"}, "method must be one of"),
        ({"confidence_level": 1}, "confidence_level must be strictly between"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(InputError, match=message):
        summary_curve([pr.rank([1, 0], [2, 1])], **options)


def test_beyond_the_last_positives_the_highest_and_the_lowest_of_them_are_within():
    # Five tasks of four positives: at recall .9 a task is beyond its last positive on average, and
    # recall is higher there in 1 - .9^4 = .3439 of the tasks: 1.7195 of five.
    rng = np.random.default_rng(4)
    y, task = np.tile(np.arange(24) < 4, 5), np.repeat(np.arange(5), 24)
    s = rng.normal(size=120) + y
    tasks = rank_groups(y, s, task)
    lines = s.reshape(5, 24)
    last = np.sort(np.mean(lines[:, 4:] > lines[:, :4].min(axis=1, keepdims=True), axis=1))
    lowest, highest = rates_beyond(tasks, np.array([0.5, 0.8, 0.9]))
    assert np.isnan([lowest[:2], highest[:2]]).all()  # .8 (4 + 1) is the last of four
    assert highest[2] == pytest.approx((last[-1] + 0.7195 * last[-2]) / 1.7195)
    assert lowest[2] == pytest.approx((last[:3].sum() + 0.2805 * last[3]) / 3.2805)
    band = summary_curve(tasks, prevalence=0.2).band
    place = int(np.argmin(np.abs(band.x - 0.9)))
    for rate in (lowest[2], highest[2]):
        precision = 0.2 * 0.9 / (0.2 * 0.9 + 0.8 * rate)
        assert band.low[place] - 1e-12 <= precision <= band.high[place] + 1e-12

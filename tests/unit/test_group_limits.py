"""Limits over groups of unequal size: by hand, against a slow reference, and what they keep."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import precall as pr
from precall import metrics
from precall.groups.averages import aggregate, weighted_mean
from precall.groups.group_limits import mean_limits, t_quantile
from precall.groups.ranking_by_group import rank_groups
from tests import naive_groups
from tests.datasets import tasks

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]


def limits(values, weights, level=0.95):
    return weighted_mean(np.asarray(values, dtype=float), np.asarray(weights))[1].limits(level)


def mean_of_groups(groups):
    return sum(n * v for n, v in groups) / sum(n for n, _ in groups)


@st.composite
def groups(draw):
    count = draw(st.integers(3, 9))
    values = draw(arrays(np.float64, count, elements=st.floats(0, 1, width=32)))
    weights = draw(arrays(np.int64, count, elements=st.integers(1, 1000)))
    return values, weights


def test_two_groups_by_hand():
    # All of the difference is the line's: .2 per log 4, so the residuals are 0. Shares are .2 and
    # .8, the mean is .66. Roots weigh 1/3 and 2/3 and are worth 9/5 groups: with s = log 4 the mean
    # log size is 2/3 s above the smaller one, its variance 2/9 s^2 * 9/4 = s^2 / 2; positives have
    # .8 s.
    s, t = math.log(4.0), t_quantile(0.3, 1.0)
    half = t * 0.2 / s * math.sqrt(s**2 / 2 * 5 / 9 + 6 * (s**2 / 2) ** 2 * 5 / 4)
    # Leaving out one group leaves the other: the mean moves by -.04 and by .16, which is skewed.
    farther = math.exp(0.75 * (0.16**3 - 0.04**3) / math.hypot(0.16, 0.04) ** 3)
    expected = 0.66 + 0.2 / s * (2 / 3 * s + s**2 / 4 - 0.8 * s) + half * farther
    low, high = limits([0.5, 0.7], [1, 4], level=0.3)
    assert high == pytest.approx(expected, abs=1e-14)
    student = t * math.hypot(0.16, 0.04)
    assert low == pytest.approx(0.66 - student, abs=1e-14)
    assert high > 0.66 + student * farther


@pytest.mark.parametrize("slope", [-0.1, 0.0, 0.1])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_weighted_means_agree_with_the_slow_reference(slope, level):
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    moved = 0
    for _ in range(20):
        weights = np.maximum(1, np.exp(3 + rng.normal(size=8))).astype(int)
        values = 0.5 + slope * (np.log(weights) - 3) + 0.1 * rng.normal(size=8)
        expected = naive_groups.limits_over_groups(
            mean_of_groups,
            list(zip(weights.tolist(), values.tolist(), strict=True)),
            lambda degrees: stats.t.ppf(0.5 + 0.5 * level, degrees),
        )
        left_out = weighted_mean(values, weights)[1]
        # The reference takes what is left out about its mean, as the pooled value does.
        share = weights / weights.sum()
        centred = left_out.moved - left_out.moved.mean()
        found = type(left_out)(
            estimate=left_out.estimate, moved=centred, positives=left_out.positives
        )
        assert found.limits(level) == pytest.approx(expected, abs=1e-12)
        assert left_out.estimate == pytest.approx(share @ values, abs=1e-14)
        moved += left_out.makes_room(level)
    assert moved > 3


@pytest.mark.parametrize("metric", ["aucnpr", "aucpr", "auroc"])
def test_pooled_limits_agree_with_the_slow_reference(metric):
    stats = pytest.importorskip("scipy.stats")
    alone = {"aucnpr": pr.aucnpr, "aucpr": pr.aucpr, "auroc": pr.auroc}[metric]
    rng = np.random.default_rng(3)
    y, s, group = tasks(rng, [0.1, 0.3, 0.5, 0.2, 0.4, 0.3], size=60)

    rankings = rank_groups(y, s, group)
    lowest = int(np.argmin(rankings.prevalence))

    def together(found):
        y_true, y_score = zip(*(rows for _, rows in found), strict=True)
        return alone(pr.rank(np.concatenate(y_true), np.concatenate(y_score)))

    expected = naive_groups.limits_over_groups(
        together,
        [(int(y[group == g].sum()), (y[group == g], s[group == g])) for g in range(6)],
        lambda degrees: stats.t.ppf(0.8, degrees),
        (metrics.parse(metric).floor(rankings[lowest]), 1.0),
    )
    # Few enough thresholds for the table of cells to be exact.
    found = aggregate(rankings, metric, how="pooled", confidence_level=0.6).interval
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-12)


@given(groups(), st.floats(0.1, 0.99))
def test_limits_keep_what_they_must(drawn, level):
    values, weights = drawn
    low, high = limits(values, weights, level)
    estimate = np.average(values, weights=weights)
    assert low <= estimate + 1e-12
    assert high >= estimate - 1e-12
    wider = limits(values, weights, 0.5 * (1 + level))
    assert wider[0] <= low
    assert wider[1] >= high
    # Units of weight, the order of the groups, and which class is called bad do not matter.
    same = pytest.approx((low, high), abs=1e-9)
    assert limits(values, 0.37 * weights, level) == same
    order = np.argsort(values, kind="stable")
    assert limits(values[order], weights[order], level) == same
    mirrored = limits(1.0 - values, weights, level)
    assert (1.0 - mirrored[1], 1.0 - mirrored[0]) == same


@given(groups(), st.integers(1, 50))
def test_groups_of_one_size_have_the_limits_of_students_t(drawn, size):
    values, _ = drawn
    low, high = limits(values, np.full(values.size, size))
    apart = values - np.mean(values)
    spread = float(np.sum(apart**2))
    # Each residual counts as if its group had not been in the mean: G/(G - 1) in the variance.
    half = t_quantile(0.95, values.size - 1.0) * math.sqrt(spread) / (values.size - 1)
    down, up = naive_groups.farther(apart.tolist()) if spread > 1e-20 else (1.0, 1.0)
    assert low == pytest.approx(np.mean(values) - half * down, abs=1e-9)
    assert high == pytest.approx(np.mean(values) + half * up, abs=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize(
    "values",
    [[0.4, 0.5, 0.7], [0.9, 0.99, 1.0, 1.0], [0.0, 0.02, 0.01, 0.3, 0.05], [0.2, 0.8]],
)
def test_limits_of_a_mean_agree_with_the_slow_reference(values, level):
    stats = pytest.importorskip("scipy.stats")
    expected = naive_groups.mean_limits(
        values, lambda degrees: stats.t.ppf(0.5 + 0.5 * level, degrees)
    )
    found = mean_limits(np.array(values), level, (0.0, 1.0))
    assert found == pytest.approx(expected, abs=1e-12)
    # Another unit, and what is called bad, do not matter.
    doubled = mean_limits(2 * np.array(values) - 1, level, (-1.0, 1.0))
    assert doubled == pytest.approx([2 * end - 1 for end in expected], abs=1e-12)
    mirrored = mean_limits(1 - np.array(values), level, (0.0, 1.0))
    assert mirrored == pytest.approx([1 - end for end in expected[::-1]], abs=1e-12)


def test_limits_of_a_mean_without_ends_are_students():
    stats = pytest.importorskip("scipy.stats")
    values = np.array([-3.0, 0.2, 0.5, 0.7])
    expected = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
    for bounds in ((-math.inf, 1.0), (-math.inf, math.inf)):
        assert mean_limits(values, 0.95, bounds) == pytest.approx(expected, abs=1e-12)
    assert mean_limits(values[:1], 0.95) is None
    # Where all groups say the same there is nothing to move, also at the end of the range.
    for same in (0.3, 1.0):
        assert mean_limits(np.full(4, same), 0.95, (0.0, 1.0)) == pytest.approx((same, same))


def test_sizes_that_hardly_differ_change_nothing():
    values = np.array([0.5, 0.55, 0.6, 0.66, 0.7])
    left_out = weighted_mean(values, np.array([98, 99, 100, 101, 102]))[1]
    assert left_out.trend.slope > 1
    assert not left_out.makes_room(0.95)


def test_a_group_without_positives_has_no_size():
    values, weights = np.array([0.4, 0.5, 0.8, 0.3]), np.array([3, 10, 40, 0])
    # Its share is 0, so it moves nothing.
    assert limits(values, weights) == pytest.approx(limits(values[:3], weights[:3]), abs=1e-13)


def test_sizes_and_values_that_go_together_are_told():
    rng = np.random.default_rng(5)
    n_pos = np.round(np.exp(np.linspace(2.0, 5.0, 10))).astype(int)
    rows = [
        (np.arange(4 * n) < n, rng.normal(size=4 * n) + (np.arange(4 * n) < n) * 0.6 * np.log(n))
        for n in n_pos
    ]
    y, s = (np.concatenate(part) for part in zip(*rows, strict=True))
    rankings = rank_groups(y, s, np.repeat(np.arange(10), 4 * n_pos))
    for how in ("weighted", "pooled"):
        said = " ".join(aggregate(rankings, how=how, design="independent").warnings)
        assert "Larger groups have higher values here (p = " in said
        assert "the upper limit makes room" in said
    assert "Larger groups" not in " ".join(aggregate(rankings).warnings)
    falling = rank_groups(y, -s, np.repeat(np.arange(10), 4 * n_pos))
    lower = aggregate(falling, "auroc", how="weighted", design="independent")
    assert "Larger groups have lower values" in " ".join(lower.warnings)
    assert "the lower limit makes room" in " ".join(lower.warnings)

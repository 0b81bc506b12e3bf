"""What must not change the numbers of groups: orders, names, monotone scores, repetitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import precall as pr
from precall.groups.group_values import per_group
from precall.groups.ranking_by_group import rank_groups
from precall.groups.summary import summary_curve

pytestmark = pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")

# Areas and what is counted by rank; thresholds and points of the curve would mean other things.
METRICS = {
    str(metric): metric
    for metric in (
        pr.metrics.aucpr(),
        pr.metrics.aucnpr(),
        pr.metrics.auroc(),
        pr.metrics.precision_at_k(3),
        pr.metrics.recall_at_k(3),
        pr.metrics.reciprocal_rank(k=3),
        pr.metrics.ndcg(k=3),
        pr.metrics.r_precision(),
        pr.metrics.eleven_point_precision(),
    )
}


@st.composite
def grouped(draw, max_rows=40, max_groups=5):
    """Labels, scores on few levels and groups."""
    size = draw(st.integers(1, max_rows))
    rows = st.lists(
        st.tuples(st.booleans(), st.integers(-4, 4), st.integers(0, max_groups - 1)),
        min_size=size,
        max_size=size,
    )
    y, s, g = zip(*draw(rows), strict=True)
    return np.array(y), np.array(s), np.array(g)


def values(y, s, g, metric, w=None):
    return per_group(rank_groups(y, s, g, sample_weight=w, pooled=False), METRICS[metric]).values


@given(grouped(), st.sampled_from(sorted(METRICS)), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(data, metric, random):
    y, s, g = data
    order = list(range(y.size))
    random.shuffle(order)
    np.testing.assert_array_equal(
        values(y, s, g, metric), values(y[order], s[order], g[order], metric)
    )


@given(grouped(), st.sampled_from(sorted(METRICS)), st.permutations(range(5)))
def test_the_names_of_groups_change_only_their_order(data, metric, names):
    y, s, g = data
    renamed = np.array(names)[g]
    first = dict(zip(np.array(names)[np.unique(g)].tolist(), values(y, s, g, metric), strict=True))
    second = dict(zip(np.unique(renamed).tolist(), values(y, s, renamed, metric), strict=True))
    for name, value in first.items():
        assert value == pytest.approx(second[name], nan_ok=True, abs=1e-15)


@given(grouped(), st.sampled_from(sorted(METRICS)))
def test_each_group_may_have_its_own_increasing_transform(data, metric):
    y, s, g = data
    transformed = np.exp(s / 3.0) * (g + 1) - 100 * g
    np.testing.assert_array_equal(values(y, s, g, metric), values(y, transformed, g, metric))


@given(grouped(max_rows=20), st.sampled_from(["aucpr", "aucnpr", "auroc"]), st.data())
def test_a_whole_weight_is_a_repetition(data, metric, more):
    y, s, g = data
    w = np.array(more.draw(st.lists(st.integers(1, 3), min_size=y.size, max_size=y.size)))
    repeated = values(np.repeat(y, w), np.repeat(s, w), np.repeat(g, w), metric)
    np.testing.assert_allclose(values(y, s, g, metric, w), repeated, atol=1e-12)


@given(grouped(), st.sampled_from(sorted(METRICS)))
def test_every_value_lies_in_the_unit_interval(data, metric):
    found = values(*data, metric)
    found = found[~np.isnan(found)]
    assert np.all((found >= -1e-12) & (found <= 1 + 1e-12))


@given(grouped())
def test_one_group_is_one_ranking_and_pooled_ignores_groups(data):
    y, s, g = data
    assume(0 < y.sum() < y.size)
    ranking = pr.rank(y, s)
    assert rank_groups(y, s, np.zeros_like(g))[0] == ranking
    for metric, alone in (("aucpr", pr.aucpr), ("aucnpr", pr.aucnpr), ("auroc", pr.auroc)):
        pooled = pr.aggregate(rank_groups(y, s, g), metric, how="pooled")
        assert pooled.estimate == pytest.approx(alone(ranking), abs=1e-14)
        assert pooled.interval is None or pooled.estimate in pooled.interval


@given(grouped(), st.floats(0.01, 0.99))
def test_a_summary_curve_is_achievable_and_falls_when_prevalence_does(data, prevalence):
    y, s, g = data
    rankings = rank_groups(y, s, g)
    assume(np.any((rankings.n_pos > 0) & (rankings.n_neg > 0)))
    here, lower = (
        summary_curve(rankings, prevalence=prevalence),
        summary_curve(rankings, prevalence=prevalence / 2),
    )
    assert pr.minimum_aucpr(prevalence) - 1e-12 <= here.area() <= 1 + 1e-12
    assert np.all(
        pr.is_achievable(
            here.band.recall, np.minimum(here.band.precision * (1 + 1e-12), 1), prevalence
        )
    )
    assert lower.area() <= here.area() + 1e-12
    assert np.all(np.diff(here.tp) >= 0)
    assert np.all(np.diff(here.fp) >= 0)

"""Curves: their points, their heights, their drawing."""

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError
from tests.datasets import random_data

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]


def rankings(seed, count=60):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        y, s, w = random_data(rng, weights=("none", "real")[int(rng.integers(2))])
        yield y, s, w, pr.rank(y, s, sample_weight=w)


def test_every_observed_point_is_reached_by_its_threshold():
    for y, s, w, ranking in rankings(1):
        w = np.ones(len(y)) if w is None else w
        curve = pr.roc_curve(ranking)
        for tp, fp, threshold in zip(curve.tp, curve.fp, curve.threshold, strict=True):
            chosen = s >= threshold
            assert tp == w[chosen & (y == 1)].sum()
            assert fp == w[chosen & (y == 0)].sum()
        curve = pr.pr_curve(ranking)
        assert np.isnan(curve.threshold[~curve.observed & (curve.tp + curve.fp > 0)]).all()
        for tp, fp, threshold in zip(
            curve.tp[curve.observed],
            curve.fp[curve.observed],
            curve.threshold[curve.observed],
            strict=True,
        ):
            assert tp == w[(s >= threshold) & (y == 1)].sum()
            assert fp == w[(s >= threshold) & (y == 0)].sum()


def test_no_point_is_invented_at_recall_zero():
    first = pr.pr_curve(pr.rank([1, 0, 1], [3, 2, 1]))
    assert first.recall[0] == 0
    assert first.precision[0] == 1.0
    assert not first.observed[0]
    mixed = pr.pr_curve(pr.rank([1, 0, 0, 1], [3, 3, 3, 1]))
    assert mixed.precision[0] == pytest.approx(1 / 3)
    assert float(mixed.at(0.0)) == pytest.approx(1 / 3)
    led = pr.pr_curve(pr.rank([0, 1, 1], [3, 2, 1]))
    assert led.recall[0] == led.precision[0] == 0
    assert led.observed[0]
    assert float(led.at(0.0)) == 0.0


def test_at_gives_the_height_on_arrival():
    curve = pr.pr_curve(pr.rank([1, 0, 0, 1], [4, 3, 2, 1]))
    assert float(curve.at(0.5)) == 1.0
    assert 1 / 3 in curve.precision[curve.recall == 0.5]
    assert float(curve.at(1.0)) == 0.5
    # Halfway from (1, 2) to (2, 2): 1.5 / 3.5.
    np.testing.assert_allclose(curve.at([0.25, 0.75]), [1.0, 1.5 / 3.5])
    with pytest.raises(InputError, match="recall must be between 0 and 1"):
        curve.at(1.2)


def test_at_survives_the_rounding_of_recall():
    """0.55 * 100 is 55.00000000000001 in floating point, and must not fall off the step."""
    curve = pr.pr_curve(pr.rank(np.tile([1, 0], 100), -np.arange(200)))
    recall = np.arange(1, 101) / 100
    tp = np.arange(1, 101)
    np.testing.assert_allclose(curve.at(recall), tp / (2 * tp - 1), rtol=1e-14)


def test_at_is_linear_in_counts_on_every_kind():
    grid = np.linspace(0, 1, 101)
    for _, _, _, ranking in rankings(2):
        curve = pr.pr_curve(ranking)
        tp = grid * curve.n_pos
        # The smallest FP at which the path reaches each TP.
        path = pr.roc_curve(ranking)
        fp = np.array(
            [path.fp[np.searchsorted(path.tp, t)] if t in path.tp else np.nan for t in tp]
        )
        seen = ~np.isnan(fp) & (tp > 0)
        np.testing.assert_allclose(curve.at(grid[seen]), tp[seen] / (tp + fp)[seen], rtol=1e-12)
        roc = pr.roc_curve(ranking)
        assert np.all(np.diff(roc.at(grid)) >= -1e-15)
        assert roc.at(1.0) == 1.0
        hit = pr.hit_curve(ranking)
        np.testing.assert_allclose(hit.at(grid), np.interp(grid, hit.x, hit.y), atol=1e-12)
        lift = pr.lift_curve(ranking)
        np.testing.assert_allclose(
            lift.at(grid[1:]) * ranking.prevalence * grid[1:], hit.at(grid[1:]), atol=1e-12
        )
        gain = pr.gain_curve(ranking)
        unique = np.unique(gain.x, return_index=True)[1]
        inner = grid[(grid > gain.x[0]) & ~np.isin(grid, gain.x)]
        if unique.size == gain.x.size:
            np.testing.assert_allclose(gain.at(inner), np.interp(inner, gain.x, gain.y), atol=1e-9)


def test_interpolated_points_keep_the_drawn_curve_close():
    for _, _, _, ranking in rankings(3):
        curve = pr.pr_curve(ranking)
        inner = np.diff(curve.recall) > 0
        middle = ((curve.recall[1:] + curve.recall[:-1]) / 2)[inner]
        chord = ((curve.precision[1:] + curve.precision[:-1]) / 2)[inner]
        assert np.max(np.abs(curve.at(middle) - chord)) <= 5e-4


def test_hit_curve_is_between_random_and_perfect():
    for _, _, _, ranking in rankings(4):
        curve = pr.hit_curve(ranking)
        grid = np.linspace(0, 1, 51)
        assert np.all(curve.at(grid) <= curve.perfect().at(grid) + 1e-12)
        np.testing.assert_allclose(curve.random().at(grid), grid * ranking.prevalence, atol=1e-15)
        assert curve.y[-1] == pytest.approx(ranking.prevalence)


def test_perfect_and_random_in_other_coordinates():
    curve = pr.pr_curve(pr.rank([1, 0, 1, 0, 0], [5, 4, 3, 2, 1]))
    assert curve.perfect().area() == pytest.approx(1.0)
    assert curve.random().area() == pytest.approx(0.4)
    gain = pr.gain_curve(pr.rank([1, 0, 1, 0, 0], [5, 4, 3, 2, 1]))
    assert gain.perfect().area() == pytest.approx(1.0)
    assert gain.random().area() == pytest.approx(0.0, abs=1e-15)
    assert gain.x[0] == pytest.approx(0.0, abs=1e-15)


def test_minimum_curve_is_the_floor_of_every_curve():
    grid = np.linspace(0, 1, 101)
    for _, _, _, ranking in rankings(5):
        floor = pr.minimum_pr_curve(ranking.prevalence)
        pi = ranking.prevalence
        np.testing.assert_allclose(floor.at(grid), pi * grid / (1 - pi + pi * grid), atol=1e-15)
        curve = pr.pr_curve(ranking)
        assert pr.is_achievable(curve.recall, curve.precision, pi).all()
        assert np.all(curve.at(grid) >= floor.at(grid) - 1e-12)
        assert floor.area() == pytest.approx(pr.minimum_aucpr(pi), rel=1e-13)
        assert not floor.observed.any()


def test_is_achievable_draws_the_line():
    assert pr.is_achievable(1.0, 0.2, 0.2) is True
    assert pr.is_achievable(1.0, 0.2 - 1e-9, 0.2) is False
    assert pr.is_achievable([0.0, 0.5], [0.0, 0.0], 0.3).tolist() == [True, False]
    with pytest.raises(InputError, match="precision must be between"):
        pr.is_achievable(0.5, 1.5, 0.3)


def test_thinning_moves_nothing_by_more_than_the_tolerance():
    rng = np.random.default_rng(6)
    y = rng.random(400_000) < 0.2
    ranking = pr.rank(y, rng.normal(size=y.size) + y)
    for make in (pr.pr_curve, pr.roc_curve, pr.hit_curve, pr.gain_curve):
        curve = make(ranking)
        for tolerance in (1e-2, 1e-3):
            thin = curve.thin(tolerance)
            assert len(thin) <= 4 / tolerance + 9
            assert len(thin) < len(curve)
            # Each strip keeps its lowest and highest point, so both envelopes agree exactly.
            strip = np.floor((curve.x - curve.x[0]) / tolerance)
            thin_strip = np.floor((thin.x - thin.x[0]) / tolerance)
            np.testing.assert_array_equal(np.unique(strip), np.unique(thin_strip))
            for k in np.unique(strip)[::37]:
                mine, theirs = curve.y[strip == k], thin.y[thin_strip == k]
                assert (mine.min(), mine.max()) == (theirs.min(), theirs.max())
                assert (mine[0], mine[-1]) == (theirs[0], theirs[-1])
    small = pr.pr_curve(pr.rank([1, 0, 1], [3, 2, 1]))
    assert small.thin(0.01) is small


def test_hull_is_convex_and_above():
    grid = np.linspace(0, 1, 101)
    for _, _, _, ranking in rankings(7):
        roc = pr.roc_curve(ranking)
        hull = roc.convex_hull()
        slopes = np.diff(hull.tp) / np.maximum(np.diff(hull.fp), 1e-300)
        assert np.all(np.diff(slopes) <= 1e-9 * slopes[:-1])
        assert np.all(hull.at(grid) >= roc.at(grid) - 1e-12)
        pr_hull = pr.pr_curve(ranking).convex_hull()
        assert np.all(pr_hull.at(grid) >= pr.pr_curve(ranking).at(grid) - 1e-12)
        known = ~np.isnan(hull.threshold)
        assert np.isin(hull.threshold[known], roc.threshold).all()
    with pytest.raises(InputError, match="not of the gain curve"):
        pr.gain_curve(pr.rank([1, 0], [2, 1])).convex_hull()


def test_all_scores_equal_is_the_diagonal():
    ranking = pr.rank([1, 0, 1, 0, 0], [7, 7, 7, 7, 7])
    np.testing.assert_array_equal(pr.roc_curve(ranking).x, pr.roc_curve(ranking).y)
    np.testing.assert_allclose(pr.pr_curve(ranking).precision, 0.4)


def test_curves_need_both_classes():
    for labels in ([1, 1], [0, 0]):
        with pytest.raises(InputError, match="both classes"):
            pr.pr_curve(pr.rank(labels, [2, 1]))


def test_lift_has_no_area_and_curves_are_read_only():
    curve = pr.lift_curve(pr.rank([1, 0, 1], [3, 2, 1]))
    with pytest.raises(InputError, match="no useful area"):
        curve.area()
    with pytest.raises(ValueError, match="read-only"):
        curve.tp[0] = 1
    assert curve.to_dict()["kind"] == "lift"

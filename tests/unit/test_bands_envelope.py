"""The envelope of drawn curves: what it takes for a cliff, and what that costs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from precall.inference.bands import envelope
from precall.inference.bands.envelope import rank_envelope

pytestmark = pytest.mark.numerics

DRAWS = 2000


def heights(*points):
    """Sorted heights of every point."""
    return np.sort(np.stack(points), axis=1)


def test_heights_are_dense_in_half_of_their_spread_and_in_little_of_it_at_a_cliff():
    rng = np.random.default_rng(0)
    normal = rng.normal(size=DRAWS)
    cliff = np.where(np.arange(DRAWS) < 700, 0.0, 50.0) + rng.normal(size=DRAWS)
    density = envelope._density(heights(normal, cliff, np.ones(DRAWS)))
    # Of 48 parts of 2 % of a normal distribution the 36 about its middle reach from -1.08 to 1.08,
    # all of them from -2.05 to 2.05; as all heights are the same, there is no cliff.
    assert density == pytest.approx([1.08 / 2.05, 0.05, 1.0], abs=0.03)


def test_no_point_weighs_more_than_it_may_and_a_cliff_little():
    rng = np.random.default_rng(1)
    spread = [1.0, 1.0, 1.0, 1.0, 30.0]
    points = [size * rng.normal(size=DRAWS) for size in spread]
    points.append(np.where(np.arange(DRAWS) < 700, 0.0, 50.0) + rng.normal(size=DRAWS))
    ranked = heights(*points)
    for most, found in ((2.0, 2.0), (math.inf, 30.0)):
        weights = envelope._weights(
            envelope._spread(ranked), envelope._density(ranked), most, DRAWS
        )
        assert weights.mean() == pytest.approx(1.0)
        usual = weights[:, :4].mean()
        assert weights[:, 4] == pytest.approx([found * usual] * 2, rel=0.1)
        # A cliff's spread is 25 times as large.
        assert weights[:, 5].max() < most / 2 * usual
        assert weights[:, 5].max() < 10 * usual


@pytest.mark.parametrize("spread", [[1.0] * 20, [1.0] * 19 + [8.0], [8.0, 4.0, 2.0] + [0.5] * 17])
def test_weights_are_cut_where_that_makes_the_band_narrowest(spread, monkeypatch):
    """At one level, so that those of the others lie in each other."""
    rng = np.random.default_rng(6)
    curves = rng.standard_t(3, size=(DRAWS, len(spread))) * spread

    def limits(alpha):
        return np.stack(rank_envelope(curves, curves, curves, alpha))

    narrow, low_and_high, wide = (limits(alpha) for alpha in (0.2, 0.05, 0.01))
    for inner, outer in ((narrow, low_and_high), (low_and_high, wide)):
        assert np.all(outer[0] <= inner[0])
        assert np.all(inner[1] <= outer[1])
    widths = []
    for most in envelope._MOST_WEIGHTS:
        monkeypatch.setattr(envelope, "_MOST_WEIGHTS", (most,))
        widths.append(np.sum(np.diff(limits(0.05), axis=0)))
    assert np.sum(np.diff(low_and_high, axis=0)) == min(widths)
    assert (max(widths) > 1.01 * min(widths)) == (max(spread) > 1.0)


def test_one_cliff_of_several_points_is_counted_once():
    weights = np.ones((2, 7))
    cuts = np.array([4.0, 20.0])
    # c log(1/c) beyond the level c of the point, by the product of two uniform numbers.
    beyond = cuts / DRAWS * np.log(DRAWS / cuts)
    for density, cliffs in (
        ([0.5] * 7, 0.0),
        ([0.5, 0.5, 0.1, 0.5, 0.5, 0.5, 0.5], 1.0),
        ([0.5, 0.1, 0.05, 0.1, 0.5, 0.5, 0.5], 1.0),
        ([0.5, 0.1, 0.5, 0.5, 0.5, 0.1, 0.1], 2.0),
        ([0.5, 0.15, 0.5, 0.5, 0.5, 0.5, 0.5], 0.5),
    ):
        found = envelope._missed_at_cliffs(cuts, weights, np.array(density), DRAWS)
        assert found == pytest.approx(cliffs * beyond, abs=1e-12)


def test_the_product_of_two_uniform_numbers_is_small_as_often_as_is_said():
    rng = np.random.default_rng(2)
    u, v = rng.random((2, 200_000))
    for level in (0.01, 0.1):
        expected = level + level * math.log(1 / level)
        error = math.sqrt(expected * (1 - expected) / u.size)
        assert np.mean(u * v < level) == pytest.approx(expected, abs=4 * error)


def test_without_a_cliff_as_many_curves_are_left_out_as_may_be():
    rng = np.random.default_rng(3)
    curves = rng.normal(size=(DRAWS, 1)) + 0.1 * rng.normal(size=(DRAWS, 30))
    low, high = rank_envelope(curves, curves, curves, 0.05)
    left = np.mean(np.any((curves < low) | (curves > high), axis=1))
    assert 0.04 < left <= 0.05


def test_with_cliffs_fewer_are_left_out():
    rng = np.random.default_rng(4)
    curves = rng.normal(size=(DRAWS, 1)) + 0.1 * rng.normal(size=(DRAWS, 30))
    for point, share in ((10, 0.3), (20, 0.6)):
        curves[:, point] += np.where(rng.random(DRAWS) < share, 0.0, 50.0)
    low, high = rank_envelope(curves, curves, curves, 0.05)
    left = np.mean(np.any((curves < low) | (curves > high), axis=1))
    assert 0.01 < left < 0.04
    # Both sides of a cliff are inside.
    assert np.all(high[[10, 20]] - low[[10, 20]] > 50.0)


def test_equal_curves_have_an_envelope_without_width():
    curves = np.full((200, 4), 0.25)
    assert np.array_equal(np.stack(rank_envelope(curves, curves, curves, 0.05)), curves[:2])

"""Long arrays in blocks: the same numbers to the last bit."""

import numpy as np
import pytest

from precall import _numerics

BLOCK = _numerics._BLOCK

pytestmark = pytest.mark.numerics


@pytest.mark.parametrize("size", [0, 1, BLOCK, BLOCK + 1, 3 * BLOCK])
def test_a_block_after_the_other_is_all_at_once(size):
    calls = []

    @_numerics.in_blocks
    def product(first, second, third):
        calls.append(len(first))
        return first * second + third

    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, size))
    for third in (2.0, np.array([2.0]), np.full(size, 2.0)):
        calls.clear()
        np.testing.assert_array_equal(product(first, second, third), first * second + 2.0)
        assert sum(calls) == size
        assert max(calls) <= BLOCK


def test_several_lines_and_arrays_of_other_lengths_are_one_call():
    calls = []

    @_numerics.in_blocks
    def total(first, second):
        calls.append(np.shape(first))
        return first + second

    lines = np.ones((2, BLOCK + 1))
    assert total(lines, lines).shape == lines.shape
    column = np.ones((2, 1))
    assert total(np.ones(BLOCK + 1), column).shape == lines.shape
    assert calls == [lines.shape, (BLOCK + 1,)]


@pytest.mark.parametrize("rate", [1e-7, 0.01, 1.0])
def test_series_that_end_early_lose_nothing(rate):
    """Terms that are left out are those that rounding would have lost."""
    rng = np.random.default_rng(2)
    for length in (50, 2 * BLOCK + 7):
        tp = np.cumsum(rng.exponential(size=length))
        fp = np.cumsum(rng.exponential(size=length)) * rate
        before = np.append(0.0, tp[:-1]), np.append(0.0, fp[:-1])
        found = _numerics.segment_area(*before, tp, fp)
        alone = [
            _numerics.segment_area(*(part[k] for part in (*before, tp, fp))) for k in range(50)
        ]
        np.testing.assert_array_equal(found[:50], alone)
        gap = rng.exponential(size=length) * 1e3
        found = _numerics.reciprocal_sum(tp + fp, gap)
        alone = [_numerics.reciprocal_sum(tp[k] + fp[k], gap[k]) for k in range(50)]
        # A logarithm of one number may differ in its last bit from one of many.
        np.testing.assert_allclose(found[:50], alone, rtol=1e-15)


def test_numbers_beside_one_that_is_none_keep_their_digits():
    x = np.array([0.2, np.nan, 0.29, 0.0])
    expected = [_numerics.log1p_excess(np.array([value]))[0] for value in x]
    np.testing.assert_array_equal(_numerics.log1p_excess(x), expected)

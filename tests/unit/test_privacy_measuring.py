"""The black-box check of a claimed epsilon: its bound is that of Clopper and Pearson."""

import math

import numpy as np
import pytest
from scipy import stats

from precall import privacy
from precall.exceptions import InputError
from precall.privacy.measuring import MeasuredEpsilon, _bound, _choose, _count


class Scripted:
    """A mechanism whose outputs are known: ones and zeros in equal steps, at a given rate."""

    def __init__(self):
        self.runs = {}

    def __call__(self, rate):
        run = self.runs[rate] = self.runs.get(rate, 0) + 1
        return float(math.floor(run * rate) > math.floor((run - 1) * rate))


@pytest.mark.parametrize("delta", [0.0, 0.05])
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_the_bound_is_that_of_two_exact_intervals(delta, level):
    """Ones on 800 and 200 of the 1000 runs that count, limits by another implementation."""
    claim = {"epsilon": 1.0, "delta": delta, "n_samples": 2000, "confidence_level": level}
    expected = math.log(
        (stats.binomtest(800, 1000).proportion_ci(level, "exact").low - delta)
        / stats.binomtest(200, 1000).proportion_ci(level, "exact").high
    )
    for pair in ((0.8, 0.2), (0.2, 0.8)):  # zeros tell as much as ones, and either side may lead
        found = privacy.measure_epsilon(Scripted(), *pair, **claim)
        assert found.epsilon == pytest.approx(expected, rel=1e-9)
        assert not found.passed
        assert found.to_dict()["passed"] is False
        assert repr(found).startswith("MeasuredEpsilon(FAILED: epsilon >= 1.")
    equal = privacy.measure_epsilon(Scripted(), 0.5, 0.5 + 1e-12, **claim)
    assert equal.epsilon == 0.0
    assert equal.passed


def test_a_bound_that_only_reaches_the_claim_does_not_refute_it():
    options = {"claimed_epsilon": 1.0, "delta": 0.0, "confidence_level": 0.9, "n_samples": 100}
    assert MeasuredEpsilon(epsilon=1.0, event="", **options).passed
    assert not MeasuredEpsilon(epsilon=math.nextafter(1.0, 2.0), event="", **options).passed


def test_limits_of_events_that_always_or_never_happen_have_closed_forms():
    runs, error = 50, 0.01
    always, never = error ** (1 / runs), 1 - error ** (1 / runs)
    assert _bound(runs, 0, runs, 0.0, error) == pytest.approx(math.log(always / never), rel=1e-9)
    assert _bound(runs, runs, runs, 0.0, error) == pytest.approx(math.log(always), rel=1e-9)
    assert _bound(runs, 0, runs, 0.5, error) == pytest.approx(
        math.log((always - 0.5) / never), rel=1e-9
    )
    assert _bound(0, 0, runs, 0.0, error) < -500  # what never happened shows nothing
    assert _bound(runs, 0, runs, 1.0, error) < -500  # nor does what delta allows


def test_events_hold_their_lower_end_and_not_their_upper_one():
    outputs = np.array([2.0, 0.0, 1.0, 1.0])
    assert _count(outputs, 1.0, 2.0) == 2
    assert _count(outputs, -math.inf, 1.0) == 1
    assert _count(outputs, 1.0, math.inf) == 3


def test_the_event_that_separates_is_found_wherever_it_is():
    """A half-line on either side, and a single value in the middle of many others."""
    many = np.linspace(0.0, 1.0, 400)
    low, high, first = _choose(np.stack([many, many + 0.5]), 0.0, 0.01)
    assert math.isinf(low) != math.isinf(high)
    assert first == (0 if math.isinf(low) else 1)
    piled = many.copy()
    piled[100:300] = 0.5
    low, high, first = _choose(np.stack([many, piled]), 0.0, 0.01)
    assert (low, high, first) == (0.5, math.nextafter(0.5, 1.0), 1)


def test_outputs_that_are_no_numbers_and_too_few_runs_are_refused():
    with pytest.raises(InputError, match="not NaN"):
        privacy.measure_epsilon(lambda x: math.nan, 0, 1, epsilon=1.0, n_samples=100)
    with pytest.raises(InputError, match="n_samples"):
        privacy.measure_epsilon(lambda x: 0.0, 0, 1, epsilon=1.0, n_samples=99)

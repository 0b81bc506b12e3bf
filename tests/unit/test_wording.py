"""Numbers as people read them: no value is printed as one that it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from precall.evaluation import wording

SHARES = st.floats(0.0, 1.0, allow_subnormal=False)


def read(text: str) -> float:
    """The number that a text shows."""
    return float(text.replace("−", "-").removesuffix(" %"))


@given(SHARES, st.integers(0, 6))
def test_only_0_prints_as_0_and_only_1_as_1(value, decimals):
    # Closer to 1 than 1e-12 is a rounding error of a sum, not another number.
    limit = 1.0 if 1.0 - value <= 1e-12 else value
    for whole, text in (
        (1.0, wording.number(value, decimals)),
        (100.0, wording.percent(value)),
        (100.0, wording.percent(value, decimals)),
    ):
        assert (read(text) == 0) == (value == 0)
        assert (read(text) == whole) == (limit == 1.0)


@given(SHARES, SHARES, SHARES)
def test_ends_of_an_interval_are_not_0_or_1_either(a, b, c):
    low, estimate, high = sorted((a, b, c))
    text = wording.interval(estimate, low, high)
    shown = [read(part) for part in text.replace("(", "").strip(")").replace("–", " ").split()]
    for value, number in zip((estimate, low, high), shown, strict=True):
        assert (number == 0) == (value == 0)
        assert (number == 1) == (1.0 - value <= 1e-12)


def test_the_report_s_example_of_a_value_that_is_not_1():
    assert wording.interval(0.97, 0.91, 0.998) == "0.97 (0.91–0.998)"
    assert wording.percent_interval(0.97, 0.91, 0.998) == "97 % (91–99.8)"
    assert wording.percent(0.99996) == "99.996 %"
    assert wording.p_value(0.998) == "0.998"
    # What a sum of floating-point numbers makes of 1 and of 0.
    assert wording.number(0.1 * 3 + 0.7 - 1e-16, 2) == "1.00"
    assert wording.interval(0.1 + 0.2 - 0.3, -0.1, 0.1, signed=True).startswith("+0.00 ")


@given(SHARES, SHARES)
def test_guaranteed_bounds_are_rounded_outwards(a, b):
    low, high = sorted((a, b))
    shown = [read(part) for part in wording.bounds(low, high).split(" to ")]
    assert shown[0] <= low
    assert shown[1] >= high or 1.0 - high <= 1e-12
    assert high - low <= shown[1] - shown[0] <= high - low + 0.002 + 1e-12


def test_bounds_have_enough_digits():
    assert wording.bounds(0.3562, 0.9647) == "0.356 to 0.965"


@pytest.mark.parametrize(
    "text",
    [
        wording.number(-0.031),
        wording.number(float("-inf")),
        wording.interval(-0.04, -0.06, -0.02, signed=True),
        wording.interval(-0.04, -0.06, 0.02),
        wording.threshold(-1.25),
        wording.threshold(-3),
        wording.number(-2e-9),
    ],
)
def test_there_is_one_minus_sign(text):
    assert "−" in text
    assert "-" not in text

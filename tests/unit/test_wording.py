"""Numbers as people read them: no value is printed as one that it is not."""

import math

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


def test_an_end_that_would_be_0_has_one_digit_and_rounding_errors_have_none():
    assert wording.interval(0.2, 0.00341, 0.54) == "0.20 (0.003–0.54)"
    assert wording.interval(-0.05, -0.09, -0.00401, signed=True) == "−0.05 (−0.09 to −0.004)"
    assert wording.percent_interval(0.004, 0.000112, 0.009) == "0.4 % (0.01–0.9)"
    # An area of exactly 0 whose limits lie on both sides of it.
    assert wording.interval(1.1e-16, -0.005, 0.005) == "0.000 (−0.005 to 0.005)"
    assert wording.interval(1e-9, 0.0, 0.1).startswith("1e−09 ")  # a share that is not 0


@given(SHARES, SHARES)
def test_guaranteed_bounds_are_rounded_outwards(a, b):
    low, high = sorted((a, b))
    shown = [read(part) for part in wording.bounds(low, high).split(" to ")]
    assert shown[0] <= low
    assert shown[1] >= high or 1.0 - high <= 1e-12
    assert high - low <= shown[1] - shown[0] <= high - low + 0.002 + 1e-12


def test_bounds_have_enough_digits():
    assert wording.bounds(0.3562, 0.9647) == "0.356 to 0.965"


def test_there_is_one_minus_sign():
    for text in (
        wording.number(-0.031),
        wording.number(float("-inf")),
        wording.interval(-0.04, -0.06, -0.02, signed=True),
        wording.interval(-0.04, -0.06, 0.02),
        wording.threshold(-1.25),
        wording.threshold(-3),
        wording.number(-2e-9),
    ):
        assert "−" in text
        assert "-" not in text


@pytest.mark.parametrize(
    ("uncertainty", "decimals"),
    [
        (0.0354, 3),  # 0.035
        (0.0355, 2),  # 0.04
        (0.0949, 2),  # 0.09
        (0.0950, 2),  # 0.10
        (0.0999, 2),
        (0.1, 2),
        (0.827, 1),
        (0.119, 2),
        (3.54, 1),
        (3.56, 0),
        (1234.0, 0),
        (1e-30, 12),
        (0.0, 4),
        (-1.0, 4),
        (math.inf, 4),
        (math.nan, 4),
    ],
)
def test_decimals_follow_the_rule_of_the_particle_data_group(uncertainty, decimals):
    assert wording.decimals_for(uncertainty) == decimals


def test_fixed_decimals_grow_where_a_number_would_become_another():
    assert wording.fixed(0.0, 2) == "0.00"
    assert wording.fixed(-0.0, 2) == "0.00"
    assert wording.fixed(1e-13, 2, signed=True) == "+0.00"
    assert wording.fixed(1e-13, 2) == "1.0e−13"
    assert wording.fixed(-0.3, 1, signed=True) == "−0.3"
    assert wording.fixed(-1.0, 1) == "−1.0"
    assert wording.fixed(0.9996, 2) == "0.9996"
    assert wording.fixed(1.0, 3) == "1.000"
    assert wording.fixed(100.0, 0, whole=100.0) == "100"
    assert wording.fixed(1e-6, 2) == "0.0000010"
    assert wording.fixed(9.99e-7, 2) == "1.0e−06"
    assert wording.fixed(0.00123, 2, signed=True) == "+0.0012"


def test_numbers_that_are_none_have_signs_of_their_own():
    assert wording.number(math.nan) == "–"
    assert wording.number(math.inf) == "∞"
    assert wording.number(-math.inf) == "−∞"


def test_percentages_have_three_digits():
    assert wording.percent(0.0) == "0 %"
    assert wording.percent(1.0) == "100 %"
    assert wording.percent(0.12345) == "12.3 %"
    assert wording.percent(0.012345) == "1.23 %"
    assert wording.percent(12.345) == "1234 %"
    assert wording.percent(0.1) == "10 %"
    assert wording.percent_interval(0.413, 0.351, 0.474) == "41 % (35–47)"
    assert wording.interval(0.2, -0.1, 0.5) == "0.20 (−0.10 to 0.50)"


def test_counts_are_grouped_and_sums_of_weights_keep_three_digits():
    assert wording.count(1000.5) == "1,000"
    assert wording.count(1000) == "1,000"
    assert wording.count(999.5) == "1,000"
    assert wording.count(999.4) == "999"
    assert wording.count(12.34) == "12.3"
    assert wording.plural(1, "row") == "1 row"
    assert wording.plural(0, "row") == "0 rows"


def test_p_values_have_the_digits_that_anyone_can_use():
    assert wording.p_value(0.000999) == "< 0.001"
    assert wording.p_value(0.001) == "0.001"
    assert wording.p_value(0.0999) == "0.100"
    assert wording.p_value(0.1) == "0.10"


def test_thresholds_are_short_and_never_rounded_up():
    assert wording.threshold(0.1234567) == "0.123456"
    assert wording.threshold(-0.1234561) == "−0.123457"
    assert wording.threshold(1234567.5) == "1.23456e+06"
    assert wording.threshold(1e15) == "1e+15"
    assert wording.threshold(123456789012345) == "123456789012345"
    assert wording.threshold(-math.inf) == "−∞"


@pytest.mark.parametrize("longest", [9, 10, 40])
def test_a_long_name_keeps_both_ends_and_no_more_than_it_may(longest):
    for size in (longest - 1, longest, longest + 1, 20 * longest, 20 * longest + 1, 10**5):
        name = "".join(chr(ord("a") + k % 26) for k in range(size))
        clean = wording.clean_name(name, longest)
        if size <= longest:
            assert clean == name
        else:
            assert len(clean) == longest
            head, tail = clean.split("…")
            assert name.startswith(head)
            assert name.endswith(tail)
            assert 0 <= len(head) - len(tail) <= 1


def test_names_that_look_alike_are_numbered():
    assert wording.clean_names(["a", "a\t", "a", "b"]) == ["a", "a (2)", "a (3)", "b"]
    long = wording.clean_names(["x" * 60, "x" * 60])
    assert len(set(long)) == 2
    assert max(map(len, long)) <= 40
    assert wording.clean_name("\n") == "(no name)"

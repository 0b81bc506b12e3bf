"""Numbers and names as people read them: no more digits than are known, no tricks in a name."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from .. import _words

_DASH = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"
# What is this close to 1, or a difference this close to 0, differs by rounding errors only.
_ROUNDING = 1e-12
_LONGEST_NAME = 40
# Control, format, surrogate, private and unassigned characters, line and paragraph ends.
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def decimals_for(uncertainty: float) -> int:
    """Return how many decimals a number with this uncertainty deserves.

    The rule of the Particle Data Group: the first two digits of the uncertainty are kept if its
    first three are at most 354, otherwise one; 950 and more count as 1000.

    Examples
    --------
    >>> [decimals_for(u) for u in (0.06, 0.031, 0.0012, 0.097)]
    [2, 3, 4, 2]
    """
    if not (math.isfinite(uncertainty) and uncertainty > 0):
        return 4
    exponent = math.floor(math.log10(uncertainty))
    leading = round(uncertainty / 10.0 ** (exponent - 2))
    # One digit of 95 and two of 100 need the same decimals.
    digits = 2 if leading <= 354 else 1
    return min(max(digits - 1 - exponent, 0), 12)


def fixed(
    value: float, decimals: int, *, whole: float = 1.0, signed: bool = False, digits: int = 2
) -> str:
    """Return a number with fixed decimals, and with more where it would become 0 or `whole`.

    Numbers that are 0 or `whole` (1, or 100 in percent) say so, and no others do: what would become
    0 has `digits` significant digits. ``report.js`` follows the same rule (``wording.js``).

    Examples
    --------
    >>> fixed(0.41327, 2), fixed(0.998, 2), fixed(1.0, 2), fixed(0.00123, 2), fixed(-0.3, 1)
    ('0.41', '0.998', '1.00', '0.0012', '\N{MINUS SIGN}0.3')
    """
    if abs(value - whole) <= _ROUNDING * whole:
        value = whole
    elif value == 0 or (signed and abs(value) <= _ROUNDING * whole):
        value = 0.0  # not -0.0
    sign = "+" if signed else ""
    text = f"{value:{sign}.{decimals}f}"
    while float(text) == whole != value:
        decimals += 1
        text = f"{value:{sign}.{decimals}f}"
    if float(text) == 0 != value:
        more = digits - 1
        tiny = abs(value) < 1e-6
        text = f"{value:{sign}.{more}e}" if tiny else f"{value:{sign}.{more - _exponent(value)}f}"
    return text.replace("-", _MINUS)


def number(value: float | None, decimals: int = 3) -> str:
    """Return a number as :func:`fixed` does, or a dash where there is none.

    Examples
    --------
    >>> number(0.41327), number(0.000123), number(0.0), number(0.9998), number(None)
    ('0.413', '0.00012', '0.000', '0.9998', '\N{EN DASH}')
    """
    if value is None or math.isnan(value):
        return _DASH
    if math.isinf(value):
        return _infinity(value)
    return fixed(value, decimals)


def _infinity(value: float) -> str:
    return "∞" if value > 0 else f"{_MINUS}∞"


def _exponent(value: float) -> int:
    return math.floor(math.log10(abs(value)))


def bounds(low: float, high: float) -> str:
    """Return guaranteed bounds, rounded outwards: what is printed is guaranteed too.

    Examples
    --------
    >>> bounds(0.35627, 0.96513), bounds(0.41231, 0.41239), bounds(0.0, 0.9997)
    ('0.356 to 0.966', '0.412310 to 0.412390', '0.000 to 0.9997')
    """
    decimals = max(decimals_for(high - low), 3)
    return f"{_outwards(low, decimals, ROUND_FLOOR)} to {_outwards(high, decimals, ROUND_CEILING)}"


def _outwards(value: float, decimals: int, rounding: str) -> str:
    exact = Decimal(repr(float(value)))
    rounded = exact.quantize(Decimal(1).scaleb(-decimals), rounding)
    while rounded in (0, 1) and abs(rounded - exact) > Decimal(_ROUNDING):
        decimals += 1
        rounded = exact.quantize(Decimal(1).scaleb(-decimals), rounding)
    return f"{rounded:f}".replace("-", _MINUS)


def interval(
    estimate: float, low: float, high: float, *, signed: bool = False, scale: float = 1.0
) -> str:
    """Return an estimate and its limits with the digits that the width of the interval supports.

    Where values may be negative, what is no more than a rounding error beside that width is 0.

    Examples
    --------
    >>> interval(0.41327, 0.351, 0.474), interval(0.0612, 0.021, 0.1013, signed=True)
    ('0.41 (0.35\N{EN DASH}0.47)', '+0.06 (+0.02 to +0.10)')
    >>> interval(0.97, 0.91, 0.998), interval(0.2, 0.00341, 0.54)
    ('0.97 (0.91\N{EN DASH}0.998)', '0.20 (0.003\N{EN DASH}0.54)')
    >>> interval(1.0, 1.0, 1.0)
    '1.00 (1.00\N{EN DASH}1.00)'
    """
    # With no width at all there is nothing to go by: 0 and 1 need no digits.
    certain = low == high and high in (0.0, 1.0)
    decimals = 2 if certain else decimals_for(0.5 * scale * (high - low))
    nothing = _ROUNDING * (high - low) if low < 0 else 0.0
    printed = [
        fixed(
            0.0 if abs(value) <= nothing else scale * value,
            decimals,
            whole=scale,
            signed=signed,
            digits=1,
        )
        for value in (estimate, low, high)
    ]
    return f"{printed[0]} ({_range(printed[1], printed[2])})"


def _range(low: str, high: str) -> str:
    return f"{low} to {high}" if low[0] in f"+{_MINUS}" else f"{low}{_DASH}{high}"


def percent(value: float, decimals: int | None = None) -> str:
    """Return a share as a percentage, with three significant digits if `decimals` is None.

    Examples
    --------
    >>> percent(0.0195), percent(0.5), percent(0.000012), percent(0.38, 0), percent(0.9997, 0)
    ('1.95 %', '50 %', '0.0012 %', '38 %', '99.97 %')
    """
    scaled = 100 * value
    if decimals is not None:
        return f"{fixed(scaled, decimals, whole=100.0)} %"
    if scaled == 0 or not math.isfinite(scaled):
        return f"{scaled:g} %"
    rounded = fixed(scaled, max(2 - _exponent(scaled), 0), whole=100.0)
    return f"{rounded.rstrip('0').rstrip('.') if '.' in rounded else rounded} %"


def percent_interval(estimate: float, low: float, high: float) -> str:
    """Return a share with its limits in percent.

    Examples
    --------
    >>> percent_interval(0.413, 0.351, 0.474)
    '41 % (35\N{EN DASH}47)'
    """
    text = interval(estimate, low, high, scale=100.0)
    head, _, tail = text.partition(" ")
    return f"{head} % {tail}"


def count(value: float) -> str:
    """Return a count with thousands separated; weights keep three significant digits at least.

    Examples
    --------
    >>> count(12345), count(12345.678), count(0.25)
    ('12,345', '12,346', '0.25')
    """
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"  # three digits make it 1000


def plural(value: float, one: str, many: str | None = None) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> plural(1, "row"), plural(3, "class", "classes")
    ('1 row', '3 classes')
    """
    return _words.plural(value, one, many, shown=count(value))


def p_value(value: float) -> str:
    """Return a p-value with the digits that anyone can use.

    Examples
    --------
    >>> p_value(1e-9), p_value(0.0312), p_value(0.412), p_value(0.997)
    ('< 0.001', '0.031', '0.41', '0.997')
    """
    if value < 0.001:
        return "< 0.001"
    return fixed(value, 3 if value < 0.1 else 2)


def threshold(value: float) -> str:
    """Return a threshold short, but never rounded up: the rows it selects stay selected.

    Examples
    --------
    >>> threshold(0.83), threshold(0.123456789), threshold(31), threshold(float("inf"))
    ('0.83', '0.123456', '31', '∞')
    """
    if math.isinf(value):
        return _infinity(value)
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value)).replace("-", _MINUS)
    short = f"{value:.6g}"
    if float(short) > value:
        step = 10.0 ** (_exponent(value) - 5)
        short = f"{(math.floor(value / step)) * step:.6g}"
    return short.replace("-", _MINUS)


def short(value: float) -> str:
    """Return a number that nobody doubts, such as the end of a scale, with three digits at most.

    Examples
    --------
    >>> short(1.0), short(-1.0), short(16.5631)
    ('1', '\N{MINUS SIGN}1', '16.6')
    """
    return f"{value:.3g}".replace("-", _MINUS)


def clean_name(name: object, longest: int = _LONGEST_NAME) -> str:
    r"""Return a name on one line, without control characters and not longer than `longest`.

    Column and file names are somebody else's text: line breaks, terminal escapes and marks that
    reverse the direction of writing become spaces, and the middle of a very long name is left out.

    Examples
    --------
    >>> clean_name("a\nb\x1b[31mc"), clean_name("x" * 500, 9)
    ('a b [31mc', 'xxxx…xxxx')
    """
    raw = str(name)
    if len(raw) > 20 * longest:  # a megabyte of name is not looked at
        raw = raw[: 10 * longest] + raw[-10 * longest :]
    visible = "".join(" " if unicodedata.category(char) in _HIDDEN else char for char in raw)
    text = " ".join(visible.split()) or "(no name)"
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return f"{text[: longest - 1 - tail]}…{text[-tail:]}"


def clean_names(names: Sequence[object], longest: int = _LONGEST_NAME) -> list[str]:
    r"""Return clean names that are still different from each other.

    Examples
    --------
    >>> clean_names(["a", "a\n", "b"])
    ['a', 'a (2)', 'b']
    """
    names_shown: list[str] = []
    for name in names:
        clean = unique = clean_name(name, longest)
        repeat = 1
        while unique in names_shown:
            repeat += 1
            suffix = f" ({repeat})"
            unique = clean_name(clean, longest - len(suffix)) + suffix
        names_shown.append(unique)
    return names_shown


def listing(items: Iterable[str], most: int | None = None) -> str:
    """Return items as a sentence lists them; those after the first `most` are counted.

    Examples
    --------
    >>> listing(["a"]), listing(["a", "b"]), listing(["a", "b", "c"]), listing("abcd", most=2)
    ('a', 'a and b', 'a, b and c', 'a, b and 2 more')
    """
    *head, last = items
    if most is not None and len(head) >= most:
        head, last = head[:most], f"{len(head) + 1 - most:,} more"
    return f"{', '.join(head)} and {last}" if head else last

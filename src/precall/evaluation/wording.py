"""Numbers and names as people read them: no more digits than are known, no tricks in a name."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence

_DASH = "\N{EN DASH}"
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
    if leading <= 354:
        digits = 2
    elif leading < 950:
        digits = 1
    else:
        exponent, digits = exponent + 1, 2
    return min(max(digits - 1 - exponent, 0), 12)


def number(value: float | None, decimals: int = 3) -> str:
    """Return a number with fixed decimals; small ones with two significant digits instead of 0.

    Examples
    --------
    >>> number(0.41327), number(0.000123), number(0.0), number(None)
    ('0.413', '0.00012', '0.000', '\N{EN DASH}')
    """
    if value is None or math.isnan(value):
        return _DASH
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    text = f"{value:.{decimals}f}"
    if value != 0 and float(text) == 0:
        return f"{value:.2g}" if abs(value) < 1e-6 else f"{value:.{1 - _exponent(value)}f}"
    return text


def _exponent(value: float) -> int:
    return math.floor(math.log10(abs(value)))


def interval(
    estimate: float, low: float, high: float, *, signed: bool = False, scale: float = 1.0
) -> str:
    """Return an estimate and its limits with the digits that the width of the interval supports.

    Examples
    --------
    >>> interval(0.41327, 0.351, 0.474), interval(0.0612, 0.021, 0.1013, signed=True)
    ('0.41 (0.35\N{EN DASH}0.47)', '+0.06 (+0.02 to +0.10)')
    """
    decimals = decimals_for(0.5 * scale * (high - low))
    sign = "+" if signed else ""
    told = [f"{scale * value:{sign}.{decimals}f}" for value in (estimate, low, high)]
    return f"{told[0]} ({_range(told[1], told[2])})"


def _range(low: str, high: str) -> str:
    return f"{low} to {high}" if low[:1] in "+-" or high[:1] in "+-" else f"{low}{_DASH}{high}"


def percent(value: float, decimals: int | None = None) -> str:
    """Return a share as a percentage, with three significant digits unless told otherwise.

    Examples
    --------
    >>> percent(0.0195), percent(0.5), percent(0.000012), percent(0.38, 0)
    ('1.95 %', '50 %', '0.0012 %', '38 %')
    """
    if decimals is not None:
        return f"{100 * value:.{decimals}f} %"
    scaled = 100 * value
    if scaled == 0 or not math.isfinite(scaled):
        return f"{scaled:g} %"
    rounded = f"{scaled:.{max(2 - _exponent(scaled), 0)}f}"
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
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def plural(value: float, one: str, many: str | None = None) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> plural(1, "row"), plural(3, "class", "classes")
    ('1 row', '3 classes')
    """
    return f"{count(value)} {one if value == 1 else many or one + 's'}"


def p_value(value: float) -> str:
    """Return a p-value with the digits that anyone can use.

    Examples
    --------
    >>> p_value(1e-9), p_value(0.0312), p_value(0.412)
    ('< 0.001', '0.031', '0.41')
    """
    if value < 0.001:
        return "< 0.001"
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def threshold(value: float) -> str:
    """Return a threshold short, but never rounded up: the rows it selects stay selected.

    Examples
    --------
    >>> threshold(0.83), threshold(0.123456789), threshold(31), threshold(float("inf"))
    ('0.83', '0.123456', '31', '∞')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    short = f"{value:.6g}"
    if float(short) > value:
        step = 10.0 ** (_exponent(value) - 5)
        short = f"{(math.floor(value / step)) * step:.6g}"
    return short


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
    told: list[str] = []
    for name in names:
        clean = unique = clean_name(name, longest)
        repeat = 1
        while unique in told:
            repeat += 1
            suffix = f" ({repeat})"
            unique = clean_name(clean, longest - len(suffix)) + suffix
        told.append(unique)
    return told


def listing(items: Iterable[str]) -> str:
    """Return items as a sentence lists them.

    Examples
    --------
    >>> listing(["a"]), listing(["a", "b"]), listing(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *head, last = items
    return f"{', '.join(head)} and {last}" if head else last

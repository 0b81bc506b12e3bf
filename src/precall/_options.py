"""Options: one number, one name, one switch at a time. Arrays are checked in `_validation`."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np

from .exceptions import InputError

# From here on not every whole number is a float.
EXACT_INTEGERS = 2.0**53
# Squared weights of the negatives overflow soon below this.
_SMALLEST_PREVALENCE = 1e-100

# Names of a long list that are shown beside the one that was probably meant.
_MOST_LISTED = 5


def as_fraction(value: object, name: str, *, open_ends: bool = True) -> float:
    """Return a number between 0 and 1, the ends excluded unless `open_ends` is false."""
    number = as_number(value, name)
    inside = 0.0 < number < 1.0 if open_ends else 0.0 <= number <= 1.0
    if not inside:
        ends = "strictly between 0 and 1" if open_ends else "between 0 and 1"
        raise InputError(f"{name} must be {ends}, got {value!r}.")
    return number


def as_prevalence(value: object) -> float:
    """Return a prevalence to go to: between 0 and 1, and not so small that weights overflow."""
    target = as_fraction(value, "prevalence")
    if target < _SMALLEST_PREVALENCE:
        raise InputError(f"prevalence must be at least {_SMALLEST_PREVALENCE:g}, got {target:g}.")
    return target


def as_number(value: object, name: str) -> float:
    """Return a real number that is not NaN."""
    if type(value) is float and value == value:
        return value
    # A duration of NumPy calls itself an integer.
    is_number = isinstance(value, (Real, np.bool_)) and not isinstance(value, np.timedelta64)
    if not is_number or value != value:
        raise InputError(f"{name} must be a number, got {value!r}.")
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise InputError(f"{name} must be a number that a float can hold.") from None
    except TypeError:  # a duration is a whole number to NumPy, and no float
        raise InputError(f"{name} must be a number, got {value!r}.") from None


def as_count(value: object, name: str, *, minimum: int = 0) -> int:
    """Return a whole number of at least `minimum`."""
    if type(value) is int and minimum <= value <= EXACT_INTEGERS:
        return value
    whole = isinstance(value, (Integral, np.integer)) or (
        isinstance(value, (float, np.floating)) and float(value).is_integer()
    )
    if not whole or isinstance(value, bool) or int(value) < minimum:  # type: ignore[call-overload]
        raise InputError(f"{name} must be a whole number of at least {minimum}, got {value!r}.")
    count: int = int(value)  # type: ignore[call-overload]
    if count > EXACT_INTEGERS:
        raise InputError(f"{name} must be a whole number of at most {EXACT_INTEGERS:.0f}.")
    return count


def as_range(value: object, name: str) -> tuple[float, float]:
    """Return a pair (a, b) with 0 <= a < b <= 1."""
    pair: Any = value
    try:
        first, second = pair
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a pair such as (0.0, 1.0), got {value!r}.") from None
    low, high = as_number(first, f"{name}[0]"), as_number(second, f"{name}[1]")
    if not 0.0 <= low < high <= 1.0:
        raise InputError(f"{name} must satisfy 0 <= low < high <= 1, got ({low:g}, {high:g}).")
    return low, high


def as_choice(value: object, name: str, choices: Collection[str]) -> str:
    """Return `value` if it is one of the choices; suggest the nearest name otherwise."""
    if isinstance(value, str) and value in choices:
        return str(value)
    from difflib import get_close_matches

    options = list(choices)
    near = get_close_matches(str(value)[:100], options, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    # A name that was nearly right does not need all of a long list.
    shown = options[:_MOST_LISTED] if near and len(options) > 2 * _MOST_LISTED else options
    listed = ", ".join(map(repr, shown))
    more = f" and {len(options) - len(shown)} more" if len(shown) < len(options) else ""
    got = repr(value)
    if hasattr(value, "shape"):
        got = "an array: labels and scores are one argument, pr.rank(y_true, y_score)"
    raise InputError(f"{name} must be one of {listed}{more}, got {got}.{hint}")


def as_flag(value: object, name: str) -> bool:
    """Return a switch: True or False, whoever wrote them."""
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, Integral) and value in (0, 1)):
        return bool(value)
    raise InputError(f"{name} must be True or False, got {value!r}.")


def require_progress(progress: object) -> None:
    """Raise unless this is None or can be called to say how far the work is."""
    # A class can be called too, and is nothing that shows progress.
    if progress is not None and (not callable(progress) or isinstance(progress, type)):
        raise InputError(
            f"progress must be a function of (done, total), got {type(progress).__name__}."
        )


def as_generator(rng: object) -> np.random.Generator:
    """Turn None, a seed or a Generator into a Generator, once, at the boundary."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None or isinstance(rng, np.random.SeedSequence):
        return np.random.default_rng(rng)
    if not isinstance(rng, bool) and isinstance(rng, (Integral, np.integer)) and int(rng) >= 0:
        return np.random.default_rng(int(rng))
    raise InputError(f"rng must be None, a non-negative integer or a numpy Generator, got {rng!r}.")

"""Small JSON files that sites exchange: written whole, and read as if a stranger had sent them."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from .._output import whole_file
from .._text import is_hidden, visible
from ..exceptions import InputError

Made = TypeVar("Made")

# No honest file comes near it.
_LARGEST = 2**22
# What 64 bits hold; noise of a tiny epsilon is cut off there.
_LARGEST_COUNT = 2**63
_LONGEST_NAME = 100
_INFINITIES = {"-inf": -math.inf, "inf": math.inf}


def write_document(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write plain values as strict JSON, the whole file or none."""
    text = json.dumps(content, indent=1, allow_nan=False, ensure_ascii=True)
    with whole_file(Path(path)) as unfinished:
        unfinished.write_text(f"{text}\n", encoding="ascii")


def read_document(
    path: str | os.PathLike[str], what: str, make: Callable[[Mapping[str, Any]], Made]
) -> Made:
    """Make something of the JSON object in a file; an error names the file."""
    name = visible(path)
    with Path(path).open("rb") as file:
        text = file.read(_LARGEST + 1)
    if len(text) > _LARGEST:
        raise InputError(f"{name} is too large to be {what}.")
    try:
        plain = json.loads(text, object_pairs_hook=_without_repetition, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise InputError(f"{name} is not {what}: it is no JSON file.") from None
    try:
        return make(plain)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name comes twice")
    return dict(pairs)


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


class Fields:
    """The fields of a document, each read as what it has to be."""

    def __init__(self, plain: object, what: str, form: str, names: tuple[str, ...]) -> None:
        self._what = what
        if not isinstance(plain, Mapping):
            raise InputError(f"this is not {what}: it holds no object.")
        found = plain.get("format")
        if found != form:
            family = form.rsplit(" ", 1)[0]
            if isinstance(found, str) and found.startswith(f"{family} "):
                raise InputError(
                    f"this is {what} of another version: its format is {visible(found)[:80]!r}, "
                    f"and this version reads {form!r}. Make all of them with one version."
                )
            raise InputError(f"this is not {what}: its format must be {form!r}.")
        if set(plain) != {"format", *names}:
            raise InputError(f"this is not {what}: it must have {', '.join(names)}, nothing else.")
        self._plain = plain

    def wrong(self, name: str, rule: str) -> NoReturn:
        """Refuse the document for one of its fields."""
        raise InputError(f"this is not {self._what}: {name} must be {rule}.")

    def whole(self, name: str, *, least: int, most: int) -> int:
        """A whole number within limits."""
        value = self._plain[name]
        if type(value) is not int or not least <= value <= most:
            self.wrong(name, f"a whole number from {least} to {most}")
        return value

    def number(self, name: str) -> float:
        """A finite number above 0."""
        value = self._plain[name]
        if type(value) not in (int, float) or not 0 < value < math.inf:
            self.wrong(name, "a finite number above 0")
        try:
            return float(value)
        except OverflowError:
            self.wrong(name, "a finite number above 0")

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self._plain[name]
        if type(value) is not bool:
            self.wrong(name, "true or false")
        return value

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """One of several words."""
        value = self._plain[name]
        if not isinstance(value, str) or value not in choices:
            self.wrong(name, f"one of {', '.join(choices)}")
        return value

    def text(self, name: str) -> str:
        """A name that can be shown."""
        value = self._plain[name]
        if not is_name(value):
            self.wrong(name, "a name of visible characters")
        return str(value)

    def counts(self, name: str, size: int) -> tuple[int, ...]:
        """So many whole numbers of 64 bits."""
        values = self._plain[name]
        if (
            not isinstance(values, (list, tuple))
            or len(values) != size
            or not all(type(v) is int and -_LARGEST_COUNT <= v < _LARGEST_COUNT for v in values)
        ):
            self.wrong(name, f"{size} whole numbers of 64 bits")
        return tuple(values)

    def edges(self, name: str, *, most: int) -> tuple[float, ...]:
        """Increasing numbers; the first and the last may be infinite, written as words."""
        values = self._plain[name]
        rule = f"from 3 to {most} increasing numbers"
        if not isinstance(values, (list, tuple)) or not 3 <= len(values) <= most:
            self.wrong(name, rule)
        numbers = [_INFINITIES.get(v, math.nan) if isinstance(v, str) else v for v in values]
        if not all(type(v) in (int, float) for v in numbers):
            self.wrong(name, rule)
        try:
            edges = tuple(map(float, numbers))
        except OverflowError:
            self.wrong(name, rule)
        if not all(a < b for a, b in itertools.pairwise(edges)):
            self.wrong(name, rule)
        return edges

    def inner(self, name: str) -> object:
        """A document within this one."""
        return self._plain[name]


def plain_edges(edges: tuple[float, ...]) -> list[float | str]:
    """Edges as strict JSON can hold them."""
    return [edge if math.isfinite(edge) else str(edge) for edge in edges]


def is_name(value: object) -> bool:
    """Whether this can name a site: visible characters, not too many, no spaces at the ends."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= _LONGEST_NAME
        and value == value.strip()
        and not any(map(is_hidden, value))
    )

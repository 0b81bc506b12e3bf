"""SQL as pieces of text and values: values are bound, and names are quoted, never pasted in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from string import Formatter
from typing import Any

from ..exceptions import InputError


@dataclass(frozen=True)
class Bound:
    """A value that the driver hands to the database beside the text."""

    value: Any


@dataclass(frozen=True)
class Statement:
    """Text and values in their order."""

    parts: tuple[str | Bound, ...] = ()

    @classmethod
    def compose(cls, template: str, **fields: Statement | Bound) -> Statement:
        """Fill the fields of a template, which is text of this library, with statements and values.

        Examples
        --------
        >>> one = Statement.compose("{name} > {value}", name=quoted("a"), value=Bound(3))
        >>> one.rendered("?")
        ('"a" > ?', [3])
        """
        parts: list[str | Bound] = []
        for text, field, _, _ in Formatter().parse(template):
            parts.append(text)
            if field is not None:
                filled = fields[field]
                parts.extend((filled,) if isinstance(filled, Bound) else filled.parts)
        return cls(tuple(parts))

    @classmethod
    def listed(cls, members: Iterable[Statement], separator: str = ", ") -> Statement:
        """Write statements one after the other."""
        parts: list[str | Bound] = []
        for number, member in enumerate(members):
            parts.extend(([separator] if number else []) + list(member.parts))
        return cls(tuple(parts))

    def rendered(self, placeholder: str) -> tuple[str, list[Any]]:
        """Return the text, with a placeholder (``?``, ``%s``, or ``$`` numbered), and the values.

        Where a percent sign begins a placeholder, those of the text are doubled.
        """
        text, values = [], []
        for part in self.parts:
            if isinstance(part, Bound):
                values.append(part.value)
                text.append(f"${len(values)}" if placeholder == "$" else placeholder)
            else:
                text.append(part.replace("%", "%%") if placeholder == "%s" else part)
        return "".join(text), values


def quoted(*names: str) -> Statement:
    """Quote a name, or the parts of one, as standard SQL does: whatever is in it is part of it."""
    for name in names:
        if "\0" in name:
            raise InputError(f"a name in a database must have no zero bytes, got {name!r}.")
    shown = (name.replace('"', '""') for name in names)
    return Statement((".".join(f'"{name}"' for name in shown),))

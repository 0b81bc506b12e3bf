"""How to read files where guessing fails."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..exceptions import InputError
from .formats import FORMATS
from .messages import shown


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """What is said about files; what is not said is guessed.

    Attributes
    ----------
    format : str, optional
        The format of all files, whatever their endings: a value of ``FORMATS``.
    delimiter : str, optional
        What separates the cells of text.
    decimal : str, optional
        The decimal sign of the numbers in text.
    encoding : str, optional
        The encoding of text, by a name that Python knows.
    missing : {"raise", "drop"}
        What to do with rows where a label, a score, a weight or a cluster is missing.
    header : bool
        Whether text begins with a line of names; without one, columns are called 1, 2, 3 and so on.
    say : callable, optional
        Called with a sentence about each guess, and about rows that were dropped.
    """

    format: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: Literal["raise", "drop"] = "raise"
    header: bool = True
    say: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        """Refuse what no file can have."""
        known = sorted(set(FORMATS.values()))
        if self.format is not None and self.format not in known:
            raise InputError(f"format must be one of {', '.join(known)}, got {shown(self.format)}.")
        for name, signs in (("delimiter", None), ("decimal", ".,")):
            value = getattr(self, name)
            if value is not None and (len(value) != 1 or not value.isascii()):
                raise InputError(f"{name} must be one sign, got {shown(value)}.")
            if value is not None and signs is not None and value not in signs:
                raise InputError(f"{name} must be '.' or ',', got {shown(value)}.")
        if self.decimal is not None and self.decimal == self.delimiter:
            raise InputError(f"delimiter and decimal are both {shown(self.decimal)}.")
        if self.missing not in ("raise", "drop"):
            raise InputError(f"missing must be 'raise' or 'drop', got {shown(self.missing)}.")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                raise InputError(
                    f"encoding {shown(self.encoding)} is not known: utf-8, utf-16 and latin-1 are."
                ) from None

    def tell(self, sentence: str) -> None:
        """Pass on what was guessed."""
        if self.say is not None:
            self.say(sentence)

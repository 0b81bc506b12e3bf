"""Lines and JSON for the terminal, from nothing but strings."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from contextlib import suppress
from typing import Any

from .._text import visible
from ..evaluation import wording

_LONGEST_MESSAGE = 600


def one_line(message: str) -> str:
    """A message on one line: line breaks become spaces, other hidden characters are written out."""
    text = visible(" ".join(message.split()))
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:400]}…{text[-199:]}"


def shown(name: object, longest: int = 40) -> str:
    r"""A name with its hidden characters written out, and its middle left out if it is long.

    Examples
    --------
    >>> print(shown("a\x1b[31mb\u202e"), shown("x" * 500, 9))
    a\x1b[31mb\u202e xxxx…xxxx
    """
    return wording.clean_name(visible(name), longest)


def tell(message: str) -> None:
    """Write a line to standard error, if anybody can still read it."""
    with suppress(OSError):
        sys.stderr.write(f"{message}\n")
        sys.stderr.flush()


def write_json(content: Any) -> None:
    """Write strict JSON to standard output."""
    from ..evaluation.plain_values import plain

    text = json.dumps(plain(content), indent=2, allow_nan=False, ensure_ascii=True)
    sys.stdout.write(f"{text}\n")


def wrapped(text: str, width: int) -> str:
    """Break a sentence into lines, never between a number and its percent sign."""
    together = re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", text)
    return textwrap.fill(together, width, break_on_hyphens=False).replace("\N{NO-BREAK SPACE}", " ")

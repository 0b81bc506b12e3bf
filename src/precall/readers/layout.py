"""How separated text is laid out: its encoding, what separates its cells, where it begins."""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass
from itertools import chain
from typing import Any

from .._words import plural
from ..exceptions import InputError
from .messages import no_rows, source_name, unreadable
from .sources import File

_HEAD = 2**16
# Separators, the likeliest first: a line that has one is not separated by those after it.
_DELIMITERS = ",;\t|"


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The layout of one file.

    `encoding` is None for UTF-8; `skip` is the number of lines before the one with the names.
    """

    file: File
    encoding: str | None
    delimiter: str
    skip: int
    names: tuple[str, ...]

    def open(self, encoding: str | None = None) -> Any:
        """Open the text as UTF-8, from its own encoding or, if it has none, from this one."""
        return self.file.open_text(self.encoding or encoding)

    def guesses(self) -> list[str]:
        """What was found without being said, and is not the usual."""
        said, found = self.file.options, []
        usual = "\t" if self.file.kind == "tsv" else ","
        if said.delimiter is None and self.delimiter != usual:
            sign = "tabs" if self.delimiter == "\t" else repr(self.delimiter)
            found.append(f"{sign} between the columns")
        if said.encoding is None and self.encoding is not None:
            found.append(f"text in {self.encoding}")
        if self.skip:
            found.append(f"{plural(self.skip, 'line')} before the line of names left out")
        return found


def layout(file: File) -> Layout:
    """Find the layout of a file from its first lines."""
    encoding = file.wide()
    head = _first_lines(file, encoding).removeprefix(codecs.BOM_UTF8)
    lines = re.split(rb"\r\n|\r|\n", head)
    filled = (number for number, line in enumerate(lines) if line.strip())
    top = next(filled, None)
    if top is None:
        raise InputError(f"{source_name(file.name)} is empty: there is nothing to read.")
    first = next((n for n in chain([top], filled) if not lines[n].lstrip().startswith(b"#")), None)
    if first is None:
        raise InputError(f"{source_name(file.name)} has nothing but lines that begin with '#'.")
    skip = first if first != top else 0
    # Of the line with the names only: in a private release no row may decide for the others.
    stored = "utf-8"
    if encoding is None and not _is_utf8(lines[first]):
        encoding = stored = "latin-1"
    text = b"\n".join(lines[first:]).decode(stored, errors="replace")
    if "\n" not in text and file.options.header:
        raise no_rows(file.name)
    delimiter = file.options.delimiter or _delimiter(text.partition("\n")[0], file.kind)
    try:
        rows = csv.reader(io.StringIO(text), delimiter=delimiter)
        names = next(row for row in rows if row)
    except (csv.Error, StopIteration) as error:
        raise unreadable(file.name, str(error) or "there is no header") from error
    if not file.options.header:
        names = [str(place) for place in range(1, len(names) + 1)]
    return Layout(file=file, encoding=encoding, delimiter=delimiter, skip=skip, names=tuple(names))


def _first_lines(file: File, encoding: str | None) -> bytes:
    """The first lines; more than usual if the first is long."""
    with file.open_text(encoding) as stream:
        head = bytes(stream.read(_HEAD))
        while b"\n" not in head and b"\r" not in head and (more := bytes(stream.read(len(head)))):
            head += more
    return head


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _delimiter(line: str, kind: str) -> str:
    return "\t" if kind == "tsv" else next((sign for sign in _DELIMITERS if sign in line), ",")

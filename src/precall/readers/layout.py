"""How separated text is laid out: what separates its cells, and what its columns are called."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from ..exceptions import InputError
from .messages import source_name, unreadable
from .sources import File

_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The layout of one file."""

    file: File
    delimiter: str
    names: tuple[str, ...]


def layout(file: File) -> Layout:
    """Find the layout of a file from its first line."""
    head = _first_lines(file)
    if not head.removeprefix(_MARK).strip():
        raise InputError(f"{source_name(file.name)} is empty: there is nothing to read.")
    text = head.decode("utf-8-sig", errors="replace")
    first = text.lstrip("\r\n").splitlines()[0]
    delimiter = "\t" if file.kind == "tsv" else _delimiter(first)
    try:
        rows = csv.reader(io.StringIO(text, newline=None), delimiter=delimiter)
        names = next(row for row in rows if row)
    except (csv.Error, StopIteration) as error:
        raise unreadable(file.name, str(error) or "there is no header") from error
    return Layout(file=file, delimiter=delimiter, names=tuple(names))


def _first_lines(file: File) -> bytes:
    """The first lines; more than usual if the first is long."""
    with file.open() as stream:
        head = bytes(stream.read(2**16))
        while b"\n" not in head and (more := stream.read(len(head))):
            head += more
    return head


def _delimiter(line: str) -> str:
    return "," if "," in line else next((sign for sign in ";\t" if sign in line), ",")

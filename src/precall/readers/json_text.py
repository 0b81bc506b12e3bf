"""JSON: objects on lines of their own, or in one array.

Values have kinds here (number, text, true or false), which do not mix in a column. As in separated
text, the numbers of a column are whole until one is not; then reading starts again.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from ..exceptions import InputError
from .messages import refuse_nested, shown, source_name, unreadable
from .sources import File
from .wanted import Wanted

T = TypeVar("T")
Types = Mapping[str, Any]

_MARK = b"\xef\xbb\xbf"
# What may stand before the first object of an array, before the others, and after the last.
_BEGIN, _NEXT = re.compile(r"\s*\[\s*"), re.compile(r"\s*,\s*")
_END, _EMPTY = re.compile(r"\s*\]\s*"), re.compile(r"\s*\[\s*\]\s*")


class _HigherTypes(Exception):
    def __init__(self, types: Types) -> None:
        super().__init__()
        self.types = types


def read_json(wanted: Wanted, read: Callable[[Types], T]) -> T:
    """Call `read`, which reads all of the files, until the types fit every value."""
    import pyarrow as pa

    types: Types = dict.fromkeys(wanted.columns, pa.null())
    while True:
        try:
            return read(types)
        except _HigherTypes as higher:
            types = higher.types


def pieces(file: File, types: Types, wanted: Wanted, block: int) -> Iterator[Any]:
    """Read a file as tables of a few rows each."""
    import pyarrow as pa

    if not wanted.guess:
        yield from (_by_part(lines, wanted) for lines in line_blocks(file, block))
        return
    seen: dict[str, None] = {}
    for lines in line_blocks(file, block):
        if not set(wanted.columns) <= set(seen):
            found = _inferred(lines)
            seen |= dict.fromkeys(found.names)
            _require(types, found, file)
        own = {n: kind for n, kind in types.items() if n in seen or n not in file.constants}
        try:
            yield _parsed(lines, own)
        except pa.ArrowInvalid:
            _require(types, _inferred(lines), file)
            raise
    if not seen:
        raise InputError(f"{source_name(file.name)} is empty: there is nothing to read.")
    wanted.stored(seen, file)


def line_blocks(file: File, block: int) -> Iterator[bytes]:
    """Blocks of about this many bytes that end with a line; objects of an array as lines."""
    with file.open_text(file.wide()) as stream:
        rest = bytes(stream.read(block)).removeprefix(_MARK)
        if rest.lstrip()[:1] == b"[":
            yield from _array_lines(chain([rest], iter(partial(stream.read, block), b"")), file)
            return
        while more := bytes(stream.read(block)):
            end = more.rfind(b"\n") + 1
            if end:
                yield from _filled(rest + more[:end])
                rest = more[end:]
            else:
                rest += more
        yield from _filled(rest)


def _filled(lines: bytes) -> Iterator[bytes]:
    if lines.strip():
        yield lines


def _array_lines(chunks: Iterable[bytes], file: File) -> Iterator[bytes]:
    """The objects of an array: a decoder says where each of them ends."""
    decode = json.JSONDecoder().raw_decode
    text = codecs.getincrementaldecoder("utf-8")()
    buffer, place, before = "", 0, _BEGIN
    for chunk in chunks:
        buffer, place = buffer[place:] + text.decode(chunk), 0
        objects: list[str] = []
        while match := before.match(buffer, place):
            try:
                value, place = decode(buffer, match.end())
            except json.JSONDecodeError:  # the rest of it is in the next chunk
                break
            if not isinstance(value, dict):
                raise unreadable(file.name, "its array holds other values than objects")
            objects.append(json.dumps(value))
            before = _NEXT
        yield from _filled("\n".join(objects).encode())
    end = _END if before is _NEXT else _EMPTY
    if not end.fullmatch(buffer, place):
        raise unreadable(file.name, "its array does not end, or has something else inside")


def _inferred(lines: bytes) -> Any:
    """The types that a parser without any instruction finds."""
    import pyarrow as pa
    import pyarrow.json as parser

    options = parser.ReadOptions(block_size=len(lines) + 1)
    return parser.read_json(pa.BufferReader(lines), read_options=options).schema


def _parsed(lines: bytes, types: Types) -> Any:
    import pyarrow as pa
    import pyarrow.json as parser

    parse = parser.ParseOptions(
        explicit_schema=pa.schema(list(types.items())), unexpected_field_behavior="ignore"
    )
    options = parser.ReadOptions(block_size=len(lines) + 1)
    return parser.read_json(pa.BufferReader(lines), read_options=options, parse_options=parse)


def _require(types: Types, found: Any, file: File) -> None:
    """Go back to the beginning unless the types hold what was found."""
    higher = dict(types)
    for name in types:
        if name in found.names:
            higher[name] = _common(types[name], found.field(name).type, name, file)
    if higher != types:
        raise _HigherTypes(higher)


def _common(one: Any, other: Any, name: str, file: File) -> Any:
    """The type that holds the values of both."""
    import pyarrow as pa
    import pyarrow.types as kind

    if kind.is_nested(other):
        raise refuse_nested(name, other)
    if kind.is_temporal(other):  # a guess of the parser: the value is text
        other = pa.string()
    if one == other or pa.null() in (one, other):
        return other if one == pa.null() else one
    if {one, other} == {pa.int64(), pa.float64()}:
        return pa.float64()
    raise InputError(
        f"column {shown(name)} of {source_name(file.name)} holds values of two kinds, {one} and "
        f"{other}: write all of them as one kind."
    )


def _by_part(lines: bytes, wanted: Wanted) -> Any:
    """Each line by itself: numbers as doubles, other values as their JSON text."""
    import pyarrow as pa

    rows = [json.loads(line) for line in lines.splitlines() if line.strip()]
    columns = {}
    for name in wanted.columns:
        cells = [row[name] for row in rows]
        if name in wanted.numbers:
            columns[name] = pa.array([None if v is None else _double(v) for v in cells], "double")
        else:
            texts = [v if v is None or isinstance(v, str) else json.dumps(v) for v in cells]
            columns[name] = pa.array(texts, "string")
    return pa.table(columns)


def _double(value: object) -> float:
    if not isinstance(value, (bool, int, float)):
        raise InputError("a score is not a number.")
    return float(value)

"""Separated text, and the types of its columns.

Text has no types, so they follow from the cells, and from all of them: a column has the first type
of the ladder whole number, number, true or false, text that every cell can be read as. Reading
begins with what the first rows allow and starts again one rung higher when a cell does not fit. So
the types do not depend on how much text is parsed at a time, and a file gives the same columns
whether it is read whole or in pieces. Groups and clusters are names: the text of their cells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from .._words import listed
from ..exceptions import InputError
from .layout import Layout, layout
from .messages import shown, source_name
from .percent import carries_sign
from .sources import File
from .wanted import Wanted

T = TypeVar("T")

# How much longer than a block a row may be.
_LONGER, _LONGEST = 16, 2**28
# Bytes of text that one core reads in the time that modules take to load.
_SHORT = 2**26
#: Words that stand for a missing number or label.
MISSING_WORDS = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"),
)


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How text is read: types by column, bytes at a time, the decimal sign.

    `encoding` is that of files that seemed to be UTF-8 and are not. `words` holds the first cell
    that kept a column from being numbers.
    """

    types: Mapping[str, Any]
    block: int
    decimal: str = "."
    encoding: str | None = None
    words: Mapping[str, str] = field(default_factory=dict)


def read_text(
    files: Sequence[File],
    wanted: Wanted,
    read: Callable[[list[Layout], Dialect], T],
    *,
    block: int,
    keep_text: bool,
) -> T:
    """Call `read` on all of the files until the types fit every cell.

    Text in a column of numbers is refused at once unless `keep_text` leaves that to the caller.
    """
    import pyarrow as pa

    layouts = [layout(file) for file in files]
    for found in layouts:
        wanted.stored(found.names, found.file)
    decimal = files[0].options.decimal or "."
    dialect = Dialect(types=_first_types(layouts[0], wanted, decimal), block=block, decimal=decimal)
    while True:
        try:
            result = read(layouts, dialect)
            _tell(layouts, dialect)
            return result
        except pa.ArrowInvalid as error:
            further = _further(dialect, str(error), layouts, wanted)
            if further is None:
                raise
            dialect = further
            if wanted.guess and not keep_text:
                _refuse_text(dialect, wanted)


def _tell(layouts: list[Layout], dialect: Dialect) -> None:
    """Say what was guessed."""
    for found in layouts:
        guesses = found.guesses()
        if found.encoding is None and dialect.encoding is not None:
            guesses.append(f"text in {dialect.encoding}")
        if found.file.options.decimal is None and dialect.decimal != ".":
            guesses.append("a decimal comma")
        if guesses:
            name = source_name(found.file.name)
            found.file.options.tell(f"{name} was read with {listed(guesses, 'and')}.")


def _first_types(first: Layout, wanted: Wanted, decimal: str) -> dict[str, Any]:
    """Where the ladder begins: the lowest types that fit the first rows."""
    import pyarrow as pa
    import pyarrow.csv as csv

    if not wanted.guess:
        return {n: pa.float64() if n in wanted.numbers else pa.string() for n in wanted.columns}
    rungs = _rungs()
    types = {n: rungs[-1] if n in wanted.texts else rungs[0] for n in wanted.columns}
    dialect = Dialect(types={}, block=2**20, decimal=decimal)
    try:
        with first.open() as stream:
            head = bytes(stream.read(2**16))
        rows = pa.BufferReader(head[: head.rindex(b"\n") + 1])
        schema = csv.read_csv(rows, **_options(first, dialect, wanted, quoted=True)).schema
    except (ValueError, pa.ArrowException):  # a hint was all that was wanted
        return types
    for name in schema.names:
        kind = schema.field(name).type
        if name in wanted.numbers and kind not in rungs[:-1]:
            kind = rungs[1]  # the ladder finds the cell that is no number
        if name not in wanted.texts and kind != pa.null():
            types[name] = kind if kind in rungs else rungs[-1]
    return types


def _rungs() -> list[Any]:
    import pyarrow as pa

    return [pa.int64(), pa.float64(), pa.bool_(), pa.string()]


def _further(dialect: Dialect, error: str, layouts: list[Layout], wanted: Wanted) -> Dialect | None:
    """The dialect one step further; None if no dialect helps."""
    if "straddling" in error and dialect.block < _LONGEST:
        return replace(dialect, block=min(_LONGER * dialect.block, _LONGEST))
    if "invalid UTF8 data" in error and wanted.guess and dialect.encoding is None:
        return replace(dialect, encoding="latin-1")
    failed = re.search(r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to (\w+)", error)
    if failed is None or not wanted.guess:
        return None
    rungs, place = _rungs(), int(failed[1])
    # Files may have a column at different places; a column that climbs in vain comes to no harm.
    names = {found.names[place] for found in layouts if place < len(found.names)}
    low = [n for n in wanted.columns if n in names and str(dialect.types[n]) == failed[2]]
    if not low or failed[2] == str(rungs[-1]):
        return None
    value = re.search(r"invalid value '(.*)'", error)
    word = "" if value is None else value[1]
    if failed[2] == str(rungs[1]) and _may_be_comma(word, low, dialect, layouts, wanted):
        first = _first_types(layouts[0], wanted, ",")
        return Dialect(types=first, block=dialect.block, decimal=",", encoding=dialect.encoding)
    higher = {name: rungs[rungs.index(dialect.types[name]) + 1] for name in low}
    if carries_sign(word):  # text, in which every cell has to be a number in percent
        higher |= {name: rungs[-1] for name in low if name in wanted.numbers}
    words = dict(dialect.words)
    if failed[2] == str(rungs[1]) or carries_sign(word):
        words |= dict.fromkeys(low, word)
    return replace(dialect, types={**dialect.types, **higher}, words=words)


def _may_be_comma(
    word: str, names: list[str], dialect: Dialect, layouts: list[Layout], wanted: Wanted
) -> bool:
    """Whether a score that is no number is one with a decimal comma."""
    free = all(found.delimiter != "," and found.file.options.decimal is None for found in layouts)
    is_number = re.fullmatch(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*", word) is not None
    return free and is_number and dialect.decimal == "." and bool(wanted.numbers & set(names))


def _refuse_text(dialect: Dialect, wanted: Wanted) -> None:
    for name in wanted.columns:
        if name in wanted.numbers and dialect.types[name] == _rungs()[-1]:
            word = dialect.words.get(name, "")
            if not carries_sign(word):
                raise InputError(
                    f"{wanted.title(name)} holds text such as {shown(word)}, not numbers: name a "
                    "column of numbers, or convert it first."
                )


def _options(found: Layout, dialect: Dialect, wanted: Wanted, *, quoted: bool) -> dict[str, Any]:
    import pyarrow.csv as csv

    return {
        "parse_options": csv.ParseOptions(delimiter=found.delimiter, newlines_in_values=quoted),
        "read_options": csv.ReadOptions(
            block_size=dialect.block,
            skip_rows=found.skip,
            column_names=None if found.file.options.header else list(found.names),
        ),
        "convert_options": csv.ConvertOptions(
            include_columns=wanted.stored(found.names, found.file),
            column_types=dict(dialect.types),
            null_values=list(MISSING_WORDS),
            decimal_point=dialect.decimal,
        ),
    }


def whole(found: Layout, dialect: Dialect, wanted: Wanted) -> Any:
    """Read a file into a table."""
    import pyarrow as pa
    import pyarrow.csv as csv

    with found.open(dialect.encoding) as stream:
        data = stream.read()
    # Quoted line breaks slow the parser down, so they are allowed for only where there are quotes:
    # not for those around names alone, which many programs write. A name with a line break in it
    # has its last quote after the first line.
    quoted = data.find(b'"', data.find(b"\n") + 1) >= 0
    options = _options(found, dialect, wanted, quoted=quoted)
    # A thread to wait for is slower than none, unless there will be more cores before long.
    options["read_options"].use_threads = pa.cpu_count() > 1 or len(data) > _SHORT
    return _with_missing(csv.read_csv(pa.BufferReader(data), **options), wanted)


def pieces(found: Layout, dialect: Dialect, wanted: Wanted) -> Iterator[Any]:
    """Read a file as tables of a few rows each."""
    import pyarrow as pa
    import pyarrow.csv as csv

    with found.open(dialect.encoding) as stream:
        reader = csv.open_csv(stream, **_options(found, dialect, wanted, quoted=True))
        yield reader.schema.empty_table()
        for batch in reader:
            yield _with_missing(pa.Table.from_batches([batch]), wanted)


def _with_missing(table: Any, wanted: Wanted) -> Any:
    """Mark missing text: an empty name, and a label that is a word for nothing."""
    import pyarrow as pa

    for place, name in enumerate(table.column_names):
        column = table.column(name)
        if pa.types.is_string(column.type):
            import pyarrow.compute as pc  # slow to load, and numbers do not need it

            words = ("",) if name in wanted.texts | wanted.levels else MISSING_WORDS
            is_missing = pc.is_in(column, value_set=pa.array(words))
            filled = pc.if_else(is_missing, pa.scalar(None, column.type), column)
            table = table.set_column(place, name, filled)
    return table

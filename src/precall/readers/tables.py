"""Turn files into Arrow tables of the columns asked for: whole, or piece by piece.

Both ways go through the same functions, so that the same file gives the same columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from .._arrow import plain
from .._optional import require
from . import csv_text, json_text
from .excel import read_sheet
from .folders import with_folders
from .layout import Layout
from .messages import unreadable
from .percent import Percents, with_percents
from .sources import File
from .wanted import Wanted

# Text parsed at a time where all of it is in memory anyway: enough blocks for all cores. And rows
# of a binary file.
_BLOCK = 2**22
_ROWS = 2**16
_ARROW = b"ARROW1"  # how an Arrow file begins

#: Takes the tables of each file, in order, once or several times: the last time counts.
Take = Callable[[int, Iterable[Any]], None]


def read_table(files: Sequence[File], wanted: Wanted, source: object) -> Any:
    """Read the columns of all files into one table; every failure is an InputError."""
    import pyarrow as pa

    tables = with_percents(read_tables(files, wanted, source), files, wanted)
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise unreadable(source, error) from error


def read_tables(files: Sequence[File], wanted: Wanted, source: object) -> list[Any]:
    """Read the columns of each file of a source into memory."""
    require("pyarrow", "reading files", "arrow")
    import pyarrow as pa

    tables: dict[int, Any] = {}

    def take(number: int, found: Iterable[Any]) -> None:
        tables[number] = pa.concat_tables(list(found))

    read_files(files, wanted, take, source=source, whole=True)
    return [tables[number] for number in sorted(tables)]


def read_files(
    files: Sequence[File],
    wanted: Wanted,
    take: Take,
    *,
    source: object,
    whole: bool = False,
    block: int = _BLOCK,
) -> None:
    """Hand the tables of each file to `take`; text is read anew when a type does not fit.

    `whole` allows to hold a file in memory, which is faster; otherwise about `block` bytes are.
    """
    import pyarrow as pa

    percents = Percents(files, wanted)

    def complete(number: int, tables: Iterable[Any]) -> None:
        found: Iterable[Any] = map(_with_doubles, with_folders(tables, files, number, wanted))
        take(number, found if whole else percents.converted(number, found))

    try:
        for kind in dict.fromkeys(_family(file) for file in files):
            chosen = {number: file for number, file in enumerate(files) if _family(file) == kind}
            _READERS[kind](chosen, wanted, complete, whole, block)
        percents.finish()
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise unreadable(source, error) from error


def _with_doubles(table: Any) -> Any:
    """Decimals as doubles, each by itself: files put together would be rounded otherwise."""
    import pyarrow.types as kind

    for place, field in enumerate(table.schema):
        found = field.type.value_type if kind.is_dictionary(field.type) else field.type
        if kind.is_decimal(found):
            table = table.set_column(place, field.name, plain(table.column(place)))
    return table


def _family(file: File) -> str:
    families = {"csv": "text", "tsv": "text", "json": "json", "excel": "excel"}
    return families.get(file.kind, "binary")


def _read_text(files: dict[int, File], wanted: Wanted, take: Take, whole: bool, block: int) -> None:
    def read(layouts: list[Layout], dialect: csv_text.Dialect) -> None:
        for number, found in zip(files, layouts, strict=True):
            if whole:
                take(number, [csv_text.whole(found, dialect, wanted)])
            else:
                take(number, csv_text.pieces(found, dialect, wanted))

    chosen = list(files.values())
    csv_text.read_text(chosen, wanted, read, block=block, keep_text=whole)


def _read_json(files: dict[int, File], wanted: Wanted, take: Take, whole: bool, block: int) -> None:
    def read(types: json_text.Types) -> None:
        for number, file in files.items():
            take(number, json_text.pieces(file, types, wanted, block))

    json_text.read_json(wanted, read)


def _read_binary(
    files: dict[int, File], wanted: Wanted, take: Take, whole: bool, block: int
) -> None:
    for number, file in files.items():
        with file.open_at_random() as stream:
            take(number, _batches(stream, file, wanted, whole))


def _batches(stream: Any, file: File, wanted: Wanted, whole: bool) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as parquet

    if file.kind == "parquet":
        with parquet.ParquetFile(stream, pre_buffer=False) as found:
            names = wanted.stored(found.schema_arrow.names, file)
            if whole:
                yield found.read(columns=names)
            else:
                for batch in found.iter_batches(_ROWS, columns=names):
                    yield pa.Table.from_batches([batch])
        return
    if file.kind == "stream":
        reader = pa.ipc.open_stream(stream)
    elif stream.read(len(_ARROW)) == _ARROW:
        reader = pa.ipc.open_file(stream)
    else:  # the first version of Feather, which was no Arrow file
        stream.seek(0)
        reader = feather.read_table(stream).to_reader()
    names = wanted.stored(reader.schema.names, file)
    yield reader.schema.empty_table().select(names)
    batches = reader
    if hasattr(reader, "get_batch"):
        batches = (reader.get_batch(number) for number in range(reader.num_record_batches))
    for batch in batches:
        yield pa.Table.from_batches([batch]).select(names)


def _read_excel(
    files: dict[int, File], wanted: Wanted, take: Take, whole: bool, block: int
) -> None:
    for number, file in files.items():
        take(number, [read_sheet(file, wanted)])


_READERS = {
    "text": _read_text,
    "json": _read_json,
    "binary": _read_binary,
    "excel": _read_excel,
}

"""Turn a file, or what comes through a pipe, into an Arrow table of the columns asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from .._optional import require
from ..exceptions import InputError
from .formats import COMPRESSIONS, FORMATS


class Wanted(Protocol):
    """The columns to read, and which of them have to hold numbers."""

    @property
    def columns(self) -> list[str]:
        """Names, each once."""
        ...

    @property
    def numbers(self) -> set[str]:
        """Those that hold numbers."""
        ...


def told(name: object) -> str:
    """A name in a message: quoted, on one line, not endless."""
    text = str(name)
    return repr(text if len(text) <= 60 else text[:40] + "..." + text[-17:])


def source_name(source: object) -> str:
    """A file in a message."""
    return "standard input" if str(source) == "-" else told(source)


def unreadable(source: object, error: object) -> InputError:
    """An error of the reader as one line."""
    reason = " ".join(str(error).split())[:200].rstrip(".")
    return InputError(f"{source_name(source)} cannot be read: {reason}.")


def paths(source: str) -> list[str]:
    """Existing files; a name is a pattern or a folder only if it is not a file itself."""
    import glob

    path = Path(source)
    if not source:
        raise InputError("the name of the file is empty: give a path, or '-' for standard input.")
    if path.is_dir():
        found = sorted(str(file) for file in path.rglob("*") if _is_data(file, path))
    elif path.exists() or not glob.has_magic(source):
        found = [source]
    else:
        found = sorted(glob.glob(source, recursive=True))  # noqa: PTH207 - absolute patterns
    if not found and path.is_dir():
        raise InputError(
            f"{told(source)} is a folder without a file of data: name a file, or a folder that "
            "holds some (names that begin with . or _ do not count)."
        )
    if not found or not Path(found[0]).exists():
        raise InputError(f"{told(source)} is not there: check the path.")
    return found


def _is_data(file: Path, below: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in file.relative_to(below).parts)
    return file.is_file() and not hidden


def is_stream(path: str | Path) -> bool:
    """Return whether this is read from beginning to end, and once: a named pipe, ``<(...)``."""
    return Path(path).is_fifo()


def file_format(path: str) -> str:
    """The format by the ending, that of a compression aside."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    ending = suffixes[-1] if suffixes else ""
    if ending not in FORMATS:
        raise InputError(
            f"{told(path)} has the ending {ending!r}, which is none of {', '.join(FORMATS)}: "
            "rename it, or pipe it in and give '-' as the file."
        )
    return FORMATS[ending]


def read_table(source: str, wanted: Wanted) -> Any:
    """Read the columns; every failure is an InputError that names the file."""
    import pyarrow as pa

    tables = read_tables(source, wanted)
    if len(tables) == 1:
        return tables[0]
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise unreadable(source, error) from error


def read_tables(source: str, wanted: Wanted, *, guess: bool = True) -> list[Any]:
    """Read the columns of each file of a source.

    Without guessing, the type of a column in a text file depends on its role and on no row:
    numbers are doubles, and the rest is the text of the cells.
    """
    require("pyarrow", "reading files", "arrow")
    import pyarrow as pa

    try:
        if source == "-":
            return [_from_bytes(sys.stdin.buffer.read(), source, wanted, guess)]
        return [_from_path(path, wanted, guess) for path in paths(source)]
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise unreadable(source, error) from error


def _from_path(path: str, wanted: Wanted, guess: bool) -> Any:
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as parquet

    if is_stream(path):
        return _from_bytes(Path(path).read_bytes(), path, wanted, guess)
    kind = file_format(path)
    if kind == "parquet":
        file = parquet.ParquetFile(path)
        check_columns(file.schema_arrow.names, path, wanted)
        return file.read(columns=wanted.columns)
    if kind == "feather":
        table = feather.read_table(path, memory_map=False)
        check_columns(table.column_names, path, wanted)
        return table.select(wanted.columns)
    with pa.input_stream(path, compression="detect") as stream:
        return _from_text(stream.read(), kind, path, wanted, guess)


def _from_bytes(data: bytes, source: str, wanted: Wanted, guess: bool) -> Any:
    """Recognise what came through a pipe by its first bytes."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    table = None
    if data[:4] == b"PAR1":
        table = parquet.read_table(pa.BufferReader(data))
    elif data[:6] == b"ARROW1":
        table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
    elif data[:4] == b"\xff\xff\xff\xff":
        table = pa.ipc.open_stream(pa.BufferReader(data)).read_all()
    if table is not None:
        check_columns(table.column_names, source, wanted)
        return table.select(wanted.columns)
    head = data[:4096].lstrip()
    kind = "json" if head[:1] == b"{" else "tsv" if _is_tabbed(head) else "csv"
    return _from_text(data, kind, source, wanted, guess)


def _is_tabbed(head: bytes) -> bool:
    first_line = head.split(b"\n", 1)[0]
    return b"\t" in first_line and b"," not in first_line


def _from_text(data: bytes, kind: str, source: str, wanted: Wanted, guess: bool) -> Any:
    import pyarrow as pa
    import pyarrow.json as json

    if not data.strip():
        raise InputError(f"{source_name(source)} is empty: there is nothing to read.")
    if kind == "json" and not guess:
        return _from_json_lines(data, wanted)
    if kind == "json":
        table = json.read_json(
            pa.BufferReader(data),
            parse_options=json.ParseOptions(newlines_in_values=False),
            read_options=json.ReadOptions(block_size=_block(data)),
        )
        check_columns(table.column_names, source, wanted)
        return table.select(wanted.columns)
    number = pa.float64()
    types = {name: number if name in wanted.numbers else pa.string() for name in wanted.columns}
    if not guess:
        return _from_csv(data, kind, source, wanted, types)
    try:
        return _from_csv(data, kind, source, wanted, {})
    except pa.ArrowInvalid as error:
        if "conversion error" not in str(error):
            raise
        # Types are guessed from the first block, and a later one may not fit the guess.
        return _from_csv(data, kind, source, wanted, types)


def _from_json_lines(data: bytes, wanted: Wanted) -> Any:
    """Each line by itself: numbers as doubles, other values as their JSON text."""
    import json

    import pyarrow as pa

    lines = [json.loads(line) for line in data.splitlines() if line.strip()]
    columns = {}
    for name in wanted.columns:
        cells = [line[name] for line in lines]
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


def _block(data: bytes) -> int:
    """Bytes parsed at a time: no line may be longer."""
    return min(max(2**20, len(data) // 8), 2**28)


def _from_csv(data: bytes, kind: str, source: str, wanted: Wanted, types: dict[str, Any]) -> Any:
    import pyarrow as pa
    import pyarrow.csv as csv

    delimiter = csv_delimiter(data[:65536], kind)
    # Quoted line breaks slow the parser down, so they are allowed for only where there are quotes.
    parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in data)
    read = csv.ReadOptions(block_size=_block(data))
    head = csv.open_csv(pa.BufferReader(data), parse_options=parse, read_options=read)
    check_columns(head.schema.names, source, wanted)
    return csv.read_csv(
        pa.BufferReader(data),
        parse_options=parse,
        read_options=read,
        convert_options=csv.ConvertOptions(
            include_columns=wanted.columns, column_types=types, strings_can_be_null=True
        ),
    )


def csv_delimiter(head: bytes, kind: str) -> str:
    """The delimiter of a text file, from its first line."""
    first_line = head.split(b"\n", 1)[0]
    if kind == "csv" and b";" in first_line and b"," not in first_line:
        return ";"
    return "\t" if kind == "tsv" else ","


def check_columns(available: Sequence[str], source: str, wanted: Wanted) -> None:
    """Raise unless every column is there, and there once."""
    for name in wanted.columns:
        times = list(available).count(name)
        if times > 1:
            raise InputError(
                f"{source_name(source)} has {times} columns {told(name)}: rename all but one."
            )
        if times == 0:
            from difflib import get_close_matches

            near = get_close_matches(name, available, n=1)
            hint = f" Did you mean {told(near[0])}?" if near else ""
            shown = ", ".join(told(other) for other in available[:8])
            more = f" and {len(available) - 8} more" if len(available) > 8 else ""
            raise InputError(
                f"{source_name(source)} has no column {told(name)}; it has {shown}{more}.{hint}"
            )

"""Open what people call data: files, folders, globs, data sets, readers, pipes.

A source gives Arrow batches of the columns asked for, in the order of their roles, as often as it
is asked, or once.
"""

from __future__ import annotations

import glob
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from ..exceptions import InputError
from ..readers.formats import COMPRESSIONS, FORMATS
from ._columns import Request, gathered, select

_BUFFER = 1 << 20
_STREAM_MARK = b"\xff\xff\xff\xff"  # how an Arrow stream begins


@dataclass(frozen=True, kw_only=True)
class Source:
    """Data as shards, which are read side by side; each gives its batches in order.

    `shards(rows)` is asked for batches of about that many rows; `once` says that it can be asked
    only once. `count_rows` is there where counting is cheap.
    """

    shards: Callable[[int], Iterable[Iterable[Any]]]
    once: bool = False
    count_rows: Callable[[], int] | None = None

    @classmethod
    def from_stream(
        cls, stream: Callable[[int], Iterable[Any]], request: Request, *, once: bool = False
    ) -> Source:
        """A source that comes one batch after the other: every few batches are a shard."""

        def shards(rows: int) -> Iterator[list[Any]]:
            selected = (select(batch, request) for batch in stream(rows))
            return ([table] for table in gathered(selected, rows))

        return cls(shards=shards, once=once)


def open_source(data: object, request: Request) -> Source:
    """Find out what `data` is; see :func:`precall.engines.arrow.rank`."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    if isinstance(data, ds.Dataset):
        return _dataset(data, request)
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        return _dataset(ds.dataset(data), request)
    if isinstance(data, pa.RecordBatchReader):
        return _once(data, request)
    if isinstance(data, str) and data == "-":
        return _once(_stream(sys.stdin.buffer), request)
    if isinstance(data, (str, os.PathLike)) or _is_paths(data):
        paths = _expanded(data)
        if len(paths) == 1 and Path(paths[0]).is_fifo():
            return _pipe(Path(paths[0]), request)
        return _dataset(_open_files(paths), request)
    if hasattr(data, "read"):
        return _once(_stream(data), request)
    if callable(data):
        factory: Callable[[], Iterable[Any]] = data
        return Source.from_stream(lambda _: _read(factory()), request)
    raise InputError(
        "data must be a path, a glob, a folder, a pyarrow data set, table or reader, or a function "
        f"that returns a new reader at every call, got {type(data).__name__}."
    )


def _read(reader: object) -> Iterable[Any]:
    """Batches of whatever a reader factory returned."""
    import pyarrow as pa

    if isinstance(reader, (pa.Table, pa.RecordBatch)):
        return [reader]
    if hasattr(reader, "__arrow_c_stream__") and not isinstance(reader, pa.RecordBatchReader):
        stream: Iterable[Any] = pa.RecordBatchReader.from_stream(reader)
        return stream
    if not isinstance(reader, Iterable):
        raise InputError(
            "data must be a function that returns a pyarrow reader or an iterable of batches, "
            f"its result was {type(reader).__name__}."
        )
    return reader


def _dataset(dataset: Any, request: Request) -> Source:
    request.check(dataset.schema.names)
    file_format = getattr(dataset, "format", None)
    if file_format is not None and file_format.default_extname == "parquet":
        try:
            fragments = list(dataset.get_fragments())
        except ValueError:  # a filter is set: only the data set itself applies it
            pass
        else:
            return Source(
                shards=lambda rows: _row_groups(fragments, request, rows),
                count_rows=dataset.count_rows,
            )
    names = list(dict.fromkeys(request.columns.values()))

    def stream(rows: int) -> Iterable[Any]:
        found: Iterable[Any] = dataset.to_batches(
            columns=names, batch_size=rows, batch_readahead=2, fragment_readahead=1
        )
        return found

    return Source.from_stream(stream, request)


def _row_groups(fragments: list[Any], request: Request, rows: int) -> Iterator[Iterator[Any]]:
    """Shards of Parquet files: runs of row groups with about `rows` rows."""
    for fragment in fragments:
        metadata = fragment.metadata
        run: list[int] = []
        size = 0
        for number in range(metadata.num_row_groups):
            run.append(number)
            size += metadata.row_group(number).num_rows
            if size >= rows:
                yield _read_row_groups(fragment, run, request, rows)
                run, size = [], 0
        if run:
            yield _read_row_groups(fragment, run, request, rows)


def _read_row_groups(
    fragment: Any, row_groups: list[int], request: Request, rows: int
) -> Iterator[Any]:
    """Read a few pages at a time: a data set would hold whole row groups, and several of them."""
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    constants = ds.get_partition_keys(fragment.partition_expression)
    wanted = dict.fromkeys(request.columns.values())
    with pq.ParquetFile(
        fragment.open(), metadata=fragment.metadata, pre_buffer=False, buffer_size=_BUFFER
    ) as file:
        request.check({*file.schema_arrow.names, *constants})
        stored = [name for name in wanted if name in file.schema_arrow.names]
        # The workers already run side by side, so each reads in its own thread only.
        for batch in file.iter_batches(
            rows, row_groups=row_groups, columns=stored, use_threads=False
        ):
            table = pa.Table.from_batches([batch])
            for name in wanted:
                if name not in stored:
                    value = pa.repeat(pa.scalar(constants[name]), batch.num_rows)
                    table = table.append_column(name, value)
            yield select(table, request)


def _once(reader: Any, request: Request) -> Source:
    request.check(reader.schema.names)
    return Source.from_stream(lambda _: reader, request, once=True)


def _pipe(path: Path, request: Request) -> Source:
    file = path.open("rb")
    try:
        reader = _stream(file)
        request.check(reader.schema.names)
    except InputError:
        file.close()
        raise

    def stream(_: int) -> Iterator[Any]:
        with file:
            yield from reader

    return Source.from_stream(stream, request, once=True)


def _stream(file: Any) -> Any:
    """Read an Arrow stream, or comma- or tab-separated text, from a file that cannot go back."""
    import io

    import pyarrow as pa
    import pyarrow.csv as csv

    buffered = file if hasattr(file, "peek") else io.BufferedReader(file)
    head = buffered.peek(4096)
    if not head:
        raise InputError("data has no bytes: the input is empty.")
    try:
        if head[:4] == _STREAM_MARK:
            return pa.ipc.open_stream(buffered)
        first_line = head.split(b"\n", 1)[0]
        tabbed = b"\t" in first_line and b"," not in first_line
        delimiter = "\t" if tabbed else ","
        return csv.open_csv(buffered, parse_options=csv.ParseOptions(delimiter=delimiter))
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"data cannot be read as an Arrow stream or as CSV ({error}).") from error


def _is_paths(data: object) -> bool:
    return (
        isinstance(data, (list, tuple))
        and len(data) > 0
        and all(isinstance(path, (str, os.PathLike)) for path in data)
    )


def _expanded(data: Any) -> list[str]:
    """Existing files and folders; a name is a glob only if nothing has that very name."""
    given = data if isinstance(data, (list, tuple)) else [data]
    paths: list[str] = []
    for path in map(os.fspath, given):
        if not path:  # the folder that one is in, to the system
            raise InputError("data must name a file, got an empty name.")
        # glob.glob and not Path.glob: patterns may begin at the root.
        found = [path] if Path(path).exists() else sorted(glob.glob(path, recursive=True))  # noqa: PTH207
        if not found:
            raise InputError(
                f"data={path!r} is neither a file, nor a folder, nor a pattern that finds any."
            )
        paths += found
    return paths


def _open_files(paths: list[str]) -> Any:
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.dataset as ds

    ending = _ending(paths)
    kind: Any = FORMATS[ending]
    if kind == "tsv":
        kind = ds.CsvFileFormat(parse_options=csv.ParseOptions(delimiter="\t"))
    try:
        if len(paths) == 1:
            return ds.dataset(
                paths[0], format=kind, partitioning="hive", exclude_invalid_files=False
            )
        if any(Path(path).is_dir() for path in paths):
            parts = [ds.dataset(path, format=kind, partitioning="hive") for path in paths]
            return ds.dataset(parts)
        return ds.dataset(paths, format=kind, partitioning="hive")
    except (pa.ArrowInvalid, pa.ArrowTypeError, OSError, UnicodeError) as error:
        raise InputError(f"data cannot be read ({error}).") from error


def _ending(paths: list[str]) -> str:
    """The one ending of all files."""
    endings: dict[str, str] = {}
    for path in paths:
        for file in _files(Path(path)):
            suffixes = [suffix.lower() for suffix in file.suffixes if suffix not in COMPRESSIONS]
            endings.setdefault(suffixes[-1] if suffixes else "", str(file))
    known = [ending for ending in endings if ending in FORMATS]
    if len({FORMATS[ending] for ending in known}) != 1 or len(known) < len(endings):
        shown = ", ".join(repr(ending) for ending in sorted(endings)) or "no file"
        raise InputError(
            f"data must be files of one kind, known by an ending ({', '.join(FORMATS)}), found "
            f"{shown}: pass a pyarrow.dataset for anything else."
        )
    return known[0]


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for file in sorted(path.rglob("*")):
        parts = file.relative_to(path).parts
        if file.is_file() and not any(part.startswith((".", "_")) for part in parts):
            yield file


@contextmanager
def spooled(source: Source, request: Request, rows: int, memory: int) -> Iterator[Source]:
    """Keep what can be read only once: in memory, and beyond `memory` bytes in a temporary file."""
    import pyarrow as pa

    with tempfile.SpooledTemporaryFile(max_size=memory, prefix="precall-") as file:
        writer = None
        for batch in chain.from_iterable(source.shards(rows)):
            # Names may repeat (one column in two roles), so the roles are the names here.
            named = pa.Table.from_arrays(batch.columns, names=list(request.columns))
            if writer is None:
                writer = pa.ipc.new_stream(file, named.schema)
            writer.write_table(named)
        if writer is not None:
            writer.close()

        def shards(rows: int) -> Iterator[list[Any]]:
            file.seek(0)
            stored = pa.ipc.open_stream(file) if writer is not None else ()
            return ([table] for table in gathered(stored, rows))

        yield Source(shards=shards)

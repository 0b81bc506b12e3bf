"""Open what people call data: files, folders, globs, data sets, readers, pipes.

A source gives Arrow batches of the columns asked for, in the order of their roles, as often as it
is asked, or once.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from ..exceptions import InputError
from ..readers.large import may_be_held
from ..readers.missing import without_missing
from ..readers.options import ReadOptions
from ..readers.pieces import copied, has_text_for_numbers, is_read_at_random
from ..readers.sources import opened
from ._columns import Request, gathered, select
from ._streams import stream_of

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


@contextmanager
def open_source(
    data: object, request: Request, memory: int, options: ReadOptions | None = None
) -> Iterator[Source]:
    """Find out what `data` is; see :func:`precall.engines.arrow.rank`."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    named = isinstance(data, (str, os.PathLike)) or _is_paths(data) or hasattr(data, "read")
    if options is not None and not named:
        raise InputError("options are for files: leave them out for data that are open already.")
    if named:
        with _files(data, request, memory, options or ReadOptions()) as source:
            yield source
    elif isinstance(data, ds.Dataset):
        yield _dataset(data, request)
    elif isinstance(data, (pa.Table, pa.RecordBatch)):
        yield _dataset(ds.dataset(data), request)
    elif isinstance(data, pa.RecordBatchReader):
        yield _once(data, request)
    elif (found := stream_of(data, request)) is not None:
        stream, once = found
        yield Source.from_stream(stream, request, once=once)
    elif callable(data):
        factory: Callable[[], Iterable[Any]] = data
        yield Source.from_stream(lambda _: _read(factory()), request)
    else:
        raise InputError(
            "data must be a path, a glob, a folder, a pyarrow data set, table or reader, a frame "
            "that gives Arrow streams (Polars, DuckDB), or a function that returns a new reader at "
            f"every call, got {type(data).__name__}."
        )


@contextmanager
def _files(data: Any, request: Request, memory: int, options: ReadOptions) -> Iterator[Source]:
    """Files that Arrow reads in pieces as they are; all others are copied to such files first."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    drop = options.missing == "drop"
    if hasattr(data, "read"):
        data = data if hasattr(data, "peek") else io.BufferedReader(data)
        # An Arrow stream has its types, so it can be ranked as it comes.
        if not drop and data.peek(4)[:4] == _STREAM_MARK:
            yield _once(pa.ipc.open_stream(data), request)
            return
    elif isinstance(data, os.PathLike):
        data = Path(data)
    with opened(data, options, hold=may_be_held(memory)) as files:
        if not drop and all(map(is_read_at_random, files)):
            stored = _open_files([str(file.path) for file in files], files[0].kind)
            if not has_text_for_numbers(stored.schema, request.wanted):
                yield _dataset(stored, request)
                return
        names = [name for role, name in request.columns.items() if role != "group"]
        prepare = partial(without_missing, names=names) if drop else None
        named = [file.name for file in files]
        copies = copied(files, request.wanted, source=named, memory=memory, prepare=prepare)
        with copies as paths:
            yield _dataset(ds.dataset(paths, format="parquet"), request)


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
                # Each has its own, which are needed anyway, and kept.
                count_rows=lambda: sum(fragment.metadata.num_rows for fragment in fragments),
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


def _is_paths(data: object) -> bool:
    return (
        isinstance(data, (list, tuple))
        and len(data) > 0
        and all(isinstance(path, (str, os.PathLike)) for path in data)
    )


def _open_files(paths: list[str], kind: str) -> Any:
    import pyarrow as pa
    import pyarrow.dataset as ds

    try:
        return ds.dataset(paths, format=kind, partitioning="hive")
    except (pa.ArrowInvalid, pa.ArrowTypeError, OSError, UnicodeError) as error:
        raise InputError(f"data cannot be read ({error}).") from error


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

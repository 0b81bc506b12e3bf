"""Text larger than memory: written to Parquet first, which can be read in pieces, and twice."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..exceptions import InputError
from ._tables import Wanted, check_columns, csv_delimiter, paths, unreadable
from .formats import COMPRESSIONS

# Bytes of text parsed at a time. Types are guessed from the first of them.
_BLOCK = 2**24
# Text is seldom compressed to less than this share.
_COMPRESSED = 8
_HEAD = 2**16


def text_rows(path: str) -> tuple[int, int]:
    """Estimate bytes and rows of a text file from its size and its first lines."""
    import pyarrow as pa

    with pa.input_stream(path, compression="detect") as stream:
        head = stream.read(_HEAD)
    size = Path(path).stat().st_size
    if Path(path).suffix.lower() in COMPRESSIONS:
        size *= _COMPRESSED
    return size, size * head.count(b"\n") // max(len(head), 1)


@contextmanager
def as_parquet(source: str, wanted: Wanted, kind: str) -> Iterator[str]:
    """Yield a folder of Parquet files with the columns of comma- or tab-separated text.

    Types are guessed as for text in memory: from the first rows, then numbers as doubles where
    that does not fit, then the rest as the text of the cells.
    """
    import pyarrow as pa

    numbers = dict.fromkeys(wanted.numbers, pa.float64())
    rest = dict.fromkeys(wanted.columns, pa.string())
    with tempfile.TemporaryDirectory(prefix="precall-") as folder:
        for types in ({}, numbers, rest | numbers):
            try:
                schemas = [
                    _convert(path, Path(folder) / f"{number:06}.parquet", wanted, kind, types)
                    for number, path in enumerate(paths(source))
                ]
            except pa.ArrowInvalid as error:
                if "conversion error" not in str(error) or types == rest | numbers:
                    raise unreadable(source, error) from error
                continue
            except (OSError, UnicodeError) as error:
                raise unreadable(source, error) from error
            if all(schema == schemas[0] for schema in schemas):
                break
        else:
            raise InputError(f"the files of {source!r} hold columns of different types.")
        yield folder


def _convert(path: str, to: Path, wanted: Wanted, kind: str, types: dict[str, Any]) -> Any:
    """Write one file; return its schema."""
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as parquet

    with pa.input_stream(path, compression="detect") as stream:
        delimiter = csv_delimiter(stream.read(_HEAD), kind)
    parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    read = csv.ReadOptions(block_size=_BLOCK)
    with pa.input_stream(path, compression="detect") as stream:
        head = csv.open_csv(stream, parse_options=parse, read_options=read)
        check_columns(head.schema.names, path, wanted)
    options = csv.ConvertOptions(
        include_columns=wanted.columns, column_types=types, strings_can_be_null=True
    )
    with pa.input_stream(path, compression="detect") as stream:
        reader = csv.open_csv(
            stream, parse_options=parse, read_options=read, convert_options=options
        )
        with parquet.ParquetWriter(to, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
        return reader.schema

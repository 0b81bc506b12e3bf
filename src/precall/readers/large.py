"""Which files are too large to be read whole, and how they are read piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._optional import require
from ..exceptions import InputError
from .columns import Roles
from .label_columns import numeric_label
from .messages import check_columns, shown, unreadable
from .sources import File

#: A file whose evaluation needs more than this many bytes is ranked piece by piece.
LARGE = 2**32
# Bytes that evaluating takes per row, per row and model, and per row and further column: measured
# on 20 million rows.
_BYTES_PER_ROW, _BYTES_PER_MODEL, _BYTES_PER_COLUMN = 50, 70, 30
# A row of text has at least two bytes for every column, so evaluating takes at most this many
# times the bytes of the text; less text is not large, and may be held.
_MOST_PER_BYTE = 40
# Text is seldom compressed to less than this share.
_COMPRESSED = 8
_TEXT = ("csv", "tsv", "json")


def may_be_held(memory: int) -> int:
    """Bytes of a pipe that may be held before it is known how many there are."""
    return max(memory // _MOST_PER_BYTE, 1)


def is_large(files: Sequence[File], roles: Roles, *, memory: int = LARGE) -> bool:
    """Return whether evaluating these columns of the files would need more than `memory`."""
    require("pyarrow", "reading files", "arrow")
    import pyarrow as pa

    text = rows = 0
    for file in files:
        try:
            size, count = _estimate(file)
        except (pa.ArrowException, OSError, UnicodeError) as error:
            raise unreadable(file.name, error) from error
        text, rows = text + size, rows + count
    models = len(roles.scores)
    per_row = _BYTES_PER_ROW + _BYTES_PER_MODEL * models
    per_row += _BYTES_PER_COLUMN * (len(roles.columns) - 1 - models)
    return text + rows * per_row > memory


def _estimate(file: File) -> tuple[int, int]:
    """Bytes of text and rows of a file: counted, or judged by its size and its first lines."""
    # What text does not need is not imported: pyarrow.dataset takes longer than a small file.
    if file.kind == "parquet":
        import pyarrow.parquet as parquet

        with file.open_at_random() as stream:
            return 0, int(parquet.read_metadata(stream).num_rows)
    if file.kind == "feather" and file.path is not None and file.compression is None:
        import pyarrow.dataset as ds

        return 0, int(ds.dataset(file.path, format="feather").count_rows())
    if file.kind == "excel":  # a sheet has at most a million rows
        return 0, 0
    if file.kind not in _TEXT:
        with file.open_at_random() as stream:
            return 0, _rows(stream)
    size = file.size * (1 if file.compression is None else _COMPRESSED)
    head = file.head()
    rows = max(head.count(b"\n"), head.count(b"}") if file.kind == "json" else 0)
    return size, size * rows // max(len(head), 1)


def _rows(stream: Any) -> int:
    """Rows of an Arrow stream or file, counted batch by batch."""
    import pyarrow as pa

    if stream.read(6) == b"ARROW1":
        file = pa.ipc.open_file(stream)
        return sum(file.get_batch(number).num_rows for number in range(file.num_record_batches))
    stream.seek(0)
    return sum(batch.num_rows for batch in pa.ipc.open_stream(stream))


def stored_schema(paths: Sequence[str]) -> Any:
    """Return the names and types of the columns of Parquet or Feather files."""
    import pyarrow.dataset as ds

    form = "feather" if paths[0].endswith((".feather", ".arrow", ".ipc")) else "parquet"
    return ds.dataset(list(paths), format=form).schema


def positive_label(paths: Sequence[str], roles: Roles, source: object) -> Any:
    """Return the positive label in the type of the label column of Parquet or Feather files."""
    import pyarrow.types as kind

    schema = stored_schema(paths)
    check_columns(schema.names, source, roles.columns)
    found = schema.field(roles.label).type
    if kind.is_dictionary(found):
        found = found.value_type
    if kind.is_string(found) or kind.is_large_string(found):
        if roles.pos_label is None:
            raise InputError(
                f"label column {shown(roles.label)} holds words: say which one is positive with "
                "pos_label=."
            )
        return str(roles.pos_label)
    return numeric_label(roles.pos_label, f"label column {shown(roles.label)}")

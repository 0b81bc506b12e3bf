"""Which files are too large to be read whole, and how they are read piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .._optional import require
from ..exceptions import InputError
from ._spool import as_parquet, text_rows
from ._tables import check_columns, file_format, is_stream, paths, told, unreadable
from .columns import Roles, numeric_label

#: A file whose evaluation needs more than this many bytes is ranked piece by piece.
LARGE = 2**32
# Bytes that evaluating takes per row, per row and model, and per row and further column: measured
# on 20 million rows.
_BYTES_PER_ROW, _BYTES_PER_MODEL, _BYTES_PER_COLUMN = 50, 70, 30
_TEXT = ("csv", "tsv")


def is_large(source: str | Path, roles: Roles, *, memory: int = LARGE) -> bool:
    """Return whether evaluating these columns of a file would need more than `memory`.

    Of Parquet, Feather, and comma- or tab-separated text; other files are always read whole.
    """
    kind = _kind_in_pieces(source)
    if kind is None:
        return False
    require("pyarrow", "reading files", "arrow")
    import pyarrow as pa
    import pyarrow.dataset as ds

    found, text = paths(str(source)), 0
    try:
        if kind in _TEXT:
            sizes = [text_rows(path) for path in found]
            text, rows = sum(size for size, _ in sizes), sum(count for _, count in sizes)
        else:
            rows = ds.dataset(found, format=kind).count_rows()
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise unreadable(source, error) from error
    models = len(roles.scores)
    size = _BYTES_PER_ROW + _BYTES_PER_MODEL * models
    size += _BYTES_PER_COLUMN * (len(roles.columns) - 1 - models)
    return text + int(rows) * size > memory


def _kind_in_pieces(source: str | Path) -> str | None:
    """The kind of files that can be read in pieces, and again; None if they cannot."""
    if str(source) == "-":
        return None
    found = paths(str(source))
    if any(is_stream(path) for path in found):
        return None
    kinds = {file_format(path) for path in found}
    return kinds.pop() if len(kinds) == 1 and kinds <= {"parquet", "feather", *_TEXT} else None


@contextmanager
def in_pieces(source: str, roles: Roles) -> Iterator[str]:
    """Yield what an engine can read: the source itself, or a folder that its text was put into."""
    kind = _kind_in_pieces(source)
    if kind not in _TEXT:
        yield source
        return
    with as_parquet(source, roles, str(kind)) as folder:
        yield folder


def positive_label(source: str | Path, roles: Roles) -> Any:
    """Return the positive label in the type of the label column of Parquet files."""
    import pyarrow.dataset as ds
    import pyarrow.types as kind

    schema = ds.dataset(paths(str(source)), format=_kind_in_pieces(source)).schema
    check_columns(schema.names, str(source), roles)
    found = schema.field(roles.label).type
    if kind.is_dictionary(found):
        found = found.value_type
    if kind.is_string(found) or kind.is_large_string(found):
        if roles.pos_label is None:
            raise InputError(
                f"label column {told(roles.label)} holds words: say which one is positive with "
                "--pos-label."
            )
        return str(roles.pos_label)
    return numeric_label(roles.pos_label, f"label column {told(roles.label)}")

"""Columns whose values are in the names of folders: ``day=3``, as Hive writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .sources import File
from .wanted import Wanted

_MISSING = "__HIVE_DEFAULT_PARTITION__"


def with_folders(
    tables: Iterable[Any], files: Sequence[File], number: int, wanted: Wanted
) -> Iterator[Any]:
    """Add the columns that one of the files has from its folders; its own ones go first."""
    import pyarrow as pa

    for table in tables:
        columns = dict(zip(table.column_names, table.columns, strict=True))
        for name in wanted.columns:
            if name not in columns:
                kind = _type([file.constants.get(name, _MISSING) for file in files], name, wanted)
                text = files[number].constants.get(name, _MISSING)
                value = pa.scalar(None if text == _MISSING else text, pa.string()).cast(kind)
                columns[name] = pa.repeat(value, table.num_rows)
        yield pa.table([columns[name] for name in wanted.columns], names=list(wanted.columns))


def _type(texts: list[str], name: str, wanted: Wanted) -> Any:
    """The first type that holds the values of all folders; names are text."""
    import pyarrow as pa

    values = pa.array([None if text == _MISSING else text for text in texts], pa.string())
    for kind in () if name in wanted.texts else (pa.int64(), pa.float64()):
        try:
            values.cast(kind)
        except pa.ArrowInvalid:
            continue
        return kind
    return pa.string()

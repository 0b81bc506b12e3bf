"""Files that an engine reads in pieces, and twice: as they are, or copied to Parquet first."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .._arrow import is_nested, is_number, is_text, plain
from ..exceptions import InputError
from .formats import FORMATS, ending
from .messages import refuse_nested
from .missing import sentence
from .sources import File
from .tables import read_files
from .wanted import Wanted

# The share of the memory, and at most the bytes, of text that is parsed at a time: several blocks
# of it are in work.
_BLOCK_SHARE, _LEAST_BLOCK, _MOST_BLOCK = 256, 2**16, 2**24


def is_read_at_random(file: File) -> bool:
    """Return whether an engine can read this very file: binary, and called so."""
    if file.path is None or file.compression is not None:
        return False
    return file.kind in ("parquet", "feather") and FORMATS.get(ending(file.path)) == file.kind


def has_text_for_numbers(schema: Any, wanted: Wanted) -> bool:
    """Return whether a file stores numbers as text, so that it has to be copied to be ranked."""
    return any(field.name in wanted.numbers and is_text(field) for field in schema)


@contextmanager
def copied(
    files: Sequence[File],
    wanted: Wanted,
    *,
    source: object,
    memory: int,
    prepare: Callable[[Any], Any] | None = None,
) -> Iterator[list[str]]:
    """Yield Parquet files with the columns, prepared; they are deleted afterwards."""
    import pyarrow as pa

    block = min(max(memory // _BLOCK_SHARE, _LEAST_BLOCK), _MOST_BLOCK)
    with tempfile.TemporaryDirectory(prefix="precall-") as folder:
        writer = _Writer(Path(folder), wanted, prepare)
        read_files(files, wanted, writer, source=source, block=block)
        if writer.dropped:
            files[0].options.tell(sentence(writer.dropped, writer.rows))
        # What Arrow keeps for later goes back to the system: the next step has its own bound.
        pa.default_memory_pool().release_unused()
        yield sorted(str(path) for path in Path(folder).iterdir())


class _Writer:
    """Write the tables of each file into a Parquet file of its own."""

    def __init__(self, folder: Path, wanted: Wanted, prepare: Callable[[Any], Any] | None) -> None:
        self._folder, self._wanted, self._prepare = folder, wanted, prepare
        self._rows: dict[int, tuple[int, int]] = {}

    @property
    def rows(self) -> int:
        """Rows read."""
        return sum(read for read, _ in self._rows.values())

    @property
    def dropped(self) -> int:
        """Rows left out by preparing them."""
        return self.rows - sum(kept for _, kept in self._rows.values())

    def __call__(self, number: int, tables: Iterable[Any]) -> None:
        import pyarrow.parquet as parquet

        self._rows[number] = (0, 0)  # text may be read again
        found = (self._prepared(number, table) for table in tables)
        first = next(found)
        self._require_numbers(first)
        with parquet.ParquetWriter(self._folder / f"{number:06}.parquet", first.schema) as writer:
            writer.write_table(first)
            for table in found:
                writer.write_table(table)

    def _prepared(self, number: int, table: Any) -> Any:
        kept = table if self._prepare is None else self._prepare(table)
        read, written = self._rows[number]
        self._rows[number] = read + table.num_rows, written + kept.num_rows
        return kept

    def _require_numbers(self, table: Any) -> None:
        for name in self._wanted.columns:
            column = table.column(name)
            if is_nested(column):
                raise refuse_nested(name, column.type)
            if name in self._wanted.numbers and not is_number(plain(column.slice(0, 0))):
                raise InputError(
                    f"{self._wanted.title(name)} holds {column.type}, not numbers: name a column "
                    "of numbers, or convert it first."
                )

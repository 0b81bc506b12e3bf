"""The names of the columns of a file, without reading its rows."""

from __future__ import annotations

from collections.abc import Sequence

from .options import ReadOptions
from .sources import Named, opened
from .tables import read_table
from .wanted import Wanted


class _Found(Exception):
    """The names are known, and no more is to be read."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names = list(names)


def column_names(source: Named, options: ReadOptions | None = None) -> list[str]:
    """Return the names of the columns, those that folders stand for included."""

    def stop(names: Sequence[str], file: str) -> None:
        raise _Found(names)

    with opened(source, options) as files:
        try:
            read_table(files, Wanted(columns=(), check=stop), source)
        except _Found as found:
            return found.names
    return []

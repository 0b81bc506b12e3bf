"""Frames that are computed when they are read: rows come as a stream, never all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..exceptions import InputError
from ._columns import Request
from ._statements import quoted

Stream = Callable[[int], Iterable[Any]]


def stream_of(data: Any, request: Request) -> tuple[Stream, bool] | None:
    """Return what reads `data` from the beginning, and whether it can be read only once.

    None if it is nothing of the kind. Only the columns asked for are computed, where that can be
    said beforehand.
    """
    for is_one, read in ((_is_lazy, _lazy), (_is_relation, _relation)):
        if is_one(data):
            return read(data, request), False
    if hasattr(data, "__arrow_c_stream__"):
        # What a stranger keeps behind this protocol may be gone once it was read; a table of
        # Polars is not.
        return (lambda _: _capsule(data)), not _is_of(data, "polars")
    return None


def _is_of(data: object, library: str) -> bool:
    return type(data).__module__.partition(".")[0].lstrip("_") == library


def _is_lazy(data: object) -> bool:
    return _is_of(data, "polars") and hasattr(data, "collect_schema") and hasattr(data, "collect")


def _lazy(frame: Any, request: Request) -> Stream:
    """A Polars LazyFrame: the query runs once per pass, in its streaming engine."""
    import polars as pl

    request.check(frame.collect_schema().names())
    if not hasattr(frame, "collect_batches"):
        raise InputError(
            f"data is a LazyFrame, and Polars {pl.__version__} cannot stream one: update Polars, "
            "or write it to a file with sink_parquet."
        )
    chosen = frame.select(list(dict.fromkeys(request.columns.values())))
    # Types that every release of PyArrow can compute with.
    types = pl.CompatLevel.oldest()

    def read(rows: int) -> Iterator[Any]:
        for batch in chosen.collect_batches(chunk_size=rows, maintain_order=True):
            yield batch.to_arrow(compat_level=types)

    return read


def _is_relation(data: object) -> bool:
    return _is_of(data, "duckdb") and hasattr(data, "project")


def _relation(relation: Any, request: Request) -> Stream:
    """A DuckDB relation: the query runs once per pass."""
    request.check(relation.columns)
    names = [quoted(name).rendered("?")[0] for name in dict.fromkeys(request.columns.values())]
    chosen = relation.project(", ".join(names))
    # What the method is called, from the newest releases to the oldest.
    called = ("to_arrow_reader", "fetch_record_batch", "fetch_arrow_reader")
    read: Stream = next(getattr(chosen, name) for name in called if hasattr(chosen, name))
    return read


def _capsule(data: Any) -> Iterable[Any]:
    import pyarrow as pa

    stream: Iterable[Any] = pa.RecordBatchReader.from_stream(data)
    return stream

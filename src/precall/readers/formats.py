"""Kinds of files, by the endings of their names."""

from __future__ import annotations

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
COMPRESSIONS = (".gz", ".bz2", ".zst", ".lz4")

"""Which kind of file this is: by the ending of its name, and by its first bytes."""

from __future__ import annotations

from pathlib import Path

from ..exceptions import InputError
from .messages import shown

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
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
}
# Endings that say nothing about the format.
_SILENT = ("", ".txt", ".dat")
#: Compressions by the ending of a name, as PyArrow calls them.
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
#: Kinds that have to be read from a place to another, and not from the beginning to the end.
BINARY = ("parquet", "feather", "stream", "excel")
# How files of a kind begin.
_MARKS = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"\xff\xff\xff\xff": "stream",
    b"PK\x03\x04": "excel",
    b"\xd0\xcf\x11\xe0": "excel",
}
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
}


def ending(path: str) -> str:
    """The ending of a name, in small letters; that of a compression is ignored."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def format_by_name(path: str) -> str | None:
    """File format, from the ending of the name; None if that says nothing."""
    found = ending(path)
    if found in _SILENT:
        return None
    if found not in FORMATS:
        raise InputError(
            f"{shown(path)} has the ending {found!r}, which is none of {', '.join(FORMATS)}: "
            "rename it, or say which format it has with format=."
        )
    return FORMATS[found]


def format_by_content(head: bytes) -> str:
    """File format, from the first bytes, which are not compressed."""
    for mark, kind in _MARKS.items():
        if head.startswith(mark):
            return kind
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text[:1] == b"{" or (text[:1] == b"[" and text[1:].lstrip()[:1] in (b"{", b"]")):
        return "json"
    return "csv"


def compression_by_content(head: bytes) -> str | None:
    """Compression, from the first bytes."""
    return next((name for mark, name in _COMPRESSED.items() if head.startswith(mark)), None)

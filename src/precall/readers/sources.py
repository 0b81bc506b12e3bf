"""Find the files that a source names, and take in what comes through a pipe."""

from __future__ import annotations

import codecs
import glob
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote

from ..exceptions import InputError
from .formats import BINARY, compression_by_content, format_by_content, format_by_name
from .messages import shown
from .options import ReadOptions

_HEAD = 2**16


@dataclass(frozen=True, kw_only=True)
class File:
    """One file on disk, or the bytes of one.

    Attributes
    ----------
    name : str
        How messages call it: its path, or ``-`` for standard input.
    kind : str
        Its format, a value of ``FORMATS``, or ``stream`` for an Arrow stream.
    compression : str, optional
    path : str, optional
        Where it is; None if `data` holds its bytes.
    data : bytes
    constants : mapping from str to str
        Columns whose value is in the name of a folder, such as ``day=3``.
    options : ReadOptions
        What was said about it.
    """

    name: str
    kind: str
    compression: str | None = None
    path: str | None = None
    data: bytes = b""
    constants: Mapping[str, str] = field(default_factory=dict)
    options: ReadOptions = field(default_factory=ReadOptions)

    @property
    def size(self) -> int:
        """Bytes, as stored."""
        return len(self.data) if self.path is None else Path(self.path).stat().st_size

    def open(self) -> Any:
        """Open it from the beginning, decompressed."""
        import pyarrow as pa

        raw = pa.BufferReader(self.data) if self.path is None else pa.OSFile(self.path)
        return raw if self.compression is None else pa.CompressedInputStream(raw, self.compression)

    def open_text(self, encoding: str | None) -> Any:
        """Open it as UTF-8."""
        import pyarrow as pa

        stream = self.open()
        if encoding is None:
            return stream
        return pa.transcoding_input_stream(stream, encoding, "utf-8")

    def wide(self) -> str | None:
        """UTF-16, if its mark says so, or the encoding that was said."""
        marked = self.head()[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        return self.options.encoding or ("utf-16" if marked else None)

    def head(self) -> bytes:
        """The first bytes, decompressed."""
        with self.open() as stream:
            return bytes(stream.read(_HEAD))

    def open_at_random(self) -> Any:
        """Open it so that every place can be read; what is compressed goes into memory."""
        import pyarrow as pa

        if self.compression is None:
            return self.open()
        with self.open() as stream:
            return pa.BufferReader(stream.read())


def paths(source: str) -> list[str]:
    """Existing files; a name is a pattern or a folder only if it is not a file itself."""
    path = Path(source)
    if not source:
        raise InputError("the name of the file is empty: give a path, or '-' for standard input.")
    if path.is_dir():
        found = sorted(str(file) for file in path.rglob("*") if _is_data(file, path))
    elif path.exists() or not glob.has_magic(source):
        found = [source]
    else:
        found = sorted(glob.glob(source, recursive=True))  # noqa: PTH207 - absolute patterns
    if not found and path.is_dir():
        raise InputError(
            f"{shown(source)} is a folder without a file of data: name a file, or a folder that "
            "holds some (names that begin with . or _ do not count)."
        )
    if not found or not Path(found[0]).exists():
        raise InputError(f"{shown(source)} is not there: check the path.")
    return found


def _is_data(file: Path, below: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in file.relative_to(below).parts)
    return file.is_file() and not hidden


#: What names files: a path, several, or an open file.
Named = str | Path | Sequence[str | Path] | IO[bytes]


@contextmanager
def opened(
    source: Named, options: ReadOptions | None = None, *, hold: int | None = None
) -> Iterator[list[File]]:
    """Yield the files of a source.

    Parameters
    ----------
    source : path, sequence of paths, or open file
        A file, a folder, a pattern, a named pipe, or ``-`` for standard input.
    options : ReadOptions, optional
        How to read them; guessed if not given.
    hold : int, optional
        Bytes of a pipe that may be held in memory. What is longer, or has to be read at random,
        goes to a temporary file. None: all of it is held.
    """
    said = options or ReadOptions()
    with ExitStack() as stack:
        if not isinstance(source, (str, Path, Sequence)):
            yield [_taken_in(source, "data", said, hold, stack)]
            return
        files = []
        for name in [source] if isinstance(source, (str, Path)) else source:
            if str(name) == "-":
                files.append(_taken_in(sys.stdin.buffer, "-", said, hold, stack))
                continue
            for path in paths(str(name)):
                if Path(path).is_fifo():
                    with Path(path).open("rb") as stream:
                        files.append(_taken_in(stream, path, said, hold, stack))
                else:
                    files.append(_stored(path, said))
        yield files


def _stored(path: str, options: ReadOptions) -> File:
    """A file by its ending, unless its first bytes say that it is binary."""
    kind, compression = options.format or format_by_name(path), None
    if Path(path).is_file():
        with Path(path).open("rb") as stream:
            head = stream.read(16)
        compression = compression_by_content(head)
        found = format_by_content(head)
        kind = found if found in BINARY else kind
    file = File(
        name=path,
        kind=kind or "csv",
        compression=compression,
        path=path,
        constants=_constants(path),
        options=options,
    )
    if kind is None:
        file = replace(file, kind=_kind(file))
        options.tell(f"{shown(path)} was read as {file.kind}.")
    return file


def _constants(path: str) -> dict[str, str]:
    """Columns in the names of the folders, as Hive writes them."""
    pairs = [part.split("=", 1) for part in Path(path).parent.parts if "=" in part]
    return {unquote(key): unquote(value) for key, value in pairs if key}


def _taken_in(
    stream: IO[bytes], name: str, options: ReadOptions, hold: int | None, stack: ExitStack
) -> File:
    """Read a pipe: into memory, or into a file that is deleted with the stack."""
    data = stream.read() if hold is None else stream.read(hold)
    compression = compression_by_content(data)
    held = File(name=name, kind="csv", compression=compression, data=data, options=options)
    kind = _kind(held)
    rest = b"" if hold is None else stream.read(1)
    if not rest and (hold is None or not (kind in BINARY or held.compression)):
        return replace(held, kind=kind)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="precall-")))
    with (folder / f"pipe.{kind}").open("wb") as file:
        file.write(data)
        file.write(rest)
        shutil.copyfileobj(stream, file, 2**20)
    return replace(held, kind=kind, data=b"", path=file.name)


def _kind(held: File) -> str:
    """The format of a file by its content, of which this may be the beginning."""
    import pyarrow as pa

    try:
        head = held.head()
        found = format_by_content(head)
        if found in BINARY:
            return found
        encoding = held.wide()
        if encoding is not None:
            found = format_by_content(head.decode(encoding, errors="ignore").encode())
        return held.options.format or found
    except (pa.ArrowException, OSError):  # cut off inside a block of a compression
        return held.options.format or "csv"

"""Write a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Give a temporary name beside `path`; rename it to `path` only if nothing went wrong.

    The temporary name has the same ending, because some writers choose their format by it.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with whole_file(folder / "page.html") as unfinished:
    ...     _ = unfinished.write_text("done", encoding="utf-8")
    >>> [file.name for file in folder.iterdir()]
    ['page.html']
    """
    target = Path(path)
    handle, name = tempfile.mkstemp(
        prefix=f".{target.stem[:40]}-", suffix=target.suffix, dir=target.parent
    )
    os.close(handle)
    unfinished = Path(name)
    try:
        # mkstemp makes a file that only its owner can read; a report has ordinary permissions.
        unfinished.chmod(0o666 & ~_umask())
        yield unfinished
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

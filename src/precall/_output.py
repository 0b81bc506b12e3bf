"""Write a file whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .exceptions import InputError


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Give a temporary name beside `path`; rename it to `path` only if nothing went wrong.

    The temporary name has the same ending, because some writers choose their format by it. A link
    stays a link: what it points to is written. A file that is there keeps its permissions.

    Raises
    ------
    InputError
        If `path` is write-protected, or no ordinary file (a pipe, a device, a folder).

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with whole_file(folder / "page.html") as unfinished:
    ...     _ = unfinished.write_text("done", encoding="utf-8")
    >>> [file.name for file in folder.iterdir()]
    ['page.html']
    """
    reason = why_not_writable(path)
    if reason is not None:
        raise InputError(f"{str(path)!r} {reason}")
    target = Path(path).resolve()
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask()
    # The name is known before the file is there, so that an interrupt at any moment removes it.
    unfinished = target.with_name(f".{target.stem[:40]}-{os.urandom(6).hex()}{target.suffix}")
    try:
        # Only its owner can read it until it has the permissions that it is to have.
        os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        unfinished.chmod(mode)
        yield unfinished
        unfinished.replace(target)
    except OSError as error:
        if error.filename in (None, str(unfinished)):  # a message names the file that was asked for
            error.filename = str(path)
        raise
    finally:
        unfinished.unlink(missing_ok=True)


def as_page(path: str | Path) -> Path:
    """Return where to write a page of HTML; the ending and the folder have to be right."""
    page = Path(path)
    if page.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"path must end in .html or .htm, got {str(path)!r}.")
    if not page.absolute().parent.is_dir():
        raise InputError(f"path {str(path)!r} is in a folder that is not there: make it first.")
    return page


def why_not_writable(path: str | Path) -> str | None:
    """Return why a file cannot be written there, to go after its name in a message, or None."""
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError:
        return None
    except OSError as error:  # a link to itself, a folder that may not be entered
        return f"cannot be written ({error.strerror}): choose another name."
    if not stat.S_ISREG(mode):
        return "is no ordinary file: choose another name."
    # The owner's own bit, not os.access: the administrator may write everything.
    if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        return "is write-protected: choose another name, or allow writing."
    return None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""A ledger in a file that several programs may share: read, changed and written under a lock."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..exceptions import InputError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait until no other program, thread or budget is changing this ledger.

    The lock is a file beside the ledger, because the ledger itself is replaced when it is written.
    The operating system gives it back when a program ends, however it ends.
    """
    with path.with_name(f".{path.name}.lock").open("a+b") as file:
        if sys.platform == "win32":
            while True:
                try:
                    file.seek(0)
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                    break
                except OSError:  # ten seconds have passed
                    continue
        else:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def read_ledger(path: Path) -> Mapping[str, Any]:
    """Read what :func:`write_ledger` wrote."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is not a privacy ledger ({error}).") from error
    return plain if isinstance(plain, dict) else {}


def write_ledger(path: Path, plain: Mapping[str, Any]) -> None:
    """Replace the file in one step, after its bytes have reached the disk."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    with scratch.open("w", encoding="utf-8") as file:
        file.write(json.dumps(plain, indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)

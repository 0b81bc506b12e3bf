"""A ledger in a file that several programs may share: read, changed and written under a lock.

Beside the ledger lie a file that is locked, and one with a secret key, which also says which
ledger is the newest and which locked file belongs to it. So a copy of the ledger, an older one that
was put back, and one that was edited are noticed.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..exceptions import InputError
from ._fingerprint import KEY_BYTES

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_FORMAT = "precall privacy ledger key 1"


class LedgerFile:
    """A ledger's file, with its lock and its key; :meth:`locked` around everything else.

    Parameters
    ----------
    path : Path
        The ledger, absolute. Beside it, hidden, are a file ending in ``.lock`` and one in ``.key``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._key_path = path.with_name(f".{path.name}.key")
        self._lock_path = path.with_name(f".{path.name}.lock")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Wait until no other program, thread or budget is changing this ledger.

        The lock is a file of its own, because the ledger is replaced when it is written. The
        operating system gives it back when a program ends, however it ends.
        """
        with self._lock_path.open("a+b") as file:
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

    def create(self, plain: Mapping[str, Any]) -> bytes:
        """Write a new ledger and its key, and return the key."""
        key = secrets.token_bytes(KEY_BYTES)
        text = _text(plain)
        self._keep(key, text)
        _replace(self.path, text)
        return key

    def read(self) -> tuple[Mapping[str, Any], bytes]:
        """Read the ledger and its key; an error if it is not the newest, or not at its place."""
        text = self.path.read_text(encoding="utf-8")
        plain = _parsed(text, self.path)
        kept = self._kept()
        if kept is None:
            raise InputError(
                f"{self.path} has no key beside it ({self._key_path.name}), so it is a copy, or "
                f"was moved without its hidden files. {_OUT}"
            )
        key, place, accepted = kept
        if place != self._place():
            raise InputError(f"{self.path} is a copy, or was moved. {_OUT}")
        if _mark(key, text) not in accepted:
            raise InputError(
                f"{self.path} is not as the last release left it: it is an older one that was put "
                f"back, or it was edited. {_OUT}"
            )
        return plain, key

    def plain(self) -> Mapping[str, Any]:
        """Read the ledger, wherever it comes from."""
        return _parsed(self.path.read_text(encoding="utf-8"), self.path)

    def adopt(self) -> None:
        """Take the ledger as it is, at the place where it is, as the newest and only one."""
        try:
            kept = self._kept()
        except InputError:
            kept = None
        if kept is None:  # without the key, its digests recognise nothing any more
            self.create({**self.plain(), "fingerprints": []})
        else:
            self._keep(kept[0], self.path.read_text(encoding="utf-8"))

    def write(self, plain: Mapping[str, Any], key: bytes) -> None:
        """Replace the ledger. Whenever the program ends, one of both is whole and accepted."""
        text = _text(plain)
        before = self.path.read_text(encoding="utf-8")
        self._keep(key, before, text)
        _replace(self.path, text)
        self._keep(key, text)

    def _place(self) -> int:
        """Number of the locked file, which a copy of it does not have."""
        return self._lock_path.stat().st_ino

    def _kept(self) -> tuple[bytes, int, list[str]] | None:
        try:
            plain = json.loads(self._key_path.read_text(encoding="utf-8"))
            if plain["format"] != _FORMAT:
                raise ValueError(plain["format"])
            return bytes.fromhex(plain["key"]), int(plain["place"]), list(plain["accepted"])
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{self._key_path} is not the key of a privacy ledger.") from error

    def _keep(self, key: bytes, *texts: str) -> None:
        accepted = [_mark(key, text) for text in texts]
        plain = {"format": _FORMAT, "key": key.hex(), "place": self._place(), "accepted": accepted}
        _replace(self._key_path, _text(plain), secret=True)


_OUT = (
    "Two copies could be spent twice, so nothing is released from it. If no other copy is in use "
    "and nothing was spent that it does not show, load it with moved=True."
)


def _mark(key: bytes, text: str) -> str:
    return hmac.digest(key, b"ledger" + text.encode(), "sha256").hex()


def _text(plain: Mapping[str, Any]) -> str:
    return json.dumps(plain, indent=2) + "\n"


def _parsed(text: str, path: Path) -> Mapping[str, Any]:
    try:
        plain = json.loads(text)
    except ValueError as error:
        raise InputError(f"{path} is not a privacy ledger ({error}).") from error
    return plain if isinstance(plain, dict) else {}


def _replace(path: Path, text: str, *, secret: bool = False) -> None:
    """Replace a file in one step, after its bytes have reached the disk."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    if secret:  # for the eyes of its owner, from the first byte on
        scratch.touch(mode=0o600)
    with scratch.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)

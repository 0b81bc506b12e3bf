"""Recognising rows by digests that say nothing to whoever has no key.

A plain digest of the rows would give them away: whoever knows all rows but one tries every last
row and compares. So digests are keyed, the key is not in the ledger, and every digest has a nonce
of its own, so that not even equal columns show (``PROOFS.md``, section 11).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import InputError

Mask = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

KEY_BYTES = 32
_NONCE_BYTES = 16
_COLUMNS = ("labels", "scores")
_UNKNOWN = (
    "these rows are not those that the ledger was kept for: neither their labels nor their scores, "
    "in this order, were released from before. Use the ledger of these rows. If they are other "
    "columns or another order of the same rows, load the ledger with new_rows=True."
)


class Fingerprints:
    """Digests of the rows that releases were made from, one record for each release."""

    def __init__(self, records: Iterable[Mapping[str, Any]] = ()) -> None:
        self.records = [_checked(record) for record in records]

    def recognise(
        self,
        key: bytes,
        positive: Mask | None,
        *scores: FloatArray,
        new_rows: bool = False,
    ) -> None:
        """Record rows that were seen before, by their labels or by any of their scores.

        Parameters
        ----------
        key : bytes
            The secret of the ledger.
        positive, scores : array
            Rows of a release; the labels may be missing.
        new_rows : bool, default False
            Whether the caller vouches for rows that were not seen before.

        Raises
        ------
        InputError
            In constant words, if there are records and none has these labels or these scores.
        """
        labels = None if positive is None else _digest(np.packbits(positive), positive.size)
        # Zeros of both signs are one score.
        columns: list[bytes | None] = [_digest(column + 0.0, column.size) for column in scores]
        known = any(
            hmac.compare_digest(record[name], _keyed(key, record["nonce"], name, digest))
            for record in self.records
            for name, digests in (("labels", [labels]), ("scores", columns))
            for digest in digests
            if digest is not None
        )
        if self.records and not known and not new_rows:
            raise InputError(_UNKNOWN)
        for column in columns or [None]:
            nonce = secrets.token_hex(_NONCE_BYTES)
            self.records.append(
                {"nonce": nonce}
                | {
                    name: _keyed(key, nonce, name, digest or secrets.token_bytes(KEY_BYTES))
                    for name, digest in zip(_COLUMNS, (labels, column), strict=True)
                }
            )


def _digest(values: npt.NDArray[Any], size: int) -> bytes:
    return hashlib.sha256(size.to_bytes(8, "little") + values.tobytes()).digest()


def _keyed(key: bytes, nonce: str, name: str, digest: bytes) -> str:
    return hmac.digest(key, nonce.encode() + name.encode() + digest, "sha256").hex()


def _checked(record: Mapping[str, Any]) -> dict[str, str]:
    plain = {name: record[name] for name in ("nonce", *_COLUMNS)}
    if not all(isinstance(value, str) and value.isascii() for value in plain.values()):
        raise TypeError("a fingerprint is text")
    return plain

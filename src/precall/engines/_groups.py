"""Groups as numbers: rows of all groups are sorted and counted at once, not group by group."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..exceptions import InputError
from ._columns import Encoded, IntArray
from ._survey import CHANGED, Keys

# Groups are dealt into this many parts, so that several machines can add them up.
N_BUCKETS = 64


class Groups:
    """The groups seen so far, numbered as they come; none where no groups are asked for.

    A `closed` collection takes no new ones: the second pass has to see those of the first.
    """

    def __init__(self, values: Iterable[Any] = (), *, closed: bool = False) -> None:
        self.number: dict[Any, int] = {value: number for number, value in enumerate(values)}
        self.closed = closed
        self._keys = np.array([group_key(value) for value in self.number], dtype=np.uint64)

    def __len__(self) -> int:
        """Return how many groups there are."""
        return len(self.number)

    def numbers(self, coded: Encoded) -> IntArray:
        """Return the number of each row's group, -1 where it is missing; new groups are added."""
        present = np.bincount(coded.codes[coded.codes >= 0], minlength=len(coded.values)) > 0
        number = np.full(len(coded.values) + 1, -1, dtype=np.int64)
        used = np.flatnonzero(present)
        number[used] = self.add(coded.values[code] for code in used.tolist())
        found: IntArray = number[coded.codes]
        return found

    def add(self, values: Iterable[Any]) -> list[int]:
        """Return the number of each value; new ones are added, unless no more may come."""
        before = len(self.number)
        found = [self.number.setdefault(value, len(self.number)) for value in values]
        if len(self.number) > before:
            new = list(self.number)[before:]
            if self.closed:
                raise InputError(f"group {new[0]!r} came up in the second pass only: {CHANGED}")
            keys = np.array([group_key(value) for value in new], dtype=np.uint64)
            self._keys = np.concatenate([self._keys, keys])
        return found

    def keys(self, numbers: IntArray) -> Keys:
        """Return a hash of each row's group, the same in every pass and on every machine."""
        found: Keys = np.append(self._keys, np.uint64(0))[numbers]
        return found

    def buckets(self) -> IntArray:
        """Return the part that each group is dealt into."""
        return (self._keys % np.uint64(N_BUCKETS)).astype(np.int64)


def group_key(value: Any) -> int:
    """Hash a group: equal numbers alike whatever their type, everything else by its text."""
    if isinstance(value, (int, float)):
        return hash(value) % 2**64
    return zlib.crc32(repr(value).encode())

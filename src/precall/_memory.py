"""The memory that large arrays are made in."""

from __future__ import annotations

from functools import cache

import numpy as np

# What glibc compares with is 32 MiB at most, with a little of its own.
_LARGEST = 2**25 - 2**16


@cache
def keep_freed_memory() -> None:
    """Let the C library keep what one large array leaves, for the next one; once per process.

    On Linux, glibc asks the system for each large block and gives it back, and the system clears
    every page again: up to a third of the time that a million rows take. It goes on to do so only
    with blocks larger than the largest one that was given back so far, up to 32 MiB. So one is
    taken and given back here, without a page of it being touched. A process may then hold on to
    64 MiB more. Where memory is managed in another way, or the environment says how (`MALLOC_...`),
    nothing happens.
    """
    np.empty(_LARGEST, dtype=np.uint8)

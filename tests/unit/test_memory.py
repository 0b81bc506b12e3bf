"""Memory that large arrays leave is there for the next ones."""

import os
import platform
import subprocess
import sys

import pytest

CODE = """
import resource
import numpy as np
from precall import _memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        arrays = [np.ones(3 * 10**6, dtype=np.uint8) for _ in range(8)]
        del arrays
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults()
before = faults()
_memory.keep_freed_memory()
faults()
print(before, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is asked to keep memory")
def test_no_new_pages_for_the_next_arrays():
    # What the environment says of memory holds; Dask says something, for its workers.
    silent = {k: v for k, v in os.environ.items() if not k.startswith(("MALLOC_", "GLIBC_"))}
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env=silent
    )
    before, after = map(int, done.stdout.split())
    # The arrays are 5,859 pages each time.
    assert after < 100 < before

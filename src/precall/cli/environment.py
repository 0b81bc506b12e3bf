"""What NumPy and PyArrow should know, said before they are loaded in a process of our own.

They ask the environment once, when they are loaded: a command may answer, the library, which shares
its process, may not. What somebody has said there already is left as it is.

**Threads of linear algebra.** NumPy and SciPy each bring an OpenBLAS whose threads turn in circles
for a tenth of a second after they are loaded, on cores that read and import at that time. No
command multiplies matrices that would keep two cores busy.

**One heap.** PyArrow has an allocator of its own. With the usual one, what reading gives back is
what ranking takes next, and the system need not clear as many new pages.

**The sort of Zen 4.** On AMD's Zen 4 the instruction with which NumPy's sort for AVX-512 writes its
parts is so slow that its sort for AVX2 takes a sixth of the time
(https://github.com/numpy/x86-simd-sort/issues/6). Zen 3 has no AVX-512, Zen 5 a fast instruction.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
_ONE_HEAP = {"ARROW_DEFAULT_MEMORY_POOL": "system"}
_SETTING = "NPY_DISABLE_CPU_FEATURES"
# AVX-512, by its name in NumPy 2.4. Earlier releases do not know the name, and have no better sort.
_FEATURE = "X86_V4"
# The first of many processors: the rest of the file would be made while it is read.
_ENOUGH = 4096
_DESCRIBED = Path("/proc/cpuinfo")


def prepare() -> None:
    """Say all of it."""
    for name, value in (_ONE_THREAD | _ONE_HEAP).items():
        os.environ.setdefault(name, value)
    avoid_slow_sort()


def avoid_slow_sort(described: Path = _DESCRIBED) -> None:
    """Let NumPy sort without AVX-512 on Zen 4, unless the environment says what to leave out.

    Nor where somebody wants to see, or to stop at, warnings: NumPy has one for a name that it does
    not know.
    """
    if _SETTING not in os.environ and not sys.warnoptions and is_zen_4(described):
        os.environ[_SETTING] = _FEATURE


def is_zen_4(described: Path = _DESCRIBED) -> bool:
    """Return whether NumPy's sort for AVX-512 is slow here."""
    try:
        with described.open(encoding="ascii", errors="replace") as file:
            text = file.read(_ENOUGH)
    except OSError:  # not Linux
        return False
    lines = (line.partition(":") for line in text.splitlines())
    facts = {name.strip(): value.split() for name, _, value in lines}
    known = facts.get("vendor_id") == ["AuthenticAMD"] and facts.get("cpu family") == ["25"]
    return known and "avx512f" in facts.get("flags", [])

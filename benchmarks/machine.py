"""What the benchmarks ran on. Nothing that names the machine or its owner."""

import os
import platform
from pathlib import Path

from benchmarks.peers import PEERS, version
from precall.cli.environment import is_zen_4

# Beside the peers themselves: what they and this library stand on.
FOUNDATIONS = ("precall", "numpy", "scipy", "pyarrow", "pandas", "torch", "numba")


SORTING = "numpy.sort"


def machine() -> dict[str, str]:
    sorting = {SORTING: "AVX-512, slow on Zen 4"} if is_zen_4() else {}
    return (
        {
            "processor": _processor(),
            "cores": str(os.cpu_count()),
            "memory": f"{_memory() / 2**30:.0f} GiB",
            "system": f"{platform.system()} {platform.machine()}",
            "load before the run": f"{os.getloadavg()[0]:.1f}",
        }
        | sorting
        | _threads()
    )


def versions() -> dict[str, str]:
    names = [*FOUNDATIONS, *(peer.distribution for peer in PEERS)]
    found = {name: version(name) or "not installed" for name in dict.fromkeys(names)}
    return {"Python": platform.python_version()} | found


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _threads() -> dict[str, str]:
    """How many threads the peers use that use several; all others have one."""
    found = {}
    if version("torch") is not None:
        import torch

        found["threads of torch"] = str(torch.get_num_threads())
    if version("polars") is not None:
        import polars as pl

        found["threads of polars"] = str(pl.thread_pool_size())
    return found

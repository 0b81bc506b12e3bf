"""What importing this library costs a program that has nothing loaded yet."""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial

from benchmarks.harness import Budget, Race, benchmark

PEER = "scipy.special"


@benchmark
def import_time(quick: bool) -> Iterator[Race]:
    """A fresh interpreter imports every public name, or only the part of SciPy under them."""
    yield Race(
        title="a fresh interpreter",
        jobs={
            "precall": partial(_run, "from precall import *"),
            PEER: partial(_run, f"import {PEER}"),
        },
        repeats=5 if quick else 15,
        budgets=(Budget(peer=PEER, at_most=1.3),),
        bounds=(PEER,),
    )


def _run(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)

"""What `import precall` costs a program that has nothing loaded yet."""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial

from benchmarks.harness import Budget, Race, benchmark

PEER = "scipy.special"


@benchmark
def import_time(quick: bool) -> Iterator[Race]:
    """A fresh interpreter imports the package, or only the part of SciPy that it stands on."""
    yield Race(
        title="a fresh interpreter",
        jobs={
            "precall": partial(_import, "precall"),
            PEER: partial(_import, PEER),
        },
        repeats=5 if quick else 15,
        budgets=(Budget(peer=PEER, at_most=1.3),),
        bounds=(PEER,),
    )


def _import(module: str) -> None:
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)

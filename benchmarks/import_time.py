"""What importing this library costs a program that has nothing loaded yet."""

from collections.abc import Iterator
from functools import partial

from benchmarks.harness import Budget, Race, benchmark
from benchmarks.programs import run_python

PEER = "scipy.special"


@benchmark
def import_time(quick: bool) -> Iterator[Race]:
    """A fresh interpreter imports every public name, or only the part of SciPy under them."""
    yield Race(
        title="a fresh interpreter",
        jobs={
            "precall": partial(run_python, "-c", "from precall import *"),
            PEER: partial(run_python, "-c", f"import {PEER}"),
        },
        repeats=5 if quick else 15,
        budgets=(Budget(peer=PEER, at_most=1.3),),
        bounds=(PEER,),
    )

"""Run the tests marked `numerics` under other processors' arithmetic: `make numerics`.

Sums differ in their last bits between BLAS kernels, between NumPy's code for different processors
and between numbers of threads. One machine can imitate many: OpenBLAS takes the kernel to use from
OPENBLAS_CORETYPE, NumPy leaves out the processor features in NPY_DISABLE_CPU_FEATURES. What this
machine cannot run is left out, and named.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

KERNELS = ("Prescott", "Nehalem", "Haswell", "Zen", "SkylakeX")
# OpenBLAS names its oldest kernel by the first processor that it was written for.
ALSO_CALLED = {"Prescott": "Katmai"}

# Multiplies, so that a kernel of another processor dies here, and names the kernel in use.
PROBE = """
import numpy as np
from threadpoolctl import threadpool_info
matrix = np.ones((300, 300))
assert (matrix @ matrix == 300).all()
print(next(i["architecture"] for i in threadpool_info() if i["internal_api"] == "openblas"))
"""
FEATURES = """
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
print(*(name for name in __cpu_dispatch__ if __cpu_features__[name]))
"""


@dataclass(frozen=True, kw_only=True)
class Leg:
    """One way to compute."""

    name: str
    settings: dict[str, str] = field(default_factory=dict)
    one_core: bool = False


@dataclass(frozen=True, kw_only=True)
class Started:
    """A leg under way."""

    leg: Leg
    process: subprocess.Popen[bytes]
    printed: IO[str]
    began: float


def ask(program: str, settings: dict[str, str]) -> str | None:
    """Return what a program prints under these settings, or None if it fails."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() if done.returncode == 0 else None


def find_legs() -> tuple[list[Leg], list[str]]:
    """Return what this machine can run, and what is left out with the reason."""
    legs, left_out = [], []
    for kernel in KERNELS:
        settings = {"OPENBLAS_CORETYPE": kernel}
        used = ask(PROBE, settings)
        if used not in (kernel, ALSO_CALLED.get(kernel)):
            found = "it does not run" if used is None else f"OpenBLAS uses {used} instead"
            left_out.append(f"OpenBLAS kernel {kernel}: {found}")
        else:
            legs.append(Leg(name=f"OpenBLAS kernel {kernel}", settings=settings))
    features = (ask(FEATURES, {}) or "").split()
    wide = [name for name in features if "512" in name or name.endswith("V4")]
    for chosen, what in ((features, "any optional"), (wide, "AVX-512")):
        if chosen:
            settings = {"NPY_DISABLE_CPU_FEATURES": " ".join(chosen)}
            name = f"NumPy without {what} code ({' '.join(chosen)})"
            legs.append(Leg(name=name, settings=settings))
        else:
            left_out.append(f"NumPy without {what} code: this processor has none")
    legs.append(Leg(name="one core", settings={"OPENBLAS_NUM_THREADS": "1"}, one_core=True))
    return legs, left_out


def marked_files() -> list[str]:
    """Return the test files that speak of the mark: no other has to be imported."""
    files = [*Path("tests/unit").glob("test_*.py"), *Path("tests/properties").glob("test_*.py")]
    return sorted(str(file) for file in files if "mark.numerics" in file.read_text())


def begin(leg: Leg, arguments: list[str]) -> Started:
    """Start the tests of a leg, on one core if it asks for that."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "numerics", "-p", "no:cacheprovider"]
    if leg.one_core and (taskset := shutil.which("taskset")):
        command = [taskset, "--cpu-list", str(min(os.sched_getaffinity(0))), *command]
    printed = tempfile.TemporaryFile("w+")  # noqa: SIM115
    process = subprocess.Popen(
        [*command, *(arguments or marked_files())],
        env={**os.environ, **leg.settings},
        stdout=printed,
        stderr=subprocess.STDOUT,
    )
    return Started(leg=leg, process=process, printed=printed, began=time.monotonic())


def end(started: Started) -> bool:
    """Say how a leg ended, with what it printed if it failed; return whether it passed."""
    passed = started.process.returncode == 0
    if not passed:
        started.printed.seek(0)
        print(started.printed.read())
    started.printed.close()
    said = "passed" if passed else "FAILED"
    took = time.monotonic() - started.began
    print(f"{said} in {took:.0f} s: {started.leg.name}", flush=True)
    return passed


def main(arguments: list[str]) -> int:
    """Run every leg, as many at a time as there are cores; arguments go to pytest."""
    legs, left_out = find_legs()
    waiting, running, failed = list(legs), [], 0
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            running.append(begin(waiting.pop(0), arguments))
        time.sleep(0.2)
        for started in [one for one in running if one.process.poll() is not None]:
            running.remove(started)
            failed += not end(started)
    for reason in left_out:
        print(f"left out: {reason}")
    print(f"numerics: {len(legs) - failed} passed, {failed} failed, {len(left_out)} skipped")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

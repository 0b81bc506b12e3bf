"""Run the tests marked `numerics` under other processors' arithmetic: `make numerics`.

Sums differ in their last bits between BLAS kernels, between NumPy's code for different processors
and between numbers of threads. One machine can imitate many: OpenBLAS takes the kernel to use from
OPENBLAS_CORETYPE, NumPy leaves out the processor features in NPY_DISABLE_CPU_FEATURES. What this
machine cannot run is left out, and named.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field

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


def run(leg: Leg, arguments: list[str]) -> bool:
    """Run the tests; return whether they pass."""
    workers = [] if leg.one_core else ["-n", "2"]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "numerics", "-p", "no:cacheprovider"]

    def on_one_core() -> None:
        if leg.one_core and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    done = subprocess.run(
        [*command, *workers, *(arguments or ["tests/unit", "tests/properties"])],
        env={**os.environ, **leg.settings},
        preexec_fn=on_one_core,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n")
    return done.returncode == 0


def main(arguments: list[str]) -> int:
    """Run every leg; arguments go to pytest."""
    legs, left_out = find_legs()
    failed = 0
    for leg in legs:
        began = time.monotonic()
        passed = run(leg, arguments)
        failed += not passed
        said = "passed" if passed else "FAILED"
        print(f"{said} in {time.monotonic() - began:.0f} s: {leg.name}", flush=True)
    for reason in left_out:
        print(f"left out: {reason}")
    print(f"numerics: {len(legs) - failed} passed, {failed} failed, {len(left_out)} skipped")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

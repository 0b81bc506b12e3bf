"""Run every registered benchmark, or those named, and print their tables."""

import argparse
import importlib
import os
import pkgutil
import platform
import sys
from collections.abc import Iterator

import numpy as np

import benchmarks
from benchmarks.harness import REGISTRY, Outcome, Race, lines, run


def main() -> int:
    for module in pkgutil.iter_modules(benchmarks.__path__):
        if module.name != "__main__":
            importlib.import_module(f"benchmarks.{module.name}")
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(REGISTRY)}")
    parser.add_argument("--quick", action="store_true", help="small sizes only: seconds")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a budget is missed")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(REGISTRY):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}: choose of {', '.join(REGISTRY)}")

    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}, "
        f"{os.cpu_count()} cores"
    )
    outcomes: list[Outcome] = []
    for name in arguments.names or REGISTRY:
        print(f"\n{name}")
        for line in lines(_run(REGISTRY[name](arguments.quick), outcomes)):
            print(line, flush=True)
    verdicts = [holds for outcome in outcomes for holds in outcome.verdicts().values()]
    print(f"\n{sum(verdicts)} of {len(verdicts)} budgets hold")
    return int(arguments.strict and not all(verdicts))


def _run(races: Iterator[Race], outcomes: list[Outcome]) -> Iterator[Outcome]:
    for race in races:
        outcomes.append(run(race))
        yield outcomes[-1]


if __name__ == "__main__":
    sys.exit(main())

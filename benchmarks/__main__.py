"""Run every registered benchmark, or those named; print their tables, and write the page."""

import argparse
import importlib
import pkgutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import benchmarks
from benchmarks.harness import REGISTRY, Outcome, Race, Unavailable, lines, run

# Too long for a page that is to be written anew in minutes; named ones run.
LEFT_OUT = {"engine_spark": "Spark takes minutes; alone: `python -m benchmarks engine_spark`"}


def main() -> int:
    for module in pkgutil.iter_modules(benchmarks.__path__):
        if module.name != "__main__":
            importlib.import_module(f"benchmarks.{module.name}")
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(REGISTRY)}")
    parser.add_argument("--quick", action="store_true", help="small sizes only: a minute")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a budget is missed")
    parser.add_argument("--page", type=Path, help="write tables and figures here, as Markdown")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(REGISTRY):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}: choose of {', '.join(REGISTRY)}")

    from benchmarks.machine import machine, versions

    start, here = time.perf_counter(), machine()
    print(", ".join(f"{name} {value}" for name, value in here.items()))
    left_out = LEFT_OUT if arguments.page is not None and not arguments.names else {}
    not_run = dict(left_out)
    outcomes: dict[str, list[Outcome]] = {}
    for name in arguments.names or (name for name in REGISTRY if name not in left_out):
        print(f"\n{name}")
        outcomes[name] = []
        began = time.perf_counter()
        try:
            for line in lines(_run(REGISTRY[name](arguments.quick), outcomes[name])):
                print(line, flush=True)
        except Unavailable as why:
            not_run[name] = str(why)
            print(f"  not run: {why}")
        print(f"  ({time.perf_counter() - began:.0f} s)", flush=True)
    verdicts = [
        holds for some in outcomes.values() for one in some for holds in one.verdicts().values()
    ]
    print(f"\n{sum(verdicts)} of {len(verdicts)} budgets hold")
    if arguments.page is not None:
        from benchmarks import page, peers

        results = page.Results(
            outcomes=outcomes,
            machine=here,
            versions=versions(),
            peers=peers.found(),
            not_run=not_run,
            quick=arguments.quick,
            minutes=(time.perf_counter() - start) / 60,
        )
        page.write(results, arguments.page)
        print(f"wrote {arguments.page}")
    return int(arguments.strict and not all(verdicts))


def _run(races: Iterator[Race], outcomes: list[Outcome]) -> Iterator[Outcome]:
    for race in races:
        outcomes.append(run(race))
        yield outcomes[-1]


if __name__ == "__main__":
    sys.exit(main())

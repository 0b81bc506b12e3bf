"""Run every registered benchmark, or those named; print their tables, and write the page."""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.apart import register_all, run_apart
from benchmarks.harness import REGISTRY, Outcome, Unavailable, lines

# Too long for a page that is to be written anew in minutes; named ones run.
LEFT_OUT = {"engine_spark": "Spark takes minutes; alone: `python -m benchmarks engine_spark`"}


def main() -> int:
    register_all()
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
            found = _kept(run_apart(name, arguments.quick), outcomes[name])
            for line in lines(found):
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


def _kept(found: Iterator[Outcome], outcomes: list[Outcome]) -> Iterator[Outcome]:
    for outcome in found:
        outcomes.append(outcome)
        yield outcome


if __name__ == "__main__":
    sys.exit(main())

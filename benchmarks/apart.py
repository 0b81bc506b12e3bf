"""A benchmark in a process of its own, so that nothing of the others is in its way.

The libraries of one benchmark leave threads and memory behind, and what the next one starts, a
command most of all, is slower for it.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection

import benchmarks
from benchmarks.harness import REGISTRY, Outcome, run


def register_all() -> None:
    """Import every module, so that all benchmarks are registered."""
    for module in pkgutil.iter_modules(benchmarks.__path__):
        if module.name != "__main__":
            importlib.import_module(f"benchmarks.{module.name}")


def run_apart(name: str, quick: bool) -> Iterator[Outcome]:
    """Yield the outcomes of a benchmark as they come; what it raises is raised here."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send_outcomes, args=(name, quick, sender))
    process.start()
    sender.close()
    try:
        while True:
            try:
                found = receiver.recv()
            except EOFError:
                break
            if isinstance(found, Exception):
                raise found
            yield found
    finally:
        process.join()
    if process.exitcode:
        raise RuntimeError(f"the process of {name} ended with {process.exitcode}.")


def _send_outcomes(name: str, quick: bool, sender: Connection) -> None:
    register_all()
    try:
        for race in REGISTRY[name](quick):
            outcome = run(race)
            # What was timed stays here: functions of a benchmark cannot be sent.
            told = replace(outcome.race, jobs=dict.fromkeys(outcome.race.jobs, int), check=None)
            sender.send(replace(outcome, race=told))
    except Exception as problem:  # noqa: BLE001 - whatever it is, the other process raises it
        sender.send(problem)
    finally:
        sender.close()

"""Which functions each test calls: a pytest plugin, run by mutants.py in a process of its own."""

from __future__ import annotations

import functools
import gc
import importlib
import json
import sys
import threading
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import pytest


class Reach:
    """A pytest plugin that records which functions each test calls, and how long it takes."""

    def __init__(self, base: str, target: Path | None = None) -> None:
        self.base = base
        self.target = target
        self.calls: dict[str, set[str]] = {}
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self.known: dict[Any, str | None] = {}
        self.now: set[str] = set()
        self.caches: list[Any] = []

    def trace(self, frame: Any, event: str, argument: Any) -> None:
        """Note a call; returning None leaves the lines of the function untraced."""
        code = frame.f_code
        if code not in self.known:
            ours = code.co_filename.startswith(self.base)
            name = code.co_qualname.split(".<locals>")[0]
            self.known[code] = f"{code.co_filename[len(self.base) :]}:{name}" if ours else None
        if (name := self.known[code]) is not None:
            self.now.add(name)

    def watch(self, name: str) -> Generator[None, Any, Any]:
        """Note what is called inside of a hook, under a name."""
        self.now = self.calls.setdefault(name, set())
        sys.settrace(self.trace)
        threading.settrace(self.trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)

    # What a file calls when it is imported, and what fixtures call, is for all of its tests.
    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, Any]:
        return (yield from self.watch(collector.nodeid.split("::")[0]))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        return (yield from self.watch(item.nodeid.split("::")[0]))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        for cached in self.caches:  # what an earlier test left there would hide a call
            cached.cache_clear()
        return (yield from self.watch(item.nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.add(report.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, Any, Any]:
        file = item.nodeid.split("::")[0]
        if not self.seconds:
            self.caches = _caches()
        done = yield
        if nextitem is None or nextitem.nodeid.split("::")[0] != file:
            self._write(file)
        return done

    def _write(self, file: str) -> None:
        """Add a line for a file whose tests have run: what is there holds if time runs out."""
        ran = {name: took for name, took in self.seconds.items() if name.split("::")[0] == file}
        names = sorted({call for name in (file, *ran) for call in self.calls.get(name, ())})
        place = {name: number for number, name in enumerate(names)}
        tests = {
            name: {
                "seconds": round(seconds, 3),
                "failed": name in self.failed,
                "calls": sorted(
                    place[call] for call in self.calls.get(name, set()) | self.calls[file]
                ),
            }
            for name, seconds in ran.items()
        }
        if self.target is None:
            return
        with self.target.open("a") as lines:
            lines.write(json.dumps({"file": file, "names": names, "tests": tests}) + "\n")


def _caches() -> list[Any]:
    """What functions of the package keep of earlier calls; some objects lie about their class."""
    wrapper = functools._lru_cache_wrapper
    found = [item for item in gc.get_objects() if issubclass(type(item), wrapper)]
    return [item for item in found if str(item.__module__).startswith("precall")]


def record(target: str, base: str, arguments: list[str], modules: Iterable[str] = ()) -> int:
    """Run tests with the plugin (in a process of its own), write a line for each of their files.

    The modules are imported first: what they call then is no call by the test that comes first.
    """
    for module in modules:
        importlib.import_module(module)
    status = pytest.main(arguments, plugins=[Reach(base, Path(target))])
    return int(status not in (0, 1, 5))

"""Which functions each test calls: a pytest plugin, run by mutants.py in a process of its own."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest


class Reach:
    """A pytest plugin that records which functions each test calls, and how long it takes."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.calls: dict[str, set[str]] = {}
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self.known: dict[Any, str | None] = {}
        self.now: set[str] = set()

    def trace(self, frame: Any, event: str, argument: Any) -> None:
        """Note a call; returning None leaves the lines of the function untraced."""
        code = frame.f_code
        if code not in self.known:
            ours = code.co_filename.startswith(self.base)
            name = code.co_qualname.split(".<locals>")[0]
            self.known[code] = f"{code.co_filename[len(self.base) :]}:{name}" if ours else None
        if (name := self.known[code]) is not None:
            self.now.add(name)

    def _watch(self, name: str) -> Generator[None, Any, Any]:
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
        return (yield from self._watch(collector.nodeid.split("::")[0]))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        return (yield from self._watch(item.nodeid.split("::")[0]))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        return (yield from self._watch(item.nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.add(report.nodeid)


def record(target: str, base: str, arguments: list[str]) -> int:
    """Run tests with the plugin (in a process of its own) and write what it found."""
    plugin = Reach(base)
    status = pytest.main(arguments, plugins=[plugin])
    tests = {
        name: {
            "seconds": round(seconds, 3),
            "failed": name in plugin.failed,
            "calls": sorted(plugin.calls.get(name, set()) | plugin.calls[name.split("::")[0]]),
        }
        for name, seconds in plugin.seconds.items()
    }
    Path(target).write_text(json.dumps(tests))
    return int(status not in (0, 1, 5))

"""Tests that are collected once: each mutant gets a fork in which one function has new code.

Starting pytest and importing the tests takes longer than most tests do. What was imported keeps the
old code, though. So a change outside a function is left to a new process, and so is the last word
on a function that was called before the fork: what it made then was made by the old code.
"""

from __future__ import annotations

import gc
import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Generator, Iterator
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Self

import pytest

from scripts.mutant_changes import Mutant
from scripts.mutant_fork import begin, end, in_fork
from scripts.mutant_reach import Reach

#: What is said of tests of which none failed.
PASSED, OUT_OF_TIME, UNDECIDED = "passed", "out of time", "undecided"


class Collected:
    """A process that has collected the tests and waits for mutants."""

    def __init__(self, root: Path, base: Path, arguments: list[str]) -> None:
        asked, ask = os.pipe()
        answered, answer = os.pipe()
        task = partial(_serve, f"{base}/", arguments, asked, answer, (ask, answered))
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._child = begin(task, root, self._printed.fileno())
        os.close(asked)
        os.close(answer)
        self._ask, self._answers = os.fdopen(ask, "w"), os.fdopen(answered)
        self._answer()  # nothing may change before all is imported

    def judge(
        self, mutant: Mutant, old: str, new: str, tests: list[str], seconds: float
    ) -> tuple[str, bool]:
        """Return the test that fails (or what else is known), and whether that is the last word."""
        request: dict[str, Any] = {
            "module": mutant.module,
            "function": mutant.function,
            "old": old,
            "new": new,
        }
        print(
            json.dumps(request | {"tests": tests, "seconds": seconds}), file=self._ask, flush=True
        )
        found, certain = self._answer()
        return found, certain

    def _answer(self) -> Any:
        line = self._answers.readline()
        if not line:
            self._printed.seek(0)
            printed = self._printed.read().decode(errors="replace")
            self.__exit__()
            raise SystemExit(f"the tests cannot be collected:\n{printed[-3000:]}")
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ask.close()
        self._answers.close()
        end(self._child)
        self._printed.close()


def _serve(
    base: str, arguments: list[str], asked: int, answer: int, others: tuple[int, ...]
) -> int:
    for other in others:
        os.close(other)
    return int(pytest.main(arguments, plugins=[Session(base, asked, answer)]))


class Session:
    """A pytest plugin that judges mutants in place of running all tests."""

    def __init__(self, base: str, asked: int, answer: int) -> None:
        self.base = base
        self.reach = Reach(base)
        self.requests, self.answers = os.fdopen(asked), os.fdopen(answer, "w")
        self.functions: dict[tuple[str, str, int], list[FunctionType]] = defaultdict(list)
        self.failed: str | None = None

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, Any, Any]:
        return (yield from self.reach.watch("collection"))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the first failure."""
        if report.failed and self.failed is None:
            self.failed = report.nodeid

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Answer until there are no more requests."""
        if session.testsfailed:
            return None  # files that cannot be imported: pytest says so, and ends
        items = {item.nodeid: item for item in session.items}
        for found in gc.get_objects():
            if type(found) is FunctionType:  # some objects lie about their class
                self.functions[_place(found.__code__)].append(found)
        gc.freeze()  # what forks share is not copied by their collection
        self._say("ready")
        for line in self.requests:
            asked = json.loads(line)
            chosen = [items[name] for name in asked["tests"] if name in items]
            self._say(self._judge(chosen, asked))
        return True

    def _say(self, answer: Any) -> None:
        print(json.dumps(answer), file=self.answers, flush=True)

    def _judge(self, items: list[pytest.Item], asked: dict[str, Any]) -> tuple[str, bool]:
        path = f"{self.base}{asked['module']}"
        changed = changed_functions(asked["old"], asked["new"], path)
        if changed is None or not items:
            return UNDECIDED, False
        imported = any(place[0] == path for place in self.functions)
        if imported and not all(_place(code) in self.functions for code in changed):
            return UNDECIDED, False
        replaced = {
            function: code for code in changed for function in self.functions.get(_place(code), ())
        }
        with tempfile.NamedTemporaryFile() as verdict:
            task = partial(self._run, items, replaced, Path(verdict.name))
            in_fork(task, Path.cwd(), asked["seconds"], fresh=False)
            found = Path(verdict.name).read_text() or OUT_OF_TIME
        early = f"{asked['module']}:{asked['function']}" in self.reach.calls["collection"]
        return found, not early and found != OUT_OF_TIME

    def _run(
        self, items: list[pytest.Item], replaced: dict[FunctionType, CodeType], verdict: Path
    ) -> int:
        for function, code in replaced.items():
            function.__code__ = code
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed is not None:
                break
        verdict.write_text(self.failed or PASSED)
        return 0


def changed_functions(old: str, new: str, path: str) -> list[CodeType] | None:
    """Return the new code of the outermost functions that differ; None if anything else does."""
    first, second = (compile(source, path, "exec", dont_inherit=True) for source in (old, new))
    return _differing(first, second)


def _differing(old: CodeType, new: CodeType) -> list[CodeType] | None:
    """Compare what a module or a class holds: its functions may differ, nothing else."""
    if _outside(old) != _outside(new):
        return None
    found: list[CodeType] = []
    for first, second in zip(_inner(old), _inner(new), strict=True):
        if first.co_flags & _FUNCTION:
            found += [second] if first != second else []
        elif (inside := _differing(first, second)) is None:
            return None
        else:
            found += inside
    return found


def _place(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


_FUNCTION = 0x1  # CO_OPTIMIZED: a function's code, not that of a module or a class


def _inner(code: CodeType) -> Iterator[CodeType]:
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))


def _outside(code: CodeType) -> tuple[Any, ...]:
    """What code does itself: a constant is known by its type too (1 is equal to 1.0 and True)."""
    constants = tuple(
        "code" if isinstance(constant, CodeType) else (type(constant).__name__, repr(constant))
        for constant in code.co_consts
    )
    return code.co_code, code.co_names, constants

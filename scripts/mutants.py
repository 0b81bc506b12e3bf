"""Change one operator at a time and see whether a test fails: `make mutants ARGS="--sample 50"`.

A change that no test notices is a survivor: a line whose result nothing holds, or a change that
makes no difference. The second kind is written down in equivalent_mutants.toml with its reason.

Works in a copy of the project. Tests that call the changed function come first, cheapest first,
then all others. What calls what is recorded once (minutes) and renewed for test files that change.
The tests are collected once, see mutant_session.py, and each mutant is judged in a fork.
Results are kept in .mutants/, so a run that was stopped goes on: a killed mutant stays killed while
its module stays the same, a survivor is tried again when a test has changed.
"""

from __future__ import annotations

import argparse
import compileall
import hashlib
import json
import math
import os
import py_compile
import re
import shutil
import sys
import tempfile
import time
import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from fnmatch import fnmatch
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from scripts.mutant_changes import Mutant, apply, find_mutants
from scripts.mutant_fork import in_fork, warm
from scripts.mutant_reach import record
from scripts.mutant_scope import by_relevance, changed_lines, usual_base
from scripts.mutant_session import OUT_OF_TIME, PASSED, UNDECIDED, Collected

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("src/precall")
KEPT = ROOT / ".mutants"
EQUIVALENT = ROOT / "scripts" / "equivalent_mutants.toml"

#: What numbers and decisions come from, by folder of the package.
FOLDERS = {
    ".": "_numerics _rounding rows",
    "ranking": "*",
    "metrics": "*",
    "inference": """influence limits resampling units significance intervals compare clusters
        permutation sampling""",
    "inference/rules": "*",
    "inference/bands": "*",
    "points": "certificates operating matrix thresholds independent",
    "groups": "averages paired_tests summary group_values",
    "engines": "_census _survey _thresholds _twopass",
    "privacy": "*",
    "evaluation": "answer findings wording promises",
}
MODULES = tuple(f"{folder}/{name}.py" for folder in FOLDERS for name in FOLDERS[folder].split())
# Tests of error rates take hours for all mutants, and notice only what moves a rate.
TESTS = ["tests/unit", "tests/properties", "tests/cli", "tests/engines", str(PACKAGE)]
MARKS = "not slow and not spark and not dask and not browser"
# Frozen numbers notice almost everything, and would hide what no test of a property holds.
PASSED_OVER = ("tests/unit/test_frozen.py", "tests/unit/test_mutants.py")
PYTEST = ("-q", "--no-header", "-p", "no:cacheprovider", "-m", MARKS)
PYTEST += tuple(f"--ignore={file}" for file in PASSED_OVER)
# What was imported before pytest could rewrite its assertions keeps them as they are.
PYTEST += ("-W", "ignore:Module already imported")
# Files whose calls are recorded by one process: starting one for each takes longer than most tests.
TOGETHER = 16
# Seconds of tests, cheapest first, for a quick look at one mutant.
QUICK = 60.0
# Seconds beyond three times what the tests took when they were recorded.
PATIENCE = 60.0


def all_mutants(patterns: tuple[str, ...] = MODULES) -> list[Mutant]:
    """Return every mutant of the modules that the patterns name."""
    base = ROOT / PACKAGE
    paths = sorted({path for pattern in patterns for path in base.glob(pattern)})
    return [
        mutant
        for path in paths
        for mutant in find_mutants(path.relative_to(base).as_posix(), path.read_text())
    ]


def choose(mutants: list[Mutant], sample: int | None, seed: int) -> list[Mutant]:
    """Return a random choice; a larger one with the same seed begins with the smaller.

    Each mutant draws its place by its text, so that a change of one line, or of what is listed,
    leaves the rest of the choice as it was.
    """
    if sample is None:
        return mutants
    place = {m: hashlib.sha256(f"{seed} {m.key}".encode()).digest() for m in mutants}
    return sorted(mutants, key=place.__getitem__)[:sample]


def read_equivalent() -> dict[tuple[str, str, str], str]:
    """Return the reasons of the changes that make no difference."""
    rows = tomllib.loads(EQUIVALENT.read_text())["mutant"]
    return {(row["module"], row["line"], row["becomes"]): row["reason"] for row in rows}


class Copy:
    """A copy of the project, in which one module at a time is changed."""

    def __init__(self, folder: str | Path) -> None:
        self.root = Path(folder) / "project"
        self.base = self.root / PACKAGE
        self.collected: Collected | None = None
        left_out = shutil.ignore_patterns(".*", "__pycache__", "_build", "results", "dist", "build")
        shutil.copytree(ROOT, self.root, ignore=left_out)
        # By default a byte code file is known from a stale one by the second of the change and the
        # length, which a mutant can share with the one before it.
        mode = py_compile.PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(self.base, quiet=1, invalidation_mode=mode)

    def run(self, task: Callable[[], int], seconds: float = math.inf) -> tuple[int | None, str]:
        """Do a task there; return its exit status (None: out of time) and what it printed."""
        return in_fork(task, self.root, seconds)

    def fails(self, tests: list[str], seconds: float, until: float = math.inf) -> str | None:
        """Return the first test that fails, None if all pass."""
        listed = self.root / "chosen_tests.txt"
        listed.write_text("\n".join(tests))
        patience = min(PATIENCE + 3.0 * seconds, until - time.monotonic())
        status, printed = self.run(lambda: pytest.main(["-x", *PYTEST, f"@{listed}"]), patience)
        if status is None:
            if time.monotonic() >= until:
                raise TimeoutError
            return "out of time"
        failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", printed, flags=re.MULTILINE)
        return (failed or ["collection"])[0] if status else None

    def judge(
        self, mutant: Mutant, tests: dict[str, Any], quick: bool, until: float = math.inf
    ) -> str | None:
        """Apply a change, and return the test that notices it."""
        path = self.base / mutant.module
        source, moment = path.read_text(), path.stat()
        path.write_text(apply(source, mutant))
        try:
            for stage in stages(mutant, tests, quick):
                seconds = sum(tests[name]["seconds"] for name in stage)
                if found := self._notices(mutant, source, stage, seconds, until):
                    return found
            return None
        finally:
            path.write_text(source)
            os.utime(path, ns=(moment.st_atime_ns, moment.st_mtime_ns))

    def _notices(
        self, mutant: Mutant, source: str, tests: list[str], seconds: float, until: float
    ) -> str | None:
        """Ask the collected tests first, and a new process where they have not the last word."""
        if self.collected is not None:
            patience = min(PATIENCE + 3.0 * seconds, until - time.monotonic())
            new = apply(source, mutant)
            found, certain = self.collected.judge(mutant, source, new, tests, patience)
            if certain:
                return None if found == PASSED else found
            if found not in (PASSED, OUT_OF_TIME, UNDECIDED) and self.fails([found], 1.0, until):
                return found
        return self.fails(tests, seconds, until)


def stages(mutant: Mutant, tests: dict[str, Any], quick: bool) -> Iterator[list[str]]:
    """Yield tests in the order of use: a few of the closest, all that call the function, others.

    A quick look has time for what takes at most a minute together.
    """
    inside = f"{mutant.module}:"
    whole = f"{inside}{mutant.function}"

    def calls(name: str) -> bool:
        return any(call == whole or call.startswith(f"{whole}.") for call in tests[name]["calls"])

    near = [name for name in tests if calls(name)]
    if not near:  # what runs at import, and what no test calls
        near = [
            name for name in tests if any(call.startswith(inside) for call in tests[name]["calls"])
        ]
    near.sort(key=lambda name: tests[name]["seconds"])
    if quick:
        total = list(accumulate(tests[name]["seconds"] for name in near))
        near = near[: max(bisect_right(total, QUICK), 1)]
    files = Counter(name.split("::")[0] for name in near if tests[name]["seconds"] < 1.0)
    closest = {file for file, _ in files.most_common(2)}
    first = [name for name in near if name.split("::")[0] in closest][:60]
    far = set(tests) - set(near)
    later = [name for name in near if name not in set(first)]
    yield from (stage for stage in (first, later, [] if quick else sorted(far)) if stage)


def collect(
    copy: Copy, chosen: list[str], modules: list[Path], until: float = math.inf
) -> dict[str, Any]:
    """Return what each test calls, recorded for the test files that changed since the last time.

    Files that speak of the modules come first; those that do not end in time are left out.
    """
    known = read_reach()
    status, printed = copy.run(lambda: pytest.main(["--collect-only", *PYTEST, *chosen]))
    if status:
        raise SystemExit(f"the tests cannot be collected:\n{printed[-3000:]}")
    files: dict[str, list[str]] = {}
    for name in [line for line in printed.splitlines() if "::" in line]:
        files.setdefault(name.split("::")[0], []).append(name)
    digests = {file: _digest(copy.root / file) for file in files}
    stale = [
        file
        for file, inside in files.items()
        if file not in known
        or known[file]["digest"] != digests[file]
        or not set(inside) <= set(known[file]["tests"])
    ]
    stale = by_relevance(copy.root, PACKAGE, stale, modules)
    names = [".".join(module.with_suffix("").parts[1:]) for module in modules]
    for begin in range(0, len(stale), TOGETHER):
        batch = stale[begin : begin + TOGETHER]
        target = KEPT / "recorded.jsonl"
        target.unlink(missing_ok=True)
        task = partial(record, str(target), f"{copy.base}/", [*PYTEST, *batch], names)
        status, printed = copy.run(task, until - time.monotonic())
        if status:
            raise SystemExit(f"the tests cannot be run:\n{printed[-3000:]}")
        written = target.read_text().splitlines() if target.exists() else []
        with (KEPT / "reach.jsonl").open("a") as kept:
            for row in map(json.loads, written):
                kept.write(json.dumps(row | {"digest": digests[row["file"]]}) + "\n")
        known = read_reach()
        left = len(stale) - begin - len(written)
        if status is None:
            print(f"no time to record what the tests in {left} of {len(files)} files call")
            break
        done = min(begin + TOGETHER, len(stale))
        print(f"recorded what tests call: {done} of {len(stale)} files", flush=True)
    tests = {}
    for file in [file for file in files if known.get(file, {}).get("digest") == digests[file]]:
        for name in files[file]:
            test = known[file]["tests"].get(name)
            if test is None or test["failed"]:
                print(f"left out, it fails without a change or does not run: {name}")
            else:
                tests[name] = test
    return tests


def read_reach() -> dict[str, Any]:
    """Return what is known of the tests in each file; the last line of a file holds."""
    kept = KEPT / "reach.jsonl"
    known = {}
    for row in map(json.loads, kept.read_text().splitlines() if kept.exists() else []):
        names = row["names"]
        for test in row["tests"].values():
            test["calls"] = [names[number] for number in test["calls"]]
        known[row["file"]] = row
    return known


def _digest(*files: Path) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def read_results() -> dict[str, Any]:
    """Return what is known of each mutant, where it still holds."""
    kept = KEPT / "results.jsonl"
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    return {row["key"]: row for row in rows if still_holds(row)}


def still_holds(row: dict[str, Any]) -> bool:
    """Whether the module is the same and, for a survivor, every test."""
    path = ROOT / PACKAGE / row["module"]
    same = path.exists() and row["source"] == _digest(path)
    return same and (row["by"] is not None or row["tests"] == digest_of_tests(ROOT))


def digest_of_tests(root: Path) -> str:
    """Return what changes when any test does."""
    return _digest(*sorted((root / "tests").rglob("*.py")))


def run(
    mutants: list[Mutant], chosen: list[str], quick: bool, minutes: float = math.inf
) -> dict[str, Any]:
    """Judge the mutants that have no result yet, while there is time; return all results."""
    began = time.monotonic()
    results = read_results()
    some = quick or chosen != TESTS or minutes < math.inf
    if not some:  # what some tests passed over has still to face the others
        results = {key: row for key, row in results.items() if row["by"] or not row["some"]}
    waiting = [mutant for mutant in mutants if mutant.key not in results]
    if not waiting:
        return results
    KEPT.mkdir(exist_ok=True)
    warm()
    with ExitStack() as stack:
        copy = Copy(stack.enter_context(tempfile.TemporaryDirectory(prefix="precall-mutants-")))
        modules = sorted({PACKAGE / mutant.module for mutant in waiting})
        # Half of the time for what calls what.
        tests = collect(copy, chosen, modules, began + 30.0 * minutes)
        tests_digest = digest_of_tests(copy.root)
        files = list(dict.fromkeys(name.split("::")[0] for name in tests))
        if files:
            copy.collected = stack.enter_context(Collected(copy.root, copy.base, [*PYTEST, *files]))
        for number, mutant in enumerate(waiting, start=1):
            start = time.monotonic()
            if minutes < math.inf and not any(stages(mutant, tests, quick)):
                continue  # a test that had no time to be recorded may call it
            try:
                by = copy.judge(mutant, tests, quick, began + 60.0 * minutes)
            except TimeoutError:
                break
            row = {"key": mutant.key, "module": mutant.module, "by": by, "tests": tests_digest}
            row |= {"source": _digest(copy.base / mutant.module), "some": some}
            with (KEPT / "results.jsonl").open("a") as file:
                file.write(json.dumps(row) + "\n")
            results[mutant.key] = row
            said = f"killed by {by}" if by else "SURVIVED"
            took = time.monotonic() - start
            print(f"{number}/{len(waiting)} {took:.0f} s {said}: {mutant.key}", flush=True)
    return results


def main(arguments: list[str]) -> int:
    """Choose mutants, judge them and list those that survive."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sample", type=int, metavar="N", help="a random choice of this size")
    parser.add_argument("--seed", type=int, default=0, help="of the random choice")
    parser.add_argument("--module", nargs="+", help="choose from these, like inference/limits.py")
    parser.add_argument(
        "--only", nargs="+", metavar="PATTERN", help='of those chosen, only these: "privacy/*"'
    )
    parser.add_argument(
        "--changed",
        nargs="?",
        const="",
        metavar="BASE",
        help="only lines that differ from a commit (default: where the branch left main)",
    )
    parser.add_argument("--tests", nargs="+", default=TESTS, help="only these files or folders")
    parser.add_argument("--quick", action="store_true", help="only tests that call the function")
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="stop then; the rest is undecided"
    )
    parser.add_argument(
        "--advise", action="store_true", help="survivors are listed and are no failure"
    )
    parser.add_argument("--list", action="store_true", help="show the changes, run nothing")
    chosen = parser.parse_args(arguments)
    mutants = all_mutants(tuple(chosen.module) if chosen.module else MODULES)
    if not mutants:
        parser.error(f"--module: no file below {PACKAGE} is called {' or '.join(chosen.module)}")
    if chosen.changed is not None:
        base = chosen.changed or usual_base(ROOT)
        if base is None:
            print("mutants: none, because the history does not reach back to a base (fetch more)")
            return 0
        lines = changed_lines(ROOT, PACKAGE, base)
        mutants = [m for m in mutants if m.start[0] in lines.get(m.module, ())]
    mutants = choose(mutants, chosen.sample, chosen.seed)
    if chosen.only:
        mutants = [m for m in mutants if any(fnmatch(m.module, only) for only in chosen.only)]
    reasons = read_equivalent()
    equivalent = [m for m in mutants if (m.module, m.line, m.becomes) in reasons]
    mutants = [m for m in mutants if m not in equivalent]
    if chosen.list:
        print(*(f"{m.module}:{m.start[0]}: {m.line} => {m.becomes}" for m in mutants), sep="\n")
        return 0
    results = run(mutants, chosen.tests, chosen.quick, chosen.minutes)
    judged = [m for m in mutants if m.key in results]
    survived = [m for m in judged if results[m.key]["by"] is None]
    for m in survived:
        print(f"survived: src/precall/{m.module}:{m.start[0]}\n  - {m.line}\n  + {m.becomes}")
    counts = {"killed": len(judged) - len(survived), "survived": len(survived)}
    counts |= {"equivalent": len(equivalent)}
    if undecided := len(mutants) - len(judged):
        counts["undecided for lack of time"] = undecided
    print("mutants:", ", ".join(f"{number} {name}" for name, number in counts.items()))
    return int(bool(survived) and not chosen.advise)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

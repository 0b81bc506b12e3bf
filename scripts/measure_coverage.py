"""Run tests and print which share of lines and branches they reach: `make coverage`.

A line that is reached is not yet a line that is held: for that see mutants.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TESTS = ["tests/unit", "tests/properties", "tests/cli", "tests/engines"]
# Where a process may write only so many bytes, coverage cannot write what it has found.
TESTS += ["-k", "not full_disk"]
LEAST = 10
# Also what tests start: workers of pytest, and the command line.
SETTINGS = """\
[run]
branch = True
source = precall
parallel = True
patch = subprocess
data_file = {folder}/data
disable_warnings = no-data-collected,module-not-imported,module-not-measured
"""


def measure(arguments: list[str], folder: Path) -> tuple[int, dict[str, Any]]:
    """Run pytest; return its status, and what coverage found as its JSON report has it."""
    settings, report = folder / "settings", folder / "found.json"
    settings.write_text(SETTINGS.format(folder=folder))
    # Processes of its own for everything: this one may be measured itself, by a test of this file.
    outside = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    environment = {**outside, "PYTHONPATH": str(ROOT / "src")}

    def run(*command: str) -> int:
        words = [sys.executable, "-m", "coverage", command[0], f"--rcfile={settings}", *command[1:]]
        return subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode

    status = run("run", "-m", "pytest", *arguments)
    if run("combine", "--quiet") or run("json", "--quiet", "-o", str(report)):
        raise SystemExit("coverage has measured nothing: see what it says above")
    return status, json.loads(report.read_text())


def summary(found: dict[str, Any]) -> list[str]:
    """Return the totals, and the modules with the largest share of lines and branches unreached."""
    rows = [("all modules", found["totals"])]
    files = [(name, file["summary"]) for name, file in found["files"].items()]
    rows += sorted(files, key=lambda row: row[1]["percent_covered"])[:LEAST]
    return [f"{'':60}{'lines':>16}{'branches':>16}"] + [
        f"{_short(name):60}"
        + _share(numbers["covered_lines"], numbers["num_statements"])
        + _share(numbers["covered_branches"], numbers["num_branches"])
        for name, numbers in rows
    ]


def _short(name: str) -> str:
    return Path(name).as_posix().rpartition("src/")[2]


def _share(part: int, whole: int) -> str:
    return f"{part:6d} {100 * part / whole:7.1f} %" if whole else f"{'–':>16}"


def main(arguments: list[str]) -> int:
    """Measure what tests reach, and print it."""
    if not any(argument.startswith(("tests", "src")) for argument in arguments):
        arguments = [*arguments, *TESTS]
    with tempfile.TemporaryDirectory(prefix="precall-coverage-") as folder:
        status, found = measure(arguments, Path(folder))
    print(*summary(found), sep="\n")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

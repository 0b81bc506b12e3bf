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

import coverage

ROOT = Path(__file__).resolve().parent.parent
TESTS = ["tests/unit", "tests/properties", "tests/cli", "tests/engines"]
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
    settings = folder / "settings"
    settings.write_text(SETTINGS.format(folder=folder))
    command = ["coverage", "run", f"--rcfile={settings}", "-m", "pytest", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    status = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, env=environment, check=False
    ).returncode
    measured = coverage.Coverage(config_file=str(settings))
    measured.combine()
    measured.json_report(outfile=str(folder / "found.json"))
    return status, json.loads((folder / "found.json").read_text())


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

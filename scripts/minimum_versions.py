"""Print the oldest releases that pyproject.toml allows, one ``name==version`` a line.

``pip install --constraint`` of these, and the tests, show that the lower bounds tell the truth.
Only what the library itself needs, extras included: the tools that test it are not bounded by it.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
# What develops, documents or times the library is no part of what a user installs.
TOOLS = {"all", "bench", "dev", "docs", "peers"}
REQUIREMENT = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(\[[^\]]*\])?>=(?P<version>[0-9.]+)$")


def minimum_versions(project: dict[str, object]) -> Iterator[str]:
    """Yield every requirement of the library and its extras at its lower bound."""
    extras = project["optional-dependencies"]
    needed = set(project["dependencies"])
    needed |= {line for name, lines in extras.items() if name not in TOOLS for line in lines}
    for line in sorted(needed):
        if (found := REQUIREMENT.match(line)) is None:
            raise SystemExit(f"{line!r} in {PROJECT.name} has no lower bound of the form name>=1.2")
        yield f"{found['name']}=={found['version']}"


def main() -> int:
    """Print them all."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    print("\n".join(minimum_versions(project)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

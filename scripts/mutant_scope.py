"""What a change touches: the commit it began from, its lines, and the tests that speak of them."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path


def usual_base(root: Path) -> str | None:
    """Return the commit that a branch left main at; on main what was committed last.

    None where the history does not reach back to it (a shallow clone).
    """
    head = _git(root, "rev-parse", "HEAD")
    for main in ("origin/main", "main"):
        base = _git(root, "merge-base", main, "HEAD")
        if base and base != head:
            return base
    if _git(root, "status", "--porcelain", "--untracked-files=no"):
        return head
    return _git(root, "rev-parse", "--verify", "HEAD~1")


def changed_lines(root: Path, package: Path, base: str) -> dict[str, set[int]]:
    """Return the lines that differ from a commit, by module of a package."""
    shown = _git(root, "diff", "-U0", "--relative", base, "--", str(package))
    if shown is None:
        raise ValueError(f"there is no commit {base} here: fetch it, or name another")
    lines: dict[str, set[int]] = {}
    for row in shown.splitlines():
        if row.startswith("+++ "):
            module = row.removeprefix(f"+++ b/{package.as_posix()}/")
        elif found := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", row):
            first, count = int(found[1]), int(found[2] or 1)
            lines.setdefault(module, set()).update(range(first, first + count))
    return lines


def by_relevance(root: Path, files: list[str], modules: list[Path]) -> list[str]:
    """Sort test files: first those that speak of most of what the modules define."""
    names = {module.stem for module in modules}
    for module in modules:
        tree = ast.parse((root / module).read_text())
        names |= {getattr(node, "name", module.stem) for node in tree.body}

    def mentions(file: str) -> tuple[int, int, str]:
        words = Counter(re.findall(r"\w+", (root / file).read_text()))
        found = [words[name] for name in names if name in words]
        return -len(found), -sum(found), file

    return sorted(files, key=mentions)


def _git(root: Path, *words: str) -> str | None:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None

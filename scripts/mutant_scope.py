"""What a change touches: the commit it began from, its lines, and the tests that speak of them."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


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


def by_relevance(root: Path, package: Path, files: list[str], modules: list[Path]) -> list[str]:
    """Sort test files: first those that speak of most of what the modules define.

    What is defined by a module that imports from them counts half.
    """
    stems = "|".join(re.escape(module.stem) for module in modules)
    imports = re.compile(
        rf"^ *from [\w.]*\b(?:{stems}) import |^ *from \.+ import .*\b(?:{stems})\b", re.M
    )
    others = sorted(
        path for path in (root / package).rglob("*.py") if imports.search(path.read_text())
    )
    own = {name for module in modules for name in _defined(root / module)}
    names = dict.fromkeys((name for path in others for name in _defined(path)), 0.5)
    names |= dict.fromkeys(own, 1.0)

    def mentions(file: str) -> tuple[float, int, str]:
        words = Counter(re.findall(r"\w+", (root / file).read_text()))
        found = [name for name in names if name in words]
        return -sum(names[name] for name in found), -sum(words[name] for name in found), file

    return sorted(files, key=mentions)


def _defined(module: Path) -> set[str]:
    """Name of a module and of what stands at its top level."""
    tree = ast.parse(module.read_text())
    return {module.stem, *(node.name for node in tree.body if isinstance(node, DEFINITIONS))}


def _git(root: Path, *words: str) -> str | None:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None

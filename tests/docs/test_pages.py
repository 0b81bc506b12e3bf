"""Every Python block on every page runs, in order, and says what the page says.

A block is run as it stands, in the namespace of the blocks before it on the same page. Where a
block ends in an expression and is followed by a ```text block, the text is what it prints.
Blocks that need a cluster or a file of the reader's are fenced as ```python no-run.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
PAGES = [page for page in PAGES if "_build" not in page.parts]
FENCE = re.compile(
    r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.M | re.S
)


def blocks(page):
    """Pairs of (code, expected output or None, line number)."""
    text = page.read_text(encoding="utf-8")
    found = [
        (m["info"].strip(), m["body"], text[: m.start()].count("\n") + 2)
        for m in FENCE.finditer(text)
    ]
    for index, (info, body, line) in enumerate(found):
        if info == "python":
            following = found[index + 1] if index + 1 < len(found) else ("", "", 0)
            yield body, following[1] if following[0] == "text" else None, line


def run(code, namespace, filename):
    """Execute a block; return what it prints, the value of a last expression included."""
    tree = ast.parse(code, filename)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, filename, "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), filename, "eval"), namespace)
            if value is not None:
                print(value if isinstance(value, str) and "\n" in value else repr(value))
    return printed.getvalue()


RUNNABLE = [page for page in PAGES if any(True for _ in blocks(page))]


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda p: str(p.relative_to(ROOT)))
def test_page_runs_and_tells_the_truth(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__page__"}
    for code, expected, line in blocks(page):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            output = run(code, namespace, f"{page.name}:{line}")
        if expected is not None:
            assert output.split() == expected.split(), f"{page.name}, line {line}"


def test_there_are_pages_to_run():
    assert RUNNABLE


LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target, _ in LINK.findall(text):
        path = page.parent / target
        assert path.exists() or path.with_suffix(".md").exists(), f"{page.name}: {target}"

"""Nothing in the package needs one operating system, or its usual encoding and line ends."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "precall"
MODULES = sorted(SOURCE.rglob("*.py"))
POSIX_MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}
POSIX_CALLS = {"fork", "getuid", "geteuid", "uname", "killpg", "mkfifo", "getloadavg", "setsid"}


def guarded(tree: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    """Yield every node, and whether it stands under a condition or inside a try."""

    def go(node: ast.AST, under: bool) -> Iterator[tuple[ast.AST, bool]]:
        yield node, under
        inside = under or isinstance(node, (ast.If, ast.Try, ast.IfExp))
        for child in ast.iter_child_nodes(node):
            yield from go(child, inside)

    yield from go(tree, False)


def imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return {(node.module or "").partition(".")[0]}
    return set()


def problems(tree: ast.AST) -> list[str]:
    found = []
    for node, under in guarded(tree):
        needed = set() if under else imported(node) & POSIX_MODULES
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "os" and not under:
            needed |= {node.attr} & POSIX_CALLS
        found += [f"{node.lineno}: {name} is not on every system" for name in sorted(needed)]
        if isinstance(node, ast.Call) and not has_encoding(node):
            found.append(f"{node.lineno}: text without an encoding")
    return found


def has_encoding(call: ast.Call) -> bool:
    """Whether a call that opens text says in which encoding; true of every other call."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    named = {keyword.arg for keyword in call.keywords}
    if name in ("read_text", "write_text"):
        return "encoding" in named or len(call.args) > (name == "write_text")
    if isinstance(call.func, ast.Name) and name == "open":
        modes = [word.value for word in call.args[1:2] if isinstance(word, ast.Constant)]
        return "encoding" in named or any("b" in str(mode) for mode in modes)
    return True


def test_what_is_not_portable_is_found():
    text = 'import fcntl\nos.fork()\nopen("a")\npath.write_text("a")\npath.read_text()\n'
    fine = 'try:\n    import fcntl\nexcept ImportError:\n    pass\nopen("a", "rb")\n'
    assert len(problems(ast.parse(text))) == 5
    assert problems(ast.parse(fine + 'p.read_text("utf-8"); p.read_text(encoding="utf-8")')) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_module_is_portable(path):
    assert problems(ast.parse(path.read_text(encoding="utf-8"))) == []

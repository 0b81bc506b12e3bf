"""Run the Python on a page, and say where the page does not tell the truth.

The blocks of a page run in order, in one namespace, in an empty folder. What is checked:

- a ```text block that follows a Python block is what the block prints, the value of its last
  expression included (spaces do not count);
- a comment such as ``# 0.629  average precision`` beside an expression starts with the expression's
  value, to the digits that are shown; what comes after two spaces is words;
- nothing raises, and nothing warns: a reader who copies the block would be puzzled.

Blocks that need a cluster or a file of the reader's are fenced as ```python no-run. Figures that a
block leaves open are its pictures.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import sys
import tempfile
import tokenize
import traceback
import warnings
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

FENCE = re.compile(
    r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.M | re.S
)
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
CLAIM = re.compile(r"#\s*(?P<value>[-+\[(]*\d.*?)(?:\s{2,}|$)")


@dataclass(frozen=True, kw_only=True)
class Block:
    """A Python block: its code, its first line on the page, and the output the page shows."""

    code: str
    line: int
    shown: str | None = None
    shown_at: tuple[int, int] | None = None  # where that output stands in the page's text


@dataclass(kw_only=True)
class Outcome:
    """What a block printed and drew, and where it contradicts the page."""

    block: Block
    printed: str = ""
    figures: list[Any] = field(default_factory=list)
    problem: str | None = None
    line: int = 0


def blocks(text: str) -> list[Block]:
    """Return the Python blocks of a page, each with the ```text block after it."""
    found = []
    for fence, following in pairwise([*FENCE.finditer(text), None]):
        if fence and fence["info"].strip() == "python":
            answer = following if following and following["info"].strip() == "text" else None
            block = Block(
                code=fence["body"],
                line=text.count("\n", 0, fence.start("body")) + 1,
                shown=answer["body"] if answer else None,
                shown_at=answer.span("body") if answer else None,
            )
            found.append(block)
    return found


def run_page(text: str, name: str) -> list[Outcome]:
    """Run every block of a page, up to the first that raises."""
    namespace: dict[str, Any] = {"__name__": "__page__"}
    outcomes: list[Outcome] = []
    _open_figures()  # what was drawn before is not this page's
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        warnings.catch_warnings(),
    ):
        # Deprecations in other libraries are not the page's business.
        warnings.simplefilter("default")
        warnings.simplefilter("error", UserWarning)
        for block in blocks(text):
            outcome = Outcome(block=block, line=block.line)
            outcomes.append(outcome)
            try:
                _run(outcome, namespace, name)
            except Exception as error:  # noqa: BLE001 - whatever a page does is reported
                frames = traceback.extract_tb(error.__traceback__)
                inside = [frame.lineno for frame in frames if frame.filename == name]
                outcome.line = (inside or [getattr(error, "lineno", None)])[-1] or block.line
                outcome.problem = f"the block raises {type(error).__name__}: {error}"
                break
            finally:
                outcome.figures = _open_figures()
            if block.shown is not None and outcome.printed.split() != block.shown.split():
                outcome.problem = (
                    f"the page shows\n{block.shown.rstrip()}\nbut the block prints\n"
                    f"{outcome.printed.rstrip()}"
                )
    return outcomes


def _run(outcome: Outcome, namespace: dict[str, Any], name: str) -> None:
    """Execute one block, statement by statement, with the page's own line numbers."""
    block = outcome.block
    source = "\n" * (block.line - 1) + block.code
    statements = ast.parse(source, name).body
    claims = _claims(source)
    printed = io.StringIO()

    def compiled(tree: Any, mode: str) -> Any:
        # As the reader's own file: without the __future__ imports of this one.
        return compile(tree, name, mode, dont_inherit=True)

    with contextlib.redirect_stdout(printed):
        for statement in statements:
            if not isinstance(statement, ast.Expr):
                exec(compiled(ast.Module([statement], []), "exec"), namespace)
                continue
            value = eval(compiled(ast.Expression(statement.value), "eval"), namespace)
            claim = claims.get(statement.end_lineno or 0)
            if claim and not _agrees(claim, value):
                outcome.line = statement.lineno
                outcome.problem = f"the comment says {claim}, and the value is {value!r}"
            if statement is statements[-1] and _speaks(value):
                print(value if isinstance(value, str) and "\n" in value else repr(value))
    outcome.printed = printed.getvalue()


def _speaks(value: object) -> bool:
    """Whether a last value is shown; what a drawing function returns says nothing."""
    first = value[0] if isinstance(value, list) and value else value
    return first is not None and not type(first).__module__.startswith("matplotlib")


def _claims(source: str) -> dict[int, str]:
    """Values claimed in comments, by line."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = {t.start[0]: CLAIM.match(t.string) for t in tokens if t.type == tokenize.COMMENT}
    return {line: found["value"] for line, found in comments.items() if found}


def _agrees(claim: str, value: object) -> bool:
    """Whether every number claimed is one of the value's, rounded to as many decimals."""
    numbers = [float(number) for number in NUMBER.findall(str(value))]
    for claimed in NUMBER.findall(claim):
        decimals = len(claimed.partition(".")[2])
        if float(claimed) not in [round(number, decimals) for number in numbers]:
            return False
    return True


def _open_figures() -> list[Any]:
    """Take the figures that are open in pyplot, if anything has been drawn at all."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    pyplot.close("all")
    return figures

"""Every change of one operator, comparison, constant, boolean or branch in a source text."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

SWAPS = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "/", "**": "*"}
SWAPS |= {f"{name}=": f"{other}=" for name, other in SWAPS.items()}
SWAPS |= {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
SWAPS |= {"and": "or", "or": "and"}

# Fields of the tree and keyword arguments that change no result.
PASSED_OVER = ("annotation", "returns", "decorator_list")
NO_RESULT = ("strict", "stacklevel", "repr", "compare")

Place = tuple[int, int]
Change = tuple[Place, Place, str]


@dataclass(frozen=True)
class Mutant:
    """One change: what stands from `start` to `stop` is replaced."""

    module: str
    function: str
    start: Place
    stop: Place
    new: str
    line: str
    becomes: str
    nth: int = 0

    @property
    def key(self) -> str:
        """Names the change by its text: lines that move keep their results."""
        return f"{self.module}: {self.line} => {self.becomes} #{self.nth}"


def apply(source: str, mutant: Mutant) -> str:
    """Return the source with the change."""
    lines = source.splitlines(keepends=True)
    (first, begin), (last, end) = mutant.start, mutant.stop
    changed = lines[first - 1][:begin] + mutant.new + lines[last - 1][end:]
    return "".join([*lines[: first - 1], changed, *lines[last:]])


def find_mutants(module: str, source: str) -> list[Mutant]:
    """Return every change of a module, in the order of the text."""
    lines = source.splitlines(keepends=True)
    found = sorted({tuple(change): function for function, *change in Changes(source)}.items())
    mutants, seen = [], Counter[tuple[str, str]]()
    for (start, stop, new), function in found:
        before, after = lines[start[0] - 1][: start[1]], lines[stop[0] - 1][stop[1] :]
        names = lines[start[0] - 1].strip(), " ".join((before + new + after).split())
        mutants.append(Mutant(module, function, start, stop, new, *names, seen[names]))
        seen[names] += 1
    return mutants


class Changes:
    """Every change of one source: the outermost function, where, and what takes its place."""

    def __init__(self, source: str) -> None:
        self.lines = source.splitlines(keepends=True)
        self.tree = ast.parse(source)
        read = tokenize.generate_tokens(io.StringIO(source).readline)
        self.operators = [token for token in read if token.string in SWAPS]

    def __iter__(self) -> Iterator[tuple[str, Place, Place, str]]:
        return self.walk(self.tree, "")

    def walk(self, node: ast.AST, function: str) -> Iterator[tuple[str, Place, Place, str]]:
        """Yield the changes of a node and of all below it."""
        if isinstance(node, ast.JoinedStr):  # its places are wrong before Python 3.12
            return
        if isinstance(node, ast.keyword) and node.arg in NO_RESULT:
            return
        for change in self.of(node):
            yield function, *change
        for name, value in ast.iter_fields(node):
            if name not in PASSED_OVER:
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        yield from self.walk(child, _inside(function, node, child))

    def of(self, node: Any) -> Iterator[Change]:
        """Yield the changes of one node."""
        match node:
            case ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right):
                yield from self.swap(left, right)
            case ast.Compare(left=left, comparators=others):
                for first, second in pairwise([left, *others]):
                    yield from self.swap(first, second)
            case ast.BoolOp(values=values):
                for first, second in pairwise(values):
                    yield from self.swap(first, second)
            case ast.UnaryOp(op=ast.Not()):
                line, column = self.begin(node)
                yield (line, column), (line, column + len("not")), ""
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                line, column = self.begin(node)
                if not isinstance(operand, ast.Constant):
                    yield (line, column), (line, column + 1), "+"
            case ast.Constant(value=bool(value)):
                yield self.begin(node), self.end(node), str(not value)
            case ast.Constant(value=int(value) | float(value)):
                more = value + 1 if value + 1 != value else 2 * value
                yield self.begin(node), self.end(node), repr(more)
            case ast.If(test=test) | ast.IfExp(test=test) if not _changed_elsewhere(test):
                start, stop = self.begin(test), self.end(test)
                yield start, stop, f"not ({self.text(start, stop)})"

    def swap(self, left: ast.expr, right: ast.expr) -> Iterator[Change]:
        """Yield the change of the operator between two operands."""
        for token in self.operators:
            if self.end(left) <= token.start and token.end <= self.begin(right):
                yield token.start, token.end, SWAPS[token.string]

    def begin(self, node: Any) -> Place:
        """Where a node begins, in characters: the tree counts bytes."""
        return node.lineno, self._characters(node.lineno, node.col_offset)

    def end(self, node: Any) -> Place:
        """Where a node ends."""
        return node.end_lineno, self._characters(node.end_lineno, node.end_col_offset)

    def _characters(self, line: int, offset: int) -> int:
        return len(self.lines[line - 1].encode()[:offset].decode())

    def text(self, start: Place, stop: Place) -> str:
        """The source between two places."""
        chosen = self.lines[start[0] - 1 : stop[0]]
        chosen[-1] = chosen[-1][: stop[1]]
        return "".join(chosen)[start[1] :]


def _changed_elsewhere(test: ast.expr) -> bool:
    """Whether another change does the same (`not x`, `x == y`), or none does anything."""
    match test:
        case ast.UnaryOp(op=ast.Not()) | ast.Compare(ops=[ast.Eq() | ast.NotEq()]):
            return True
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def _inside(function: str, node: ast.AST, child: ast.AST) -> str:
    """The name of the outermost function around a child, with its class."""
    names = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    if not isinstance(child, names) or (function and not isinstance(node, ast.ClassDef)):
        return function
    return f"{function}.{child.name}".strip(".")

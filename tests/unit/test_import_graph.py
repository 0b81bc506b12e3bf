"""Imports point one way: from the command line down to the ranking, and never back.

The graph is read from the source, so imports inside functions and for type checkers count too.
"""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parents[2] / "src"

#: The rooms, lowest first. A room may import from those on its own line (but not in a circle) and
#: from those on lines before it.
LEVELS = (
    ("foundation",),
    ("ranking",),
    ("metrics", "curves"),
    ("inference", "points"),
    ("groups", "audit", "privacy", "planning", "monitoring"),
    ("evaluation", "gates"),
    ("display",),
    ("cli",),
)
#: Rooms beside that order, and what they may import. They end in Rows or a Ranking, or make data.
ASIDE = {
    "readers": {"foundation", "ranking"},
    "engines": {"foundation", "ranking", "readers"},
    "simulate": {"foundation", "ranking"},
    "integrations": {room for level in LEVELS for room in level} - {"cli"},
}
#: Who may import a room that is beside the order: others have no business with it.
USERS = {
    "readers": {"groups", "engines", "cli"},  # groups: what TREC keeps in files
    "engines": {"cli"},
    "simulate": set(),
    "integrations": set(),
}
#: Modules that only hand on names from every room; nothing but `precall` itself needs them.
FACE = ("precall", "precall.results")
#: The room of a module, by the longest name that it begins with.
ROOMS = {
    "foundation": """exceptions _validation _options _arrow _text _words _output _optional _version
        _notebook _rounding _numerics _cached _memory _threads _parallel _interval
        _result_frame example data""",
    "ranking": "ranking rows",
    "metrics": "metrics",
    "curves": "curves",
    "inference": "inference",
    "points": "points",
    "groups": "groups",
    "audit": "audit",
    "privacy": "privacy",
    "planning": "planning",
    "monitoring": "monitoring",
    "evaluation": "evaluation",
    "gates": "gates",
    "display": "display",
    "cli": "cli __main__",
    "readers": "readers",
    "engines": "engines",
    "simulate": "simulate",
    "integrations": "integrations",
}
#: Arrows that point back, each with the reason why it may. Keep this short.
EXCEPTIONS = {
    (
        "engines.arrow",
        "inference.paired_sums",
    ): "arrow.compare: the rows of several models are read together, and "
    "the sums over them are statistics",
    (
        "rows",
        "readers.frames",
    ): "Rows.from_frame: who has a data frame in hand asks Rows, and "
    "the reader of frames is loaded then",
}


class Arrow(NamedTuple):
    """One module that imports another, and the function that does it ("" for the module)."""

    importer: str
    imported: str
    function: str


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted((SOURCE / "precall").rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def arrows(name: str, source: str, is_package: bool, known: set[str]) -> list[Arrow]:
    """Return what a module of the package imports from the package."""
    package = name if is_package else name.rpartition(".")[0]
    found = []

    def visit(node: ast.AST, function: str) -> None:
        for child in ast.iter_child_nodes(node):
            inside = function
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                inside = child.name
            elif isinstance(child, ast.Import):
                found.extend(Arrow(name, alias.name, function) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                parts = package.split(".")[: 1 - child.level or None] if child.level else []
                base = ".".join([*parts, *([child.module] if child.module else [])])
                for alias in child.names:
                    full = f"{base}.{alias.name}"
                    found.append(Arrow(name, full if full in known else base, function))
            visit(child, inside)

    visit(ast.parse(source), "")
    return [arrow for arrow in found if arrow.imported.split(".")[0] == "precall"]


def room(module: str) -> str:
    """Return the room of a module."""
    inside = module.removeprefix("precall.")
    fits = [
        (len(start), name)
        for name, starts in ROOMS.items()
        for start in starts.split()
        if f"{inside}.".startswith(f"{start}.")
    ]
    assert fits, f"{module} has no room yet: add it to ROOMS in {Path(__file__).name}"
    return max(fits)[1]


def allowed(importer: str, imported: str) -> bool:
    """Whether one room may import from another."""
    if importer == imported:
        return True
    if importer in ASIDE:
        return imported in ASIDE[importer]
    if imported in USERS:
        return importer in USERS[imported]
    level = {name: number for number, names in enumerate(LEVELS) for name in names}
    return level[imported] <= level[importer]


def all_arrows() -> list[Arrow]:
    known = modules()
    return [
        arrow
        for name, path in known.items()
        if name not in FACE
        for arrow in arrows(
            name, path.read_text(encoding="utf-8"), path.stem == "__init__", set(known)
        )
    ]


def draws_itself(arrow: Arrow) -> bool:
    """A result's `plot` and `report` call what draws it, once they are called.

    Pictures and the page are made of results, so `display` imports them. A caller who has a result
    in hand should not need to know where its picture is made; and because the import is inside the
    method, no result needs `display` before somebody asks for a picture.
    """
    return arrow.function in ("plot", "report") and room(arrow.imported) == "display"


@pytest.fixture(scope="module")
def backward() -> set[tuple[str, str]]:
    return {
        (arrow.importer.removeprefix("precall."), arrow.imported.removeprefix("precall."))
        for arrow in all_arrows()
        if arrow.imported in FACE
        or (not allowed(room(arrow.importer), room(arrow.imported)) and not draws_itself(arrow))
    }


def test_no_import_points_back(backward):
    found = "\n".join(f"{a} imports {b}" for a, b in sorted(backward - set(EXCEPTIONS)))
    assert not found, f"against the order of the rooms:\n{found}"


def test_every_exception_is_still_needed(backward):
    assert set(EXCEPTIONS) <= backward
    assert all(EXCEPTIONS.values())


@pytest.mark.parametrize(
    ("imported", "function", "expected"),
    [
        ("precall.display.mpl", "plot", True),
        ("precall.display.report", "report", True),
        ("precall.display.report", "", False),
        ("precall.display.report", "to_dict", False),
        ("precall.cli.report", "report", False),
    ],
)
def test_only_what_is_drawn_when_asked_for_may_import_display(imported, function, expected):
    assert draws_itself(Arrow("precall.evaluation.results", imported, function)) is expected


def test_rooms_do_not_import_each_other_in_a_circle():
    graph: dict[str, set[str]] = {}
    for arrow in all_arrows():
        pair = (arrow.importer.removeprefix("precall."), arrow.imported.removeprefix("precall."))
        if pair in EXCEPTIONS or draws_itself(arrow) or arrow.imported in FACE:
            continue
        here, there = room(arrow.importer), room(arrow.imported)
        if here != there:
            graph.setdefault(here, set()).add(there)
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"rooms that import each other: {' -> '.join(error.args[1])}")
    assert {"cli", "display", "evaluation", "inference", "ranking"} <= set(graph)


def test_the_reader_of_imports_finds_every_kind():
    source = (
        "import numpy\nimport precall.areas\nfrom . import evidence\nfrom ..curves import Curve\n"
        "if TYPE_CHECKING:\n    from ..ranking import Ranking\n"
        "class A:\n    def plot(self):\n        from precall.display.mpl import plot_band\n"
    )
    known = {"precall.inference.evidence", "precall.curves", "precall.ranking"}
    assert arrows("precall.inference.limits", source, False, known) == [
        ("precall.inference.limits", "precall.areas", ""),
        ("precall.inference.limits", "precall.inference.evidence", ""),
        ("precall.inference.limits", "precall.curves", ""),
        ("precall.inference.limits", "precall.ranking", ""),
        ("precall.inference.limits", "precall.display.mpl", "plot"),
    ]
    package = arrows("precall.inference", "from .limits import a", True, known)
    assert package == [("precall.inference", "precall.inference.limits", "")]


@pytest.mark.parametrize(
    ("importer", "imported", "expected"),
    [
        ("inference", "metrics", True),
        ("metrics", "inference", False),
        ("evaluation", "display", False),
        ("engines", "metrics", False),
        ("engines", "readers", True),
        ("evaluation", "readers", False),
        ("cli", "readers", True),
    ],
)
def test_the_order_is_that_of_the_design(importer, imported, expected):
    assert allowed(importer, imported) is expected

"""The reference: every public name and every result class is on one page, once."""

import importlib
import re
from collections import Counter
from pathlib import Path

import pytest

import precall as pr
from precall import results

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted((DOCS / "reference").glob("*.md"))
DIRECTIVE = re.compile(
    r"^\.\. (autofunction|autoclass|py:data|automodule):: (\S+)\n((?:   :.*\n)*)", re.MULTILINE
)
OPTION = re.compile(r"^   :(members|exclude-members):(.*)$", re.MULTILINE)


def documented():
    """Names of what the pages document, by the module and name it was defined under."""
    found = Counter()
    for page in PAGES:
        for kind, target, options in DIRECTIVE.findall(page.read_text(encoding="utf-8")):
            if kind == "automodule":
                module = importlib.import_module(target)
                given = {
                    name: text.replace(",", " ").split() for name, text in OPTION.findall(options)
                }
                names = given["members"] or getattr(module, "__all__", None) or at_home(module)
                names = set(names) - set(given.get("exclude-members", ()))
                found.update(identity(getattr(module, name), name) for name in names)
            else:
                place, _, name = target.rpartition(".")
                found[identity(getattr(importlib.import_module(place), name), name)] += 1
    return found


def at_home(module):
    return [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
    ]


def identity(value, name):
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', name)}"


@pytest.fixture(scope="module")
def found():
    return documented()


@pytest.mark.parametrize("place", [pr, results], ids=["precall", "precall.results"])
def test_every_public_name_is_documented(place, found):
    names = [name for name in place.__all__ if name != "__version__"]
    missing = [name for name in names if identity(getattr(place, name), name) not in found]
    assert not missing


def test_nothing_is_documented_twice(found):
    twice = [name for name, count in found.items() if count > 1]
    assert not twice


def test_every_page_of_the_reference_is_in_its_table_and_its_list():
    overview = (DOCS / "reference.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(reference/(\S+)\.md\)", overview)
    listed = re.findall(r"^reference/(\S+)$", overview, re.MULTILINE)
    assert sorted(linked) == sorted(listed) == [page.stem for page in PAGES]


def test_no_page_holds_everything():
    """A page is one task: at most a quarter of the functions and classes of the package."""
    for page in PAGES:
        count = len(re.findall(r"^\.\. auto(function|class)::", page.read_text(), re.MULTILINE))
        assert count <= len(pr.__all__) / 3, page.name

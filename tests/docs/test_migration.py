"""The page of old and new names: each new name is there, each old one is gone."""

import importlib
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "migration.md"
ROWS = re.findall(r"^\| `(.+?)` \| `(.+?)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
NAMES = [row for row in ROWS if all(re.fullmatch(r"[\w.]+", name) for name in row)]


def exists(name: str) -> bool:
    """Whether a dotted name leads to a module, or to something in one."""
    parts = re.sub(r"^pr\b", "precall", name).split(".")
    for end in range(len(parts), 0, -1):
        module = ".".join(parts[:end])
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if not f"{module}.".startswith(f"{error.name}."):
                raise  # another module is missing, not the one that was asked for
            continue
        for attribute in parts[end:]:
            fields = getattr(found, "__dataclass_fields__", {})
            if attribute not in fields and not hasattr(found, attribute):
                return False
            found = getattr(found, attribute, None)
        return True
    return False


def test_there_are_rows():
    assert len(NAMES) >= 5


@pytest.mark.parametrize(("before", "now"), NAMES)
def test_the_new_name_is_there_and_the_old_one_is_gone(before, now):
    assert exists(now)
    assert not exists(before)

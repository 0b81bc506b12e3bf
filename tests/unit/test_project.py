"""What the files around the package say is true of the package."""

import re
import tomllib
from importlib import resources
from pathlib import Path

import pytest

import sawtooth

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def readme_lines() -> tuple[str, list[tuple[str, str]]]:
    """The README's example, and those of its lines that promise a number: (expression, number)."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    return block, re.findall(r"^(\S.*?)\s+# (\d\.\d+)", block, flags=re.MULTILINE)


def test_the_readme_runs():
    block, promises = readme_lines()
    assert len(promises) >= 5
    exec(block, {})


@pytest.mark.parametrize(("expression", "promised"), readme_lines()[1])
def test_the_readme_promises_the_right_numbers(expression, promised):
    block, _ = readme_lines()
    namespace: dict[str, object] = {}
    exec(block, namespace)
    decimals = len(promised.partition(".")[2])
    assert f"{eval(expression, namespace):.{decimals}f}" == promised


def test_one_version_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {sawtooth.__version__}\n" in citation


def test_the_core_needs_numpy_and_scipy_only():
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in PROJECT["dependencies"]}
    assert names == {"numpy", "scipy"}


def test_all_means_every_extra_for_users():
    extras = PROJECT["optional-dependencies"]
    [everything] = extras["all"]
    named = set(re.search(r"\[(.*)\]", everything)[1].split(","))
    assert named == set(extras) - {"all", "dev", "docs"}


def test_the_package_is_typed():
    assert (resources.files("sawtooth") / "py.typed").is_file()

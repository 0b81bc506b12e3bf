"""What the files around the package say is true of the package."""

import re
import tomllib
from importlib import resources
from pathlib import Path

import pytest

import sawtooth
from scripts import minimum_versions

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


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
    assert named == set(extras) - {"all", "bench", "dev", "docs"}


def test_the_package_is_typed():
    assert (resources.files("sawtooth") / "py.typed").is_file()


def test_every_lower_bound_can_be_tested():
    listed = minimum_versions.minimum_versions(PROJECT)
    found = dict(line.split("==") for line in listed)
    assert found["numpy"] == "2.0"
    assert {"click", "dask", "matplotlib", "plotly", "pyarrow", "scipy"} <= set(found)
    with pytest.raises(SystemExit, match="no lower bound"):
        list(
            minimum_versions.minimum_versions(
                {"dependencies": ["numpy"], "optional-dependencies": {}}
            )
        )

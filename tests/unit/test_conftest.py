"""With PRECALL_REQUIRE_ALL, whatever is skipped fails, in tests and in doctests alike."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"

TESTS = """
import pytest

def test_runs(): pass

def test_skips_itself(): pytest.skip("reason one")

@pytest.mark.skipif(True, reason="reason two")
def test_is_marked(): pass

@pytest.mark.xfail(reason="known")
def test_is_expected_to_fail(): raise ValueError

@pytest.fixture
def missing(): pytest.importorskip("no_such_module")

def test_uses_a_fixture_that_skips(missing): pass
"""
DOCTEST = '"""\n>>> 1 / 0  # doctest: +SKIP\n"""\n'
MODULE_THAT_SKIPS = 'import pytest\npytest.importorskip("no_such_module")\n'


@pytest.fixture
def outcome(tmp_path):
    """Runs pytest on a small project that has this project's conftest; gives back its output."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").write_text(CONFTEST.read_text())
    (tmp_path / "package").mkdir()
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\ntestpaths = tests package\naddopts = --doctest-modules -rA\n"
    )

    def run(files: dict[str, str], require_all: str, *arguments: str) -> str:
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        finished = subprocess.run(
            [sys.executable, "-m", "pytest", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PRECALL_REQUIRE_ALL": require_all, "PYTEST_ADDOPTS": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        return finished.stdout

    return run


FILES = {"tests/test_it.py": TESTS, "package/module.py": DOCTEST}


def test_without_the_variable_skips_are_skips(outcome):
    assert " 1 passed, 4 skipped, 1 xfailed" in outcome(FILES, "0", "-n0")


def test_with_the_variable_skips_are_failures(outcome):
    # In a worker process, as `make test` runs them.
    output = outcome(FILES, "1", "-n1")
    # Skips during the setup of a test are errors, those inside a test failures.
    assert " 2 failed, 1 passed, 1 xfailed, 2 errors" in output
    for reason in ("reason one", "reason two", "no_such_module"):
        assert reason in output


def test_with_the_variable_a_module_that_skips_is_an_error(outcome):
    output = outcome({"tests/test_it.py": MODULE_THAT_SKIPS}, "1", "-n0")
    assert "ERROR collecting tests/test_it.py" in output
    assert "no_such_module" in output


def test_a_test_file_that_cannot_import_our_own_code_fails(outcome):
    broken = "from precall.metrics.areas import no_such_name\n\ndef test_runs(): pass\n"
    files = {"tests/__init__.py": "", "tests/test_broken.py": broken}
    printed = outcome(files, "", "--doctest-ignore-import-errors")
    assert "cannot import name 'no_such_name'" in printed
    assert "2 errors" in printed  # as a test file, and as one with doctests

"""What all tests share: no skips where everything must run, repeatable Hypothesis, a browser."""

import importlib
import os
import shutil
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Plots are drawn to files, never to a screen.
os.environ.setdefault("MPLBACKEND", "Agg")

# Repeatable by default; HYPOTHESIS_PROFILE=explore looks for new examples. No deadline: tests share
# their cores with other tests, so the time of one example says nothing.
settings.register_profile("repeatable", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

REQUIRE_ALL = os.environ.get("PRECALL_REQUIRE_ALL", "") not in ("", "0")

# The same names, in the same order, as in scripts/install_chromium.sh.
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class SkipsAreFailures:
    """Turns every skip into a failure; an expected failure (xfail) stays what it is.

    A plugin of its own, because hooks written in this file would not see the doctests in src.
    """

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.skipped and not hasattr(report, "wasxfail"):
            report.outcome = "failed"
            report.longrepr = _explain(report.longrepr)
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if report.skipped:
            report.outcome = "failed"
            report.longrepr = _explain(report.longrepr)
        return report


class OwnImportsFail:
    """Turns the skip of a test file that cannot import this project's own code into a failure.

    Doctests may skip modules whose libraries are missing, and test files are searched for doctests
    too: without this a name that has moved would skip all tests of a file without a word.
    """

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if report.skipped and "unable to import module" in str(report.longrepr):
            name = ".".join(Path(collector.nodeid).with_suffix("").parts)
            left = sys.modules.pop(name, None)  # by the import that failed
            try:
                importlib.import_module(name)
            except ImportError as error:
                if (error.name or "").split(".")[0] in OWN:
                    report.outcome = "failed"
                    report.longrepr = f"{collector.nodeid}: {error}"
                elif left is not None:  # a library that is not installed: its tests are skipped
                    sys.modules[name] = left
        return report


OWN = ("precall", "tests", "studies", "benchmarks", "scripts")


def _explain(skip: object) -> str:
    reason = skip[2] if isinstance(skip, tuple) else skip
    return f"PRECALL_REQUIRE_ALL is set, so a skip is a failure. {reason}"


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(OwnImportsFail(), "precall-own-imports-fail")
    if REQUIRE_ALL:
        config.pluginmanager.register(SkipsAreFailures(), "precall-skips-are-failures")


def pytest_report_header() -> str:
    return f"precall: a skipped test is {'a failure' if REQUIRE_ALL else 'skipped'}"


@pytest.fixture(scope="session")
def chromium_path() -> Path:
    """The browser for tests that look at a page: PRECALL_CHROMIUM, else the system's own."""
    chosen = os.environ.get("PRECALL_CHROMIUM")
    names = (chosen,) if chosen else CHROMIUM_NAMES
    for name in names:
        if found := shutil.which(name):
            return Path(found)
    pytest.skip("no chromium: run scripts/install_chromium.sh or set PRECALL_CHROMIUM")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Where to connect to a PostgreSQL server that was started for these tests."""
    from tests.postgresql import programs, server

    pytest.importorskip("psycopg")
    folder = programs()
    if folder is None:
        pytest.skip("no PostgreSQL: run scripts/install_postgres.sh, or install postgresql")
    with server(folder) as where:
        yield where

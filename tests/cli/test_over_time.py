"""``--time`` and ``--every`` of ``precall evaluate`` and ``precall report``."""

import numpy as np
import pytest

from precall.cli.inputs import FileRequest, evaluated
from precall.exceptions import InputError
from precall.readers.columns import Roles
from tests.cli.page import command_on

from .conftest import write_csv


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    rng = np.random.default_rng(3)
    day = np.repeat(np.arange("2026-05-01", "2026-05-21", dtype="datetime64[D]"), 100)
    y = rng.random(day.size) < 0.2
    late = day >= np.datetime64("2026-05-11")
    s = rng.normal(size=day.size) + np.where(late, 0.5, 2.5) * y
    columns = {"y": y.astype(int), "s": s, "day": day, "word": np.where(late, "b", "a")}
    columns["number"] = np.arange(day.size)
    return write_csv(tmp_path_factory.mktemp("log") / "log.csv", columns)


def test_the_table_says_what_changed(run, log):
    done = run("evaluate", log, "--label", "y", "--score", "s", "--time", "day", "--every", "week")
    assert "AUCPR over time, as it is and at prevalence" in done.out
    lines = {line[:10]: line for line in done.out.splitlines() if line.startswith("2026-")}
    # 2026-05-04 was a Monday.
    assert list(lines) == ["2026-04-27", "2026-05-04", "2026-05-11", "2026-05-18"]
    assert lines["2026-05-04"].endswith("no change shown")
    assert lines["2026-05-11"].endswith("worse ranking")
    assert "Warning The ranking is worse in 2026-05-11 and 2026-05-18" in " ".join(done.out.split())


def test_numbers_and_ten_windows(run, log):
    given = ("evaluate", log, "--label", "y", "--score", "s", "--time", "number", "--json")
    (windows,) = run(*given).json()["windows"]
    assert [window["rows"] for window in windows["windows"]] == [200] * 10
    (windows,) = run(*given, "--every", "500").json()["windows"]
    assert [window["start"] for window in windows["windows"]] == ["0", "500", "1000", "1500"]


def test_the_page_names_the_command_that_makes_it(run, log, tmp_path):
    page = tmp_path / "page.html"
    given = ("--label", "y", "--score", "s", "--time", "day", "--every", "week")
    run("report", log, *given, "-o", page)
    text = page.read_text(encoding="utf-8")
    assert "Is it still true?" in text
    assert "--time day" in command_on(text)
    assert "--every week" in command_on(text)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--time", "word"), "time column 'word' holds text such as 'a'"),
        (("--time", "day", "--every", "fortnight"), "--every must be one of 'hour'"),
        (("--time", "day", "--every", "7"), "--every must be one of 'hour'"),
        (("--time", "number", "--every", "week"), "--every must be a number"),
        (("--time", "number", "--every", "0"), "--every must be positive"),
        (("--time", "number", "--every", "10"), "make them longer (--every)"),
        (("--every", "week"), "name the column of times with --time"),
        (("--time", "y"), "cannot be both label and time"),
    ],
)
def test_mistakes_speak_of_options(run, log, given, said):
    done = run("evaluate", log, "--label", "y", "--score", "s", *given)
    assert done.status == 2
    assert said in done.err
    assert "timedelta" not in done.err
    assert len(done.err.splitlines()) == 1


def test_rows_that_are_not_in_memory_have_no_windows(log):
    roles = Roles(label="y", scores=("s",), time="day")
    with pytest.raises(InputError, match="--time needs all rows in memory"):
        evaluated(FileRequest(str(log), roles, memory=10_000))
    with pytest.raises(InputError, match="--time is for files"):
        evaluated(FileRequest("sqlite:///scores.db", roles, table="scores"))

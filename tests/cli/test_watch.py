"""``precall watch``: what the library says, and an exit status that a scheduler understands."""

import numpy as np
import pytest

import precall as pr


def written(path, **columns):
    lines = [",".join(columns)]
    lines += [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def log(tmp_path):
    """Decisions of 60 days, of which a third is positive, in no order."""
    rng = np.random.default_rng(4)
    order = rng.permutation(600)
    y = (np.arange(600) % 3 == 0).astype(int)[order]
    day = np.datetime64("2026-01-01") + (order // 10)
    return written(tmp_path / "log.csv", y=y, s=np.round(rng.random(600), 3), day=day)


COLUMNS = ("--label", "y", "--score", "s", "--threshold", "0.5")


@pytest.mark.parametrize(("target", "status", "state"), [(0.6, 1, "alarm"), (0.3, 0, "fine")])
def test_the_status_says_whether_the_promise_holds(run, log, target, status, state):
    asked = ("watch", log, *COLUMNS, "--time", "day", "--target", target)
    printed = run(*asked)
    assert printed.status == status
    assert ("Alarm after" in printed.out) is (status == 1)
    found = run(*asked, "--json").json()
    assert found["state"] == state
    frame = np.genfromtxt(log, delimiter=",", skip_header=1, dtype=None, encoding="utf-8")
    times = np.array([row[2] for row in frame], dtype="datetime64[D]")
    rows = pr.Rows([row[0] for row in frame], [row[1] for row in frame], columns={"day": times})
    expected = pr.monitoring.watch(rows, threshold=0.5, target=target, time="day").to_dict()
    assert {name: found[name] for name in expected} == expected


def test_labels_that_are_missing_are_waited_for(run, tmp_path):
    y = ["0"] * 40 + [""] + ["0"] * 9
    path = written(tmp_path / "log.csv", y=y, s=[1] * 50, t=range(50))
    asked = ("watch", path, *COLUMNS, "--time", "t", "--target", 0.5, "--json")
    waiting = run(*asked).json()
    assert (waiting["trials"], waiting["pending"]) == (40, 10)
    told = run(*asked, "--delay", "independent").json()
    assert (told["trials"], told["pending"]) == (49, 1)
    nothing = written(tmp_path / "none.csv", y=["", "1"], s=[1, 1], t=[1, 2])
    undecided = run("watch", nothing, *COLUMNS, "--time", "t", "--target", 0.5)
    assert undecided.status == 3
    assert undecided.out.startswith("No decision was counted yet. 2 decisions wait for labels.")
    columns = ("--label", "y", "--score", "s", "--threshold", 99)
    high = run("watch", nothing, *columns, "--target", 0.5)
    assert high.status == 3
    assert high.out == "No decision was counted yet. No score is 99 or more.\n"


def test_recall_and_restarts_are_watched_too(run, log):
    asked = ("watch", log, *COLUMNS, "--time", "day", "--json")
    recall = run(*asked, "--of", "recall", "--target", 0.9)
    assert recall.status == 1
    assert recall.json()["trials"] == 200
    assert run(*asked, "--target", 0.6, "--restart-every", 50).json()["alarm"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"--time": "day2"}, "day2"),
        (
            {"--time": "word"},
            "time column 'word' holds text such as 'monday', which is in no order",
        ),
        ({"--time": "y"}, "cannot be both label and time"),
        ({"--target": "0"}, "--target"),
        ({"--target": "1"}, "--target"),
        ({"--restart-every": "0"}, "--restart-every"),
    ],
)
def test_bad_input_is_one_line(run, tmp_path, changed, message):
    path = written(tmp_path / "log.csv", y=[1, 0], s=[1, 1], word=["2026-01-01", "monday"])
    asked = {"--time": "word", "--target": "0.5"} | changed
    options = [part for pair in asked.items() for part in pair]
    result = run("watch", path, *COLUMNS, *options)
    assert result.status == 2
    assert result.err.count("\n") == 1
    assert message in result.err


@pytest.mark.parametrize(
    "written_as",
    [
        ["3", "1", "2"],
        ["2026-01-03T10:00:00Z", "2026-01-01T09:00:00Z", "2026-01-02T00:00:00Z"],
        ["2026-01-03", "2026-01-01 09:00", "2026-01-02 10:00:01"],
    ],
)
def test_times_are_numbers_or_iso_dates(run, tmp_path, written_as):
    path = written(tmp_path / "log.csv", y=["", 1, 0], s=[1, 1, 1], t=written_as)
    found = run("watch", path, *COLUMNS, "--time", "t", "--target", 0.5, "--json").json()
    assert (found["successes"], found["trials"], found["pending"]) == (1, 2, 1)
